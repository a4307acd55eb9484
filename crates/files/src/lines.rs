//! Lines of streams, one at a time and bounded, and the fields of space-separated files.

use crate::source::{BYTE_ORDER_MARK, Input, broken};
use crate::table::{Sink, not_utf8, shorten};
use clariq_core::{Error, Location, Problem, ProblemKind, problem};
use std::io::{BufRead, Read};
use std::str;

/// Bytes that a line of a request or a reply may have: a longer one would only fill the memory.
pub const MOST_OF_A_LINE: u64 = 1 << 20;

/// Reads a stream line by line, none of them longer than a limit.
pub struct BoundedLines<'a> {
    name: String,
    stream: Box<dyn BufRead + 'a>,
    most: u64,
    number: u64,
    bytes: u64,
    line: Vec<u8>,
}

impl<'a> BoundedLines<'a> {
    /// Lines of at most `most` bytes; `name` is the stream's, for messages.
    pub fn new(name: impl Into<String>, stream: impl BufRead + 'a, most: u64) -> Self {
        let (name, stream) = (name.into(), Box::new(stream));
        Self { name, stream, most, number: 0, bytes: 0, line: Vec::new() }
    }

    /// The location of the last line.
    pub fn location(&self) -> Location {
        Location::line(&self.name, self.number)
    }

    /// How many bytes were read.
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// The next line with its number, without its end and a byte order mark; `None` at the end of
    /// the stream. A line that is too long is an error.
    pub fn next_bytes(&mut self) -> Result<Option<(u64, &[u8])>, Error> {
        match self.advance()? {
            None => Ok(None),
            Some(Err(problem)) => Err(problem.into()),
            Some(Ok(())) => {
                let line = self.line.strip_suffix(b"\n").unwrap_or(&self.line);
                Ok(Some((self.number, line.strip_prefix(BYTE_ORDER_MARK).unwrap_or(line))))
            }
        }
    }

    /// The next line without white space and byte order marks around it; `None` at the end of the
    /// stream. A line that is too long or not UTF-8 is a problem of that line alone.
    pub fn read_next(&mut self) -> Result<Option<Result<String, Problem>>, Error> {
        Ok(match self.advance()? {
            None => None,
            Some(Err(problem)) => Some(Err(problem)),
            Some(Ok(())) => Some(match str::from_utf8(&self.line) {
                Ok(line) => Ok(without_byte_order_marks(line).trim().to_owned()),
                Err(error) => {
                    let wrong = self.line[error.valid_up_to()];
                    Err(problem!(self.location(), "a line in UTF-8", "the byte 0x{wrong:02x}"))
                }
            }),
        })
    }

    /// Reads the next line, its end included; `None` at the end of the stream.
    fn advance(&mut self) -> Result<Option<Result<(), Problem>>, Error> {
        let (count, ended) = self.read_piece()?;
        if count == 0 {
            return Ok(None);
        }
        self.number += 1;
        if ended || count <= self.most {
            return Ok(Some(Ok(())));
        }
        // The rest of the line is passed over.
        while !matches!(self.read_piece()?, (0, _) | (_, true)) {}
        let most = self.most;
        let problem = problem!(self.location(), "a line of at most {most} bytes", "a longer one");
        Ok(Some(Err(problem.hint("is this the right file?"))))
    }

    /// Reads to the end of the line, but no further than one byte behind the limit: how many bytes,
    /// and whether the line ends there.
    fn read_piece(&mut self) -> Result<(u64, bool), Error> {
        self.line.clear();
        let mut piece = self.stream.by_ref().take(self.most + 1);
        let read = piece.read_until(b'\n', &mut self.line);
        let count = read.map_err(|error| broken(&self.name, error))? as u64;
        self.bytes += count;
        Ok((count, self.line.ends_with(b"\n")))
    }
}

/// One line that is not blank.
pub struct Line<'a> {
    /// The name of the file, and the line's number.
    pub at: (&'a str, u64),
    /// Its fields, between white space.
    pub fields: &'a [&'a str],
    text: &'a str,
}

impl Line<'_> {
    /// A problem of this line, which is shown shortened.
    pub fn problem(&self, expected: &str, hint: &str) -> Problem {
        problem!(self.at, expected, (format!("`{}`", shorten(self.text))), hint)
    }
}

/// Calls `each` with every line of `input` that is not blank; the form is `names` (shown in
/// messages), of which the last `optional` fields may be absent.
pub fn for_each_line(
    input: &Input,
    names: &str,
    optional: usize,
    sink: Sink,
    mut each: impl FnMut(&Line, Sink),
) {
    let most = names.split(' ').count();
    let mut any = false;
    let mut fields = Vec::with_capacity(most);
    for (number, bytes) in (1..).zip(input.bytes.split(|&byte| byte == b'\n')) {
        let at = (input.name.as_str(), number);
        let bytes = bytes.trim_ascii();
        let Ok(text) = str::from_utf8(bytes) else {
            any = true;
            sink(not_utf8(at, "line", bytes));
            continue;
        };
        let text = without_byte_order_marks(text);
        if text.is_empty() {
            continue;
        }
        any = true;
        fields.clear();
        fields.extend(text.split_ascii_whitespace());
        let line = Line { at, fields: &fields, text };
        if (most - optional..=most).contains(&fields.len()) {
            each(&line, sink);
        } else {
            let expected = format!("{most} fields, `{names}`");
            sink(line.problem(&expected, count_hint(most, fields.len())));
        }
    }
    if !any {
        let hint = "an empty file scores nothing: was the run that wrote it interrupted?";
        let problem = problem!((&*input.name, 1), "lines of the form `{names}`", "nothing", hint);
        sink(problem.kind(ProblemKind::Empty));
    }
}

/// A line without the byte order marks at its start: files that were concatenated have some.
fn without_byte_order_marks(line: &str) -> &str {
    const MARK: char = '\u{feff}';
    if !line.starts_with(MARK) {
        return line;
    }
    line.trim_start_matches(|c: char| c == MARK || c.is_ascii_whitespace())
}

/// A file of one kind in place of another is the usual reason for a wrong number of fields.
fn count_hint(wanted: usize, found: usize) -> &'static str {
    match (wanted, found) {
        (6, 2) => {
            "this looks like a need file: `clariq eval --task clarification_need` scores those"
        }
        (2, 5 | 6) => {
            "this looks like a run file: `clariq eval --task question_relevance` scores those"
        }
        _ => "fields are separated by single spaces, and none may be empty or hold a space",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read_all(text: &[u8], most: u64) -> Vec<Result<String, String>> {
        let mut lines = BoundedLines::new("x", text, most);
        let mut all = Vec::new();
        while let Some(line) = lines.read_next().unwrap() {
            all.push(line.map_err(|problem| problem.to_string()));
        }
        all
    }

    #[test]
    fn a_bad_line_is_a_problem_of_its_own_and_the_next_one_is_read() {
        let long = "y".repeat(50);
        let text = [b"\xef\xbb\xbfa \r\n\n", long.as_bytes(), b"\n\xff\nb"].concat();
        let all = read_all(&text, 10);
        assert_eq!(all.len(), 5);
        assert_eq!((&all[0], &all[1]), (&Ok("a".to_owned()), &Ok(String::new())));
        let too_long = all[2].as_ref().unwrap_err();
        assert!(too_long.starts_with("x:3: expected a line of at most 10 bytes"), "{too_long}");
        assert!(all[3].as_ref().unwrap_err().contains("x:4"), "{:?}", all[3]);
        assert_eq!(all[4], Ok("b".to_owned()));
    }

    #[test]
    fn lines_up_to_the_limit_are_read() {
        for (text, fine) in [("abc\n", true), ("abcd", true), ("abcde", false), ("abcd\n", true)] {
            assert_eq!(read_all(text.as_bytes(), 4)[0].is_ok(), fine, "{text:?}");
            let mut lines = BoundedLines::new("x", text.as_bytes(), 4);
            assert_eq!(lines.next_bytes().is_ok(), fine, "{text:?}");
        }
    }

    #[test]
    fn bytes_are_handed_on_as_they_are() {
        let mut lines = BoundedLines::new("x", &b"\xef\xbb\xbf a\xff\r\n\nb"[..], 10);
        assert_eq!(lines.next_bytes().unwrap(), Some((1, &b" a\xff\r"[..])));
        assert_eq!(lines.next_bytes().unwrap(), Some((2, &b""[..])));
        assert_eq!(lines.next_bytes().unwrap(), Some((3, &b"b"[..])));
        assert_eq!(lines.next_bytes().unwrap(), None);
        assert_eq!(lines.bytes(), 10);
    }
}
