//! Flags that change a model, in the order in which they stand.

use super::CliError;
use crate::model::{ModelGraph, Quality, Transform, apply};
use clap::error::ErrorKind;
use clap::{Arg, ArgAction, ArgMatches, Args, Command, FromArgMatches};
use std::collections::BTreeMap;

/// Transforms and the quality of what comes out, whatever place it stands at. Written by hand, since derived arguments do not
/// tell the order of different flags.
#[derive(Debug, Default)]
pub(super) struct TransformArguments {
    transforms: Vec<Transform>,
    quality: Option<Quality>,
}

impl TransformArguments {
    pub(super) fn apply(&self, graph: ModelGraph) -> Result<ModelGraph, CliError> {
        let mut made = match &self.transforms[..] {
            [] => graph,
            transforms => apply(&graph, transforms)?,
        };
        if self.quality.is_some() {
            made.quality.clone_from(&self.quality);
        }
        Ok(made)
    }
}

type Parser = fn(&str) -> Result<Transform, String>;

/// Flags with a value: name, value, help, parser.
const FLAGS: [(&str, &str, &str, Parser); 6] = [
    (
        "precision",
        "[LAYERS=][weights:]TYPE",
        "Number format of the network or of layers, such as Int8, conv*=Int16 or weights:Int4",
        Transform::parse_precision,
    ),
    (
        "sparsity",
        "[LAYERS=]SHARE|KEEP:OF",
        "Filters stored without zeros: their share, or a structure such as 2:4",
        Transform::parse_sparsity,
    ),
    ("batch", "N", "Samples at once", Transform::parse_batch),
    (
        "resolution",
        "EXTENT|HxW",
        "Rows and columns of the image inputs",
        Transform::parse_resolution,
    ),
    (
        "separable",
        "LAYERS",
        "Standard convolutions made depthwise and pointwise",
        Transform::parse_separable,
    ),
    ("width", "FACTOR", "Inner channels times a factor", Transform::parse_width),
];

const HEADING: &str = "Transforms, applied in the order given";

impl Args for TransformArguments {
    fn augment_args(mut command: Command) -> Command {
        for (name, value, help, parser) in FLAGS {
            let flag = Arg::new(name).long(name).value_name(value).help(help);
            let flag =
                flag.action(ArgAction::Append).value_parser(parser).allow_negative_numbers(true);
            command = command.arg(flag.help_heading(HEADING));
        }
        let fuse = Arg::new("fuse")
            .long("fuse")
            // As often as it is given, each time at its place.
            .action(ArgAction::Append)
            .num_args(0)
            .default_missing_value("true")
            .value_parser(clap::value_parser!(bool))
            .help("Normalisation, bias, residual addition and activation done on the way out")
            .help_heading(HEADING);
        let quality = Arg::new("quality")
            .long("quality")
            .value_name("METRIC=VALUE@SOURCE")
            .help("How good the resulting network is, and who says so")
            .value_parser(Quality::parse)
            .help_heading(HEADING);
        let slice = Arg::new("quality-slice")
            .long("quality-slice")
            .value_name("SLICE=VALUE")
            .help("The same on a part of the test set")
            .action(ArgAction::Append)
            .requires("quality")
            .value_parser(Quality::parse_slice)
            .help_heading(HEADING);
        command.arg(fuse).arg(quality).arg(slice)
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}

impl FromArgMatches for TransformArguments {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        let mut given = BTreeMap::new();
        for (name, ..) in FLAGS {
            let places = matches.indices_of(name).into_iter().flatten();
            let values = matches.get_many::<Transform>(name).into_iter().flatten();
            given.extend(places.zip(values.cloned()));
        }
        let fused = matches.indices_of("fuse").into_iter().flatten();
        given.extend(fused.map(|place| (place, Transform::Fuse)));
        let mut quality = matches.get_one::<Quality>("quality").cloned();
        if let Some(quality) = &mut quality {
            let slices = matches.get_many::<(String, f64)>("quality-slice");
            for (slice, value) in slices.into_iter().flatten() {
                if quality.slices.insert(slice.clone(), *value).is_some() {
                    let reason = format!("two values of --quality-slice are of `{slice}`");
                    return Err(clap::Error::raw(ErrorKind::ValueValidation, reason));
                }
            }
        }
        Ok(Self { transforms: given.into_values().collect(), quality })
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}
