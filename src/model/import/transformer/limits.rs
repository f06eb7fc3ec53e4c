//! Products of fields, which can be too large where no field is.

use super::fields::{Fields, LARGEST};
use crate::model::transformer::{Head, Stem, Transformer};

/// Most elements of one table of weights: in the widest type its bits stay within 64 bits.
const MOST_WEIGHTS: u64 = 1 << 56;

/// Names of the fields of a product; of each the first that the file has is blamed and shown.
type Names<'a> = &'a [&'a [&'a str]];

/// An extent made of several fields, which may be no larger than one.
pub(super) fn extent(fields: &mut Fields<'_>, factors: &[u64], names: Names<'_>) -> Option<u64> {
    product(fields, factors, names, LARGEST)
}

/// Tables of weights that are too large are faults of their fields.
pub(super) fn check(fields: &mut Fields<'_>, of: &Transformer, names: &TableNames<'_>) {
    let heads = of.heads.query.max(of.heads.key).saturating_mul(of.heads.extent);
    let hidden = of.hidden;
    table(fields, &[hidden, heads], &[names.hidden, names.heads]);
    table(fields, &[hidden, of.feed_forward], &[names.hidden, names.inside]);
    if let Some(experts) = &of.experts {
        let names: Names<'_> = &[names.hidden, names.expert, names.experts];
        table(fields, &[hidden, experts.width, experts.count], names);
    }
    match of.stem {
        Stem::Tokens { vocabulary, positions, segments } => {
            table(fields, &[hidden, vocabulary], &[names.hidden, &["vocab_size"]]);
            table(fields, &[hidden, positions.unwrap_or(1)], &[names.hidden, names.positions]);
            table(fields, &[hidden, segments.unwrap_or(1)], &[names.hidden, &["type_vocab_size"]]);
        }
        Stem::Patches { image, patch, channels, .. } => {
            let sides: Names<'_> = &[&["image_size"], &["image_size"], &["num_channels"]];
            table(fields, &[image, image, channels], sides);
            let tokens = (image / patch.max(1)).saturating_pow(2);
            table(fields, &[tokens, hidden], &[&["image_size"], names.hidden]);
            let sides: Names<'_> =
                &[names.hidden, &["patch_size"], &["patch_size"], &["num_channels"]];
            table(fields, &[hidden, patch, patch, channels], sides);
        }
    }
    if let Head::Classes(classes) = of.head {
        table(fields, &[hidden, classes], &[names.hidden, &["num_labels"]]);
    }
}

/// Names of the fields that several tables depend on.
pub(super) struct TableNames<'a> {
    pub hidden: &'a [&'a str],
    pub heads: &'a [&'a str],
    pub inside: &'a [&'a str],
    pub expert: &'a [&'a str],
    pub experts: &'a [&'a str],
    pub positions: &'a [&'a str],
}

fn table(fields: &mut Fields<'_>, factors: &[u64], names: Names<'_>) {
    product(fields, factors, names, MOST_WEIGHTS);
}

/// The product, or a fault at the field of its largest factor.
fn product(fields: &mut Fields<'_>, factors: &[u64], names: Names<'_>, most: u64) -> Option<u64> {
    let product = factors.iter().try_fold(1u64, |product, factor| product.checked_mul(*factor));
    if let Some(product) = product.filter(|product| *product <= most) {
        return Some(product);
    }
    let stated = factors.iter().zip(names).filter_map(|(factor, names)| {
        let (path, _) = fields.value(names)?;
        Some((*factor, path))
    });
    let mut stated: Vec<_> = stated.collect();
    stated.sort_by_key(|(factor, _)| std::cmp::Reverse(*factor));
    let shown: Vec<_> = factors.iter().map(u64::to_string).collect();
    let message = format!("{} are too large together: more than {most}", shown.join(" x "));
    let path = stated.into_iter().next().map_or_else(|| ".".to_owned(), |(_, path)| path);
    fields.fault(path, message);
    None
}
