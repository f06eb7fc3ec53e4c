//! The structure of a RON text without its meaning: what is in what, and where it stands.

use super::cursor::{Cursor, DEPTH_LIMIT, unquoted};
use std::ops::Range;

/// Bytes of one of several files.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Place {
    pub file: usize,
    pub span: Range<usize>,
}

/// A value.
#[derive(Debug)]
pub(super) struct Node {
    pub place: Place,
    pub form: Form,
}

#[derive(Debug)]
pub(super) enum Form {
    /// What has no parts that could be told apart by name: numbers, texts, tuples, `Charge("…")`.
    Whole,
    Parts(Parts),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// `(rows: 12)` or `Systolic(rows: 12)`.
    Fields,
    /// `{"key": 1}`.
    Map,
    /// `[1, 2]`.
    List,
}

/// The parts of a group of fields, a map or a list.
#[derive(Debug)]
pub(super) struct Parts {
    pub kind: Kind,
    /// The name in front of the bracket.
    pub name: Option<String>,
    /// Everything before the first part: `Systolic((`.
    pub open: Place,
    /// Everything from the closing bracket on.
    pub close: Place,
    pub members: Vec<Member>,
    /// True once parts of another text were put in: the bytes no longer stand in one piece.
    pub patched: bool,
}

#[derive(Debug)]
pub(super) struct Member {
    /// Field, key, or the `name` of a list's item; `None` for an item that has none.
    pub key: Option<String>,
    /// The bytes of field or key.
    pub label: Option<Place>,
    pub value: Node,
    /// The file that put it into the list of another one.
    pub added_by: Option<usize>,
}

impl Parts {
    pub fn member(&self, key: &str) -> Option<&Member> {
        self.members.iter().find(|m| m.key.as_deref() == Some(key))
    }
}

impl Node {
    pub fn parts(&self) -> Option<&Parts> {
        match &self.form {
            Form::Whole => None,
            Form::Parts(parts) => Some(parts),
        }
    }
}

/// A text in its parts.
#[derive(Debug)]
pub(super) struct Tree {
    /// The bytes of `#![enable(…)]` and what stands before it.
    pub attributes: Place,
    pub root: Node,
}

impl Tree {
    /// The structure of `text`, which is file number `file`, or the byte it cannot be followed from.
    pub fn of(text: &str, file: usize) -> Result<Self, usize> {
        let mut builder = Builder { cursor: Cursor { text, at: 0 }, file };
        let enabled = builder.cursor.attributes();
        let root = builder.value(0);
        builder.cursor.space();
        match root {
            Some(root) if builder.cursor.at == text.len() => {
                Ok(Self { attributes: Place { file, span: 0..enabled }, root })
            }
            _ => Err(builder.cursor.at),
        }
    }
}

struct Builder<'a> {
    cursor: Cursor<'a>,
    file: usize,
}

impl Builder<'_> {
    fn place(&self, span: Range<usize>) -> Place {
        Place { file: self.file, span }
    }

    fn text(&self, span: Range<usize>) -> &str {
        self.cursor.text.get(span).unwrap_or("")
    }

    /// The value that comes next; `None` where the text cannot be followed.
    fn value(&mut self, depth: usize) -> Option<Node> {
        self.cursor.space();
        if depth > DEPTH_LIMIT {
            return None;
        }
        let start = self.cursor.at;
        let form = match self.cursor.peek()? {
            '(' => self.group(depth, None, start)?,
            '[' => self.bracketed(Kind::List, ']', depth)?,
            '{' => self.bracketed(Kind::Map, '}', depth)?,
            c if c.is_alphabetic() || c == '_' => self.named(depth, start)?,
            _ => {
                self.cursor.key();
                Form::Whole
            }
        };
        let span = start..self.cursor.at;
        (!span.is_empty()).then(|| Node { place: self.place(span), form })
    }

    fn named(&mut self, depth: usize, start: usize) -> Option<Form> {
        if self.cursor.is_raw_string() {
            self.cursor.raw_string();
            return Some(Form::Whole);
        }
        let word = self.cursor.identifier().to_owned();
        let after = self.cursor.at;
        self.cursor.space();
        match self.cursor.peek() {
            Some('(') => return self.group(depth, (word != "Some").then_some(word), start),
            // Bytes: `b"…"`, `b'…'`, `br"…"`.
            Some('"' | '\'') if after == self.cursor.at => self.cursor.key(),
            _ => self.cursor.at = after,
        }
        Some(Form::Whole)
    }

    /// What stands in `( )`: fields, one value that is as good as itself, or a tuple.
    fn group(&mut self, depth: usize, name: Option<String>, start: usize) -> Option<Form> {
        self.cursor.bump();
        let open = self.cursor.at;
        self.cursor.space();
        if self.cursor.peek() != Some(')') && self.cursor.field_name().is_none() {
            return self.positions(depth, name, start);
        }
        self.cursor.at = open;
        let Form::Parts(parts) = self.parts(Kind::Fields, ')', depth)? else { return None };
        let open = self.place(start..open);
        Some(Form::Parts(Parts { name, open, ..parts }))
    }

    fn positions(&mut self, depth: usize, name: Option<String>, start: usize) -> Option<Form> {
        let first = self.value(depth + 1)?;
        let mut only = true;
        loop {
            let comma = self.cursor.eat(',');
            if self.cursor.eat(')') {
                break;
            }
            only = false;
            comma.then(|| self.value(depth + 1))??;
        }
        Some(match first.form {
            Form::Parts(mut inner)
                if only
                    && (name.is_none() || (inner.kind == Kind::Fields && inner.name.is_none())) =>
            {
                inner.name = name.or(inner.name);
                inner.open.span.start = start;
                inner.close.span.end = self.cursor.at;
                Form::Parts(inner)
            }
            _ => Form::Whole,
        })
    }

    fn bracketed(&mut self, kind: Kind, closing: char, depth: usize) -> Option<Form> {
        self.cursor.bump();
        self.parts(kind, closing, depth)
    }

    /// Parts up to the closing bracket; the opening one is the byte before.
    fn parts(&mut self, kind: Kind, closing: char, depth: usize) -> Option<Form> {
        let open = self.place(self.cursor.at.saturating_sub(1)..self.cursor.at);
        let mut members = Vec::new();
        let mut more = true;
        loop {
            self.cursor.space();
            let close = self.cursor.at;
            if self.cursor.eat(closing) {
                let close = self.place(close..self.cursor.at);
                let name = None;
                return Some(Form::Parts(Parts {
                    kind,
                    name,
                    open,
                    close,
                    members,
                    patched: false,
                }));
            }
            members.push(more.then(|| self.part(kind, depth))??);
            more = self.cursor.eat(',');
        }
    }

    fn part(&mut self, kind: Kind, depth: usize) -> Option<Member> {
        let start = self.cursor.at;
        match kind {
            Kind::Fields => {
                let name = self.cursor.field_name()?.to_owned();
                let label = Some(self.place(start..start + name.len()));
                Some(Member {
                    key: Some(name),
                    label,
                    value: self.value(depth + 1)?,
                    added_by: None,
                })
            }
            Kind::Map => {
                let key = self.value(depth + 1)?.place;
                let text = unquoted(self.text(key.span.clone())).into_owned();
                let value = self.cursor.eat(':').then(|| self.value(depth + 1))??;
                Some(Member { key: Some(text), label: Some(key), value, added_by: None })
            }
            Kind::List => {
                let value = self.value(depth + 1)?;
                Some(Member { key: self.name_of(&value), label: None, value, added_by: None })
            }
        }
    }

    /// What the field `name` of a list's item says.
    fn name_of(&self, item: &Node) -> Option<String> {
        let parts = item.parts().filter(|parts| parts.kind == Kind::Fields)?;
        string_in(self.text(parts.member("name")?.value.place.span.clone()))
    }
}

/// What a text in quotes says.
pub(super) fn string_in(written: &str) -> Option<String> {
    let quoted = written.starts_with(['"', 'r']) && written.contains('"');
    quoted.then(|| unquoted(written).into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parts(text: &str) -> Parts {
        match Tree::of(text, 0).map(|tree| tree.root.form) {
            Ok(Form::Parts(parts)) => parts,
            other => panic!("{text}: {other:?}"),
        }
    }

    #[test]
    fn brackets_around_one_group_are_the_group() {
        for text in ["A(x: 1)", "A((x: 1))", "Some(A((x: 1),))", "A( /* ( */ (x: 1, ) // )\n)"] {
            let found = parts(text);
            assert_eq!((found.kind, found.name.as_deref()), (Kind::Fields, Some("A")), "{text}");
            assert!(found.member("x").is_some(), "{text}");
            assert_eq!(found.open.span.start, 0, "{text}");
            assert_eq!(found.close.span.end, text.len(), "{text}");
        }
    }

    #[test]
    fn what_has_no_named_parts_is_whole() {
        for text in ["1.5e-3", "Charge(\"1 pC\")", "(1, 2)", "b\"x\"", "'('", "r#\"(\"(\"#", "Ldo"]
        {
            let tree = Tree::of(text, 0).unwrap();
            assert!(tree.root.parts().is_none(), "{text}");
            assert_eq!(tree.root.place.span, 0..text.len(), "{text}");
        }
    }

    #[test]
    fn items_and_keys_have_the_names_that_serde_sees() {
        let list = parts("[(name: r\"a\"), (name: \"\\u{62}\", x: 1), (x: 1), 3]");
        let keys: Vec<_> = list.members.iter().map(|m| m.key.as_deref()).collect();
        assert_eq!(keys, [Some("a"), Some("b"), None, None]);
        let map = parts("{Int8: 1, \"odd, key\": 2}");
        assert!(map.member("Int8").is_some() && map.member("odd, key").is_some());
    }

    #[test]
    fn what_cannot_be_followed_is_no_tree() {
        for text in ["", "(", "(a: 1", "(a 1)", "[1 2]", "{1}", "(a: 1) b", "(,)", "[,]"] {
            assert!(Tree::of(text, 0).is_err(), "{text}");
        }
        assert!(Tree::of(&"[".repeat(100_000), 0).is_err());
    }
}
