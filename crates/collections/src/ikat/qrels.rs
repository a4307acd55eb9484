//! Labels in four columns: which statements and which passages are relevant to a turn.
//!
//! The files are TREC qrels, so [`clariq_files::read_qrels`] reads those of passages as they are.
//! Labels of statements are made from the topics here, and NIST's of 2025 get the numbers that
//! everything else uses.

use super::topics::Topics;
use clariq_core::Error;
use clariq_files::table::{Sink, strictly};
use clariq_files::{Input, Judgement, MOST_OF_A_TABLE, Qrels, Source, parse_qrels};
use compact_str::{CompactString, ToCompactString};

/// Reads labels of statements; the first problem is the error.
///
/// Statements are numbers from 1. NIST's file of 2025 calls them `ptkb-<conversation>-<index from
/// 0>`, which becomes a number from 1 here.
pub fn read_statement_qrels(source: &Source) -> Result<Vec<Judgement>, Error> {
    let input = source.read_at_most(MOST_OF_A_TABLE)?;
    strictly(|sink| parse_statement_qrels(&input, sink))
}

/// Reads what can be read of labels of statements: every problem goes to `sink`, and its line is
/// left out.
pub fn parse_statement_qrels(input: &Input, sink: Sink) -> Vec<Judgement> {
    let mut judgements = parse_qrels(input, sink);
    for judgement in &mut judgements {
        if let Some(number) = number_from_index(&judgement.topic, &judgement.document) {
            judgement.document = number;
        }
    }
    judgements
}

/// `ptkb-9-1-0` of a turn of the conversation `9-1` → `1`.
fn number_from_index(turn: &str, statement: &str) -> Option<CompactString> {
    let (conversation, _) = turn.rsplit_once('_')?;
    let rest = statement.strip_prefix("ptkb-")?.strip_prefix(conversation)?;
    let index: usize = rest.strip_prefix('-')?.parse().ok()?;
    Some(index.checked_add(1)?.to_compact_string())
}

/// The organisers' labels of statements: all statements of every turn that has a relevant one, with
/// grade 0 or 1, in file order. These are the lines of the track's `ptkb_rel_org`.
pub fn statement_judgements(topics: &Topics) -> Vec<Judgement> {
    let mut judgements = Vec::new();
    for (conversation, turn) in topics.turns() {
        let relevant = turn.relevant_statements.as_deref().unwrap_or_default();
        if relevant.is_empty() {
            continue;
        }
        judgements.extend((1..=conversation.statements.len()).map(|number| Judgement {
            topic: turn.id.as_str().into(),
            document: number.to_compact_string(),
            relevance: relevant.contains(&(number as u32)).into(),
        }));
    }
    judgements
}

/// The passages that the organisers' responses cite, with grade 1, turn by turn. They are the
/// labels of canonical passage retrieval.
pub fn citation_judgements(topics: &Topics) -> Vec<Judgement> {
    let judgement = |turn: &str, passage: &String| Judgement {
        topic: turn.into(),
        document: passage.into(),
        relevance: 1,
    };
    topics
        .turns()
        .flat_map(|(_, turn)| {
            let cited = turn.citations.iter().flatten();
            cited.map(move |passage| judgement(turn.id.as_str(), passage))
        })
        .collect()
}

/// Labels by turn; `None` where there are none.
pub(super) fn of_labels(file: &str, labels: &[Judgement]) -> Result<Option<Qrels>, Error> {
    (!labels.is_empty()).then(|| Qrels::from_judgements(file, labels)).transpose()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn indexes_of_2025_become_numbers() {
        let text =
            "2-1_3 0 ptkb-2-1-0 4\n2-1_3 0 ptkb-2-1-19 0\n2-1_3 0 7 1\n2-1_3 0 ptkb-2-2-0 1\n";
        let labels = read_statement_qrels(&Source::memory("labels", text.as_bytes())).unwrap();
        let found: Vec<_> =
            labels.iter().map(|label| (label.document.as_str(), label.relevance)).collect();
        assert_eq!(found, [("1", 4), ("20", 0), ("7", 1), ("ptkb-2-2-0", 1)]);
    }
}
