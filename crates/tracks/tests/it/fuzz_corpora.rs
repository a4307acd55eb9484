//! Runs the checks of the fuzz targets on their corpora, earlier findings included.
//!
//! `fuzz/README.md` explains how the corpora were made and how to fuzz further.

#[path = "../../../../fuzz/src/readers/mod.rs"]
#[allow(unreachable_pub, reason = "the fuzz targets use it from outside")]
pub mod checks;

use serde_json::{Value, json};
use std::fs;
use std::path::{Path, PathBuf};

fn corpus(target: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/corpus").join(target)
}

#[test]
fn every_file_of_every_corpus_passes_its_check() {
    for (target, check) in checks::TARGETS {
        let folder = corpus(target);
        let mut files = 0;
        for entry in
            fs::read_dir(&folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()))
        {
            let path = entry.unwrap().path();
            // Shown with the panic of a check that fails.
            println!("{}", path.display());
            check(&fs::read(path).unwrap());
            files += 1;
        }
        assert!(files > 0, "no corpus in {}", folder.display());
    }
}

/// Numbers that look random, the same for a seed.
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, most: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % most.max(1) as u64) as usize
    }
}

/// The parts of a value, itself included.
fn parts(value: &Value) -> Vec<&Value> {
    let mut all = vec![value];
    match value {
        Value::Array(items) => all.extend(items.iter().flat_map(parts)),
        Value::Object(keys) => all.extend(keys.values().flat_map(parts)),
        _ => {}
    }
    all
}

/// Changes a part of a value: it is removed, repeated, or another one.
fn change(value: &mut Value, others: &[Value], numbers: &mut Numbers) {
    let goes_on = numbers.below(5) > 0;
    match value {
        Value::Array(items) if goes_on && !items.is_empty() => {
            let place = numbers.below(items.len());
            match numbers.below(8) {
                0 => drop(items.remove(place)),
                1 => items.push(items[place].clone()),
                2 => items.reverse(),
                _ => change(&mut items[place], others, numbers),
            }
        }
        Value::Object(keys) if goes_on && !keys.is_empty() => {
            let place = numbers.below(keys.len());
            let key = keys.keys().nth(place).unwrap().clone();
            match numbers.below(8) {
                0 => drop(keys.remove(&key)),
                1 => drop(keys.insert(format!("{key}2"), keys[&key].clone())),
                _ => change(&mut keys[&key], others, numbers),
            }
        }
        _ => *value = others[numbers.below(others.len())].clone(),
    }
}

/// The sample's topics and files of the corpus, changed here and there: `MUTATIONS` of them, by default
/// so many that the test takes seconds.
#[test]
fn changed_topics_and_submissions_of_ikat_pass_their_check() {
    let check = checks::TARGETS.iter().find(|(target, _)| *target == "ikat").unwrap().1;
    let mut seeds = Vec::new();
    let mut files: Vec<PathBuf> =
        fs::read_dir(corpus("ikat")).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    let sample = Path::new(env!("CARGO_MANIFEST_DIR")).join("../track-ikat/sample-ikat");
    let mut samples: Vec<PathBuf> =
        fs::read_dir(sample).unwrap().map(|entry| entry.unwrap().path()).collect();
    samples.retain(|path| path.extension().is_some_and(|ending| ending == "json"));
    samples.sort();
    files.extend(samples);
    for file in files {
        seeds.extend(serde_json::from_slice::<Value>(&fs::read(file).unwrap()));
    }
    let mut others: Vec<Value> = seeds.iter().flat_map(parts).cloned().collect();
    others.retain(|part| part.to_string().len() < 1000);
    let edges = json!([
        null, true, 0, -1, 1, 2, 0.5, -0.0, 1e-320, 1e308, 18_446_744_073_709_551_615_u64, "", " ",
        "1", "1-1", "1-1_1", "9-9_9_9", "\u{0}", "\u{202e}", "é", [], {}, [[]], [{}], {"": ""}
    ]);
    for _ in 0..8 {
        others.extend(edges.as_array().unwrap().iter().cloned());
    }
    let mut numbers = Numbers(0x9e37_79b9_7f4a_7c15);
    let count = std::env::var("MUTATIONS").map_or(2000, |count| count.parse().unwrap());
    for mutation in 0..count {
        let mut value = seeds[numbers.below(seeds.len())].clone();
        for _ in 0..=numbers.below(4) {
            change(&mut value, &others, &mut numbers);
        }
        let mut bytes = value.to_string().into_bytes();
        if numbers.below(8) == 0 {
            let place = numbers.below(bytes.len());
            match numbers.below(3) {
                0 => bytes.truncate(place),
                1 => bytes.insert(place, numbers.below(256) as u8),
                _ => bytes[place] = numbers.below(256) as u8,
            }
        }
        // Shown with the panic of a check that fails.
        println!("{mutation}: {}", String::from_utf8_lossy(&bytes));
        check(&bytes);
    }
}
