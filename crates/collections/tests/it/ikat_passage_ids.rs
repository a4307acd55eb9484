//! Passage ids: those of the released list, and as many as one likes.

use crate::released::{file, released};
use clariq_collections::ikat::Year;
use clariq_collections::ikat::passage_ids::{MEMORY, build, open};
use clariq_collections::ikat::run::Submission;
use clariq_files::Source;
use flate2::Compression;
use flate2::write::GzEncoder;
use std::fs::{self, File};
use std::io::{BufWriter, Write};
use std::time::Instant;

#[test]
fn ids_of_the_released_list_are_found() {
    let Some(folder) = released("ikat") else { return };
    let scratch = tempfile::tempdir().unwrap();
    let path = scratch.path().join("passages.ids");
    let report = build(&[file(&folder, "passages/sample_hashes.tsv.gz")], &path, MEMORY).unwrap();
    let ids = open(&path).unwrap();
    assert_eq!((report.repeated, ids.len() as u64), (0, report.ids));
    let run = file(&folder, "sample_runs/2023/full_run.json");
    let run = Submission::read(&run, Some(Year::Y2023)).unwrap();
    let responses = run.turns.iter().flat_map(|turn| &turn.responses);
    for passage in responses.flat_map(|response| &response.passages) {
        assert!(ids.contains(&passage.id), "{}", passage.id);
        assert!(!ids.contains(format!("{}9999", passage.id)));
    }
}

/// Builds and opens a file of generated ids: `CLARIQ_IDS=116838987 cargo test --release --
/// --ignored generated_ids`.
#[test]
#[ignore = "a measurement, which writes gigabytes"]
fn generated_ids() {
    let count: u64 =
        std::env::var("CLARIQ_IDS").ok().and_then(|n| n.parse().ok()).unwrap_or(1_000_000);
    let scratch = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let (list, path) = (scratch.path().join("ids.tsv.gz"), scratch.path().join("passages.ids"));
    write_ids(&list, count);
    let start = Instant::now();
    let report = build(&[Source::new(&list)], &path, MEMORY).unwrap();
    println!("{} ids built in {:.1?}", report.ids, start.elapsed());
    println!("{} bytes", fs::metadata(&path).unwrap().len());
    let start = Instant::now();
    let ids = open(&path).unwrap();
    println!("opened in {:.1?}", start.elapsed());
    let start = Instant::now();
    let mut found = 0;
    for number in 0..1_000_000 {
        let (page, passage) = page_and_passage(number * 104_729 % count);
        found += u64::from(ids.contains(format!("{}:{passage}", page_name(page))));
        assert!(!ids.contains(format!("{}:{}", page_name(page), passage + 400)));
    }
    println!("2,000,000 looked up in {:.1?}", start.elapsed());
    assert_eq!((report.ids, found), (count, 1_000_000));
    if let Ok(status) = fs::read_to_string("/proc/self/status") {
        println!("{}", status.lines().find(|line| line.starts_with("VmHWM")).unwrap_or_default());
    }
}

/// Pages in an order that is not that of their names, with 1 to 17 passages each.
fn write_ids(path: &std::path::Path, count: u64) {
    let file = BufWriter::new(File::create(path).unwrap());
    let mut out = BufWriter::new(GzEncoder::new(file, Compression::fast()));
    for number in 0..count {
        let (page, passage) = page_and_passage(number);
        writeln!(out, "{}\t{passage}\t00000000000000000000000000000000", page_name(page)).unwrap();
    }
    out.into_inner().ok().unwrap().finish().unwrap();
}

/// Nine passages a page on average: 34 pages have 1 to 17 passages, twice.
fn page_and_passage(number: u64) -> (u64, u64) {
    let (block, mut rest) = (number / 306, number % 306);
    for page in 0..34 {
        let passages = page / 2 + 1;
        if rest < passages {
            return (block * 34 + page, rest);
        }
        rest -= passages;
    }
    unreachable!("34 pages have 306 passages")
}

/// A name of `ClueWeb22`'s form; pages far from each other follow each other.
fn page_name(page: u64) -> String {
    let scattered = page * 2_654_435_761 % (1 << 31);
    let (segment, rest) = (scattered % 47, scattered / 47);
    format!(
        "clueweb22-en{segment:04}-{:02}-{:05}",
        rest % 100,
        rest / 100 % 100_000 + page / (1 << 31)
    )
}
