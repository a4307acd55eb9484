//! Values by the rules of proto3's JSON form, as the Python package `protobuf` reads them (measured
//! with 7.36).
//!
//! Fields have a name with underscores or in camelCase; any other key is an error. `null` is the
//! default value, except as an item of a list. Numbers may be written as text, and whole numbers as
//! floats. An empty list or text in place of a message is a message without fields, because the
//! parser only walks over its keys.

use crate::json::{self, Node, Value};
use clariq_core::{Problem, ProblemKind};
use clariq_files::table::shorten;

pub(super) type Fallible<T> = Result<T, Box<Problem>>;

const HINT: &str = "see the run formats in the guidelines of that year";

/// A message: the values of its fields in the order of the file.
pub(super) struct Message<'n, 'a> {
    file: &'n str,
    fields: Vec<(&'static str, &'n Node<'a>)>,
}

impl<'n, 'a> Message<'n, 'a> {
    /// Reads a message whose fields have these names, with underscores.
    pub(super) fn read(
        file: &'n str,
        node: &'n Node<'a>,
        names: &[&'static str],
    ) -> Fallible<Self> {
        let mut message = Self { file, fields: Vec::new() };
        let keys = match &node.value {
            Value::Object(keys) => keys,
            Value::List(items) if items.is_empty() => return Ok(message),
            Value::Text(text) if text.is_empty() => return Ok(message),
            _ => return Err(Box::new(unlike(file, node, "an object"))),
        };
        for (key, value) in keys {
            // The other spelling is made only for a key that needs it: a run may have a million.
            let exactly = names.iter().find(|name| **name == key);
            let Some(&name) =
                exactly.or_else(|| names.iter().find(|name| camel_case(name) == *key))
            else {
                let expected = format!("one of the fields {}", names.join(", "));
                let found = format!("`{}`", shorten(key));
                let problem = value.problem(file, ProblemKind::WrongValue, expected, found);
                return Err(Box::new(
                    problem.hint("the official parser refuses every other key: remove it"),
                ));
            };
            message.fields.push((name, value));
        }
        Ok(message)
    }

    pub(super) fn text(&self, name: &str) -> Fallible<String> {
        self.last(name, |node| {
            let text = node.text().ok_or_else(|| Box::new(self.field(name, node, "a text")))?;
            Ok(text.to_owned())
        })
    }

    pub(super) fn boolean(&self, name: &str) -> Fallible<bool> {
        self.last(name, |node| match node.value {
            Value::Bool(value) => Ok(value),
            _ => Err(Box::new(self.field(name, node, "true or false, without quotes"))),
        })
    }

    pub(super) fn int32(&self, name: &str) -> Fallible<i32> {
        self.last(name, |node| int32(self.file, name, node))
    }

    /// A number in single precision.
    pub(super) fn float(&self, name: &str) -> Fallible<f64> {
        self.last(name, |node| {
            let number = match &node.value {
                Value::Number(text) => float(text),
                Value::Text(text) => float_of_text(text),
                Value::Bool(value) => Some(f64::from(u8::from(*value))),
                _ => None,
            };
            let expected = "a number in the range of single precision";
            let number = number.ok_or_else(|| Box::new(self.field(name, node, expected)))?;
            Ok(f64::from(number as f32))
        })
    }

    /// The items of a repeated field, none of which may be null.
    pub(super) fn list(&self, name: &str) -> Fallible<&'n [Node<'a>]> {
        self.last(name, |node| self.items(name, node))
    }

    /// The items of a repeated field, each read by `read`.
    pub(super) fn repeated<T>(
        &self,
        name: &str,
        read: impl Fn(&'n Node<'a>) -> Fallible<T>,
    ) -> Fallible<Vec<T>> {
        self.last(name, |node| self.items(name, node)?.iter().map(&read).collect())
    }

    fn items(&self, name: &str, node: &'n Node<'a>) -> Fallible<&'n [Node<'a>]> {
        let items = node.list().ok_or_else(|| Box::new(self.field(name, node, "a list")))?;
        match items.iter().find(|item| item.value == Value::Null) {
            Some(item) => Err(Box::new(self.field(name, item, "items that are not null"))),
            None => Ok(items),
        }
    }

    /// Of two spellings of one name the later one counts, even if it is null, and both have to be
    /// sound.
    fn last<T: Default>(
        &self,
        name: &str,
        read: impl Fn(&'n Node<'a>) -> Fallible<T>,
    ) -> Fallible<T> {
        let mut last = T::default();
        for (_, node) in self.fields.iter().filter(|(known, _)| *known == name) {
            last = if node.value == Value::Null { T::default() } else { read(node)? };
        }
        Ok(last)
    }

    fn field(&self, name: &str, node: &Node, expected: &str) -> Problem {
        unlike(self.file, node, format!("`{name}` as {expected}"))
    }
}

/// A whole number from −2³¹ to 2³¹ − 1.
pub(super) fn int32(file: &str, name: &str, node: &Node) -> Fallible<i32> {
    let number = match &node.value {
        Value::Number(text) => text.parse().ok().or_else(|| whole(json::number(text)?)),
        Value::Text(text) => {
            let blanks = text.contains(' ');
            python_number(text)
                .filter(|_| !blanks)
                .and_then(|text| text.parse().ok().or_else(|| whole(text.parse().ok()?)))
        }
        _ => None,
    };
    number.and_then(|number: i64| i32::try_from(number).ok()).ok_or_else(|| {
        Box::new(unlike(file, node, format!("`{name}` as a whole number of at most 32 bits")))
    })
}

fn whole(number: f64) -> Option<i64> {
    let fits = number.fract() == 0.0 && number.abs() <= f64::from(u32::MAX);
    fits.then_some(number as i64)
}

/// A number that is not in quotes: floats are checked against the range of single precision, whole
/// numbers are not, and those beyond double precision cannot be read at all.
fn float(text: &str) -> Option<f64> {
    let is_float = text.contains(['.', 'e', 'E', 'N', 'I']);
    let number = json::number(text)?;
    let fits = number.is_finite() && number.abs() <= f64::from(f32::MAX);
    if is_float {
        return fits.then_some(number);
    }
    // Python's whole numbers have no negative zero.
    number.is_finite().then_some(number + 0.0)
}

fn float_of_text(text: &str) -> Option<f64> {
    if text == "nan" {
        return None;
    }
    python_number(text)?.parse().ok()
}

/// The text of a number without what Python allows around and inside it: blanks, and `_` between
/// digits.
fn python_number(text: &str) -> Option<String> {
    let is_blank = |c: char| c.is_whitespace() || ('\u{1c}'..='\u{1f}').contains(&c);
    let text = text.trim_matches(is_blank);
    let bytes = text.as_bytes();
    let is_digit = |index: Option<usize>| {
        index.and_then(|index| bytes.get(index)).is_some_and(u8::is_ascii_digit)
    };
    let between_digits =
        |(index, _): (usize, _)| is_digit(index.checked_sub(1)) && is_digit(Some(index + 1));
    text.match_indices('_').all(between_digits).then(|| text.replace('_', ""))
}

/// `turn_id` → `turnId`.
fn camel_case(name: &str) -> String {
    let mut words = name.split('_');
    let first = words.next().unwrap_or_default().to_owned();
    words.fold(first, |mut name, word| {
        let (head, tail) = word.split_at(1.min(word.len()));
        name += &head.to_ascii_uppercase();
        name + tail
    })
}

fn unlike(file: &str, node: &Node, expected: impl Into<String>) -> Problem {
    node.unlike(file, expected).hint(HINT)
}

#[cfg(test)]
mod tests {
    use super::*;

    const NAMES: &[&str] = &["rank", "score", "used", "turn_id", "list"];

    fn with<T>(text: &str, read: impl FnOnce(&Message) -> Fallible<T>) -> Option<T> {
        let node = json::parse_text("run.json", 1, text).unwrap();
        read(&Message::read("run.json", &node, NAMES).ok()?).ok()
    }

    /// Every outcome is one of the Python package.
    #[test]
    fn whole_numbers_are_read_as_the_package_reads_them() {
        for (text, number) in [
            ("1", Some(1)),
            ("1.0", Some(1)),
            ("-0.0", Some(0)),
            ("1e2", Some(100)),
            ("1.5", None),
            ("true", None),
            ("\"1\"", Some(1)),
            ("\"1.0\"", Some(1)),
            ("\" 1\"", None),
            ("\"1\\n\"", Some(1)),
            ("\"1_0\"", Some(10)),
            ("\"+1\"", Some(1)),
            ("\"1e2\"", Some(100)),
            ("\"x\"", None),
            ("\"\"", None),
            ("null", Some(0)),
            ("[]", None),
            ("{}", None),
            ("2147483647", Some(i32::MAX)),
            ("2147483648", None),
            ("1e10", None),
            ("NaN", None),
            ("\"inf\"", None),
            ("\"-2147483648\"", Some(i32::MIN)),
            ("-2147483649", None),
            ("1e400", None),
            ("\"1.\"", Some(1)),
        ] {
            let read = with(&format!("{{\"rank\": {text}}}"), |message| message.int32("rank"));
            assert_eq!(read, number, "{text}");
        }
    }

    #[test]
    fn scores_are_read_as_the_package_reads_them() {
        let long = |zeros: usize| format!("1{}", "0".repeat(zeros));
        for (text, number) in [
            ("1", Some(1.0)),
            ("0.1", Some(0.100_000_001_490_116_12)),
            ("1e39", None),
            ("-1e39", None),
            ("3.4028234663852886e+38", Some(f64::from(f32::MAX))),
            ("3.4028235e38", None),
            ("\"1e39\"", Some(f64::INFINITY)),
            ("true", Some(1.0)),
            ("\"nan\"", None),
            ("\"-Infinity\"", Some(f64::NEG_INFINITY)),
            ("\"INF\"", Some(f64::INFINITY)),
            ("\"1_0\"", Some(10.0)),
            ("\" 1 \"", Some(1.0)),
            ("\"\"", None),
            ("\"1__0\"", None),
            ("null", Some(0.0)),
            ("NaN", None),
            ("Infinity", None),
            ("[]", None),
            ("\"0x10\"", None),
            ("\"1e400\"", Some(f64::INFINITY)),
            ("\"+.5\"", Some(0.5)),
            ("\"5.\"", Some(5.0)),
            (&long(39), Some(f64::INFINITY)),
            (&long(400), None),
        ] {
            let read = with(&format!("{{\"score\": {text}}}"), |message| message.float("score"));
            assert_eq!(read, number, "{text}");
        }
        for (text, negative) in [("-0", false), ("-0.0", true), ("\"-0\"", true)] {
            let read = with(&format!("{{\"score\": {text}}}"), |message| message.float("score"));
            assert_eq!(read.map(f64::is_sign_negative), Some(negative), "{text}");
        }
        for text in ["\"NaN\"", "\"-nan\""] {
            let read = with(&format!("{{\"score\": {text}}}"), |message| message.float("score"));
            assert!(read.unwrap().is_nan(), "{text}");
        }
    }

    #[test]
    fn names_may_be_in_camel_case_and_the_later_one_counts() {
        let turn = |text: &str| with(text, |message| message.text("turn_id"));
        assert_eq!(turn(r#"{"turnId": "a"}"#).as_deref(), Some("a"));
        assert_eq!(turn(r#"{"turn_id": "a", "turnId": "b"}"#).as_deref(), Some("b"));
        assert_eq!(turn(r#"{"turn_id": "a", "turnId": null}"#).as_deref(), Some(""));
        assert_eq!(turn(r#"{"turnId": 1, "turn_id": "a"}"#), None);
        assert_eq!(turn(r#"{"TURN_ID": "a"}"#), None);
        assert_eq!(turn(r#"{"turn_id": 1}"#), None);
        for text in ["{}", "[]", "\"\""] {
            assert_eq!(turn(text).as_deref(), Some(""), "{text}");
        }
        for text in ["[1]", "\"a\"", "1", "true"] {
            assert_eq!(turn(text), None, "{text}");
        }
    }

    #[test]
    fn lists_hold_no_null() {
        let count = |text: &str| with(text, |message| message.list("list").map(<[Node]>::len));
        assert_eq!(count(r#"{"list": [1, 2]}"#), Some(2));
        assert_eq!(count(r#"{"list": null}"#), Some(0));
        assert_eq!(count(r#"{"list": [null]}"#), None);
        assert_eq!(count(r#"{"list": {}}"#), None);
    }
}
