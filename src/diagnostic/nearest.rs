//! The known name that a misspelt one most likely meant.

/// The candidate nearest to `name`, if any is near enough to be worth suggesting.
pub fn nearest<'a>(name: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let lower = name.to_lowercase();
    candidates
        .into_iter()
        .map(|c| (strsim::jaro_winkler(&lower, &c.to_lowercase()), c))
        .filter(|(score, _)| *score >= 0.75)
        .max_by(|a, b| a.0.total_cmp(&b.0))
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
    }
}
