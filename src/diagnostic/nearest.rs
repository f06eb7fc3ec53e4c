//! The known name that a misspelt one most likely meant.

/// Longer names are nobody's typo, and comparing two of them takes the product of their lengths.
const LONGEST: usize = 200;

/// The candidate nearest to `name`, if any is near enough to be worth suggesting.
pub fn nearest<'a>(name: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    if name.len() > LONGEST {
        return None;
    }
    let lower = name.to_lowercase();
    candidates
        .into_iter()
        .filter(|c| c.len() <= LONGEST)
        .map(|c| (strsim::jaro_winkler(&lower, &c.to_lowercase()), c))
        .filter(|(score, _)| *score >= 0.75)
        // Of equally near ones the first, which stands first in its list for a reason.
        .reduce(|best, next| if next.0 > best.0 { next } else { best })
        .map(|(_, c)| c)
}

#[cfg(test)]
mod tests {
    use super::nearest;

    #[test]
    fn a_typo_finds_its_name_and_nonsense_finds_none() {
        let names = ["stm32l4r5", "eyeriss", "gap9"];
        assert_eq!(nearest("stm32l4r6", names), Some("stm32l4r5"));
        assert_eq!(nearest("Eyeris", names), Some("eyeriss"));
        assert_eq!(nearest("zzz", names), None);
        assert_eq!(nearest("120mhz", ["120mhz_1v8", "120mhz_3v0"]), Some("120mhz_1v8"));
    }
}
