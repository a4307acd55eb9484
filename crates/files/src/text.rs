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

/// The beginnings of files that are no text, with their kinds and hints.
const OTHER_KINDS: [(&[u8], &str, &str); 27] = [
    (
        b"version https://git-lfs.github.com/spec/",
        "a pointer to the file, by Git LFS",
        "the file itself is not here: `git lfs pull` fetches it",
    ),
    (b"BZh91AY&SY", "a file packed by bzip2", UNPACK),
    // Plain archives are unpacked before.
    (b"PK\x03\x04", "a zip archive in another archive", UNPACK),
    (b"\x1f\x8b\x08", "a file packed by gzip in another archive", UNPACK),
    (b"\xfd7zXZ\0", "a file packed by xz", UNPACK),
    (b"\x04\x22\x4d\x18", "a file packed by lz4", UNPACK),
    (b"7z\xbc\xaf\x27\x1c", "an archive of 7-Zip", UNPACK),
    (b"\x80\x02", A_PICKLE, TO_PYTHON),
    (b"\x80\x03", A_PICKLE, TO_PYTHON),
    (b"\x80\x04", A_PICKLE, TO_PYTHON),
    (b"\x80\x05", A_PICKLE, TO_PYTHON),
    (b"PAR1\x15", "a table in the form of Parquet", SAVE_AS_TEXT),
    (b"ARROW1\0\0", A_TABLE_OF_ARROW, SAVE_AS_TEXT),
    (b"\xff\xff\xff\xff", A_TABLE_OF_ARROW, SAVE_AS_TEXT),
    (b"FEA1\0", A_TABLE_OF_ARROW, SAVE_AS_TEXT),
    (b"Obj\x01", "a table in the form of Avro", SAVE_AS_TEXT),
    (b"SQLite format 3\0", "a database of SQLite", SAVE_AS_TEXT),
    (b"\x93NUMPY", "an array of NumPy", SAVE_AS_TEXT),
    (b"\x89HDF", "a file of HDF5", SAVE_AS_TEXT),
    (b"X\n\0\0\0", "an object of R", SAVE_AS_TEXT),
    (b"RDX3\n", "a workspace of R", SAVE_AS_TEXT),
    (b"Rar!\x1a", "an archive of RAR", UNPACK),
    (b"\x89PNG", "a picture", SAVE_AS_TEXT),
    (b"\0\0\xfe\xff", UTF_32, TO_UTF_8),
    (b"\xff\xfe\0\0", UTF_32, TO_UTF_8),
    (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", "a file of Excel or Word", SAVE_AS_TEXT),
    (b"%PDF-", "a PDF", SAVE_AS_TEXT),
];

const UNPACK: &str = "unpack it (`bzcat`, `xzcat`, `lz4cat`, `7z x`), or pack it with gzip or zstd";
const A_TABLE_OF_ARROW: &str = "a table in the form of Arrow or Feather";
const UTF_32: &str = "a byte order mark of UTF-32";
const TO_UTF_8: &str = "convert the file, for example with `iconv -f utf-32 -t utf-8`";
const A_PICKLE: &str = "a pickle of Python";
const TO_PYTHON: &str =
    "save it as text; in Python, `clariq.evaluate` takes dictionaries and frames";
pub(crate) const SAVE_AS_TEXT: &str =
    "save it as text: the documentation describes the formats (reference, Formats)";

/// Where an archive of tar says what it is, and how.
const TAR: (usize, &[u8]) = (257, b"ustar");

/// The beginnings of web pages, which servers send in the place of a file.
const WEB_PAGES: [&[u8]; 2] = [b"<!doctype html", b"<html"];

/// The problem of a file that begins as no text does, or as a web page.
fn of_another_kind(at: impl Into<Location>, head: &[u8]) -> Option<Problem> {
    let known = OTHER_KINDS.iter().find(|(start, ..)| head.starts_with(start));
    let (found, hint) = if let Some((_, found, hint)) = known {
        (*found, *hint)
    } else if head.get(TAR.0..).is_some_and(|rest| rest.starts_with(TAR.1)) {
        ("an archive of tar", "unpack it: `tar xf` does so")
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

/// Bytes that show whether every second one is a NUL.
const SAMPLE: usize = 64;

/// The problem of a text with a NUL: UTF-16, where every second byte is one, or no text at all.
fn with_nul(at: impl Into<Location>, bytes: &[u8]) -> Problem {
    let sample = &bytes[..bytes.len().min(SAMPLE)];
    let nuls = memchr::memchr_iter(0, sample).count();
    if nuls > 1 && 3 * nuls < sample.len() {
        return problem!(at, "a file of text", "bytes that are none", SAVE_AS_TEXT);
    }
    utf_16(at, "a NUL")
}

/// The bytes of a file of text, without a byte order mark and with LF at the end of each line.
pub(crate) fn into_text(name: &str, mut bytes: Vec<u8>) -> Result<Vec<u8>> {
    if let Some(problem) = of_another_kind((name, 1), &bytes) {
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
        && let Some(problem) = of_another_kind(at.clone(), line)
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
    fn files_of_other_kinds_are_named() {
        let pointer = &b"version https://git-lfs.github.com/spec/v1\noid sha256:4d7a\nsize 9\n"[..];
        for (bytes, found) in [
            (pointer, "a pointer to the file, by Git LFS"),
            (b"BZh91AY&SY\x0c\0", "a file packed by bzip2"),
            (b"\xfd7zXZ\0\0\x04", "a file packed by xz"),
            (b"\x80\x04\x95\x10\0", "a pickle of Python"),
            (b"PAR1\x15\x04\x15", "a table in the form of Parquet"),
            (b"ARROW1\0\0\xff\xff", "a table in the form of Arrow or Feather"),
            (b"SQLite format 3\0\x10", "a database of SQLite"),
            (b"\x93NUMPY\x01\0v\0", "an array of NumPy"),
            (b"\0\0\xfe\xff\0\0\0a", "a byte order mark of UTF-32"),
            (b"\xff\xfe\0\0a\0\0\0", "a byte order mark of UTF-32"),
            (b"<!DOCTYPE HTML>\n<html>", "a web page"),
            (b"<html lang=\"en\">", "a web page"),
            (b"\x00\x05\x16\x07\0\x02\0\0Mac OS X", "bytes that are none"),
        ] {
            let expected = format!("x:1: expected a file of text, found {found}");
            assert_eq!(lines(bytes), [Err(expected.clone()), Err(expected)]);
        }
        for (bytes, found) in [
            (&b"PK\x03\x04\x14\0"[..], "a zip archive in another archive"),
            (b"\x1f\x8b\x08\0", "a file packed by gzip in another archive"),
        ] {
            let expected = format!("x:1: expected a file of text, found {found}");
            let [_, unpacked] = lines(bytes);
            assert_eq!(unpacked, Err(expected));
        }
        let mut tar = b"r.run".to_vec();
        tar.resize(TAR.0, 0);
        tar.extend(TAR.1);
        for bytes in [tar, b"\n\n<!doctype html>".to_vec()] {
            let [whole, _] = lines(&bytes);
            assert!(whole.unwrap_err().starts_with("x:1: expected a file of text"));
        }
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
