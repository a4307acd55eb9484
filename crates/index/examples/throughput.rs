//! Requests ranked per second by one thread: the measuring half of `scripts/bench-bm25`.
//!
//! The requests of train and dev, or a sample of the contexts of a file of conversations, are
//! tokenised beforehand, so that only ranking is timed. Everything runs on the thread that
//! measures. One line of JSON goes to standard output; the dumps let peers written in other
//! languages rank the very same tokens, and let their rankings be compared with these.

#![allow(clippy::disallowed_methods, reason = "the files are its own")]

use clap::Parser;
use clariq_collections::DataDir;
use clariq_collections::documents::Bank;
use clariq_core::{Doc, Documents, Hit, Request};
use clariq_files::Source;
use clariq_index::{
    Analyzer, BuildOptions, Depth, DocumentIndex, Query, Scorer, Variant, WeightingModel,
};
use clariq_track_clariq::conversation::{RecordOptions, read_records};
use clariq_track_clariq::{ClariQ, splits};
use serde_json::json;
use std::collections::HashSet;
use std::error::Error;
use std::fs::File;
use std::io::{BufWriter, Write};
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

#[derive(Parser)]
struct Arguments {
    /// The data folder of ClariQ.
    data: PathBuf,
    /// The data folder with the requests, if that is another.
    #[arg(long)]
    requests: Option<PathBuf>,
    /// The contexts of this file of conversations are the requests.
    #[arg(long)]
    conversations: Option<PathBuf>,
    /// The most contexts.
    #[arg(long, default_value_t = usize::MAX)]
    sample: usize,
    /// The length of rankings; the default is that of the baseline's.
    #[arg(long, default_value_t = 30)]
    depth: usize,
    #[arg(long)]
    index: Option<PathBuf>,
    /// Bytes of memory of a build.
    #[arg(long, default_value_t = BuildOptions::default().memory)]
    memory: usize,
    #[arg(long, value_parser = variant, default_value = "okapi")]
    model: Variant,
    #[arg(long, default_value_t = 1.0)]
    seconds: f64,
    #[arg(long)]
    dump_tokens: Option<PathBuf>,
    #[arg(long)]
    dump_hits: Option<PathBuf>,
}

impl Arguments {
    /// Padded, like the baseline's lists.
    fn depth(&self) -> Depth {
        Depth { limit: self.depth, pad: true }
    }
}

fn variant(name: &str) -> Result<Variant, serde_json::Error> {
    serde_json::from_value(name.into())
}

fn main() -> Result<(), Box<dyn Error>> {
    let arguments = Arguments::parse();
    let requests = match &arguments.conversations {
        Some(file) => contexts(file, arguments.sample)?,
        None => requests(arguments.requests.as_ref().unwrap_or(&arguments.data))?,
    };
    let bank = ClariQ::open(DataDir::Folder(arguments.data.clone()))?.bank;
    if let Some(path) = &arguments.dump_tokens {
        dump_tokens(path, &bank, &requests)?;
    }
    let scratch_folder = tempfile::tempdir()?;
    let folder = arguments.index.clone().unwrap_or_else(|| scratch_folder.path().join("index"));
    let options = BuildOptions { threads: 1, memory: arguments.memory };
    let opening = Instant::now();
    let (index, opened) = DocumentIndex::open_or_build(&folder, &bank, Analyzer::Nltk, &options)?;
    let index = Arc::new(index);
    let opening = opening.elapsed();
    // Only the index is measured from here on.
    drop(bank);
    let preparing = Instant::now();
    let scorer = Scorer::new(&index, WeightingModel::usual(arguments.model))?;
    let preparing = preparing.elapsed();
    let measured = measure(&scorer, &requests, &arguments)?;
    if let Some(path) = &arguments.dump_hits {
        dump_hits(path, &scorer, &requests, &arguments)?;
    }
    let report = json!({
        "questions": index.documents(),
        "requests": requests.len(),
        "model": arguments.model,
        "opened": format!("{opened:?}"),
        "open_s": opening.as_secs_f64(),
        "prepare_s": preparing.as_secs_f64(),
        "passes": measured.passes,
        "queries_per_second": measured.queries_per_second,
        "p50_us": measured.median_us,
        "p99_us": measured.slow_us,
        "index_bytes": index.stats()?.bytes,
        "peak_kib": peak_memory(),
    });
    println!("{report}");
    Ok(())
}

/// The tokens of every request of train and dev, in file order.
fn requests(data: &Path) -> Result<Vec<Vec<String>>, Box<dyn Error>> {
    let collection = ClariQ::open(DataDir::Folder(data.to_owned()))?;
    let mut requests = Vec::new();
    for split in [splits::TRAIN, splits::DEV] {
        let topics = collection.split(split)?.topics;
        requests.extend(topics.iter().map(|topic| Analyzer::Nltk.tokens(&topic.request)));
    }
    Ok(requests)
}

/// The tokens of at most `sample` contexts of a file, evenly spread.
fn contexts(file: &Path, sample: usize) -> Result<Vec<Vec<String>>, Box<dyn Error>> {
    let mut seen = HashSet::new();
    let mut texts = Vec::new();
    read_records(&Source::new(file), &RecordOptions::default(), &mut |record| {
        if seen.insert(record.conversation.id) {
            texts.push(Request::from(&record.conversation).glue().into_owned());
        }
        ControlFlow::Continue(())
    })?;
    let step = (texts.len() / sample).max(1);
    Ok(texts.iter().step_by(step).take(sample).map(|text| Analyzer::Nltk.tokens(text)).collect())
}

struct Measured {
    passes: usize,
    queries_per_second: f64,
    median_us: f64,
    slow_us: f64,
}

/// Ranks all requests over and over for the given time, and then once more to time each of them.
fn measure(
    scorer: &Scorer,
    requests: &[Vec<String>],
    arguments: &Arguments,
) -> Result<Measured, Box<dyn Error>> {
    let pass = || -> Result<(), clariq_core::Error> {
        for tokens in requests {
            std::hint::black_box(scorer.rank(&Query::new(tokens, arguments.depth()))?);
        }
        Ok(())
    };
    pass()?;
    let start = Instant::now();
    let least = Duration::from_secs_f64(arguments.seconds);
    let mut passes = 0;
    while start.elapsed() < least {
        pass()?;
        passes += 1;
    }
    let queries_per_second = (passes * requests.len()) as f64 / start.elapsed().as_secs_f64();
    let mut times = Vec::with_capacity(requests.len());
    for tokens in requests {
        let start = Instant::now();
        std::hint::black_box(scorer.rank(&Query::new(tokens, arguments.depth()))?);
        times.push(start.elapsed().as_secs_f64() * 1e6);
    }
    times.sort_by(f64::total_cmp);
    let at = |share: usize| times.get(times.len() * share / 100).copied().unwrap_or_default();
    Ok(Measured { passes, queries_per_second, median_us: at(50), slow_us: at(99) })
}

/// The peak memory of this process in KiB, if the kernel reports it.
fn peak_memory() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find(|line| line.starts_with("VmHWM:"))?;
    line.split_whitespace().nth(1)?.parse().ok()
}

/// A line `{"question": [token, …]}` per question in bank order, then a line `{"request": [token,
/// …]}` per request.
fn dump_tokens(path: &Path, bank: &Bank, requests: &[Vec<String>]) -> Result<(), Box<dyn Error>> {
    let mut file = BufWriter::new(File::create(path)?);
    for doc in Doc::all(bank.len()) {
        let tokens = Analyzer::Nltk.tokens(bank.text(doc));
        writeln!(file, "{}", json!({ "question": tokens }))?;
    }
    for tokens in requests {
        writeln!(file, "{}", json!({ "request": tokens }))?;
    }
    Ok(file.flush()?)
}

/// A line `[[question number, score], …]` per request.
fn dump_hits(
    path: &Path,
    scorer: &Scorer,
    requests: &[Vec<String>],
    arguments: &Arguments,
) -> Result<(), Box<dyn Error>> {
    let mut file = BufWriter::new(File::create(path)?);
    for tokens in requests {
        let hits = scorer.rank(&Query::new(tokens, arguments.depth()))?;
        let pair = |hit: &Hit| (hit.doc.0, hit.score);
        writeln!(file, "{}", json!(hits.iter().map(pair).collect::<Vec<_>>()))?;
    }
    Ok(file.flush()?)
}
