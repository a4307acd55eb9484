//! Secrets in texts of servers, which may repeat them in another spelling.

use base64::Engine;
use base64::engine::general_purpose::{STANDARD_NO_PAD, URL_SAFE_NO_PAD};
use std::ops::Range;

const MASK: &str = "[authorization]";
/// Shorter secrets in base64 would be found in texts without them.
const SHORTEST_IN_BASE64: usize = 8;

/// A secret, in the spellings that texts may have it in: as it is, in escapes of JSON or percent signs,
/// and as part of a text in base64.
pub(crate) struct Secret {
    plain: Vec<u8>,
    encoded: Vec<String>,
}

impl Secret {
    pub(crate) fn new(secret: &str) -> Self {
        let mut encoded = Vec::new();
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
                    encoded.push(core.to_owned());
                }
            }
        }
        Self { plain: secret.as_bytes().to_vec(), encoded }
    }

    /// The text with a mark in the places of the secret.
    pub(crate) fn mask(&self, text: &str) -> String {
        let mut masked = String::with_capacity(text.len());
        let mut end = 0;
        for place in self.places(text) {
            masked.push_str(&text[end..place.start]);
            masked.push_str(MASK);
            end = place.end;
        }
        masked.push_str(&text[end..]);
        for core in &self.encoded {
            if masked.contains(core.as_str()) {
                masked = masked.replace(core.as_str(), MASK);
            }
        }
        masked
    }

    /// The places of the secret in a text whose escapes stand for their characters.
    fn places(&self, text: &str) -> Vec<Range<usize>> {
        let (bytes, starts) = unescaped(text);
        let mut places = Vec::new();
        let mut at = 0;
        while let Some(found) = memchr::memmem::find(&bytes[at..], &self.plain) {
            let first = at + found;
            at = first + self.plain.len();
            places.push(starts[first]..starts[at]);
        }
        places
    }
}

/// The bytes of a text with its escapes resolved, and where in the text each of them begins, with the
/// end of the text behind the last.
fn unescaped(text: &str) -> (Vec<u8>, Vec<usize>) {
    let mut bytes = Vec::with_capacity(text.len());
    let mut starts = Vec::with_capacity(text.len() + 1);
    let raw = text.as_bytes();
    let mut at = 0;
    while at < raw.len() {
        let (byte, length) = escape_at(&raw[at..]).unwrap_or((raw[at], 1));
        bytes.push(byte);
        starts.push(at);
        at += length;
    }
    starts.push(raw.len());
    (bytes, starts)
}

/// The ASCII character that an escape at the beginning of a text stands for, and its length.
fn escape_at(text: &[u8]) -> Option<(u8, usize)> {
    let hex = |digits: Range<usize>| {
        let digits = std::str::from_utf8(text.get(digits)?).ok()?;
        u32::from_str_radix(digits, 16).ok().and_then(|code| u8::try_from(code).ok())
    };
    let (byte, length) = match text {
        [b'%', ..] => (hex(1..3)?, 3),
        [b'\\', b'u', ..] => (hex(2..6)?, 6),
        [b'\\', b'x', ..] => (hex(2..4)?, 4),
        [b'\\', byte @ (b'/' | b'"' | b'\\'), ..] => (*byte, 2),
        _ => return None,
    };
    byte.is_ascii().then_some((byte, length))
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
            }
        }
    }
}
