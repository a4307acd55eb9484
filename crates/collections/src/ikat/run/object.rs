//! The run of 2023 and 2024: one JSON object.

use super::proto::{FORM, Message, int32};
use super::{RankedPassage, RankedStatement, Response, Submission, SubmittedTurn};
use crate::ikat::topics::Year;
use crate::json::{Node, Parsed};
use clariq_files::Sink;

/// The year whose form the statements have.
pub(super) fn year_of(root: &Node) -> Year {
    let responses = list(root, &["turns"]).iter().flat_map(|turn| list(turn, &["responses"]));
    let mut statements =
        responses.flat_map(|response| list(response, &["ptkb_provenance", "ptkbProvenance"]));
    match statements.next() {
        Some(statement) if statement.object().is_some() => Year::Y2023,
        _ => Year::Y2024,
    }
}

/// The items under the first of these names that there is.
fn list<'n, 'a>(node: &'n Node<'a>, names: &[&str]) -> &'n [Node<'a>] {
    names.iter().find_map(|name| node.get(name)).and_then(Node::list).unwrap_or_default()
}

/// Reads a run that was parsed already.
pub(super) fn read(file: &str, root: &Node, year: Year, sink: Sink) -> Submission {
    let mut submission = Submission { year, ..Submission::default() };
    let turns = match head(root, &mut submission) {
        Ok(turns) => turns,
        Err(fault) => {
            sink(fault.in_file(file, FORM));
            return submission;
        }
    };
    for node in turns {
        submission.turns.extend(turn(node, year).map_err(|fault| sink(fault.in_file(file, FORM))));
    }
    submission
}

/// Reads what a run says once, and returns its turns.
fn head<'n, 'a>(root: &'n Node<'a>, submission: &mut Submission) -> Parsed<&'n [Node<'a>]> {
    // The names are looked for as they are, before any rule about spellings.
    for name in ["run_name", "run_type", "turns"] {
        if root.get(name).is_none() {
            let fault = root.unlike(format!("`{name}` at the head of the run"));
            return Err(fault.hint("a run has run_name, run_type and turns"));
        }
    }
    let names: &[&str] = match submission.year {
        Year::Y2024 => &["run_name", "run_type", "eval_response", "turns"],
        _ => &["run_name", "run_type", "turns"],
    };
    let run = Message::read(root, names)?;
    submission.run_name = run.text("run_name")?;
    submission.run_type = run.text("run_type")?;
    submission.eval_response = run.boolean("eval_response")?;
    run.list("turns")
}

fn turn(node: &Node, year: Year) -> Parsed<SubmittedTurn> {
    let turn = Message::read(node, &["turn_id", "responses"])?;
    Ok(SubmittedTurn {
        id: turn.text("turn_id")?,
        responses: turn.repeated("responses", |node| response(node, year))?,
        line: node.line,
        ..Default::default()
    })
}

fn response(node: &Node, year: Year) -> Parsed<Response> {
    let names = &["text", "rank", "passage_provenance", "ptkb_provenance"];
    let response = Message::read(node, names)?;
    Ok(Response {
        rank: response.int32("rank")?,
        text: response.text("text")?,
        passages: response.repeated("passage_provenance", passage)?,
        statements: response.repeated("ptkb_provenance", |node| statement(node, year))?,
        line: node.line,
    })
}

fn passage(node: &Node) -> Parsed<RankedPassage> {
    let passage = Message::read(node, &["id", "text", "score", "used"])?;
    Ok(RankedPassage {
        id: passage.text("id")?,
        text: passage.text("text")?,
        score: passage.float("score")?,
        used: passage.boolean("used")?,
        line: node.line,
    })
}

fn statement(node: &Node, year: Year) -> Parsed<RankedStatement> {
    if year == Year::Y2024 {
        let id = int32("ptkb_provenance", node)?.to_string();
        return Ok(RankedStatement { id, line: node.line, ..RankedStatement::default() });
    }
    let statement = Message::read(node, &["id", "text", "score"])?;
    Ok(RankedStatement {
        id: statement.text("id")?,
        text: statement.text("text")?,
        score: statement.float("score")?,
        line: node.line,
    })
}
