//! Statistics of a folder with the track's files.

use super::topics::{IkatTurn, TopicFile};
use clariq_collections::PerSplit;
use clariq_collections::statistics::{Statistics, StatisticsFigure, WordCounts};
use clariq_core::{Documents, Error};
use serde_json::{Map, Value, json};

/// Counts of a split.
struct SplitCounts {
    conversations: usize,
    turns: usize,
    statements: usize,
    /// Turns with a relevant statement, and relevant statements; `None` if none were released.
    relevant: Option<(usize, usize)>,
    /// Turns that cite a passage, and citations; `None` if none were released.
    citations: Option<(usize, usize)>,
    utterance_words: f64,
    response_words: f64,
}

impl SplitCounts {
    fn of(topics: &TopicFile) -> Self {
        let turns: Vec<&IkatTurn> = topics.turns().map(|(_, turn)| turn).collect();
        let labels = |count: fn(&IkatTurn) -> Option<usize>| {
            let counts: Vec<usize> = turns.iter().filter_map(|turn| count(turn)).collect();
            let labelled = counts.iter().filter(|count| **count > 0).count();
            (!counts.is_empty()).then(|| (labelled, counts.iter().sum()))
        };
        let statements = topics.conversations.iter().map(|one| one.statements.len());
        Self {
            conversations: topics.conversations.len(),
            turns: turns.len(),
            statements: statements.sum(),
            relevant: labels(|turn| turn.relevant_statements.as_ref().map(Vec::len)),
            citations: labels(|turn| turn.citations.as_ref().map(Vec::len)),
            utterance_words: WordCounts::of(turns.iter().map(|turn| &*turn.utterance)).mean,
            response_words: WordCounts::of(turns.iter().map(|turn| &*turn.response)).mean,
        }
    }

    fn to_json(&self) -> Value {
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

const FIGURES: &[StatisticsFigure<SplitCounts>] = &[
    ("conversations", |counts| Some(counts.conversations.into())),
    ("turns", |counts| Some(counts.turns.into())),
    ("statements", |counts| Some(counts.statements.into())),
    ("turns with a relevant statement", |counts| Some(counts.relevant?.0.into())),
    ("relevant statements", |counts| Some(counts.relevant?.1.into())),
    ("turns that cite a passage", |counts| Some(counts.citations?.0.into())),
    ("cited passages", |counts| Some(counts.citations?.1.into())),
    ("words per utterance, mean", |counts| Some(counts.utterance_words.into())),
    ("words per response, mean", |counts| Some(counts.response_words.into())),
];

/// Computes the statistics of the splits and the passages.
pub(super) fn statistics(
    topics: &PerSplit<Option<TopicFile>>,
    passages: &dyn Documents,
) -> Result<Statistics, Error> {
    let splits: Vec<_> =
        topics.available().map(|(split, topics)| (split.name(), SplitCounts::of(topics))).collect();
    let words = WordCounts::of_documents(passages)?;
    let of_passages =
        [("passages", words.texts.into()), ("words per passage, mean", words.mean.into())];
    let by_split: Map<String, Value> =
        splits.iter().map(|(name, counts)| ((*name).to_owned(), counts.to_json())).collect();
    let of_all = json!({"count": words.texts, "words": words.mean, "sha256": passages.checksum()});
    let named = json!({ "splits": by_split, "passages": of_all });
    Ok(Statistics::new(&splits, FIGURES, ("passages", &of_passages), named))
}
