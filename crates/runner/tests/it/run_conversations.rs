//! Conversations on the command line: standard input, synthesis, scores and oracles.

use crate::common::Bench;
use crate::written_table::eval_table;
use std::path::Path;

#[test]
fn conversations_come_from_standard_input_and_pickles_need_python() {
    let bench = Bench::with_sample();
    bench.succeed("-q data synthesize --data data --turns 1 -o c.jsonl");
    let run = "$0 -q run bm25-multi-turn --data data --conversations";
    bench.succeed("-q run bm25-multi-turn --data data --conversations c.jsonl -o a.run");
    let piped = bench.shell(&["sh"], &format!("{run} - -o - < c.jsonl"));
    assert_eq!(piped.stdout, bench.text("a.run"));
    bench.write("p.pkl", b"(dp0\n.");
    let without = bench.shell(&["sh"], &format!("PATH= {run} p.pkl -o b.run"));
    assert_eq!(without.status, Some(2), "{}", without.stderr);
    let says = "error: python3\n  expected: Python 3.9";
    assert!(without.stderr.contains(says), "{}", without.stderr);
    assert!(!bench.path("b.run").exists());
}

#[test]
fn synthesis_refuses_facets_that_it_cannot_number() {
    let bench = Bench::with_sample();
    bench.edit("data/dev.tsv", |text| text.replace("\tF0", "\tX0"));
    for (line, says) in [
        ("data synthesize --data data -o c.jsonl", "a facet id of `F` and up to 6 digits"),
        ("data synthesize --turns 5 -o c.jsonl", "error: --turns"),
        ("data synthesize -o c.txt", "a name that ends in .jsonl"),
        ("run bm25 --skip-bad", "--skip-bad\n  expected: --conversations"),
    ] {
        let finished = bench.run(&line.split(' ').collect::<Vec<_>>());
        assert_eq!(finished.status, Some(2), "{line}");
        assert!(finished.stderr.contains(says), "{line}: {}", finished.stderr);
        assert!(!Path::new(&bench.path("c.jsonl")).exists());
    }
}

#[test]
fn eval_scores_next_questions_without_documents() {
    let bench = Bench::with_sample();
    bench.succeed("-q data synthesize --data data -o c.jsonl");
    let mut shares = Vec::new();
    for system in ["bm25-multi-turn", "bm25-conversation"] {
        bench.succeed(&format!(
            "-q run {system} --data data --conversations c.jsonl -o {system}.run"
        ));
        let printed =
            bench.succeed(&format!("eval --data data {system}.run --conversations c.jsonl")).stdout;
        let lines: Vec<(&str, f64)> = printed
            .lines()
            .map(|line| line.split_once(": ").expect("a figure"))
            .map(|(name, figure)| (name, figure.parse().expect("a number")))
            .collect();
        let names: Vec<&str> = lines.iter().map(|(name, _)| *name).collect();
        let stops = system == "bm25-conversation";
        let shown = ["Asked", "Relevant", "New", "Answered", "Turns"];
        assert_eq!(names, shown[..4 + usize::from(stops)]);
        let is_share = |(_, share): &(&str, f64)| (0.0..=1.0).contains(share);
        assert!(lines[..4].iter().all(is_share), "{printed}");
        assert!(lines[4..].iter().all(|(_, turns)| *turns >= 0.0), "{printed}");
        shares.push(lines[1].1);
    }
    assert!(
        shares[1] > shares[0],
        "answers in their own right find more relevant questions: {shares:?}"
    );
    let silent =
        bench.succeed("-q run no-question --data data --conversations c.jsonl -o -").stdout;
    bench.write("silent.run", silent);
    assert!(
        bench
            .succeed("eval --data data silent.run --conversations c.jsonl")
            .stdout
            .starts_with("Asked: 0.0\n")
    );
    for (more, says) in [
        ("--task document_relevance", "no --task beside it"),
        ("--split train", "only other topics"),
    ] {
        let line = format!("eval --data data silent.run --conversations c.jsonl {more}");
        let finished = bench.run(&line.split(' ').collect::<Vec<_>>());
        assert_eq!(finished.status, Some(2), "{more}");
        assert!(finished.stderr.contains(says), "{}", finished.stderr);
    }
}

/// A row of dev as facet, number of the facet and two questions of it.
fn facet(bench: &Bench) -> (String, i64, [String; 2]) {
    let dev = bench.text("data/dev.tsv");
    let rows: Vec<Vec<&str>> = dev.lines().skip(1).map(|line| line.split('\t').collect()).collect();
    let facet = rows[0][4].to_owned();
    let mut questions = rows
        .iter()
        .filter(|row| row[4] == facet && row[6] != "Q00001")
        .map(|row| row[6].to_owned());
    let questions = [questions.next().expect("a question"), questions.next().expect("another")];
    let number = facet[1..].parse().expect("a number");
    (facet, number, questions)
}

#[test]
fn oracles_reach_the_ends_of_the_table() {
    let bench = Bench::with_sample();
    let (facet, number, [good, bad]) = facet(&bench);
    let figures = [(&*good, 0.75), (&*bad, 0.25), ("Q00001", 0.5), ("MIN", 0.25), ("MAX", 0.75)];
    let table = |context: String| eval_table(&["MRR100"], &context, &figures);
    bench.write("data/single_turn_train_eval.pkl", table(format!("V{facet}")));
    bench.write("data/multi_turn_dev_eval.pkl", table(format!("I{number}")));
    for (choice, figure) in
        [("best-question", "0.75"), ("worst-question", "0.25"), ("no-question", "0.5")]
    {
        for multi in ["", " --multi-turn"] {
            bench.succeed(&format!("-q oracle {choice} --data data -o {choice}.run{multi}"));
            let line = format!("-q eval {choice}.run --data data --task document_relevance{multi}");
            assert_eq!(
                bench.succeed(&line).stdout,
                format!("MRR100: {figure}\n"),
                "{choice}{multi}"
            );
        }
    }
    bench.succeed("-q oracle best-question --data data");
    bench.succeed("-q oracle best-question --data data --multi-turn");
    for run in ["runs/sample/best-question.dev.run", "runs/sample/best-question.dev.multi-turn.run"]
    {
        assert_eq!(bench.text(run).lines().count(), 1, "{run}");
        let record: serde_json::Value =
            serde_json::from_slice(&bench.read(&format!("{run}.json"))).expect("a record");
        assert_eq!(
            (&record["oracle"], &record["metric"]),
            (&"best-question".into(), &"MRR100".into())
        );
    }
    for (line, says) in [
        ("oracle best-question --data data --metric P1", "one of `MRR100`"),
        ("oracle best-question --data data --split test", "none of them"),
        ("oracle best-question --data data --split train", "scores for the contexts of train"),
        ("oracle no-question --data data --split train", "scores for the contexts of train"),
    ] {
        let finished = bench.run(&line.split(' ').collect::<Vec<_>>());
        assert_eq!(finished.status, Some(2), "{line}");
        assert!(finished.stderr.contains(says), "{}", finished.stderr);
    }
}
