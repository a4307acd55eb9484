//! `clariq eval`: the official scorer's output byte for byte, on odd files that
//! `scripts/make-golden official` writes, and the combinations of its flags.

use crate::common::{Bench, root};
use crate::written_table::eval_table;
use std::fs;

fn golden(extension: &str, task: &str) {
    let bench = Bench::with_sample();
    let data = root().join("crates/runner/tests/data/official");
    let mut cases = 0;
    for entry in fs::read_dir(data).expect("the golden files") {
        let path = entry.expect("an entry").path();
        if path.extension().is_none_or(|found| found != extension) {
            continue;
        }
        cases += 1;
        let file = path.to_str().expect("UTF-8");
        let expected = fs::read_to_string(format!("{file}.out")).expect("what is expected");
        let flags = [
            "eval",
            "--eval_task",
            task,
            "--data_dir",
            "data",
            "--experiment_type",
            "dev",
            "--run_file",
            file,
        ];
        let finished = bench.run(&flags);
        assert_eq!(
            (finished.status, finished.stdout),
            (Some(0), expected),
            "{file}: {}",
            finished.stderr
        );
    }
    assert!(cases >= 3, "{cases} files");
}

#[test]
fn question_relevance_is_printed_as_the_official_scorer_prints_it() {
    golden("run", "question_relevance");
}

#[test]
fn clarification_need_is_printed_as_the_official_scorer_prints_it() {
    golden("need", "clarification_need");
}

/// A bench with a run, a need file, conversations with their run, and evaluation tables.
fn with_everything() -> Bench {
    let bench = Bench::with_sample();
    bench.succeed("-q run bm25 --data data --split dev -o a.run");
    bench.succeed("-q data synthesize --data data --split dev --turns 1 -o c.jsonl");
    bench.succeed("-q run bm25-multi-turn --data data --conversations c.jsonl -o multi.run");
    let metrics = ["MRR100", "P1", "NDCG3", "NDCG5"];
    let figures = [("MIN", 0.25), ("MAX", 0.75)];
    for (name, context) in [("single_turn_train_eval", "VF0012"), ("multi_turn_dev_eval", "I1")] {
        bench.write(&format!("data/{name}.pkl"), eval_table(&metrics, context, &figures));
    }
    bench
}

/// The figures per topic that a command writes to `out.json`.
fn per_topic(bench: &Bench, line: &str) -> (String, serde_json::Value) {
    let printed =
        bench.succeed(&format!("--quiet eval --data data {line} --out-file out.json")).stdout;
    let written = serde_json::from_slice(&bench.read("out.json")).expect("JSON");
    bench.remove("out.json");
    (printed, written)
}

fn mean(figures: &serde_json::Value) -> f64 {
    let figures = figures.as_object().expect("topics");
    let figures: Vec<f64> =
        figures.values().map(|value| value.as_f64().expect("a figure")).collect();
    figures.iter().sum::<f64>() / figures.len() as f64
}

#[test]
fn a_run_tag_of_team_and_model_fills_the_columns_of_the_board() {
    let bench = Bench::with_sample();
    bench.succeed("-q run bm25 --data data --split dev --run-tag Team_1/bm25+x -o a.run");
    let row = bench.succeed("-q eval a.run --data data --split dev --leaderboard").stdout;
    assert!(row.starts_with("| RANK | Team_1 | bm25+x | 0.4140 |"), "{row}");
    for tag in ["", "a b", "a\tb"] {
        let refused = bench.run(&["run", "bm25", "--data", "data", "--run-tag", tag]);
        let expected = "expected: a tag without blanks, such as TEAM/MODEL";
        assert!(refused.stderr.contains(expected), "{tag}: {}", refused.stderr);
    }
}

#[test]
fn figures_per_topic_are_written_in_every_output_form() {
    let bench = with_everything();
    let near = |a: f64, b: f64| assert!((a - b).abs() < 1e-9, "{a} {b}");
    for line in ["a.run -m nDCG@10 -m AP", "a.run -m nDCG@10 -m AP --per-topic --ties official"] {
        let (printed, written) = per_topic(&bench, &format!("{line} --format json"));
        let rows: serde_json::Value = serde_json::from_str(&printed).expect("JSON");
        let rows = rows.as_array().expect("rows");
        assert_eq!(rows.len(), if line.contains("--per-topic") { 32 } else { 2 });
        for row in rows.iter().filter(|row| row["topic"] == "all") {
            let measure = row["measure"].as_str().expect("a name");
            near(row["value"].as_f64().expect("a figure"), mean(&written[measure]));
        }
    }
    for ties in ["official", "id"] {
        let (printed, written) = per_topic(&bench, &format!("a.run --ties {ties}"));
        let first = printed.lines().next().and_then(|line| line.strip_prefix("Recall5: "));
        near(first.expect("a line").parse().expect("a figure"), mean(&written["Recall5"]));
    }
    for (line, row) in [
        ("a.run --leaderboard --ties id", "| RANK | CREATOR | bm25 | 0.4140 | "),
        ("a.run --task document_relevance --leaderboard", "| RANK | CREATOR | bm25 | 0.2500 |"),
        ("multi.run --task document_relevance --multi-turn", "MRR100: "),
    ] {
        let (printed, written) = per_topic(&bench, line);
        assert!(printed.starts_with(row), "{line}: {printed}");
        assert!(!written.as_object().expect("metrics").is_empty(), "{line}");
    }
}

#[test]
fn options_without_an_effect_are_refused() {
    let bench = with_everything();
    for (line, flag) in [
        ("a.run --ties interval --out-file out.json", "--ties interval"),
        ("a.run -m R@5 --ties interval --out-file out.json", "--ties interval"),
        ("a.run -m R@5 --ties interval --per-topic", "--ties interval"),
        ("a.run -m R@5 --task document_relevance", "-m"),
        ("a.run -m R@5 --leaderboard", "--leaderboard"),
        ("a.run -m R@5 --multi-turn", "--multi-turn"),
        ("a.run --per-topic", "--per-topic"),
        ("a.run --multi-turn", "--multi-turn"),
        ("a.run --leaderboard --format tsv", "--leaderboard"),
        ("a.run --task document_relevance --ties id", "--ties"),
        ("a.need --task clarification_need --ties id", "--ties"),
        ("a.need --task clarification_need --full --format tsv", "--full"),
        ("multi.run --conversations c.jsonl --out-file out.json", "--out-file"),
        ("multi.run --conversations c.jsonl --multi-turn", "--multi-turn"),
    ] {
        let words: Vec<&str> =
            ["eval", "--data", "data"].into_iter().chain(line.split(' ')).collect();
        let found = bench.run(&words);
        assert_eq!((found.status, found.stdout.as_str()), (Some(2), ""), "{line}");
        assert!(found.stderr.contains(flag), "{line}: {}", found.stderr);
        assert!(found.stderr.contains("\nhint: "), "{line}: {}", found.stderr);
        assert!(!bench.path("out.json").exists(), "{line}");
    }
    for measures in ["", " , "] {
        let found = bench.run(&["eval", "--data", "data", "a.run", "-m", "R@5", "-m", measures]);
        assert_eq!((found.status, found.stdout.as_str()), (Some(2), ""), "{}", found.stderr);
    }
}

#[test]
fn the_split_of_the_record_is_scored() {
    let bench = Bench::with_sample();
    bench.succeed("run bm25 --data data --split test -o x.test.run");
    let named = bench.succeed("eval x.test.run --data data --split test").stdout;
    assert_eq!(bench.succeed("eval x.test.run --data data").stdout, named);
    let needs = "--data data --task clarification_need";
    let named = bench.succeed(&format!("eval x.test.need {needs} --split test")).stdout;
    assert_eq!(bench.succeed(&format!("eval x.test.need {needs}")).stdout, named);
}

/// A table of one facet with figures of both kinds.
fn table_with_both(metrics: &[&str], with_answer: f64, no_answer: f64) -> String {
    let question =
        |id: &str| format!("V{id}\n(dVwith_answer\nF{with_answer}\nsVno_answer\nF{no_answer}\nss");
    let questions = ["MIN", "MAX"].map(question).concat();
    let metric = |name: &&str| format!("V{name}\n(dVF0012\n(d{questions}ss");
    format!("(d{}.", metrics.iter().map(metric).collect::<String>())
}

#[test]
fn documents_are_scored_with_and_without_the_answer_and_shown_on_the_page() {
    let bench = Bench::with_sample();
    bench.succeed("-q run bm25 --data data --split dev -o a.run");
    bench.succeed("-q run bm25-tuned --data data --split dev -o b.run");
    let runs = "a.run b.run";
    bench.succeed(&format!("-q report {runs} --data data"));
    assert!(!bench.text("report.html").contains("id=\"documents\""), "there is no table");
    let metrics = ["MRR100", "P1", "NDCG3", "NDCG5"];
    let name = "data/single_turn_train_eval.pkl";
    bench.write(name, table_with_both(&metrics, 0.5, 0.125));
    let line = "-q eval a.run --data data --task document_relevance";
    assert!(bench.succeed(line).stdout.starts_with("MRR100: 0.5\n"));
    let alone = bench.succeed(&format!("{line} --no-answer")).stdout;
    assert!(alone.starts_with("MRR100: 0.125\nP1: 0.125\n"), "{alone}");
    bench.succeed(&format!("-q report {runs} --data data"));
    let page = bench.text("report.html");
    for text in ["After the question and its answer", "without its answer", ">0.5000<", ">0.1250<"]
    {
        assert!(page.contains(text), "{text}");
    }
    // Without Python, nothing is read, and the error says so.
    let words: Vec<&str> = line.split(' ').collect();
    let refused = bench.command(&words).env("PATH", "/nonexistent").output().expect("it starts");
    let message = String::from_utf8_lossy(&refused.stderr);
    assert_eq!(refused.status.code(), Some(2), "{message}");
    assert!(message.contains("Python 3.9 or later, which reads pickles"), "{message}");
    assert_eq!(refused.stdout, b"");
    // A table without the second kind is refused, and no figure is made up.
    bench.write(name, eval_table(&metrics, "VF0012", &[("MIN", 0.5), ("MAX", 0.75)]));
    let words: Vec<&str> = line.split(' ').chain(["--no-answer"]).collect();
    let refused = bench.run(&words);
    assert!(refused.status == Some(2), "{}", refused.stderr);
    assert!(refused.stderr.contains("found: `with_answer` alone"), "{}", refused.stderr);
}

#[test]
fn need_scoring_accepts_the_official_flags_and_help_lists_them() {
    let bench = Bench::with_sample();
    bench.succeed("-q run bm25 --data data --split dev -o a.run");
    let line =
        "eval --eval_task clarification_need --experiment_type dev --data_dir data --run_file";
    let plain = bench.succeed(&format!("{line} a.need"));
    let with_file = bench.succeed(&format!("{line} a.need --out_file out.json"));
    assert_eq!(with_file.stdout, plain.stdout);
    assert!(!bench.path("out.json").exists() && with_file.stderr.contains("nothing is written"));
    let help = bench.succeed("eval --help").stdout;
    for flag in ["eval_task", "experiment_type", "run_file", "out_file", "multi_turn"] {
        assert!(help.contains(&format!("--{flag}]")), "{flag}: {help}");
    }
}

#[test]
fn facets_are_searched_for_with_the_first_question_and_its_answer() {
    let bench = Bench::with_sample();
    bench.succeed("-q run bm25 --data data --split dev -o a.run");
    let line = "data facet-requests a.run --data data --split dev";
    let made = bench.succeed(&format!("{line} -o with.jsonl --format tsv")).stdout;
    let facets = bench.text("with.jsonl").lines().count();
    assert!(made.contains(&format!("\n{facets}\t0\t")), "{made}");
    bench.succeed(&format!("{line} --no-answer -o without.jsonl"));
    let users = |name: &str| bench.text(name).matches("{\"user\":").count();
    assert!(users("with.jsonl") > facets && users("without.jsonl") == facets);
    // Documents of one's own, scored per facet by the released judgements.
    let judged = bench.text("data/dev.qrel");
    let documents: std::collections::BTreeSet<&str> =
        judged.lines().filter_map(|line| line.split_whitespace().nth(2)).collect();
    let text = |id: &&str| format!("{{\"id\": \"{id}\", \"text\": \"thermometer saturn {id}\"}}\n");
    bench.write("own/documents.jsonl", documents.iter().map(text).collect::<String>());
    for name in ["with", "without"] {
        bench.succeed(&format!(
            "-q run bm25-english --data own --requests {name}.jsonl -o {name}.run"
        ));
        let scored =
            bench.succeed(&format!("-q eval {name}.run --qrels data/dev.qrel -m RR")).stdout;
        assert!(scored.contains("RR"), "{scored}");
    }
}

#[test]
fn a_cutoff_beyond_the_run_is_marked_for_people_and_told() {
    let bench = Bench::new();
    bench.succeed("-q run bm25");
    let told = bench.succeed("eval runs/sample/bm25.dev.run -m R@30 -m R@100");
    let rows: Vec<&str> = told.stdout.lines().skip(1).collect();
    assert_eq!(rows, ["R@30     all     0.636640", "R@100    all    0.636640°"]);
    let warning =
        "warning: the run ranks 30 documents for a topic: R@100 counts no more (marked °)\n";
    assert!(told.stderr.contains(warning), "{}", told.stderr);
    let tsv = bench.succeed("-q eval runs/sample/bm25.dev.run -m R@100 --format tsv").stdout;
    assert_eq!(tsv, "measure\ttopic\tvalue\nR@100\tall\t0.6366402116402117\n");
}

#[test]
fn the_split_is_that_of_the_record_and_another_is_refused() {
    let bench = Bench::new();
    bench.succeed("-q run bm25 --split train");
    let validated = bench.succeed("validate runs/sample/bm25.train.run --format tsv").stdout;
    assert!(validated.contains("runs/sample/bm25.train.run\taccepted\t"), "{validated}");
    for line in [
        "eval runs/sample/bm25.train.run --split dev",
        "eval runs/sample/bm25.train.run --split dev -m nDCG@10",
        "eval runs/sample/bm25.train.need --split dev --task clarification_need",
    ] {
        let refused = bench.run(&line.split(' ').collect::<Vec<_>>());
        assert_eq!((refused.status, &*refused.stdout), (Some(2), ""), "{line}");
        for part in
            ["the run was made for train, says its record", "expected: answers to topics of"]
        {
            assert!(refused.stderr.contains(part), "{line}: {}", refused.stderr);
        }
    }
    let refused = bench.run(&["validate", "runs/sample/bm25.train.run", "--split", "dev"]);
    assert_eq!(refused.status, Some(1), "{}", refused.stderr);
    bench.remove("runs/sample/bm25.train.run.json");
    let refused = bench.run(&["validate", "runs/sample/bm25.train.run"]);
    assert!(refused.stderr.contains("no record beside runs/sample/bm25.train.run"));
}

#[test]
fn a_multi_turn_run_is_told_what_scores_it() {
    let bench = Bench::new();
    bench.write("turns.run", "968 0 \"are you interested in dog sled races\" 0 5 t\n");
    bench.succeed("-q run bm25");
    for line in ["eval turns.run", "report turns.run", "compare turns.run runs/sample/bm25.dev.run"]
    {
        let line = format!("{line} --split dev");
        let refused = bench.run(&line.split(' ').collect::<Vec<_>>());
        assert_eq!(refused.status, Some(2), "{line}");
        assert!(refused.stderr.contains("--multi-turn` scores it"), "{line}: {}", refused.stderr);
    }
}
