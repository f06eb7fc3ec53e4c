//! Literals and sources of a structure that has been parsed.

use super::{Fault, nearest};
use crate::evidence::{FieldPath, Kind, Parameters, Sources};
use std::collections::BTreeMap;

/// The kind of each source.
pub fn source_kinds(sources: &Sources) -> BTreeMap<String, Kind> {
    sources.iter().map(|(key, source)| (key.clone(), source.kind)).collect()
}

/// Lets every parameter know the kind of its source. Literals that were wrong, and sources that are
/// not in the table, come back as faults.
pub fn resolve_sources(
    structure: &mut impl Parameters,
    kinds: &BTreeMap<String, Kind>,
) -> Vec<Fault> {
    let mut faults = Vec::new();
    structure.walk(&mut FieldPath::root(), &mut |path, parameter| {
        if let Some(wrong) = &parameter.fault {
            let mut fault = Fault::at(path.as_str(), wrong.error.message.clone());
            // The bytes of a literal stand behind its opening quote.
            let quote = usize::from(wrong.quoted);
            fault.part = Some(wrong.error.span.start + quote..wrong.error.span.end + quote);
            faults.push(fault);
        }
        let Some(key) = &parameter.source else { return };
        match kinds.get(key) {
            Some(kind) => parameter.rest_on(*kind),
            None => {
                let mut fault = Fault::at(path.as_str(), format!("no source is called `{key}`"));
                fault.help = nearest(key, kinds.keys().map(String::as_str))
                    .map(|n| format!("did you mean `@{n}`?"));
                faults.push(fault);
            }
        }
    });
    faults
}
