//! Which of two questions with the same score comes first?

use clariq_core::TopicId;
use clariq_files::{Run, RunLine};
use std::cmp::Ordering;
use std::collections::HashMap;

/// What is done with equal scores.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Ties {
    /// What the official scorer does: of a topic's lines with the same score only the first in the file counts, the
    /// others are dropped.
    #[default]
    Official,
    /// What `trec_eval` does: all lines count, equal scores in the order of descending id.
    Id,
}

/// The lines of each topic in the order in which they count.
pub(crate) fn ordered(run: &Run, ties: Ties) -> HashMap<&TopicId, Vec<&RunLine>> {
    let mut topics = by_topic(run);
    for lines in topics.values_mut() {
        match ties {
            Ties::Official => {
                // Stable, so that the first line in the file stays the first of its equals.
                lines.sort_by(|a, b| descending(a.score, b.score));
                lines.dedup_by(|again, first| same(again.score, first.score));
            }
            Ties::Id => {
                lines.sort_by(|a, b| {
                    descending(a.score, b.score).then_with(|| b.question.cmp(&a.question))
                });
            }
        }
    }
    topics
}

/// The lines of each topic in file order.
pub(crate) fn by_topic(run: &Run) -> HashMap<&TopicId, Vec<&RunLine>> {
    let mut topics: HashMap<&TopicId, Vec<&RunLine>> = HashMap::new();
    // Most runs have the lines of a topic together.
    for lines in run.lines.chunk_by(|a, b| a.topic == b.topic) {
        topics.entry(&lines[0].topic).or_default().extend(lines);
    }
    topics
}

/// Higher scores first. 0 and -0 are equal, as they are for everyone else who reads the file.
pub(crate) fn descending(a: f64, b: f64) -> Ordering {
    b.partial_cmp(&a).unwrap_or(Ordering::Equal)
}

pub(crate) fn same(a: f64, b: f64) -> bool {
    a == b
}
