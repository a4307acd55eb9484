//! The cases of `../shared/cases/public-reports` that need no server, where they are at hand: the
//! command of each, and what must come out.

use crate::common::{Bench, root};
use std::path::PathBuf;
use std::process::Command;

/// A case: its name, the command in the folder of the cases, the exit status, and a part of the output.
type Case = (&'static str, &'static str, i32, &'static str);

const PLAIN: &str = "Recall5: 0.414021164021164\n";

const CASES: [Case; 17] = [
    ("topics-as-numbers", "eval clariq-run/float-topics.run --data SAMPLE --split dev", 0, PLAIN),
    ("topics-as-numbers", "eval clariq-run/zero-padded.run --data SAMPLE --split dev", 0, PLAIN),
    (
        "need-as-numbers",
        "eval clariq-need/float-topics.need --data SAMPLE --split dev --task clarification_need",
        0,
        "F1: 0.16666666666666666\n",
    ),
    ("cr-run", "eval clariq-run/cr-only.run --data SAMPLE --split dev", 0, PLAIN),
    (
        "validator-tabs",
        "validate clariq-run/tabs.run --data SAMPLE --split dev",
        1,
        "expected: one blank between fields",
    ),
    (
        "validator-tabs",
        "validate clariq-need/tabs.need --data SAMPLE --split dev",
        1,
        "expected: one blank between fields",
    ),
    (
        "validator-spaces",
        "validate clariq-run/double-spaces.run --data SAMPLE --split dev",
        1,
        "found: two, or one before them",
    ),
    (
        "validator-spaces",
        "eval clariq-run/double-spaces.run --data SAMPLE --split dev",
        0,
        "not as the official scorer needs them",
    ),
    ("cr-collection", "data check --data cr-only-collection", 0, "collection.tsv"),
    ("two-grades", "data check --data two-grades", 1, "expected: one grade for document"),
    ("utf16", "data check --data utf16-no-bom", 1, "found: a NUL"),
    (
        "json-run",
        "eval json-run/run.json --data OWN --split dev -m nDCG@10",
        2,
        "{\"topic\": {\"document\": score}}",
    ),
    (
        "json-run",
        "eval json-run/run.json --qrels OWN/qrels.dev.txt -m nDCG@10",
        2,
        "{\"topic\": {\"document\": score}}",
    ),
    (
        "hash-ids",
        "eval hash-ids/given.run --data hash-ids --split test -m R@5",
        0,
        "R@5      all    0.750000",
    ),
    (
        "requests-beir",
        "rank bm25-english --data OWN --requests requests-beir/queries.jsonl --format trec",
        0,
        "d1 Q0 garden/2 1 ",
    ),
    (
        "requests-beir",
        "rank bm25-english --data OWN --requests requests-beir/queries.tsv --format trec",
        0,
        "d1 Q0 garden/2 1 ",
    ),
    ("header-line", "data check --data header-line", 0, "queries.test.tsv"),
];

/// A bench with links to the files of the cases; `None` where they are not at hand.
fn bench() -> Option<Bench> {
    let cases = root().join("../shared/cases/public-reports");
    if !cases.exists() {
        println!("skipped: the cases are not in {}", cases.display());
        return None;
    }
    let bench = Bench::new();
    for entry in cases.read_dir().expect("a folder") {
        let path: PathBuf = entry.expect("an entry").path();
        let link = bench.path(path.file_name().and_then(|name| name.to_str()).expect("a name"));
        let target = path.canonicalize().expect("a path");
        std::os::unix::fs::symlink(target, link).expect("linked");
    }
    Some(bench)
}

#[test]
fn the_shared_cases_come_out_right() {
    let Some(bench) = bench() else { return };
    let folder = |name: &str| root().join("data").join(name).display().to_string();
    for (name, line, status, part) in CASES {
        let line = line.replace("OWN", &folder("sample-own")).replace("SAMPLE", &folder("sample"));
        let finished = bench.run(&line.split(' ').collect::<Vec<_>>());
        let printed = format!("{}{}", finished.stdout, finished.stderr);
        assert_eq!(finished.status, Some(status), "{name}: {printed}");
        assert!(printed.contains(part), "{name}: {printed}");
    }
}

#[test]
fn the_shared_collections_are_ranked_whole() {
    let Some(bench) = bench() else { return };
    for (system, data, topics, lines) in [
        ("bm25-english", "cr-only-collection", &["q1", "q2"][..], 4),
        ("bm25-english", "header-line", &["q1", "q2"], 4),
        ("bm25-english", "hash-ids", &["#tea", "q2"], 4),
        ("bm25", "equal-texts", &["1"], 13),
    ] {
        bench.succeed(&format!("run {system} --data {data} --split test -o a.run"));
        let run = bench.text("a.run");
        let mut found: Vec<&str> =
            run.lines().map(|line| line.split(' ').next().unwrap()).collect();
        assert_eq!(found.len(), lines, "{data}: {run}");
        found.dedup();
        assert_eq!(found, topics, "{data}");
    }
}

/// Case `lower-case`.
#[cfg(feature = "bert")]
#[test]
fn a_shared_encoder_lower_cases_as_its_settings_say() {
    let Some(bench) = bench() else { return };
    let line = "rank lower-case/dense.toml --data lower-case/own --requests \
                lower-case/requests.jsonl --format trec";
    let ranked = bench.succeed(line).stdout;
    let of = |id: &str| -> Vec<String> {
        let prefix = format!("{id} ");
        ranked.lines().filter_map(|line| line.strip_prefix(&prefix)).map(str::to_owned).collect()
    };
    assert!(!of("lower").is_empty());
    assert_eq!(of("lower"), of("upper"));
}

/// `check.sh` says for each of the later cases whether it comes out right.
#[test]
fn the_later_shared_cases_come_out_right() {
    let check = root().join("../shared/cases/public-reports-2/check.sh");
    if !check.exists() {
        println!("skipped: the cases are not at {}", check.display());
        return;
    }
    let checked = Command::new("bash")
        .arg(check)
        .arg(env!("CARGO_BIN_EXE_clariq"))
        .env("PYTHONPATH", root().join("python"))
        .output()
        .expect("bash");
    let seen = String::from_utf8_lossy(&checked.stdout);
    assert!(checked.status.success() && seen.matches("right ").count() > 10, "{seen}");
}
