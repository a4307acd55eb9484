//! The topics of a training that are held out, and the generators that everything random is drawn
//! from.

use clariq_core::Examples;
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{RngCore, SeedableRng};
use std::collections::HashMap;

/// Topics that are trained on, and topics that are held out: places in [`Examples::topics`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TopicSplit {
    /// Trained on.
    pub train: Vec<usize>,
    /// Never trained on.
    pub held_out: Vec<usize>,
}

impl TopicSplit {
    /// Splits by request: two topics that ask the same stand on one side, and so do the turns of a
    /// conversation. Of the shares that a shuffled list of requests has, the one that counts as
    /// `fold` is held out.
    pub(crate) fn draw(examples: &Examples, share: f64, fold: usize, seed: u64) -> Self {
        let mut group_of: HashMap<String, usize> = HashMap::new();
        let mut groups: Vec<Vec<usize>> = Vec::new();
        for (topic, request) in examples.requests.iter().enumerate() {
            let group = group_of.entry(request.trim().to_ascii_lowercase());
            let group = *group.or_insert_with(|| {
                groups.push(Vec::new());
                groups.len() - 1
            });
            groups[group].push(topic);
        }
        let count = groups.len();
        let end_of =
            |shares: usize| ((shares as f64 * share * count as f64).round() as usize).min(count);
        shuffle(&mut groups, &mut generator(seed, 0));
        let mut held_out: Vec<usize> =
            groups.drain(end_of(fold)..end_of(fold + 1)).flatten().collect();
        let mut train = groups.concat();
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

    #[test]
    fn every_topic_is_held_out_in_one_fold() {
        let requests = (0..13).map(|topic| format!("request {topic}")).collect();
        let examples = Examples { requests, ..Examples::default() };
        let fold = |fold| TopicSplit::draw(&examples, 0.2, fold, 7).held_out;
        let mut all: Vec<usize> = (0..5).flat_map(fold).collect();
        all.sort_unstable();
        assert_eq!(all, (0..13).collect::<Vec<_>>());
    }

    proptest! {
        #[test]
        fn no_request_stands_on_both_sides(kinds in prop::collection::vec(0_u8..30, 1..60), share in 0.0..0.9_f64, seed: u64) {
            let requests: Vec<String> = kinds.iter().map(|kind| format!("Request {kind} ")).collect();
            let examples = Examples { requests, ..Examples::default() };
            let split = TopicSplit::draw(&examples, share, 0, seed);
            prop_assert_eq!(split.train.len() + split.held_out.len(), kinds.len());
            for &train in &split.train {
                prop_assert!(split.held_out.iter().all(|&held| kinds[held] != kinds[train]));
            }
            prop_assert_eq!(TopicSplit::draw(&examples, share, 0, seed), split);
        }
    }
}
