//! The memo slots that a pickle looks up again.
//!
//! A pickler memoises *every* object, because it cannot know what comes later: a table of numpy
//! floats fills three slots per number and looks hardly any of them up. So a pickle is read twice,
//! first to note what is looked up and then to build, and the machine keeps only those values. That
//! is what keeps it within the size of the file.

use super::batch::Batch;
use super::error::PickleError;
use super::opcode::{Op, Opcodes};
use std::collections::HashMap;
use std::io::Read;

/// The memo slots that are worth keeping, numbered from 0 in no particular order.
#[derive(Debug, Default)]
pub struct Plan {
    /// One bit per slot.
    words: Vec<u64>,
    /// How many bits are set before each word.
    before: Vec<u32>,
    /// Slots with numbers beyond the number of bytes read, which no pickler writes.
    far: HashMap<u32, u32>,
    kept: usize,
}

impl Plan {
    /// Reads a pickle up to its end and builds nothing.
    pub fn scan(reader: impl Read) -> Result<Self, PickleError> {
        let mut opcodes = Opcodes::new(reader);
        let (mut plan, mut batch) = (Self::default(), Batch::default());
        loop {
            match opcodes.next()? {
                Op::Get(slot) => plan.mark(slot, opcodes.offset()),
                Op::Mark => {
                    let length = opcodes.find_batch(&mut batch)?;
                    if length > 0 {
                        let slots = batch.rows.iter().map(|row| row.key);
                        let names = batch.figures.iter().map(|&(name, _)| name);
                        slots.chain(names).for_each(|slot| plan.mark(slot, opcodes.offset()));
                        opcodes.take_batch(length);
                    }
                }
                Op::Stop => break,
                _ => {}
            }
        }
        plan.number();
        Ok(plan)
    }

    fn mark(&mut self, slot: u32, offset: u64) {
        if u64::from(slot) > offset {
            // A bit for it would cost memory that the size of the pickle does not justify.
            self.far.insert(slot, 0);
            return;
        }
        let word = slot as usize / 64;
        if word >= self.words.len() {
            self.words.resize(word + 1, 0);
        }
        self.words[word] |= 1 << (slot % 64);
    }

    fn number(&mut self) {
        let mut next = 0;
        self.before = Vec::with_capacity(self.words.len());
        for word in &self.words {
            self.before.push(next);
            next += word.count_ones();
        }
        for place in self.far.values_mut() {
            *place = next;
            next += 1;
        }
        self.kept = next as usize;
    }

    /// How many slots are kept.
    pub fn kept(&self) -> usize {
        self.kept
    }

    /// The place of a slot among those kept.
    pub(super) fn place(&self, slot: u32) -> Option<usize> {
        let (word, bit) = (slot as usize / 64, slot % 64);
        match self.words.get(word) {
            Some(bits) if bits >> bit & 1 == 1 => {
                let lower = bits & ((1 << bit) - 1);
                Some((self.before[word] + lower.count_ones()) as usize)
            }
            _ => self.far.get(&slot).map(|&place| place as usize),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_slot_that_is_looked_up_has_its_own_place() {
        let mut pickle = b"\x80\x04".to_vec();
        pickle.extend([b'N'; 300]);
        for slot in [3_u32, 64, 65, 200, 3, u32::MAX] {
            pickle.push(b'j');
            pickle.extend(slot.to_le_bytes());
        }
        pickle.push(b'.');
        let plan = Plan::scan(&pickle[..]).unwrap();
        assert_eq!(plan.kept(), 5);
        let places = [3, 64, 65, 200, u32::MAX].map(|slot| plan.place(slot).unwrap());
        assert_eq!(places, [0, 1, 2, 3, 4]);
        assert_eq!(plan.place(4), None);
        assert_eq!(plan.place(100_000), None);
    }
}
