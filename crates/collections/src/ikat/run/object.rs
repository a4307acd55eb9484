//! The run of 2023 and 2024: one JSON object.

use super::proto::{Fallible, Message, int32};
use super::{RankedPassage, RankedStatement, Response, Submission, SubmittedTurn, keep};
use crate::ikat::topics::Year;
use crate::json::{self, Node};
use clariq_core::{Location, Problem, ProblemKind};
use clariq_files::Input;
use clariq_files::table::Sink;

pub(super) fn submission(input: &Input, year: Year, sink: Sink) -> Submission {
    match keep(json::parse(input), sink) {
        Some(root) => read(&input.name, &root, year, sink),
        None => Submission::empty(year),
    }
}

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
    let mut submission = Submission::empty(year);
    // The names are looked for as they are, before any rule about spellings.
    for name in ["run_name", "run_type", "turns"] {
        if root.get(name).is_none() {
            let at = Location::line(file, root.line);
            let expected = format!("`{name}` at the head of the run");
            sink(
                Problem::new(at, ProblemKind::WrongValue, expected, root.describe())
                    .hint("a run has run_name, run_type and turns"),
            );
            return submission;
        }
    }
    if let Some(turns) = keep(head(file, root, &mut submission), sink) {
        for turn in turns {
            submission.turns.extend(keep(read_turn(file, turn, year), sink));
        }
    }
    submission
}

fn head<'n, 'a>(
    file: &'n str,
    root: &'n Node<'a>,
    submission: &mut Submission,
) -> Fallible<&'n [Node<'a>]> {
    let names: &[&str] = match submission.year {
        Year::Y2024 => &["run_name", "run_type", "eval_response", "turns"],
        _ => &["run_name", "run_type", "turns"],
    };
    let run = Message::read(file, root, names)?;
    submission.run_name = run.text("run_name")?;
    submission.run_type = run.text("run_type")?;
    submission.eval_response = run.boolean("eval_response")?;
    run.list("turns")
}

fn read_turn(file: &str, node: &Node, year: Year) -> Fallible<SubmittedTurn> {
    let turn = Message::read(file, node, &["turn_id", "responses"])?;
    Ok(SubmittedTurn {
        id: turn.text("turn_id")?,
        responses: turn.repeated("responses", |node| response(file, node, year))?,
        references: Vec::new(),
        line: node.line,
    })
}

fn response(file: &str, node: &Node, year: Year) -> Fallible<Response> {
    let names = &["text", "rank", "passage_provenance", "ptkb_provenance"];
    let response = Message::read(file, node, names)?;
    Ok(Response {
        rank: response.int32("rank")?,
        text: response.text("text")?,
        passages: response.repeated("passage_provenance", |node| passage(file, node))?,
        statements: response.repeated("ptkb_provenance", |node| match year {
            Year::Y2024 => numbered_statement(file, node),
            _ => statement(file, node),
        })?,
        line: node.line,
    })
}

fn passage(file: &str, node: &Node) -> Fallible<RankedPassage> {
    let passage = Message::read(file, node, &["id", "text", "score", "used"])?;
    Ok(RankedPassage {
        id: passage.text("id")?,
        text: passage.text("text")?,
        score: passage.float("score")?,
        used: passage.boolean("used")?,
        line: node.line,
    })
}

fn statement(file: &str, node: &Node) -> Fallible<RankedStatement> {
    let statement = Message::read(file, node, &["id", "text", "score"])?;
    Ok(RankedStatement {
        id: statement.text("id")?,
        text: statement.text("text")?,
        score: statement.float("score")?,
        line: node.line,
    })
}

fn numbered_statement(file: &str, node: &Node) -> Fallible<RankedStatement> {
    let number = int32(file, "ptkb_provenance", node)?;
    Ok(RankedStatement { id: number.to_string(), line: node.line, ..RankedStatement::default() })
}
