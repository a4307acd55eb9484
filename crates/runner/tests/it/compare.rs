//! `clariq compare`, and `clariq eval --full`, on runs over the sample.

use crate::common::{Bench, Finished};
use snapbox::{assert_data_eq, file, str};
use std::fs;

/// A bench with two runs over the sample's dev requests.
fn with_runs() -> Bench {
    let bench = Bench::with_sample();
    bench.succeed("run bm25 --data data --split dev -o bm25.run --no-progress");
    bench.succeed("run no-question --data data --split dev -o none.run --no-progress");
    bench
}

fn compare(bench: &Bench, arguments: &str) -> Finished {
    bench.succeed(&format!("compare --data data {arguments}"))
}

fn json(finished: &Finished) -> serde_json::Value {
    serde_json::from_str(&finished.stdout).expect("one JSON document")
}

#[test]
fn names_are_whole_in_a_pipe_and_a_note_explains_the_mark() {
    let bench = with_runs();
    fs::copy(
        bench.path("none.run"),
        bench.path("a-run-with-a-very-long-name-that-nobody-could-fit.run"),
    )
    .unwrap();
    let found =
        compare(&bench, "bm25.run none.run a-run-with-a-very-long-name-that-nobody-could-fit.run");
    assert_data_eq!(found.stdout, file!["printed/compare.txt"]);
    assert_data_eq!(
        found.stderr,
        str![[r#"
warning: none.run: the run ranks 1 document for a topic: R@5, R@10, R@20, R@30 count no more (marked °)
warning: a-run-with-a-very-long-name-that-nobody-could-fit.run: the run ranks 1 document for a topic: R@5, R@10, R@20, R@30 count no more (marked °)
* p Holm <= 0.05: significant; that is p rand corrected for 8 comparisons (Holm 1979).
p t: paired t-test; p rand: paired randomisation test, seed 42; both two-sided, over 15 topics.
diff: run - baseline; W/T/L: topics won, tied, lost; d: mean / standard deviation of the differences.
topics: where R@30 differs most; --topic ID shows the documents of one

"#]]
    );
}

#[test]
fn repeated_documents_of_a_run_give_a_warning() {
    let bench = with_runs();
    bench.edit("bm25.run", |run| format!("{run}{}\n", run.lines().next().expect("a line")));
    let found = compare(&bench, "none.run bm25.run -m R@5");
    assert_data_eq!(
        found.stderr,
        str![[r#"
warning: none.run: the run ranks 1 document for a topic: R@5 counts no more (marked °)
warning: bm25.run: 1 line of 1 topic repeats a score and is dropped, as the official scorer does; `--ties interval` shows how much their order matters
warning: bm25.run: 1 line repeats a document of its topic, whose best line counts
* p Holm <= 0.05: significant; that is p rand corrected for 1 comparison (Holm 1979).
p t: paired t-test; p rand: paired randomisation test, seed 42; both two-sided, over 15 topics.
diff: run - baseline; W/T/L: topics won, tied, lost; d: mean / standard deviation of the differences.
topics: where R@5 differs most; --topic ID shows the documents of one

"#]]
    );
}

#[test]
fn one_topic_shows_the_rank_of_its_documents_in_each_run() {
    let bench = Bench::with_sample();
    bench.succeed("run bm25 bm25-tuned --data data --split dev --no-progress");
    let runs = "runs/sample/bm25.dev.run runs/sample/bm25-tuned.dev.run";
    let found = compare(&bench, &format!("{runs} -m R@5 -m R@10 --topic 38"));
    assert_data_eq!(found.stdout, file!["printed/compare-topic.txt"]);
    assert_data_eq!(
        found.stderr,
        str![[r#"
ranks in each run, -: not ranked; grade -: not judged
`clariq explain --topic 38 DOCUMENT --system SYSTEM --split dev --data data` derives a rank

"#]]
    );
    let all = json(&compare(&bench, &format!("{runs} -m R@5 --topic 38 --format json")));
    let rows = all["documents"].as_array().expect("rows");
    let recall = |run: &str| {
        let is_found = |row: &&serde_json::Value| {
            row["grade"] == 1 && row[run].as_u64().is_some_and(|rank| rank <= 5)
        };
        rows.iter().filter(is_found).count() as f64
    };
    let [one, other] = ["runs/sample/bm25.dev.run", "runs/sample/bm25-tuned.dev.run"];
    let value = |run: &str| all["values"][0][run].as_f64().expect("a value");
    assert!((recall(one) / recall(other) - value(one) / value(other)).abs() < 1e-6, "{all}");
}

#[test]
fn one_topic_by_judgements_of_a_file_has_no_texts() {
    let bench = Bench::new();
    bench.write("a.run", "1 Q0 x 1 3 a\n1 Q0 y 2 2 a\n1 Q0 z 3 1 a\n");
    bench.write("b.run", "1 Q0 z 1 3 b\n1 Q0 w 2 2 b\n");
    bench.write("qrels", "1 0 z 2\n1 0 w -1\n1 0 v 1\n");
    let found = bench.succeed("-q compare a.run b.run --qrels qrels -m P@2 --topic 1");
    assert_data_eq!(
        found.stdout,
        str![[r#"
by        a       b
P@2  0.0000  0.5000

document  grade  a  b
x         -      1  -
y         -      2  -
z         2      3  1
w         -1     -  2

"#]]
    );
}

#[test]
fn a_topic_that_no_run_ranks_is_refused() {
    let bench = with_runs();
    assert_data_eq!(
        bench.refused("compare --data data bm25.run none.run --topic 3000"),
        str![[r#"
warning: none.run: the run ranks 1 document for a topic: R@5, R@10, R@20, R@30 count no more (marked °)
error: --topic
  expected: a topic of the runs
     found: `3000`
hint: ids look like 5; without --topic, `clariq compare` names some

"#]]
    );
}

#[test]
fn figures_equal_those_of_eval_and_counts_add_up() {
    let bench = with_runs();
    let rows = json(&compare(&bench, "none.run bm25.run --format json --topics 3"));
    let scores = json(&bench.succeed("eval bm25.run --data data --format json"));
    for (place, measure) in ["R@5", "R@10", "R@20", "R@30"].iter().enumerate() {
        let baseline = &rows["comparisons"][2 * place];
        let run = &rows["comparisons"][2 * place + 1];
        assert_eq!(
            (&run["measure"], &run["run"], &run["baseline"]),
            (&(*measure).into(), &"bm25.run".into(), &"none.run".into())
        );
        assert_eq!(run["mean"], scores[place]["value"]);
        assert!(baseline["p_t"].is_null() && baseline["mean"].is_number());
        let counts = ["wins", "ties", "losses"].map(|name| run[name].as_u64().unwrap());
        assert_eq!(counts.iter().sum::<u64>(), run["topics"].as_u64().unwrap());
        let [raw, corrected] =
            ["p_randomisation", "p_holm"].map(|name| run[name].as_f64().unwrap());
        assert!(0.0 < raw && raw <= corrected && corrected <= 1.0);
        assert_eq!(run["significant"], corrected <= 0.05);
    }
    let topics = rows["topics"].as_array().unwrap();
    let sizes: Vec<f64> =
        topics.iter().map(|topic| topic["diff"].as_f64().unwrap().abs()).collect();
    assert!(topics.len() == 3 && sizes.is_sorted_by(|a, b| a >= b), "{sizes:?}");
    assert!(topics.iter().all(|topic| topic["request"].as_str().unwrap().contains(' ')));
}

#[test]
fn a_run_does_not_differ_from_its_copy() {
    let bench = with_runs();
    fs::copy(bench.path("bm25.run"), bench.path("copy.run")).unwrap();
    let rows = json(&compare(&bench, "bm25.run copy.run --format json"));
    for row in rows["comparisons"].as_array().unwrap().iter().filter(|row| !row["p_t"].is_null()) {
        assert_eq!(
            (&row["p_t"], &row["p_randomisation"], &row["p_holm"]),
            (&1.0.into(), &1.0.into(), &1.0.into())
        );
        assert_eq!(row["significant"], false);
    }
    assert_eq!(rows["topics"], serde_json::json!([]));
}

/// The lines of every second topic of a run.
fn every_second_topic(run: &str, odd: bool) -> String {
    let mut topics: Vec<&str> = Vec::new();
    let lines = run.split_inclusive('\n').filter(|line| {
        let topic = line.split(' ').next().unwrap();
        if topics.last() != Some(&topic) {
            topics.push(topic);
        }
        (topics.len() % 2 == 1) == odd
    });
    lines.collect()
}

#[test]
fn results_depend_on_the_seed_and_not_on_threads() {
    let bench = with_runs();
    // Each answers half of train's topics: all 29 differ, in either direction, so that sign
    // patterns are drawn.
    bench.succeed("run bm25 --data data --split train -o all.run --no-progress");
    bench.write("a.run", every_second_topic(&bench.text("all.run"), true));
    bench.write("b.run", every_second_topic(&bench.text("all.run"), false));
    let line = "a.run b.run --split train --format tsv";
    let first = compare(&bench, line).stdout;
    for again in ["--threads 1", "--threads 5", "--seed 42"] {
        assert_eq!(compare(&bench, &format!("{line} {again}")).stdout, first, "{again}");
    }
    assert_ne!(compare(&bench, &format!("{line} --seed 7")).stdout, first, "another sample");
}

#[test]
fn the_option_baseline_selects_the_baseline() {
    let bench = with_runs();
    let usual = compare(&bench, "none.run bm25.run --format tsv").stdout;
    assert_eq!(compare(&bench, "bm25.run none.run --baseline none.run --format tsv").stdout, usual);
    assert_eq!(compare(&bench, "bm25.run --baseline none.run --format tsv").stdout, usual);
}

#[test]
fn measures_are_named_and_topics_can_be_left_out() {
    let bench = with_runs();
    let found =
        compare(&bench, "bm25.run none.run -m nDCG@10 -m recip_rank --topics 0 --format tsv");
    let measures: Vec<&str> =
        found.stdout.lines().skip(1).filter_map(|line| line.split('\t').next()).collect();
    assert_eq!(measures, ["nDCG@10", "nDCG@10", "RR", "RR"]);
    let latex = compare(&bench, "none.run bm25.run --format latex --digits 2").stdout;
    assert_data_eq!(latex, file!["printed/latex.txt"]);
    for option in ["--digits 2", "--caption x", "--columns p"] {
        let refused = bench.refused(&format!("compare none.run bm25.run --data data {option}"));
        assert!(refused.contains("--format latex beside it"), "{refused}");
    }
    let paper = "--format latex --digits 2 --caption Recall --columns p,ci -m R@5 -m nDCG@3";
    let latex = compare(&bench, &format!("none.run bm25.run {paper}")).stdout;
    assert_data_eq!(latex, file!["printed/latex-columns.txt"]);
}

#[test]
fn runs_that_cannot_be_compared_are_refused_with_a_hint() {
    let bench = with_runs();
    let refused = |line: &str| bench.refused(&format!("compare --data data {line}"));
    assert_data_eq!(
        refused("bm25.run"),
        str![[r#"
error: RUN
  expected: two runs or more
     found: `bm25.run` alone
hint: `clariq eval` scores a single run

"#]]
    );
    for (line, twice) in [
        ("bm25.run bm25.run none.run none.run", "bm25.run"),
        ("bm25.run none.run ./none.run", "./none.run"),
        ("bm25.run none.run --baseline data/../none.run", "none.run"),
    ] {
        let told = refused(line);
        let found =
            format!("error: RUN\n  expected: every file once\n     found: `{twice}` twice\n");
        assert!(told.starts_with(&found), "{told}");
    }
    assert_data_eq!(
        refused("bm25.run none.run --topics 3 --format tsv"),
        str![[r#"
error: --topics
  expected: no --format tsv beside it
     found: --format tsv
hint: such a file is one table; --format json holds both

"#]]
    );
    assert_data_eq!(
        refused("bm25.run none.run --alpha 1"),
        str![[r#"
error: --alpha
  expected: a number between 0 and 1, such as 0.05
     found: `1`
hint: --help describes `--alpha <P>`

"#]]
    );
}

#[test]
fn a_record_alone_is_no_run() {
    let bench = with_runs();
    for line in ["compare", "report", "compare --data data", "report --data data"] {
        let told = bench.refused(&format!("{line} bm25.run.json --data data"));
        let expected = "error: RUN\n  expected: a run\n     found: the record `bm25.run.json`\n";
        assert!(told.starts_with(expected), "{line}: {told}");
    }
}

#[test]
fn full_prints_figures_per_need_class() {
    let bench = with_runs();
    let line = "eval bm25.need --data data --task clarification_need";
    let official = bench.succeed(line).stdout;
    assert!(official.starts_with("Precision:  ") && official.lines().count() == 3, "{official}");
    let full = json(&bench.succeed(&format!("{line} --full --format json")));
    let classes = full["classes"].as_array().unwrap();
    assert_eq!(classes.len(), 6, "four needs and two averages");
    let recall: f64 =
        official.lines().nth(1).unwrap().trim_start_matches("Recall:").trim().parse().unwrap();
    assert_eq!(classes[5]["recall"].as_f64(), Some(recall));
    assert_eq!(full["figures"][0]["value"].as_f64(), Some(recall), "weighted recall is accuracy");
    for class in &classes[..4] {
        let row: u64 = ["as none", "as 1", "as 2", "as 3", "as 4"]
            .iter()
            .map(|name| class[name].as_u64().unwrap())
            .sum();
        assert_eq!(Some(row), class["support"].as_u64());
    }
    let refused = bench.run(&["eval", "bm25.run", "--data", "data", "--full"]);
    assert_eq!(refused.status, Some(2));
    assert!(refused.stderr.contains("error: --full"), "{}", refused.stderr);
}
