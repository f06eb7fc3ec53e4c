//! A text put together from several files, and where each byte of it comes from.

use super::nearest;
use super::tree::{Form, Kind, Member, Node, Parts, Place};
use std::ops::Range;

/// More items of a list, or more that are added to lists, than a person put there.
const KNOWN_KEPT: usize = 200;
const ADDED_KEPT: usize = 200;

/// Names listed where none is near.
const NAMES_LISTED: usize = 20;

/// A text put together from slices of several files.
#[derive(Debug, Default)]
pub struct Merged {
    text: String,
    files: Vec<(String, String)>,
    /// The file that extends each; without it, that before each.
    above: Vec<usize>,
    pieces: Vec<Piece>,
    added: Vec<Added>,
}

/// An item of a list that a file adds to those of the file it extends.
#[derive(Debug)]
struct Added {
    /// Its bytes in the merged text.
    span: Range<usize>,
    name: String,
    /// The field that holds the list.
    list: String,
    /// Names of the list in the file below.
    known: Vec<String>,
    /// The file that adds it.
    file: usize,
}

/// A run of bytes of the merged text; it ends where the next one starts.
#[derive(Debug)]
struct Piece {
    at: usize,
    file: usize,
    /// Where it stands in its file.
    from: usize,
    /// How much of it does; nothing for a comma that no file holds, which belongs behind `from`.
    length: usize,
}

impl Merged {
    /// Writes `root`, whose places are in `files` (name and text each), behind `attributes`.
    pub(super) fn write(files: Vec<(String, String)>, attributes: &[Place], root: &Node) -> Self {
        let mut writer = Self { files, ..Self::default() };
        for place in attributes.iter().filter(|place| !place.span.is_empty()) {
            writer.slice(place);
            writer.between("\n", place);
        }
        writer.node(root, "");
        writer
    }

    /// The same, by the file that extends each.
    pub(super) fn extended_by(self, above: Vec<usize>) -> Self {
        Self { above, ..self }
    }

    pub(super) fn above(&self) -> &[usize] {
        &self.above
    }

    /// The files that `file` says it extends, in its words' order.
    fn bases(&self, file: usize) -> Vec<&str> {
        let above = |i: usize| self.above.get(i).copied().unwrap_or(i.saturating_sub(1));
        let behind = self.files.iter().enumerate().skip(file + 1).rev();
        behind.filter(|(i, _)| above(*i) == file).map(|(_, (name, _))| name.as_str()).collect()
    }

    /// The text.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Name and text of each file, the first being the one that lies on top.
    pub fn files(&self) -> &[(String, String)] {
        &self.files
    }

    /// The file that holds bytes of the merged text, and the bytes of it that do. Of bytes that come
    /// from several files, what stands in the first.
    pub fn origin(&self, span: &Range<usize>) -> (usize, Range<usize>) {
        let Some(first) = self.piece_at(span.start) else { return (0, 0..0) };
        let start = first.place_of(span.start);
        let last = self.piece_at(span.end.saturating_sub(1).max(span.start)).unwrap_or(first);
        let end = match last.place_of(span.end) {
            end if last.file == first.file && end >= start => end,
            _ => first.from + first.length,
        };
        (first.file, start..end)
    }

    fn piece_at(&self, at: usize) -> Option<&Piece> {
        let behind = self.pieces.partition_point(|piece| piece.at <= at);
        self.pieces.get(behind.checked_sub(1)?)
    }

    /// What may be meant by a fault of a whole item at byte `at`, when the item lies over none: one below
    /// that is called nearly so, or any.
    pub(super) fn lies_over(&self, path: &str, at: usize) -> Option<String> {
        let of_item = path.ends_with(']') || path.ends_with("].name");
        let within = |added: &&Added| added.span.contains(&at);
        let innermost = self.added.iter().filter(within).max_by_key(|a| a.span.start);
        let Added { name, list, known, file, .. } = innermost.filter(|_| of_item)?;
        let below = self.bases(*file);
        let said = match below.as_slice() {
            [] => return None,
            [below] => format!("{below} has no `{name}` in `{list}` that this could lie over"),
            below => {
                let below = below.join(", ");
                format!("none of {below} has a `{name}` in `{list}` that this could lie over")
            }
        };
        match nearest(name, known.iter().map(String::as_str)) {
            Some(near) => Some(format!("{said}; did you mean `{near}`?")),
            None if known.len() > NAMES_LISTED => Some(said),
            None => Some(format!("{said}; it has {}", known.join(", "))),
        }
    }

    fn node(&mut self, node: &Node, field: &str) {
        match &node.form {
            Form::Parts(parts) if parts.patched => self.parts(parts, field),
            _ => self.slice(&node.place),
        }
    }

    fn parts(&mut self, parts: &Parts, field: &str) {
        self.slice(&parts.open);
        for member in &parts.members {
            let start = self.text.len();
            let inner = match (parts.kind, member.key.as_deref()) {
                (Kind::Fields, Some(key)) => key,
                _ => field,
            };
            if let Some(label) = &member.label {
                self.slice(label);
                self.between(": ", label);
            }
            self.node(&member.value, inner);
            self.add(parts, member, field, start);
            self.between(",\n", &member.value.place);
        }
        self.slice(&parts.close);
    }

    fn add(&mut self, parts: &Parts, member: &Member, list: &str, start: usize) {
        let (Some(file), Some(name), Kind::List) = (member.added_by, &member.key, parts.kind)
        else {
            return;
        };
        let below = parts.members.iter().filter(|m| m.added_by.is_none_or(|by| by > file));
        let known: Vec<String> = below.filter_map(|m| m.key.clone()).take(KNOWN_KEPT).collect();
        if !known.is_empty() && !known.contains(name) && self.added.len() < ADDED_KEPT {
            let (span, name, list) = (start..self.text.len(), name.clone(), list.to_owned());
            self.added.push(Added { span, name, list, known, file });
        }
    }

    fn slice(&mut self, place: &Place) {
        let of_file = self.files.get(place.file).and_then(|(_, text)| text.get(place.span.clone()));
        let words = of_file.unwrap_or("").to_owned();
        let (at, from, length) = (self.text.len(), place.span.start, words.len());
        self.pieces.push(Piece { at, file: place.file, from, length });
        self.text.push_str(&words);
    }

    /// Words of nobody, which stand behind `place`.
    fn between(&mut self, words: &str, place: &Place) {
        let (at, from) = (self.text.len(), place.span.end);
        self.pieces.push(Piece { at, file: place.file, from, length: 0 });
        self.text.push_str(words);
    }
}

impl Piece {
    fn place_of(&self, at: usize) -> usize {
        self.from + at.saturating_sub(self.at).min(self.length)
    }
}

#[cfg(test)]
mod tests {
    use super::super::merge::merge;
    use super::super::tree::Tree;
    use super::*;

    const BASE: &str = "(\n  // µ\n  a: 1,\n  list: [(name: \"x\", v: \"µ\"), (name: \"y\")],\n)";
    const OVER: &str = "#![enable(implicit_some)]\n(b: 22, list: [(name: \"x\", w: 3)])";

    fn laid() -> Merged {
        let files = [("over".to_owned(), OVER.to_owned()), ("base".to_owned(), BASE.to_owned())];
        let (over, mut base) = (Tree::of(OVER, 0).unwrap(), Tree::of(BASE, 1).unwrap());
        merge(&mut base.root, over.root);
        Merged::write(files.to_vec(), &[over.attributes, base.attributes], &base.root)
    }

    /// Which file holds `words`, and what it says where they are thought to be.
    fn traced(words: &str) -> (usize, &'static str) {
        let merged = laid();
        let at = merged.text().find(words).unwrap_or_else(|| panic!("{}", merged.text()));
        let (file, span) = merged.origin(&(at..at + words.len()));
        (file, &[OVER, BASE][file][span])
    }

    #[test]
    fn every_word_is_found_in_the_file_that_says_it() {
        for (words, file) in [
            ("list", 0),
            ("1", 1),
            ("\"µ\"", 1),
            ("22", 0),
            ("w", 0),
            ("(name: \"y\")", 1),
            ("#!", 0),
        ] {
            assert_eq!(traced(words), (file, words));
        }
    }

    #[test]
    fn what_both_files_say_is_shown_in_the_first() {
        let merged = laid();
        let index = super::super::SpanIndex::of(merged.text());
        let (file, span) = merged.origin(&index.value("list[0]").unwrap());
        assert_eq!((file, &OVER[span]), (0, "(name: \"x\", w: 3)"));
        let half = index.value("list[0].v").unwrap().start..index.value("list[0].w").unwrap().end;
        assert_eq!(merged.origin(&half).0, 1);
    }

    #[test]
    fn any_bytes_have_an_origin_within_its_file() {
        let merged = laid();
        for start in 0..merged.text().len() + 3 {
            for end in start..merged.text().len() + 3 {
                let (file, span) = merged.origin(&(start..end));
                assert!(span.start <= span.end && span.end <= merged.files()[file].1.len());
            }
        }
        assert_eq!(merged.origin(&(usize::MAX..usize::MAX)).0, 0);
    }
}
