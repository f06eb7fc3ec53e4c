//! Hardware profiles, and what is made of those that are sound: an estimate at every operating point.

#![no_main]

use joulecast::cost::Setting;
use joulecast::estimate::{estimate, rail_peaks};
use joulecast::hardware::Profile;
use joulecast::mapping::{Network, plan};
use joulecast::model::{Bindings, load};
use std::sync::LazyLock;

static NETWORK: LazyLock<Network> = LazyLock::new(|| {
    let graph = load("kws_ds_cnn", &Bindings::default()).expect("it ships");
    Network::of(&graph).expect("it ships")
});

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    let profile = match Profile::parse("profile.ron", text) {
        Ok(profile) => profile,
        Err(error) => return assert!(!error.to_string().is_empty()),
    };
    let stacks = profile.stacks(None).expect("none is asked for");
    for point in &profile.spec().operating_points {
        let point = profile.point(Some(&point.name)).expect("it is there");
        let setting = Setting { profile: &profile, point: &point, stacks: &stacks };
        let plan = plan(&NETWORK, setting);
        estimate(&plan, setting);
        rail_peaks(&plan, setting);
    }
});
