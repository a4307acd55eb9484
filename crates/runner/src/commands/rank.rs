//! `clariq rank`: what a system ranks, and answers, for requests as they come.

use crate::arguments::{IndexPlace, Parameters};
use crate::failure::{Failure, Outcome, bad_lines_are, error_object};
use crate::learned;
use crate::output::{Format, open_delimited};
use crate::settings::Settings;
use clap::Args;
use clariq_core::{Error, Location, Problem, ProblemKind, Request, printable};
use clariq_experiment::requests::{ARCHIVE, Requests};
use clariq_experiment::{Contexts, Loaded, Ranked, RankedAnswer, RankedDocument, Ranker, Registry};
use clariq_files::Source;
use clariq_files::archive::Archive;
use serde_json::{Value, json};
use std::io::{self, BufRead, BufReader, Write};
use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::slice;

/// Requests that are held for one batch.
const MOST_IN_BATCH: usize = 100_000;

#[derive(Args)]
pub(crate) struct RankArgs {
    /// System: a configuration file, or the name of a built-in one
    #[arg(value_name = "SYSTEM")]
    system: String,
    /// Requests as JSON lines, plain or gzip; `-` for standard input, answered line by line
    #[arg(long, value_name = "FILE", default_value = "-")]
    requests: PathBuf,
    /// Documents to rank for a request at most; a system has a depth of its own, which does not
    /// count where a request names its `candidates`
    #[arg(long, value_name = "K", default_value = "30")]
    depth: NonZeroUsize,
    /// Read all requests first and rank them together, for systems that use the batch
    #[arg(long)]
    batch: bool,
    /// Answer a bad line with an error object in its place, and go on
    #[arg(long)]
    skip_bad: bool,
    #[command(flatten)]
    parameters: Parameters,
    #[command(flatten)]
    place: IndexPlace,
}

impl RankArgs {
    /// Whether the system asks for a learned model.
    pub(crate) fn needs_models(&self) -> bool {
        let overrides = self.parameters.overrides().unwrap_or_default();
        learned::is_needed_by(&self.system, &overrides)
    }
}

/// Writes answers to standard output.
struct Printer<'a> {
    format: Format,
    /// The tasks that the system ranks for, the usual one last.
    tasks: Vec<&'static str>,
    tag: &'a str,
}

pub(crate) fn rank(settings: &Settings, arguments: &RankArgs) -> Result<Outcome, Failure> {
    let loaded = Loaded::open_any(&arguments.system, &arguments.parameters.overrides()?)?;
    let collection = settings.collection_for(slice::from_ref(&loaded))?;
    let session = settings.session(&*collection, &arguments.place)?;
    let models = Registry::new(&session);
    let contexts = Contexts::new(&session, &models);
    let ranker = Ranker::new(&contexts, &loaded, arguments.depth.get(), arguments.batch)?;
    let tasks = ranker.pipelines().tasks();
    let printer = Printer { format: format(settings.format)?, tasks, tag: &loaded.system.name };
    let archive = match Source::new(&arguments.requests) {
        Source::Stdin => None,
        source => Some(Archive::new(&[source], &ARCHIVE)?),
    };
    let (name, lines): (&str, Box<dyn BufRead>) = match &archive {
        None => ("<stdin>", Box::new(io::stdin().lock())),
        Some(archive) => (archive.name(), Box::new(BufReader::new(archive.open()?))),
    };
    let answers = ranker.pipelines().answer().is_some();
    let mut requests = Requests::new(name, lines, session.documents, answers);
    if printer.format == Format::Trec {
        requests = requests.with_unique_ids();
    }
    let bad = if arguments.batch {
        rank_batch(&ranker, &printer, &mut requests, arguments.skip_bad)?
    } else {
        rank_each(&ranker, &printer, &mut requests, arguments.skip_bad)?
    };
    if bad > 0 {
        let what =
            if printer.format == Format::Jsonl { "answered with an error" } else { "left out" };
        settings.note(&format!("warning: {name}: {} {what}", bad_lines_are(bad)));
    }
    Ok(Outcome::Done)
}

/// The form that is asked for, of those that answers have.
fn format(given: Option<Format>) -> Result<Format, Failure> {
    match given {
        None => Ok(Format::Jsonl),
        Some(format @ (Format::Jsonl | Format::Trec | Format::Tsv | Format::Csv)) => Ok(format),
        Some(_) => {
            let at = Location::file("--format");
            let found = "a form of tables";
            let problem = Problem::new(at, ProblemKind::Argument, "jsonl, trec, tsv or csv", found);
            Err(problem.hint("without --format, answers are JSON lines").into())
        }
    }
}

/// Answers each line by itself, as soon as it is read: the same bytes however lines arrive. How
/// many were bad.
fn rank_each(
    ranker: &Ranker,
    printer: &Printer,
    requests: &mut Requests,
    skip_bad: bool,
) -> Result<u64, Failure> {
    let mut bad = 0;
    if skip_bad {
        // The system works, so that what fails later is about a line, or a server that is gone.
        ranker.rank(vec![Request::new("0", "hello").into()])?;
    }
    while let Some(next) = requests.read_next()? {
        let ranked = match next {
            Ok(request) => match ranker.rank(vec![request]) {
                Err(error) if is_of_server(&error) => return Err(error.into()),
                ranked => ranked.map_err(Failure::from),
            },
            Err(problem) => Err(problem.into()),
        };
        let mut out = io::stdout().lock();
        match ranked {
            Ok(ranked) => ranked.iter().try_for_each(|ranked| printer.put(&mut out, ranked))?,
            Err(failure @ Failure::Error(_)) if skip_bad => {
                bad += 1;
                printer.put_bad(&mut out, requests.line(), &failure.to_problem())?;
            }
            Err(failure) => return Err(failure),
        }
        out.flush()?;
    }
    Ok(bad)
}

/// Whether a server failed, which it would do for every line that follows.
fn is_of_server(error: &Error) -> bool {
    error.kind() == Some(ProblemKind::Server)
}

/// Reads all lines, ranks the requests together and answers in their order. How many were bad.
fn rank_batch(
    ranker: &Ranker,
    printer: &Printer,
    requests: &mut Requests,
    skip_bad: bool,
) -> Result<u64, Failure> {
    let (mut batch, mut bad): (Vec<_>, Vec<(usize, Problem)>) = (Vec::new(), Vec::new());
    while let Some(next) = requests.read_next()? {
        match next {
            Ok(_) if batch.len() == MOST_IN_BATCH => {
                let at = Location::file("--batch");
                let expected = format!("at most {MOST_IN_BATCH} requests");
                let problem = Problem::new(at, ProblemKind::Argument, expected, "more of them");
                return Err(problem.hint("rank the requests in several batches").into());
            }
            Ok(request) => batch.push(request),
            Err(problem) if skip_bad => bad.push((batch.len(), problem)),
            Err(problem) => return Err(problem.into()),
        }
    }
    let count = bad.len() as u64;
    let mut bad = bad.into_iter().peekable();
    let mut out = io::BufWriter::new(io::stdout().lock());
    for (index, ranked) in ranker.rank(batch)?.iter().enumerate() {
        while let Some((_, problem)) = bad.next_if(|(before, _)| *before == index) {
            printer.put_bad(&mut out, problem.at.line, &problem)?;
        }
        printer.put(&mut out, ranked)?;
    }
    bad.try_for_each(|(_, problem)| printer.put_bad(&mut out, problem.at.line, &problem))?;
    out.flush()?;
    Ok(count)
}

/// A ranking with ids, texts and scores.
pub(super) fn documents_json(ranking: &[RankedDocument]) -> Value {
    let document = |RankedDocument { id, text, score }: &RankedDocument| json!({ "id": id, "text": text, "score": score });
    ranking.iter().map(document).collect()
}

/// What is answered, with the ids of what that rests on.
pub(super) fn response_json(answer: &RankedAnswer) -> Value {
    json!({ "text": answer.text, "statements": answer.statements, "passages": answer.used })
}

impl Printer<'_> {
    fn put(&self, out: &mut dyn Write, ranked: &Ranked) -> Result<(), Failure> {
        let id = &ranked.request.id;
        if self.format == Format::Jsonl {
            return Ok(writeln!(out, "{}", self.object(ranked))?);
        }
        // The other forms hold one ranking.
        let ranking = (1_u64..).zip(ranked.rankings.last().into_iter().flatten());
        if self.format == Format::Trec {
            for (rank, RankedDocument { id: doc, score, .. }) in ranking {
                writeln!(out, "{id} Q0 {doc} {rank} {score} {}", self.tag)?;
            }
            return Ok(());
        }
        let mut records =
            open_delimited(if self.format == Format::Csv { b',' } else { b'\t' }, out);
        for (rank, RankedDocument { id: doc, text, score }) in ranking {
            let words: Vec<&str> = text.split_whitespace().collect();
            let text = words.join(" ");
            let (rank, score) = (rank.to_string(), score.to_string());
            let fields = [id.as_str(), &rank, doc, &score, &printable(&text, usize::MAX)];
            records.write_record(fields).map_err(io::Error::from)?;
        }
        Ok(records.flush()?)
    }

    /// An answer in JSON: `ranking`, or the ranking of every task and what is answered.
    fn object(&self, ranked: &Ranked) -> Value {
        let mut object = json!({ "id": ranked.request.id });
        let Some(answer) = &ranked.answer else {
            object["need"] = json!(ranked.request.need);
            object["ranking"] = documents_json(ranked.rankings.last().map_or(&[], Vec::as_slice));
            return object;
        };
        for (task, ranking) in self.tasks.iter().zip(&ranked.rankings) {
            object[*task] = documents_json(ranking);
        }
        object["response"] = response_json(answer);
        object
    }

    /// In JSON lines, an error stands where the answer would; the other forms have no place for it.
    fn put_bad(
        &self,
        out: &mut dyn Write,
        line: Option<u64>,
        problem: &Problem,
    ) -> Result<(), Failure> {
        if self.format != Format::Jsonl {
            return Ok(());
        }
        writeln!(out, "{}", error_object(line, problem))?;
        Ok(())
    }
}
