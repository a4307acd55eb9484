//! JSON, with the location of an error: its path (`turns[3].responses[0].rank`) and its line.

use crate::{Location, Problem};
use serde::de::{Deserialize, DeserializeOwned};
use serde_json::error::Category;
use std::borrow::Cow;

/// Parses a JSON text. If `at` has no line, a problem gets the line of serde, if there is one.
///
/// ```
/// let text = b"{\"turns\": [\n{\"rank\": \"1\"}]}";
/// #[derive(Debug, serde::Deserialize)]
/// struct Turn { rank: i64 }
/// #[derive(Debug, serde::Deserialize)]
/// struct Run { turns: Vec<Turn> }
///
/// let problem = clariq_core::parse_json::<Run>("a.json", text).unwrap_err();
/// assert_eq!(
///     problem.to_string(),
///     "a.json:2: expected a whole number at `turns[0].rank`, found string \"1\""
/// );
/// ```
pub fn parse_json<'de, T: Deserialize<'de>>(
    at: impl Into<Location>,
    text: &'de [u8],
) -> Result<T, Box<Problem>> {
    // Following the path takes twice the time, so it is only done after an error.
    serde_json::from_slice(text).or_else(|_| parse_with_path(at.into(), text).map_err(Box::new))
}

/// Parses a JSON text as [`parse_json`] does. Where Python's `json` wrote `NaN` or `Infinity`, which JSON
/// does not have, a value is missing, as by `null`.
pub fn parse_python_json<T: DeserializeOwned>(
    at: impl Into<Location>,
    text: &[u8],
) -> Result<T, Box<Problem>> {
    // Most texts have neither word, so they are looked for only after an error.
    serde_json::from_slice(text)
        .or_else(|_| parse_with_path(at.into(), &without_nan(text)).map_err(Box::new))
}

/// A JSON text without the words `NaN` and `Infinity`, outside of its texts; `null` is in their
/// place.
fn without_nan(text: &[u8]) -> Cow<'_, [u8]> {
    const WORDS: [&[u8]; 3] = [b"-Infinity", b"Infinity", b"NaN"];
    let has = |word: &[u8]| text.windows(word.len()).any(|found| found == word);
    if !has(b"NaN") && !has(b"Infinity") {
        return text.into();
    }
    let mut json = Vec::with_capacity(text.len());
    let mut rest = text;
    let mut in_text = false;
    while let [first, after @ ..] = rest {
        let word = WORDS.iter().find(|word| !in_text && rest.starts_with(word));
        if let Some(word) = word {
            json.extend(b"null");
            rest = &rest[word.len()..];
            continue;
        }
        json.push(*first);
        rest = after;
        if in_text && *first == b'\\' && !rest.is_empty() {
            json.push(rest[0]);
            rest = &rest[1..];
        } else if *first == b'"' {
            in_text = !in_text;
        }
    }
    json.into()
}

fn parse_with_path<'de, T: Deserialize<'de>>(at: Location, text: &'de [u8]) -> Result<T, Problem> {
    let mut deserializer = serde_json::Deserializer::from_slice(text);
    match serde_path_to_error::deserialize(&mut deserializer) {
        Ok(value) => match deserializer.end() {
            Ok(()) => Ok(value),
            Err(error) => Err(problem(at, "", text, &error)),
        },
        Err(error) => Err(problem(at, &error.path().to_string(), text, error.inner())),
    }
}

/// The problem of a message of serde about a value of another type: what a configuration calls a table is
/// an object in JSON.
pub fn problem_of_type(at: impl Into<Location>, message: &str) -> Problem {
    let mut problem = Problem::of_serde(at, message, "another value");
    for part in [&mut problem.expected, &mut problem.found] {
        if part == "a table" || part.starts_with("a table of") {
            "an object".clone_into(part);
        }
    }
    problem
}

fn problem(mut at: Location, path: &str, text: &[u8], error: &serde_json::Error) -> Problem {
    if at.line.is_none() && error.line() > 0 {
        at.line = Some(error.line() as u64);
    }
    let message = error.to_string();
    let message = message.rsplit_once(" at line ").map_or(&*message, |(message, _)| message);
    if error.classify() != Category::Data {
        let found = match text.trim_ascii() {
            [] => "nothing".to_owned(),
            _ => format!("a fault in column {}: {message}", error.column()),
        };
        return Problem::at(at, "JSON", found);
    }
    let mut problem = if let Some(field) = message.strip_prefix("missing field ") {
        Problem::at(at, format!("a field {field}"), "none")
    } else if let Some(field) = message.strip_prefix("duplicate field ") {
        Problem::at(at, format!("{field} once"), "it again")
    } else if message.contains(", expected ") {
        problem_of_type(at, message)
    } else {
        Problem::at(at, message, "another value")
    };
    if !matches!(path, "" | ".") {
        problem.expected = format!("{} at `{path}`", problem.expected);
    }
    problem
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashMap;

    #[derive(Debug, serde::Deserialize)]
    #[serde(deny_unknown_fields)]
    struct Turn {
        #[expect(dead_code, reason = "only faults are looked at")]
        rank: i64,
    }

    fn fault(text: &str) -> String {
        let turns = parse_json::<HashMap<String, Vec<Turn>>>("a.json", text.as_bytes());
        turns.unwrap_err().to_string()
    }

    #[test]
    fn faults_have_a_path_and_a_line() {
        for (text, expected) in [
            (
                "{\"a\":\n[{\"rank\": 1.5}]}",
                "a.json:2: expected a whole number at `a[0].rank`, found floating point `1.5`",
            ),
            ("{\"a\": [{}]}", "a.json:1: expected a field `rank` at `a[0]`, found none"),
            (
                "{\"a\": [{\"rnk\": 1}]}",
                "a.json:1: expected `rank` at `a[0].rnk`, found unknown field `rnk`",
            ),
            (
                "{\"a\": [{\"rank\": 1, \"rank\": 2}]}",
                "a.json:1: expected `rank` once at `a[0]`, found it again",
            ),
            ("{\"a\": 1}", "a.json:1: expected a list at `a`, found integer `1`"),
            ("[", "a.json:1: expected an object, found a list"),
            ("{\"a\": {}}", "a.json:1: expected a list at `a`, found an object"),
            ("\n", "a.json:2: expected JSON, found nothing"),
            ("turn,a", "a.json:1: expected JSON, found a fault in column 2: expected ident"),
            (
                "{\"a\":\n True}",
                "a.json:2: expected JSON, found a fault in column 2: expected value",
            ),
            (
                "{\"a\": []",
                "a.json:1: expected JSON, found a fault in column 8: EOF while parsing an object",
            ),
            (
                "{\"a\": []}\n{}",
                "a.json:2: expected JSON, found a fault in column 1: trailing characters",
            ),
            (
                "{'a': []}",
                "a.json:1: expected JSON, found a fault in column 2: key must be a string",
            ),
        ] {
            assert_eq!(fault(text), expected);
        }
    }

    #[test]
    fn a_line_that_is_known_stays() {
        let at = Location::line("a.jsonl", 7);
        assert_eq!(parse_json::<i64>(at, b"x").unwrap_err().at.line, Some(7));
    }

    #[test]
    fn words_of_python_are_null_outside_of_texts() {
        let line = br#"{"a": NaN, "b\"": "NaN \" NaN", "c": [-Infinity, Infinity]}"#;
        let json = without_nan(line);
        assert_eq!(
            str::from_utf8(&json).unwrap(),
            r#"{"a": null, "b\"": "NaN \" NaN", "c": [null, null]}"#
        );
        assert!(matches!(without_nan(b"{}"), Cow::Borrowed(_)));
        let read = |text: &str| parse_python_json::<Option<f64>>("a.json", text.as_bytes());
        assert_eq!((read("NaN"), read("2.5")), (Ok(None), Ok(Some(2.5))));
        assert_eq!(
            read("x").unwrap_err().to_string(),
            parse_json::<f64>("a.json", b"x").unwrap_err().to_string()
        );
    }
}
