//! The hardware profile: a chip and its board as a user writes it, checked and resolved.

mod channel;
mod check;
mod components;
mod corner;
mod error;
mod extends;
mod gaps;
mod heat_laws;
mod heat_links;
mod heated_node;
mod identity;
mod import_table;
mod in_use;
mod movable;
mod named_path;
mod new_profile;
mod out_of_reach;
mod point;
mod profile;
mod profile_text;
mod rail_voltage;
mod shipped;
mod software_file;
mod spec;
mod tree;
mod view;

pub use channel::Channel;
pub use components::{Role, components};
pub use error::HardwareError;
pub use heat_links::{CriticalAt, HeatLinks};
pub use import_table::{
    Block, BlockMode, BlockTable, LocatedFault, Reading, TableError, TableFault, Terms, TotalCheck,
    UnreadColumn, profile_fragment, profile_onto,
};
pub use movable::Movable;
pub use new_profile::{base_name, checked_name, copied, extension};
pub use out_of_reach::OutOfReach;
pub use point::{Heated, Point};
pub use profile::{Links, ParameterRecord, Profile, profile_text};
pub use profile_text::ProfileText;
pub use shipped::{ShippedProfile, shipped_profiles, shipped_software};
pub use software_file::load_software;
pub use spec::*;
pub use tree::{DomainNode, Feed, RailNode, rail_tree};
