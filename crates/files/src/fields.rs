//! The lines of space-separated files, and their fields.

use crate::sink::{MOST_LINES, Sink, has_few_lines, not_utf8, quoted, until_too_many_errors};
use crate::source::FileContent;
use crate::text::without_byte_order_marks;
use clariq_core::{Problem, ProblemKind, counted, problem};
use std::ops::ControlFlow;
use std::str;

/// A line with its fields.
pub struct Line<'a> {
    /// The name of the file and the number of the line.
    pub at: (&'a str, u64),
    /// The fields, which are separated by white space.
    pub fields: &'a [&'a str],
    /// True if there were more fields, which are ignored.
    pub has_more: bool,
    text: &'a str,
}

impl Line<'_> {
    /// A problem that shows the beginning of this line.
    pub fn problem(&self, expected: &str, hint: &str) -> Problem {
        problem!(self.at, expected, (self.shown()), hint)
    }

    /// The beginning of this line, for messages.
    pub(crate) fn shown(&self) -> String {
        quoted(self.text)
    }

    /// The problem of a line with another number of fields.
    pub(crate) fn wrong_count(&self, form: LineForm, hint: &str) -> Problem {
        self.problem(&format!("{} fields, `{}`", form.most(), form.names), hint).kind(form.kind)
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
    /// The kind of the problem of a line with another number of fields.
    pub kind: ProblemKind,
}

impl LineForm {
    /// The number of fields with the optional ones.
    fn most(self) -> usize {
        self.names.split(' ').count()
    }
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
        counted(&[
            (
                self.comments.len(),
                "line begins with `#` and is a comment",
                "lines begin with `#` and are comments",
            ),
            (
                self.trailing_words.len(),
                "line has words after the last field, which are ignored",
                "lines have words after the last field, which are ignored",
            ),
        ])
    }

    /// Warns about comments: a line that was meant to be read may be among them.
    pub(crate) fn report_comments(&self, name: &str, sink: Sink) {
        let Some(&first) = self.comments.first() else { return };
        let found = format!("comments, {} in all", self.comments.len());
        let hint = "a line that begins with `#` and has not the form of the others is not read";
        sink(problem!((name, first), "lines to read", found, hint).warning());
    }
}

/// True for a field in quotes, as R and Python write them if they are not told otherwise.
pub fn is_quoted(field: &str) -> bool {
    field.len() > 1 && field.starts_with('"') && field.ends_with('"')
}

/// A field without quotes around it.
pub(crate) fn without_quotes_around(field: &str) -> &str {
    if is_quoted(field) { &field[1..field.len() - 1] } else { field }
}

/// The hint for a file whose ids stand in quotes.
pub const WITHOUT_QUOTES: &str = "the quotes would be a part of the ids: write the file without them (`quote = FALSE` in R, \
     `quoting=csv.QUOTE_NONE` in Python)";

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
            most: form.most(),
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
        let has_more = self.form.trailing_words && self.fields.len() > self.most;
        if has_more {
            self.ignored.trailing_words.push(at.1);
            self.fields.truncate(self.most);
        }
        let line = Line { at, fields: &self.fields, has_more, text };
        if (self.most - self.form.optional..=self.most).contains(&line.fields.len()) {
            return Ok(line);
        }
        let hint = count_hint(self.most, line.fields);
        Err(Box::new(line.wrong_count(self.form, hint)))
    }
}

/// Calls `each` with every line of `input` that is not blank.
pub fn for_each_line(
    input: &FileContent,
    form: LineForm,
    sink: Sink,
    mut each: impl FnMut(&Line, Sink),
) -> IgnoredLines {
    if let Some(problem) = in_json(input) {
        sink(problem);
        return IgnoredLines::default();
    }
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

/// The problem of a file in JSON: ranx, `pytrec_eval`, BEIR and pandas write runs and qrels so.
pub fn in_json(input: &FileContent) -> Option<Problem> {
    let text = input.bytes.trim_ascii();
    let inside = |open: &[u8], close: &[u8]| {
        let inside = text.strip_prefix(open)?.strip_suffix(close)?;
        Some(inside.trim_ascii().first().copied())
    };
    let found = if let Some(None | Some(b'"')) = inside(b"{", b"}") {
        "a JSON object, such as {\"topic\": {\"document\": score}}"
    } else if let Some(None | Some(b'{' | b'[' | b'"')) = inside(b"[", b"]") {
        "a JSON array"
    } else {
        return None;
    };
    let hint = "write a line for each document; in Python, `clariq.evaluate` takes dictionaries and frames";
    Some(problem!((&*input.name, 1), "lines of fields with blanks between them", found, hint))
}

/// The problem of a file without lines.
fn no_lines(name: &str, form: LineForm) -> Problem {
    let hint = "an empty file scores nothing: was the run that wrote it interrupted?";
    let expected = format!("lines of the form `{}`", form.names);
    problem!((name, 1), expected, "nothing", hint).kind(ProblemKind::Empty)
}

/// The hint for a wrong number of fields.
fn count_hint(wanted: usize, found: &[&str]) -> &'static str {
    if found.iter().any(|field| is_quoted(field)) {
        return WITHOUT_QUOTES;
    }
    if found[0].matches([',', ';']).count() >= wanted.min(3) - 1 {
        return "this looks like CSV: write blanks or tabs between the fields";
    }
    FORMS
}

/// The numbers of fields of the files whose fields are separated by blanks.
const FORMS: &str = "blanks or tabs separate fields: a line of a run has 6 of them, one of judgements 4, or 3 \
                     without the `0`, and one of a need file 2";

#[cfg(test)]
mod tests {
    use super::*;
    use crate::qrels::parse_qrels;
    use crate::sink::MOST_ERRORS;

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
    fn lines_of_other_writers_have_a_hint() {
        for (text, hint) in [
            ("q1 0 d 1 nist\n", "blanks or tabs separate fields: a line of a run has 6"),
            ("q1 d\n", "blanks or tabs separate fields: a line of a run has 6"),
            ("\"1\" \"q1\" 0 \"d\" 1\n", "the quotes would be a part of the ids"),
            ("q1;d;1\n", "this looks like CSV"),
        ] {
            let bytes = text.as_bytes().to_vec().into();
            let input = FileContent { name: "x".to_owned(), bytes };
            let mut hints = Vec::new();
            parse_qrels(&input, &mut |problem| hints.push(problem.hint));
            assert!(hints[0].starts_with(hint), "{text}: {hints:?}");
        }
    }
}
