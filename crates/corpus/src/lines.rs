//! How are the space-separated files (runs, need files, qrels) split into lines and fields?

use crate::problem::{Location, Problem, ProblemKind};
use crate::source::Input;
use crate::table::{Sink, not_utf8, shorten};
use std::str;

/// One line that is not blank.
pub(crate) struct Line<'a> {
    pub(crate) at: Location,
    pub(crate) fields: Vec<&'a str>,
    text: &'a str,
}

impl Line<'_> {
    pub(crate) fn number(&self) -> u64 {
        self.at.line.unwrap_or_default()
    }

    pub(crate) fn problem(&self, kind: ProblemKind, expected: impl Into<String>) -> Problem {
        Problem::new(self.at.clone(), kind, expected, format!("`{}`", shorten(self.text)))
    }
}

/// Calls `each` with every line of `input` that is not blank; the form is `names` (shown in messages), of which the
/// last `optional` fields may be absent.
pub(crate) fn for_each_line(
    input: &Input,
    names: &str,
    optional: usize,
    sink: Sink,
    mut each: impl FnMut(&Line, Sink),
) {
    let most = names.split(' ').count();
    let mut any = false;
    for (place, bytes) in input.bytes.split(|&byte| byte == b'\n').enumerate() {
        let bytes = bytes.trim_ascii();
        if bytes.is_empty() {
            continue;
        }
        any = true;
        let at = Location::line(&input.name, place as u64 + 1);
        let Ok(text) = str::from_utf8(bytes) else {
            sink(not_utf8(at, "line", bytes));
            continue;
        };
        let line = Line { at, fields: text.split_ascii_whitespace().collect(), text };
        if (most - optional..=most).contains(&line.fields.len()) {
            each(&line, sink);
        } else {
            let expected = format!("{most} fields, `{names}`");
            sink(line.problem(ProblemKind::FieldCount, expected).hint("fields are separated by single spaces"));
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
