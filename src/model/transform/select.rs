//! Which operators a name or a pattern means.

use super::Refusal;
use super::draft::{Draft, Step};
use crate::diagnostic::nearest;

/// How an operator is meant.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Meant {
    /// It is not.
    Not,
    /// With all, or by a pattern.
    Among,
    /// By its name.
    ByName,
}

/// How each step is meant. An operator that has the name itself is meant alone; otherwise the name
/// is a pattern. What matches nothing is refused.
pub(super) fn select(draft: &Draft, layers: Option<&str>) -> Result<Vec<Meant>, Refusal> {
    let Some(name) = layers else { return Ok(vec![Meant::Among; draft.steps.len()]) };
    let all = |meant: Meant, is: &dyn Fn(&Step) -> bool| -> Vec<Meant> {
        draft.steps.iter().map(|s| if is(s) { meant } else { Meant::Not }).collect()
    };
    let mut found = all(Meant::ByName, &|step| step.name() == name);
    if found.iter().all(|meant| *meant == Meant::Not) {
        found = all(Meant::Among, &|step| matches(name, step.name()));
    }
    if found.iter().all(|meant| *meant == Meant::Not) {
        let names = draft.steps.iter().map(Step::name);
        let nearest = nearest(name, names).map(str::to_owned);
        return Err(Refusal::NoLayer { name: name.to_owned(), nearest });
    }
    Ok(found)
}

/// Whether a name fits a pattern in which `*` is any text and `?` one letter.
fn matches(pattern: &str, name: &str) -> bool {
    let (pattern, name): (Vec<char>, Vec<char>) =
        (pattern.chars().collect(), name.chars().collect());
    let (mut p, mut n) = (0, 0);
    // Where to go on when what followed the last star did not fit.
    let mut back = None;
    while n < name.len() {
        match pattern.get(p) {
            Some('*') => {
                p += 1;
                back = Some((p, n));
            }
            Some(letter) if *letter == '?' || name.get(n) == Some(letter) => {
                p += 1;
                n += 1;
            }
            _ => {
                let Some((star, from)) = back else { return false };
                p = star;
                n = from + 1;
                back = Some((star, n));
            }
        }
    }
    pattern.iter().skip(p).all(|letter| *letter == '*')
}

#[cfg(test)]
mod tests {
    use super::matches;

    #[test]
    fn a_star_is_any_text_and_a_question_mark_one_letter() {
        for (pattern, name) in
            [("*", ""), ("conv*", "conv1"), ("*/Conv?D", "a/b/Conv2D"), ("a*b*c", "a-bb-bc")]
        {
            assert!(matches(pattern, name), "{pattern} {name}");
        }
        for (pattern, name) in [("conv", "conv1"), ("conv?", "conv"), ("a*b", "abc"), ("", "a")] {
            assert!(!matches(pattern, name), "{pattern} {name}");
        }
    }
}
