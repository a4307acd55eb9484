//! The order of a topic's lines, and the orders that equal scores leave open.

use clariq_core::{DocId, RequestId};
use clariq_files::{Run, RunLine};
use serde::{Deserialize, Serialize};
use std::cmp::Reverse;
use std::collections::{HashMap, HashSet};

/// The treatment of equal scores.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Ties {
    /// As the official scorer of `ClariQ`: of a topic's lines with the same score, only the first in
    /// the file counts.
    #[default]
    Official,
    /// As `trec_eval` 9 and `pytrec_eval`: all lines count, equal scores by descending id. Scores
    /// are compared in *single* precision.
    Id,
    /// As `trec_eval` 10: like [`Ties::Id`], but scores are compared in double precision.
    IdDouble,
}

/// The side in whose favour ties are broken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Favour {
    /// For the run: the higher grade first.
    For,
    /// Against the run: the lower grade first.
    Against,
}

/// The precision in which scores are compared. Adding 0 turns -0 into 0, to which it is equal.
type ScorePrecision = fn(&RunLine) -> f64;

/// The score in double precision; -0 becomes 0.
pub fn double(line: &RunLine) -> f64 {
    line.score + 0.0
}

/// The score in single precision; -0 becomes 0.
pub(crate) fn single(line: &RunLine) -> f64 {
    f64::from(line.score as f32 + 0.0)
}

/// The lines of each topic in file order.
pub fn lines_by_topic(run: &Run) -> HashMap<&RequestId, Vec<&RunLine>> {
    let mut topics: HashMap<&RequestId, Vec<&RunLine>> = HashMap::new();
    // Most runs have the lines of a topic together.
    for lines in run.lines.chunk_by(|a, b| a.topic == b.topic) {
        topics.entry(&lines[0].topic).or_default().extend(lines);
    }
    topics
}

/// Orders lines by score, descending. Equal scores stay in file order.
fn sort_by_score(lines: &mut [&RunLine], score: ScorePrecision) {
    lines.sort_by(|a, b| score(b).total_cmp(&score(a)));
}

fn sort_by_score_and_id(lines: &mut [&RunLine], score: ScorePrecision) {
    lines.sort_by(|a, b| score(b).total_cmp(&score(a)).then_with(|| b.document.cmp(&a.document)));
}

/// The lines of each topic in the order in which they count.
pub fn ordered_lines(run: &Run, ties: Ties) -> HashMap<&RequestId, Vec<&RunLine>> {
    let mut topics = lines_by_topic(run);
    for lines in topics.values_mut() {
        match ties {
            Ties::Official => {
                sort_by_score(lines, double);
                lines.dedup_by(|again, first| double(again) == double(first));
            }
            Ties::Id => sort_by_score_and_id(lines, single),
            Ties::IdDouble => sort_by_score_and_id(lines, double),
        }
    }
    topics
}

/// Orders lines by score, and equal scores in the order that is best or worst for the run.
///
/// All measures of this crate grow, or stay, when a document of a higher grade moves before one
/// of a lower, so that no order of equal scores gives more or less. A document may have several
/// lines: each takes a rank, and only the first gains anything.
pub fn sort_with_favour(
    lines: &mut [&RunLine],
    score: ScorePrecision,
    grade: impl Fn(&DocId) -> i32,
    favour: Favour,
) {
    sort_by_score(lines, score);
    let mut seen: HashSet<&DocId> = HashSet::new();
    for group in lines.chunk_by_mut(|a, b| score(a) == score(b)) {
        let gain = |document: &DocId| {
            if seen.contains(document) { 0 } else { grade(document).max(0) }
        };
        sort_group(group, gain, favour);
        seen.extend(group.iter().map(|line| &line.document));
    }
}

/// Orders lines of one score by what their documents gain.
fn sort_group(group: &mut [&RunLine], gain: impl Fn(&DocId) -> i32, favour: Favour) {
    let mut lines_of: HashMap<&DocId, usize> = HashMap::new();
    let mut keyed = Vec::with_capacity(group.len());
    for line in group.iter().copied() {
        let lines = lines_of.entry(&line.document).or_default();
        *lines += 1;
        keyed.push((gain(&line.document), *lines, line));
    }
    match favour {
        Favour::For => {
            keyed.sort_by_key(|&(gain, nth, _)| Reverse(if nth == 1 { gain } else { 0 }));
        }
        // Documents with many lines come first, so that as few as possible fill the first ranks.
        Favour::Against => keyed.sort_by_key(|&(gain, _, line)| {
            (gain, Reverse(lines_of[&line.document]), &line.document)
        }),
    }
    for (slot, (.., line)) in group.iter_mut().zip(keyed) {
        *slot = line;
    }
}
