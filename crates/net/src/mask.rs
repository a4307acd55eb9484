//! Secrets in texts of servers, which may repeat them in another spelling.

use base64::Engine;
use base64::engine::general_purpose::{STANDARD_NO_PAD, URL_SAFE_NO_PAD};
use std::ops::Range;

const MASK: &str = "[authorization]";
/// Shorter secrets in base64 would be found in texts without them.
const SHORTEST_IN_BASE64: usize = 8;

/// Escapes within escapes that are looked through, as in JSON that is a text in JSON.
const LEVELS: usize = 6;

/// A secret, in the spellings that texts may have it in: as it is, or as part of a text in base64, and
/// either in escapes of JSON, percent signs or references of HTML.
pub(crate) struct Secret {
    spellings: Vec<Vec<u8>>,
}

impl Secret {
    pub(crate) fn new(secret: &str) -> Self {
        let mut spellings = vec![secret.as_bytes().to_vec()];
        // A text in base64 depends on the number of bytes before it. Its first and last letters also
        // depend on the bytes around it, and are left out.
        let offsets = if secret.len() < SHORTEST_IN_BASE64 { 0..0 } else { 0..3 };
        for before in offsets {
            let bytes = [&vec![0; before], secret.as_bytes()].concat();
            let first = [0, 2, 3][before];
            let whole = bytes.len() * 8 / 6;
            for alphabet in [STANDARD_NO_PAD, URL_SAFE_NO_PAD] {
                let text = alphabet.encode(&bytes);
                if let Some(core) = text.get(first..whole).filter(|core| !core.is_empty()) {
                    spellings.push(core.as_bytes().to_vec());
                }
            }
        }
        Self { spellings }
    }

    /// The text with a mark in the places of the secret.
    pub(crate) fn mask(&self, text: &str) -> String {
        let mut masked = String::with_capacity(text.len());
        let mut end = 0;
        for place in self.places(text) {
            if place.start >= end {
                masked.push_str(&text[end..place.start]);
                masked.push_str(MASK);
            }
            end = end.max(place.end);
        }
        masked.push_str(&text[end..]);
        masked
    }

    /// The places of the secret in a text whose escapes stand for their characters, in order.
    fn places(&self, text: &str) -> Vec<Range<usize>> {
        let mut bytes = text.as_bytes().to_vec();
        // Where in the text each byte begins, with the end of the text behind the last.
        let mut starts: Vec<usize> = (0..=bytes.len()).collect();
        let mut places = Vec::new();
        for _ in 0..LEVELS {
            for spelling in &self.spellings {
                for at in memchr::memmem::find_iter(&bytes, spelling) {
                    places.push(starts[at]..starts[at + spelling.len()]);
                }
            }
            let (resolved, begins) = unescaped(&bytes);
            if resolved.len() == bytes.len() {
                break;
            }
            starts = begins.into_iter().map(|at| starts[at]).collect();
            bytes = resolved;
        }
        places.sort_unstable_by_key(|place| (place.start, place.end));
        places
    }
}

/// The bytes of a text with its escapes resolved, and where in the text each of them begins, with the
/// end of the text behind the last.
fn unescaped(text: &[u8]) -> (Vec<u8>, Vec<usize>) {
    let mut bytes = Vec::with_capacity(text.len());
    let mut starts = Vec::with_capacity(text.len() + 1);
    let mut at = 0;
    while at < text.len() {
        let (byte, length) = escape_at(&text[at..]).unwrap_or((text[at], 1));
        bytes.push(byte);
        starts.push(at);
        at += length;
    }
    starts.push(text.len());
    (bytes, starts)
}

/// The ASCII character that an escape at the beginning of a text stands for, and its length.
fn escape_at(text: &[u8]) -> Option<(u8, usize)> {
    let (byte, length) = match text {
        [b'%', ..] => (number(text.get(1..3)?, 16)?, 3),
        [b'\\', b'u', ..] => (number(text.get(2..6)?, 16)?, 6),
        [b'\\', b'x', ..] => (number(text.get(2..4)?, 16)?, 4),
        [b'\\', byte @ (b'/' | b'"' | b'\\'), ..] => (*byte, 2),
        [b'&', ..] => return reference_at(text),
        _ => return None,
    };
    byte.is_ascii().then_some((byte, length))
}

/// The same for a reference of HTML, such as `&#47;`, `&#x2F;` and `&amp;`.
fn reference_at(text: &[u8]) -> Option<(u8, usize)> {
    const NAMES: [(&[u8], u8); 8] = [
        (b"amp", b'&'),
        (b"lt", b'<'),
        (b"gt", b'>'),
        (b"quot", b'"'),
        (b"apos", b'\''),
        (b"sol", b'/'),
        (b"plus", b'+'),
        (b"equals", b'='),
    ];
    let end = text.iter().take(12).position(|byte| *byte == b';')?;
    let byte = match &text[1..end] {
        [b'#', b'x' | b'X', digits @ ..] => number(digits, 16)?,
        [b'#', digits @ ..] => number(digits, 10)?,
        name => NAMES.iter().find(|(known, _)| *known == name)?.1,
    };
    byte.is_ascii().then_some((byte, end + 1))
}

fn number(digits: &[u8], radix: u32) -> Option<u8> {
    let digits = std::str::from_utf8(digits).ok()?;
    u32::from_str_radix(digits, radix).ok().and_then(|code| u8::try_from(code).ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_secret_is_masked_in_every_spelling() {
        let secret = Secret::new("sk-2f/0e77+a1c3");
        for (text, masked) in [
            ("key sk-2f/0e77+a1c3.", "key [authorization]."),
            (r"key sk-2f\/0e77+a1c3", "key [authorization]"),
            (r"\u0073\u006B-2f\u002f0e77\u002Ba1c3!", "[authorization]!"),
            ("?key=sk%2D2f%2F0e77%2ba1c3&x=%41", "?key=[authorization]&x=%41"),
            (r"sk-2f\\/0e77+a1c3", "[authorization]"),
            (r"sk-2f\\\\/0e77\\u002ba1c3.", "[authorization]."),
            ("sk-2f%252F0e77%252Ba1c3", "[authorization]"),
            ("<b>sk-2f&#x2F;0e77&#43;a1c3</b>", "<b>[authorization]</b>"),
            ("sk-2f&sol;0e77&amp;plus;a1c3 &amp; more", "[authorization] &amp; more"),
            ("sk-2f/0e77 a1c3 é %", "sk-2f/0e77 a1c3 é %"),
        ] {
            assert_eq!(secret.mask(text), masked);
        }
        for before in ["", "a", "Bearer ", "name:"] {
            let text = format!("{before}sk-2f/0e77+a1c3, and more");
            for encoded in [STANDARD_NO_PAD.encode(&text), URL_SAFE_NO_PAD.encode(&text)] {
                let masked = secret.mask(&encoded);
                assert!(masked.contains(MASK), "{before}: {masked}");
                assert!(masked.len() < encoded.len(), "{before}: {masked}");
                let escaped = encoded.replace('/', r"\/");
                assert!(secret.mask(&escaped).contains(MASK), "{before}: {escaped}");
            }
        }
        let long = format!("%{}", "25".repeat(1 << 20));
        assert_eq!(secret.mask(&long), long);
    }
}
