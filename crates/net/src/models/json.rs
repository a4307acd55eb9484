//! The JSON of servers, some of which cut characters in two.

use clariq_core::problem_of_type;
use serde_json::Value;

/// Some servers write it before JSON.
const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

/// An answer without what servers write before JSON: a byte order mark, blank lines, and comments of an event
/// stream, such as `: PROCESSING`, which keep a connection open.
pub(super) fn without_comments(bytes: &[u8]) -> &[u8] {
    let mut rest = bytes.strip_prefix(BYTE_ORDER_MARK).unwrap_or(bytes).trim_ascii_start();
    while rest.starts_with(b":") {
        let end = rest.iter().position(|byte| matches!(byte, b'\n' | b'\r'));
        rest = rest[end.unwrap_or(rest.len())..].trim_ascii_start();
    }
    rest
}

/// The hint for an answer that is none of the API, by its beginning.
pub(super) fn hint_of_form(beginning: &str) -> &'static str {
    const PIECES: [&str; 4] =
        ["\"delta\"", "\"chat.completion.chunk\"", "\"done\":false", "\"done\": false"];
    if beginning.starts_with("data:") || PIECES.iter().any(|piece| beginning.contains(piece)) {
        "the server sends its answer in pieces, although it is asked not to (`stream: false`), and they are not \
         whole, or not those of a chat completion"
    } else if beginning.starts_with('<') {
        "this is a web page and no API: the address of an API often ends in `/v1`, and some need a key"
    } else {
        "`url`, `dialect` and `kind` must be those of the server"
    }
}

/// A message of serde without names of types.
pub(super) fn plain(message: String) -> String {
    match message.rsplit_once(", expected ") {
        Some((found, _)) if message.starts_with("invalid ") => {
            format!("{found}, expected {}", problem_of_type("", &message).expected)
        }
        _ => message,
    }
}

/// Reads an answer. A half of a character that the model did not finish becomes U+FFFD: bytes that are no
/// UTF-8, or one escape of a pair, as in `"\ud83d"`.
pub(super) fn read_json(bytes: &[u8]) -> Result<Value, String> {
    serde_json::from_slice(bytes).or_else(|error| {
        let text = String::from_utf8_lossy(bytes);
        serde_json::from_str(&without_halves(&text)).map_err(|_| error.to_string())
    })
}

/// A text in which escapes of half a character are those of U+FFFD.
pub(super) fn without_halves(text: &str) -> String {
    let mut whole = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('\\') {
        let (before, escape) = rest.split_at(at);
        whole.push_str(before);
        let end = match (unit_at(escape), escape.get(6..).and_then(unit_at)) {
            (Some(0xd800..=0xdbff), Some(0xdc00..=0xdfff)) => 12,
            (Some(0xd800..=0xdfff), _) => 6,
            _ => escape.char_indices().nth(2).map_or(escape.len(), |(end, _)| end),
        };
        whole.push_str(if end == 6 { "\\ufffd" } else { &escape[..end] });
        rest = &escape[end..];
    }
    whole.push_str(rest);
    whole
}

/// The code unit of an escape such as `\ud83d` at the beginning of a text.
fn unit_at(text: &str) -> Option<u16> {
    let digits = text.strip_prefix("\\u")?.get(..4)?;
    u16::from_str_radix(digits, 16).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn what_keeps_a_connection_open_is_no_answer() {
        for text in ["{}", "\u{feff}{}", "\n \n{}", ": PROCESSING\n\n: PROCESSING\r\n{}", ":\n{}"] {
            assert_eq!(without_comments(text.as_bytes()), b"{}", "{text}");
        }
        for (text, left) in [(": a", ""), ("", ""), ("data: {}", "data: {}")] {
            assert_eq!(without_comments(text.as_bytes()), left.as_bytes(), "{text}");
        }
    }

    #[test]
    fn messages_name_no_type() {
        for (message, shown) in [
            (
                "invalid type: null, expected struct ChatResponse",
                "invalid type: null, expected an object",
            ),
            (
                "invalid type: string \"a\", expected f64",
                "invalid type: string \"a\", expected a number",
            ),
            ("invalid type: map, expected a sequence", "invalid type: map, expected a list"),
            (
                "invalid length 1, expected struct ChatResponse with 3 elements",
                "invalid length 1, expected an object",
            ),
            ("missing field `data`", "missing field `data`"),
        ] {
            assert_eq!(plain(message.to_owned()), shown);
        }
    }

    #[test]
    fn half_a_character_is_read_as_one() {
        for (text, read) in [
            (&br#"{"a": "tyre \ud83d"}"#[..], json!({ "a": "tyre \u{fffd}" })),
            (br#"["\udca9 tyre \ud83d!"]"#, json!(["\u{fffd} tyre \u{fffd}!"])),
            (br#"["\ud83d\ud83d\udca9", "\ud83d\u0041"]"#, json!(["\u{fffd}💩", "\u{fffd}A"])),
            (br#"["\\ud83d", "\"\ud83d", "\\"]"#, json!(["\\ud83d", "\"\u{fffd}", "\\"])),
            (br#"["\ud83d\n"]"#, json!(["\u{fffd}\n"])),
            (b"[\"tyre \xf0\x9f\"]", json!(["tyre \u{fffd}"])),
        ] {
            assert_eq!(read_json(text), Ok(read), "{}", String::from_utf8_lossy(text));
        }
        for wrong in [&br#"["\ud83d"#[..], br#"["\u12"]"#, b"[\"\n\xff\"]", b"\\", b"\\\xc3\xa9"] {
            assert!(read_json(wrong).is_err(), "{}", String::from_utf8_lossy(wrong));
        }
    }
}
