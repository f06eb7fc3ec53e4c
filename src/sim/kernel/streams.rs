//! Random numbers: one stream a component.
//!
//! A stream is ChaCha8 under a key of its own, the SHA-256 of the seed, the number of the run, the
//! name of the component and its index. So its numbers depend on nothing else: not on the order in
//! which streams are opened, not on how many there are, not on what others draw, and a component
//! that is added changes none of the others. Runs of a sweep differ by their number, whatever
//! thread they run on.

use super::KernelError;
use rand::SeedableRng;
use rand::rand_core::TryRng;
use rand_chacha::ChaCha8Rng;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use sha2::{Digest, Sha256};
use std::collections::BTreeSet;
use std::convert::Infallible;

/// The streams of one run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Streams {
    seed: u64,
    run: u64,
    /// Those in use.
    open: BTreeSet<(String, u64)>,
}

impl Streams {
    /// How numbers are made; outputs of a run name it.
    pub const ALGORITHM: &'static str = "ChaCha8 keyed by SHA-256 of seed, run, name and index";

    /// Streams of run number `run` under the user's `seed`.
    pub fn new(seed: u64, run: u64) -> Self {
        Self { seed, run, open: BTreeSet::new() }
    }

    /// The stream of a component, at its start. Each is given once: two that draw from the same
    /// numbers would not be independent.
    pub fn open(&mut self, name: &str, index: u64) -> Result<Stream, KernelError> {
        if !self.open.insert((name.to_owned(), index)) {
            return Err(KernelError::StreamTaken { name: name.to_owned(), index });
        }
        Ok(Stream::of(self.seed, self.run, name, index))
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Label {
    seed: u64,
    run: u64,
    name: String,
    index: u64,
}

impl Label {
    fn key(&self) -> [u8; 32] {
        let mut hash = Sha256::new();
        for number in [self.seed, self.run, self.index] {
            hash.update(number.to_le_bytes());
        }
        // The name comes last, so that no length is needed to keep it apart from the numbers.
        hash.update(self.name.as_bytes());
        hash.finalize().into()
    }
}

/// Random numbers of one component: a generator for `rand` and its distributions.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Stream {
    label: Label,
    generator: ChaCha8Rng,
}

impl Stream {
    /// The stream of a component at its start, for those who know that nobody else has it.
    pub fn of(seed: u64, run: u64, name: &str, index: u64) -> Self {
        let label = Label { seed, run, name: name.to_owned(), index };
        Self { generator: ChaCha8Rng::from_seed(label.key()), label }
    }
}

impl TryRng for Stream {
    type Error = Infallible;

    fn try_next_u32(&mut self) -> Result<u32, Infallible> {
        self.generator.try_next_u32()
    }

    fn try_next_u64(&mut self) -> Result<u64, Infallible> {
        self.generator.try_next_u64()
    }

    fn try_fill_bytes(&mut self, bytes: &mut [u8]) -> Result<(), Infallible> {
        self.generator.try_fill_bytes(bytes)
    }
}

/// A stream is its label and how many words of 32 bits were drawn.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Written {
    of: Label,
    drawn_words: u64,
}

impl Serialize for Stream {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let drawn_words = u64::try_from(self.generator.get_word_pos())
            .map_err(|_| serde::ser::Error::custom("a stream past 2^64 words"))?;
        Written { of: self.label.clone(), drawn_words }.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Stream {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let Written { of: label, drawn_words } = Written::deserialize(deserializer)?;
        let mut generator = ChaCha8Rng::from_seed(label.key());
        generator.set_word_pos(u128::from(drawn_words));
        Ok(Self { label, generator })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use rand::{Rng, RngExt};

    fn numbers(stream: &mut Stream) -> [u64; 4] {
        std::array::from_fn(|_| stream.next_u64())
    }

    #[test]
    fn a_stream_depends_on_its_label_alone() {
        let mut streams = Streams::new(1, 0);
        let mut camera = streams.open("camera", 0).unwrap();
        let mut microphone = streams.open("microphone", 0).unwrap();
        let seen = (numbers(&mut camera), numbers(&mut microphone));
        let mut again = Streams::new(1, 0);
        let mut microphone = again.open("microphone", 0).unwrap();
        again.open("a third", 0).unwrap().next_u32();
        let heard = numbers(&mut microphone);
        assert_eq!(seen, (numbers(&mut again.open("camera", 0).unwrap()), heard));
    }

    #[test]
    fn labels_that_differ_in_anything_give_other_numbers() {
        let labels =
            [(1, 0, "a", 0), (2, 0, "a", 0), (0, 1, "a", 0), (1, 0, "b", 0), (1, 0, "a", 1)];
        let first = |(seed, run, name, index)| {
            numbers(&mut Streams::new(seed, run).open(name, index).unwrap())
        };
        let all: BTreeSet<_> = labels.into_iter().map(first).collect();
        assert_eq!(all.len(), labels.len());
    }

    #[test]
    fn no_two_components_draw_from_one_stream() {
        let mut streams = Streams::new(1, 0);
        streams.open("camera", 3).unwrap();
        let taken = KernelError::StreamTaken { name: "camera".into(), index: 3 };
        assert_eq!(streams.open("camera", 3), Err(taken.clone()));
        let text = serde_json::to_string(&streams).unwrap();
        let mut read: Streams = serde_json::from_str(&text).unwrap();
        assert_eq!(read.open("camera", 3), Err(taken));
    }

    /// Numbers that any build has to give, from an independent SHA-256 and ChaCha8: a change breaks
    /// all recorded runs.
    #[test]
    fn the_numbers_of_a_seed_stay_what_they_are() {
        let mut stream = Streams::new(1, 2).open("camera", 3).unwrap();
        assert_eq!(stream.next_u64(), 8_742_816_247_253_502_380);
    }

    proptest! {
        #[test]
        fn a_stream_read_back_goes_on_where_it_was(draws in proptest::collection::vec(0..4u8, 0..80), cut in 0..80usize) {
            let mut one = Streams::new(5, 6).open("x", 7).unwrap();
            let mut other = one.clone();
            for (number, draw) in draws.into_iter().enumerate() {
                if number == cut {
                    other = serde_json::from_str(&serde_json::to_string(&one).unwrap()).unwrap();
                }
                let draw = |stream: &mut Stream| match draw {
                    0 => u64::from(stream.next_u32()),
                    1 => stream.next_u64(),
                    2 => stream.random::<f64>().to_bits(),
                    _ => {
                        let mut bytes = [0; 5];
                        stream.fill_bytes(&mut bytes);
                        bytes.iter().map(|b| u64::from(*b)).sum()
                    }
                };
                prop_assert_eq!(draw(&mut one), draw(&mut other));
                prop_assert_eq!(serde_json::to_string(&one).unwrap(), serde_json::to_string(&other).unwrap());
            }
        }
    }
}
