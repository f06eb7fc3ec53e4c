//! What was worked out already of a layer on an engine.
//!
//! Plans are made again and again: of the same network at other points, of layers that repeat, and for an
//! interval with one number moved at a time, most of which are nothing to most engines. The cost of a layer
//! depends on its work and on the [view](crate::hardware::Profile::view) that the engine has of the profile;
//! what it moves on the homes of its tensors, and on what is kept for it, too. So each thread keeps both by all
//! of these; where a number that the engine sees was moved, nothing is kept or looked up. At [`MOST`] it
//! starts anew. Results are those of working it out, in any order of asking.

use super::candidate::Candidate;
use super::flows::Kept;
use super::memory::MemoryPlan;
use crate::cost::{Cost, Mixing, Refusal, Setting, cost};
use crate::model::{Layer, Work};
use std::cell::RefCell;
use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hash};
use std::rc::Rc;

/// Most candidates, and most costs, that a thread remembers.
const MOST: usize = 1 << 12;

type Table<K, V> = HashMap<K, V, BuildHasherDefault<Mixing>>;

/// A cost, or why there is none.
pub(super) type Costed = Rc<Result<Cost, Refusal>>;

#[derive(Default)]
struct Known {
    /// Numbers of views and of works are never given twice.
    next: u64,
    views: Table<Vec<u64>, u64>,
    works: Table<[u64; 5], Vec<(Work, u64)>>,
    costs: Table<[u64; 2], Costed>,
    candidates: Table<Key, Rc<Candidate>>,
}

thread_local! {
    static KNOWN: RefCell<Known> = RefCell::default();
}

/// A layer on an engine with the homes of its tensors and what stays for it.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
struct Key {
    asked: [u64; 2],
    homes: [u64; 2],
    kept: [u64; 4],
}

impl Known {
    /// Forgets all where there is too much of anything.
    fn make_room(&mut self) {
        let most = [self.views.len(), self.works.len(), self.costs.len(), self.candidates.len()];
        if most.iter().any(|own| *own >= MOST) {
            *self = Self { next: self.next, ..Self::default() };
        }
    }

    fn number(&mut self) -> u64 {
        self.next += 1;
        self.next
    }

    fn view(&mut self, words: Vec<u64>) -> u64 {
        if let Some(known) = self.views.get(&words) {
            return *known;
        }
        let number = self.number();
        self.views.insert(words, number);
        number
    }

    fn work(&mut self, work: &Work) -> u64 {
        let Work { kind, macs, output_elements, weight_bytes, output_buffer, .. } = work;
        let place = output_buffer.map_or(0, |place| place as u64 + 1);
        let key = [*kind as u64, *macs, *output_elements, *weight_bytes, place];
        let known = self.works.get(&key).into_iter().flatten();
        if let Some((_, number)) = known.into_iter().find(|(own, _)| own == work) {
            return *number;
        }
        let number = self.number();
        self.works.entry(key).or_default().push((work.clone(), number));
        number
    }
}

/// What is known of the layers of a network on the engines of a setting.
pub(super) struct Memo {
    /// The view of each engine; nothing where nothing is kept.
    views: Vec<Option<u64>>,
    /// The work of each layer, where it was asked for.
    works: RefCell<Vec<Option<u64>>>,
}

impl Memo {
    pub(super) fn of(layers: usize, setting: Setting<'_>) -> Self {
        let engines = 0..setting.profile.spec().engines.len();
        let views = KNOWN.with_borrow_mut(|known| {
            known.make_room();
            let stack = |engine: usize| setting.stacks.get(engine).copied().flatten();
            let view = |engine| setting.profile.view(engine, setting.point, stack(engine));
            engines.map(|engine| Some(known.view(view(engine)?))).collect()
        });
        Self { views, works: RefCell::new(vec![None; layers]) }
    }

    fn asked(&self, index: usize, layer: &Layer, engine: usize) -> Option<[u64; 2]> {
        let view = self.views.get(engine).copied().flatten()?;
        let mut works = self.works.borrow_mut();
        let work = works.get_mut(index)?;
        let number =
            work.get_or_insert_with(|| KNOWN.with_borrow_mut(|known| known.work(&layer.work)));
        Some([view, *number])
    }

    /// The cost of a layer, by its place, on an engine.
    pub(super) fn cost(
        &self,
        index: usize,
        layer: &Layer,
        engine: usize,
        setting: Setting<'_>,
    ) -> Costed {
        let anew = || Rc::new(cost(&layer.work, engine, setting));
        let Some(asked) = self.asked(index, layer, engine) else { return anew() };
        let known = KNOWN.with_borrow(|known| known.costs.get(&asked).cloned());
        known.unwrap_or_else(|| {
            let found = anew();
            KNOWN.with_borrow_mut(|known| known.costs.insert(asked, Rc::clone(&found)));
            found
        })
    }

    /// The layer on an engine at a known cost.
    pub(super) fn candidate(
        &self,
        (index, layer): (usize, &Layer),
        engine: usize,
        cost: &Cost,
        homes: &MemoryPlan,
        kept: Option<&Kept>,
        setting: Setting<'_>,
    ) -> Rc<Candidate> {
        let anew = || Rc::new(Candidate::costed(layer, engine, cost.clone(), homes, kept, setting));
        let key = || {
            let (asked, homes) = (self.asked(index, layer, engine)?, homes_of(&layer.work, homes)?);
            Some(Key { asked, homes, kept: kept.map_or([0; 4], words_of) })
        };
        let Some(key) = key() else { return anew() };
        let known = KNOWN.with_borrow(|known| known.candidates.get(&key).cloned());
        known.unwrap_or_else(|| {
            let found = anew();
            KNOWN.with_borrow_mut(|known| known.candidates.insert(key, Rc::clone(&found)));
            found
        })
    }
}

/// The homes of up to fifteen operands and of the result, a byte each; nothing of more.
fn homes_of(work: &Work, homes: &MemoryPlan) -> Option<[u64; 2]> {
    let mut words = [0u8; 16];
    let read = work.operands.iter().map(|operand| homes.home_of_operand(operand));
    let made = std::iter::once(homes.home_of_result(work));
    if work.operands.len() >= words.len() {
        return None;
    }
    for (word, home) in words.iter_mut().zip(made.chain(read)) {
        *word = home.map_or(Some(0), |home| u8::try_from(home).ok()?.checked_add(1))?;
    }
    let all = u128::from_le_bytes(words);
    Some([all as u64, (all >> 64) as u64])
}

fn words_of(kept: &Kept) -> [u64; 4] {
    let Kept { buffer, input, output, taken, rows } = kept;
    let input = input.map_or(0, |input| input as u64 + 1);
    // Never all zero, which stands for nothing that is kept.
    let flags = 1 | u64::from(*output) << 1 | u64::from(rows.is_some()) << 2;
    let place = (*buffer as u64) << 32 | input;
    [flags, place, taken.to_bits(), rows.unwrap_or(0.0).to_bits()]
}
