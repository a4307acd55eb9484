//! The memo slots that a pickle looks up again.
//!
//! A pickler memoises *every* object, because it cannot know what comes later: a table of numpy
//! floats fills three slots per number and looks hardly any of them up. So a pickle is read twice,
//! first to note what is looked up and then to build, and the machine keeps only those values. That
//! is what keeps it within the size of the file.

use super::error::{Fault, PickleError};
use super::opcode::{Op, Opcodes};
use std::io::Read;

/// Stands for a slot that is never looked up.
const UNUSED: u32 = u32::MAX;

/// The memo slots that are worth keeping, numbered from 0 in the order of their first use.
#[derive(Debug, Default)]
pub struct Plan {
    /// The number of each slot.
    places: Vec<u32>,
    kept: u32,
}

impl Plan {
    /// Reads a pickle up to its end and builds nothing.
    pub fn scan(reader: impl Read) -> Result<Self, PickleError> {
        let (mut opcodes, mut plan) = (Opcodes::new(reader), Self::default());
        loop {
            let op = opcodes.next().map_err(|fault| opcodes.fail(fault))?;
            match op {
                Op::Get(slot) if u64::from(slot) > opcodes.offset() => {
                    // Picklers number slots by ones: so many values cannot have come yet.
                    return Err(opcodes.fail(Fault::empty_slot(slot)));
                }
                Op::Get(slot) => plan.keep(slot as usize),
                Op::Stop => return Ok(plan),
                _ => {}
            }
        }
    }

    fn keep(&mut self, slot: usize) {
        if slot >= self.places.len() {
            self.places.resize(slot + 1, UNUSED);
        }
        if self.places[slot] == UNUSED {
            self.places[slot] = self.kept;
            self.kept += 1;
        }
    }

    /// How many slots are kept.
    pub fn kept(&self) -> usize {
        self.kept as usize
    }

    /// The number of a slot among those kept.
    #[inline]
    pub(super) fn place(&self, slot: u32) -> Option<usize> {
        let place = self.places.get(slot as usize).filter(|place| **place != UNUSED);
        place.map(|&place| place as usize)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_slot_that_is_looked_up_has_its_own_place() {
        let get = |slot: u32| [&b"j"[..], &slot.to_le_bytes()].concat();
        let start = [&b"\x80\x04"[..], &[b'N'; 300]].concat();
        let slots = [3, 64, 65, 200, 3].map(get).concat();
        let plan = Plan::scan(&[&start[..], &slots, b"."].concat()[..]).unwrap();
        assert_eq!(plan.kept(), 4);
        let places = [3, 64, 65, 200].map(|slot| plan.place(slot).unwrap());
        assert_eq!(places, [0, 1, 2, 3]);
        assert_eq!(plan.place(4), None);
        assert_eq!(plan.place(100_000), None);
        let far = [start, get(u32::MAX)].concat();
        let error = Plan::scan(&far[..]).unwrap_err().to_string();
        assert!(error.starts_with("a use of memo slot 4294967295, which is empty,"), "{error}");
    }
}
