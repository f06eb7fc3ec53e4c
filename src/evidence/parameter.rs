//! A value with its spread and source, and the walk over all such values of a structure.

use super::{FieldPath, Kind};
use crate::units::{Literal, LiteralError, Quantity, Spread};
use serde::de::{self, Deserialize, Deserializer, Visitor};
use std::collections::BTreeMap;
use std::fmt;
use std::marker::PhantomData;

/// A number of a profile: what uncertainty perturbs and calibration fits.
#[derive(Debug, Clone, PartialEq)]
pub struct Parameter {
    /// The value in SI.
    pub value: f64,
    /// Value and unit as the file has them.
    pub written: String,
    /// How far it may be off; `None` is exact.
    pub spread: Option<Spread>,
    /// True when the literal itself states the spread.
    pub stated: bool,
    /// True for a [`Condition`].
    pub condition: bool,
    /// True when the quantity may be below zero (temperatures).
    pub signed: bool,
    /// Key into the `sources` table.
    pub source: Option<String>,
    /// Kind of its source, known once the table is resolved.
    pub kind: Kind,
    /// What it is (`voltage`).
    pub quantity: &'static str,
    /// Its SI unit.
    pub unit: &'static str,
    /// What was wrong with the literal. None in a checked structure.
    pub fault: Option<Box<ValueFault>>,
}

/// Why a literal is not a value of its field.
#[derive(Debug, Clone, PartialEq)]
pub struct ValueFault {
    /// The fault within the literal's text.
    pub error: LiteralError,
    /// True when the literal was a string, so that the span lies behind an opening quote.
    pub quoted: bool,
}

/// A value that is assumed or recalled and states no spread has this one.
const UNSOURCED_SPREAD: f64 = 0.4;

/// A temperature likewise, in kelvin.
const UNSOURCED_KELVIN: f64 = 20.0;

impl Parameter {
    /// False for a condition without a source of its own, which belongs to another number.
    pub fn is_statement(&self) -> bool {
        !self.condition || self.source.is_some()
    }

    /// Learns the kind of its source. What is only assumed or recalled is not exact.
    pub(crate) fn rest_on(&mut self, kind: Kind) {
        self.kind = kind;
        let exact = self.spread.is_none() && !self.condition;
        let exact = exact && (self.signed || self.value != 0.0);
        if kind >= Kind::Recalled && exact {
            self.spread = Some(assumed_spread(self.signed));
        }
    }
}

/// A condition that another value is stated for (a nominal voltage, a reference temperature): exact
/// unless it says otherwise, since it is part of that value's meaning.
#[derive(Debug, Clone, PartialEq)]
pub struct Condition<Q>(Valued<Q>);

impl<Q> std::ops::Deref for Condition<Q> {
    type Target = Valued<Q>;
    fn deref(&self) -> &Valued<Q> {
        &self.0
    }
}

impl<Q> std::ops::DerefMut for Condition<Q> {
    fn deref_mut(&mut self) -> &mut Valued<Q> {
        &mut self.0
    }
}

impl<'de, Q: Quantity> Deserialize<'de> for Condition<Q> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let mut value = Valued::deserialize(deserializer)?;
        value.parameter.condition = true;
        if !value.parameter.stated {
            value.parameter.spread = None;
        }
        Ok(Self(value))
    }
}

impl<Q> Parameters for Condition<Q> {
    fn walk(&mut self, path: &mut FieldPath, visit: &mut dyn FnMut(&FieldPath, &mut Parameter)) {
        self.0.walk(path, visit);
    }
}

/// A [`Parameter`] that is a `Q`.
#[derive(Debug, Clone, PartialEq)]
pub struct Valued<Q> {
    parameter: Parameter,
    quantity: PhantomData<Q>,
}

impl<Q: Quantity> Valued<Q> {
    /// The value.
    pub fn get(&self) -> Q {
        Q::from_si(self.parameter.value)
    }

    /// The kind of its source.
    pub fn kind(&self) -> Kind {
        self.parameter.kind
    }

    /// A value that was measured here, with the deviation of its logarithm.
    pub fn measured(value: Q, sigma: f64, kind: Kind) -> Self {
        let spread = (sigma > 0.0).then_some(Spread::LogNormal(sigma));
        let (value, written) = (value.si(), format!("{:e} {}", value.si(), Q::UNIT));
        Self::from_parameter(Parameter {
            value,
            written,
            stated: true,
            spread,
            kind,
            ..Self::blank()
        })
    }

    /// Another value in its place, with its spread and source.
    pub(crate) fn valued(&self, value: Q) -> Self {
        let mut other = self.clone();
        other.parameter.value = value.si();
        other
    }

    /// The same value times a factor, as well founded as the weaker of the two. Its spread stays its
    /// own: the factor's belongs to all values that it scales together.
    pub fn times(&self, factor: &Valued<crate::units::Ratio>) -> Self {
        let mut product = self.clone();
        product.parameter.value *= factor.get().0;
        product.parameter.kind = self.kind().weaker(factor.kind());
        product
    }

    /// Value, spread and source.
    pub fn parameter(&self) -> &Parameter {
        &self.parameter
    }

    fn from_text(text: &str) -> Self {
        match Literal::parse_as::<Q>(text) {
            Ok(literal) => {
                let spread = literal.spread_as::<Q>();
                let stated = spread.is_some();
                // Nothing is a share of nothing.
                let moves = Q::SIGNED || literal.value != 0.0;
                let unsourced = literal.source.is_none() && !stated && moves;
                let spread = if unsourced { Some(assumed_spread(Q::SIGNED)) } else { spread };
                Self::from_parameter(Parameter {
                    value: literal.value,
                    written: literal.written,
                    stated,
                    spread,
                    source: literal.source,
                    fault: None,
                    ..Self::blank()
                })
            }
            Err(error) => Self::faulty(error, true),
        }
    }

    fn blank() -> Parameter {
        Parameter {
            value: f64::NAN,
            written: String::new(),
            stated: false,
            condition: false,
            signed: Q::SIGNED,
            spread: None,
            source: None,
            kind: Kind::Assumed,
            quantity: Q::NAME,
            unit: Q::UNIT,
            fault: None,
        }
    }

    fn faulty(error: LiteralError, quoted: bool) -> Self {
        let fault = Some(Box::new(ValueFault { error, quoted }));
        Self::from_parameter(Parameter { fault, ..Self::blank() })
    }

    fn from_parameter(parameter: Parameter) -> Self {
        Self { parameter, quantity: PhantomData }
    }

    fn bare(shown: String) -> Self {
        let message = format!(
            "{} is a string with a unit, for example \"{}\", not the bare number {shown}",
            Q::with_article(),
            Q::EXAMPLE
        );
        Self::faulty(LiteralError { message, span: 0..shown.len() }, false)
    }
}

/// What a value that is only assumed may be off by.
fn assumed_spread(signed: bool) -> Spread {
    if signed {
        Spread::Normal(UNSOURCED_KELVIN)
    } else {
        Spread::LogNormal(UNSOURCED_SPREAD.ln_1p())
    }
}

/// A wrong literal does not stop the parse: it is remembered and reported with all other faults.
impl<'de, Q: Quantity> Deserialize<'de> for Valued<Q> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct LiteralVisitor<Q>(PhantomData<Q>);
        impl<Q: Quantity> Visitor<'_> for LiteralVisitor<Q> {
            type Value = Valued<Q>;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, "{} such as \"{}\"", Q::with_article(), Q::EXAMPLE)
            }
            fn visit_str<E: de::Error>(self, text: &str) -> Result<Self::Value, E> {
                Ok(Valued::from_text(text))
            }
            fn visit_f64<E: de::Error>(self, v: f64) -> Result<Self::Value, E> {
                Ok(Valued::bare(v.to_string()))
            }
            fn visit_i64<E: de::Error>(self, v: i64) -> Result<Self::Value, E> {
                Ok(Valued::bare(v.to_string()))
            }
            fn visit_u64<E: de::Error>(self, v: u64) -> Result<Self::Value, E> {
                Ok(Valued::bare(v.to_string()))
            }
        }
        deserializer.deserialize_any(LiteralVisitor(PhantomData))
    }
}

/// A structure whose parameters can be walked, in a fixed order, with their field paths.
pub trait Parameters {
    /// Calls `visit` for every parameter below `path`.
    fn walk(&mut self, path: &mut FieldPath, visit: &mut dyn FnMut(&FieldPath, &mut Parameter));
}

impl<Q> Parameters for Valued<Q> {
    fn walk(&mut self, path: &mut FieldPath, visit: &mut dyn FnMut(&FieldPath, &mut Parameter)) {
        visit(path, &mut self.parameter);
    }
}

impl<T: Parameters> Parameters for Option<T> {
    fn walk(&mut self, path: &mut FieldPath, visit: &mut dyn FnMut(&FieldPath, &mut Parameter)) {
        if let Some(inner) = self {
            inner.walk(path, visit);
        }
    }
}

impl<T: Parameters> Parameters for Box<T> {
    fn walk(&mut self, path: &mut FieldPath, visit: &mut dyn FnMut(&FieldPath, &mut Parameter)) {
        T::walk(self, path, visit);
    }
}

impl<T: Parameters> Parameters for Vec<T> {
    fn walk(&mut self, path: &mut FieldPath, visit: &mut dyn FnMut(&FieldPath, &mut Parameter)) {
        for (i, item) in self.iter_mut().enumerate() {
            path.at(i, |p| item.walk(p, visit));
        }
    }
}

impl<K: fmt::Display, T: Parameters> Parameters for BTreeMap<K, T> {
    fn walk(&mut self, path: &mut FieldPath, visit: &mut dyn FnMut(&FieldPath, &mut Parameter)) {
        for (key, item) in self.iter_mut() {
            path.under(key, |p| item.walk(p, visit));
        }
    }
}

impl<A: Parameters, B: Parameters> Parameters for (A, B) {
    fn walk(&mut self, path: &mut FieldPath, visit: &mut dyn FnMut(&FieldPath, &mut Parameter)) {
        path.at(0, |p| self.0.walk(p, visit));
        path.at(1, |p| self.1.walk(p, visit));
    }
}

/// Types of a profile that hold no numbers with a spread.
#[macro_export]
#[doc(hidden)]
macro_rules! __no_parameters {
    ($($type:ty),*) => { $(impl $crate::evidence::Parameters for $type {
        fn walk(
            &mut self,
            _: &mut $crate::evidence::FieldPath,
            _: &mut dyn FnMut(&$crate::evidence::FieldPath, &mut $crate::evidence::Parameter),
        ) {
        }
    })* };
}
pub use crate::__no_parameters as no_parameters;
no_parameters!(String, bool, u32, u64, super::Source);

/// Declares a structure of a profile: read from RON without unknown fields, and with *every* field
/// part of the parameter walk, so that none can be left out of intervals, checks or fits.
#[macro_export]
#[doc(hidden)]
macro_rules! __described {
    ($(#[$meta:meta])* pub struct $name:ident { $($(#[$field_meta:meta])* pub $field:ident : $type:ty),* $(,)? }) => {
        $(#[$meta])*
        #[derive(Debug, Clone, serde::Deserialize)]
        #[serde(deny_unknown_fields)]
        pub struct $name { $($(#[$field_meta])* pub $field: $type),* }

        impl $crate::evidence::Parameters for $name {
            fn walk(
                &mut self,
                path: &mut $crate::evidence::FieldPath,
                visit: &mut dyn FnMut(&$crate::evidence::FieldPath, &mut $crate::evidence::Parameter),
            ) {
                $(path.within(stringify!($field), |p| self.$field.walk(p, visit));)*
            }
        }
    };
}
pub use crate::__described as described;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::units::Volts;

    described! {
        /// A test structure.
        pub struct Rail {
            /// A name.
            pub name: String,
            /// A value.
            pub voltage: Valued<Volts>,
            /// Values by key.
            pub steps: BTreeMap<String, Valued<Volts>>,
        }
    }

    #[test]
    fn every_literal_is_walked_with_its_path() {
        let text = r#"(name: "core", voltage: "1.2 V ±5% @x", steps: {"a": "1 V", "b": "2 V @y"})"#;
        let mut rail: Rail = ron::from_str(text).unwrap();
        let mut seen = Vec::new();
        rail.walk(&mut FieldPath::root(), &mut |path, p| seen.push((path.to_string(), p.value)));
        assert_eq!(
            seen,
            [("voltage".into(), 1.2), ("steps.a".into(), 1.0), ("steps.b".into(), 2.0)]
        );
        assert_eq!(rail.steps["a"].parameter().spread, Some(Spread::LogNormal(0.4f64.ln_1p())));
        assert_eq!(rail.steps["b"].parameter().spread, None, "a sourced value is exact as given");
    }

    #[test]
    fn wrong_literals_are_remembered_and_not_fatal() {
        let text = r#"(name: "core", voltage: 1.2, steps: {"a": "1 mA"})"#;
        let mut rail: Rail = ron::from_str(text).unwrap();
        let mut messages = Vec::new();
        rail.walk(&mut FieldPath::root(), &mut |_, p| {
            messages.push(p.fault.as_ref().unwrap().error.message.clone())
        });
        assert!(messages[0].contains("not the bare number 1.2"), "{messages:?}");
        assert!(messages[1].contains("not a unit of voltage"), "{messages:?}");
    }
}
