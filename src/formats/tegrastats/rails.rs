//! Which rail is measured within which.

/// Rails that carry all of the module or the board, the outermost first.
const TOTALS: [&str; 4] = ["VDD_MUX", "VIN", "VDD_IN", "POM_5V_IN"];
/// On AGX Orin the memory's rail is fed by the 5 V rail.
const BEHIND: (&str, &str) = ("VDDQ_VDD2_1V8AO", "VIN_SYS_5V0");

/// The measured rail that feeds `rail`, of those in the log.
pub(super) fn fed_by(rail: &str, rails: &[&str]) -> Option<&'static str> {
    let totals = TOTALS.iter().filter(|total| rails.contains(total));
    if rail == BEHIND.0 && rails.contains(&BEHIND.1) {
        return Some(BEHIND.1);
    }
    // The innermost total that is not the rail itself nor within it.
    let outside = totals.take_while(|total| **total != rail);
    outside.last().copied()
}

/// What to say of the rails.
pub(super) fn remark(rails: &[&str]) -> String {
    match TOTALS.iter().find(|total| rails.contains(total)) {
        Some(total) => format!("{total} is the total: the other rails are within it"),
        None => "no rail carries the whole board".into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_total_feeds_the_others_and_nothing_feeds_it() {
        let nx = ["VDD_IN", "VDD_CPU_GPU_CV", "VDD_SOC"];
        assert_eq!(fed_by("VDD_SOC", &nx), Some("VDD_IN"));
        assert_eq!(fed_by("VDD_IN", &nx), None);
        let agx = ["VDD_GPU_SOC", "VDD_CPU_CV", "VIN_SYS_5V0", "VDDQ_VDD2_1V8AO"];
        assert_eq!(fed_by("VIN_SYS_5V0", &agx), None);
        assert_eq!(fed_by("VDDQ_VDD2_1V8AO", &agx), Some("VIN_SYS_5V0"));
        let tx1 = ["VDD_IN", "VDD_GPU", "VDD_MUX"];
        assert_eq!(fed_by("VDD_IN", &tx1), Some("VDD_MUX"));
        assert_eq!(fed_by("VDD_GPU", &tx1), Some("VDD_IN"));
    }
}
