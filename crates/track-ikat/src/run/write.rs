//! Writes runs in the form of their year, one turn per line.

use super::{Response, Submission, SubmittedTurn};
use crate::topics::Year;
use serde_json::{Map, Value, json};
use std::io::{self, Write};

/// Writes a run in the form of its year. A score that is not finite is an error, because no parser
/// would read it.
pub fn put_submission(out: &mut dyn Write, submission: &Submission) -> io::Result<()> {
    if submission.turns.is_empty() {
        put_head(out, submission)?;
    }
    for (index, turn) in (0..).zip(&submission.turns) {
        put_turn(out, submission, index, turn)?;
    }
    put_end(out, submission.year)
}

/// Writes the turn at `index` of the run `head`, and before the first turn the beginning of the file.
pub(crate) fn put_turn(
    out: &mut dyn Write,
    head: &Submission,
    index: u64,
    turn: &SubmittedTurn,
) -> io::Result<()> {
    if head.year.has_line_runs() {
        put_value(out, &line_turn(head, turn)?)?;
        return out.write_all(b"\n");
    }
    if index == 0 {
        put_head(out, head)?;
    }
    out.write_all(if index == 0 { b"\n" } else { b",\n" })?;
    put_value(out, &object_turn(head.year, turn)?)
}

/// Writes the beginning of the file, before the turns. In 2025, every line repeats it instead.
#[allow(clippy::indexing_slicing, reason = "keys of an object that is made here")]
fn put_head(out: &mut dyn Write, head: &Submission) -> io::Result<()> {
    if head.year.has_line_runs() {
        return Ok(());
    }
    let mut object = json!({"run_name": head.run_name, "run_type": head.run_type});
    if head.year == Year::Y2024 {
        object["eval_response"] = json!(head.eval_response);
    }
    let object = object.to_string();
    write!(out, "{}, \"turns\": [", object.trim_end_matches('}'))
}

/// Writes the end of the file, after the turns.
pub(crate) fn put_end(out: &mut dyn Write, year: Year) -> io::Result<()> {
    if year.has_line_runs() { Ok(()) } else { out.write_all(b"\n]}\n") }
}

fn put_value(out: &mut dyn Write, value: &Value) -> io::Result<()> {
    serde_json::to_writer(out, value).map_err(io::Error::from)
}

fn object_turn(year: Year, turn: &SubmittedTurn) -> io::Result<Value> {
    let responses = turn.responses.iter().map(|response| object_response(year, response));
    let responses = responses.collect::<io::Result<Vec<_>>>()?;
    Ok(json!({"turn_id": turn.id, "responses": responses}))
}

#[allow(clippy::indexing_slicing, reason = "keys of an object that is made here")]
fn object_response(year: Year, response: &Response) -> io::Result<Value> {
    let mut passages = Vec::with_capacity(response.passages.len());
    for passage in &response.passages {
        let mut object = json!({"id": passage.id});
        if !passage.text.is_empty() {
            object["text"] = json!(passage.text);
        }
        object["score"] = finite(passage.score)?;
        object["used"] = json!(passage.used);
        passages.push(object);
    }
    let mut statements = Vec::with_capacity(response.statements.len());
    for statement in &response.statements {
        statements.push(match year {
            Year::Y2024 => json!(statement.id.parse::<i32>().map_err(io::Error::other)?),
            _ => json!({
                "id": statement.id,
                "text": statement.text,
                "score": finite(statement.score)?,
            }),
        });
    }
    Ok(json!({
        "rank": response.rank,
        "text": response.text,
        "ptkb_provenance": statements,
        "passage_provenance": passages,
    }))
}

/// A turn as a line of 2025.
fn line_turn(head: &Submission, turn: &SubmittedTurn) -> io::Result<Value> {
    let mut responses = Vec::with_capacity(turn.responses.len());
    for response in &turn.responses {
        let cited = response.passages.iter().filter(|passage| passage.used);
        let citations = scores(cited.map(|passage| (&passage.id, passage.score)))?;
        let statements: Vec<_> =
            response.statements.iter().map(|statement| statement.text.as_str()).collect();
        responses.push(json!({
            "rank": response.rank,
            "text": response.text,
            "ptkb_provenance": statements,
            "citations": citations,
        }));
    }
    let references = turn.references.iter().map(|reference| (&reference.id, reference.score));
    Ok(json!({
        "metadata": {
            "team_id": head.team,
            "run_id": head.run_name,
            "run_type": head.run_type,
        },
        "turn_id": turn.id,
        "responses": responses,
        "references": scores(references)?,
    }))
}

fn scores<'a>(scored: impl Iterator<Item = (&'a String, f64)>) -> io::Result<Value> {
    let fields = scored.map(|(id, score)| Ok((id.clone(), finite(score)?)));
    Ok(Value::Object(fields.collect::<io::Result<Map<_, _>>>()?))
}

fn finite(score: f64) -> io::Result<Value> {
    if score.is_finite() {
        return Ok(json!(score));
    }
    Err(io::Error::new(io::ErrorKind::InvalidData, format!("a score is not finite: {score}")))
}
