//! Bounded lines of streams, and the fields of space-separated files.

use crate::sink::{MOST_LINES, Sink, has_few_lines, not_utf8, shorten, until_too_many_errors};
use crate::source::{FileContent, broken};
use crate::text::{BYTE_ORDER_MARK, not_text};
use clariq_core::{Location, Problem, ProblemKind, Result, problem};
use std::io::{self, BufRead};
use std::ops::ControlFlow;
use std::str;

/// Maximum length of a line with a request or a reply, in bytes.
pub const MOST_OF_A_LINE: u64 = 1 << 20;

/// Reads the lines of a stream, up to a maximum length. They end with LF, CRLF or CR.
pub struct BoundedLines<'a> {
    name: String,
    stream: Box<dyn BufRead + 'a>,
    most: u64,
    number: u64,
    bytes: u64,
    /// The bytes of the line that was read last, with one LF if it has an end.
    line: Vec<u8>,
    /// True after a CR: a LF that follows belongs to the same end.
    after_return: bool,
}

impl<'a> BoundedLines<'a> {
    /// Reads lines of at most `most` bytes. Messages show `name`.
    pub fn new(name: impl Into<String>, stream: impl BufRead + 'a, most: u64) -> Self {
        Self {
            name: name.into(),
            stream: Box::new(stream),
            most,
            number: 0,
            bytes: 0,
            line: Vec::new(),
            after_return: false,
        }
    }

    /// The number of the line that was read last.
    pub fn number(&self) -> u64 {
        self.number
    }

    /// The location of the line that was read last.
    pub fn location(&self) -> Location {
        Location::line(&self.name, self.number)
    }

    /// The number of bytes read so far.
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Returns the next line with its number, without its end and a byte order mark; `None` at the
    /// end of the stream. A line that is too long or not text is an error.
    pub fn next_bytes(&mut self) -> Result<Option<(u64, &[u8])>> {
        match self.advance()? {
            None => Ok(None),
            Some(Err(problem)) => Err(problem.into()),
            Some(Ok(())) => {
                let line = self.line.strip_suffix(b"\n").unwrap_or(&self.line);
                Ok(Some((self.number, line.strip_prefix(BYTE_ORDER_MARK).unwrap_or(line))))
            }
        }
    }

    /// Returns the next line without white space and byte order marks around it; `None` at the end
    /// of the stream. A line that is too long or not UTF-8 is skipped and returned as a problem.
    pub fn read_next(&mut self) -> Result<Option<Result<String, Problem>>> {
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
    fn advance(&mut self) -> Result<Option<Result<(), Problem>>> {
        let (count, ended) = self.read_piece()?;
        if count == 0 {
            return Ok(None);
        }
        self.number += 1;
        if ended || count <= self.most {
            return Ok(Some(match not_text(self.location(), &self.line) {
                Some(problem) => Err(problem),
                None => Ok(()),
            }));
        }
        // Skip the rest of the line.
        while !matches!(self.read_piece()?, (0, _) | (_, true)) {}
        let most = self.most;
        let problem = problem!(self.location(), "a line of at most {most} bytes", "a longer one");
        Ok(Some(Err(problem.hint("is this the right file?"))))
    }

    /// Reads to the end of the line, or one byte more than the limit. Returns the number of bytes,
    /// and true if the line ends there.
    fn read_piece(&mut self) -> Result<(u64, bool)> {
        self.line.clear();
        let most = usize::try_from(self.most).unwrap_or(usize::MAX).saturating_add(1);
        let mut ended = false;
        while !ended && self.line.len() < most {
            let buffer = match self.stream.fill_buf() {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                buffer => buffer.map_err(|error| broken(&self.name, error))?,
            };
            let Some(&first) = buffer.first() else { break };
            if std::mem::take(&mut self.after_return) && first == b'\n' {
                self.stream.consume(1);
                self.bytes += 1;
                continue;
            }
            let piece = &buffer[..buffer.len().min(most - self.line.len())];
            let end = memchr::memchr2(b'\n', b'\r', piece);
            self.line.extend_from_slice(&piece[..end.unwrap_or(piece.len())]);
            let mut taken = piece.len();
            if let Some(end) = end {
                ended = true;
                self.after_return = piece[end] == b'\r';
                self.line.push(b'\n');
                taken = end + 1;
            }
            self.stream.consume(taken);
            self.bytes += taken as u64;
        }
        Ok((self.line.len() as u64, ended))
    }
}

/// A line with its fields.
pub struct Line<'a> {
    /// The name of the file and the number of the line.
    pub at: (&'a str, u64),
    /// The fields, which are separated by white space.
    pub fields: &'a [&'a str],
    text: &'a str,
}

impl Line<'_> {
    /// A problem that shows the beginning of this line.
    pub fn problem(&self, expected: &str, hint: &str) -> Problem {
        problem!(self.at, expected, (format!("`{}`", shorten(self.text))), hint)
    }
}

/// The fields of a line.
#[derive(Clone, Copy)]
pub struct LineForm {
    /// Their names, shown in messages, with a blank between them.
    pub names: &'static str,
    /// The number of fields at the end that may be absent.
    pub optional: usize,
    /// If given, a line whose first character is `#` is a comment, as in `trec_eval` 10, unless it
    /// has as many fields as a line and this is true of them: ids may begin with `#`.
    pub unlike_comment: Option<fn(&[&str]) -> bool>,
    /// Words after the last field are ignored, as by `trec_eval`.
    pub trailing_words: bool,
}

/// Numbers of lines that are not read, or not to their end.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct IgnoredLines {
    /// Comments.
    pub comments: Vec<u64>,
    /// Lines with words after the last field.
    pub trailing_words: Vec<u64>,
}

impl IgnoredLines {
    /// Describes them, a sentence for each kind.
    pub fn describe(&self) -> Vec<String> {
        let mut sentences = Vec::new();
        if !self.comments.is_empty() {
            let count = self.comments.len();
            sentences.push(format!("{count} lines begin with `#` and are comments"));
        }
        if !self.trailing_words.is_empty() {
            let count = self.trailing_words.len();
            let what = "lines have words after the last field, which are ignored";
            sentences.push(format!("{count} {what}"));
        }
        sentences
    }

    /// Warns about comments: a line that was meant to be read may be among them.
    pub(crate) fn report_comments(&self, name: &str, sink: Sink) {
        let Some(&first) = self.comments.first() else { return };
        let found = format!("comments, {} in all", self.comments.len());
        let hint = "a line that begins with `#` and has not the form of the others is not read";
        sink(problem!((name, first), "lines to read", found, hint).warning());
    }
}

/// Reads the lines of a file one after the other. Blank lines are skipped.
struct FieldReader<'a> {
    name: &'a str,
    /// The number of the next line.
    number: u64,
    /// The bytes from there on; `None` after the last line.
    rest: Option<&'a [u8]>,
    form: LineForm,
    /// The number of fields with the optional ones.
    most: usize,
    fields: Vec<&'a str>,
    /// True until a line is found.
    is_empty: bool,
    ignored: IgnoredLines,
}

impl<'a> FieldReader<'a> {
    fn new(name: &'a str, bytes: &'a [u8], form: LineForm) -> Self {
        Self {
            name,
            number: 1,
            rest: Some(bytes),
            form,
            most: form.names.split(' ').count(),
            fields: Vec::new(),
            is_empty: true,
            ignored: IgnoredLines::default(),
        }
    }

    /// The next line, or its problem; `None` at the end.
    fn next(&mut self) -> Option<Result<Line<'_>, Box<Problem>>> {
        loop {
            let number = self.number;
            let at = (self.name, number);
            let bytes = self.next_bytes()?;
            let Ok(whole) = str::from_utf8(bytes) else {
                self.is_empty = false;
                return Some(Err(Box::new(not_utf8(at, "line", bytes))));
            };
            let text = without_byte_order_marks(whole.trim_ascii());
            if text.is_empty() {
                continue;
            }
            if whole.trim_start_matches('\u{feff}').starts_with('#') && self.is_comment(text) {
                self.ignored.comments.push(number);
                continue;
            }
            self.is_empty = false;
            return Some(self.split(at, text));
        }
    }

    fn next_bytes(&mut self) -> Option<&'a [u8]> {
        let rest = self.rest?;
        self.number += 1;
        let Some(end) = memchr::memchr(b'\n', rest) else {
            self.rest = None;
            return Some(rest);
        };
        self.rest = Some(&rest[end + 1..]);
        Some(&rest[..end])
    }

    /// True if a line that begins with `#` is a comment.
    fn is_comment(&self, text: &str) -> bool {
        let Some(has_form) = self.form.unlike_comment else { return false };
        let fields: Vec<&str> = text.split_ascii_whitespace().collect();
        let most = if self.form.trailing_words { usize::MAX } else { self.most };
        !(self.most - self.form.optional..=most).contains(&fields.len()) || !has_form(&fields)
    }

    fn split(&mut self, at: (&'a str, u64), text: &'a str) -> Result<Line<'_>, Box<Problem>> {
        self.fields.clear();
        self.fields.extend(text.split_ascii_whitespace());
        if self.form.trailing_words && self.fields.len() > self.most {
            self.ignored.trailing_words.push(at.1);
            self.fields.truncate(self.most);
        }
        let line = Line { at, fields: &self.fields, text };
        if (self.most - self.form.optional..=self.most).contains(&line.fields.len()) {
            return Ok(line);
        }
        let expected = format!("{} fields, `{}`", self.most, self.form.names);
        let hint = count_hint(self.most, line.fields.len());
        Err(Box::new(line.problem(&expected, hint)))
    }
}

/// Calls `each` with every line of `input` that is not blank.
pub fn for_each_line(
    input: &FileContent,
    form: LineForm,
    sink: Sink,
    mut each: impl FnMut(&Line, Sink),
) -> IgnoredLines {
    if !has_few_lines(input, MOST_LINES, sink) {
        return IgnoredLines::default();
    }
    let mut reader = FieldReader::new(&input.name, &input.bytes, form);
    until_too_many_errors(&input.name, sink, |sink| {
        match reader.next() {
            None => return ControlFlow::Break(()),
            Some(Ok(line)) => each(&line, sink),
            Some(Err(problem)) => sink(*problem),
        }
        ControlFlow::Continue(())
    });
    if reader.is_empty {
        sink(no_lines(&input.name, form));
    }
    reader.ignored.report_comments(&input.name, sink);
    reader.ignored
}

/// The problem of a file without lines.
fn no_lines(name: &str, form: LineForm) -> Problem {
    let hint = "an empty file scores nothing: was the run that wrote it interrupted?";
    let expected = format!("lines of the form `{}`", form.names);
    problem!((name, 1), expected, "nothing", hint).kind(ProblemKind::Empty)
}

/// Removes byte order marks from the start of a line: concatenated files have some.
fn without_byte_order_marks(line: &str) -> &str {
    const MARK: char = '\u{feff}';
    if !line.starts_with(MARK) {
        return line;
    }
    line.trim_start_matches(|c: char| c == MARK || c.is_ascii_whitespace())
}

/// The hint for a wrong number of fields, whose usual reason is a file of another kind.
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
    use crate::qrels::parse_qrels;
    use crate::sink::MOST_ERRORS;

    fn read_all(text: &[u8], most: u64) -> Vec<Result<String, String>> {
        let mut lines = BoundedLines::new("x", text, most);
        let mut all = Vec::new();
        while let Some(line) = lines.read_next().unwrap() {
            all.push(line.map_err(|problem| problem.to_string()));
        }
        all
    }

    #[test]
    fn reading_continues_after_a_bad_line() {
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
    fn reading_stops_after_too_many_errors() {
        let read = |text: String| {
            let input = FileContent { name: "x".to_owned(), bytes: text.into_bytes().into() };
            let mut problems = Vec::new();
            let count = parse_qrels(&input, &mut |problem| problems.push(problem.expected)).len();
            (count, problems.len(), problems.pop().unwrap_or_default())
        };
        let errors = read("x\n".repeat(2 * MOST_ERRORS));
        assert_eq!(errors, (0, MOST_ERRORS + 1, "fewer than 100000 errors".to_owned()));
    }

    #[test]
    fn lines_of_bytes_keep_spaces() {
        let mut lines = BoundedLines::new("x", &b"\xef\xbb\xbf a\xff\r\n\nb"[..], 10);
        assert_eq!(lines.next_bytes().unwrap(), Some((1, &b" a\xff"[..])));
        assert_eq!(lines.next_bytes().unwrap(), Some((2, &b""[..])));
        assert_eq!(lines.next_bytes().unwrap(), Some((3, &b"b"[..])));
        assert_eq!(lines.next_bytes().unwrap(), None);
        assert_eq!(lines.bytes(), 10);
    }
}
