//! Whether marked layers are those that a network is predicted to have.
//!
//! A network of other layers may happen to have as many. What tells is the order of their times: ranks that go
//! together no better than by chance, or a layer that takes many times its share.

use super::FAR;
use super::marked::LayerTold;
use crate::capture::Expected;
use crate::units::Seconds;

/// Layers of fewer than this say nothing by their order.
const LEAST: usize = 5;

/// What one of twenty random orders goes beyond, in deviations: the correlation of ranks of `n` things in random
/// orders has a deviation of `1 / √(n - 1)` (Kendall and Gibbons, Rank Correlation Methods).
const CHANCE: f64 = 1.645;

/// Times that differ by less than this factor have no order to speak of.
const APART: f64 = 2.0;

/// Share of an inference from which on a layer is worth a word.
const WORTH: f64 = 0.1;

/// What speaks against layers being those of a prediction, in words, with figures.
pub(super) fn note(told: &[LayerTold], predicted: &[Expected]) -> Option<String> {
    let pairs: Vec<(&str, f64, f64)> = told
        .iter()
        .zip(predicted)
        .filter_map(|(own, layer)| {
            Some((layer.name.as_str(), own.latency?.value, layer.duration.0))
        })
        .collect();
    let (marked, expected): (Vec<f64>, Vec<f64>) = pairs.iter().map(|own| (own.1, own.2)).unzip();
    let (all, of_all) = (marked.iter().sum::<f64>(), expected.iter().sum::<f64>());
    let off = |own: &(&str, f64, f64)| ((own.1 / all) / (own.2 / of_all)).ln().abs();
    let is_large = |own: &&(&str, f64, f64)| own.1 > WORTH * all || own.2 > WORTH * of_all;
    let furthest =
        pairs.iter().filter(is_large).max_by(|one, other| off(one).total_cmp(&off(other)));
    let order = order(&marked, &expected);
    let far = furthest.is_some_and(|own| off(own) > FAR.ln());
    if order.is_none() && !far {
        return None;
    }
    let order = order.map(|(found, chance)| {
        format!(
            "the ranks of the {} layer times go together by {found:.2}, and those of random orders by up to {chance:.2}",
            pairs.len()
        )
    });
    let share = furthest.map(|(name, own, predicted)| {
        format!(
            "{name} takes {} or {:.0} % of the layers, and is predicted to take {} or {:.0} %",
            Seconds(*own),
            own / all * 100.0,
            Seconds(*predicted),
            predicted / of_all * 100.0
        )
    });
    let said: Vec<String> = order.into_iter().chain(share).collect();
    Some(format!("marked layers are hardly those of this network: {}", said.join("; ")))
}

/// The correlation of ranks with what chance goes up to, where it is no better than that.
fn order(one: &[f64], other: &[f64]) -> Option<(f64, f64)> {
    let (least, most) = other
        .iter()
        .fold((f64::INFINITY, 0.0f64), |(least, most), own| (least.min(*own), most.max(*own)));
    if one.len() < LEAST || most < APART * least {
        return None;
    }
    let chance = CHANCE / ((one.len() - 1) as f64).sqrt();
    let found = correlation(&ranks(one), &ranks(other));
    (found < chance).then_some((found, chance))
}

/// Places in rising order; of equal values the mean of theirs.
fn ranks(values: &[f64]) -> Vec<f64> {
    let below = |own: &f64| values.iter().filter(|other| *other < own).count() as f64;
    let same = |own: &f64| values.iter().filter(|other| *other == own).count() as f64;
    values.iter().map(|own| below(own) + (same(own) - 1.0) / 2.0).collect()
}

fn correlation(one: &[f64], other: &[f64]) -> f64 {
    let mean = (one.len() as f64 - 1.0) / 2.0;
    let sum = |a: &[f64], b: &[f64]| -> f64 {
        a.iter().zip(b).map(|(a, b)| (a - mean) * (b - mean)).sum()
    };
    let widths = (sum(one, one) * sum(other, other)).sqrt();
    if widths > 0.0 { sum(one, other) / widths } else { 0.0 }
}

#[cfg(test)]
mod tests {
    use super::super::scatter::Told;
    use super::*;

    fn layers(marked: &[f64], predicted: &[f64]) -> Option<String> {
        let told = marked.iter().map(|time| LayerTold {
            layers: vec![String::new()],
            latency: Told::of(&[*time], 0.0),
            energy: None,
        });
        let expected = predicted
            .iter()
            .enumerate()
            .map(|(at, time)| Expected { name: format!("l{at}"), duration: Seconds(*time) });
        note(&told.collect::<Vec<_>>(), &expected.collect::<Vec<_>>())
    }

    #[test]
    fn ranks_of_the_same_order_go_together_whatever_the_sizes() {
        assert_eq!(correlation(&ranks(&[1.0, 5.0, 2.0, 9.0]), &ranks(&[0.1, 3.0, 2.9, 4.0])), 1.0);
        assert_eq!(correlation(&ranks(&[1.0, 2.0, 3.0]), &ranks(&[3.0, 2.0, 1.0])), -1.0);
        // 1 - 6 Σ d² / (n (n² - 1)), with d = 1, 1, 1, 1, 0.
        let found =
            correlation(&ranks(&[1.0, 2.0, 3.0, 4.0, 5.0]), &ranks(&[2.0, 1.0, 4.0, 3.0, 5.0]));
        assert!((found - (1.0 - 6.0 * 4.0 / 120.0)).abs() < 1e-12, "{found}");
        assert_eq!(ranks(&[2.0, 1.0, 2.0]), [1.5, 0.0, 1.5]);
    }

    #[test]
    fn layers_in_another_order_are_told_with_figures_and_slower_ones_are_not() {
        let predicted = [1.0, 8.0, 2.0, 7.0, 3.0, 6.0];
        assert_eq!(layers(&[2.2, 15.0, 4.1, 16.0, 5.5, 12.0], &predicted), None);
        let said = layers(&[8.0, 1.0, 7.0, 2.0, 6.0, 3.0], &predicted).unwrap();
        assert!(said.contains("the 6 layer times go together by -1.00"), "{said}");
        assert!(said.contains("those of random orders by up to 0.74"), "{said}");
        assert!(
            said.contains(
                "l1 takes 1.000 s or 4 % of the layers, and is predicted to take 8.000 s or 30 %"
            ),
            "{said}"
        );
        // Layers that are all alike have no order.
        assert_eq!(layers(&[1.0, 1.1, 1.2, 1.3, 1.4], &[1.4, 1.3, 1.2, 1.1, 1.0]), None);
    }

    #[test]
    fn a_layer_that_takes_many_times_its_share_is_told_whatever_the_order() {
        let predicted = [1.0, 8.0, 2.0, 7.0, 3.0, 6.0, 4.0, 5.0, 1.5, 2.5];
        let with = |at: usize, time: f64| {
            let mut marked = predicted;
            marked[at] = time;
            layers(&marked, &predicted)
        };
        // Three times as long, of an inference that is longer by that.
        assert_eq!(with(1, 24.0), None);
        let said = with(5, 0.4).unwrap();
        assert!(said.contains("l5 takes 400.0 ms or 1 % of the layers"), "{said}");
        assert!(!said.contains("ranks"), "{said}");
    }
}
