//! Statistics of a folder with the track's files.

use super::topics::{IkatTurn, TopicFile};
use clariq_collections::PerSplit;
use clariq_collections::statistics::{Figure, Statistics, WordCounts, figure};
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

    fn figures(&self) -> Vec<Figure> {
        let (with_relevant, relevant) = self.relevant.unzip();
        let (that_cite, cited) = self.citations.unzip();
        vec![
            figure("conversations", Some(self.conversations)),
            figure("turns", Some(self.turns)),
            figure("statements", Some(self.statements)),
            figure("turns with a relevant statement", with_relevant),
            figure("relevant statements", relevant),
            figure("turns that cite a passage", that_cite),
            figure("cited passages", cited),
            figure("words per utterance, mean", Some(self.utterance_words)),
            figure("words per response, mean", Some(self.response_words)),
        ]
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

/// Computes the statistics of the splits and the passages.
pub(super) fn statistics(
    topics: &PerSplit<Option<TopicFile>>,
    passages: &dyn Documents,
) -> Result<Statistics, Error> {
    let mut columns = Vec::new();
    let mut by_split = Map::new();
    for (split, topics) in topics.available() {
        let counts = SplitCounts::of(topics);
        columns.push((split.name(), counts.figures()));
        by_split.insert(split.name().to_owned(), counts.to_json());
    }
    let words = WordCounts::of_documents(passages)?;
    let of_passages =
        [("passages", words.texts.into()), ("words per passage, mean", words.mean.into())];
    let of_all = json!({"count": words.texts, "words": words.mean, "sha256": passages.checksum()});
    let named = json!({ "splits": by_split, "passages": of_all });
    Ok(Statistics::new(&columns, ("passages", &of_passages), named))
}
