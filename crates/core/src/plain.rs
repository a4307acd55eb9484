//! Numbers and messages of serde as people read them.

/// A number with so many digits after the point, and never a negative zero.
///
/// ```
/// assert_eq!(clariq_core::fixed(-0.5, 2), "-0.50");
/// assert_eq!(clariq_core::fixed(-1e-9, 6), "0.000000");
/// ```
pub fn fixed(number: f64, digits: usize) -> String {
    let text = format!("{number:.digits$}");
    match text.strip_prefix('-') {
        Some(zero) if zero.bytes().all(|byte| matches!(byte, b'0' | b'.')) => zero.to_owned(),
        _ => text,
    }
}

/// Splits a message such as ``invalid type: string "x", expected u64 at line 1 column 3`` into what
/// was expected and what was found, without the names of Rust's types. Where the message does not
/// say what was expected, `expected` is.
///
/// ```
/// let message = r#"invalid type: string "x", expected u64 at line 1 column 3"#;
/// let (expected, found) = clariq_core::plain_words(message, "a record");
/// assert_eq!(expected, "a whole number of at least 0");
/// assert_eq!(found, r#"the text "x", at column 3"#);
/// ```
pub fn plain_words(message: &str, expected: &str) -> (String, String) {
    let (message, position) = split_position(message);
    let (what, expected) = match message.rsplit_once(", expected ") {
        Some((what, wanted)) => (what, plain_type(wanted)),
        None => match message.strip_prefix("missing field ") {
            Some(name) => (message, format!("a key {name}")),
            None => (message, expected.to_owned()),
        },
    };
    (expected, format!("{}{position}", plain_value(what)))
}

/// A message without `at line 2 column 3`, and these as an addition to what was found.
fn split_position(message: &str) -> (&str, String) {
    let numbers = message.rsplit_once(" at line ").and_then(|(head, numbers)| {
        let (line, column) = numbers.split_once(" column ")?;
        Some((head, line.parse::<u64>().ok()?, column.parse::<u64>().ok()?))
    });
    match numbers {
        // Most are of one line: the position counts from its beginning.
        Some((head, 1, column)) => (head, format!(", at column {column}")),
        Some((head, line, column)) => (head, format!(", at line {line}, column {column}")),
        None => (message, String::new()),
    }
}

/// What people call a type that serde expects.
fn plain_type(wanted: &str) -> String {
    let plain = match wanted {
        "f32" | "f64" => "a number",
        "usize" | "u64" | "u32" | "u16" | "u8" => "a whole number of at least 0",
        "isize" | "i64" | "i32" | "i16" | "i8" => "a whole number",
        "a nonzero usize" | "a nonzero u64" | "a nonzero u32" => "a whole number of at least 1",
        "a string" | "a borrowed string" | "string or map" => "a text",
        "a boolean" => "true or false",
        "a sequence" => "a list",
        "a map" => "a table of keys and values",
        _ if wanted.starts_with("struct ") || wanted.contains(" enum") => {
            "a table of keys and values"
        }
        other => other,
    };
    plain.to_owned()
}

/// What people call a value that serde found.
fn plain_value(what: &str) -> String {
    let value = ["invalid type: ", "invalid value: "].iter().find_map(|cut| what.strip_prefix(cut));
    let Some(value) = value else {
        return match what {
            _ if what.starts_with("data did not match any variant") => {
                "a value of another kind".to_owned()
            }
            _ => match what.strip_prefix("missing field ") {
                Some(name) => format!("a table without it: no {name}"),
                None => what.replacen(" field ", " key ", 1),
            },
        };
    };
    let kinds = [
        ("string ", "the text "),
        ("integer ", "the number "),
        ("floating point ", "the number "),
        ("boolean ", "the value "),
        ("character ", "the character "),
        ("null", "null"),
        ("unit value", "null"),
        ("sequence", "a list"),
        ("map", "a table of keys and values"),
    ];
    let named = kinds
        .iter()
        .find_map(|(serde, plain)| value.strip_prefix(serde).map(|rest| format!("{plain}{rest}")));
    named.unwrap_or_else(|| value.to_owned())
}

#[cfg(test)]
mod tests {
    use super::plain_words;

    #[test]
    fn messages_of_serde_name_no_type_of_rust() {
        for (message, expected, found) in [
            (
                "invalid type: map, expected a sequence at line 3 column 9",
                "a list",
                "a table of keys and values, at line 3, column 9",
            ),
            (
                "invalid type: floating point `1.5`, expected i64",
                "a whole number",
                "the number `1.5`",
            ),
            (
                "invalid value: integer `-1`, expected u64",
                "a whole number of at least 0",
                "the number `-1`",
            ),
            ("invalid type: null, expected struct Fields", "a table of keys and values", "null"),
            ("unknown field `a`, expected `b` or `c`", "`b` or `c`", "unknown key `a`"),
            (
                "missing field `a` at line 1 column 2",
                "a key `a`",
                "a table without it: no `a`, at column 2",
            ),
            ("duplicate field `a`", "a record", "duplicate key `a`"),
            (
                "data did not match any variant of untagged enum Id",
                "a record",
                "a value of another kind",
            ),
            (
                "EOF while parsing a string at line 1 column 7",
                "a record",
                "EOF while parsing a string, at column 7",
            ),
        ] {
            assert_eq!(plain_words(message, "a record"), (expected.to_owned(), found.to_owned()));
        }
    }
}
