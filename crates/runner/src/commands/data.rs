//! `clariq data`: check, count, fetch and export the files of a collection.

mod language;

use crate::arguments::{NamedValues, folder, one_of};
use crate::failure::{Outcome, print_findings};
use crate::output::{Cell, Format, Sheet, print_json};
use crate::settings::Settings;
use crate::target::{note_default_data, open_collection};
use clap::builder::{PossibleValuesParser, TypedValueParser};
use clap::{Args, Subcommand};
use clariq_collections::fetch::{FetchOutcome, FetchRequest, fetch as fetch_files};
use clariq_collections::{Amount, DataDir, Kind, OWN, Release, ReleasedFile, Split};
use clariq_core::{Result, Severity, SplitRole, bail, count_of};
use clariq_experiment::Observer;
use clariq_experiment::divide::{Shares, divide};
use clariq_experiment::export::{export as write_files, write_requests};
use clariq_experiment::run::folder_of;
use clariq_files::{Source, Target, protect, refuse_input};
use clariq_net::download::Origin;
use clariq_track_clariq::conversation::{
    ConversationShape, TurnOrder, synthesize as synthesize_files,
};
use clariq_track_clariq::evaluation::facet_requests as make_facet_requests;
use clariq_track_clariq::{RetrievedWith, convert_archives};
use clariq_tracks::TRACKS;
use std::path::{Path, PathBuf};

#[derive(Subcommand)]
pub(crate) enum DataCommand {
    /// Report all defects of a data folder
    Check,
    /// Count requests, documents, labels and words
    Stats,
    /// Download the released files of a collection and verify them
    #[command(alias = "download")]
    Fetch(FetchArgs),
    /// Write the collection as JSON lines and TREC qrels, for other tools
    Export(ExportArgs),
    /// Divide the judged requests of a split into train, dev and test, in a new folder
    ///
    /// For documents of your own with one split. Requests of the same words stay together; requests without
    /// judgements are left out.
    Split(SplitArgs),
    /// Write a request per facet with the first question of a run and its answer, to search documents
    /// of your own
    FacetRequests(FacetRequestsArgs),
    /// Generate multi-turn conversations from the rows of a labelled split
    Synthesize(SynthesizeArgs),
    /// Cut web pages into passages, by the guidelines of TREC iKAT
    ///
    /// The first 10,000 characters of a page are used, without line breaks. Passages are windows of
    /// ten sentences that start every five sentences. Files of any length are processed in bounded
    /// memory and on all cores; the output does not depend on the number of threads.
    Segment(SegmentArgs),
}

pub(crate) fn data(settings: &Settings, command: &DataCommand) -> Result<Outcome> {
    match command {
        DataCommand::Check => check(settings),
        DataCommand::Stats => stats(settings),
        DataCommand::Fetch(arguments) => fetch(settings, arguments),
        DataCommand::Export(arguments) => export(settings, arguments),
        DataCommand::Split(arguments) => split(settings, arguments),
        DataCommand::FacetRequests(arguments) => facet_requests(settings, arguments),
        DataCommand::Synthesize(arguments) => synthesize(settings, arguments),
        DataCommand::Segment(arguments) => segment(settings, arguments),
    }
}

fn check(settings: &Settings) -> Result<Outcome> {
    note_default_data(settings);
    let report = TRACKS.check(&settings.data.first)?;
    let mut sheet = Sheet::new(&["file", "errors", "warnings"]);
    let counts = report.findings.counts();
    for file in &report.files {
        let count = |severity| counts.get(&(&**file, severity)).copied().unwrap_or_default();
        let [errors, warnings] =
            [Severity::Error, Severity::Warning].map(|severity| Cell::count(count(severity)));
        sheet.row(vec![Cell::text(file), errors, warnings]);
    }
    for file in &report.absent {
        sheet.row(vec![Cell::text(format!("{file} (missing)")), Cell::Nothing, Cell::Nothing]);
    }
    for note in &report.notes {
        settings.note(&format!("note: {note}"));
    }
    print_findings(&report.findings, None);
    sheet.print(settings.format)?;
    if report.findings.has_errors() {
        return Ok(Outcome::CheckFailed);
    }
    if settings.data.is(&OWN)
        && let Some(note) = language::note(report.texts.texts())
    {
        settings.note(&note);
    }
    Ok(Outcome::Done)
}

fn stats(settings: &Settings) -> Result<Outcome> {
    let statistics = open_collection(settings)?.statistics()?;
    // JSON has the figures by name, not as a transposed table.
    if settings.format == Some(Format::Json) {
        return print_json(&statistics.named);
    }
    // One row per figure and one column per split.
    let mut sheet = Sheet::new(&[&["statistic"], &statistics.columns[..]].concat());
    for row in &statistics.rows {
        let mut cells = vec![Cell::text(&row.name)];
        cells.extend(row.amounts.iter().map(|amount| match *amount {
            Some(Amount::Count(count)) => Cell::count(count),
            Some(Amount::Mean(mean)) => Cell::Number(mean, 1),
            None => Cell::Nothing,
        }));
        sheet.row(cells);
    }
    sheet.print(settings.format)
}

#[derive(Args)]
pub(crate) struct ExportArgs {
    /// Folder for the files: `documents.jsonl`, and for each split `requests.<split>.jsonl`,
    /// `qrels.<split>.txt`, and `annotations.<split>.jsonl` with annotations that systems do not
    /// see (needs, facets, resolved utterances, statements)
    #[arg(long, short, value_name = "DIR", value_parser = folder())]
    output: PathBuf,
}

fn export(settings: &Settings, arguments: &ExportArgs) -> Result<Outcome> {
    let collection = open_collection(settings)?;
    let task = collection.tasks()[0];
    let mut sheet = Sheet::new(&["file", "lines"]);
    for (path, lines) in write_files(&*collection, task, &arguments.output)? {
        sheet.row(vec![Cell::path(&path), Cell::count(lines)]);
    }
    sheet.print(settings.format)
}

#[derive(Args)]
pub(crate) struct SplitArgs {
    /// Share of the requests that become train
    #[arg(long, value_name = "SHARE", value_parser = share)]
    train: f64,
    /// Share of the requests that become dev; the rest become test
    #[arg(long, value_name = "SHARE", value_parser = share)]
    dev: f64,
    /// Split to divide [default: the only one]
    #[arg(long, value_name = "SPLIT")]
    split: Option<String>,
    /// Folder for the documents, and for the requests and judgements of each part; new or empty
    #[arg(long, short, value_name = "DIR", value_parser = folder())]
    output: PathBuf,
}

fn share(text: &str) -> Result<f64, String> {
    let share = text.parse::<f64>().ok().filter(|share| (0.0..=1.0).contains(share));
    share.ok_or_else(|| "expected a number from 0 to 1, such as 0.6".to_owned())
}

fn split(settings: &Settings, arguments: &SplitArgs) -> Result<Outcome> {
    let shares = Shares { train: arguments.train, dev: arguments.dev };
    if shares.train + shares.dev > 1.0 + 1e-9 {
        let found = format!("{} together", shares.train + shares.dev);
        bail!("--dev", "shares of at most 1 together with --train", found);
    }
    let collection = open_collection(settings)?;
    let present: Vec<Split> = collection.available_splits().collect();
    let split = match (&arguments.split, &present[..]) {
        (Some(name), _) => collection.find_split(name)?,
        (None, [only]) => *only,
        (None, several) => {
            let found: Vec<&str> = several.iter().map(|split| split.name()).collect();
            let found = if found.is_empty() { "none".to_owned() } else { found.join(", ") };
            bail!(collection.location(), "one split to divide, or --split with its name", found)
        }
    };
    let task = collection.tasks()[0];
    let seed = settings.options.seed;
    let divided = divide(&*collection, task, split, shares, seed, &arguments.output)?;
    let mut sheet = Sheet::new(&["file", "lines"]);
    for (path, lines) in &divided.files {
        sheet.row(vec![Cell::path(path), Cell::count(*lines)]);
    }
    if divided.left_out > 0 {
        let requests = count_of(divided.left_out, "request");
        settings.note(&format!("note: {requests} without judgements left out"));
    }
    sheet.print(settings.format)
}

#[derive(Args)]
pub(crate) struct SegmentArgs {
    /// Web pages in ClueWeb22's format: JSON lines with ClueWeb22-ID, URL and Clean-Text, plain or
    /// gzip; `-` for standard input
    #[arg(required = true, value_name = "PAGES")]
    pages: Vec<PathBuf>,
    /// Folder for passages.jsonl, passages.trecweb and hashes.tsv (page, number of the passage, MD5
    /// of its text)
    #[arg(long, short, value_name = "DIR", value_parser = folder())]
    output: PathBuf,
}

fn segment(settings: &Settings, arguments: &SegmentArgs) -> Result<Outcome> {
    let pages: Vec<Source> = arguments.pages.iter().map(Source::new).collect();
    let task = settings.begin("pages", None);
    let mut reported = 0;
    let total = clariq_track_ikat::segment(&pages, &arguments.output, |progress| {
        task.advance(progress.pages - reported);
        reported = progress.pages;
    })?;
    task.finish(&format!("{} pages, {} passages", total.pages, total.passages));
    Sheet::of([
        ("pages", Cell::Count(total.pages)),
        ("passages", Cell::Count(total.passages)),
        ("bytes read", Cell::Count(total.bytes)),
        ("folder", Cell::path(&arguments.output)),
    ])
    .print(settings.format)
}

#[derive(Args)]
pub(crate) struct FetchArgs {
    /// Collection to fetch (iKAT: topics and labels of all years, passages of 2023)
    #[arg(long, value_name = "NAME", default_value = TRACKS.kinds()[0].name, ignore_case = true,
          value_parser = collections())]
    collection: String,
    /// Download from this URL or copy from this folder, which must have the release's layout
    #[arg(long, value_name = "URL|DIR")]
    from: Option<String>,
    /// Also download the archives with conversations and multi-turn evaluation tables (large), and
    /// convert them once to JSON lines, which are read faster
    #[arg(long)]
    all: bool,
    /// Replace files that differ from the released ones
    #[arg(long)]
    force: bool,
}

/// The collections with a release.
fn releases() -> impl Iterator<Item = (&'static Kind, Release)> {
    TRACKS.kinds().iter().copied().filter_map(|kind| Some((kind, kind.released?)))
}

fn collections() -> impl TypedValueParser<Value = String> {
    PossibleValuesParser::new(releases().map(|(kind, _)| kind.name))
}

fn fetch(settings: &Settings, arguments: &FetchArgs) -> Result<Outcome> {
    let name = &arguments.collection;
    let Some((kind, release)) = releases().find(|(kind, _)| kind.name.eq_ignore_ascii_case(name))
    else {
        unreachable!("clap accepts only these names")
    };
    let folder = match &settings.data.first {
        DataDir::Folder(folder) if settings.data.were_named() => folder.clone(),
        _ => PathBuf::from(kind.usual),
    };
    let existing = TRACKS.kind_of(&DataDir::Folder(folder.clone())).ok();
    if let Some(other) = existing.filter(|other| other.name != kind.name) {
        let found = format!("files of {}", other.name);
        let hint = "name another folder";
        let expected = format!("a folder for the files of {}", kind.name);
        bail!(&folder, expected, found, hint);
    }
    settings.note(&format!("note: fetching into {}", folder.display()));
    let mut request = FetchRequest { force: arguments.force, ..FetchRequest::of(&release, folder) };
    if arguments.all {
        request.files = release.files();
    }
    if let Some(from) = &arguments.from {
        request.origin = Origin::parse(from)?;
    }
    let data = DataDir::Folder(request.folder.clone());
    let fetched = fetch_files(&request, settings)?;
    let mut sheet = Sheet::new(&["file", "outcome"]);
    for (file, outcome) in &fetched {
        sheet.row(vec![Cell::text(file.name), Cell::text(describe(file, *outcome))]);
    }
    sheet.print(settings.format)?;
    if arguments.all {
        for file in convert_archives(&data)? {
            settings.note(&format!("note: converted to {}", file.display()));
        }
    }
    Ok(Outcome::Done)
}

fn describe(file: &ReleasedFile, outcome: FetchOutcome) -> String {
    let checked = file.sha256.map_or("no published checksum", |_| "checksum verified");
    match outcome {
        FetchOutcome::Fetched(bytes) => format!("fetched, {bytes} bytes, {checked}"),
        FetchOutcome::Present => format!("already present, {checked}"),
        FetchOutcome::NotThere => "not found in that folder".to_owned(),
    }
}

#[derive(Args)]
pub(crate) struct FacetRequestsArgs {
    /// Run of question relevance, whose first question per topic is asked
    #[arg(value_name = "RUN")]
    run: PathBuf,
    /// Labelled split whose facets are searched for [default: dev, or the only split]
    #[arg(long, value_name = "SPLIT")]
    split: Option<String>,
    /// Leave the answers out
    #[arg(long)]
    no_answer: bool,
    /// File to write, JSON lines for `clariq rank` and `clariq run --requests`; `-` for standard
    /// output
    #[arg(long, short, value_name = "FILE")]
    output: PathBuf,
}

fn facet_requests(settings: &Settings, arguments: &FacetRequestsArgs) -> Result<Outcome> {
    let collection = open_collection(settings)?;
    protect(&arguments.run);
    refuse_input(&arguments.output)?;
    let with =
        if arguments.no_answer { RetrievedWith::QuestionAlone } else { RetrievedWith::Answer };
    let run = Source::new(&arguments.run);
    let split = collection.find_split_or(arguments.split.as_deref(), SplitRole::Tune)?;
    let facet_requests = make_facet_requests(&*collection, &run, split, with)?;
    let target = Target::new(&arguments.output);
    write_requests(&facet_requests.requests, &target)?;
    if target.is_stream() {
        return Ok(Outcome::Done);
    }
    Sheet::of([
        ("facets", Cell::count(facet_requests.requests.len())),
        ("without a question", Cell::count(facet_requests.not_asked)),
        ("without an answer", Cell::count(facet_requests.not_answered)),
        ("file", Cell::path(&arguments.output)),
    ])
    .print(settings.format)
}

#[derive(Args)]
pub(crate) struct SynthesizeArgs {
    /// Labelled split whose questions and answers are combined [default: dev, or the only split]
    #[arg(long, value_name = "SPLIT")]
    split: Option<String>,
    /// File to write: .jsonl or .jsonl.gz; can be repeated [default:
    /// runs/<collection>/<split>_synthetic.jsonl]
    #[arg(long, short, value_name = "FILE")]
    output: Vec<PathBuf>,
    /// Maximum number of turns per conversation, including the next question
    #[arg(long, value_name = "N", default_value_t = 3)]
    turns: usize,
    /// Generate each set of past turns once, or in every order
    #[arg(long, value_name = "ORDER", default_value = "combinations", value_parser = one_of(ORDERS))]
    order: TurnOrder,
    /// Include the empty question
    #[arg(long)]
    with_no_question: bool,
    /// Write one record per context, without the next question, as in the challenge's test file
    #[arg(long)]
    contexts_only: bool,
}

fn synthesize(settings: &Settings, arguments: &SynthesizeArgs) -> Result<Outcome> {
    let collection = open_collection(settings)?;
    let split = collection.find_split_or(arguments.split.as_deref(), SplitRole::Tune)?;
    let usual = folder_of(Path::new("runs"), &*collection);
    let usual = vec![usual.join(format!("{split}_synthetic.jsonl"))];
    let outputs = if arguments.output.is_empty() { &usual } else { &arguments.output };
    let shape = ConversationShape {
        turns: arguments.turns,
        order: arguments.order,
        no_question: arguments.with_no_question,
        contexts_only: arguments.contexts_only,
    };
    let synthesis = synthesize_files(&*collection, split, shape, outputs)?;
    let mut sheet = Sheet::new(&["split", "facets", "turns so far", "contexts"]);
    let facets = || Cell::count(synthesis.facets);
    for (turns, &count) in synthesis.contexts.iter().enumerate() {
        sheet.row(vec![Cell::text(split.name()), facets(), Cell::count(turns), Cell::count(count)]);
    }
    let total = Cell::count(synthesis.contexts.iter().sum());
    sheet.row(vec![Cell::text("all"), facets(), Cell::Nothing, total]);
    if !outputs.iter().any(|path| Target::new(path).is_stream()) {
        sheet.print(settings.format)?;
    }
    Ok(Outcome::Done)
}

const ORDERS: NamedValues<TurnOrder> =
    &[("combinations", TurnOrder::Combinations, ""), ("permutations", TurnOrder::Permutations, "")];
