//! Families of networks, one of which is named with its parameters: `mobilenet_v1_int8(width=0.5)`.
//!
//! They are the networks that predictions are held against, so no file ships for each. Weights are 8-bit
//! (16-bit for a chip that has no other words, floats where the name says so), with normalisation folded into them and the
//! activation on the way out, as the chips run them.

use super::{ai8x, features, mobilenets};
use crate::diagnostic::nearest;
use crate::model::{ModelError, ModelGraph};
use std::collections::BTreeMap;

/// Networks that differ in a few numbers.
#[derive(Debug, Clone, Copy)]
pub struct Family {
    /// What it is called.
    pub name: &'static str,
    /// Its parameters.
    pub parameters: &'static [Choice],
    make: fn(&str, &Chosen) -> Result<ModelGraph, ModelError>,
}

/// A parameter of a family.
#[derive(Debug, Clone, Copy)]
pub struct Choice {
    /// What it is called.
    pub name: &'static str,
    /// Its value where none is given.
    pub default: f64,
    /// Least and largest value.
    pub range: (f64, f64),
    /// Whether it is a whole number.
    pub whole: bool,
}

/// Values of a family's parameters.
pub(super) struct Chosen(BTreeMap<&'static str, f64>);

impl Chosen {
    pub(super) fn number(&self, name: &str) -> f64 {
        self.0.get(name).copied().unwrap_or(1.0)
    }

    /// A parameter that is a whole number.
    pub(super) fn count(&self, name: &str) -> u64 {
        self.number(name) as u64
    }
}

const WIDTH: Choice = Choice { name: "width", default: 1.0, range: (0.05, 4.0), whole: false };
const PIXELS: Choice =
    Choice { name: "resolution", default: 224.0, range: (32.0, 2048.0), whole: true };
const CLASSES: Choice = Choice { name: "classes", default: 1001.0, range: (1.0, 1e5), whole: true };

/// All of them, in the order they are listed.
pub fn families() -> &'static [Family] {
    macro_rules! plain {
        ($($name:literal: $make:path),* $(,)?) => {
            [$(Family { name: $name, parameters: &[], make: |name, _| $make(name) }),*]
        };
    }
    const WITH_PARAMETERS: [Family; 5] = [
        Family {
            name: "mobilenet_v1_int8",
            parameters: &[WIDTH, PIXELS, CLASSES],
            make: mobilenets::v1,
        },
        Family {
            name: "mobilenet_v2_int8",
            parameters: &[WIDTH, PIXELS, CLASSES],
            make: mobilenets::v2,
        },
        Family {
            name: "mobilenet_v3_minimalistic_int8",
            parameters: &[PIXELS, CLASSES],
            make: mobilenets::v3_large_minimalistic,
        },
        Family {
            name: "mobilenet_v1_float32",
            parameters: &[WIDTH, PIXELS, CLASSES],
            make: mobilenets::v1_float,
        },
        Family {
            name: "mobilenet_v2_float32",
            parameters: &[WIDTH, PIXELS, CLASSES],
            make: mobilenets::v2_float,
        },
    ];
    const PLAIN: [Family; 16] = plain![
        "alexnet_features_int16": features::alexnet,
        "vgg16_features_int16": features::vgg16,
        "ai8x_aisegment_unet": ai8x::aisegment_unet,
        "ai8x_camvid_unet": ai8x::camvid_unet,
        "ai8x_cats_dogs": ai8x::cats_dogs,
        "ai8x_cifar10": ai8x::cifar10,
        "ai8x_cifar100_effnet2": ai8x::cifar100_effnet2,
        "ai8x_cifar100_mobilenet_v2_075": ai8x::cifar100_mobilenet_v2_075,
        "ai8x_cifar100_residual": ai8x::cifar100_residual,
        "ai8x_cifar100_simple": ai8x::cifar100_simple,
        "ai8x_cifar100_simplewide2x": ai8x::cifar100_simplewide2x,
        "ai8x_faceid": ai8x::faceid,
        "ai8x_imagenet_effnet2": ai8x::imagenet_effnet2,
        "ai8x_kws20_v2": ai8x::kws20_v2,
        "ai8x_kws20_v3": ai8x::kws20_v3,
        "ai8x_mnist": ai8x::mnist,
    ];
    const COUNT: usize = WITH_PARAMETERS.len() + PLAIN.len();
    static ALL: [Family; COUNT] = {
        let mut all = [WITH_PARAMETERS[0]; COUNT];
        let mut at = 0;
        while at < COUNT {
            all[at] = if at < WITH_PARAMETERS.len() {
                WITH_PARAMETERS[at]
            } else {
                PLAIN[at - WITH_PARAMETERS.len()]
            };
            at += 1;
        }
        all
    };
    &ALL
}

/// The network of a family that `text` names (`mobilenet_v1_int8(width=0.5,resolution=160)`); `None` where
/// it names no family.
pub(in crate::model) fn of_family(text: &str) -> Option<Result<ModelGraph, ModelError>> {
    let (name, given) = match text.split_once('(') {
        Some((name, rest)) => (name.trim(), Some(rest)),
        None => (text.trim(), None),
    };
    let family = families().iter().find(|family| family.name == name)?;
    let wrong = |reason: String| ModelError::Family { text: text.to_owned(), reason };
    Some(family.chosen(given).map_err(wrong).and_then(|chosen| (family.make)(text.trim(), &chosen)))
}

impl Family {
    fn chosen(&self, given: Option<&str>) -> Result<Chosen, String> {
        let mut values: BTreeMap<_, _> =
            self.parameters.iter().map(|choice| (choice.name, choice.default)).collect();
        let Some(given) = given else { return Ok(Chosen(values)) };
        let inside = given.trim().strip_suffix(')').ok_or("a `)` is missing at its end")?;
        for part in inside.split(',').map(str::trim).filter(|part| !part.is_empty()) {
            let (name, value) =
                part.split_once('=').ok_or_else(|| format!("expected NAME=VALUE, not `{part}`"))?;
            let choice = self.choice(name.trim())?;
            values.insert(choice.name, choice.value(value.trim())?);
        }
        Ok(Chosen(values))
    }

    fn choice(&self, name: &str) -> Result<&Choice, String> {
        self.parameters.iter().find(|choice| choice.name == name).ok_or_else(|| {
            let names = self.parameters.iter().map(|choice| choice.name);
            let known: Vec<_> = names.clone().collect();
            let hint = nearest(name, names).map(|n| format!("; did you mean `{n}`?"));
            let known = if known.is_empty() { "none".to_owned() } else { known.join(", ") };
            format!("`{name}` is none of its parameters: {known}{}", hint.unwrap_or_default())
        })
    }
}

impl Choice {
    fn value(&self, text: &str) -> Result<f64, String> {
        let (least, most) = self.range;
        let kind = if self.whole { "a whole number" } else { "a number" };
        let value: Option<f64> = text.parse().ok();
        value
            .filter(|v| (least..=most).contains(v) && (!self.whole || v.fract() == 0.0))
            .ok_or_else(|| {
                format!("`{}` is {kind} from {least} to {most}, not `{text}`", self.name)
            })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{stored_parameters, total_macs};

    fn macs(text: &str) -> u64 {
        let graph = of_family(text).unwrap().unwrap();
        total_macs(&graph.layers().unwrap())
    }

    #[test]
    fn a_network_is_named_with_its_parameters() {
        assert!(of_family("mobilenet_v9_int8").is_none());
        // Published: 569 and 150 million, 4.24 and 1.34 million parameters.
        assert_eq!(macs("mobilenet_v1_int8") / 1_000_000, 568);
        assert_eq!(macs("mobilenet_v1_int8(width=0.5, resolution=224)") / 1_000_000, 149);
        let half = of_family("mobilenet_v1_int8(width=0.5)").unwrap().unwrap();
        assert_eq!(stored_parameters(&half) / 10_000, 132);
        let error = |text: &str| of_family(text).unwrap().unwrap_err().to_string();
        assert!(error("mobilenet_v1_int8(widht=1)").contains("did you mean `width`?"));
        assert!(error("mobilenet_v1_int8(width=9)").contains("from 0.05 to 4"));
        assert!(error("mobilenet_v1_int8(resolution=0.5)").contains("whole number"));
        assert!(error("mobilenet_v1_int8(width=1").contains("missing"));
        assert!(error("mobilenet_v1_int8(width)").contains("NAME=VALUE"));
        assert!(error("ai8x_mnist(width=1)").contains("none of its parameters: none"));
    }

    #[test]
    fn every_family_makes_a_network_without_parameters() {
        for family in families() {
            let graph = of_family(family.name).unwrap().unwrap();
            assert_eq!(graph.name, family.name);
            assert!(graph.source.is_some() && graph.licence.is_some(), "{}", family.name);
        }
    }
}
