//! A collection larger than memory: passages are generated, stored, indexed and searched. The time
//! and the memory of each step are printed as a line of JSON.
//!
//! FOLDER receives files of passages and requests, which `scripts/bench-index` also gives to other
//! programs, a store of texts and an index. Those of an earlier call are reused. A passage has 60
//! words, of which the word of rank r is r times as rare as the first; a request has five such
//! words, or two to five without the most frequent ones. A search is BM25 for the best 30 and the
//! best 1,000, timed by the CPU time of one thread; `with_texts` includes reading the ids and texts
//! of the best 30. An exhaustive search scores every posting, and must find the same (`hits`).
//!
//! Memory is the peak of samples every 20 ms of the process's own memory, without mapped files.

#![allow(clippy::disallowed_methods, reason = "the files are its own")]

use clap::Parser;
use clariq_core::{AddText, Checksum, Documents, IoAction};
use clariq_index::{
    Analyzer, BuildOptions, Depth, DocumentIndex, Query, Scorer, TextStore, Variant, WeightingModel,
};
use serde_json::{Value, json};
use std::error::Error;
use std::fs::File;
use std::io::{BufRead, BufReader, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant, SystemTime};

/// The depth of the baseline's lists, and that of a first stage before a reranker.
const DEPTHS: [usize; 2] = [30, 1000];

/// The number of different words, about that of a million web pages.
const VOCABULARY: f64 = 500_000.0;

#[derive(Parser)]
struct Arguments {
    passages: u64,
    folder: PathBuf,
    /// Bytes of memory of a build.
    #[arg(long, default_value_t = BuildOptions::default().memory)]
    memory: usize,
    #[arg(long, default_value_t = 1)]
    threads: usize,
    #[arg(long, default_value_t = 1000)]
    requests: u64,
}

fn main() -> Result<(), Box<dyn Error>> {
    let Arguments { passages, folder, memory, threads, requests } = Arguments::parse();
    let options = BuildOptions { threads, memory };
    let source = Checksum::of_pieces([format!("generated {passages}").as_bytes()]);
    measured("generate", || Ok((json!({}), generate(&folder, passages, requests)?)))?;
    let fill = |add: AddText| {
        let path = folder.join("passages.tsv");
        let failed = clariq_core::Error::io(IoAction::Read, &path);
        for line in BufReader::new(File::open(&path).map_err(&failed)?).lines() {
            let line = line.map_err(&failed)?;
            let (id, text) = line.split_once('\t').unwrap_or_default();
            add(id, text)?;
        }
        Ok(())
    };
    let texts = folder.join("texts");
    let store = measured("store", || {
        let store = TextStore::open_or_build(&texts, &source, options.memory, &fill)?;
        Ok((json!({ "passages": store.len(), "bytes": bytes(&texts)? }), store))
    })?;
    let place = folder.join("index");
    let index = measured("index", || {
        let (index, opened) =
            DocumentIndex::open_or_build(&place, &store, Analyzer::Nltk, &options)?;
        let figures = json!({ "opened": format!("{opened:?}"), "bytes": index.stats()?.bytes });
        Ok((figures, Arc::new(index)))
    })?;
    for variant in [Variant::Lucene, Variant::Okapi] {
        let scorer = Scorer::new(&index, WeightingModel::usual(variant))?;
        for kind in ["content", "any"] {
            let requests = std::fs::read_to_string(folder.join(format!("{kind}.txt")))?;
            let tokens = |line: &str| line.split(' ').map(str::to_owned).collect();
            let requests: Vec<Vec<String>> = requests.lines().map(tokens).collect();
            for depth in DEPTHS {
                measured("search", || search(&scorer, &store, &requests, depth, kind))?;
            }
            if variant == Variant::Lucene {
                let exhaustive = Scorer::new(&index, WeightingModel::usual(variant))?.exhaustive();
                for depth in DEPTHS {
                    let search = || search(&exhaustive, &store, &requests, depth, kind);
                    measured("exhaustive search", search)?;
                }
            }
        }
    }
    Ok(())
}

/// Writes passages and requests.
fn generate(folder: &Path, passages: u64, requests: u64) -> std::io::Result<()> {
    std::fs::create_dir_all(folder)?;
    let path = folder.join("passages.tsv");
    if !path.exists() {
        let mut out = BufWriter::new(File::create(path)?);
        for number in 0..passages {
            writeln!(out, "P{number:09}\t{}", words(number, 60).join(" "))?;
        }
        out.flush()?;
    }
    for (kind, words) in [("content", content as fn(u64) -> Vec<String>), ("any", any)] {
        let mut out = BufWriter::new(File::create(folder.join(format!("{kind}.txt")))?);
        for number in 0..requests {
            writeln!(out, "{}", words(u64::MAX - number).join(" "))?;
        }
        out.flush()?;
    }
    Ok(())
}

/// A request of five words, stop words among them.
fn any(number: u64) -> Vec<String> {
    words(number, 5)
}

/// A request of two to five words, none of which is in more than every twentieth passage.
fn content(number: u64) -> Vec<String> {
    let rare = |word: &String| word[1..].parse().is_ok_and(|rank: u32| rank > 90);
    words(number, 40).into_iter().filter(rare).take(2 + (number % 4) as usize).collect()
}

/// Ranks every request, and reads the ids and texts of the best thirty of each.
fn search(
    scorer: &Scorer,
    store: &TextStore,
    requests: &[Vec<String>],
    depth: usize,
    kind: &str,
) -> Result<(Value, ()), Box<dyn Error>> {
    let rank = |tokens| scorer.rank(&Query::new(tokens, Depth::matching(depth)));
    let ranking = processor_seconds();
    let rankings = requests.iter().map(|tokens| rank(tokens)).collect::<Result<Vec<_>, _>>()?;
    let ranking = processor_seconds() - ranking;
    let reading = processor_seconds();
    for (tokens, hits) in requests.iter().zip(&rankings) {
        for hit in hits.iter().take(DEPTHS[0]) {
            let text = store.text(hit.doc)?;
            // The text is the one that was indexed.
            assert!(tokens.iter().any(|token| text.split(' ').any(|word| word == token)));
            assert_eq!(store.id(hit.doc), format!("P{:09}", hit.doc.0));
        }
    }
    let reading = processor_seconds() - reading;
    let hits = rankings.iter().flatten();
    let bytes =
        hits.flat_map(|hit| [hit.doc.0.to_le_bytes().to_vec(), hit.score.to_le_bytes().to_vec()]);
    let sum = Checksum::of_pieces([&*bytes.flatten().collect::<Vec<u8>>()]);
    let per_second = |seconds: f64| requests.len() as f64 / seconds;
    let figures = json!({
        "words": kind,
        "depth": depth,
        "queries_per_second": per_second(ranking),
        "with_texts": per_second(ranking + reading),
        "hits": sum.short(),
    });
    Ok((figures, ()))
}

/// The CPU time of this thread, which other programs hardly affect, or the time of day if the
/// kernel does not report it.
fn processor_seconds() -> f64 {
    let spent = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap_or_default();
    let nanoseconds = spent.split(' ').next().and_then(|spent| spent.parse::<f64>().ok());
    nanoseconds.map_or_else(
        || SystemTime::UNIX_EPOCH.elapsed().unwrap_or_default().as_secs_f64(),
        |spent| spent / 1e9,
    )
}

/// The CPU time of all threads of this process, if the kernel reports it.
fn process_seconds() -> f64 {
    let spent = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    let ticks = spent.split(' ').skip(13).take(2).filter_map(|ticks| ticks.parse::<f64>().ok());
    // A tick is a hundredth of a second on every Linux.
    ticks.sum::<f64>() / 100.0
}

/// Words of a passage or a request.
fn words(text: u64, count: u64) -> Vec<String> {
    let word = |position: u64| {
        // SplitMix64 of the position.
        let mut bits = text.wrapping_mul(64).wrapping_add(position + 1);
        bits = bits.wrapping_mul(0x9e37_79b9_7f4a_7c15);
        bits = (bits ^ (bits >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        bits = (bits ^ (bits >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        let share = ((bits ^ (bits >> 31)) >> 11) as f64 / (1_u64 << 53) as f64;
        format!("w{:.0}", VOCABULARY.powf(share).floor())
    };
    (0..count).map(word).collect()
}

/// Runs a step, and prints its figures with its time and memory.
fn measured<T>(
    step: &str,
    run: impl FnOnce() -> Result<(Value, T), Box<dyn Error>>,
) -> Result<T, Box<dyn Error>> {
    let start = Instant::now();
    let processor = process_seconds();
    let memory = Memory::watch();
    let (mut figures, result) = run()?;
    figures["step"] = step.into();
    figures["seconds"] = start.elapsed().as_secs_f64().into();
    figures["processor_seconds"] = (process_seconds() - processor).into();
    figures["own_mib"] = (memory.peak() >> 10).into();
    println!("{figures}");
    Ok(result)
}

/// The bytes of the files in a folder.
fn bytes(folder: &Path) -> std::io::Result<u64> {
    let files = std::fs::read_dir(folder)?;
    files.map(|file| Ok(file?.metadata()?.len())).sum()
}

/// A thread that samples the process's own memory, in KiB.
struct Memory {
    done: Arc<AtomicBool>,
    watcher: JoinHandle<u64>,
}

impl Memory {
    fn watch() -> Self {
        let done = Arc::new(AtomicBool::new(false));
        let ends = Arc::clone(&done);
        let watcher = thread::spawn(move || {
            let mut most = 0;
            while !ends.load(Ordering::Relaxed) {
                most = most.max(own_memory().unwrap_or(0));
                thread::sleep(Duration::from_millis(20));
            }
            most
        });
        Self { done, watcher }
    }

    fn peak(self) -> u64 {
        self.done.store(true, Ordering::Relaxed);
        self.watcher.join().unwrap_or_default()
    }
}

/// The memory of this process that is no file, in KiB, if the kernel reports it.
fn own_memory() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find(|line| line.starts_with("RssAnon:"))?;
    line.split_whitespace().nth(1)?.parse().ok()
}
