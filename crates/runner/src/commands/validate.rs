//! `clariq validate`: what the official program of a collection says of a run, and what it lets
//! through.

use crate::failure::{Failure, Outcome, print_problem};
use crate::output::{Cell, Sheet};
use crate::settings::Settings;
use clap::Args;
use clariq_collections::{KINDS, MAX_WARNINGS, Validation, ValidationOptions, Verdict};
use clariq_core::{Findings, Problem, Severity, problem};
use clariq_files::Source;
use std::path::PathBuf;

#[derive(Args)]
pub(crate) struct ValidateArgs {
    /// TREC run, iKAT submission (JSON; for 2025 JSON lines), or need file; plain or gzip, `-` for
    /// standard input
    #[arg(value_name = "RUN")]
    run: PathBuf,
    /// Split of the run: 2023-train, 2023-test, 2024 or 2025 of iKAT; train, dev or test of ClariQ;
    /// 2022 of CAsT
    #[arg(long, value_name = "SPLIT")]
    split: String,
    /// iKAT: file of all passage ids, from `clariq data passage-ids`; other passages cause a
    /// warning
    #[arg(long, value_name = "FILE")]
    passage_ids: Option<PathBuf>,
    /// iKAT 2023 and 2024: maximum number of warnings before the run is rejected
    #[arg(long, value_name = "N", default_value_t = MAX_WARNINGS)]
    max_warnings: usize,
}

pub(crate) fn validate(settings: &Settings, arguments: &ValidateArgs) -> Result<Outcome, Failure> {
    let file = Source::new(&arguments.run);
    let Some(kind) = settings.kind_with_split(&arguments.split) else {
        return Err(unknown_split(&arguments.split).into());
    };
    let options = ValidationOptions {
        passage_ids: arguments.passage_ids.as_deref(),
        tokens: &clariq_text::tokens::count,
        max_warnings: arguments.max_warnings,
    };
    let found = (kind.validate)(&settings.data_of(kind), &arguments.split, &file, &options)?;
    print_findings(&found.official, None);
    print_findings(&found.let_through, Some("let through"));
    sheet(&file.name(), &found).print(settings.format)?;
    Ok(if found.verdict == Verdict::Error { Outcome::CheckFailed } else { Outcome::Done })
}

fn unknown_split(name: &str) -> Problem {
    let splits: Vec<&str> = KINDS.iter().flat_map(|kind| kind.splits).copied().collect();
    let splits = splits.join(", ");
    problem!("--split", "one of {splits}", "`{name}`", "--split says what the run answers")
}

/// Prints every fact to standard error, under its severity or under `label`.
fn print_findings(findings: &Findings, label: Option<&str>) {
    for finding in findings.iter() {
        let severity = match finding.first.severity {
            Severity::Error => "error",
            Severity::Warning => "warning",
        };
        print_problem(label.unwrap_or(severity), &finding.to_problem());
    }
}

fn sheet(run: &str, found: &Validation) -> Sheet {
    let verdict = match found.verdict {
        Verdict::Error => "error",
        Verdict::NothingToValidate => "nothing to validate",
        Verdict::Accepted { .. } => "accepted",
    };
    let count = |findings: &Findings, severity| {
        let of_severity = findings.iter().filter(|fact| fact.first.severity == severity);
        Cell::count(of_severity.map(|fact| fact.count).sum())
    };
    let mut sheet =
        Sheet::new(&["run", "verdict", "answered", "errors", "warnings", "let through"]);
    sheet.row(vec![
        Cell::text(run),
        Cell::text(verdict),
        Cell::count(found.answered),
        count(&found.official, Severity::Error),
        count(&found.official, Severity::Warning),
        count(&found.let_through, Severity::Warning),
    ]);
    sheet
}
