//! Oddities of runs that a reader would not expect.

use super::comparison::{Comparison, Entry};
use crate::clariq::evaluation::recall_interval;
use clariq_eval::diagnose;
use clariq_report::words::{count, figure};

/// Each run's name with a remark about it.
pub(super) fn list<'a>(comparison: &Comparison<'a>) -> Vec<(&'a str, String)> {
    let runs = comparison.runs.iter();
    runs.flat_map(|entry| {
        diagnose_run(comparison, entry).into_iter().map(|remark| (entry.name.as_str(), remark))
    })
    .collect()
}

fn diagnose_run(comparison: &Comparison, entry: &Entry) -> Vec<String> {
    let topics = comparison.labels.topics.iter().map(|topic| &topic.id);
    let found = diagnose(&entry.run, topics, Some(comparison.bank));
    let mut remarks = Vec::new();
    if found.dropped_lines > 0 {
        let range = recall_interval(&entry.run, comparison.labels);
        remarks.push(format!(
            "{} of {} repeat a score and are dropped, as by the official scorer. Over all orders \
             of equal scores, R@30 lies between {} and {}.",
            count(found.dropped_lines, "line"),
            count(found.dropped_topics, "topic"),
            figure(range.lowest[3]),
            figure(range.highest[3])
        ));
    }
    let counts = [
        (found.duplicates, "line", "repeating a question of the same topic"),
        (found.missing_topics, "topic", "without an answer, counted 0"),
        (found.unknown_topics, "topic", "not among the labels, ignored"),
        (found.unknown_questions, "line", "with a question that is not in the bank"),
    ];
    let counts = counts.iter().filter(|(number, ..)| *number > 0);
    remarks.extend(counts.map(|(number, what, how)| format!("{} {how}.", count(*number, what))));
    remarks
}
