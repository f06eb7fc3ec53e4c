//! A profile with what a fit found: literals, their source, and how they go together.
//!
//! A number is written as `"172.4 uA/MHz ±3.1% @fit-NAME"`, in the unit that it had. The source `fit-NAME`
//! says what fitted it and what stood there before. The block `posterior` holds the lower Cholesky factor
//! of the covariance of the numbers' logarithms; what an earlier fit said there of numbers that this one
//! leaves alone stays in it, taken as independent of this one's.

mod error;
mod text;

pub use error::FittedError;

use crate::diagnostic::{Change, nearest, quoted};
use crate::evidence::Kind;
use crate::hardware::{ParameterRecord, Profile, ProfileText};
use crate::uncertainty::lower_factor;
use crate::units::Spread;
use nalgebra::DMatrix;
use std::collections::{BTreeMap, BTreeSet};
use text::{literal, posterior_text, source_text};

/// How the keys of sources of fits start.
const PREFIX: &str = "fit-";

/// What a fit found of the numbers of a profile.
#[derive(Debug, Clone, PartialEq)]
pub struct Fitted {
    /// The numbers.
    pub numbers: Vec<FittedFactor>,
    /// The covariance of the logarithms of their factors, in their order.
    pub covariance: DMatrix<f64>,
}

/// A number of a profile that was fitted.
#[derive(Debug, Clone, PartialEq)]
pub struct FittedFactor {
    /// Its path with the names of list items (`domains.core.clock_tree.Charge`).
    pub path: String,
    /// Its value over the one that the profile has.
    pub factor: f64,
}

/// The text of a profile with what a fit found. `file` and `text` are those of the profile, as
/// [`profile_text`](crate::hardware::profile_text) gives them; what it extends is looked for from the folder
/// of `file`, and [`copied`](crate::hardware::copied) makes of the result one for another folder. The source
/// is called `fit-NAME`; an entry of that name is replaced. Sources of earlier fits that the text itself has
/// and that no number cites any more are left out.
///
/// # Errors
/// The profile has faults or lacks a number, a factor or the covariance is none, or the profile would not be
/// sound with these numbers.
pub fn fitted_text(
    file: &str,
    text: &str,
    fitted: &Fitted,
    name: &str,
    description: &str,
) -> Result<String, FittedError> {
    let key = key(name)?;
    let profile = Profile::parse(file, text)?;
    let records = profile.parameters();
    let numbers = numbers(&records, fitted)?;
    let factor = lower_factor(&fitted.covariance).filter(|f| f.nrows() == numbers.len());
    let factor = factor.ok_or(FittedError::Covariance { numbers: numbers.len() })?;
    let places: BTreeSet<usize> = numbers.iter().map(|number| number.place).collect();
    if let Some(other) = cited(&records, &places).get(key.as_str()) {
        return Err(FittedError::Taken { key, path: (*other).to_owned() });
    }
    let whole = ProfileText::of(file, text)?;
    let literals = whole.literals(numbers.iter().map(|number| number.record.path.as_str()));
    let mut changes = Vec::new();
    let mut before = Vec::new();
    for (i, (number, old)) in numbers.iter().zip(literals).enumerate() {
        let path = number.record.path.clone();
        let sigma = fitted.covariance[(i, i)].sqrt();
        let value = quoted(&literal(&number.record.parameter, number.factor, sigma, &key));
        changes.push(Change::Value { path, value });
        let old = old.and_then(|old| ron::from_str::<String>(old).ok()).unwrap_or_default();
        before.push((number.record.name.as_str(), old));
    }
    changes.extend(unsaid(&profile, &records, &places, &key));
    let source = source_text(name, description, &before);
    changes.push(Change::Entry { within: "sources".into(), key, value: source });
    let block = block(&profile, &records, &numbers, &factor, &places);
    changes.push(Change::Entry { within: String::new(), key: "posterior".into(), value: block });
    let out = whole.rewritten(&changes)?;
    Profile::parse(file, &out).map_err(|source| FittedError::Unsound(Box::new(source)))?;
    Ok(out)
}

/// The key of the source of a fit.
fn key(name: &str) -> Result<String, FittedError> {
    let word = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.');
    if name.is_empty() || !name.chars().all(word) {
        return Err(FittedError::Name { name: name.to_owned() });
    }
    Ok(format!("{PREFIX}{name}"))
}

/// A fitted number in its profile.
struct Number<'a> {
    record: &'a ParameterRecord,
    place: usize,
    factor: f64,
}

fn numbers<'a>(
    records: &'a [ParameterRecord],
    fitted: &Fitted,
) -> Result<Vec<Number<'a>>, FittedError> {
    let by_name: BTreeMap<&str, usize> =
        records.iter().enumerate().map(|(i, record)| (record.name.as_str(), i)).collect();
    let mut seen = BTreeSet::new();
    let number = |FittedFactor { path, factor }: &FittedFactor| {
        let unknown = || FittedError::Unknown {
            path: path.clone(),
            nearest: nearest(path, by_name.keys().copied()).map(str::to_owned),
        };
        let place = *by_name.get(path.as_str()).ok_or_else(unknown)?;
        let record = records.get(place).ok_or_else(unknown)?;
        if !seen.insert(place) {
            return Err(FittedError::Twice { path: path.clone() });
        }
        let (parameter, moved) = (&record.parameter, record.parameter.value * factor);
        let has_factor = matches!(parameter.spread, Some(Spread::LogNormal(_)));
        if !(has_factor && moved > 0.0 && moved.is_finite()) {
            return Err(FittedError::NoFactor { path: path.clone(), factor: *factor });
        }
        Ok(Number { record, place, factor: *factor })
    };
    fitted.numbers.iter().map(number).collect()
}

/// Sources that numbers other than those at `places` cite, each with the name of one that does.
fn cited<'a>(
    records: &'a [ParameterRecord],
    places: &BTreeSet<usize>,
) -> BTreeMap<&'a str, &'a str> {
    let others = records.iter().enumerate().filter(|(place, _)| !places.contains(place));
    let source = |(_, record): (usize, &'a ParameterRecord)| {
        Some((record.parameter.source.as_deref()?, record.name.as_str()))
    };
    others.filter_map(source).collect()
}

/// Sources of earlier fits that no number cites any more.
fn unsaid(
    profile: &Profile,
    records: &[ParameterRecord],
    places: &BTreeSet<usize>,
    key: &str,
) -> Vec<Change> {
    let cited = cited(records, places);
    let sources = profile.spec().sources.iter();
    let left = sources.filter(|(own, source)| {
        let of_a_fit = own.starts_with(PREFIX) && source.kind == Kind::Fitted;
        of_a_fit && own.as_str() != key && !cited.contains_key(own.as_str())
    });
    left.map(|(own, _)| Change::Unsaid { within: "sources".into(), key: own.clone() }).collect()
}

/// The block of all fitted numbers: those of earlier fits that this one leaves alone come first.
fn block(
    profile: &Profile,
    records: &[ParameterRecord],
    numbers: &[Number<'_>],
    factor: &DMatrix<f64>,
    places: &BTreeSet<usize>,
) -> String {
    let (old, kept) = kept(profile, places);
    let names = old.iter().filter_map(|place| records.get(*place));
    let names = names.chain(numbers.iter().map(|number| number.record));
    let names: Vec<&str> = names.map(|record| record.name.as_str()).collect();
    let first = kept.nrows();
    let entry = |i: usize, j: usize| match (i < first, j < first) {
        (true, true) => kept[(i, j)],
        (false, false) => factor[(i - first, j - first)],
        _ => 0.0,
    };
    let size = first + factor.nrows();
    posterior_text(&names, &DMatrix::from_fn(size, size, entry))
}

/// Numbers of the profile's block that are not at `places`, with the factor of their covariance.
fn kept(profile: &Profile, places: &BTreeSet<usize>) -> (Vec<usize>, DMatrix<f64>) {
    let rows = profile.spec().posterior.as_ref().map_or(&[][..], |block| &block.factor);
    let own = profile.links().posterior.iter().copied().zip(rows);
    let (old, rows): (Vec<usize>, Vec<&Vec<f64>>) =
        own.filter(|(place, _)| !places.contains(place)).unzip();
    let covariance = DMatrix::from_fn(old.len(), old.len(), |i, j| {
        let rows = rows.get(i).into_iter().zip(rows.get(j));
        rows.flat_map(|(a, b)| a.iter().zip(b.iter())).map(|(a, b)| a * b).sum::<f64>()
    });
    match lower_factor(&covariance) {
        Some(factor) => (old, factor),
        None => (Vec::new(), DMatrix::zeros(0, 0)),
    }
}

#[cfg(test)]
mod tests;
