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

/// The hint for a file that is no text.
const SAVE_AS_TEXT: &str = "save it as text (reference, Formats): files packed by gzip, Zstandard or zip are \
                            unpacked, and those of other programs are not read";

/// The first line of a file that Git LFS keeps elsewhere.
const LFS_POINTER: &[u8] = b"version https://git-lfs.github.com/spec/";

/// The beginnings of web pages, which servers send in the place of a file.
const WEB_PAGES: [&[u8]; 2] = [b"<!doctype html", b"<html"];

/// The problem of a text that stands for a file which is elsewhere.
fn in_place_of_a_file(at: impl Into<Location>, head: &[u8]) -> Option<Problem> {
    let (found, hint) = if head.starts_with(LFS_POINTER) {
        (
            "a pointer to the file, by Git LFS",
            "the file itself is not here: `git lfs pull` fetches it",
        )
    } else if is_web_page(head) {
        let hint =
            "the address of the file itself is another, often behind a link `raw` or `download`";
        ("a web page", hint)
    } else {
        return None;
    };
    Some(problem!(at, "a file of text", found, hint))
}

fn is_web_page(head: &[u8]) -> bool {
    let text = head.trim_ascii_start();
    WEB_PAGES.iter().any(|page| {
        text.get(..page.len()).is_some_and(|head| head.eq_ignore_ascii_case(page))
            && text.get(page.len()).is_none_or(|next| *next == b'>' || next.is_ascii_whitespace())
    })
}

/// Bytes that show whether a file with NULs is text in UTF-16.
const SAMPLE: usize = 64;

/// The problem of a text with a NUL: UTF-16, which has no other control characters, or no text at all.
fn with_nul(at: impl Into<Location>, bytes: &[u8]) -> Problem {
    let sample = &bytes[..bytes.len().min(SAMPLE)];
    let is_control =
        |byte: &u8| *byte != 0 && byte.is_ascii_control() && !byte.is_ascii_whitespace();
    if sample.iter().any(is_control) {
        return problem!(at, "a file of text", "bytes that are none", SAVE_AS_TEXT);
    }
    utf_16(at, "a NUL")
}

/// The bytes of a file of text, without a byte order mark and with LF at the end of each line.
pub(crate) fn into_text(name: &str, mut bytes: Vec<u8>) -> Result<Vec<u8>> {
    if let Some(problem) = in_place_of_a_file((name, 1), &bytes) {
        return Err(problem.into());
    }
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
        return Err(with_nul((name, line), &bytes).into());
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
    if at.line == Some(1)
        && let Some(problem) = in_place_of_a_file(at.clone(), line)
    {
        return Some(problem);
    }
    if at.line == Some(1) && UTF_16_MARKS.iter().any(|mark| line.starts_with(mark)) {
        return Some(utf_16(at, "a byte order mark of UTF-16"));
    }
    memchr::memchr(0, line).map(|_| with_nul(at, line))
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
    fn what_is_no_text_is_refused_and_what_stands_for_a_file_is_named() {
        let pointer = &b"version https://git-lfs.github.com/spec/v1\noid sha256:4d7a\nsize 9\n"[..];
        for (bytes, found) in [
            (pointer, "a pointer to the file, by Git LFS"),
            (b"<!DOCTYPE HTML>\n<html>", "a web page"),
            (b"<html lang=\"en\">", "a web page"),
            (b"\x00\x05\x16\x07\0\x02\0\0Mac OS X", "bytes that are none"),
            // An archive in an archive, a table of Parquet, an array of NumPy.
            (b"\x1f\x8b\x08\0\0\0\0\0\x02\xff\xab", "bytes that are none"),
            (b"PAR1\x15\x04\x15\0\0\x4c\x15\x02\x15\0\x12", "bytes that are none"),
            (b"\x93NUMPY\x01\0v\0{'descr'", "bytes that are none"),
        ] {
            let expected = format!("x:1: expected a file of text, found {found}");
            let [whole, streamed] = lines(bytes);
            assert_eq!(streamed, Err(expected.clone()));
            // A file in gzip is unpacked where it is read whole.
            assert!(whole == Err(expected) || bytes.starts_with(b"\x1f\x8b"), "{whole:?}");
        }
        let [whole, _] = lines(b"\n\n<!doctype html>");
        assert!(whole.unwrap_err().starts_with("x:1: expected a file of text"));
        for text in [&b"PAR1 0 d 1\n"[..], b"FEA1 0 d 1\n", b"<html-1> 0 d 1\n", b"RDX1 0 d 1\n"] {
            assert!(lines(text).iter().all(Result::is_ok), "{}", String::from_utf8_lossy(text));
        }
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
