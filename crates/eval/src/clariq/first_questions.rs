//! The question that a run puts first for each topic.

use clariq_core::QuestionId;
use clariq_files::Run;
use std::collections::HashMap;

/// The first question of a topic.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct First<'r> {
    pub(super) question: &'r QuestionId,
    score: f64,
    /// Whether other lines have the same score.
    pub(super) tied: bool,
}

/// The question with the highest score of each topic, the last in the file among equals: that is
/// what a stable sort gives where the official scorer's sort leaves it open.
pub(super) fn first_questions(run: &Run) -> HashMap<&str, First<'_>> {
    let mut first: HashMap<&str, First> = HashMap::new();
    for line in &run.lines {
        let own = First { question: &line.question, score: line.score, tied: false };
        first
            .entry(line.topic.as_str())
            .and_modify(|best| {
                if own.score >= best.score {
                    *best = First { tied: own.score <= best.score, ..own };
                }
            })
            .or_insert(own);
    }
    first
}
