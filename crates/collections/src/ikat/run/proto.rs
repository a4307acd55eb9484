//! Values by the rules of proto3's JSON form, as the Python package `protobuf` reads them (measured
//! with 7.36).
//!
//! Fields have a name with underscores or in camelCase; any other key is an error. `null` is the
//! default value, except as an item of a list. Numbers may be written as text, and whole numbers as
//! floats. An empty list or text in place of a message is a message without fields, because the
//! parser only walks over its keys.

use crate::json::{self, Fault, Node, Parsed, Value};
use clariq_core::is_python_space;
use clariq_files::shorten;

/// The hint of every fault but those that have their own.
pub(super) const FORM: &str = "see the run formats in the guidelines of that year";

/// A message: the values of its fields in the order of the file.
pub(super) struct Message<'n, 'a> {
    fields: Vec<(&'static str, &'n Node<'a>)>,
}

impl<'n, 'a> Message<'n, 'a> {
    /// Reads a message whose fields have these names, with underscores.
    pub(super) fn read(node: &'n Node<'a>, names: &[&'static str]) -> Parsed<Self> {
        let mut message = Self { fields: Vec::new() };
        let keys = match &node.value {
            Value::Object(keys) => keys,
            Value::List(items) if items.is_empty() => return Ok(message),
            Value::Text(text) if text.is_empty() => return Ok(message),
            _ => return Err(node.unlike("an object")),
        };
        for (key, value) in keys {
            // The other spelling is made only for a key that needs it: a run may have a million.
            let exactly = names.iter().find(|name| **name == key);
            let Some(&name) =
                exactly.or_else(|| names.iter().find(|name| camel_case(name) == *key))
            else {
                let expected = format!("one of the fields {}", names.join(", "));
                let found = format!("`{}`", shorten(key));
                let fault = value.fault(expected, found);
                return Err(fault.hint("the official parser refuses every other key: remove it"));
            };
            message.fields.push((name, value));
        }
        Ok(message)
    }

    pub(super) fn text(&self, name: &str) -> Parsed<String> {
        self.last(name, |node| Ok(node.as_text(name)?.to_owned()))
    }

    pub(super) fn boolean(&self, name: &str) -> Parsed<bool> {
        self.last(name, |node| match node.value {
            Value::Bool(value) => Ok(value),
            _ => Err(unlike(node, name, "true or false, without quotes")),
        })
    }

    pub(super) fn int32(&self, name: &str) -> Parsed<i32> {
        self.last(name, |node| int32(name, node))
    }

    /// A number in single precision.
    pub(super) fn float(&self, name: &str) -> Parsed<f64> {
        self.last(name, |node| {
            let number = match &node.value {
                Value::Number(text) => float(text),
                Value::Text(text) => float_of_text(text),
                Value::Bool(value) => Some(f64::from(u8::from(*value))),
                _ => None,
            };
            let expected = "a number in the range of single precision";
            let number = number.ok_or_else(|| unlike(node, name, expected))?;
            Ok(f64::from(number as f32))
        })
    }

    /// The items of a repeated field, none of which may be null.
    pub(super) fn list(&self, name: &str) -> Parsed<&'n [Node<'a>]> {
        self.last(name, |node| items(name, node))
    }

    /// The items of a repeated field, each read by `read`.
    pub(super) fn repeated<T>(
        &self,
        name: &str,
        read: impl Fn(&'n Node<'a>) -> Parsed<T>,
    ) -> Parsed<Vec<T>> {
        self.last(name, |node| items(name, node)?.iter().map(&read).collect())
    }

    /// Of two spellings of one name the later one counts, even if it is null, and both have to be
    /// sound.
    fn last<T: Default>(&self, name: &str, read: impl Fn(&'n Node<'a>) -> Parsed<T>) -> Parsed<T> {
        let mut last = T::default();
        for (_, node) in self.fields.iter().filter(|(known, _)| *known == name) {
            last = if node.value == Value::Null { T::default() } else { read(node)? };
        }
        Ok(last)
    }
}

fn items<'n, 'a>(name: &str, node: &'n Node<'a>) -> Parsed<&'n [Node<'a>]> {
    let items = node.as_list(name)?;
    match items.iter().find(|item| item.value == Value::Null) {
        Some(item) => Err(unlike(item, name, "items that are not null")),
        None => Ok(items),
    }
}

fn unlike(node: &Node, name: &str, expected: &str) -> Fault {
    node.unlike(format!("`{name}` as {expected}"))
}

/// A whole number from −2³¹ to 2³¹ − 1.
pub(super) fn int32(name: &str, node: &Node) -> Parsed<i32> {
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
    let number = number.and_then(|number: i64| i32::try_from(number).ok());
    number.ok_or_else(|| unlike(node, name, "a whole number of at most 32 bits"))
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
    let text = text.trim_matches(is_python_space);
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

#[cfg(test)]
mod tests {
    use super::*;

    const NAMES: &[&str] = &["rank", "score", "used", "turn_id", "list"];

    fn with<T>(text: &str, read: impl FnOnce(&Message) -> Parsed<T>) -> Option<T> {
        let node = json::parse_text(1, text).unwrap();
        read(&Message::read(&node, NAMES).ok()?).ok()
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
