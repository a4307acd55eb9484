//! `clariq validate`: the verdict of a collection's official program on a run, and problems that it
//! misses; and `clariq convert`: an iKAT run in the form that evaluation tools read.

use crate::arguments::{refuse_given, splits};
use crate::failure::{Outcome, print_findings};
use crate::output::{Cell, Sheet};
use crate::settings::Settings;
use crate::target::{data_of, kind_with_split, warn_of_split};
use clap::{Args, ValueEnum};
use clariq_collections::{OfficialVerdict, Validation, ValidationOptions};
use clariq_core::{Error, Findings, Hint, Problem, Result, Severity, bail, problem};
use clariq_experiment::record::{self, RecordedFile};
use clariq_files::{Source, Target, protect, refuse_input};
use clariq_track_clariq::write_candidates;
use clariq_track_ikat::convert::convert_to_trec;
use clariq_track_ikat::validate::MAX_WARNINGS;
use clariq_tracks::TRACKS;
use std::path::PathBuf;

#[derive(Args)]
pub(crate) struct ValidateArgs {
    /// TREC run, multi-turn run, need file, or iKAT submission (JSON; for 2025 JSON lines); plain or
    /// gzip, `-` for standard input. ClariQ: the run and the need file of a submission
    #[arg(required = true, num_args = 1..=2, value_name = "RUN")]
    runs: Vec<PathBuf>,
    #[arg(long, value_name = "SPLIT", help = format!(
        "Split that the run is for [{}] [default: the one in the run's record]", splits()))]
    pub(crate) split: Option<String>,
    /// iKAT 2023 and 2024: maximum number of warnings before the run is rejected
    #[arg(long, value_name = "N", default_value_t = MAX_WARNINGS)]
    max_warnings: usize,
    /// ClariQ: conversations that a multi-turn run answers, in any form that `run --conversations`
    /// reads; contexts without a prediction are counted
    #[arg(long, value_name = "FILE")]
    conversations: Option<PathBuf>,
    /// iKAT: ids of the collection's passages, one in a line, or page, number and checksum between
    /// tabs; passages that are not among them are named
    #[arg(long, value_name = "FILE")]
    passages: Option<PathBuf>,
}

pub(crate) fn validate(settings: &Settings, arguments: &ValidateArgs) -> Result<Outcome> {
    let tokens = &clariq_collections::tokens::count;
    let options = ValidationOptions {
        conversations: arguments.conversations.as_deref(),
        passages: arguments.passages.as_deref(),
        ..ValidationOptions::new(tokens, arguments.max_warnings)
    };
    let files: Vec<RecordedFile> =
        arguments.runs.iter().map(|run| RecordedFile::open(run)).collect();
    let split = &split_of(settings, arguments, &files)?;
    let Some(kind) = kind_with_split(settings, split)? else {
        let known = splits();
        let hint = "--split names the split that the run is for";
        bail!("--split", "one of {known}", "`{split}`", hint);
    };
    let mut sheet =
        Sheet::new(&["run", "verdict", "answered", "errors", "warnings", "not checked"]);
    let mut outcome = Outcome::Done;
    for run in &files {
        let file = Source::new(run.path());
        refuse_unused(kind.name, &options)?;
        let found = (kind.validate)(&data_of(settings, kind), split, &file, &options)?;
        print_findings(&found.official, None);
        print_findings(&found.let_through, Some("not checked officially"));
        found.notes.iter().for_each(|note| settings.note(note));
        note_record(settings, run);
        sheet.row(row(&file.name(), &found));
        if found.verdict == OfficialVerdict::Error {
            outcome = Outcome::CheckFailed;
        }
    }
    sheet.print(settings.format)?;
    Ok(outcome)
}

/// The split that was named, or that of the record of the first run that has one.
fn split_of(
    settings: &Settings,
    arguments: &ValidateArgs,
    files: &[RecordedFile],
) -> Result<String> {
    let recorded = files.iter().find_map(RecordedFile::split);
    match (&arguments.split, recorded) {
        (Some(named), recorded) => {
            warn_of_split(settings, named, recorded);
            Ok(named.clone())
        }
        (None, Some(recorded)) => Ok(recorded.to_owned()),
        // The contexts of conversations are in that file, and in no split.
        (None, None) if arguments.conversations.is_some() => {
            Ok(clariq_track_clariq::KIND.splits[0].name().to_owned())
        }
        (None, None) => {
            let run = &arguments.runs[0];
            // A missing file has no record either.
            drop(Source::new(run).stream()?);
            let found = format!("no record beside {}", run.display());
            let by_name = TRACKS.kind_of_file(run).filter(|_| !settings.data.were_named());
            let kind = by_name.or_else(|| TRACKS.kind_of(&settings.data.first).ok());
            let splits = kind.map(|kind| format!(", such as {}", kind.split_names().join(", ")));
            let expected = format!("the split that the run is for{}", splits.unwrap_or_default());
            bail!("--split", expected, found, "--split names it")
        }
    }
}

/// Refuses a file that the check of a collection would not look at.
fn refuse_unused(kind: &str, options: &ValidationOptions) -> Result<(), Problem> {
    let is_clariq = kind == clariq_track_clariq::KIND.name;
    let is_ikat = kind == clariq_track_ikat::KIND.name;
    let unused = [
        ("--conversations", options.conversations.is_some() && !is_clariq),
        ("--passages", options.passages.is_some() && !is_ikat),
    ];
    refuse_given(&unused, &format!("a run of {kind}"))
}

/// Warns of a run whose record says that it ranks a substitute of a collection, and notes that a language
/// model wrote texts of it, if the record lists prompts.
fn note_record(settings: &Settings, file: &RecordedFile) {
    let run = file.path();
    if let Some(remark) = file.remark() {
        settings.note(&format!("warning: {}: {remark}", run.display()));
    }
    let Some(record) = file.own() else { return };
    let prompts = record.prompts().join("`, `");
    if !prompts.is_empty() {
        let completions = record::completions_path(run);
        settings.note(&format!(
            "note: {}: a language model wrote texts by the prompts `{prompts}`; they are in {}",
            run.display(),
            completions.display()
        ));
    }
}

fn row(run: &str, found: &Validation) -> Vec<Cell> {
    let verdict = match found.verdict {
        OfficialVerdict::Error => "error",
        OfficialVerdict::NothingToValidate => "nothing to validate",
        OfficialVerdict::Accepted { .. } => "accepted",
    };
    let count = |findings: &Findings, severity| {
        let of_severity = findings.iter().filter(|fact| fact.first.severity == severity);
        Cell::count(of_severity.map(|fact| fact.count).sum())
    };
    vec![
        Cell::text(run),
        Cell::text(verdict),
        Cell::count(found.answered),
        count(&found.official, Severity::Error),
        count(&found.official, Severity::Warning),
        count(&found.let_through, Severity::Warning),
    ]
}

#[derive(Args)]
pub(crate) struct ConvertRunArgs {
    /// iKAT submission (JSON; for 2025 JSON lines), plain or gzip, `-` for standard input; or ClariQ's
    /// `top10k_docs_dict.pkl.tar.gz`
    #[arg(value_name = "RUN")]
    run: PathBuf,
    /// Output format
    #[arg(long, value_enum)]
    to: RunForm,
    /// File to write, compressed if its name ends in .gz
    #[arg(long, short, value_name = "FILE", default_value = "-")]
    output: PathBuf,
}

#[derive(Clone, Copy, ValueEnum)]
enum RunForm {
    /// A TREC run: an iKAT submission's passages, as the track's official program writes them, or the
    /// documents of every ClariQ topic, for `--candidates`
    Trec,
}

/// The error of a submission that cannot be read, or that of a run in its place.
fn of_run(source: &Source, error: Error) -> Error {
    let is_run = TRACKS.read_run(source).is_ok_and(|run| !run.lines.is_empty());
    if matches!(source, Source::Stdin) || !is_run {
        return error;
    }
    let name = source.name();
    let hint = Hint::from("it needs no conversion: ")
        .and(Hint::on_all_data(format!("eval {name}")))
        .and(" scores it");
    problem!(&*name, "an iKAT submission, as JSON", "a run", hint).into()
}

pub(crate) fn convert_run(arguments: &ConvertRunArgs) -> Result<Outcome> {
    protect(&arguments.run);
    refuse_input(&arguments.output)?;
    let source = Source::new(&arguments.run);
    let target = Target::new(&arguments.output);
    let is_dictionary = arguments.run.to_string_lossy().contains(".pkl");
    match arguments.to {
        RunForm::Trec if is_dictionary => write_candidates(&source, &target)?,
        RunForm::Trec => {
            convert_to_trec(&source, &target).map_err(|error| of_run(&source, error))?;
        }
    }
    Ok(Outcome::Done)
}
