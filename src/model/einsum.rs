//! Products written as an equation of axis letters: `bhid,bhjd->bhij`.

use super::{Gemm, Shape};
use std::collections::{BTreeMap, BTreeSet};

/// Letters that stand for the axes under an ellipsis, counted from the innermost.
const UNDER_ELLIPSIS: u32 = 0xE000;

/// An equation whose letters have extents.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Equation {
    terms: Vec<Vec<char>>,
    result: Vec<char>,
    extents: BTreeMap<char, u64>,
}

impl Equation {
    /// Reads `text` against the shapes of its operands.
    pub(super) fn new(text: &str, shapes: &[&Shape]) -> Result<Self, String> {
        let dense: String = text.chars().filter(|c| !c.is_whitespace()).collect();
        let (left, right) = match dense.split_once("->") {
            Some((left, right)) => (left, Some(right)),
            None => (dense.as_str(), None),
        };
        let given: Vec<_> = left.split(',').collect();
        if given.len() != shapes.len() {
            let (terms, operands) = (given.len(), shapes.len());
            return Err(format!("`{dense}` has {terms} terms for {operands} operands"));
        }
        let mut equation = Self { terms: Vec::new(), result: Vec::new(), extents: BTreeMap::new() };
        let mut most = 0;
        for (term, shape) in given.iter().zip(shapes) {
            let letters = letters(term, Some(shape.rank()))
                .ok_or_else(|| format!("term `{term}` of `{dense}` does not fit {shape}"))?;
            most = most.max(letters.iter().filter(|c| is_under_ellipsis(**c)).count());
            equation.read(&letters, shape, &dense)?;
            equation.terms.push(letters);
        }
        equation.result = match right {
            Some(term) => letters(term, None)
                .map(|named| expanded(term, &named, most))
                .ok_or_else(|| format!("`{dense}` has no result"))?,
            None => equation.once(most),
        };
        let mut named = BTreeSet::new();
        for letter in &equation.result {
            if !equation.extents.contains_key(letter) {
                return Err(format!("axis `{letter}` of `{dense}` stands in no term"));
            }
            if !named.insert(*letter) {
                return Err(format!("the result of `{dense}` names axis `{letter}` twice"));
            }
        }
        Ok(equation)
    }

    fn read(&mut self, letters: &[char], shape: &Shape, text: &str) -> Result<(), String> {
        for (letter, extent) in letters.iter().zip(&shape.0) {
            let known = self.extents.entry(*letter).or_insert(*extent);
            if *known == 1 {
                *known = *extent;
            }
            if *extent != 1 && *known != *extent {
                return Err(format!("axis `{letter}` of `{text}` is {known} and {extent}"));
            }
        }
        Ok(())
    }

    /// Without a result, letters that stand once make it, in alphabetical order behind the ellipsis.
    fn once(&self, most: usize) -> Vec<char> {
        let mut seen: BTreeMap<char, u32> = BTreeMap::new();
        for letter in self.terms.iter().flatten().filter(|c| !is_under_ellipsis(**c)) {
            *seen.entry(*letter).or_default() += 1;
        }
        let once = seen.into_iter().filter(|(_, count)| *count == 1).map(|(letter, _)| letter);
        ellipsis(most).into_iter().chain(once).collect()
    }

    fn extent(&self, letter: &char) -> u64 {
        self.extents.get(letter).copied().unwrap_or(1)
    }

    /// Additions that sum letters away which only one operand has and the result lacks. Of a repeated
    /// letter only the diagonal takes part.
    pub(super) fn additions(&self) -> Option<u64> {
        let mut sum = 0u64;
        for (at, term) in self.terms.iter().enumerate() {
            let own: BTreeSet<char> = term.iter().copied().collect();
            let others = self.terms.iter().enumerate().filter(|(other, _)| *other != at);
            let kept: BTreeSet<char> =
                others.flat_map(|(_, term)| term).chain(&self.result).copied().collect();
            let read = self.product(own.iter())?;
            let left = self.product(own.intersection(&kept))?;
            sum = sum.checked_add(read.saturating_sub(left))?;
        }
        Some(sum)
    }

    fn product<'a>(&self, letters: impl Iterator<Item = &'a char>) -> Option<u64> {
        letters.map(|c| self.extent(c)).try_fold(1u64, u64::checked_mul)
    }

    /// Shape of the result.
    pub(super) fn shape(&self) -> Shape {
        Shape(self.result.iter().map(|c| self.extent(c)).collect())
    }

    /// The matrix product that two operands make: letters of both and of the result are groups, of
    /// both alone the depth; letters of one alone that the result lacks are summed up first. `None`
    /// for another number of operands, or work past 64 bits.
    pub(super) fn gemm(&self) -> Option<Gemm> {
        let [a, b] = &self.terms[..] else { return None };
        let sets: [BTreeSet<char>; 3] = [a, b, &self.result].map(|t| t.iter().copied().collect());
        let [a, b, result] = &sets;
        let shared = || a.intersection(b);
        let rows = a.difference(b).filter(|c| result.contains(c));
        let columns = b.difference(a).filter(|c| result.contains(c));
        Some(Gemm {
            groups: self.product(shared().filter(|c| result.contains(c)))?,
            m: self.product(rows)?,
            n: self.product(columns)?,
            k: self.product(shared().filter(|c| !result.contains(c)))?,
        })
    }
}

fn is_under_ellipsis(letter: char) -> bool {
    (UNDER_ELLIPSIS..UNDER_ELLIPSIS + 64).contains(&u32::from(letter))
}

/// Letters of so many axes, outermost first.
fn ellipsis(axes: usize) -> Vec<char> {
    let letter = |from_behind: usize| char::from_u32(UNDER_ELLIPSIS + from_behind as u32);
    (0..axes.min(64)).rev().filter_map(letter).collect()
}

/// The letters of a term; under an ellipsis as many as the rank leaves, none where it is not known.
fn letters(term: &str, rank: Option<usize>) -> Option<Vec<char>> {
    let (before, behind) = match term.split_once("...") {
        None => (term, None),
        Some((before, behind)) => (before, Some(behind)),
    };
    let named: Vec<char> = before.chars().chain(behind.unwrap_or("").chars()).collect();
    if !named.iter().all(char::is_ascii_alphabetic) {
        return None;
    }
    let Some(rank) = rank else { return Some(named) };
    let open = rank.checked_sub(named.len()).filter(|open| *open < 64)?;
    match behind {
        None if open > 0 => None,
        None => Some(named),
        Some(_) => Some(put(&named, before.chars().count(), open)),
    }
}

fn expanded(term: &str, named: &[char], most: usize) -> Vec<char> {
    match term.split_once("...") {
        None => named.to_vec(),
        Some((before, _)) => put(named, before.chars().count(), most),
    }
}

fn put(named: &[char], at: usize, axes: usize) -> Vec<char> {
    let (before, behind) = named.split_at(at.min(named.len()));
    [before, &ellipsis(axes), behind].concat()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str, shapes: &[&[u64]]) -> Result<Equation, String> {
        let shapes: Vec<_> = shapes.iter().map(|s| Shape(s.to_vec())).collect();
        Equation::new(text, &shapes.iter().collect::<Vec<_>>())
    }

    #[test]
    fn attention_scores_are_a_batched_product() {
        let scores = read("bhid,bhjd->bhij", &[&[2, 3, 5, 7], &[2, 3, 11, 7]]).unwrap();
        assert_eq!(scores.shape(), Shape(vec![2, 3, 5, 11]));
        assert_eq!(scores.gemm(), Some(Gemm { groups: 6, m: 5, n: 11, k: 7 }));
        let open = read("...ij, ...jk -> ...ik", &[&[4, 5, 6], &[6, 7]]).unwrap();
        assert_eq!(open.shape(), Shape(vec![4, 5, 7]));
        assert_eq!(open.gemm(), Some(Gemm { groups: 1, m: 20, n: 7, k: 6 }));
        assert_eq!(read("ij,jk", &[&[2, 3], &[3, 4]]).unwrap().shape(), Shape(vec![2, 4]));
        assert_eq!(read("ii->i", &[&[3, 3]]).unwrap().shape(), Shape(vec![3]));
    }

    #[test]
    fn letters_of_one_operand_are_summed_away_first() {
        let additions =
            |text: &str, shapes: &[&[u64]]| read(text, shapes).unwrap().additions().unwrap();
        assert_eq!(additions("ii->i", &[&[100, 100]]), 0, "a diagonal is only picked");
        assert_eq!(additions("ii->", &[&[100, 100]]), 99);
        assert_eq!(additions("ij->i", &[&[4, 5]]), 4 * 5 - 4);
        assert_eq!(additions("ij,jk->k", &[&[1000, 3], &[3, 4]]), 2997);
        assert_eq!(additions("ij,jk->ik", &[&[5, 3], &[3, 4]]), 0);
    }

    #[test]
    fn what_does_not_fit_is_said() {
        for (text, shapes) in [
            ("ij,jk->ik", &[&[2u64, 3][..], &[4, 5]][..]),
            ("ij,jk->ix", &[&[2, 3], &[3, 5]]),
            ("ij->i", &[&[2, 3, 4]]),
            ("i,j,k->i", &[&[2], &[3]]),
            ("i$->i", &[&[2, 3]]),
            ("i,i->ii", &[&[3], &[3]]),
        ] {
            assert!(read(text, shapes).is_err(), "{text}");
        }
    }
}
