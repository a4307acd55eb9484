//! Rankings that depend on the predicted need.

use super::{LEXICAL, predicted};
use crate::common::Bench;
use serde_json::Value;
use std::collections::HashSet;

/// BM25 with the empty question first if the predicted need is at most `limit`.
fn silent_when_clear(limit: u8) -> String {
    let stage = format!("[[stages]]\nstage = \"no_question\"\nrank = 1\nwhen_need = {limit}\n");
    format!(
        "name = \"mine\"\n\n[[stages]]\nstage = \"bm25\"\nanalyzer = \"nltk\"\ndepth = 30\n\n{stage}\n{LEXICAL}"
    )
}

/// The first question of every topic, in file order.
fn first_questions(run: &str) -> Vec<(String, bool)> {
    let fields = |line: &str| line.split(' ').map(str::to_owned).collect::<Vec<_>>();
    let lines = run.lines().map(fields).filter(|line| line[3] == "1");
    lines.map(|line| (line[0].clone(), line[2] == "Q00001")).collect()
}

#[test]
fn the_empty_question_comes_first_where_the_predicted_need_is_low() {
    let bench = Bench::with_sample();
    let mut seen = HashSet::new();
    for limit in 1..=2 {
        bench.write("mine.toml", silent_when_clear(limit));
        for split in ["train", "dev", "test"] {
            bench.succeed(&format!("run mine.toml --data data --split {split} -o a.run"));
            let first = first_questions(&bench.text("a.run"));
            let clear = |line: &str| {
                let (topic, label) = line.split_once(' ').expect("two fields");
                (topic.to_owned(), label.parse::<u8>().expect("a label") <= limit)
            };
            let needs: Vec<_> = bench.text("a.need").lines().map(clear).collect();
            assert_eq!(first, needs, "{split}");
            seen.extend(needs.into_iter().map(|(_, clear)| (limit, clear)));
        }
    }
    assert_eq!(seen.len(), 4, "both limits have requests on both sides: {seen:?}");
}

/// Labels of the split that is answered change nothing, and those of train change nothing for the
/// topic that has them.
#[test]
fn no_label_of_a_topic_reaches_its_ranking() {
    let bench = Bench::with_sample();
    bench.write("mine.toml", silent_when_clear(1));
    let rankings = |split: &str| {
        bench.succeed(&format!("run mine.toml --data data --split {split} -o a.run"));
        first_questions(&bench.text("a.run"))
    };
    let before = rankings("dev");
    bench.edit("data/dev.tsv", |text| {
        let other = |line: &str| {
            let fields: Vec<&str> = line.split('\t').collect();
            let need =
                fields[3].parse::<u8>().map_or(fields[3].to_owned(), |need| (5 - need).to_string());
            [&fields[..3], &[need.as_str()], &fields[4..]].concat().join("\t")
        };
        text.lines().map(other).collect::<Vec<_>>().join("\n") + "\n"
    });
    assert_eq!(before, rankings("dev"));
    let record: Value = serde_json::from_slice(&bench.read("a.run.json")).expect("a record");
    assert_eq!(record["need"]["folds"], Value::Null);
    let before = rankings("train");
    let record: Value = serde_json::from_slice(&bench.read("a.run.json")).expect("a record");
    assert_eq!(
        record["need"]["folds"], 10,
        "topics of train are labelled by models that did not see them"
    );
    let labels = predicted(&bench, "mine.toml", "train", "");
    let seen = labels.lines().map(|line| line.ends_with(" 1"));
    assert!(
        before.iter().map(|(_, first)| *first).ne(seen),
        "held-out predictions differ from those of the whole model"
    );
}

#[test]
fn explain_tune_and_ask_follow_the_predicted_need() {
    let bench = Bench::with_sample();
    bench.write("mine.toml", silent_when_clear(4));
    let request = "tell me about tents";
    let explain = ["explain", request, "Q00001", "--data", "data", "--system", "mine.toml"];
    let explained = bench.run(&explain).stdout;
    assert!(
        explained.contains("no_question: rank 1 of")
            && explained.contains("predicted need, at most 4"),
        "{explained}"
    );
    let asked = bench.run(&["ask", request, "--data", "data", "--system", "mine.toml"]);
    assert_eq!((asked.status, asked.stdout.as_str()), (Some(0), ""), "{}", asked.stderr);
    bench.write("mine.toml", silent_when_clear(1));
    let tuned = bench
        .succeed("tune mine.toml --data data --grid no_question.when_need=1,4 --format json")
        .stdout;
    let rows: Value = serde_json::from_str(&tuned).expect("JSON");
    let recall = |row: usize| rows[row]["R@5"].as_f64().expect("a figure");
    assert!(recall(0) != recall(1), "{tuned}");
}
