//! A collection larger than memory: passages are generated, stored, indexed and searched, and what
//! each step takes is printed as a line of JSON.
//!
//! ```text
//! cargo run --release -p clariq-index --example large -- PASSAGES FOLDER [--memory BYTES]
//!     [--threads N] [--requests N]
//! ```
//!
//! FOLDER gets a store of texts and an index, or has them of the last time. A passage has 60 words,
//! of which the word of rank r is r times as rare as the first; a request has five such words. A
//! search is BM25 for the best 30, whose ids and texts are then read, on one thread.
//!
//! Memory is the most that was seen at once, every 20 ms: `own` is the process's, `mapped` are pages
//! of files, which the system takes back where it needs them.

use clariq_core::{Documents, sha256};
use clariq_index::{
    Analyzer, Bm25, BuildOptions, Depth, DocumentIndex, Query, Scorer, Scratch, TextStore,
    TextWriter, Variant,
};
use serde_json::{Value, json};
use std::error::Error;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

/// As deep as the baseline's lists.
const DEPTH: usize = 30;

/// Different words, about as many as a million web pages have.
const VOCABULARY: f64 = 500_000.0;

struct Arguments {
    passages: u64,
    folder: PathBuf,
    options: BuildOptions,
    requests: u64,
}

fn arguments() -> Result<Arguments, Box<dyn Error>> {
    let mut words = std::env::args().skip(1);
    let mut arguments = Arguments {
        passages: words.next().ok_or("the first argument is the number of passages")?.parse()?,
        folder: words.next().ok_or("the second argument is a folder")?.into(),
        options: BuildOptions::default(),
        requests: 1000,
    };
    while let Some(flag) = words.next() {
        let value = words.next().ok_or_else(|| format!("{flag} needs a value"))?;
        match flag.as_str() {
            "--memory" => arguments.options.memory = value.parse()?,
            "--threads" => arguments.options.threads = value.parse()?,
            "--requests" => arguments.requests = value.parse()?,
            _ => return Err(format!("unknown flag {flag}").into()),
        }
    }
    Ok(arguments)
}

fn main() -> Result<(), Box<dyn Error>> {
    let Arguments { passages, folder, options, requests } = arguments()?;
    let source = sha256([format!("generated {passages}").as_bytes()]);
    let mut fill = |writer: &mut TextWriter| {
        (0..passages).try_for_each(|number| {
            writer.add(&format!("P{number:09}"), &words(number, 60).join(" "))
        })
    };
    let texts = folder.join("texts");
    let store = measured("store", || {
        let store = TextStore::open_or_build(&texts, &source, options.memory, &mut fill)?;
        Ok((json!({ "passages": store.len(), "bytes": bytes(&texts)? }), store))
    })?;
    let place = folder.join("index");
    let index = measured("index", || {
        let (index, opened) =
            DocumentIndex::open_or_build(&place, &store, Analyzer::Nltk, &options)?;
        Ok((json!({ "opened": format!("{opened:?}"), "bytes": index.stats()?.bytes }), index))
    })?;
    drop((store, index));
    let (store, index) = measured("open again", || {
        let store = TextStore::open_or_build(&texts, &source, options.memory, &mut fill)?;
        let (index, opened) =
            DocumentIndex::open_or_build(&place, &store, Analyzer::Nltk, &options)?;
        Ok((json!({ "opened": format!("{opened:?}") }), (store, Arc::new(index))))
    })?;
    let requests: Vec<Vec<String>> =
        (0..requests).map(|number| words(u64::MAX - number, 5)).collect();
    for variant in [Variant::Lucene, Variant::Okapi] {
        measured("search", || {
            let scorer = Scorer::new(&index, Bm25::default_of(variant))?;
            let searching = Instant::now();
            let hits = search(&scorer, &store, &requests)?;
            let per_second = requests.len() as f64 / searching.elapsed().as_secs_f64();
            let figures = json!({
                "variant": variant,
                "hits": hits,
                "queries_per_second": per_second,
            });
            Ok((figures, ()))
        })?;
    }
    Ok(())
}

/// Ranks every request and reads what was found; how many passages.
fn search(
    scorer: &Scorer,
    store: &TextStore,
    requests: &[Vec<String>],
) -> Result<usize, Box<dyn Error>> {
    let (mut scratch, mut hits) = (Scratch::default(), 0);
    for tokens in requests {
        let query = Query::new(tokens, Depth::matching(DEPTH));
        for hit in scorer.rank(&query, &mut scratch)? {
            let text = store.text(hit.doc)?;
            // The text is the one that was indexed.
            assert!(tokens.iter().any(|token| text.split(' ').any(|word| word == token)));
            assert_eq!(store.id(hit.doc), format!("P{:09}", hit.doc.0));
            hits += 1;
        }
    }
    Ok(hits)
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

/// Runs a step and prints what it says with its time and memory.
fn measured<T>(
    step: &str,
    run: impl FnOnce() -> Result<(Value, T), Box<dyn Error>>,
) -> Result<T, Box<dyn Error>> {
    let (start, memory) = (Instant::now(), Memory::watch());
    let (mut figures, result) = run()?;
    figures["step"] = step.into();
    figures["seconds"] = start.elapsed().as_secs_f64().into();
    let (own, mapped) = memory.most();
    figures["own_mib"] = (own >> 10).into();
    figures["mapped_mib"] = (mapped >> 10).into();
    println!("{figures}");
    Ok(result)
}

/// The bytes of the files in a folder.
fn bytes(folder: &Path) -> std::io::Result<u64> {
    let files = std::fs::read_dir(folder)?;
    files.map(|file| Ok(file?.metadata()?.len())).sum()
}

/// The most memory, of the process's own and of files, in KiB, that a thread sees.
struct Memory {
    done: Arc<AtomicBool>,
    watcher: JoinHandle<(u64, u64)>,
}

impl Memory {
    fn watch() -> Self {
        let done = Arc::new(AtomicBool::new(false));
        let ends = Arc::clone(&done);
        let watcher = thread::spawn(move || {
            let mut most = (0, 0);
            while !ends.load(Ordering::Relaxed) {
                let now = (memory("RssAnon:"), memory("RssFile:"));
                most = (most.0.max(now.0.unwrap_or(0)), most.1.max(now.1.unwrap_or(0)));
                thread::sleep(Duration::from_millis(20));
            }
            most
        });
        Self { done, watcher }
    }

    fn most(self) -> (u64, u64) {
        self.done.store(true, Ordering::Relaxed);
        self.watcher.join().unwrap_or_default()
    }
}

/// An amount of memory of this process, in KiB, where the kernel tells.
fn memory(key: &str) -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find(|line| line.starts_with(key))?;
    line.split_whitespace().nth(1)?.parse().ok()
}
