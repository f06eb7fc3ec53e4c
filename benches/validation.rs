//! How long fits and hold-outs take: one fit, one family, all of `joulecast validate`.

use divan::black_box;
use joulecast::calibrate::fit::Limits;
use joulecast::calibrate::joint::Joint;
use joulecast::calibrate::{
    Case, Gathered, Protocol, held_out, shipped_calibrations, shipped_cases, validate_all,
};

fn main() {
    divan::main();
}

fn gathered(name: &str) -> Gathered {
    let shipped = shipped_calibrations().iter().map(|own| own.gathered().unwrap());
    shipped.into_iter().find(|own| own.calibration.name == name).unwrap()
}

/// From files to an optimum, to the last digit.
#[divan::bench(args = ["gap8", "microcontrollers"], sample_count = 3, sample_size = 1)]
fn fit(name: &str) {
    let gathered = gathered(name);
    let joint = Joint::of(&gathered.cases, &gathered.calibration).unwrap();
    let fitted = joint.fitted_to_all(gathered.calibration.loss, Limits::default()).unwrap();
    black_box(fitted.fit.cost);
}

/// All measurements of a family under all protocols.
#[divan::bench(args = ["gap8", "max78002", "microcontrollers", "linux_cpus"], sample_count = 1, sample_size = 1)]
fn hold_outs(name: &str) {
    black_box(held_out(&gathered(name), &Protocol::ALL).unwrap());
}

/// What `joulecast validate` does: all shipped cases as their profiles stand, and all hold-outs.
#[divan::bench(sample_count = 1, sample_size = 1)]
fn whole_validation() {
    let cases: Vec<Case> =
        shipped_cases().iter().map(|own| Case::parse(own.path, own.text).unwrap()).collect();
    black_box(validate_all(&cases).unwrap());
    for shipped in shipped_calibrations() {
        black_box(held_out(&shipped.gathered().unwrap(), &Protocol::ALL).unwrap());
    }
}
