//! What a page knows of every turn: the answers of each run, and the labels of statements and
//! passages.

use super::{Comparison, Entry};
use crate::ikat::evaluation::Labels;
use crate::ikat::run::{Response, SubmittedTurn};
use crate::ikat::{Ikat, PASSAGES};
use clariq_core::TopicId;
use clariq_eval::Qrels;
use clariq_files::Run;
use std::collections::{HashMap, HashSet};

/// The lowest of NIST's grades of passages that counts as relevant.
const RELEVANT: i32 = 2;

/// Answers and labels by turn.
pub(super) struct Known<'a> {
    ikat: &'a Ikat,
    labels: &'a Labels,
    pub(super) runs: Vec<Answers<'a>>,
}

/// What a run says, by turn.
pub(super) struct Answers<'a> {
    pub(super) entry: &'a Entry,
    statements: HashMap<&'a str, Vec<&'a str>>,
    passages: HashMap<&'a str, Vec<&'a str>>,
    turns: HashMap<&'a str, &'a SubmittedTurn>,
    /// The figures of each turn, by the name of the measure.
    figures: HashMap<&'a str, Vec<(String, f64)>>,
}

/// How a document of a turn is labelled.
#[derive(Default)]
pub(super) struct Label {
    pub(super) is_relevant: bool,
    /// Who says what: `organisers`, `NIST 3`.
    pub(super) words: Vec<String>,
}

impl<'a> Known<'a> {
    pub(super) fn new(comparison: &Comparison<'a>) -> Self {
        let runs = comparison.runs.iter().map(Answers::new).collect();
        Self { ikat: comparison.ikat, labels: comparison.labels, runs }
    }

    pub(super) fn statement(&self, turn: &TopicId, number: &str) -> Label {
        let mut label = Label::default();
        for (who, qrels) in [("organisers", &self.labels.organisers), ("NIST", &self.labels.nist)] {
            if grade(qrels.as_ref(), turn, number).is_some_and(|grade| grade > 0) {
                label.is_relevant = true;
                label.words.push(who.to_owned());
            }
        }
        label
    }

    pub(super) fn passage(&self, turn: &TopicId, id: &str) -> Label {
        let mut label = Label::default();
        if grade(self.labels.cited.as_ref(), turn, id).is_some_and(|grade| grade > 0) {
            label.is_relevant = true;
            label.words.push("cited".to_owned());
        }
        if let Some(grade) = grade(self.labels.graded_by_people(), turn, id) {
            label.is_relevant |= grade >= RELEVANT;
            label.words.push(format!("NIST {grade}"));
        }
        label
    }

    /// The text of a passage, where the collection has it.
    pub(super) fn text(&self, id: &str) -> String {
        let passages = self.ikat.ranked_in(PASSAGES);
        let text = passages.find(id).and_then(|passage| passages.text(passage).ok());
        text.map_or_else(String::new, |text| text.trim().to_owned())
    }
}

fn grade(qrels: Option<&Qrels>, turn: &TopicId, document: &str) -> Option<i32> {
    qrels?.topic(turn)?.grade(&document.into())
}

impl<'a> Answers<'a> {
    fn new(entry: &'a Entry) -> Self {
        let mut figures: HashMap<&str, Vec<(String, f64)>> = HashMap::new();
        for column in &entry.columns {
            for (turn, value) in &column.values {
                figures.entry(turn.as_str()).or_default().push((column.name(), *value));
            }
        }
        let turns = entry.submission.turns.iter().map(|turn| (turn.id.as_str(), turn));
        Self {
            entry,
            statements: by_turn(&entry.statements),
            passages: by_turn(&entry.passages),
            turns: turns.collect(),
            figures,
        }
    }

    /// The numbers of the statements of a turn, best first.
    pub(super) fn statements(&self, turn: &TopicId) -> &[&'a str] {
        self.statements.get(turn.as_str()).map_or(&[], Vec::as_slice)
    }

    /// The ids of the passages of a turn, best first.
    pub(super) fn passages(&self, turn: &TopicId) -> &[&'a str] {
        self.passages.get(turn.as_str()).map_or(&[], Vec::as_slice)
    }

    pub(super) fn figures(&self, turn: &TopicId) -> &[(String, f64)] {
        self.figures.get(turn.as_str()).map_or(&[], Vec::as_slice)
    }

    /// The first response to a turn.
    pub(super) fn response(&self, turn: &TopicId) -> Option<&'a Response> {
        self.turns.get(turn.as_str())?.responses.first()
    }

    /// The passages that the first response is said to be written from.
    pub(super) fn used(&self, turn: &TopicId) -> HashSet<&'a str> {
        let response = self.response(turn);
        let passages = response.map_or(&[][..], |response| &response.passages);
        passages.iter().filter(|passage| passage.used).map(|passage| passage.id.as_str()).collect()
    }
}

fn by_turn(run: &Run) -> HashMap<&str, Vec<&str>> {
    let mut turns: HashMap<&str, Vec<&str>> = HashMap::new();
    for line in &run.lines {
        turns.entry(line.topic.as_str()).or_default().push(line.question.as_str());
    }
    turns
}
