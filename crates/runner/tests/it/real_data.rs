//! Figures on the released files. The tests are skipped, with a message, where those are missing.

use crate::common::{Bench, root};
use std::collections::HashMap;
use std::path::PathBuf;

/// The folder with `data`, `leaderboard` and `sample_runs` as they were released.
fn released() -> Option<PathBuf> {
    let folder = root().join("../shared/clariq");
    if folder.join("data/question_bank.tsv").exists() && folder.join("sample_runs").is_dir() {
        return Some(folder.canonicalize().expect("a folder"));
    }
    println!("skipped: the released files are not in {}", folder.display());
    None
}

/// A bench with links `data` and `published` to the released files.
fn bench() -> Option<Bench> {
    let released = released()?;
    let bench = Bench::new();
    for (link, folder) in [("data", "data"), ("published", "sample_runs")] {
        std::os::unix::fs::symlink(released.join(folder), bench.path(link)).expect("linked");
    }
    Some(bench)
}

#[test]
fn documents_of_the_bm25_baseline_have_the_published_figures() {
    let Some(bench) = bench() else { return };
    bench.succeed("run bm25 --data data --split dev -o dev.run");
    let row = bench.succeed("eval dev.run --data data --task document_relevance --leaderboard");
    assert_eq!(row.stdout, "| RANK | CREATOR | bm25 | 0.3096 | 0.2313 | 0.1608 | 0.1530 |\n");
}

#[test]
fn published_runs_get_the_published_figures() {
    let Some(bench) = bench() else { return };
    let published = [
        (
            "dev_bm25",
            [
                "0.3245570421150917",
                "0.5638042646208281",
                "0.6674997108155003",
                "0.6912818698329535",
            ],
        ),
        (
            "dev_BERT-ranker",
            [
                "0.3493763159784832",
                "0.6134226147949058",
                "0.7248462956032615",
                "0.7542703960126561",
            ],
        ),
        (
            "dev_BERT-reranker",
            ["0.3474806038474769", "0.612186404926343", "0.6912818698329535", "0.6912818698329535"],
        ),
        ("dev_no_q", ["0.05560622994136926"; 4]),
    ];
    for (name, figures) in published {
        let [five, ten, twenty, thirty] = figures;
        let expected =
            format!("Recall5: {five}\nRecall10: {ten}\nRecall20: {twenty}\nRecall30: {thirty}\n");
        assert_eq!(
            bench.succeed(&format!("eval --data data published/{name}")).stdout,
            expected,
            "{name}"
        );
        let official = format!(
            "eval --eval_task question_relevance --data_dir data --experiment_type dev --run_file published/{name}"
        );
        assert_eq!(bench.succeed(&official).stdout, expected, "{name}");
    }
}

#[test]
fn figures_per_topic_are_the_published_ones() {
    let Some(bench) = bench() else { return };
    bench.succeed("eval --data data published/dev_bm25 --out-file figures.json");
    let read = |name: &str| -> HashMap<String, HashMap<String, f64>> {
        serde_json::from_slice(&bench.read(name)).expect("figures per topic")
    };
    let ours = read("figures.json");
    let published = read("published/dev_bm25_question_relevance.eval");
    assert_eq!(published["Recall5"].len(), 50);
    assert_eq!(ours, published);
}

#[test]
fn scores_of_published_rows_are_named() {
    let Some(bench) = bench() else { return };
    for (line, row) in [
        ("dev_bm25", "BM25 by ClariQ"),
        ("dev_BERT-ranker", "BERT-ranker by ClariQ"),
        ("dev_BERT-reranker", "BERT-reranker by ClariQ"),
        ("dev_bm25 --task document_relevance", "BM25 by ClariQ, BERT+BM25 by Soda"),
        ("dev_worst_q --task document_relevance", "Oracle WorstQuestion by ClariQ"),
    ] {
        let told = bench.succeed(&format!("eval --data data --split dev published/{line}")).stderr;
        let note = format!("note: the published scores on dev of {row} (configs/leaderboard)\n");
        assert!(told.contains(&note), "{line}: {told}");
    }
    let other = bench.succeed("eval --data data --split dev published/dev_no_q");
    assert!(!other.stderr.contains("published scores"), "{}", other.stderr);
}
