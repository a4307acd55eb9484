//! The run of 2025, and conversations with a simulated user: JSON lines, one per turn.

use super::{INTERACTIVE, RankedPassage, RankedStatement, Response, Submission, SubmittedTurn};
use crate::ikat::topics::Year;
use crate::json::{self, Node, Parsed, Value};
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
    input.bytes.trim_ascii().contains(&b'\n') && first_is(input, is_entry)
}

/// Whether the first line is a turn of a conversation with a simulated user.
pub(in crate::ikat) fn is_interactive(input: &Input) -> bool {
    first_is(input, is_talk)
}

fn first_is(input: &Input, is: fn(&Node) -> bool) -> bool {
    let first = input.bytes.trim_ascii().split(|&byte| byte == b'\n').next();
    let first = first.and_then(|line| str::from_utf8(line).ok());
    first.and_then(|line| json::parse_text(1, line).ok()).is_some_and(|node| is(&node))
}

/// The server of the task names the turn in the metadata; 2025 released its runs with their type.
fn is_talk(node: &Node) -> bool {
    let metadata = node.get("metadata");
    metadata.is_some_and(|metadata| {
        let kind = metadata.get("type").or(metadata.get("run_type")).and_then(Node::text);
        metadata.get("topic_id").is_some() || kind == Some(INTERACTIVE)
    })
}

/// Whether a value has what every turn of this form has, and no run of another.
pub(super) fn is_entry(node: &Node) -> bool {
    node.get("metadata").is_some() || node.get("references").is_some()
}

fn entry(node: &Node, line: u64) -> Parsed<([String; 3], SubmittedTurn)> {
    if is_talk(node) {
        return talk(node, line);
    }
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
    Ok((metadata, SubmittedTurn { id, responses, references, line, ..Default::default() }))
}

/// A turn of a conversation with a simulated user. The keys of the server's dump begin with
/// `assistant_`, those of the runs released for 2025 do not; the last turn of a conversation has no
/// text, because nobody answers a goodbye.
fn talk(node: &Node, line: u64) -> Parsed<([String; 3], SubmittedTurn)> {
    let metadata = node.field("metadata")?;
    let team = metadata.optional_text("team_id")?.unwrap_or_default();
    let metadata_of = [team, metadata.text_of("run_id")?, INTERACTIVE].map(str::to_owned);
    let ids = [metadata.get("topic_id"), node.get("turn_id"), metadata.get("turn_id")];
    let id = match ids.into_iter().flatten().next() {
        Some(id) => id.as_text("topic_id")?.to_owned(),
        None => return Err(metadata.unlike("a key `topic_id`")),
    };
    let all = node.list_of("responses")?;
    let said = all.first().map(|first| first.optional_text("user_utterance")).transpose()?;
    let utterance = Some(said.flatten().unwrap_or_default().to_owned());
    let mut responses = Vec::with_capacity(all.len());
    for (node, rank) in all.iter().zip(1..) {
        let of = |key: &str| {
            let value = node.get(&format!("assistant_{key}")).or(node.get(key));
            value.filter(|value| value.value != Value::Null)
        };
        let Some(text) = of("text") else { continue };
        let named = of("meta").and_then(|meta| meta.get("ptkb_provenance"));
        let named = named.or(node.get("ptkb_provenance"));
        let named = named.filter(|named| named.value != Value::Null);
        let text = text.as_text("text")?.to_owned();
        let passages = of("citations").map_or(Ok(Vec::new()), cited)?;
        let statements = named.map_or(Ok(Vec::new()), statements_of)?;
        responses.push(Response { rank, text, passages, statements, line: node.line });
    }
    let references = responses.first().map_or(Vec::new(), |first| first.passages.clone());
    Ok((metadata_of, SubmittedTurn { id, utterance, responses, references, line }))
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
