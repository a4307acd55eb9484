//! What is learned from? Training topics with their relevant questions, and which of them are held out.

use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{RngCore, SeedableRng};

/// The data of a training, in numbers: a question is its place in the bank.
#[derive(Debug, Clone, Default)]
pub struct Examples {
    /// Ids of the topics, for the model card and for tests.
    pub topics: Vec<String>,
    /// The request of each topic.
    pub requests: Vec<String>,
    /// Every question of the bank.
    pub questions: Vec<String>,
    /// The relevant questions of each topic, the empty one left out, once per row of the file.
    pub relevant: Vec<Vec<u32>>,
    /// For each topic, questions that look relevant, best first; relevant ones among them are left out here.
    pub candidates: Vec<Vec<u32>>,
}

/// Topics that are trained on, and topics that are held out: places in [`Examples::topics`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TopicSplit {
    /// Trained on.
    pub train: Vec<usize>,
    /// Never trained on.
    pub held_out: Vec<usize>,
}

impl Examples {
    /// Splits by topic, and by request: two topics that ask the same stand on one side.
    pub fn split(&self, share: f64, seed: u64) -> TopicSplit {
        let count = self.requests.len();
        let wanted = (share * count as f64).round() as usize;
        let mut order: Vec<usize> = (0..count).collect();
        shuffle(&mut order, &mut generator(seed, 0));
        let mut held_out: Vec<usize> = order.iter().copied().take(wanted).collect();
        let same = |place: usize, other: usize| {
            self.requests[place].trim().eq_ignore_ascii_case(self.requests[other].trim())
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
        TopicSplit { train, held_out }
    }

    /// (topic, question) pairs of some topics; each once if `unique`, else once per row.
    pub(crate) fn pairs(&self, topics: &[usize], unique: bool) -> Vec<(usize, u32)> {
        let of_topic = |&topic: &usize| {
            let mut questions = self.relevant[topic].clone();
            if unique {
                questions.sort_unstable();
                questions.dedup();
            }
            questions.into_iter().map(move |question| (topic, question))
        };
        topics.iter().flat_map(of_topic).collect()
    }

    pub(crate) fn is_relevant(&self, topic: usize, question: u32) -> bool {
        self.relevant[topic].contains(&question)
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
            let split = examples.split(share, seed);
            prop_assert_eq!(split.train.len() + split.held_out.len(), kinds.len());
            for &train in &split.train {
                prop_assert!(split.held_out.iter().all(|&held| kinds[held] != kinds[train]));
            }
            prop_assert_eq!(examples.split(share, seed), split);
        }
    }
}
