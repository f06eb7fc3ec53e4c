//! Changing what a text stands for that is laid over others: where it says a value itself, that is
//! replaced in place, and comments and layout stay; where it inherits the value, the least is added that
//! overrides it.
//!
//! The merged text tells the shape: what is laid over part by part (groups of fields, maps, lists of named
//! items) is opened or completed, what is replaced whole is copied with its change.

mod insertion;

use super::tree::{Form, Kind, Member, Node, Parts, Tree};
use super::{LayerRules, SpanIndex, quoted};
use insertion::{inserted, removed};
use std::ops::Range;

/// A change of what a text stands for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Change {
    /// The value at a field path of the merged text (`domains[0].clock_tree.Charge`) is another one.
    Value {
        /// Its path.
        path: String,
        /// What stands there instead, in RON.
        value: String,
    },
    /// A group of fields or a map has an entry, whether there was one of its key or not. An entry that the
    /// text inherits is laid over, or replaced whole where the rules say so.
    Entry {
        /// The field path of group or map; nothing for the outermost group.
        within: String,
        /// Field or key.
        key: String,
        /// Its value, in RON.
        value: String,
    },
    /// The text does not itself say an entry of a group of fields or a map.
    Unsaid {
        /// The field path of group or map; nothing for the outermost group.
        within: String,
        /// Field or key.
        key: String,
    },
}

/// Why a text cannot be changed so.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum RewriteError {
    /// A text that is no RON.
    #[error("the text cannot be followed from byte {at} on")]
    Unreadable {
        /// The byte.
        at: usize,
    },
    /// A path to nothing.
    #[error("nothing stands at `{path}`")]
    Nowhere {
        /// The path.
        path: String,
    },
    /// A path to what has no entries.
    #[error("what stands at `{path}` has no entries with names")]
    NoEntries {
        /// The path.
        path: String,
    },
    /// A text that is not part of the merged one.
    #[error("what stands at `{path}` is not what the text says there")]
    Apart {
        /// The path.
        path: String,
    },
}

/// `own`, a text that stands for `merged` (for itself where it extends nothing), with changes, one after the
/// other. The merged text is the one from before all of them.
///
/// # Errors
/// One of the texts is no RON, or a change is of nothing.
pub fn rewritten(
    own: &str,
    merged: &str,
    rules: &LayerRules<'_>,
    changes: &[Change],
) -> Result<String, RewriteError> {
    let unreadable = |at| RewriteError::Unreadable { at };
    let tree = Tree::of(merged, 0).map_err(unreadable)?;
    let shape = Shape { text: merged, root: &tree.root, index: SpanIndex::of(merged), rules };
    let mut text = own.to_owned();
    for change in changes {
        let tree = Tree::of(&text, 0).map_err(unreadable)?;
        text = shape.changed(&text, &tree.root, change)?;
    }
    Ok(text)
}

/// What a text stands for.
struct Shape<'a> {
    text: &'a str,
    root: &'a Node,
    index: SpanIndex,
    rules: &'a LayerRules<'a>,
}

/// How far down a value is still laid over part by part: `None` for all the way, else by so many steps.
type Depth = Option<usize>;

/// A place in the merged text, and where a text says it.
enum Found<'n> {
    /// The text says it, at these bytes.
    Said(Range<usize>, Option<&'n Node>),
    /// The text has the group of it, and not this member.
    Missing(&'n Parts, &'n Member, Depth),
}

impl Shape<'_> {
    fn changed(&self, own: &str, root: &Node, change: &Change) -> Result<String, RewriteError> {
        match change {
            Change::Value { path, value } => {
                let nowhere = || RewriteError::Nowhere { path: path.clone() };
                let target = self.index.value(path).ok_or_else(nowhere)?;
                match self.find(own, root, &target, path)? {
                    Found::Said(span, _) => Ok(spliced(own, span, value)),
                    Found::Missing(parts, member, depth) => {
                        Ok(self.laid_over(own, parts, member, depth, (&target, value)))
                    }
                }
            }
            Change::Entry { within, key, value } => self.entered(own, root, within, key, value),
            Change::Unsaid { within, key } => {
                let node = self.node(within)?;
                let said = match self.find(own, root, &node.place.span, within)? {
                    Found::Said(_, node) => node.and_then(Node::parts),
                    Found::Missing(..) => None,
                };
                Ok(said.map_or_else(|| own.to_owned(), |parts| removed(own, parts, key)))
            }
        }
    }

    fn entered(
        &self,
        own: &str,
        root: &Node,
        within: &str,
        key: &str,
        value: &str,
    ) -> Result<String, RewriteError> {
        let no_entries = || RewriteError::NoEntries { path: within.to_owned() };
        let node = self.node(within)?;
        let shape = node.parts().filter(|parts| parts.kind != Kind::List).ok_or_else(no_entries)?;
        let label = if shape.kind == Kind::Map { quoted(key) } else { key.to_owned() };
        let entry = format!("{label}: {value}");
        match self.find(own, root, &node.place.span, within)? {
            Found::Said(_, said) => {
                let parts = said.and_then(Node::parts).ok_or_else(no_entries)?;
                Ok(match parts.member(key) {
                    Some(member) => spliced(own, member.value.place.span.clone(), value),
                    None => inserted(own, parts, &entry),
                })
            }
            Found::Missing(parts, member, depth) => {
                let group = grouped(shape, &entry);
                let target = (&node.place.span, group.as_str());
                Ok(self.laid_over(own, parts, member, depth, target))
            }
        }
    }

    /// The group of fields or map at a path.
    fn node(&self, path: &str) -> Result<&Node, RewriteError> {
        let nowhere = || RewriteError::Nowhere { path: path.to_owned() };
        if path.is_empty() {
            return Ok(self.root);
        }
        let target = self.index.value(path).ok_or_else(nowhere)?;
        let mut node = self.root;
        while node.place.span != target {
            let step = step(node, &target).ok_or_else(nowhere)?;
            node = &step.1.value;
        }
        Ok(node)
    }

    /// Looks in a text for what stands at `target` in the merged one.
    fn find<'n>(
        &'n self,
        own: &str,
        root: &'n Node,
        target: &Range<usize>,
        path: &str,
    ) -> Result<Found<'n>, RewriteError> {
        let apart = || RewriteError::Apart { path: path.to_owned() };
        let (mut said, mut shape, mut depth) = (root, self.root, None);
        while shape.place.span != *target {
            let Some((_, member)) = step(shape, target) else {
                return Ok(Found::Said(
                    self.within(own, said, shape, path).ok_or_else(apart)?,
                    None,
                ));
            };
            depth = self.below(shape, member, depth);
            let parts = said.parts().ok_or_else(apart)?;
            let Some(own) = member.key.as_deref().and_then(|key| parts.member(key)) else {
                return Ok(Found::Missing(parts, member, depth));
            };
            (said, shape) = (&own.value, &member.value);
        }
        Ok(Found::Said(said.place.span.clone(), Some(said)))
    }

    /// The bytes of what stands at `path`, in a value that the text says as a whole.
    fn within(&self, own: &str, said: &Node, shape: &Node, path: &str) -> Option<Range<usize>> {
        const BEFORE: &str = "(x: ";
        let mut above = path.rmatch_indices(['.', '[']).filter_map(|(end, _)| path.get(..end));
        let there = Some(shape.place.span.clone());
        let node = above.find(|path| self.index.value(path) == there)?;
        let words = own.get(said.place.span.clone())?;
        // A variant has a name in paths only below a field.
        let index = SpanIndex::of(&format!("{BEFORE}{words})"));
        let span = index.value(&format!("x{}", path.get(node.len()..)?))?;
        let start = said.place.span.start + span.start.checked_sub(BEFORE.len())?;
        Some(start..start + span.len())
    }

    /// How far down a member is laid over part by part.
    fn below(&self, of: &Node, member: &Member, depth: Depth) -> Depth {
        if !std::ptr::eq(of, self.root) {
            return depth.map(|steps| steps.saturating_sub(1));
        }
        let named = |list: &[&str]| member.key.as_deref().is_some_and(|key| list.contains(&key));
        match (named(self.rules.whole), named(self.rules.whole_values)) {
            (true, _) => Some(0),
            (_, true) => Some(1),
            _ => None,
        }
    }

    /// The text with a member of the merged one added, changed at `target`.
    fn laid_over(
        &self,
        own: &str,
        parts: &Parts,
        member: &Member,
        depth: Depth,
        target: (&Range<usize>, &str),
    ) -> String {
        let words = match &member.label {
            Some(label) => {
                let value = self.least(&member.value, depth, target);
                format!("{}: {value}", self.words(&label.span))
            }
            None => self.item(&member.value, depth, target),
        };
        inserted(own, parts, &words)
    }

    /// The least of a value that makes the change at `target` when laid over it.
    fn least(&self, node: &Node, depth: Depth, (target, value): (&Range<usize>, &str)) -> String {
        let whole = depth == Some(0) || node.place.span == *target;
        let Some((parts, member)) = step(node, target).filter(|_| !whole) else {
            let span = &node.place.span;
            let (before, behind) = (span.start..target.start, target.end..span.end);
            return [self.words(&before), value, self.words(&behind)].concat();
        };
        let depth = self.below(node, member, depth);
        let Some(label) = &member.label else {
            return format!("[{}]", self.item(&member.value, depth, (target, value)));
        };
        let inner = self.least(&member.value, depth, (target, value));
        grouped(parts, &format!("{}: {inner}", self.words(&label.span)))
    }

    /// An item of a list of named ones: its name, and the change.
    fn item(&self, item: &Node, depth: Depth, target: (&Range<usize>, &str)) -> String {
        let own = self.least(item, depth, target);
        let name = item.parts().and_then(|parts| parts.member("name"));
        let (Some(name), Some((parts, _))) = (name, step(item, target.0)) else { return own };
        let open = parts.name.as_deref().unwrap_or("").len() + 1;
        match (own.get(..open), own.get(open..)) {
            (Some(open), Some(rest)) if item.place.span != *target.0 && depth != Some(0) => {
                format!("{open}name: {}, {rest}", self.words(&name.value.place.span))
            }
            _ => own,
        }
    }

    fn words(&self, span: &Range<usize>) -> &str {
        self.text.get(span.clone()).unwrap_or("")
    }
}

/// The part of a value that `target` lies in, where parts have names.
fn step<'n>(node: &'n Node, target: &Range<usize>) -> Option<(&'n Parts, &'n Member)> {
    let Form::Parts(parts) = &node.form else { return None };
    if parts.members.iter().any(|member| member.key.is_none()) {
        return None;
    }
    let holds = |span: &Range<usize>| span.start <= target.start && target.end <= span.end;
    let member = parts.members.iter().find(|member| holds(&member.value.place.span))?;
    Some((parts, member))
}

/// A group or map like another one, with one entry.
fn grouped(like: &Parts, entry: &str) -> String {
    match like.kind {
        Kind::Map => format!("{{{entry}}}"),
        _ => format!("{}({entry})", like.name.as_deref().unwrap_or("")),
    }
}

fn spliced(text: &str, span: Range<usize>, words: &str) -> String {
    let (before, behind) = (text.get(..span.start), text.get(span.end..));
    [before.unwrap_or(""), words, behind.unwrap_or("")].concat()
}

#[cfg(test)]
mod tests;
