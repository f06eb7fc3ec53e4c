//! A profile that extends others: finding the file behind a name, and no end of them.
//!
//! `extends` names a shipped profile, shipped software (`software/NAME`), or a file by its path from the
//! folder of the file that says so; or it lists several, each laid over those before it, with all that
//! they extend.
//! What the extending file says holds; groups of fields, maps and lists of named items are laid over
//! part by part, all else is replaced whole, and so is a source: its citation and its spread belong
//! together. `without` takes out parts of what is extended.
//!
//! A file is told from another by where it lies, and a shipped profile is no file: a file called
//! `stm32l4r5.ron` may extend the shipped `stm32l4r5`. A profile that is reached again from itself is
//! an error.

use super::shipped::shipped;
use crate::diagnostic::{LayerRules, Layers, Merged, Report, nearest};
use std::io::Read;
use std::path::{Path, PathBuf};

pub(super) const RULES: LayerRules<'static> = LayerRules {
    extends: "extends",
    without: "without",
    whole_values: &["sources"],
    whole: &["posterior"],
};

/// Longer than any chain that somebody could still follow.
const CHAIN_LIMIT: usize = 16;

/// More than any profile is put together from.
const FILES_LIMIT: usize = 64;

/// Larger than any profile, and small enough to be read at once.
const BYTES_LIMIT: u64 = 16 << 20;

/// What a profile is told from others by.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Identity {
    Shipped(&'static str),
    File(PathBuf),
}

/// A profile of a chain.
struct Link {
    /// As it is called in errors.
    file: String,
    identity: Identity,
    text: String,
}

/// `text`, read from `file`, laid over what it extends; `None` when it extends nothing.
pub(super) fn extended(file: &str, text: &str) -> Result<Option<Merged>, Box<Report>> {
    // A file that does not so much as have the word is not looked at twice.
    if !text.contains(RULES.extends) || !Layers::has_field(text, RULES.extends) {
        return Ok(None);
    }
    let mut stack = Stack { layers: Layers::new(RULES), chain: Vec::new() };
    stack.put(Link::given(file, text), 0)?;
    stack.layers.merged().map(Some)
}

/// Profiles as they come to lie on one another.
struct Stack {
    layers: Layers<'static>,
    /// From the first to the one that is looked at, each extending the next.
    chain: Vec<Link>,
}

impl Stack {
    /// Puts a profile under all that are there, and under it all that it extends: what it names last
    /// lies highest.
    fn put(&mut self, link: Link, above: usize) -> Result<(), Box<Report>> {
        let own = self.layers.push(&link.file, &link.text, above)?;
        let names = self.layers.extended(own)?;
        self.chain.push(link);
        let mut bases: Vec<Link> = Vec::new();
        for (item, name) in names.iter().enumerate() {
            let base = self.base(name, &bases);
            bases
                .push(base.map_err(|(message, help)| self.layers.fault(own, item, message, help))?);
        }
        for (item, base) in bases.into_iter().enumerate().rev() {
            if self.layers.count() == FILES_LIMIT {
                let message = format!("more than {FILES_LIMIT} files are laid on one another");
                return Err(self.layers.fault(own, item, message, None));
            }
            self.put(base, own)?;
        }
        self.chain.pop();
        Ok(())
    }

    /// The profile that the last of the chain extends by the name of `name`, beside `others`.
    fn base(&self, name: &str, others: &[Link]) -> Result<Link, Refusal> {
        let Some(link) = self.chain.last() else { return Err((String::new(), None)) };
        let next = link.base(name)?;
        let again = |links: &[Link]| links.iter().position(|l| l.identity == next.identity);
        if let Some(first) = again(&self.chain) {
            let files = self.chain.iter().skip(first).map(|link| link.file.as_str());
            let files: Vec<_> = files.chain([next.file.as_str()]).collect();
            return Err((format!("profiles extend one another: {}", files.join(" -> ")), None));
        }
        if again(others).is_some() {
            return Err((format!("{} is extended twice", next.file), None));
        }
        if self.chain.len() == CHAIN_LIMIT {
            let message = format!("this is the {CHAIN_LIMIT}th profile of a chain, and the last");
            return Err((message, None));
        }
        Ok(next)
    }
}

/// What is wrong, and what to do about it.
type Refusal = (String, Option<String>);

impl Link {
    fn given(file: &str, text: &str) -> Self {
        let shipped = shipped().find(|p| p.path == file && p.text == text);
        let identity =
            shipped.map_or_else(|| file_identity(Path::new(file)), |p| Identity::Shipped(p.name));
        Self { file: file.to_owned(), identity, text: text.to_owned() }
    }

    /// The profile that this one extends by the name of `name`.
    fn base(&self, name: &str) -> Result<Self, Refusal> {
        if let Some(shipped) = shipped().find(|p| p.name == name) {
            let (file, text) = (shipped.path.to_owned(), shipped.text.to_owned());
            return Ok(Self { file, identity: Identity::Shipped(shipped.name), text });
        }
        let given = Path::new(name);
        let is_path = given.components().count() > 1 || given.extension().is_some();
        let folder = Path::new(&self.file).parent().unwrap_or(Path::new(""));
        // Components leave out a `.` in the midst.
        let path: PathBuf = folder.join(given).components().collect();
        // What ships stands alone, wherever the program is run.
        let on_disk = matches!(self.identity, Identity::File(_)) && (is_path || path.is_file());
        if !on_disk || name.is_empty() {
            let message = format!("no hardware profile is called `{name}`");
            return Err((message, Some(known(name))));
        }
        let text = read(&path).map_err(|error| {
            let stem = given.file_stem().and_then(|stem| stem.to_str()).unwrap_or("");
            (format!("cannot read {}: {error}", path.display()), near(name).or_else(|| near(stem)))
        })?;
        Ok(Self { file: path.display().to_string(), identity: file_identity(&path), text })
    }
}

fn near(name: &str) -> Option<String> {
    let near = nearest(name, shipped().map(|p| p.name))?;
    Some(format!("did you mean `{near}`, which ships?"))
}

fn known(name: &str) -> String {
    near(name).unwrap_or_else(|| {
        let shipped: Vec<_> = shipped().map(|p| p.name).collect();
        format!("these ship: {}; a path to a .ron file works too", shipped.join(", "))
    })
}

/// A file is one file under all its paths. One that is nowhere is told by the path it would have.
fn file_identity(path: &Path) -> Identity {
    let found = path.canonicalize().or_else(|_| std::path::absolute(path));
    Identity::File(found.unwrap_or_else(|_| path.to_owned()))
}

fn read(path: &Path) -> std::io::Result<String> {
    // Whoever opens a pipe waits for it.
    if !std::fs::metadata(path)?.is_file() {
        return Err(std::io::Error::other("it is no file"));
    }
    let mut text = String::new();
    let read = std::fs::File::open(path)?.take(BYTES_LIMIT + 1).read_to_string(&mut text)?;
    if read as u64 > BYTES_LIMIT {
        return Err(std::io::Error::other("it is too large for a profile"));
    }
    Ok(text)
}
