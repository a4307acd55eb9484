//! Secrets in texts of servers, which may repeat them, whole or in part.

use std::collections::HashSet;

const MASK: &str = "[authorization]";
/// Characters of a piece of a secret that is masked wherever it stands. Shorter pieces may be words.
const PIECE: usize = 8;

/// A secret. Any piece of it from [`PIECE`] characters on is masked, as it is and as JSON writes it; a shorter
/// secret as a whole.
pub(crate) struct Secret {
    width: usize,
    pieces: HashSet<Vec<u8>>,
}

impl Secret {
    pub(crate) fn new(secret: &str) -> Self {
        let width = secret.len().min(PIECE);
        let pieces = secret.as_bytes().windows(width.max(1)).map(<[u8]>::to_vec).collect();
        Self { width, pieces }
    }

    /// The text with a mark in the places of pieces of the secret.
    pub(crate) fn mask(&self, text: &str) -> String {
        let mut is_secret = vec![false; text.len()];
        let plain = (text.bytes().collect(), (0..=text.len()).collect());
        for (bytes, starts) in [plain, unescaped(text.as_bytes())] {
            let (bytes, starts): (Vec<u8>, Vec<usize>) = (bytes, starts);
            for (at, piece) in bytes.windows(self.width.max(1)).enumerate() {
                if self.pieces.contains(piece) {
                    is_secret[starts[at]..starts[at + self.width]].fill(true);
                }
            }
        }
        let mut masked = Vec::with_capacity(text.len());
        for (at, byte) in text.bytes().enumerate() {
            if !is_secret[at] {
                masked.push(byte);
            } else if at == 0 || !is_secret[at - 1] {
                masked.extend(MASK.bytes());
            }
        }
        String::from_utf8_lossy(&masked).into_owned()
    }
}

/// The bytes of a text with the escapes of JSON for ASCII resolved, and where in the text each of them begins,
/// with the end of the text behind the last.
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
    match text {
        [b'\\', b'u', ..] => {
            let digits = std::str::from_utf8(text.get(2..6)?).ok()?;
            let byte = u8::try_from(u16::from_str_radix(digits, 16).ok()?).ok()?;
            byte.is_ascii().then_some((byte, 6))
        }
        [b'\\', byte @ (b'/' | b'"' | b'\\'), ..] => Some((*byte, 2)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_secret_is_masked_in_plain_and_in_the_spelling_of_json() {
        let secret = Secret::new("sk-2f/0e77+a1c3");
        for (text, masked) in [
            ("key sk-2f/0e77+a1c3.", "key [authorization]."),
            (r"key sk-2f\/0e77+a1c3", "key [authorization]"),
            (r"\u0073\u006B-2f\u002f0e77\u002Ba1c3!", "[authorization]!"),
            (r"a\nsk-2f\/0e77\u002ba1c3é", r"a\n[authorization]é"),
            ("…0e77+a1c3, sk-2f/0e…, 0e77+a1", "…[authorization], [authorization]…, 0e77+a1"),
            ("sk-2f/0 77+a1c3 é \\", "sk-2f/0 77+a1c3 é \\"),
            ("", ""),
        ] {
            assert_eq!(secret.mask(text), masked);
        }
        assert_eq!(
            Secret::new("pässword").mask("no pässword: ässwor"),
            "no [authorization]: ässwor"
        );
        assert_eq!(Secret::new("abc").mask("abcabc ab"), "[authorization] ab");
    }

    #[test]
    fn every_piece_of_eight_characters_is_masked() {
        let key = "sk-proj-4d1e0c/9a+7b2f";
        let secret = Secret::new(key);
        for from in 0..key.len() {
            for to in from..=key.len() {
                let piece = &key[from..to];
                let is_masked = piece.len() >= PIECE;
                for text in [piece.to_owned(), piece.replace('/', r"\/").replace('+', r"\u002b")] {
                    let masked = secret.mask(&format!("<{text}>"));
                    assert_eq!(masked.contains(MASK), is_masked, "{text}");
                    assert!(!is_masked || !masked.contains(&piece[..4]), "{masked}");
                }
            }
        }
    }
}
