//! `clariq compare` and `clariq eval` on runs over the iKAT sample.

use crate::common::Bench;
use crate::common::refusals::{Case, case, check};
use snapbox::{assert_data_eq, file, str};
use std::fs;
use std::sync::OnceLock;

const BM25: &str = "runs/ikat-sample/ikat-bm25.2023-test.json";

/// The files of a run of BM25 over the sample, made once for all tests.
fn run_of_bm25() -> &'static [(String, Vec<u8>)] {
    static FILES: OnceLock<Vec<(String, Vec<u8>)>> = OnceLock::new();
    FILES.get_or_init(|| {
        let bench = Bench::new();
        bench.succeed("-q run ikat-bm25 --split 2023-test");
        let read = |ending: &str| {
            let name = BM25.replace(".json", ending);
            let content = bench.read(&name);
            (name, content)
        };
        [".json", ".record.json", ".statements.run", ".passages.run"].map(read).into()
    })
}

/// A bench with a run of BM25 and a worse copy of it.
fn with_runs() -> Bench {
    let bench = Bench::new();
    for (name, content) in run_of_bm25() {
        bench.write(name, content);
    }
    let run: serde_json::Value = serde_json::from_slice(&bench.read(BM25)).unwrap();
    let mut worse = run.clone();
    worse["run_name"] = "worse".into();
    for turn in worse["turns"].as_array_mut().unwrap().iter_mut().skip(1) {
        let response = &mut turn["responses"][0];
        response["text"] = "Nothing.".into();
        for list in ["passage_provenance", "ptkb_provenance"] {
            let items = response[list].as_array_mut().unwrap();
            // The best passage and the best statement are removed.
            items.remove(0);
        }
    }
    bench.write("worse.json", worse.to_string());
    bench
}

#[test]
fn one_topic_of_submissions_shows_its_statements_and_passages() {
    let bench = with_runs();
    let line = format!("-q compare {BM25} worse.json --topic 1-1_2");
    let statements = bench.succeed(&format!("{line} --task ptkb_provenance"));
    assert_data_eq!(statements.stdout, file!["../printed/compare-statements.txt"]);
    let passages = bench.succeed(&format!("{line} --task passages"));
    assert_data_eq!(passages.stdout, file!["../printed/compare-passages.txt"]);
    assert_data_eq!(
        bench.refused(&line),
        str![[r#"
error: --topic
  expected: --task passages beside it
     found: --task of all parts
hint: --task ptkb_provenance compares its statements

"#]]
    );
}

#[test]
fn every_part_is_a_table_of_its_own() {
    let bench = with_runs();
    fs::rename(bench.path("worse.json"), bench.path("a-run-with-a-name-that-is-rather-long.json"))
        .unwrap();
    let line = format!("compare {BM25} a-run-with-a-name-that-is-rather-long.json");
    let found = bench.succeed(&line);
    let titles: Vec<&str> = found.stdout.lines().filter(|line| line.ends_with(" turns")).collect();
    let parts: Vec<&str> = titles.iter().filter_map(|title| title.split(", ").next()).collect();
    assert_eq!(
        parts,
        [
            "ptkb_provenance (organisers)",
            "ptkb_provenance (NIST)",
            "sets (organisers)",
            "sets (NIST)",
            "passages (cited)",
            "passages (graded by NIST)",
            "responses"
        ]
    );
    assert!(found.stdout.contains("\nby      run "), "{}", found.stdout);
    assert!(found.stdout.contains("\n\nrun "), "topics follow: {}", found.stdout);
    assert!(found.stderr.contains("both two-sided, over the turns of each table"));
    assert!(found.stderr.contains("where ptkb_provenance (organisers) nDCG@3 differs most"));
}

const RUN: fn(&Bench) = |bench| {
    for (name, content) in run_of_bm25() {
        for copy in ["a", "b"] {
            bench.write(&name.replace("runs/ikat-sample/ikat-bm25.2023-test", copy), content);
        }
    }
};

const REFUSALS: &[Case] = &[
    case(
        "a task that does not exist",
        RUN,
        "compare a.json b.json --task titles",
        ["--task", "one of statements, ptkb_provenance, sets, passages, responses", "`titles`"],
    ),
    case(
        "measures of sets",
        RUN,
        "compare a.json b.json --task sets -m AP",
        ["-m", "--task statements or --task passages", "--task sets"],
    ),
    case(
        "ties of ClariQ",
        RUN,
        "compare a.json b.json --ties official",
        ["--ties", "runs of ClariQ", "runs of iKAT"],
    ),
    case(
        "an option of ClariQ's evaluation",
        RUN,
        "eval a.json --split 2023-test --leaderboard",
        ["--leaderboard", "no --leaderboard with runs of iKAT", "runs of iKAT"],
    ),
    case(
        "a need file beside runs of iKAT",
        RUN,
        "report a.json --need good.need",
        ["--need", "runs of ClariQ", "`good.need` with runs of iKAT"],
    ),
    case(
        "turns of another year",
        |bench| {
            RUN(bench);
            bench.edit("b.json", |text| text.replace("\"turn_id\":\"", "\"turn_id\":\"7"));
        },
        "compare a.json b.json",
        ["b.json", "answers to topics of", "only other topics"],
    ),
    case(
        "rankings of two tasks",
        RUN,
        "compare a.statements.run a.passages.run --split 2023-test",
        ["a.passages.run", "the columns of the baseline, statements", "passages"],
    ),
    case(
        "a split of iKAT in a folder of ClariQ",
        |bench| bench.write("bad.run", "9 0 Q00001 1 1 t\n"),
        "compare good.run bad.run --split 2023-test --data data",
        ["--split", "train, dev, test", "`2023-test`"],
    ),
    case(
        "a split that does not exist",
        |bench| bench.write("bad.run", "9 0 Q00001 1 1 t\n"),
        "compare good.run bad.run --split 2026 --data data",
        ["--split", "one of the splits train, dev, test", "`2026`"],
    ),
];

#[test]
fn options_that_do_not_fit_are_refused() {
    check(REFUSALS);
}

#[test]
fn documents_that_a_response_repeats_are_mentioned() {
    let bench = with_runs();
    let mut run: serde_json::Value = serde_json::from_slice(&bench.read(BM25)).unwrap();
    let response = &mut run["turns"][0]["responses"][0];
    for list in ["passage_provenance", "ptkb_provenance"] {
        let items = response[list].as_array_mut().unwrap();
        items.push(items[0].clone());
    }
    bench.write("again.json", run.to_string());
    for line in ["compare again.json worse.json", "eval again.json", "report again.json -o a.html"]
    {
        let said = bench.succeed(&format!("{line} --split 2023-test")).stderr;
        let warning = "2 passages and statements repeat one of the same response";
        assert!(said.contains(warning), "{line}: {said}");
        assert!(!said.contains("worse.json: "), "{line}: {said}");
    }
}

#[test]
fn a_ranking_beside_a_submission_is_of_its_split_and_no_page() {
    let bench = with_runs();
    let passages = BM25.replace(".json", ".passages.run");
    let scored = bench.succeed(&format!("eval {passages}")).stdout;
    assert!(scored.contains("passages (cited) nDCG@3"), "{scored}");
    assert_data_eq!(
        bench.refused(&format!("-q report {passages}")),
        str![[r#"
error: runs/ikat-sample/ikat-bm25.2023-test.passages.run
  expected: a submission, with the responses that the page shows
     found: a TREC run
hint: name the submission, `runs/ikat-sample/ikat-bm25.2023-test.json`

"#]]
    );
}
