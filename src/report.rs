//! Tables, JSON, plots and folders: what a person or a script looks at. Nothing is computed here.

mod convert;
mod folder;
pub mod json;
mod picture_folder;
pub mod plot;
mod prediction;
mod roofs;
mod run_folder;
mod scenario;
mod scenario_folder;
mod tables;

pub use convert::{ConvertError, Converted, Source, Target, Told, convert};
pub use folder::{FolderError, OutputFolder, write_file, write_file_with};
pub use picture_folder::{PicturesError, write_fits, write_held_out};
pub use prediction::Prediction;
pub use roofs::Roofs;
pub use run_folder::{RunFolderError, write_run};
pub use scenario::{Endurance, Pressure, Resumed, ScenarioRun, TimeIn};
pub(crate) use scenario_folder::cut_text;
pub use scenario_folder::write_scenario_run;
pub use tables::{
    CheckedModel, LayerView, ListedModel, Rows, advice_text, against_markdown, align_text,
    calibration_text, comparison_markdown, comparison_table, converted_text, estimate_text,
    fold_csv, fold_text, formats_table, hardware_check_text, hardware_list_table,
    hardware_numbers_text, hardware_tree_text, headlines_text, info_text, inspect_text, kinds_text,
    measured_text, memory_text, model_list_table, notes_text, protocols_text, repeat_text,
    roofline_text, run_text, scenario_check_text, scenario_list_table, scenario_text,
    software_check_text, variants_table, weak_numbers_text, with_tables,
};
