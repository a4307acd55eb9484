//! Time of building and searching an index of weights; `scripts/bench-sparse` runs it beside others.
//!
//! Usage: impacts DOCUMENTS REQUESTS INDEX THREADS DEPTH… — a file of vectors has their number, the
//! start of each and the end of the last (64 bits), the words (32 bits) and the weights (32-bit floats),
//! all little-endian. Prints a line of JSON: seconds of building, bytes of the index, and for each depth
//! the seconds of all requests and the documents and scores of the first twenty.

#![allow(clippy::disallowed_methods, reason = "the files are those that the user named")]

use clariq_core::{Error, Ranking, SparseVectors};
use clariq_index::{ImpactIndex, ImpactWriter, WINDOW, map_file};
use rayon::prelude::*;
use serde_json::json;
use std::env;
use std::fs::{self, File};
use std::io::{BufWriter, Write as _};
use std::path::Path;
use std::time::Instant;

type AnyError = Box<dyn std::error::Error + Send + Sync>;

struct Vectors {
    bytes: Vec<u8>,
    count: usize,
}

impl Vectors {
    fn read(path: &str) -> Result<Self, AnyError> {
        let bytes = fs::read(path)?;
        let (count, _) = bytes.split_first_chunk::<8>().ok_or("an empty file")?;
        let count = usize::try_from(u64::from_le_bytes(*count))?;
        Ok(Self { bytes, count })
    }

    fn row(&self, number: usize) -> impl Iterator<Item = (u32, f32)> {
        let (starts, _) = self.bytes[8..].as_chunks::<8>();
        let [start, end] = [number, number + 1].map(|at| u64::from_le_bytes(starts[at]) as usize);
        let total = u64::from_le_bytes(starts[self.count]) as usize;
        let body = &self.bytes[8 + 8 * (self.count + 1)..];
        let (words, _) = body[..4 * total].as_chunks::<4>();
        let (weights, _) = body[4 * total..].as_chunks::<4>();
        let words = words[start..end].iter().map(|word| u32::from_le_bytes(*word));
        words.zip(weights[start..end].iter().map(|weight| f32::from_le_bytes(*weight)))
    }
}

fn main() -> Result<(), AnyError> {
    let arguments: Vec<String> = env::args().skip(1).collect();
    let [documents, requests, index, threads, depths @ ..] = &arguments[..] else {
        return Err("DOCUMENTS REQUESTS INDEX THREADS DEPTH…".into());
    };
    rayon::ThreadPoolBuilder::new().num_threads(threads.parse()?).build_global()?;
    let documents = Vectors::read(documents)?;
    let requests = Vectors::read(requests)?;
    let requests: Vec<Vec<(u32, f32)>> =
        (0..requests.count).map(|number| requests.row(number).collect()).collect();
    let start = Instant::now();
    let path = Path::new(index);
    let mut out = BufWriter::new(File::create(path)?);
    let mut writer = ImpactWriter::new(&mut out);
    for first in (0..documents.count).step_by(WINDOW) {
        let window = first..documents.count.min(first + WINDOW);
        let vectors: SparseVectors = window.map(|number| documents.row(number)).collect();
        writer.add(&vectors)?;
    }
    writer.finish()?;
    out.flush()?;
    let built = start.elapsed().as_secs_f64();
    drop(documents);
    let index = ImpactIndex::open(map_file(path)?).map_err(|error: Error| error.to_string())?;
    let mut searches = Vec::new();
    for depth in depths {
        let depth: usize = depth.parse()?;
        let search = || -> Vec<Ranking> {
            requests.par_iter().map(|request| index.rank(request, None, depth)).collect()
        };
        let rankings = search();
        let mut best = f64::INFINITY;
        for _ in 0..5 {
            let start = Instant::now();
            search();
            best = best.min(start.elapsed().as_secs_f64());
        }
        let first: Vec<Vec<(u32, f64)>> = rankings[..rankings.len().min(20)]
            .iter()
            .map(|ranking| ranking.iter().map(|hit| (hit.doc.0, hit.score)).collect())
            .collect();
        searches.push(json!({ "depth": depth, "seconds": best, "first": first }));
    }
    let bytes = fs::metadata(path)?.len();
    println!("{}", json!({ "built": built, "bytes": bytes, "searches": searches }));
    Ok(())
}
