//! The JSON of servers, some of which cut characters in two.

use serde_json::Value;

/// Reads an answer. A half of a character that the model did not finish becomes U+FFFD: bytes that are no
/// UTF-8, or one escape of a pair, as in `"\ud83d"`.
pub(super) fn read_json(bytes: &[u8]) -> Result<Value, String> {
    serde_json::from_slice(bytes).or_else(|error| {
        let text = String::from_utf8_lossy(bytes);
        serde_json::from_str(&without_halves(&text)).map_err(|_| error.to_string())
    })
}

/// A text in which escapes of half a character are those of U+FFFD.
fn without_halves(text: &str) -> String {
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
