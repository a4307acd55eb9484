//! JSON with the line of every value, read as Python's `json` module reads it.
//!
//! The released files are read by Python programs, whose verdicts a validator has to repeat: `NaN`
//! and `Infinity` are numbers, of a repeated key the last value counts, and `1` and `1.0` are
//! different. Numbers keep their text for that reason. One thing is stricter than there: half of a
//! surrogate pair is an error, because it is no text.

mod parser;

use clariq_core::{Location, Problem, ProblemKind};
use clariq_files::Input;
use clariq_files::table::{Sink, not_utf8, shorten};
use parser::Parser;
use std::borrow::Cow;

/// A value and where it begins.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Node<'a> {
    /// The line in its file, counted from 1.
    pub(crate) line: u64,
    /// What it is.
    pub(crate) value: Value<'a>,
}

/// A JSON value.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Value<'a> {
    Null,
    Bool(bool),
    /// As it is written.
    Number(&'a str),
    Text(Cow<'a, str>),
    List(Vec<Node<'a>>),
    /// Every key once, in the order of their first appearance.
    Object(Vec<(Cow<'a, str>, Node<'a>)>),
}

impl<'a> Node<'a> {
    /// The text, if it is one.
    pub(crate) fn text(&self) -> Option<&str> {
        match &self.value {
            Value::Text(text) => Some(text),
            _ => None,
        }
    }

    /// The items, if it is a list.
    pub(crate) fn list(&self) -> Option<&[Node<'a>]> {
        match &self.value {
            Value::List(items) => Some(items),
            _ => None,
        }
    }

    /// The keys and values, if it is an object.
    pub(crate) fn object(&self) -> Option<&[(Cow<'a, str>, Node<'a>)]> {
        match &self.value {
            Value::Object(fields) => Some(fields),
            _ => None,
        }
    }

    /// The whole number, if it is written as one.
    pub(crate) fn integer(&self) -> Option<i64> {
        match self.value {
            Value::Number(text) => text.parse().ok(),
            _ => None,
        }
    }

    /// The number, if it is one.
    pub(crate) fn number(&self) -> Option<f64> {
        match self.value {
            Value::Number(text) => number(text),
            _ => None,
        }
    }

    /// The value of a key; `None` also for what is no object.
    pub(crate) fn get(&self, key: &str) -> Option<&Node<'a>> {
        self.object()?.iter().find(|(name, _)| name == key).map(|(_, value)| value)
    }

    /// A short description for messages, with the value where that is short.
    pub(crate) fn describe(&self) -> String {
        match &self.value {
            Value::Null => "null".to_owned(),
            Value::Bool(value) => value.to_string(),
            Value::Number(text) => format!("the number {}", shorten(text)),
            Value::Text(text) => format!("the text `{}`", shorten(text)),
            Value::List(items) => format!("a list of {}", items.len()),
            Value::Object(fields) => format!("an object with {} keys", fields.len()),
        }
    }

    /// The problem that something else than this was expected.
    pub(crate) fn unlike(&self, file: &str, expected: impl Into<String>) -> Problem {
        self.problem(file, ProblemKind::WrongValue, expected, self.describe())
    }

    /// A problem at this value.
    pub(crate) fn problem(
        &self,
        file: &str,
        kind: ProblemKind,
        expected: impl Into<String>,
        found: impl Into<String>,
    ) -> Problem {
        Problem::new(Location::line(file, self.line), kind, expected, found)
    }
}

/// A number of JSON in double precision, rounded as Python rounds it.
pub(crate) fn number(text: &str) -> Option<f64> {
    match text {
        "NaN" => Some(f64::NAN),
        "Infinity" => Some(f64::INFINITY),
        "-Infinity" => Some(f64::NEG_INFINITY),
        _ => text.parse().ok(),
    }
}

/// Reads a file that is one JSON value.
pub(crate) fn parse(input: &Input) -> Result<Node<'_>, Box<Problem>> {
    parse_text(&input.name, 1, text(input)?)
}

/// Reads one JSON value that begins on `line` of a file.
pub(crate) fn parse_text<'a>(
    file: &str,
    line: u64,
    text: &'a str,
) -> Result<Node<'a>, Box<Problem>> {
    Parser::new(text, line).document().map_err(|fault| {
        let at = Location::line(file, fault.line);
        let problem = Problem::new(at, ProblemKind::Json, fault.expected, fault.found);
        Box::new(problem.hint("`python3 -m json.tool FILE` shows the same place"))
    })
}

/// Calls `each` with the value of every line that is not blank; a line that is no JSON goes to
/// `sink`.
pub(crate) fn for_each_line<'a>(
    input: &'a Input,
    sink: Sink,
    mut each: impl FnMut(u64, Node<'a>, Sink),
) {
    let text = match text(input) {
        Ok(text) => text,
        Err(problem) => return sink(*problem),
    };
    for (number, line) in (1..).zip(text.split('\n')) {
        let line = line.trim();
        if line.is_empty() {
            continue;
        }
        match parse_text(&input.name, number, line) {
            Ok(node) => each(number, node, sink),
            Err(problem) => sink(*problem),
        }
    }
}

fn text(input: &Input) -> Result<&str, Box<Problem>> {
    str::from_utf8(&input.bytes).map_err(|error| {
        let (before, rest) = input.bytes.split_at(error.valid_up_to());
        let line = before.split(|&byte| byte == b'\n').count() as u64;
        let rest = rest.split(|&byte| byte == b'\n').next().unwrap_or_default();
        Box::new(not_utf8(Location::line(&input.name, line), "JSON", &rest[..rest.len().min(160)]))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn read(text: &str) -> Result<Node<'_>, Box<Problem>> {
        parse_text("a.json", 1, text)
    }

    #[test]
    fn every_value_has_its_line() {
        let node = read("{\n \"a\": [1,\n 2.0],\r\n\"b\": {\"c\": \"\\u00e9\\n\"}}\n").unwrap();
        let items = node.get("a").unwrap().list().unwrap();
        assert_eq!(items.iter().map(|item| item.line).collect::<Vec<_>>(), [2, 3]);
        assert_eq!((items[0].integer(), items[1].integer()), (Some(1), None));
        let inner = node.get("b").unwrap().get("c").unwrap();
        assert_eq!((inner.text(), inner.line), (Some("é\n"), 4));
    }

    #[test]
    fn the_last_of_equal_keys_counts() {
        let node = read(r#"{"a": 1, "b": 2, "a": 3}"#).unwrap();
        let fields: Vec<_> = node.object().unwrap().iter().map(|(key, _)| key.as_ref()).collect();
        assert_eq!(fields, ["a", "b"]);
        assert_eq!(node.get("a").unwrap().integer(), Some(3));
    }

    #[test]
    fn faults_name_their_line() {
        for (text, line) in [
            ("", 1),
            ("[1,\n2", 2),
            ("[1,\n]", 2),
            ("{\"a\" 1}", 1),
            ("\n\n{'a': 1}", 3),
            ("[1] 2", 1),
            ("[01]", 1),
            ("\"\t\"", 1),
            ("\"\\ud800\"", 1),
            ("[True]", 1),
            ("-", 1),
            ("1.", 1),
        ] {
            assert_eq!(read(text).unwrap_err().at.line, Some(line), "{text}");
        }
        assert!(read(&"[".repeat(100_000)).is_err());
    }

    #[test]
    fn python_reads_numbers_that_json_does_not_have() {
        let node = read("[NaN, -Infinity, 1e999, 0.1]").unwrap();
        let numbers: Vec<_> =
            node.list().unwrap().iter().map(|item| item.number().unwrap()).collect();
        assert!(numbers[0].is_nan());
        assert_eq!(numbers[1..], [f64::NEG_INFINITY, f64::INFINITY, 0.1]);
    }

    fn json() -> impl Strategy<Value = serde_json::Value> {
        let leaf = prop_oneof![
            Just(serde_json::Value::Null),
            any::<bool>().prop_map(Into::into),
            any::<i64>().prop_map(Into::into),
            (-1e9..1e9).prop_map(|number: f64| number.into()),
            any::<String>().prop_map(Into::into),
        ];
        leaf.prop_recursive(4, 40, 6, |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..6).prop_map(Into::into),
                prop::collection::vec((any::<String>(), inner), 0..30).prop_map(|fields| fields
                    .into_iter()
                    .collect::<serde_json::Map<_, _>>()
                    .into()),
            ]
        })
    }

    fn same(node: &Node, value: &serde_json::Value) -> bool {
        match (&node.value, value) {
            (Value::Null, serde_json::Value::Null) => true,
            (Value::Bool(a), serde_json::Value::Bool(b)) => a == b,
            (Value::Number(text), serde_json::Value::Number(b)) => number(text) == b.as_f64(),
            (Value::Text(a), serde_json::Value::String(b)) => a == b,
            (Value::List(a), serde_json::Value::Array(b)) => {
                a.len() == b.len() && a.iter().zip(b).all(|(a, b)| same(a, b))
            }
            (Value::Object(a), serde_json::Value::Object(b)) => {
                a.len() == b.len()
                    && a.iter().all(|(key, a)| b.get(key.as_ref()).is_some_and(|b| same(a, b)))
            }
            _ => false,
        }
    }

    proptest! {
        #[test]
        fn what_serde_json_writes_is_read(value in json(), pretty in any::<bool>()) {
            let text = if pretty {
                serde_json::to_string_pretty(&value).unwrap()
            } else {
                value.to_string()
            };
            prop_assert!(same(&read(&text).unwrap(), &value), "{}", text);
        }

        #[test]
        fn it_accepts_what_serde_json_accepts(text in r#"[\[\]{}:," 0-9.eE+\\un\-a-ctrlfs\n]{0,24}"#) {
            // serde_json refuses numbers beyond double precision, which Python reads as infinite.
            if serde_json::from_str::<serde_json::Value>(&text).is_ok() {
                prop_assert!(read(&text).is_ok(), "{}", text);
            }
        }
    }
}
