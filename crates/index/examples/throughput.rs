//! Requests ranked per second by one thread: the measuring half of `scripts/bench-bm25`.
//!
//! ```text
//! cargo run --release --example throughput -- DATA [--index DIR] [--requests DATA] [--memory BYTES]
//!     [--conversations FILE] [--sample N] [--depth N]
//!     [--model okapi|lucene] [--seconds S]
//!     [--dump-tokens FILE] [--dump-hits FILE]
//! ```
//!
//! The requests of train and dev, or a sample of the contexts of a file of conversations, are
//! tokenised beforehand, so that only ranking is timed. Everything runs on the thread that
//! measures. One line of JSON goes to standard output; the dumps let peers written in other
//! languages rank the very same tokens, and let their rankings be compared with these.

#![allow(clippy::disallowed_methods, reason = "the files are its own")]

use clariq_collections::DataDir;
use clariq_collections::documents::Bank;
use clariq_core::{Doc, Documents, Hit, Request};
use clariq_files::Source;
use clariq_index::{
    Analyzer, BuildOptions, Depth, DocumentIndex, Query, Scorer, Variant, WeightingModel,
};
use clariq_track_clariq::conversation::{RecordOptions, read_records};
use clariq_track_clariq::{ClariQ, ClariqSplit};
use serde_json::{Value, json};
use std::collections::HashSet;
use std::error::Error;
use std::fs::File;
use std::io::{BufWriter, Write};
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// The depth of the baseline's lists.
const DEFAULT_DEPTH: usize = 30;

struct Arguments {
    data: PathBuf,
    requests: PathBuf,
    conversations: Option<PathBuf>,
    sample: usize,
    /// Padded, like the baseline's lists.
    depth: Depth,
    index: Option<PathBuf>,
    memory: usize,
    model: Variant,
    seconds: f64,
    dump_tokens: Option<PathBuf>,
    dump_hits: Option<PathBuf>,
}

fn arguments() -> Result<Arguments, Box<dyn Error>> {
    let mut words = std::env::args().skip(1);
    let data: PathBuf = words.next().ok_or("the first argument is the data folder")?.into();
    let mut arguments = Arguments {
        requests: data.clone(),
        data,
        conversations: None,
        sample: usize::MAX,
        depth: Depth { limit: DEFAULT_DEPTH, pad: true },
        index: None,
        memory: BuildOptions::default().memory,
        model: Variant::Okapi,
        seconds: 1.0,
        dump_tokens: None,
        dump_hits: None,
    };
    while let Some(flag) = words.next() {
        let value = words.next().ok_or_else(|| format!("{flag} needs a value"))?;
        match flag.as_str() {
            "--conversations" => arguments.conversations = Some(value.into()),
            "--sample" => arguments.sample = value.parse()?,
            "--depth" => arguments.depth.limit = value.parse()?,
            "--requests" => arguments.requests = value.into(),
            "--index" => arguments.index = Some(value.into()),
            "--memory" => arguments.memory = value.parse()?,
            "--model" => arguments.model = serde_json::from_value(Value::String(value))?,
            "--seconds" => arguments.seconds = value.parse()?,
            "--dump-tokens" => arguments.dump_tokens = Some(value.into()),
            "--dump-hits" => arguments.dump_hits = Some(value.into()),
            _ => return Err(format!("unknown flag {flag}").into()),
        }
    }
    Ok(arguments)
}

fn main() -> Result<(), Box<dyn Error>> {
    let arguments = arguments()?;
    let requests = match &arguments.conversations {
        Some(file) => contexts(file, arguments.sample)?,
        None => requests(&arguments.requests)?,
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
    for split in [ClariqSplit::Train, ClariqSplit::Dev] {
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
            std::hint::black_box(scorer.rank(&Query::new(tokens, arguments.depth))?);
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
        std::hint::black_box(scorer.rank(&Query::new(tokens, arguments.depth))?);
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
        let hits = scorer.rank(&Query::new(tokens, arguments.depth))?;
        let pair = |hit: &Hit| (hit.doc.0, hit.score);
        writeln!(file, "{}", json!(hits.iter().map(pair).collect::<Vec<_>>()))?;
    }
    Ok(file.flush()?)
}
