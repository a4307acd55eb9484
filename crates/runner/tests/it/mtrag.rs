//! MTRAG from a run to a page, over the sample.

use crate::chat::succeed;
use crate::common::{Bench, root};
use serde_json::Value;

fn data() -> String {
    root().join("data/sample-mtrag").display().to_string()
}

#[test]
fn systems_without_models_are_run_scored_validated_and_shown() {
    let bench = Bench::new();
    let data = data();
    for (system, split) in [
        ("mtrag-bm25-last", "mtrag-un"),
        ("mtrag-bm25-questions", "mtrag-un"),
        ("mtrag-bm25", "mtrag-un"),
        ("mtrag-bm25-rewritten", "mtrag"),
    ] {
        let on = format!("--data {data} --split {split}");
        succeed(&bench, &format!("run {system} {on} -o one.run"));
        let scored = succeed(&bench, &format!("eval one.run {on} --format json"));
        let scored: Value = serde_json::from_str(&scored.stdout).expect("JSON");
        let domains = scored["domains"].as_array().expect("domains");
        let all = domains.last().expect("the mean");
        assert_eq!(all["domain"], "all");
        assert_eq!(all["passages"], "collection");
        assert!(all["R@10"].as_f64().expect("a figure") > 0.5, "{system}: {all}");
        succeed(&bench, &format!("validate one.jsonl {on}"));
        let told = succeed(&bench, &format!("validate one.jsonl --data {data}"));
        assert!(!told.stderr.contains("--split"), "the record names the split: {}", told.stderr);
        succeed(&bench, &format!("report one.run one.jsonl {on} -o one.html"));
        let page = bench.text("one.html");
        assert!(page.contains("clarifying") || split == "mtrag", "{system}");
    }
    // Either of both files may be named.
    let on = format!("--data {data} --split mtrag-un");
    succeed(&bench, &format!("run mtrag-bm25-last {on} -o one.run"));
    succeed(&bench, &format!("run mtrag-bm25-last {on} -o two.jsonl"));
    assert_eq!(
        [bench.text("two.run"), bench.text("two.jsonl")],
        ["one.run", "one.jsonl"].map(|name| bench.text(name))
    );
    succeed(&bench, &format!("data export --data {data} -o exported"));
    succeed(&bench, "data check --data exported");
}

#[test]
fn a_system_that_only_ranks_passages_asks_nothing() {
    let bench = Bench::new();
    let data = data();
    let refused = bench.run(&["ask", "--data", &data, "--system", "mtrag-bm25-last", "a licence"]);
    assert_eq!((refused.status, refused.stdout.as_str()), (Some(2), ""), "{}", refused.stderr);
    assert!(refused.stderr.contains("found: one that only ranks passages"), "{}", refused.stderr);
}

#[test]
fn figures_over_a_substitute_say_so() {
    let bench = Bench::new();
    for name in [
        "mtragun-human/generation_tasks/reference.jsonl",
        "mtragun-human/retrieval_tasks/qrels/govt.tsv",
    ] {
        let text = std::fs::read(root().join("data/sample-mtrag").join(name)).expect("the sample");
        bench.write(&format!("data/{name}"), text);
    }
    let ran = succeed(&bench, "run mtrag-bm25-last --data data --split mtrag-un -o one.run");
    succeed(&bench, "run mtrag-bm25 --data data --split mtrag-un -o two.run");
    let note = "note: the passages of cloud, govt are those of the references, a substitute for the \
                collection in corpora/passage_level: scores over them only compare with each other";
    assert!(ran.stderr.contains(note), "{}", ran.stderr);
    for file in ["one.run", "one.jsonl"] {
        let checked = bench.run(&["validate", file, "--data", "data"]).stderr;
        let warning = note.replace("note:", &format!("warning: {file}:"));
        assert!(checked.contains(&warning), "{checked}");
    }
    let scored = succeed(&bench, "eval one.run --data data --split mtrag-un --format tsv");
    assert!(scored.stderr.contains(note), "{}", scored.stderr);
    let row = scored.stdout.lines().find(|line| line.starts_with("govt\t")).expect("a domain");
    assert!(row.starts_with("govt\treferences\t"), "{row}");
    let named = succeed(&bench, "eval one.run --data data --split mtrag-un -m nDCG@5");
    assert!(named.stderr.contains(note), "{}", named.stderr);
    let compared = succeed(&bench, "compare one.run two.run --data data --split mtrag-un");
    assert!(compared.stderr.contains(note), "{}", compared.stderr);
    succeed(&bench, "report one.run two.run --data data --split mtrag-un -o one.html");
    assert!(bench.text("one.html").contains("a substitute for the collection"));
}

#[test]
fn a_run_of_another_folder_of_the_collection_is_not_replaced() {
    let bench = Bench::new();
    let data = data();
    let run = format!("run mtrag-bm25-last --split mtrag-un --data {data}");
    succeed(&bench, &run);
    succeed(&bench, &run);
    let before = bench.text("runs/mtrag/mtrag-bm25-last.mtrag-un.run");
    // The same requests, over the passages of the references.
    let requests = "mtragun-human/generation_tasks/reference.jsonl";
    let text = std::fs::read(root().join("data/sample-mtrag").join(requests)).expect("the sample");
    bench.write(&format!("data/{requests}"), text);
    let refused = bench.refused("run mtrag-bm25-last --split mtrag-un --data data");
    assert!(refused.contains("found: one over other documents\n"), "{refused}");
    assert!(refused.contains("`-o runs/mtrag-2/mtrag-bm25-last.mtrag-un.run`"), "{refused}");
    assert_eq!(bench.text("runs/mtrag/mtrag-bm25-last.mtrag-un.run"), before);
}

#[test]
fn a_submission_is_scored_by_judgements_of_a_file() {
    let bench = Bench::new();
    let data = data();
    succeed(&bench, &format!("run mtrag-bm25-last --data {data} --split mtrag-un -o one.run"));
    let qrels = format!("{data}/mtragun-human/retrieval_tasks/qrels/govt.tsv");
    let by = |file: &str| {
        let line = format!("eval {file} --qrels {qrels} -m nDCG@5 --format json");
        serde_json::from_str::<Value>(&succeed(&bench, &line).stdout).expect("JSON")
    };
    assert_eq!(by("one.jsonl"), by("one.run"));
    succeed(&bench, &format!("compare one.run one.jsonl --qrels {qrels} -m nDCG@5"));
}

#[test]
fn a_task_is_found_in_both_spellings_of_its_id() {
    let bench = Bench::new();
    let data = data();
    succeed(&bench, &format!("run mtrag-bm25-last --data {data} --split mtrag-un -o one.run"));
    let run = bench.text("one.run");
    assert!(run.contains("cc01<::>2 "), "{run}");
    bench.write("two.run", run.replace("<::>", "::"));
    let explain = |topic: &str| {
        let line =
            format!("explain --system mtrag-bm25-last --split mtrag-un --topic {topic} g2-0-80");
        succeed(&bench, &format!("{line} --data {data}")).stdout
    };
    assert_eq!(explain("cc01::2"), explain("cc01<::>2"));
    let compare = |topic: &str| {
        let line = format!("compare one.run two.run --split mtrag-un -m nDCG@5 --topic {topic}");
        succeed(&bench, &format!("{line} --data {data} --format json")).stdout
    };
    assert_eq!(compare("cc01::2"), compare("cc01<::>2"));
    let found: serde_json::Value = serde_json::from_str(&compare("cc01::2")).expect("JSON");
    let row = &found["documents"][0];
    assert_eq!((&row["one.run"], &row["two.run"]), (&1.into(), &1.into()), "{found}");
    let rows = found["documents"].as_array().expect("rows");
    assert!(rows.iter().any(|row| row["document"] == "g2-0-80" && row["grade"] == 1), "{found}");
}

#[test]
fn systems_of_other_collections_are_not_reproduced() {
    let bench = Bench::new();
    let data = data();
    let shown = bench.succeed(&format!("reproduce --data {data} --split mtrag-un")).stdout;
    assert!(shown.contains("mtrag-bm25-last"), "{shown}");
    assert!(!shown.contains("bm25-tuned") && !shown.contains("no-question"), "{shown}");
}
