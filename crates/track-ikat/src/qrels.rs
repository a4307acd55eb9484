//! Labels in four columns: the statements and the passages that are relevant to a turn.
//!
//! The files are TREC qrels, so [`clariq_files::read_qrels`] reads those of passages as they are.
//! Labels of statements are made from the topics; in NIST's of 2025, statements get the numbers that
//! are used everywhere else. Answers that people wrote are JSON by turn.

use super::topics::TopicFile;
use clariq_collections::entries::UniqueEntries;
use clariq_core::{Error, Problem, parse_json, problem};
use clariq_files::{
    FileContent, Judgement, MOST_OF_A_TABLE, Qrels, Sink, Source, parse_qrels, read_strictly,
};
use compact_str::{CompactString, ToCompactString};
use serde::Deserialize;
use std::collections::HashSet;

/// The kinds of released labels.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum LabelKind {
    /// Statements, by the organisers.
    Organisers,
    /// Statements, by NIST.
    Nist,
    /// Passages, with their name in figures.
    Passages(&'static str),
    /// Answers that people wrote, for comparison with responses.
    Answers,
}

/// Turns, each with a passage that the labels of a split judge.
pub type JudgedPassages = HashSet<(String, String)>;

/// The beginning of ids of statements in NIST's labels of 2025.
const OF_2025: &str = "ptkb-";

/// The names in figures of passages with graded labels.
pub(super) const GRADED_BY_NIST: &str = "passages (graded by NIST)";
pub(super) const GRADED_BY_MODEL: &str = "passages (graded by an LLM)";

impl LabelKind {
    /// Reports the problems of a file, beside the topics if these are valid.
    pub(super) fn check(self, input: &FileContent, topics: Option<&TopicFile>, sink: Sink) {
        let name = &*input.name;
        let checked = match self {
            Self::Organisers | Self::Nist => {
                let judgements = parse_statement_qrels(input, sink);
                topics.map(|topics| check_judged_statements(name, &judgements, topics))
            }
            Self::Passages(_) => {
                let judgements = parse_qrels(input, sink);
                topics.map(|topics| check_judged(name, &judgements, topics))
            }
            Self::Answers => {
                let answers = parse_answers(input, sink);
                let turns = answers.iter().map(|(turn, _)| turn.as_str());
                topics.map(|topics| check_turns(name, turns, topics))
            }
        };
        if let Some(Err(problem)) = checked {
            sink(problem);
        }
    }
}

/// Refuses labels of turns that the topics do not have: they belong to another year.
pub(super) fn check_turns<'l>(
    file: &str,
    mut turns: impl Iterator<Item = &'l str>,
    topics: &TopicFile,
) -> Result<(), Problem> {
    let Some(turn) = turns.find(|turn| topics.turn(turn).is_none()) else { return Ok(()) };
    let hint = "are they the labels of another year? --split names the year of the run";
    let expected = format!("turns of {}", topics.name);
    Err(problem!(file, expected, "`{turn}`", hint))
}

/// Refuses labels of turns that the topics do not have.
pub(super) fn check_judged(
    file: &str,
    judgements: &[Judgement],
    topics: &TopicFile,
) -> Result<(), Problem> {
    check_turns(file, judgements.iter().map(|label| label.topic.as_str()), topics)
}

/// Refuses labels of turns and statements that the topics do not have. The statements of another
/// conversation, which only 2025's form can name, stay.
pub(super) fn check_judged_statements(
    file: &str,
    judgements: &[Judgement],
    topics: &TopicFile,
) -> Result<(), Problem> {
    check_judged(file, judgements, topics)?;
    for Judgement { topic, document, .. } in judgements {
        let Some((conversation, _)) = topics.turn(topic.as_str()) else { continue };
        let count = conversation.statements.len();
        // Numbers are compared as texts: `02` is none of a run's `2`.
        let number = document.parse::<usize>().ok().filter(|number| (1..=count).contains(number));
        if !document.starts_with(OF_2025)
            && number.is_none_or(|number| number.to_compact_string() != *document)
        {
            let expected = format!("one of the {count} statements of this user");
            let found = format!("`{document}` in turn {topic}");
            let hint = "statements are numbers such as `2`; a label that names none counts against every system";
            return Err(problem!(file, expected, found, hint));
        }
    }
    Ok(())
}

/// Reads answers that people wrote, by turn; the first problem is the error.
pub(super) fn read_answers(source: &Source) -> Result<Vec<(String, String)>, Error> {
    read_strictly(source, MOST_OF_A_TABLE, parse_answers)
}

/// Parses answers: an object of texts, as in 2025, or of objects whose `manual.response` is the text,
/// as in 2024. Turns without an answer are left out.
fn parse_answers(input: &FileContent, sink: Sink) -> Vec<(String, String)> {
    const FORM: &str = "answers are one JSON object, `{\"1-1_3\": \"…\"}` as in 2025 or \
                        `{\"0_8\": {\"manual\": {\"response\": \"…\"}}}` as in 2024";
    let turns: UniqueEntries<AnyAnswer> = match parse_json(&*input.name, &input.bytes) {
        Ok(turns) => turns,
        Err(problem) => {
            sink(problem.hint(FORM));
            return Vec::new();
        }
    };
    let mut answers = Vec::new();
    for (turn, answer) in turns.0 {
        let text = match answer {
            AnyAnswer::Text(text) => text,
            AnyAnswer::Manual { manual } => manual.response,
            AnyAnswer::Empty(_) => continue,
        };
        if !text.trim().is_empty() {
            answers.push((turn, text));
        }
    }
    answers
}

#[derive(Deserialize)]
#[serde(untagged, expecting = "a text, or an object with `manual.response`")]
enum AnyAnswer {
    Text(String),
    Manual {
        manual: Manual,
    },
    /// A turn without an answer.
    Empty(Empty),
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Empty {}

#[derive(Deserialize)]
struct Manual {
    response: String,
}

/// Reads labels of statements; the first problem is the error.
///
/// Statements are numbers from 1. NIST's file of 2025 calls them `ptkb-<conversation>-<index from
/// 0>`, which becomes a number from 1 here.
pub fn read_statement_qrels(source: &Source) -> Result<Vec<Judgement>, Error> {
    read_strictly(source, MOST_OF_A_TABLE, parse_statement_qrels)
}

/// Reads the valid lines of labels of statements. Every problem goes to `sink`, and its line is left
/// out.
pub fn parse_statement_qrels(input: &FileContent, sink: Sink) -> Vec<Judgement> {
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
    let rest = statement.strip_prefix(OF_2025)?.strip_prefix(conversation)?;
    let index: usize = rest.strip_prefix('-')?.parse().ok()?;
    Some(index.checked_add(1)?.to_compact_string())
}

/// The organisers' labels of statements: all statements of every turn that has a relevant one, with
/// grade 0 or 1, in file order. These are the lines of the track's `ptkb_rel_org`.
pub fn statement_judgements(topics: &TopicFile) -> Vec<Judgement> {
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
pub fn citation_judgements(topics: &TopicFile) -> Vec<Judgement> {
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

/// Labels by turn; `None` if there are none.
pub(super) fn to_qrels(file: &str, labels: &[Judgement]) -> Result<Option<Qrels>, Error> {
    (!labels.is_empty()).then(|| Qrels::from_judgements(file, labels)).transpose()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_answers_of_a_turn_are_refused() {
        let source = Source::memory("a.json", *b"{\"1-1_1\": \"sun\", \"1-1_1\": \"rain\"}");
        let error = read_answers(&source).unwrap_err().to_string();
        assert_eq!(error, "a.json: expected `1-1_1` once, found it again");
    }

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
