//! The parser: recursive descent over a text, with a line counter.

use super::{Fault, Fields, Node, Parsed, Value};
use clariq_files::shorten;
use std::borrow::Cow;
use std::collections::{HashMap, HashSet};

/// Python gives up at about a thousand; no released file has more than seven.
const DEEPEST: usize = 128;

/// From so many keys on, repeated ones are looked for in a table.
const MANY_KEYS: usize = 16;

pub(super) const TOO_MANY: &str = "as many JSON values as a file of this kind may have";

pub(super) struct Parser<'a> {
    text: &'a str,
    position: usize,
    line: u64,
    depth: usize,
    /// Whether a key that is repeated in its object is a fault; else its last value counts.
    unique_keys: bool,
    /// How many values the text may still have.
    left: usize,
}

impl<'a> Parser<'a> {
    /// Begins at `line` of a file. A text of more than `left` values is a fault before they fill
    /// the memory: each takes many times the bytes that it is written in.
    pub(super) fn new(text: &'a str, line: u64, unique_keys: bool, left: usize) -> Self {
        Self { text, position: 0, line, depth: 0, unique_keys, left }
    }

    /// How many values the text could still have had.
    pub(super) fn left(&self) -> usize {
        self.left
    }

    /// The one value of the text.
    pub(super) fn document(&mut self) -> Parsed<Node<'a>> {
        let node = self.node()?;
        self.skip_blanks();
        match self.peek() {
            None => Ok(node),
            Some(_) => Err(self.fault("one JSON value and nothing after it")),
        }
    }

    fn node(&mut self) -> Parsed<Node<'a>> {
        self.skip_blanks();
        let line = self.line;
        let Some(left) = self.left.checked_sub(1) else {
            let (expected, found) = (TOO_MANY.to_owned(), "more of them".to_owned());
            return Err(Fault { line, expected, found, hint: Some("is this the right file?") });
        };
        self.left = left;
        let value = match self.peek() {
            Some(b'{') => self.nested(Self::object)?,
            Some(b'[') => self.nested(Self::list)?,
            Some(b'"') => Value::Text(self.string()?),
            Some(b'-' | b'0'..=b'9' | b'N' | b'I') => Value::Number(self.number()?),
            _ => self.word()?,
        };
        Ok(Node { line, value })
    }

    fn nested(&mut self, inner: fn(&mut Self) -> Parsed<Value<'a>>) -> Parsed<Value<'a>> {
        if self.depth == DEEPEST {
            return Err(self.fault("at most 128 lists and objects inside each other"));
        }
        self.depth += 1;
        self.position += 1;
        let value = inner(self)?;
        self.depth -= 1;
        Ok(value)
    }

    fn list(&mut self) -> Parsed<Value<'a>> {
        let mut items = Vec::new();
        if self.take_after_blanks(b']') {
            return Ok(Value::List(items));
        }
        loop {
            items.push(self.node()?);
            if self.take_after_blanks(b']') {
                return Ok(Value::List(items));
            }
            if !self.take_after_blanks(b',') {
                return Err(self.fault("`,` or `]` after an item of a list"));
            }
        }
    }

    fn object(&mut self) -> Parsed<Value<'a>> {
        let mut fields = Vec::new();
        if self.take_after_blanks(b'}') {
            return Ok(Value::Object(fields));
        }
        loop {
            self.skip_blanks();
            if self.peek() != Some(b'"') {
                return Err(self.fault("a key in double quotes"));
            }
            let key = self.string()?;
            if !self.take_after_blanks(b':') {
                return Err(self.fault("`:` after a key"));
            }
            fields.push((key, self.node()?));
            if self.take_after_blanks(b'}') {
                return last_of_equal_keys(fields, self.unique_keys).map(Value::Object);
            }
            if !self.take_after_blanks(b',') {
                return Err(self.fault("`,` or `}` after a value of an object"));
            }
        }
    }

    fn string(&mut self) -> Parsed<Cow<'a, str>> {
        let bytes = self.text.as_bytes();
        let start = self.position;
        let mut end = start + 1;
        let mut escaped = false;
        loop {
            match bytes.get(end) {
                Some(b'"') => break,
                Some(b'\\') => {
                    escaped = true;
                    end += 2;
                }
                Some(0x20..) => end += 1,
                Some(_) => {
                    self.position = end;
                    return Err(self.fault("no control character in a text (write \\n or \\t)"));
                }
                None => {
                    self.position = bytes.len();
                    return Err(self.fault("a closing double quote"));
                }
            }
        }
        if !escaped {
            self.position = end + 1;
            return Ok(Cow::Borrowed(&self.text[start + 1..end]));
        }
        // Escapes are decoded where they are decoded well.
        let text = serde_json::from_str(&self.text[start..=end])
            .map_err(|_| self.fault("a text with escapes of JSON"))?;
        self.position = end + 1;
        Ok(Cow::Owned(text))
    }

    fn number(&mut self) -> Parsed<&'a str> {
        let start = self.position;
        for name in ["NaN", "Infinity", "-Infinity"] {
            if self.rest().starts_with(name) {
                self.position += name.len();
                return Ok(name);
            }
        }
        self.take(b'-');
        if !self.take(b'0') && self.digits() == 0 {
            return Err(self.fault("a number"));
        }
        if self.take(b'.') && self.digits() == 0 {
            return Err(self.fault("a digit after the decimal point"));
        }
        if self.take(b'e') || self.take(b'E') {
            let _sign = self.take(b'+') || self.take(b'-');
            if self.digits() == 0 {
                return Err(self.fault("a digit in the exponent"));
            }
        }
        Ok(&self.text[start..self.position])
    }

    fn word(&mut self) -> Parsed<Value<'a>> {
        let words =
            [("null", Value::Null), ("true", Value::Bool(true)), ("false", Value::Bool(false))];
        let found = words.into_iter().find(|(word, _)| self.rest().starts_with(word));
        let (word, value) = found.ok_or_else(|| self.fault("a JSON value"))?;
        self.position += word.len();
        Ok(value)
    }

    fn digits(&mut self) -> usize {
        let digits = self.rest().bytes().take_while(u8::is_ascii_digit).count();
        self.position += digits;
        digits
    }

    fn skip_blanks(&mut self) {
        while let Some(byte @ (b' ' | b'\t' | b'\r' | b'\n')) = self.peek() {
            self.line += u64::from(byte == b'\n');
            self.position += 1;
        }
    }

    fn take_after_blanks(&mut self, byte: u8) -> bool {
        self.skip_blanks();
        self.take(byte)
    }

    fn take(&mut self, byte: u8) -> bool {
        let is_it = self.peek() == Some(byte);
        self.position += usize::from(is_it);
        is_it
    }

    fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.position).copied()
    }

    fn rest(&self) -> &'a str {
        self.text.get(self.position..).unwrap_or_default()
    }

    fn fault(&self, expected: &'static str) -> Fault {
        let found: String = self.rest().chars().take(24).collect();
        let found = match found.lines().next() {
            None | Some("") if self.rest().is_empty() => "the end of the text".to_owned(),
            line => format!("`{}`", line.unwrap_or_default()),
        };
        Fault { line: self.line, expected: expected.to_owned(), found, hint: None }
    }
}

fn last_of_equal_keys(fields: Fields<'_>, unique: bool) -> Parsed<Fields<'_>> {
    let many = fields.len() > MANY_KEYS;
    let mut seen = HashSet::new();
    if many && fields.iter().all(|(key, _)| seen.insert(key)) {
        return Ok(fields);
    }
    let mut kept: Fields<'_> = Vec::with_capacity(fields.len());
    let mut positions: HashMap<Cow<'_, str>, usize> = HashMap::new();
    for (key, value) in fields {
        let known = if many {
            positions.get(&key).copied()
        } else {
            kept.iter().position(|(name, _)| *name == key)
        };
        if let Some(position) = known {
            if unique {
                let found = format!("the key `{}` again", shorten(&key));
                return Err(value.fault("every key once in an object", found));
            }
            kept[position].1 = value;
            continue;
        }
        if many {
            positions.insert(key.clone(), kept.len());
        }
        kept.push((key, value));
    }
    Ok(kept)
}
