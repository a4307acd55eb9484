//! `clariq compare --fail-if-worse`: the verdict, its statuses and its forms.

use crate::common::Bench;
use snapbox::{assert_data_eq, str};

/// 20 topics with one relevant document. The baseline ranks it first; `noise` ranks it second on three
/// topics, `worse` on twelve.
#[expect(clippy::format_collect, reason = "a few lines")]
fn with_runs() -> Bench {
    let bench = Bench::with_sample();
    let topics = || (1..=20).map(|topic| format!("t{topic}"));
    let run = |second_on: usize| -> String {
        topics()
            .enumerate()
            .map(|(index, topic)| {
                let [first, second] = if index < second_on { ["d2", "d1"] } else { ["d1", "d2"] };
                format!("{topic} Q0 {first} 1 2 r\n{topic} Q0 {second} 2 1 r\n")
            })
            .collect()
    };
    bench.write("qrels.txt", topics().map(|topic| format!("{topic} 0 d1 1\n")).collect::<String>());
    bench.write(
        "groups.txt",
        topics()
            .enumerate()
            .map(|(index, topic)| format!("{topic} {}\n", ["low", "high"][usize::from(index > 11)]))
            .collect::<String>(),
    );
    for (name, second_on) in [("base", 0), ("equal", 0), ("noise", 3), ("worse", 12)] {
        bench.write(&format!("{name}.run"), run(second_on));
    }
    bench
}

fn status(bench: &Bench, line: &str) -> Option<i32> {
    let words: Vec<&str> = "-q compare --qrels qrels.txt -m RR".split(' ').collect();
    bench.run(&[&words[..], &line.split(' ').collect::<Vec<_>>()].concat()).status
}

#[test]
fn an_equal_run_and_noise_are_held_and_a_sure_fall_is_not() {
    let bench = with_runs();
    let statuses = ["equal.run", "noise.run", "worse.run"]
        .map(|run| status(&bench, &format!("base.run {run} --fail-if-worse")));
    assert_eq!(statuses, [Some(0), Some(0), Some(1)]);
    for (line, expected) in [
        ("base.run worse.run", 0),
        ("base.run worse.run --fail-if-worse 0.3", 0),
        ("base.run worse.run --fail-if-worse=0.29", 1),
        ("base.run noise.run --fail-below RR=0.95", 1),
        ("base.run noise.run --fail-below RR=0.9", 0),
        ("base.run worse.run --fail-if-worse --alpha 0.0001", 0),
        ("base.run worse.run --fail-below AP=0.9", 2),
        ("base.run worse.run --strict", 2),
        ("base.run gone.run --fail-if-worse", 2),
    ] {
        assert_eq!(status(&bench, line), Some(expected), "{line}");
    }
}

#[test]
fn the_verdict_is_a_sentence_above_a_row_for_each_measure_and_group() {
    let bench = with_runs();
    let words = "-q compare base.run worse.run --qrels qrels.txt -m RR --fail-if-worse --groups groups.txt \
                 --topics 2 --junit gate.xml";
    let found = bench.run(&words.split_whitespace().collect::<Vec<_>>());
    assert_eq!(found.status, Some(1));
    assert_data_eq!(
        found.stdout,
        str![[r#"
worse: RR of worse fell by 0.3000 (95 % interval -0.4000 to -0.2000, p Holm 0.0015)
by          run    baseline    mean     diff  95 %                W/T/L   p Holm    seen  judged
RR          worse    1.0000  0.7000  -0.3000  -0.4000 to -0.2000  0/8/12   0.001  0.1959  0.50/0.50  worse
RR in high  worse    1.0000  1.0000   0.0000  0.0000 to 0.0000    0/8/0    1.000       -  -          held
RR in low   worse    1.0000  0.5000  -0.5000  -0.5000 to -0.5000  0/0/12   0.001       -  -          worse

run    topic  request  baseline   value     diff
worse  t1                1.0000  0.5000  -0.5000
worse  t10               1.0000  0.5000  -0.5000

"#]]
    );
    assert_data_eq!(
        bench.text("gate.xml"),
        str![[r#"
<?xml version="1.0" encoding="UTF-8"?>
<testsuites name="worse: RR of worse fell by 0.3000 (95 % interval -0.4000 to -0.2000, p Holm 0.0015)" tests="3" skipped="0" failures="1" errors="0">
    <testsuite name="clariq compare" tests="3" skipped="0" errors="0" failures="1">
        <testcase name="RR" classname="worse">
            <failure message="1.0000 to 0.7000, p Holm 0.0015"/>
        </testcase>
        <testcase name="RR in high" classname="worse"/>
        <testcase name="RR in low" classname="worse"/>
    </testsuite>
</testsuites>

"#]]
    );
}

#[test]
fn programs_get_the_verdict_and_complete_rows() {
    let bench = with_runs();
    let words = "-q compare base.run noise.run --qrels qrels.txt -m RR --fail-if-worse --topics 0 --format json";
    let found = bench.run(&words.split_whitespace().collect::<Vec<_>>());
    assert_eq!(found.status, Some(0));
    assert_data_eq!(
        found.stdout,
        str![[r#"
{
  "verdict": [
    {
      "verdict": "held",
      "sentence": "held: no measure fell with p Holm <= 0.05 over 20 topics, which would show a change of RR from about 0.1210",
      "alpha": 0.05,
      "admitted_fall": 0.0
    }
  ],
  "comparisons": [
    {
      "measure": "RR",
      "group": null,
      "run": "noise.run",
      "baseline": "base.run",
      "topics": 20,
      "baseline_mean": 1.0,
      "mean": 0.925,
      "difference": -0.075,
      "low": -0.15,
      "high": 0.0,
      "wins": 0,
      "ties": 17,
      "losses": 3,
      "p_randomisation": 0.25,
      "p_holm": 0.25,
      "detectable": 0.12099155367146072,
      "judged_baseline": 0.5,
      "judged": 0.5,
      "verdict": "held"
    }
  ]
}

"#]]
    );
}

/// Kept scores give the verdict that their run gives, to the last digit.
#[test]
fn kept_scores_stand_for_the_baseline() {
    let bench = with_runs();
    bench.succeed("-q eval base.run --qrels qrels.txt -m RR -m P@1 -o base.json");
    let verdict = |baseline: &str, run: &str| {
        let words = format!(
            "-q compare {baseline} {run} --qrels qrels.txt -m RR --fail-if-worse --groups groups.txt --format json"
        );
        let found = bench.run(&words.split(' ').collect::<Vec<_>>());
        (found.status, found.stdout.replace("base.json", "base.run"))
    };
    for run in ["equal.run", "noise.run", "worse.run"] {
        assert_eq!(verdict("base.json", run), verdict("base.run", run));
    }
    assert_eq!(verdict("base.json", "worse.run").0, Some(1));
    let by_split = "-q run bm25 --split dev -o a.run";
    bench.succeed(by_split);
    bench.succeed("-q eval a.run --split dev --ties id --out-file no.json");
    bench.succeed("-q eval a.run --split dev -o a.json");
    bench.succeed("-q run bm25-tuned --split dev -o b.run");
    let of = |baseline: &str| {
        let words = format!("-q compare {baseline} b.run --split dev --topics 2");
        bench.succeed(&words).stdout.replace("a.json", "a.run")
    };
    assert_eq!(of("a.json"), of("a.run"));
}

#[test]
fn kept_scores_are_refused_where_they_would_mean_something_else() {
    let bench = with_runs();
    bench.succeed("-q eval base.run --qrels qrels.txt -m RR -o base.json");
    let refused = |words: &str| {
        let found = bench.refused(&format!("-q compare base.json noise.run {words}"));
        found.lines().skip(1).take(2).map(str::trim).collect::<Vec<_>>().join(", ")
    };
    assert_eq!(refused("--qrels qrels.txt -m AP"), "expected: values of AP, found: RR");
    assert_eq!(
        refused("--qrels qrels.txt -m RR --ties official"),
        "expected: equal scores in the order Official, found: Id"
    );
    assert_eq!(
        refused("--qrels qrels.txt -m RR --topic t1"),
        "expected: a run for --topic, found: kept scores, which have no documents"
    );
    bench.edit("qrels.txt", |qrels| qrels.replace("t1 0 d1", "t1 0 d2"));
    let found = refused("--qrels qrels.txt -m RR");
    assert!(found.starts_with("expected: scores by qrels.txt ("), "{found}");
    bench.edit("base.json", |kept| kept.replace("\"ties\"", "\"order\""));
    let found = refused("--qrels qrels.txt -m RR");
    assert!(found.starts_with("expected: kept scores, found: unknown field `order`"), "{found}");
    bench.succeed("-q run bm25 --split dev -o d.run");
    let found = bench.refused("-q eval d.need --split dev -o need.json");
    assert!(found.contains("expected: a file with scores of topics"), "{found}");
    for line in ["--ties interval", "--task question_relevance", "--out-file x.json"] {
        bench.refused(&format!("eval base.run -m RR -o again.json {line}"));
    }
}

#[test]
#[expect(clippy::format_collect, reason = "a few lines")]
fn topics_that_a_run_lacks_are_said_and_refused_if_strict() {
    let bench = with_runs();
    bench.edit("equal.run", |run| run.lines().skip(2).map(|line| format!("{line}\n")).collect());
    let words = "-q compare base.run equal.run --qrels qrels.txt -m RR --fail-if-worse";
    let found = bench.run(&words.split_whitespace().collect::<Vec<_>>());
    assert!(found.stdout.contains("; equal lacks 1 topic, counted 0"), "{}", found.stdout);
    assert_data_eq!(
        bench.refused(&format!("{words} --strict")),
        str![[r#"
error: --strict
  expected: the same topics in all files
     found: equal lacks 1 topic, counted 0
hint: without --strict it is said, and no error

"#]]
    );
}
