//! Domains that stay in a state of rest at an operating point.

use crate::chips::at;
use crate::laws::{network, simulated};
use joulecast::cost::{Setting, resting_power};
use joulecast::estimate::{ComponentEnergy, estimate};
use joulecast::hardware::{Point, Profile, Role};
use joulecast::mapping::plan;
use joulecast::sim::{Arrivals, Workload};
use joulecast::units::Seconds;

/// What sleeps takes no work, draws its state of rest, and neither rests nor wakes with the others.
#[test]
fn domains_that_are_asleep_take_no_work_and_draw_their_state() {
    let profile = Profile::load("edge_soc_example").unwrap();
    let network = network("kws_ds_cnn");
    let stacks = profile.stacks(None).unwrap();
    let spec = profile.spec();
    let domain = |name: &str| spec.domains.iter().position(|d| d.name == name).unwrap();
    let engines = |point: &Point| {
        let setting = Setting { profile: &profile, point, stacks: &stacks };
        let plan = plan(&network, setting);
        assert!(plan.uncosted.is_empty());
        let found = estimate(&plan, setting);
        let of = |name: &str, role: fn(usize) -> Role| {
            let is = |c: &&ComponentEnergy| c.role == role(domain(name));
            found.by_component.iter().find(is).map_or(0.0, |c| (c.energy / found.latency).0)
        };
        let used: Vec<_> =
            plan.steps.iter().map(|s| spec.engines[s.engine].name.as_str()).collect();
        let power =
            ["npu", "gpu"].map(|d| of(d, Role::Clock) + of(d, Role::Leakage) + of(d, Role::Rest));
        (used, power)
    };
    let all = profile.point(Some("balanced")).unwrap();
    let (used, awake) = engines(&all);
    assert!(used.contains(&"npu"));
    let off = profile.in_states(all.clone(), &[("npu".into(), "off".into())]).unwrap();
    let (used, asleep) = engines(&off);
    assert!(!used.contains(&"npu") && used.contains(&"dsp"), "{used:?}");
    let setting = Setting { profile: &profile, point: &off, stacks: &stacks };
    let state = &spec.domains[domain("npu")].states[0];
    let rest = resting_power(domain("npu"), state, setting).rest.power;
    assert!(
        (asleep[0] / rest.0 - 1.0).abs() < 1e-9 && asleep[0] < 0.1 * awake[0],
        "{asleep:?} {awake:?}"
    );
    assert!((asleep[1] / awake[1] - 1.0).abs() < 1e-9, "the GPU is as it was");
    let on = profile.in_states(off, &[("npu".into(), "on".into())]).unwrap();
    assert_eq!(on, all);
    let (used, _) = engines(&profile.point(Some("listening")).unwrap());
    assert!(used.iter().all(|e| *e == "hub_core"), "{used:?}");
    // Of a run with rests, the sleeper takes no part in waking.
    at(&profile, Some("listening"), |setting| {
        let workload =
            Workload { inferences: 3, arrivals: Arrivals::Periodic(Seconds(0.5)), rest: None };
        let (outcome, _) = simulated(&network, setting, &workload);
        let wake = spec.domains[domain("aon")].states[0].wake_time.as_ref().unwrap().get();
        let waking = outcome.response.mean() - outcome.latency.mean();
        assert!((waking / wake - 1.0).abs() < 1e-6, "{waking} {wake}");
        let npu = outcome.ledger.by_component.iter().filter(|(n, _)| n.starts_with("npu_"));
        let npu: f64 = npu.map(|(_, energy)| energy.0).sum();
        let state = &spec.domains[domain("npu")].states[0];
        let rest =
            resting_power(domain("npu"), state, setting).rest.power * outcome.metrics.duration;
        assert!((npu / rest.0 - 1.0).abs() < 1e-9, "{npu} {rest}");
    });
}
