//! `clariq validate`: what the official program of a collection says of a run, and what it lets
//! through.

use crate::failure::{Failure, Outcome, print_problem};
use crate::output::{Cell, Sheet};
use crate::settings::Settings;
use clap::Args;
use clariq_collections::ikat::passage_ids::PassageIds;
use clariq_collections::ikat::validate::{MAX_WARNINGS, Options, validate as validate_ikat};
use clariq_collections::{Validation, Verdict, clariq, ikat};
use clariq_core::{Findings, Location, Problem, ProblemKind, Severity};
use clariq_files::Source;
use std::path::PathBuf;

#[derive(Args)]
pub(crate) struct ValidateArgs {
    /// iKAT run as it is handed in (JSON, in 2025 JSON lines), or ClariQ run or need file; plain or
    /// gzip, `-` for standard input
    #[arg(value_name = "RUN")]
    run: PathBuf,
    /// What the run answers: 2023-train, 2023-test, 2024 or 2025 of iKAT; train, dev or test of
    /// ClariQ
    #[arg(long, value_name = "SPLIT")]
    split: String,
    /// iKAT: file of all passage ids, made by `clariq data passage-ids`; a passage that is not in
    /// it is a warning
    #[arg(long, value_name = "FILE")]
    passage_ids: Option<PathBuf>,
    /// iKAT, 2023 and 2024: more warnings than this are an error
    #[arg(long, value_name = "N", default_value_t = MAX_WARNINGS)]
    max_warnings: usize,
}

pub(crate) fn validate(settings: &Settings, arguments: &ValidateArgs) -> Result<Outcome, Failure> {
    let file = Source::new(&arguments.run);
    let found = match ikat::Split::parse(&arguments.split) {
        Some(split) => of_ikat(settings, arguments, split, &file)?,
        None => of_clariq(settings, arguments, &file)?,
    };
    print_findings(&found.official, None);
    print_findings(&found.let_through, Some("let through"));
    sheet(&file.name(), &found).print(settings.format)?;
    Ok(if found.verdict == Verdict::Error { Outcome::CheckFailed } else { Outcome::Done })
}

fn of_ikat(
    settings: &Settings,
    arguments: &ValidateArgs,
    split: ikat::Split,
    file: &Source,
) -> Result<Validation, Failure> {
    let topics = settings.ikat_folder().topics(split)?;
    let passage_ids = arguments.passage_ids.as_deref().map(PassageIds::open).transpose()?;
    let options = Options {
        passage_ids: passage_ids.as_ref(),
        tokens: &clariq_text::tokens::count,
        max_warnings: arguments.max_warnings,
    };
    Ok(validate_ikat(file, &topics, &options)?)
}

fn of_clariq(
    settings: &Settings,
    arguments: &ValidateArgs,
    file: &Source,
) -> Result<Validation, Failure> {
    let name = &arguments.split;
    let split = clariq::Split::ALL.into_iter().find(|split| split.name() == name);
    let Some(split) = split else { return Err(unknown_split(name).into()) };
    if arguments.passage_ids.is_some() {
        let (expected, found) = ("a split of iKAT beside it", format!("`{name}`"));
        let at = Location::file("--passage-ids");
        let problem = Problem::new(at, ProblemKind::Argument, expected, found);
        return Err(problem.hint("leave it out: ClariQ has questions and no passages").into());
    }
    let collection = settings.clariq()?;
    let topics = collection.split(split)?.topics;
    let topics = topics.iter().map(|topic| &topic.id);
    Ok(clariq::validate(file, topics, &collection.bank)?)
}

fn unknown_split(name: &str) -> Problem {
    let ikat = ikat::Split::ALL.map(ikat::Split::name);
    let clariq = clariq::Split::ALL.map(clariq::Split::name);
    let expected = format!("one of {}", [&ikat[..], &clariq[..]].concat().join(", "));
    Problem::new(Location::file("--split"), ProblemKind::Argument, expected, format!("`{name}`"))
        .hint("--split says what the run answers: an iKAT year, or a split of ClariQ")
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
