//! Lines and fields of space-separated files: need files, qrels, and runs with a fault in them.

use crate::file_line::FileLine;
use crate::source::Input;
use crate::table::{Sink, not_utf8, shorten};
use clariq_core::{Location, Problem, ProblemKind};
use std::str;

/// How files that were concatenated carry their byte order marks; the one at the start of a file is
/// gone by now.
const BYTE_ORDER_MARK: char = '\u{feff}';

/// One line that is not blank.
pub struct Line<'a> {
    /// The location of the line.
    pub place: FileLine<'a>,
    /// Its fields, between white space.
    pub fields: &'a [&'a str],
    text: &'a str,
}

impl Line<'_> {
    /// A problem of this line, which is shown shortened.
    pub fn problem(&self, kind: ProblemKind, expected: impl Into<String>) -> Problem {
        Problem::new(self.place.location(), kind, expected, format!("`{}`", shorten(self.text)))
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
        let place = FileLine { file: &input.name, line: number };
        let bytes = bytes.trim_ascii();
        let Ok(text) = str::from_utf8(bytes) else {
            any = true;
            sink(not_utf8(place.location(), "line", bytes));
            continue;
        };
        let text = without_byte_order_marks(text);
        if text.is_empty() {
            continue;
        }
        any = true;
        fields.clear();
        fields.extend(text.split_ascii_whitespace());
        let line = Line { place, fields: &fields, text };
        if (most - optional..=most).contains(&fields.len()) {
            each(&line, sink);
        } else {
            let expected = format!("{most} fields, `{names}`");
            sink(
                line.problem(ProblemKind::FieldCount, expected)
                    .hint(count_hint(most, fields.len())),
            );
        }
    }
    if !any {
        let at = Location::line(&input.name, 1);
        sink(
            Problem::new(at, ProblemKind::Empty, format!("lines of the form `{names}`"), "nothing")
                .hint("an empty file scores nothing: was the run that wrote it interrupted?"),
        );
    }
}

fn without_byte_order_marks(text: &str) -> &str {
    if !text.starts_with(BYTE_ORDER_MARK) {
        return text;
    }
    text.trim_start_matches(|c: char| c == BYTE_ORDER_MARK || c.is_ascii_whitespace())
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
