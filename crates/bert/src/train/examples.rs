//! The topics of a training that are held out, and the generators that everything random is drawn
//! from.

use clariq_core::Examples;
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{RngCore, SeedableRng};

/// Topics that are trained on, and topics that are held out: places in [`Examples::topics`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TopicSplit {
    /// Trained on.
    pub train: Vec<usize>,
    /// Never trained on.
    pub held_out: Vec<usize>,
}

impl TopicSplit {
    /// Splits by topic, and by request: two topics that ask the same stand on one side.
    pub(crate) fn draw(examples: &Examples, share: f64, seed: u64) -> Self {
        let count = examples.requests.len();
        let wanted = (share * count as f64).round() as usize;
        let mut order: Vec<usize> = (0..count).collect();
        shuffle(&mut order, &mut generator(seed, 0));
        let mut held_out: Vec<usize> = order.iter().copied().take(wanted).collect();
        let same = |place: usize, other: usize| {
            examples.requests[place].trim().eq_ignore_ascii_case(examples.requests[other].trim())
        };
        let mut train: Vec<usize> = order.into_iter().skip(wanted).collect();
        train.retain(|&place| {
            let twin = held_out.iter().any(|&other| same(place, other));
            if twin {
                held_out.push(place);
            }
            !twin
        });
        train.sort_unstable();
        held_out.sort_unstable();
        Self { train, held_out }
    }
}

/// A generator for one purpose: another number gives another sequence.
pub(crate) fn generator(seed: u64, purpose: u64) -> ChaCha8Rng {
    let mut generator = ChaCha8Rng::seed_from_u64(seed);
    generator.set_stream(purpose);
    generator
}

/// A number below `limit`; the bias of the remainder is below 2⁻⁴⁰ for any list here.
pub(crate) fn below(limit: usize, generator: &mut ChaCha8Rng) -> usize {
    (generator.next_u64() % limit.max(1) as u64) as usize
}

/// Fisher and Yates' shuffle.
pub(crate) fn shuffle<T>(list: &mut [T], generator: &mut ChaCha8Rng) {
    for place in (1..list.len()).rev() {
        list.swap(place, below(place + 1, generator));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn no_request_stands_on_both_sides(kinds in prop::collection::vec(0_u8..30, 1..60), share in 0.0..0.9_f64, seed: u64) {
            let requests: Vec<String> = kinds.iter().map(|kind| format!("Request {kind} ")).collect();
            let examples = Examples { requests, ..Examples::default() };
            let split = TopicSplit::draw(&examples, share, seed);
            prop_assert_eq!(split.train.len() + split.held_out.len(), kinds.len());
            for &train in &split.train {
                prop_assert!(split.held_out.iter().all(|&held| kinds[held] != kinds[train]));
            }
            prop_assert_eq!(TopicSplit::draw(&examples, share, seed), split);
        }
    }
}
