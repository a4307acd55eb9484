//! The run of 2025: JSON lines, one per turn.

use super::{RankedPassage, RankedStatement, Response, Submission, SubmittedTurn};
use crate::ikat::topics::Year;
use crate::json::{self, Node, Parsed};
use clariq_core::{ProblemKind, problem};
use clariq_files::{Input, Sink};

/// What a line holds, for hints.
pub(in crate::ikat) const FORM: &str = "a line has metadata, turn_id, responses and references";

/// The keys of the metadata: who hands the run in, its name, and its type.
pub(in crate::ikat) const METADATA: [&str; 3] = ["team_id", "run_id", "run_type"];

/// Takes a line by its number and its object.
pub(in crate::ikat) type Check<'c> = &'c mut dyn FnMut(u64, &Node);

/// Reads a run. Name, type and team of the run are those of the first line. With `check`, which
/// judges every line by itself, only what is no JSON goes to `sink`.
pub(in crate::ikat) fn read(input: &Input, sink: Sink, mut check: Option<Check>) -> Submission {
    let mut submission = Submission { year: Year::Y2025, ..Submission::default() };
    let mut any = false;
    json::for_each_line(input, sink, |number, node, sink| {
        any = true;
        if let Some(check) = &mut check {
            check(number, &node);
        }
        match entry(&node, number) {
            Ok((metadata, turn)) => {
                if submission.turns.is_empty() {
                    [submission.team, submission.run_name, submission.run_type] = metadata;
                }
                submission.turns.push(turn);
            }
            Err(fault) if check.is_none() => sink(fault.in_file(&input.name, FORM)),
            Err(_) => {}
        }
    });
    if !any && check.is_none() && input.bytes.trim_ascii().is_empty() {
        let problem = problem!((&*input.name, 1), "a line for every turn", "nothing", FORM);
        sink(problem.kind(ProblemKind::Empty));
    }
    submission
}

/// Whether the first of several lines is a turn.
pub(super) fn is_json_lines(input: &Input) -> bool {
    let bytes = input.bytes.trim_ascii();
    let first = bytes.split(|&byte| byte == b'\n').next();
    let first = first.and_then(|line| str::from_utf8(line).ok());
    bytes.contains(&b'\n')
        && first.and_then(|line| json::parse_text(1, line).ok()).is_some_and(|node| is_entry(&node))
}

/// Whether a value has what every turn of this form has, and no run of another.
pub(super) fn is_entry(node: &Node) -> bool {
    node.get("metadata").is_some() || node.get("references").is_some()
}

fn entry(node: &Node, line: u64) -> Parsed<([String; 3], SubmittedTurn)> {
    let metadata = node.field("metadata")?;
    let [team, name, kind] = METADATA.map(|key| metadata.text_of(key));
    let metadata = [team?, name?, kind?].map(str::to_owned);
    let references = scores(node.field("references")?, "references")?;
    let responses = match node.get("responses") {
        Some(responses) => responses.as_list("responses")?,
        None => &[],
    };
    let responses = responses.iter().zip(1..).map(|(item, rank)| response(item, rank));
    let responses = responses.collect::<Parsed<_>>()?;
    let id = node.text_of("turn_id")?.to_owned();
    Ok((metadata, SubmittedTurn { id, responses, references, line }))
}

fn response(node: &Node, rank: i64) -> Parsed<Response> {
    let rank = match node.get("rank") {
        Some(node) => node.integer().ok_or_else(|| node.unlike("a whole number as rank"))?,
        None => rank,
    };
    let passages = cited(node.field("citations")?)?;
    Ok(Response {
        rank: i32::try_from(rank).map_err(|_| node.unlike("a rank of at most 32 bits"))?,
        text: node.text_of("text")?.to_owned(),
        passages,
        statements: statements_of(node.field("ptkb_provenance")?)?,
        line: node.line,
    })
}

fn statements_of(node: &Node) -> Parsed<Vec<RankedStatement>> {
    let statement = |node: &Node| {
        let text = node.as_text("ptkb_provenance")?.to_owned();
        Ok(RankedStatement { text, line: node.line, ..Default::default() })
    };
    node.as_list("ptkb_provenance")?.iter().map(statement).collect()
}

fn cited(node: &Node) -> Parsed<Vec<RankedPassage>> {
    let cited = scores(node, "citations")?.into_iter();
    Ok(cited.map(|passage| RankedPassage { used: true, ..passage }).collect())
}

/// An object of passage ids and scores.
fn scores(node: &Node, key: &str) -> Parsed<Vec<RankedPassage>> {
    let expected = format!("`{key}` as an object of passage ids and scores");
    let fields = node.object().ok_or_else(|| node.unlike(expected))?;
    let references = fields.iter().map(|(id, node)| {
        let score = node.number().ok_or_else(|| node.unlike("a score as a number"))?;
        Ok(RankedPassage { id: id.to_string(), score, line: node.line, ..Default::default() })
    });
    references.collect()
}
