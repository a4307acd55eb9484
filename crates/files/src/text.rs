//! The rule for files of text: what ends a line, what is removed, and what is refused.
//!
//! A line ends with LF, CRLF or CR alone, as for Python and pandas, with which the official programs
//! read. [`into_text`] and [`BoundedLines`](crate::BoundedLines) turn each of them into LF, so that
//! the reader of a format meets no other. A byte order mark is removed. UTF-16 and NUL are refused:
//! ids and words with characters that nobody sees would match nothing.

use clariq_core::{Location, Problem, Result, problem};
use std::borrow::Cow;

pub(crate) const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";
/// The byte order marks of UTF-16.
const UTF_16_MARKS: [&[u8]; 2] = [b"\xff\xfe", b"\xfe\xff"];

/// The bytes of a file of text, without a byte order mark and with LF at the end of each line.
pub(crate) fn into_text(name: &str, mut bytes: Vec<u8>) -> Result<Vec<u8>> {
    if UTF_16_MARKS.iter().any(|mark| bytes.starts_with(mark)) {
        return Err(utf_16((name, 1), "a byte order mark of UTF-16").into());
    }
    if bytes.starts_with(BYTE_ORDER_MARK) {
        bytes.drain(..BYTE_ORDER_MARK.len());
    }
    if let Cow::Owned(ended) = with_line_feeds(&bytes) {
        bytes = ended;
    }
    if let Some(nul) = memchr::memchr(0, &bytes) {
        let line = 1 + memchr::memchr_iter(b'\n', &bytes[..nul]).count() as u64;
        return Err(utf_16((name, line), "a NUL").into());
    }
    Ok(bytes)
}

/// Removes byte order marks from the start of a line: concatenated files have some.
pub(crate) fn without_byte_order_marks(line: &str) -> &str {
    const MARK: char = '\u{feff}';
    if !line.starts_with(MARK) {
        return line;
    }
    line.trim_start_matches(|c: char| c == MARK || c.is_ascii_whitespace())
}

/// The bytes with LF in place of CRLF and CR.
pub(crate) fn with_line_feeds(bytes: &[u8]) -> Cow<'_, [u8]> {
    let Some(first) = memchr::memchr(b'\r', bytes) else { return Cow::Borrowed(bytes) };
    let mut ended = Vec::with_capacity(bytes.len());
    let mut start = 0;
    for at in memchr::memchr_iter(b'\r', &bytes[first..]).map(|at| first + at) {
        ended.extend_from_slice(&bytes[start..at]);
        ended.push(b'\n');
        start = at + 1 + usize::from(bytes.get(at + 1) == Some(&b'\n'));
    }
    ended.extend_from_slice(&bytes[start..]);
    Cow::Owned(ended)
}

/// The problem of a line that is not text: it has a NUL, or begins as a file in UTF-16 does.
pub(crate) fn not_text(at: Location, line: &[u8]) -> Option<Problem> {
    if at.line == Some(1) && UTF_16_MARKS.iter().any(|mark| line.starts_with(mark)) {
        return Some(utf_16(at, "a byte order mark of UTF-16"));
    }
    memchr::memchr(0, line).map(|_| utf_16(at, "a NUL"))
}

fn utf_16(at: impl Into<Location>, found: &str) -> Problem {
    let hint = "files in UTF-16 have these: convert the file, for example with \
                `iconv -f utf-16 -t utf-8`, or `-f utf-16le` if it has no byte order mark";
    problem!(at, "UTF-8 text", found, hint)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{BoundedLines, Source};

    /// The lines of a file that is read whole, and of one that is read as a stream.
    fn lines(bytes: &[u8]) -> [Result<Vec<String>, String>; 2] {
        let source = Source::memory("x", bytes);
        let whole = source.read().map(|input| {
            let text = String::from_utf8(input.bytes.into_owned()).unwrap();
            text.lines().map(str::to_owned).collect()
        });
        // One byte at a time: an end of a line may be cut anywhere.
        let stream = std::io::BufReader::with_capacity(1, bytes);
        let mut stream = BoundedLines::new("x", stream, 100);
        let mut streamed = Ok(Vec::new());
        while let Ok(lines) = &mut streamed {
            match stream.next_bytes() {
                Ok(Some((_, line))) => lines.push(String::from_utf8(line.to_vec()).unwrap()),
                Ok(None) => break,
                Err(error) => streamed = Err(error),
            }
        }
        [whole, streamed].map(|read| read.map_err(|error| error.to_problem().to_string()))
    }

    #[test]
    fn each_of_the_three_ends_ends_one_line() {
        for end in ["\n", "\r\n", "\r"] {
            for text in ["a*b*c", "a*b*c*", "\u{feff}a*b*c*"] {
                let read = lines(text.replace('*', end).as_bytes());
                let expected = Ok(["a", "b", "c"].map(str::to_owned).to_vec());
                assert_eq!(read, [expected.clone(), expected], "{text} {end:?}");
            }
        }
        let mixed = Ok(["a", "", "b", "", "c"].map(str::to_owned).to_vec());
        assert_eq!(lines(b"a\n\rb\r\n\r\nc\r"), [mixed.clone(), mixed]);
    }

    #[test]
    fn utf_16_and_nul_are_refused_with_their_line() {
        let utf_16 = |text: &str, big: bool| -> Vec<u8> {
            let unit = |unit: u16| if big { unit.to_be_bytes() } else { unit.to_le_bytes() };
            text.encode_utf16().flat_map(unit).collect()
        };
        for (bytes, line) in [
            (utf_16("\u{feff}1\ta\n", true), 1),
            (utf_16("\u{feff}1\ta\n", false), 1),
            (utf_16("1\ta\r\n2\tb\r\n", true), 1),
            (utf_16("1\ta\n2\tb\n", false), 1),
            (b"1\ta\r\n2\tb\0\n".to_vec(), 2),
        ] {
            for read in lines(&bytes) {
                let problem = read.unwrap_err();
                let expected = format!("x:{line}: expected UTF-8 text");
                assert!(problem.starts_with(&expected), "{problem}");
            }
        }
    }
}
