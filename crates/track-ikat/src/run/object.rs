//! The run of 2023 and 2024: one JSON object.
//!
//! The official programs read it by the rules of proto3's JSON form. Of these, runs use names in
//! camelCase, `null` for a missing value, and numbers as texts; any field that the year does not
//! have is an error.

use super::{RankedPassage, RankedStatement, Response, Submission, SubmittedTurn, hint_of};
use crate::topics::Year;
use clariq_collections::text_or_number::TextOrNumber;
use clariq_core::{Problem, parse_json, problem};
use clariq_files::{FileContent, Sink};
use serde::de::value::MapAccessDeserializer;
use serde::de::{Error, IntoDeserializer, MapAccess, Visitor};
use serde::{Deserialize, Deserializer};
use std::fmt;

const FORM: &str = "see the run formats in the guidelines of that year";

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RunObject {
    run_name: String,
    run_type: String,
    /// Only in 2024.
    #[serde(alias = "evalResponse")]
    eval_response: Option<bool>,
    turns: Vec<TurnObject>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct TurnObject {
    #[serde(default, alias = "turnId", deserialize_with = "or_default")]
    turn_id: String,
    #[serde(default, deserialize_with = "or_default")]
    responses: Vec<AnyResponse>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct AnyResponse {
    #[serde(default, deserialize_with = "or_default")]
    rank: Int32,
    #[serde(default, deserialize_with = "or_default")]
    text: String,
    #[serde(default, alias = "passageProvenance", deserialize_with = "or_default")]
    passage_provenance: Vec<PassageObject>,
    #[serde(default, alias = "ptkbProvenance", deserialize_with = "or_default")]
    ptkb_provenance: Vec<AnyStatement>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct PassageObject {
    #[serde(default, deserialize_with = "or_default")]
    id: String,
    #[serde(default, deserialize_with = "or_default")]
    text: String,
    #[serde(default, deserialize_with = "or_default")]
    score: SinglePrecision,
    #[serde(default, deserialize_with = "or_default")]
    used: bool,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Statement {
    #[serde(default, deserialize_with = "or_default")]
    id: String,
    #[serde(default, deserialize_with = "or_default")]
    text: String,
    #[serde(default, deserialize_with = "or_default")]
    score: SinglePrecision,
}

/// Reads `null` as the default.
fn or_default<'de, D: Deserializer<'de>, T: Deserialize<'de> + Default>(
    deserializer: D,
) -> Result<T, D::Error> {
    Ok(Option::deserialize(deserializer)?.unwrap_or_default())
}

/// A statement: an object in 2023, its number in 2024.
enum AnyStatement {
    Object(Statement),
    Number(i32),
}

impl<'de> Deserialize<'de> for AnyStatement {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(StatementVisitor)
    }
}

struct StatementVisitor;

impl<'de> Visitor<'de> for StatementVisitor {
    type Value = AnyStatement;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a statement as an object (2023) or as its number (2024)")
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<AnyStatement, A::Error> {
        Statement::deserialize(MapAccessDeserializer::new(map)).map(AnyStatement::Object)
    }

    fn visit_i64<E: Error>(self, number: i64) -> Result<AnyStatement, E> {
        statement_number(number.into_deserializer())
    }

    fn visit_u64<E: Error>(self, number: u64) -> Result<AnyStatement, E> {
        statement_number(number.into_deserializer())
    }

    fn visit_f64<E: Error>(self, number: f64) -> Result<AnyStatement, E> {
        statement_number(number.into_deserializer())
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<AnyStatement, E> {
        statement_number(text.into_deserializer())
    }
}

fn statement_number<'de, D: Deserializer<'de>>(number: D) -> Result<AnyStatement, D::Error> {
    Int32::deserialize(number).map(|number| AnyStatement::Number(number.0))
}

/// A whole number of 32 bits, which may be written as a float or as a text.
#[derive(Default)]
struct Int32(i32);

impl<'de> Deserialize<'de> for Int32 {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let expected = "a whole number of at most 32 bits";
        TextOrNumber::convert(deserializer, expected, int32).map(Self)
    }
}

fn int32(value: &TextOrNumber) -> Option<i32> {
    match value {
        TextOrNumber::Text(text) => text.parse().ok(),
        TextOrNumber::Whole(number) => i32::try_from(*number).ok(),
        TextOrNumber::Large(_) => None,
        TextOrNumber::Float(number) => {
            let is_whole = number.fract() == 0.0 && number.abs() <= f64::from(i32::MAX);
            is_whole.then_some(*number as i32)
        }
    }
}

/// A number in single precision, which may be written as a text.
#[derive(Default)]
struct SinglePrecision(f64);

impl<'de> Deserialize<'de> for SinglePrecision {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let expected = "a number in the range of single precision";
        TextOrNumber::convert(deserializer, expected, single_precision).map(Self)
    }
}

fn single_precision(value: &TextOrNumber) -> Option<f64> {
    let number = match value {
        TextOrNumber::Text(text) => text.parse().ok()?,
        TextOrNumber::Whole(number) => *number as f64,
        TextOrNumber::Large(number) => *number as f64,
        TextOrNumber::Float(number) => *number,
    };
    let is_in_range = number.is_finite() && number.abs() <= f64::from(f32::MAX);
    is_in_range.then_some(f64::from(number as f32))
}

/// Reads a run. Without a year, a run whose statements are objects is one of 2023, and any other
/// one of 2024.
pub(super) fn read(input: &FileContent, year: Option<Year>, sink: Sink) -> Submission {
    let run: RunObject = match parse_json(&*input.name, &input.bytes) {
        Ok(run) => run,
        Err(problem) => {
            sink(problem.hint(hint_of(input, FORM)));
            return Submission { year: year.unwrap_or(Year::Y2024), ..Submission::default() };
        }
    };
    let year = year.unwrap_or_else(|| year_of(&run));
    if year == Year::Y2023 && run.eval_response.is_some() {
        let expected = "the fields run_name, run_type and turns";
        let hint = "the official parser refuses every other field: remove it";
        sink(problem!(&*input.name, expected, "`eval_response`", hint));
    }
    let mut submission = Submission {
        year,
        run_name: run.run_name,
        run_type: run.run_type,
        eval_response: run.eval_response.unwrap_or_default(),
        ..Submission::default()
    };
    for turn in run.turns {
        match submitted_turn(turn, year, &input.name) {
            Ok(turn) => submission.turns.push(turn),
            Err(problem) => sink(problem),
        }
    }
    submission
}

fn year_of(run: &RunObject) -> Year {
    let mut responses = run.turns.iter().flat_map(|turn| &turn.responses);
    match responses.find_map(|response| response.ptkb_provenance.first()) {
        Some(AnyStatement::Object(_)) => Year::Y2023,
        _ => Year::Y2024,
    }
}

fn submitted_turn(turn: TurnObject, year: Year, file: &str) -> Result<SubmittedTurn, Problem> {
    let mut responses = Vec::with_capacity(turn.responses.len());
    for response in turn.responses {
        let mut passages = Vec::with_capacity(response.passage_provenance.len());
        for passage in response.passage_provenance {
            let PassageObject { id, text, score, used } = passage;
            passages.push(RankedPassage { id, text, score: score.0, used });
        }
        let mut statements = Vec::with_capacity(response.ptkb_provenance.len());
        for statement in response.ptkb_provenance {
            statements.push(ranked_statement(statement, year, &turn.turn_id, file)?);
        }
        responses.push(Response {
            rank: response.rank.0,
            text: response.text,
            passages,
            statements,
        });
    }
    Ok(SubmittedTurn { id: turn.turn_id, responses, ..SubmittedTurn::default() })
}

fn ranked_statement(
    statement: AnyStatement,
    year: Year,
    turn: &str,
    file: &str,
) -> Result<RankedStatement, Problem> {
    match (statement, year) {
        (AnyStatement::Object(Statement { id, text, score }), Year::Y2023) => {
            Ok(RankedStatement { id, text, score: score.0 })
        }
        (AnyStatement::Number(number), Year::Y2024) => {
            Ok(RankedStatement { id: number.to_string(), ..RankedStatement::default() })
        }
        (AnyStatement::Object(_), _) => {
            let expected = "statements as numbers, as in 2024";
            Err(problem!(file, expected, "an object in turn {turn}", FORM))
        }
        (AnyStatement::Number(number), _) => {
            let expected = "statements as objects of id, text and score, as in 2023";
            Err(problem!(file, expected, "the number {number} in turn {turn}", FORM))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn turn(json: &str) -> Result<TurnObject, String> {
        serde_json::from_str(json).map_err(|error| error.to_string())
    }

    fn passage(json: &str) -> Option<(f64, bool)> {
        let passage: PassageObject = serde_json::from_str(json).ok()?;
        Some((passage.score.0, passage.used))
    }

    fn rank(json: &str) -> Option<i32> {
        let response: AnyResponse = serde_json::from_str(&format!("{{\"rank\": {json}}}")).ok()?;
        Some(response.rank.0)
    }

    #[test]
    fn fields_may_be_missing_null_or_in_camel_case() {
        assert_eq!(turn(r#"{"turnId": "9-1_1"}"#).unwrap().turn_id, "9-1_1");
        assert_eq!(turn("{}").unwrap().turn_id, "");
        assert!(turn(r#"{"turn_id": null, "responses": null}"#).unwrap().responses.is_empty());
        assert!(turn(r#"{"TURN_ID": "9-1_1"}"#).is_err());
        assert!(turn(r#"{"turn_id": 1}"#).is_err());
    }

    #[test]
    fn whole_numbers_may_be_floats_or_texts() {
        for (json, expected) in [
            ("1", Some(1)),
            ("1.0", Some(1)),
            ("\"1\"", Some(1)),
            ("null", Some(0)),
            ("-1", Some(-1)),
            ("1.5", None),
            ("\"x\"", None),
            ("true", None),
            ("2147483648", None),
        ] {
            assert_eq!(rank(json), expected, "{json}");
        }
    }

    #[test]
    fn scores_are_in_single_precision() {
        assert_eq!(passage(r#"{"score": 0.1}"#), Some((0.100_000_001_490_116_12, false)));
        assert_eq!(passage(r#"{"score": "3.5", "used": true}"#), Some((3.5, true)));
        for json in [r#"{"score": 1e39}"#, r#"{"score": "abc"}"#, r#"{"used": "true"}"#] {
            assert_eq!(passage(json), None, "{json}");
        }
    }
}
