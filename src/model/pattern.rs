//! Patterns of names.

/// Whether a name fits a pattern in which `*` is any text and `?` one letter.
pub fn name_fits(pattern: &str, name: &str) -> bool {
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
    use super::name_fits;

    #[test]
    fn a_star_is_any_text_and_a_question_mark_one_letter() {
        for (pattern, name) in
            [("*", ""), ("conv*", "conv1"), ("*/Conv?D", "a/b/Conv2D"), ("a*b*c", "a-bb-bc")]
        {
            assert!(name_fits(pattern, name), "{pattern} {name}");
        }
        for (pattern, name) in [("conv", "conv1"), ("conv?", "conv"), ("a*b", "abc"), ("", "a")] {
            assert!(!name_fits(pattern, name), "{pattern} {name}");
        }
    }
}
