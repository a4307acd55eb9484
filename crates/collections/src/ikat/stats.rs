//! Counts of a folder with the track's files.

use super::folder::Split;
use super::topics::{Topics, Turn};
use crate::statistics::{Amount, Statistics, StatisticsRow, count_words, mean};
use clariq_core::{Doc, Documents, Error};
use serde_json::{Map, Value, json};

/// What is counted of a split.
struct Counts {
    split: Split,
    conversations: usize,
    turns: usize,
    statements: usize,
    /// Turns with a relevant statement, and relevant statements; `None` where none were released.
    relevant: Option<(usize, usize)>,
    /// Turns that cite a passage, and citations; `None` where none were released.
    citations: Option<(usize, usize)>,
    utterance_words: f64,
    response_words: f64,
}

impl Counts {
    fn of(split: Split, topics: &Topics) -> Self {
        let turns: Vec<&Turn> = topics.turns().map(|(_, turn)| turn).collect();
        let words = |text: fn(&Turn) -> &str| -> Vec<usize> {
            turns.iter().map(|turn| count_words(text(turn))).collect()
        };
        let labels = |count: fn(&Turn) -> Option<usize>| {
            let counts: Vec<usize> = turns.iter().filter_map(|turn| count(turn)).collect();
            let labelled = counts.iter().filter(|count| **count > 0).count();
            (!counts.is_empty()).then(|| (labelled, counts.iter().sum()))
        };
        let statements = topics.conversations.iter().map(|one| one.statements.len());
        Self {
            split,
            conversations: topics.conversations.len(),
            turns: turns.len(),
            statements: statements.sum(),
            relevant: labels(|turn| turn.relevant_statements.as_ref().map(Vec::len)),
            citations: labels(|turn| turn.citations.as_ref().map(Vec::len)),
            utterance_words: mean(&words(|turn| &turn.utterance)),
            response_words: mean(&words(|turn| &turn.response)),
        }
    }

    fn named(&self) -> Value {
        json!({
            "conversations": self.conversations,
            "turns": self.turns,
            "statements": self.statements,
            "turns_with_relevant_statements": self.relevant.map(|(turns, _)| turns),
            "relevant_statements": self.relevant.map(|(_, all)| all),
            "turns_with_citations": self.citations.map(|(turns, _)| turns),
            "citations": self.citations.map(|(_, all)| all),
            "utterance_words": self.utterance_words,
            "response_words": self.response_words,
        })
    }
}

type Figure = (&'static str, fn(&Counts) -> Option<Amount>);

const FIGURES: &[Figure] = &[
    ("conversations", |counts| Some(Amount::Count(counts.conversations))),
    ("turns", |counts| Some(Amount::Count(counts.turns))),
    ("statements", |counts| Some(Amount::Count(counts.statements))),
    ("turns with a relevant statement", |counts| {
        counts.relevant.map(|(turns, _)| Amount::Count(turns))
    }),
    ("relevant statements", |counts| counts.relevant.map(|(_, all)| Amount::Count(all))),
    ("turns that cite a passage", |counts| counts.citations.map(|(turns, _)| Amount::Count(turns))),
    ("cited passages", |counts| counts.citations.map(|(_, all)| Amount::Count(all))),
    ("words per utterance, mean", |counts| Some(Amount::Mean(counts.utterance_words))),
    ("words per response, mean", |counts| Some(Amount::Mean(counts.response_words))),
];

/// Counts the splits and the passages.
pub(super) fn statistics(
    topics: &[(Split, Topics)],
    passages: &dyn Documents,
) -> Result<Statistics, Error> {
    let splits: Vec<Counts> =
        topics.iter().map(|(split, topics)| Counts::of(*split, topics)).collect();
    let mut columns: Vec<&'static str> = splits.iter().map(|counts| counts.split.name()).collect();
    columns.push("passages");
    let mut rows = Vec::new();
    for (name, figure) in FIGURES {
        let amounts = splits.iter().map(figure).chain([None]);
        rows.push(StatisticsRow { name, amounts: amounts.collect() });
    }
    let words = |doc| passages.text(doc).map(|text| count_words(&text));
    let words: Vec<usize> = Doc::all(passages.len()).map(words).collect::<Result<_, _>>()?;
    let of_passages = [
        ("passages", Amount::Count(words.len())),
        ("words per passage, mean", Amount::Mean(mean(&words))),
    ];
    for (name, amount) in of_passages {
        let mut amounts = vec![None; splits.len()];
        amounts.push(Some(amount));
        rows.push(StatisticsRow { name, amounts });
    }
    let by_split: Map<String, Value> =
        splits.iter().map(|counts| (counts.split.name().to_owned(), counts.named())).collect();
    let passages =
        json!({"count": words.len(), "words": mean(&words), "sha256": passages.checksum()});
    Ok(Statistics { columns, rows, named: json!({ "splits": by_split, "passages": passages }) })
}
