//! `clariq rank`: the rankings and answers of a system for a stream of requests.

mod printer;
mod table;

use super::calls::AnswerArgs;
use crate::arguments::{IndexPlace, ParameterArguments, RewriteArguments};
use crate::data_folders::USUAL_DATA;
use crate::depth::{at_depth, no_single_depth, sets_depth};
use crate::failure::{Outcome, bad_lines_are};
use crate::output::{Format, terminal};
use crate::settings::Settings;
use crate::target::collection_for;
use clap::Args;
use clariq_core::{Hint, Problem, ProblemKind, Result, bail, count_of, problem};
use clariq_experiment::requests::{ARCHIVE, RequestReader};
use clariq_experiment::{Contexts, NeedScope, UserRequest, open_system};
use clariq_files::Source;
use clariq_files::archive::Archive;
use clariq_rank::{Override, Uses};
use clariq_systems::{SystemConfig, built_in};
use clariq_tracks::TRACKS;
use serde_json::json;
use std::cell::Cell;
use std::io::{self, BufRead, BufReader};
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::slice;

pub(super) use printer::response_json;
use printer::{Printer, print_header};

/// The maximum number of requests of `--batch`.
const MOST_IN_BATCH: usize = 100_000;

/// The default of `--depth`.
const USUAL_DEPTH: usize = 30;

#[derive(Args)]
pub(crate) struct RankArgs {
    /// Built-in system or configuration file [default: bm25, or bm25-english for documents of your own],
    /// and the text of a request to answer instead of --requests
    #[arg(value_names = ["SYSTEM", "TEXT"], num_args = 1..=2, required_unless_present = "requests")]
    words: Vec<String>,
    /// Requests as JSON lines, plain or gzip; `-` for standard input, answered line by line
    #[arg(long, value_name = "FILE", default_value = "-", aliases = ["topics", "queries"])]
    requests: PathBuf,
    /// Maximum number of documents per request. The only stage with a lower depth gets this one; a
    /// system with several such stages is refused, unless the requests have `candidates`, which are
    /// all ranked [default: 30, or all for requests with `candidates` and where --set sets a depth]
    #[arg(long, value_name = "K", short_alias = 'k', aliases = ["k", "top-k", "topk", "hits"])]
    depth: Option<NonZeroUsize>,
    /// Read all requests first and rank them together, for systems that use the batch
    #[arg(long)]
    batch: bool,
    /// Answer a bad line with an error object, and continue
    #[arg(long)]
    skip_bad: bool,
    /// Use this need model, saved by `clariq need train -o`, instead of the system's own
    #[arg(long, value_name = "FILE")]
    need_model: Option<PathBuf>,
    #[command(flatten)]
    rewritten: RewriteArguments,
    #[command(flatten)]
    pub(crate) parameters: ParameterArguments,
    #[command(flatten)]
    calls: AnswerArgs,
    #[command(flatten)]
    place: IndexPlace,
}

impl RankArgs {
    /// The system, if it is named, and the text of the request, if there is one. A single argument is a text
    /// if it can be no system: it has blanks, or it is a word that no system's name resembles.
    fn system_and_text(&self) -> Result<(Option<&str>, Option<&str>)> {
        let found = match &self.words[..] {
            [text] if is_text(text) => (None, Some(text.as_str())),
            [system] => (Some(system.as_str()), None),
            [system, text, ..] => (Some(system.as_str()), Some(text.as_str())),
            [] => (None, None),
        };
        if found.1.is_some() && self.requests != Path::new("-") {
            let hint = "a text is the only request: leave one of them out";
            bail!("--requests", "no text beside it", "a text", hint);
        }
        Ok(found)
    }
}

/// True for a single argument that names no system.
fn is_text(word: &str) -> bool {
    let is_word = || word.chars().all(char::is_alphabetic) && built_in::source(word).is_err();
    let is_text =
        word.contains(char::is_whitespace) || is_word() && built_in::meant(word).is_none();
    is_text && !Path::new(word).exists()
}

pub(crate) fn rank(settings: &Settings, arguments: &RankArgs) -> Result<Outcome> {
    // All checks come before an index is built.
    let format = format(settings.format)?;
    let overrides = arguments.parameters.overrides()?;
    let depth = match arguments.depth {
        None if sets_depth(&overrides) => None,
        depth => Some(depth.map_or(USUAL_DEPTH, NonZeroUsize::get)),
    };
    let rewrites = arguments.rewritten.read()?;
    let (named, text) = arguments.system_and_text()?;
    let system = named.unwrap_or_else(|| usual_system(settings));
    check_order(settings, system, text)?;
    let (config, cut) = load_with_depth(settings, system, arguments.depth, &overrides)?;
    let config = config.with_rewrites(rewrites.as_ref())?;
    let archive = match Source::new(&arguments.requests) {
        Source::Stdin => None,
        source => Some(Archive::new(&[source], &ARCHIVE)?),
    };
    let (name, lines): (&str, Option<Box<dyn BufRead>>) = match (&archive, text) {
        (_, Some(text)) => {
            let line = json!({ "id": "request", "text": text });
            ("TEXT", Some(Box::new(io::Cursor::new(format!("{line}\n")))))
        }
        (None, None) => ("<stdin>", None),
        (Some(archive), None) => (archive.name(), Some(Box::new(BufReader::new(archive.open()?)))),
    };
    let collection = collection_for(settings, slice::from_ref(&config), None)?;
    if named.is_none() && format == Format::Table {
        settings.note(&format!("note: using the system {system} (`clariq systems` lists others)"));
    }
    let mut session = settings.session(&*collection, Some(&arguments.place))?;
    session.options.need_model.clone_from(&arguments.need_model);
    session.registry = arguments.calls.registry()?;
    if config.uses.contains(&Uses::Batch) && !arguments.batch {
        let expected = "a system that answers one request at a time";
        let found = "uses = [\"batch\"]: it compares the requests with each other";
        bail!(&*config.name, expected, found, "--batch reads all requests and ranks them together");
    }
    let contexts = Contexts::new(&session);
    let system = open_system(&contexts, &config, NeedScope::Always)?;
    system.warm_up()?;
    print_header(format)?;
    let all_candidates = arguments.depth.is_none();
    let printer = Printer { system, format, depth, all_candidates, cut, answered: Cell::default() };
    let reader = |name: &str, lines| {
        let requests =
            RequestReader::new(name, lines, session.documents, config.ranks_statements());
        if format == Format::Trec { requests.with_unique_ids() } else { requests }
    };
    if let Some(archive) = archive.as_ref().filter(|_| !arguments.skip_bad) {
        let lines = Box::new(BufReader::new(archive.open()?));
        check(&printer, archive.name(), reader(archive.name(), lines))?;
    }
    // Whether standard input is packed is known as soon as something arrives.
    let lines = lines.map_or_else(|| Source::Stdin.stream(), Ok)?;
    let mut requests = reader(name, lines);
    let bad = if arguments.batch {
        rank_batch(&printer, &mut requests, arguments.skip_bad)?
    } else {
        rank_each(&printer, &mut requests, arguments.skip_bad)?
    };
    if let Some(rewrites) = &config.rewrites {
        let (all, missing) = printer.answered.get();
        rewrites.report_missing(missing, all, settings);
    }
    if bad > 0 {
        let what =
            if printer.format == Format::Jsonl { "answered with an error" } else { "left out" };
        settings.note(&format!("warning: {name}: {} {what}", bad_lines_are(bad)));
    }
    Ok(Outcome::Done)
}

/// Loads the system so that it ranks `--depth` documents. Where no single stage decides that, the problem is
/// told as soon as a request has more documents.
fn load_with_depth(
    settings: &Settings,
    system: &str,
    depth: Option<NonZeroUsize>,
    overrides: &[Override],
) -> Result<(SystemConfig, Option<Problem>)> {
    let config = settings.load(system, overrides)?;
    let Some(depth) = depth.map(NonZeroUsize::get) else { return Ok((config, None)) };
    let depths = config.plan.depths();
    let mut cutting = depths.clone();
    cutting.retain(|stage| stage.depth < depth as u64);
    if cutting.is_empty() {
        return Ok((config, None));
    }
    match &*depths {
        [only] if !config.answers() && !sets_depth(overrides) => {
            Ok((at_depth(system, overrides, only, depth)?, None))
        }
        _ => {
            let expected = format!("stages that keep {}", count_of(depth, "document"));
            Ok((config, Some(no_single_depth(expected, &cutting, depth))))
        }
    }
}

/// The requested format, if answers can be printed in it.
fn format(given: Option<Format>) -> Result<Format> {
    match given {
        None if terminal::is_terminal() => Ok(Format::Table),
        None => Ok(Format::Jsonl),
        Some(
            format @ (Format::Jsonl | Format::Trec | Format::Tsv | Format::Csv | Format::Table),
        ) => Ok(format),
        Some(_) => {
            let hint =
                "without --format, answers are a table on a terminal, and JSON lines elsewhere";
            Err(problem!("--format", "table, jsonl, trec, tsv or csv", "another format", hint)
                .into())
        }
    }
}

/// Refuses a text in the place of a system.
fn check_order(settings: &Settings, system: &str, text: Option<&str>) -> Result<(), Problem> {
    if built_in::source(system).is_ok() {
        return Ok(());
    }
    let problem = built_in::unknown(system);
    if let Some(meant) = text.filter(|text| built_in::source(text).is_ok()) {
        let words = format!("rank {meant} \"{system}\"");
        return Err(problem.hint(Hint::from("the system stands first: ").and(Hint::on_data(words))));
    }
    // Two words of which the first resembles no system and is no path are a text without quotes.
    if let Some(text) = text
        && problem.kind == ProblemKind::UnknownSystem
        && !system.contains('/')
    {
        let words = Hint::from("a text of several words stands in quotes: ");
        let command = Hint::on_data(format!("rank {} \"{system} {text}\"", usual_system(settings)));
        return Err(problem.kind(ProblemKind::Other).hint(words.and(command)));
    }
    // A word that cannot be the path of a file, and resembles a system, may be a text.
    let is_word = text.is_none() && system.chars().all(char::is_alphabetic);
    let Some(meant) = built_in::meant(system).filter(|_| is_word) else { return Err(problem) };
    let hint = Hint::meant(meant).and(" A text is ranked by ");
    let words = format!("rank {} {system}", usual_system(settings));
    Err(problem.kind(ProblemKind::Other).hint(hint.and(Hint::on_data(words))))
}

/// The system for a text alone.
fn usual_system(settings: &Settings) -> &'static str {
    let is_clariq = TRACKS.kind_of(&settings.data.first).is_ok_and(|kind| kind.usual == USUAL_DATA);
    if is_clariq { "bm25" } else { "bm25-english" }
}

/// Reads a file to its end: none of its requests is answered before it is known that all will be.
fn check(printer: &Printer, name: &str, mut requests: RequestReader) -> Result<()> {
    let mut is_empty = true;
    while let Some(next) = requests.read_next()? {
        printer.check_depth(&next?)?;
        is_empty = false;
    }
    if is_empty {
        let problem = problem!(name, "at least one request", "none", (ARCHIVE.hint));
        return Err(problem.kind(ProblemKind::Empty).into());
    }
    Ok(())
}

/// Answers each line as soon as it is read. Returns the number of bad lines.
fn rank_each(printer: &Printer, requests: &mut RequestReader, skip_bad: bool) -> Result<u64> {
    let mut bad = 0;
    if skip_bad {
        // After this check, an error concerns a line or a server.
        printer.system.rank(&[UserRequest::dummy()])?;
    }
    while let Some(next) = requests.read_next()? {
        if let Ok(query) = &next {
            printer.check_depth(query)?;
        }
        let ranked = match next {
            Ok(query) => match printer.system.rank(slice::from_ref(&query)) {
                // A server that fails would fail for every following line.
                Err(error) if error.kind() == Some(ProblemKind::Server) => return Err(error),
                ranked => ranked.map(|ranked| (query, ranked)),
            },
            Err(problem) => Err(problem.into()),
        };
        match ranked {
            Ok((query, ranked)) => {
                ranked.iter().try_for_each(|ranked| printer.print(&query, ranked))?;
            }
            Err(error) if skip_bad => {
                bad += 1;
                printer.print_bad(requests.line(), &error.to_problem())?;
            }
            Err(error) => return Err(error),
        }
    }
    Ok(bad)
}

/// Reads all lines, ranks the requests together and answers in their order. Returns the number of bad
/// lines.
fn rank_batch(printer: &Printer, requests: &mut RequestReader, skip_bad: bool) -> Result<u64> {
    let mut batch = Vec::new();
    // Bad lines, each with the number of good ones before it.
    let mut bad: Vec<(usize, Problem)> = Vec::new();
    while let Some(next) = requests.read_next()? {
        match next {
            Ok(_) if batch.len() == MOST_IN_BATCH => {
                let hint = "rank the requests in several batches";
                bail!("--batch", "at most {MOST_IN_BATCH} requests", "more of them", hint);
            }
            Ok(query) => {
                printer.check_depth(&query)?;
                batch.push(query);
            }
            Err(problem) if skip_bad => bad.push((batch.len(), problem)),
            Err(problem) => return Err(problem.into()),
        }
    }
    let count = bad.len() as u64;
    let mut bad = bad.into_iter().peekable();
    let all = printer.system.rank(&batch)?;
    for (index, (query, ranked)) in batch.iter().zip(&all).enumerate() {
        while let Some((_, problem)) = bad.next_if(|(before, _)| *before == index) {
            printer.print_bad(problem.at.line, &problem)?;
        }
        printer.print(query, ranked)?;
    }
    bad.try_for_each(|(_, problem)| printer.print_bad(problem.at.line, &problem))?;
    Ok(count)
}
