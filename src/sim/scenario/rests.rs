//! How domains rest, out of a scenario.

use super::checked::named;
use super::read::{Reader, known};
use super::resolved::Rest;
use super::{RestPolicySpec, ScenarioSpec};
use crate::hardware::Profile;
use crate::sim::load::RestRule;

/// The rest of each domain of the profile.
pub(super) fn rests(
    reader: &mut Reader,
    spec: &ScenarioSpec,
    profile: Option<&Profile>,
) -> Vec<Option<Rest>> {
    let domains = profile.map_or(&[][..], |profile| &profile.spec().domains);
    let mut rests = vec![None; domains.len()];
    for (name, rest) in &spec.rest {
        let path = format!("rest.{name}");
        let rule = rule(reader, &path, &rest.policy);
        if profile.is_none() {
            continue;
        }
        let names = domains.iter().map(|d| d.name.as_str());
        let Some(domain) = named(reader, path.as_str(), "domain", name, names) else { continue };
        let states = domains[domain].states.iter().map(|s| s.name.as_str());
        let states = ["on"].into_iter().chain(states);
        let state = named(reader, format!("{path}.state"), "state", &rest.state, states);
        // The first is to stay on.
        let state = state.and_then(|state| state.checked_sub(1));
        rests[domain] = state.zip(rule).map(|(state, rule)| Rest { state, rule });
    }
    rests
}

fn rule(reader: &mut Reader, path: &str, spec: &RestPolicySpec) -> Option<RestRule> {
    match spec {
        RestPolicySpec::Immediately => Some(RestRule::Immediately),
        RestPolicySpec::Timeout(time) => known(time).map(RestRule::Timeout),
        RestPolicySpec::BreakEven => Some(RestRule::BreakEven),
        RestPolicySpec::Oracle => Some(RestRule::Oracle),
        RestPolicySpec::Predictive(spec) => {
            let weight = known(&spec.weight)?;
            if !(weight.0 > 0.0 && weight.0 <= 1.0) {
                let at = format!("{path}.policy.Predictive.weight");
                reader.fault(at, "a weight lies above 0 and is at most 100 %");
            }
            Some(RestRule::Predictive(weight))
        }
    }
}
