//! Several data folders: a run over each, and one table with the means.

use crate::chat::{run, succeed};
use crate::common::{Bench, root};
use serde_json::Value;

/// Writes a collection of three documents and some requests, each with one relevant document: the one
/// that it names, or another.
fn write_collection(bench: &Bench, folder: &str, requests: &[(&str, &str)]) {
    let documents = ["tea", "coffee", "water"].map(|word| {
        format!(
            "{{\"_id\": \"{folder}-{word}\", \"title\": \"\", \"text\": \"{word} {folder}\"}}\n"
        )
    });
    bench.write(&format!("{folder}/corpus.jsonl"), documents.concat());
    let mut queries = String::new();
    let mut qrels = "query-id\tcorpus-id\tscore\n".to_owned();
    for (number, (text, relevant)) in requests.iter().enumerate() {
        queries +=
            &[r#"{"_id": ""#, &number.to_string(), r#"", "text": ""#, text, "\"}\n"].concat();
        qrels += &[&number.to_string(), "\t", folder, "-", relevant, "\t1\n"].concat();
    }
    bench.write(&format!("{folder}/queries.jsonl"), queries);
    bench.write(&format!("{folder}/qrels/test.tsv"), qrels);
}

/// `all/one` with a request that is answered, and `all/two` with three, of which one is.
fn bench() -> Bench {
    let bench = Bench::new();
    write_collection(&bench, "all/one", &[("tea", "tea")]);
    write_collection(&bench, "all/two", &[("tea", "tea"), ("tea", "water"), ("coffee", "water")]);
    bench.write("all/notes.txt", "no collection");
    bench
}

/// The runs of a folder, in the order of their names.
fn runs(bench: &Bench, system: &str) -> String {
    let mut found: Vec<String> = Vec::new();
    for folder in std::fs::read_dir(bench.path("runs")).expect("runs") {
        let name = folder.expect("a folder").file_name();
        found.push(format!("runs/{}/{system}.test.run", name.to_string_lossy()));
    }
    found.sort();
    found.join(" ")
}

#[test]
fn one_table_has_a_column_for_each_collection_and_both_means() {
    let bench = bench();
    let ran = succeed(&bench, "run bm25-english ql --data all --split test");
    assert_eq!(ran.stdout.lines().count(), 1 + 4, "{}", ran.stdout);
    assert!(!ran.stderr.contains("the only collection"), "{}", ran.stderr);
    let line =
        format!("eval {} --data all/one --data all/two -m R@1", runs(&bench, "bm25-english"));
    let named = succeed(&bench, &format!("{line} --format json"));
    let rows: Value = serde_json::from_str(&named.stdout).expect("JSON");
    assert_eq!(
        rows,
        serde_json::json!([{
            "measure": "R@1", "run": "bm25-english", "one": 1.0, "two": 1.0 / 3.0,
            "mean": 2.0 / 3.0, "weighted": 0.5
        }])
    );
    let below = succeed(&bench, &line.replace("--data all/one --data all/two", "--data all"));
    let named = succeed(&bench, &line);
    assert_eq!(below.stdout, named.stdout, "a folder of folders");
    let both = format!("{} {}", runs(&bench, "bm25-english"), runs(&bench, "ql"));
    let compared = succeed(&bench, &format!("compare {both} --data all -m R@1"));
    let words: Vec<Vec<&str>> =
        compared.stdout.lines().map(|line| line.split_whitespace().collect()).collect();
    assert_eq!(words[0][..6], ["by", "run", "one", "two", "mean", "weighted"]);
    assert_eq!(words[2][..7], ["R@1", "ql", "1.0000", "0.3333", "0.6667", "0.5000", "0.0000"]);
    assert!(compared.stderr.contains("all 4 requests"), "{}", compared.stderr);
    succeed(&bench, &format!("report {both} --data all -o page.html"));
    let page = bench.text("page.html");
    for part in ["one, 1 request", "two, 3 requests", "mean", "weighted", "bm25-english"] {
        assert!(page.contains(part), "{part}");
    }
}

#[test]
fn hidden_folders_are_no_collections_and_one_collection_is_no_table() {
    let bench = Bench::new();
    write_collection(&bench, "all/one", &[("tea", "tea")]);
    write_collection(&bench, "all/.ipynb_checkpoints", &[("tea", "tea"), ("tea", "water")]);
    let below = succeed(&bench, "run bm25-english --data all --split test -o below.run");
    let named = succeed(&bench, "run bm25-english --data all/one --split test -o named.run");
    assert_eq!(below.status, named.status);
    assert_eq!(bench.text("below.run"), bench.text("named.run"));
    write_collection(&bench, "all/two", &[("tea", "tea"), ("coffee", "tea")]);
    let both = succeed(&bench, "run bm25-english --data all --split test");
    assert_eq!(both.stdout.lines().count(), 1 + 2, "{}", both.stdout);
}

#[test]
fn folders_of_one_collection_have_runs_of_their_own() {
    let bench = Bench::new();
    let sample = root().join("data/sample-mtrag").display().to_string();
    bench.shell(&["sh"], &format!("mkdir all && cp -r {sample} all/a && cp -r {sample} all/b"));
    let ran = succeed(&bench, "run mtrag-bm25-last --data all --split mtrag-un");
    assert_eq!(ran.stdout.lines().count(), 1 + 2, "{}", ran.stdout);
    let run = |folder: &str| bench.text(&format!("runs/{folder}/mtrag-bm25-last.mtrag-un.run"));
    assert_eq!(run("a"), run("b"));
}

#[test]
fn what_has_no_place_in_one_table_is_refused() {
    let bench = bench();
    succeed(&bench, "run bm25-english ql --data all --split test");
    let bm25 = runs(&bench, "bm25-english");
    let first = bm25.split(' ').next().expect("a run").to_owned();
    let ql = runs(&bench, "ql");
    let refused = |line: &str| {
        let finished = run(&bench, line);
        assert_eq!(finished.status, Some(2), "{line}: {}", finished.stdout);
        let mut lines = finished.stderr.lines().skip_while(|line| !line.starts_with("error"));
        lines.by_ref().take(3).map(str::trim).collect::<Vec<_>>().join("; ")
    };
    assert!(refused(&format!("eval {first} --data all")).contains("a run of `bm25-english` over"));
    assert!(refused(&format!("eval {first} {first} --data all")).contains("beside it"));
    assert!(refused(&format!("eval {bm25} --data all/one")).contains("expected: one file"));
    assert!(refused(&format!("eval {bm25} --data all --per-topic -m R@1")).contains("--per-topic"));
    assert!(refused("run bm25 --data all -o one.run").contains("--output"));
    assert!(refused(&format!("compare {bm25} --data all")).contains("two systems or more"));
    assert!(refused(&format!("report {ql} --data all --charts c")).contains("--charts"));
    let tune = "tune ql --data all/one --data all/two --grid bm25.mu=1,2";
    assert!(refused(tune).contains("expected: one folder"));
    bench.write("other.run", "0 Q0 elsewhere 1 1.0 x\n");
    assert!(refused(&format!("eval other.run {ql} --data all")).contains("none of them"));
}
