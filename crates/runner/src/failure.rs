//! The end of a command: exit statuses, and the form of errors.

use crate::advice::advised;
use crate::messages::{LONGEST, render, say_labelled};
use clariq_core::{Findings, Problem, Severity, printable};
use console::{StyledObject, style};
use serde_json::{Value, json};

/// The outcome of a command that printed its results.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Outcome {
    Done,
    /// The command worked, and a check failed.
    CheckFailed,
}

/// Prints a problem to standard error, its severity in colour on a terminal.
pub(crate) fn print_problem(severity: &str, problem: &Problem) {
    let mut title = problem.title();
    if title.is_empty() {
        "an empty name".clone_into(&mut title);
    }
    let hint = render(&advised(problem));
    let parts = [
        (severity, &*title),
        ("  expected", &*problem.expected),
        ("     found", &*problem.found),
        ("hint", &*hint),
    ];
    for (label, text) in parts.into_iter().filter(|(_, text)| !text.is_empty()) {
        say_labelled(&format!("{}: ", coloured(label)), &printable(text, LONGEST));
    }
}

/// A label in the colour of its severity, unless standard error is no terminal or `NO_COLOR` is set.
fn coloured(label: &str) -> StyledObject<&str> {
    let styled = style(label).for_stderr();
    match label {
        "error" => styled.red().bold(),
        "warning" => styled.yellow().bold(),
        "hint" => styled.green(),
        _ => styled,
    }
}

/// Prints every fact to standard error, under its severity or under `label`.
pub(crate) fn print_findings(findings: &Findings, label: Option<&str>) {
    for finding in findings.iter() {
        let severity = match finding.first.severity {
            Severity::Error => "error",
            Severity::Warning => "warning",
        };
        print_problem(label.unwrap_or(severity), &finding.to_problem());
    }
}

/// The error object in place of the answer to a line.
pub(crate) fn error_object(line: Option<u64>, problem: &Problem) -> Value {
    let [expected, found, hint] = [&problem.expected, &problem.found, &render(&advised(problem))]
        .map(|text| printable(text, LONGEST).into_owned());
    json!({ "error": { "line": line, "expected": expected, "found": found, "hint": hint } })
}

/// The number of bad lines, as the subject of a sentence.
pub(crate) fn bad_lines_are(count: u64) -> String {
    if count == 1 { "1 bad line is".to_owned() } else { format!("{count} bad lines are") }
}
