//! Sinks for the problems of a file, the limits of readers, and excerpts for messages.

use crate::source::{FileContent, Source};
use clariq_core::{Location, Problem, Result, Severity, problem};
use std::ops::ControlFlow;

/// Receives the problems of a file. Strict readers return the first error; `data check` collects
/// all problems, warnings too.
pub type Sink<'a> = &'a mut dyn FnMut(Problem);

/// Runs a parser and returns its first error. Warnings change no figure and are ignored: `data
/// check` shows them.
pub fn strictly<T>(parse: impl FnOnce(Sink) -> T) -> Result<T> {
    let mut first = None;
    let value = parse(&mut |problem| {
        if problem.severity == Severity::Error {
            first.get_or_insert(problem);
        }
    });
    match first {
        Some(problem) => Err(problem.into()),
        None => Ok(value),
    }
}

/// Reads a file of at most `most` bytes by a parser, and returns its first error.
pub fn read_strictly<T>(
    source: &Source,
    most: u64,
    parse: impl FnOnce(&FileContent, Sink) -> T,
) -> Result<T> {
    let input = source.read_at_most(most)?;
    strictly(|sink| parse(&input, sink))
}

/// Number of errors after which a reader gives up: the file is probably of another kind.
pub const MOST_ERRORS: usize = 100_000;

/// Calls `read` for record after record until it breaks off or has reported too many errors.
pub fn until_too_many_errors(
    name: &str,
    sink: Sink,
    mut read: impl FnMut(Sink) -> ControlFlow<()>,
) {
    let mut errors = 0;
    while errors < MOST_ERRORS {
        let ended = read(&mut |problem| {
            errors += usize::from(problem.severity == Severity::Error);
            sink(problem);
        });
        if ended.is_break() {
            return;
        }
    }
    let hint = "is this the right file? the rest of it is not read";
    sink(problem!(name, "fewer than {MOST_ERRORS} errors", "as many", hint));
}

/// Maximum number of lines of a run or of judgements: a thousand for each of eight thousand topics.
pub const MOST_LINES: usize = 8_000_000;

/// True if a file has at most `most` lines; otherwise a problem is reported. A small packed
/// file may contain millions of empty lines.
pub fn has_few_lines(input: &FileContent, most: usize, sink: Sink) -> bool {
    let lines = memchr::memchr_iter(b'\n', &input.bytes).count();
    if lines > most {
        let hint = "is this the right file? a thousand lines for a topic are plenty";
        let at = (&*input.name, most as u64 + 1);
        sink(problem!(at, "at most {most} lines", "{lines}", hint));
    }
    lines <= most
}

/// Calls `each` with every line that is not blank, and its place, until there are too many errors.
pub fn for_each_filled_line(
    input: &FileContent,
    sink: Sink,
    mut each: impl FnMut((&str, u64), &[u8], Sink),
) {
    if !has_few_lines(input, MOST_LINES, sink) {
        return;
    }
    let mut lines = input.filled_lines();
    until_too_many_errors(&input.name, sink, |sink| {
        let Some((number, line)) = lines.next() else { return ControlFlow::Break(()) };
        each((&*input.name, number), line, sink);
        ControlFlow::Continue(())
    });
}

/// The problem of a field that is not UTF-8.
pub fn not_utf8(at: impl Into<Location>, column: &str, bytes: &[u8]) -> Problem {
    let found = format!("{:?} in `{column}`", shorten(&String::from_utf8_lossy(bytes)));
    let hint = "convert the file, for example with `iconv -f latin1 -t utf-8`";
    problem!(at, "UTF-8 text", found, hint)
}

/// A value between backquotes, shortened for a message.
pub fn quoted(text: &str) -> String {
    format!("`{}`", shorten(text))
}

/// Shortens a value to 80 characters for a message.
pub fn shorten(text: &str) -> String {
    clariq_core::shorten(text, 80).into_owned()
}
