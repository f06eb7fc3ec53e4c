use super::*;
use crate::cost::Setting;
use crate::estimate::estimate;
use crate::estimate::roofline::roofline;
use crate::hardware::Profile;
use crate::mapping::{Network, plan};
use crate::model::{Bindings, ElementType, Transform, apply, load};
use crate::report::Prediction;
use crate::report::plot::theme::LIGHT;
use crate::uncertainty::{Uncertainty, roof_bands};

/// The picture of a shipped network on a shipped profile.
fn picture(
    model: &str,
    transforms: &[Transform],
    hardware: &str,
    energy: bool,
) -> (Scene, (u32, u32)) {
    let graph = apply(&load(model, &Bindings::default()).unwrap(), transforms).unwrap();
    let network = Network::of(&graph).unwrap();
    let profile = Profile::load(hardware).unwrap();
    let point = profile.point(None).unwrap();
    let stacks = profile.stacks(None).unwrap();
    let setting = Setting { profile: &profile, point: &point, stacks: &stacks };
    let plan = plan(&network, setting);
    let estimate = estimate(&plan, setting);
    let found = roofline(&plan, &estimate, setting);
    let bands = roof_bands(&network, &found, setting);
    let sigma = Default::default();
    let (energy_contributions, latency_contributions) = (Vec::new(), Vec::new());
    let sure = Uncertainty { sigma, energy_contributions, latency_contributions };
    let evidence = &estimate.energy_coverage;
    let prediction = Prediction::new(&network, setting, &plan, &estimate, &sure, evidence);
    let roofs =
        Roofs { prediction: &prediction, roofline: &found, bands: &bands, energy, level: None };
    compose(&roofs, &LIGHT)
}

fn labels(scene: &Scene) -> Vec<&Label> {
    let labels = scene.shapes.iter().filter_map(|shape| match shape {
        Shape::Text(label) => Some(label),
        _ => None,
    });
    labels.collect()
}

#[test]
fn no_label_covers_another_or_leaves_the_paper() {
    let to = ElementType::Int8;
    let int8 = [Transform::Precision { to, weights_only: false, layers: None }];
    for energy in [false, true] {
        for (model, transforms, hardware) in [
            ("kws_ds_cnn", &[][..], "stm32l4r5"),
            ("kws_ds_cnn", &[], "gap9"),
            ("vww_mobilenetv1_025", &[], "edge_soc_example"),
            ("resnet50", &[], "edge_soc_example"),
            ("vit_tiny", &int8, "edge_soc_example"),
            ("yolov8n", &[], "edge_soc_example"),
            ("lstm_kws", &[], "stm32u575"),
        ] {
            let (scene, size) = picture(model, transforms, hardware, energy);
            let labels = labels(&scene);
            assert!(labels.len() > 20, "{model}: {}", labels.len());
            let areas: Vec<Area> = labels.iter().map(|label| label.area()).collect();
            for (index, (label, area)) in labels.iter().zip(&areas).enumerate() {
                assert!(area.left >= 0.0 && area.right <= f64::from(size.0), "{model}: {label:?}");
                assert!(area.top >= 0.0 && area.bottom <= f64::from(size.1), "{model}: {label:?}");
                for (other, theirs) in labels.iter().zip(&areas).take(index) {
                    assert!(!area.meets(theirs), "{model} on {hardware}: {label:?}\n{other:?}");
                }
            }
        }
    }
}

#[test]
fn areas_of_marks_go_with_energies() {
    let (scene, _) = picture("kws_ds_cnn", &[], "stm32l4r5", false);
    let discs = scene.shapes.iter().filter_map(|shape| match shape {
        Shape::Disc(_, radius, ink) if ink.alpha == panel::OPAQUE => Some(*radius),
        _ => None,
    });
    let mut radii: Vec<f64> = discs.collect();
    radii.sort_by(f64::total_cmp);
    // Four pointwise layers at one place and the stem: 4 x 378.7 and 509.0 uJ.
    let share = (radii[radii.len() - 3] / radii[radii.len() - 1]).powi(2);
    assert!((share - 509.04 / (4.0 * 378.72576)).abs() < 1e-3, "{share}");
}

#[test]
fn a_roof_on_recalled_numbers_is_dashed() {
    let lines = |hardware: &str| {
        let (scene, _) = picture("kws_ds_cnn", &[], hardware, false);
        let lines =
            scene.shapes.iter().filter(|s| matches!(s, Shape::Line(_, width, _) if *width == 2.0));
        lines.count()
    };
    // Dashes are lines of their own.
    assert!(lines("stm32l4r5") > 60);
}
