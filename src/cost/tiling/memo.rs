//! Searches that were made already.
//!
//! A plan asks for the tilings of the same few dozen products again and again: layers repeat within a network,
//! and studies map one network many times. What a search finds depends on its [`Staging`] alone, so each
//! thread keeps what it found; at [`MOST`] it starts anew. Results are those of [`search`], in any order of asking.

use super::search::{Factor, ROOMS, Staging, Tilings, search};
use super::{Image, Rows};
use std::cell::RefCell;
use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hash, Hasher};

/// Most searches that a thread remembers.
const MOST: usize = 1 << 14;

thread_local! {
    static KNOWN: RefCell<HashMap<Key, Tilings, BuildHasherDefault<Mixing>>> = RefCell::default();
}

/// Tilings of least cost, searched for where this thread has not yet.
pub fn tilings(staging: &Staging) -> Tilings {
    let key = Key::of(staging);
    KNOWN.with_borrow_mut(|known| {
        if let Some(found) = known.get(&key) {
            return *found;
        }
        if known.len() >= MOST {
            known.clear();
        }
        let found = search(staging);
        known.insert(key, found);
        found
    })
}

/// Everything that a search goes by, numbers by their bits.
#[derive(PartialEq, Eq)]
struct Key([u64; WORDS]);

const WORDS: usize = 33;

impl Hash for Key {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.0.iter().for_each(|word| state.write_u64(*word));
    }
}

impl Key {
    fn of(staging: &Staging) -> Self {
        let Staging { groups, rows, columns, depth, input, weight, results, .. } = staging;
        let Staging { beside, copies, wait, rooms, .. } = staging;
        let (kind, rows) = match *rows {
            Rows::Matrix(rows) => (0, [rows, 0, 0, 0, 0, 0, 0, 0, 0, 0]),
            Rows::Image(Image {
                samples: n,
                output: o,
                input: i,
                kernel: k,
                stride: s,
                dilation,
            }) => (1, [n, o.0, o.1, i.0, i.1, k.0, k.1, s.0, s.1, dilation]),
        };
        // A room that there is not stands for all such.
        let room = |room: Option<usize>| room.map_or(0, |room| 1 + room.min(ROOMS) as u64);
        let passed = [input.room, weight.room, results.room, beside.1];
        let passed = passed.into_iter().fold(kind, |all, own| all << 8 | room(own));
        let shape = [*groups, *columns, *depth, passed << 1 | u64::from(results.wide)];
        let factor = |f: &Factor| [f.bytes, f.group, f.passes, f.rounds, f.price].map(f64::to_bits);
        let others = [results.bytes, results.sums, results.price, beside.0, *copies, *wait];
        let others = others.into_iter().chain(*rooms).map(f64::to_bits);
        let words = rows.into_iter().chain(shape).chain(factor(input)).chain(factor(weight));
        let mut key = [0; WORDS];
        for (word, own) in key.iter_mut().zip(words.chain(others)) {
            *word = own;
        }
        Self(key)
    }
}

/// A hash of few operations for keys that nobody chooses.
#[derive(Default)]
pub(crate) struct Mixing(u64);

impl Hasher for Mixing {
    fn finish(&self) -> u64 {
        self.0 ^ self.0 >> 29
    }

    fn write(&mut self, bytes: &[u8]) {
        for part in bytes.chunks(8) {
            let mut word = [0; 8];
            word.iter_mut().zip(part).for_each(|(to, from)| *to = *from);
            self.write_u64(u64::from_le_bytes(word));
        }
    }

    fn write_u64(&mut self, word: u64) {
        self.0 = (self.0.rotate_left(23) ^ word).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cost::tiling::Results;

    fn staging() -> Staging {
        let factor = Factor {
            bytes: 4096.0,
            group: 4096.0,
            room: Some(0),
            passes: 1.0,
            rounds: 1.0,
            price: 1.0,
        };
        Staging {
            groups: 1,
            rows: Rows::Matrix(64),
            columns: 64,
            depth: 64,
            input: factor,
            weight: factor,
            results: Results {
                bytes: 4096.0,
                sums: 4096.0,
                wide: false,
                room: Some(0),
                price: 1.0,
            },
            beside: (0.0, None),
            copies: 1.0,
            wait: 0.0,
            rooms: [4096.0; ROOMS],
        }
    }

    #[test]
    fn what_is_remembered_is_what_is_found() {
        for room in [100.0, 1024.0, 4096.0, 1024.0, 100.0] {
            let own = Staging { rooms: [room; ROOMS], ..staging() };
            assert_eq!(tilings(&own), search(&own));
            assert_eq!(tilings(&own), search(&own));
        }
    }

    /// Every number of it tells one key from another.
    #[test]
    fn no_two_searches_share_a_key() {
        let own = staging();
        let factor = |change: fn(&mut Factor)| {
            let mut changed = own.input;
            change(&mut changed);
            changed
        };
        let changes = [
            factor(|f| f.bytes = 1.0),
            factor(|f| f.group = 1.0),
            factor(|f| f.room = None),
            factor(|f| f.passes = 2.0),
            factor(|f| f.rounds = 2.0),
            factor(|f| f.price = 2.0),
        ];
        let image = |n: usize| {
            let mut e = [1; 10];
            if let Some(e) = e.get_mut(n) {
                *e = 2;
            }
            Rows::Image(Image {
                samples: e[0],
                output: (e[1], e[2]),
                input: (e[3], e[4]),
                kernel: (e[5], e[6]),
                stride: (e[7], e[8]),
                dilation: e[9],
            })
        };
        let r = own.results;
        let mut all = vec![
            own,
            Staging { groups: 2, ..own },
            Staging { rows: Rows::Matrix(1), ..own },
            Staging { columns: 2, ..own },
            Staging { depth: 2, ..own },
            Staging { results: Results { bytes: 1.0, ..r }, ..own },
            Staging { results: Results { sums: 1.0, ..r }, ..own },
            Staging { results: Results { wide: true, ..r }, ..own },
            Staging { results: Results { room: Some(1), ..r }, ..own },
            Staging { results: Results { price: 2.0, ..r }, ..own },
            Staging { beside: (1.0, None), ..own },
            Staging { beside: (0.0, Some(0)), ..own },
            Staging { copies: 2.0, ..own },
            Staging { wait: 1.0, ..own },
            Staging { rooms: [1.0, 4096.0, 4096.0], ..own },
            Staging { rooms: [4096.0, 1.0, 4096.0], ..own },
            Staging { rooms: [4096.0, 4096.0, 1.0], ..own },
        ];
        all.extend(changes.map(|input| Staging { input, ..own }));
        all.extend(changes.map(|weight| Staging { weight, ..own }));
        for n in 0..=10 {
            all.push(Staging { rows: image(n), ..own });
        }
        let keys: Vec<_> = all.iter().map(Key::of).collect();
        for (i, key) in keys.iter().enumerate() {
            assert!(!keys[i + 1..].contains(key), "{i}");
        }
    }
}
