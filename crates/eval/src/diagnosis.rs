//! Counts of lines and topics that the official scorer silently ignores, to the surprise of a run's
//! author.

use crate::ties::{double, lines_by_topic};
use clariq_core::{Documents, RequestId};
use clariq_files::Run;
// Ids come from files: a hash with a fixed seed would let some of them collide.
use std::collections::HashSet;

/// The counts; all zero is a run without surprises.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Diagnosis {
    /// Lines that the official scorer drops: an earlier line of the topic has the same score.
    pub dropped_lines: usize,
    /// Topics that such lines belong to.
    pub dropped_topics: usize,
    /// Lines that repeat a (topic, document) pair.
    pub duplicates: usize,
    /// Topics of the labels that the run does not answer; each counts 0.
    pub missing_topics: usize,
    /// Topics of the run that the labels do not have; they are left out.
    pub unknown_topics: usize,
    /// Lines with a document that the collection does not have; it is relevant to nothing.
    pub unknown_documents: usize,
    /// True if the documents of a topic have one score, in all topics with several: ids order them.
    pub one_score: bool,
}

/// Counts the surprises of a run; `topics` are those of the labels.
pub fn diagnose<'a>(
    run: &Run,
    topics: impl Iterator<Item = &'a RequestId>,
    bank: Option<&dyn Documents>,
) -> Diagnosis {
    let known: HashSet<&RequestId> = topics.collect();
    let lines_of = lines_by_topic(run);
    let missing_topics = known.iter().filter(|topic| !lines_of.contains_key(*topic)).count();
    let mut diagnosis = Diagnosis { missing_topics, ..Diagnosis::default() };
    let mut documents = HashSet::new();
    let mut scores = Vec::new();
    let mut several = 0;
    let mut flat = 0;
    for (topic, lines) in lines_of {
        if !known.contains(topic) {
            diagnosis.unknown_topics += 1;
            continue;
        }
        documents.clear();
        let repeats = lines.iter().filter(|line| !documents.insert(&line.document));
        diagnosis.duplicates += repeats.count();
        scores.clear();
        scores.extend(lines.iter().map(|line| double(line)));
        scores.sort_unstable_by(f64::total_cmp);
        let dropped = scores.windows(2).filter(|pair| pair[0] == pair[1]).count();
        several += usize::from(documents.len() > 1);
        flat += usize::from(documents.len() > 1 && scores.first() == scores.last());
        diagnosis.dropped_lines += dropped;
        diagnosis.dropped_topics += usize::from(dropped > 0);
        if let Some(bank) = bank {
            let unknown = lines.iter().filter(|line| bank.find(line.document.as_str()).is_none());
            diagnosis.unknown_documents += unknown.count();
        }
    }
    diagnosis.one_score = several > 0 && flat == several;
    diagnosis
}
