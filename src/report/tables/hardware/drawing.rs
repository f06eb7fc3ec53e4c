//! Trees drawn with lines, and text broken to the width of a terminal.

/// Columns of a terminal.
pub(super) const WIDTH: usize = 100;

/// Room that text keeps, however deep it stands.
const NARROWEST: usize = 30;

/// Something with all that hangs below it.
pub(super) struct Branch {
    /// What it is; each in lines of its own.
    pub labels: Vec<String>,
    /// What hangs below.
    pub branches: Vec<Branch>,
}

impl Branch {
    pub(super) fn new(label: String, branches: Vec<Branch>) -> Self {
        Self { labels: vec![label], branches }
    }

    pub(super) fn leaf(label: String) -> Self {
        Self::new(label, Vec::new())
    }
}

/// A tree from its roots.
pub(super) fn drawn(roots: &[Branch]) -> String {
    let mut text = String::new();
    for root in roots {
        draw(root, "", "", &mut text);
    }
    text
}

/// `before` stands before the first line, `margin` before all others.
fn draw(branch: &Branch, before: &str, margin: &str, text: &mut String) {
    let below = if branch.branches.is_empty() { "" } else { "│  " };
    let room = WIDTH.saturating_sub(margin.chars().count() + below.chars().count());
    let mut first = true;
    for label in &branch.labels {
        for (i, line) in wrapped(label, room.max(NARROWEST)).into_iter().enumerate() {
            let hanging = if i == 0 { "" } else { "  " };
            let start = if first { before.to_owned() } else { format!("{margin}{below}{hanging}") };
            text.push_str(&format!("{start}{line}\n"));
            first = false;
        }
    }
    let last = branch.branches.len().saturating_sub(1);
    for (i, child) in branch.branches.iter().enumerate() {
        let (corner, side) = if i == last { ("└─ ", "   ") } else { ("├─ ", "│  ") };
        draw(child, &format!("{margin}{corner}"), &format!("{margin}{side}"), text);
    }
}

/// Lines of at most so many characters, but for words that are longer. Lines behind the first leave
/// room for two more.
pub(super) fn wrapped(text: &str, width: usize) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    let mut line = String::new();
    for word in text.split(' ') {
        let room = if lines.is_empty() { width } else { width.saturating_sub(2) };
        if !line.is_empty() && line.chars().count() + 1 + word.chars().count() > room {
            lines.push(std::mem::take(&mut line));
        }
        if !line.is_empty() {
            line.push(' ');
        }
        // A quantity is not torn from its unit.
        line.push_str(&word.replace('\u{a0}', " "));
    }
    lines.push(line);
    lines
}

/// A quantity that no line break tears.
pub(super) fn whole(quantity: &str) -> String {
    quantity.replace(' ', "\u{a0}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn branches_hang_on_lines_and_long_labels_keep_them() {
        let long = format!("b: {}", "word ".repeat(30));
        let inner = Branch::new(long.trim().to_owned(), vec![Branch::leaf("c".into())]);
        let root = Branch::new("a".into(), vec![inner, Branch::leaf("d".into())]);
        let text = drawn(&[root]);
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(lines[0], "a");
        assert!(lines[1].starts_with("├─ b: word"));
        assert!(lines[2].starts_with("│  │    word"), "{text}");
        assert_eq!(lines[lines.len() - 2..], ["│  └─ c", "└─ d"]);
        assert!(lines.iter().all(|l| l.chars().count() <= WIDTH), "{text}");
    }

    #[test]
    fn a_word_longer_than_a_line_stands_alone() {
        let word = "x".repeat(40);
        assert_eq!(wrapped(&format!("a {word} b"), 20), ["a".to_owned(), word, "b".to_owned()]);
        assert_eq!(wrapped(&format!("aaa {}", whole("5 mW")), 7), ["aaa", "5 mW"]);
    }
}
