//! JSON with the line of every value, read as Python's `json` module reads it.
//!
//! The released files are read by Python programs, whose verdicts a validator has to repeat: `NaN`
//! and `Infinity` are numbers, of a repeated key the last value counts, and `1` and `1.0` are
//! different. Numbers keep their text for that reason. One thing is stricter than there: half of a
//! surrogate pair is an error, because it is no text.

mod parser;

use clariq_core::{Problem, problem};
use clariq_files::{
    Input, MOST_LINES, Sink, has_few_lines, not_utf8, shorten, until_too_many_errors,
};
use parser::Parser;
use std::borrow::Cow;
use std::ops::ControlFlow;

/// JSON values that topics, a pool or a line may have: twenty times what any has.
pub(crate) const MOST_VALUES: usize = 1 << 18;
/// Turns that a conversation may have.
const MOST_TURNS: usize = 200;
/// JSON values that a run may have: a thousand passages for each of six hundred turns.
pub(crate) const MOST_VALUES_OF_A_RUN: usize = 3 << 20;

/// What a value should be and is not, with its line.
#[derive(Debug)]
pub(crate) struct Fault {
    line: u64,
    pub(crate) expected: String,
    pub(crate) found: String,
    /// How to correct it, where the format as a whole does not say so.
    hint: Option<&'static str>,
}

impl Fault {
    /// This fault with a hint of its own.
    pub(crate) fn hint(self, hint: &'static str) -> Self {
        Self { hint: Some(hint), ..self }
    }

    /// The problem of a file. `form` is the hint where the fault has none: what the file holds.
    pub(crate) fn in_file(self, file: &str, form: &str) -> Problem {
        let Self { line, expected, found, hint } = self;
        problem!((file, line), expected, found, (hint.unwrap_or(form)))
    }
}

/// A part of a file, or the fault in its place.
pub(crate) type Parsed<T> = Result<T, Fault>;

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
    Object(Fields<'a>),
}

/// The keys and values of an object.
pub(crate) type Fields<'a> = Vec<(Cow<'a, str>, Node<'a>)>;

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

    /// The value of a key that must be there.
    pub(crate) fn field(&self, key: &str) -> Parsed<&Node<'a>> {
        self.get(key).ok_or_else(|| self.unlike(format!("a key `{key}`")))
    }

    /// The text of a key that must be there.
    pub(crate) fn text_of(&self, key: &str) -> Parsed<&str> {
        self.field(key)?.as_text(key)
    }

    /// The text of a key that may be missing.
    pub(crate) fn optional_text(&self, key: &str) -> Parsed<Option<&str>> {
        self.get(key).map(|value| value.as_text(key)).transpose()
    }

    /// The items of a key that must be there.
    pub(crate) fn list_of(&self, key: &str) -> Parsed<&[Node<'a>]> {
        self.field(key)?.as_list(key)
    }

    /// The items, which must be a list; `name` is for messages.
    pub(crate) fn as_list(&self, name: &str) -> Parsed<&[Node<'a>]> {
        self.list().ok_or_else(|| self.unlike(format!("`{name}` as a list")))
    }

    /// The text, which must be one.
    pub(crate) fn as_text(&self, name: &str) -> Parsed<&str> {
        self.text().ok_or_else(|| self.unlike(format!("`{name}` as a text")))
    }

    /// The id, which must be a text or a whole number.
    pub(crate) fn as_id(&self, name: &str) -> Parsed<String> {
        match self.integer() {
            Some(number) => Ok(number.to_string()),
            None => Ok(self.as_text(name)?.to_owned()),
        }
    }

    /// The name of a conversation or a turn under the key `number`: a whole number or a text, of
    /// which ids `<conversation>_<turn>` can be made.
    pub(crate) fn name(&self) -> Parsed<String> {
        let number = self.field("number")?;
        let name = match &number.value {
            Value::Number(text) if number.integer().is_some() => (*text).to_owned(),
            Value::Text(text) => text.to_string(),
            _ => return Err(number.unlike("a number such as `9-1` or 3")),
        };
        if name.is_empty() || name.contains(|c: char| c == '_' || c.is_whitespace()) {
            return Err(number.unlike("a number without blanks and without `_`"));
        }
        Ok(name)
    }

    /// Refuses a conversation of so many turns that what was said before each fills the memory.
    pub(crate) fn check_turns(&self, turns: &[Node]) -> Parsed<()> {
        if turns.len() <= MOST_TURNS {
            return Ok(());
        }
        let found = turns.len().to_string();
        Err(self.fault(format!("at most {MOST_TURNS} turns in a conversation"), found))
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

    /// The fault that something else than this value was expected.
    pub(crate) fn unlike(&self, expected: impl Into<String>) -> Fault {
        self.fault(expected, self.describe())
    }

    /// A fault at this value.
    pub(crate) fn fault(&self, expected: impl Into<String>, found: impl Into<String>) -> Fault {
        Fault { line: self.line, expected: expected.into(), found: found.into(), hint: None }
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

/// Reads one JSON value that begins on `line` of a file.
pub(crate) fn parse_text(line: u64, text: &str) -> Parsed<Node<'_>> {
    parse_at_most(MOST_VALUES, line, text).0
}

/// Reads one JSON value of at most `left`; also how many are left then.
fn parse_at_most(left: usize, line: u64, text: &str) -> (Parsed<Node<'_>>, usize) {
    const HINT: &str = "`python3 -m json.tool FILE` shows the same place";
    let mut parser = Parser::new(text, line, false, left);
    let node =
        parser.document().map_err(|fault| Fault { hint: fault.hint.or(Some(HINT)), ..fault });
    (node, parser.left())
}

/// Reads one JSON value of a line; a key that an object has twice is a fault.
pub(crate) fn parse_unique(text: &str) -> Parsed<Node<'_>> {
    Parser::new(text, 1, true, MOST_VALUES).document()
}

/// Reads a file that is one JSON value of at most so many; one that is not goes to `sink`.
pub(crate) fn parse<'a>(most: usize, input: &'a Input, sink: Sink) -> Option<Node<'a>> {
    let text = text(input).map_err(|problem| sink(*problem)).ok()?;
    parse_at_most(most, 1, text).0.map_err(|fault| sink(fault.in_file(&input.name, ""))).ok()
}

/// Reads a file that is a list of `items`; any other goes to `sink`.
pub(crate) fn parse_list<'a>(
    input: &'a Input,
    items: &str,
    form: &str,
    sink: Sink,
) -> Option<Vec<Node<'a>>> {
    let root = parse(MOST_VALUES, input, sink)?;
    if let Value::List(items) = root.value {
        return Some(items);
    }
    sink(root.unlike(format!("a list of {items}")).in_file(&input.name, form));
    None
}

/// Calls `each` with the value of every line that is not blank; a line that is no JSON goes to
/// `sink`. All lines together have at most [`MOST_VALUES_OF_A_RUN`].
pub(crate) fn for_each_line<'a>(
    input: &'a Input,
    sink: Sink,
    each: impl FnMut(u64, Node<'a>, Sink),
) {
    let mut left = MOST_VALUES_OF_A_RUN;
    let parse = |line, text| {
        let (node, after) = parse_at_most(left, line, text);
        left = after;
        node
    };
    for_each_line_as(input, parse, sink, each);
}

/// Calls `each` with what `parse` makes of every line that is not blank; its faults go to `sink`.
pub(crate) fn for_each_line_as<'a, T>(
    input: &'a Input,
    mut parse: impl FnMut(u64, &'a str) -> Parsed<T>,
    sink: Sink,
    mut each: impl FnMut(u64, T, Sink),
) {
    let text = match text(input) {
        Ok(text) if has_few_lines(input, MOST_LINES, sink) => text,
        Ok(_) => return,
        Err(problem) => return sink(*problem),
    };
    // Before they are trimmed: a packed file may have millions of empty lines.
    let lines = (1..).zip(text.split('\n')).filter(|(_, line)| !line.is_empty());
    let mut lines = lines.map(|(number, line)| (number, line.trim()));
    until_too_many_errors(&input.name, sink, |sink| {
        let Some((number, line)) = lines.next() else { return ControlFlow::Break(()) };
        if line.is_empty() {
            return ControlFlow::Continue(());
        }
        match parse(number, line) {
            Ok(parsed) => each(number, parsed, sink),
            Err(fault) => sink(fault.in_file(&input.name, "")),
        }
        ControlFlow::Continue(())
    });
}

fn text(input: &Input) -> Result<&str, Box<Problem>> {
    str::from_utf8(&input.bytes).map_err(|error| {
        let (before, rest) = input.bytes.split_at(error.valid_up_to());
        let line = before.split(|&byte| byte == b'\n').count() as u64;
        let rest = rest.split(|&byte| byte == b'\n').next().unwrap_or_default();
        Box::new(not_utf8((&*input.name, line), "line", &rest[..rest.len().min(160)]))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use clariq_files::MOST_ERRORS;
    use proptest::prelude::*;

    fn read(text: &str) -> Parsed<Node<'_>> {
        parse_text(1, text)
    }

    #[test]
    fn json_that_grows_is_refused_before_it_fills_the_memory() {
        let fault = read(&format!("[{}0]", "0,".repeat(MOST_VALUES))).unwrap_err();
        assert_eq!(fault.expected, parser::TOO_MANY);
        assert!(read(&format!("[{}0]", "0,".repeat(MOST_VALUES - 2))).is_ok());
        for (unit, most) in [("{}\n", MOST_VALUES_OF_A_RUN), ("[\n", 0)] {
            let bytes = unit.repeat(MOST_VALUES_OF_A_RUN + MOST_ERRORS + 9).into_bytes().into();
            let (mut count, mut problems) = (0, 0);
            let input = Input { name: "r".to_owned(), bytes };
            for_each_line(&input, &mut |_| problems += 1, |_, _, _| count += 1);
            assert_eq!((count, problems), (most, 9.max(MOST_ERRORS + 1)), "{unit}");
        }
    }

    #[test]
    fn topics_of_many_turns_or_values_are_refused_before_they_fill_the_memory() {
        let problems = |text: String| {
            let input = Input { name: "topics".to_owned(), bytes: text.into_bytes().into() };
            let mut found = Vec::new();
            crate::ikat::Topics::parse(&input, &mut |problem| found.push(problem.expected));
            found
        };
        let topics = |count: usize| {
            let turn = |number| {
                let text = r#""utterance": "a", "resolved_utterance": "a""#;
                format!(r#"{{"turn_id": {number}, {text}}}"#)
            };
            let turns = (1..=count).map(turn).collect::<Vec<_>>().join(", ");
            format!(r#"[{{"number": "1-1", "ptkb": {{}}, "turns": [{turns}]}}]"#)
        };
        assert_eq!(problems(topics(MOST_TURNS)), [""; 0]);
        assert_eq!(problems(topics(MOST_TURNS + 1)), ["at most 200 turns in a conversation"]);
        assert_eq!(problems(format!("[{}{{}}]", "{},".repeat(MOST_VALUES))), [parser::TOO_MANY]);
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
            assert_eq!(read(text).unwrap_err().line, line, "{text}");
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
