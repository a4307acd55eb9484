//! Submissions as TREC runs are those of the official program.

use crate::released::released;
use clariq_files::{Source, Target};
use clariq_track_ikat::convert::convert_to_trec;
use std::fs;

#[test]
fn conversions_are_those_of_the_official_program() {
    let Some(folder) = released("ikat") else { return };
    let runs = folder.join("sample_runs");
    let written = tempfile::tempdir().unwrap();
    let output = written.path().join("out.run");
    for (run, expected) in [
        ("2023/full_run.json", "2023/full_run.json.run"),
        ("2023/sample_run.json", "2023/sample_run.json.run"),
        ("2023/sample_run_no_ptkb.json", "2023/sample_run_no_ptkb.json.run"),
        ("2024/sample_run.json", "2024/sample_run.json.run"),
        ("2025/full_run.jsonl", "2025/full_run.run"),
    ] {
        convert_to_trec(&Source::new(runs.join(run)), &Target::new(&output)).unwrap();
        assert!(fs::read(&output).unwrap() == fs::read(runs.join(expected)).unwrap(), "{run}");
    }
}
