//! The run of 2025: JSON lines, one per turn.

use super::{RankedPassage, RankedStatement, Response, Submission, SubmittedTurn, hint_of};
use crate::topics::Year;
use clariq_collections::entries::Entries;
use clariq_core::{Location, Problem, ProblemKind, parse_json, problem};
use clariq_files::{FileContent, Sink, for_each_filled_line};
use serde::Deserialize;
use serde::de::IgnoredAny;
use std::cell::LazyCell;

/// The hint of a problem in a line.
pub(crate) const FORM: &str = "a line has metadata, turn_id, responses and references";

/// A line. The official program ignores other fields.
#[derive(Debug, Clone, Deserialize)]
pub(crate) struct TurnLine {
    #[serde(skip)]
    pub(crate) number: u64,
    pub(crate) metadata: RunMetadata,
    pub(crate) turn_id: String,
    pub(crate) responses: Option<Vec<LineResponse>>,
    pub(crate) references: PassageScores,
}

#[derive(Debug, Clone, PartialEq, Deserialize)]
pub(crate) struct RunMetadata {
    pub(crate) team_id: String,
    pub(crate) run_id: String,
    pub(crate) run_type: String,
}

/// A response. Its fields are optional, because the official program does not check those of a
/// response that it drops.
#[derive(Debug, Clone, Deserialize)]
pub(crate) struct LineResponse {
    pub(crate) rank: Option<i32>,
    pub(crate) text: Option<String>,
    pub(crate) citations: Option<PassageScores>,
    pub(crate) ptkb_provenance: Option<Vec<String>>,
}

/// Passage ids with their scores.
#[derive(Debug, Clone, Deserialize)]
#[serde(from = "Entries<f64>")]
pub(crate) struct PassageScores(pub(crate) Vec<(String, f64)>);

impl From<Entries<f64>> for PassageScores {
    /// The last score of a repeated passage counts, as in Python.
    fn from(entries: Entries<f64>) -> Self {
        let mut scores: indexmap::IndexMap<String, f64> = indexmap::IndexMap::new();
        scores.extend(entries.0);
        Self(scores.into_iter().collect())
    }
}

/// Reads the valid lines. The problems of other lines go to `sink`.
pub(crate) fn read_lines(input: &FileContent, sink: Sink) -> Vec<TurnLine> {
    let mut lines = Vec::new();
    let hint = LazyCell::new(|| hint_of(input, FORM));
    for_each_filled_line(input, sink, |at, text, sink| match parse_json::<TurnLine>(at, text) {
        Ok(line) => lines.push(TurnLine { number: at.1, ..line }),
        Err(problem) => sink(problem.hint(*hint)),
    });
    lines
}

/// Reads a run. Its name, type and team are those of the first line.
pub(super) fn read(input: &FileContent, sink: Sink) -> Submission {
    if input.bytes.trim_ascii().is_empty() {
        let problem = problem!((&*input.name, 1), "a line for every turn", "nothing", FORM);
        sink(problem.kind(ProblemKind::Empty));
    }
    let lines = read_lines(input, sink);
    submission(&lines, &input.name, sink)
}

/// Makes a run of lines. A turn with a problem is left out.
pub(crate) fn submission(lines: &[TurnLine], file: &str, sink: Sink) -> Submission {
    let mut submission = Submission { year: Year::Y2025, ..Submission::default() };
    for line in lines {
        match submitted_turn(line, file) {
            Ok(turn) => {
                if submission.turns.is_empty() {
                    let RunMetadata { team_id, run_id, run_type } = line.metadata.clone();
                    submission.team = team_id;
                    submission.run_name = run_id;
                    submission.run_type = run_type;
                }
                submission.turns.push(turn);
            }
            Err(problem) => sink(problem),
        }
    }
    submission
}

fn submitted_turn(line: &TurnLine, file: &str) -> Result<SubmittedTurn, Problem> {
    let at = Location::line(file, line.number);
    let mut responses = Vec::new();
    for (response, rank) in line.responses.iter().flatten().zip(1..) {
        let LineResponse { text: Some(text), citations: Some(citations), .. } = response else {
            let found = format!("response {rank} of turn {} without one of them", line.turn_id);
            return Err(problem!(at, "`text` and `citations` in a response", found, FORM));
        };
        let Some(statements) = &response.ptkb_provenance else {
            let found = format!("response {rank} of turn {} without it", line.turn_id);
            return Err(problem!(at, "`ptkb_provenance` in a response", found, FORM));
        };
        let statements = statements
            .iter()
            .map(|text| RankedStatement { text: text.clone(), ..Default::default() });
        responses.push(Response {
            rank: response.rank.unwrap_or(rank),
            text: text.clone(),
            passages: passages(citations, true),
            statements: statements.collect(),
        });
    }
    Ok(SubmittedTurn {
        id: line.turn_id.clone(),
        responses,
        references: passages(&line.references, false),
        line: Some(line.number),
    })
}

fn passages(scores: &PassageScores, used: bool) -> Vec<RankedPassage> {
    let passage = |(id, score): &(String, f64)| RankedPassage {
        id: id.clone(),
        score: *score,
        used,
        ..RankedPassage::default()
    };
    scores.0.iter().map(passage).collect()
}

/// True if the first line is a turn of this form.
pub(super) fn is_json_lines(input: &FileContent) -> bool {
    #[derive(Deserialize)]
    struct AnyLine {
        metadata: Option<IgnoredAny>,
        references: Option<IgnoredAny>,
    }

    let bytes = input.bytes.trim_ascii();
    let first = bytes.split(|&byte| byte == b'\n').next().unwrap_or_default();
    serde_json::from_slice(first)
        .is_ok_and(|line: AnyLine| line.metadata.is_some() || line.references.is_some())
}
