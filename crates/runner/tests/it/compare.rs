//! `clariq compare`, and `clariq eval --full`, on runs over the sample.

use crate::common::{Bench, Finished, eval_table, root};
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
    let name = "a-run-with-a-very-long-name-that-nobody-could-fit ";
    assert_eq!(found.stdout.matches(name).count(), 4 + 5, "{}", found.stdout);
    assert!(found.stdout.starts_with("by    run "), "{}", found.stdout);
    assert!(found.stdout.contains("\n\nrun "), "topics follow: {}", found.stdout);
    assert!(found.stderr.contains("* p Holm <= 0.05: significant"), "{}", found.stderr);
    assert!(found.stderr.contains("corrected for 8 comparisons"), "{}", found.stderr);
}

#[test]
fn repeated_documents_of_a_run_give_a_warning() {
    let bench = with_runs();
    bench.edit("bm25.run", |run| format!("{run}{}\n", run.lines().next().expect("a line")));
    let found = compare(&bench, "none.run bm25.run -m R@5");
    let warning =
        "warning: bm25.run: 1 lines repeat a document of their topic, whose best line counts";
    assert!(found.stderr.contains(warning), "{}", found.stderr);
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
    let rows: Vec<&str> = latex.lines().collect();
    assert!(
        rows[0].starts_with("% best in bold; dagger: significantly better than none"),
        "{latex}"
    );
    assert_eq!(
        rows[2..5],
        ["\\begin{tabular}{lrrrr}", "\\toprule", "run & R@5 & R@10 & R@20 & R@30 \\\\"]
    );
    assert!(rows[6].starts_with("none & 0."), "{latex}");
    assert_eq!(rows[7].matches("\\textbf{0.").count(), 4, "{latex}");
    assert!(rows[7].contains("$^{\\dagger}$"), "{latex}");
    let refused = bench.run(&["compare", "none.run", "bm25.run", "--digits", "2"]);
    assert_eq!(refused.status, Some(2), "{}", refused.stderr);
}

#[test]
fn names_of_the_official_scorer_mean_documents_in_every_command() {
    let bench = with_runs();
    let refused = bench.run(&words("compare --data data bm25.run none.run -m MRR100"));
    assert_eq!(refused.status, Some(2));
    for text in
        ["`single_turn_train_eval`", "document relevance MRR100", "RR@100 is the measure of"]
    {
        assert!(refused.stderr.contains(text), "{text}: {}", refused.stderr);
    }
    // Only never asking is a candidate, and better than the worst one.
    let figures = [("Q00001", 0.5), ("MIN", 0.25), ("MAX", 0.75)];
    let table = eval_table(&["MRR100", "P1", "NDCG3", "NDCG5"], "VF0012", &figures);
    bench.write("data/single_turn_train_eval.pkl", table);
    let documents = [["bm25.run", "0.25"], ["none.run", "0.5"]];
    let rows = json(&compare(&bench, "bm25.run none.run -m MRR100 -m RR@100 --format json"));
    let shown: Vec<_> = rows["comparisons"].as_array().expect("rows").iter().collect();
    assert_eq!(shown.len(), 4);
    for (row, [run, mean]) in shown.iter().zip(documents) {
        assert_eq!(row["measure"], "documents MRR100");
        assert_eq!(
            (&row["run"], &row["topics"], row["mean"].to_string()),
            (&run.into(), &1.into(), mean.to_owned())
        );
    }
    assert_eq!(
        (&shown[2]["measure"], &shown[2]["topics"]),
        (&"questions RR@100".into(), &15.into())
    );
    let differing = &rows["topics"][0];
    assert_eq!((&differing["topic"], &differing["diff"]), (&"F0012".into(), &0.25.into()));
    assert!(!differing["request"].as_str().expect("a text").is_empty());
    let named =
        bench.succeed("-q eval none.run --data data -m MRR100,RR@100,P1 --format csv").stdout;
    let rows: Vec<&str> =
        named.lines().skip(1).map(|row| row.split_at(row.find(',').expect("a cell")).0).collect();
    assert_eq!(rows, ["MRR100", "RR@100", "P1"]);
    assert!(named.contains("MRR100,all,0.5") && named.contains("P1,all,0.5"), "{named}");
    bench.succeed("-q report bm25.run none.run --data data");
    assert!(bench.text("report.html").contains("Tests against the baseline, over facets"));
}

#[test]
fn a_parameter_is_tuned_by_document_relevance() {
    let bench = with_runs();
    let context = |facet: &str, figures: [(&str, f64); 3]| {
        let table = eval_table(&["MRR100"], facet, &figures);
        let inner = table.strip_prefix("(dVMRR100\n(d").and_then(|rest| rest.strip_suffix("ss."));
        format!("{}s", inner.expect("one context"))
    };
    let facets: String = bench
        .text("data/dev.tsv")
        .lines()
        .skip(1)
        .map(|line| line.split('\t').find(|cell| is_facet(cell)).expect("a facet").to_owned())
        .collect::<std::collections::BTreeSet<_>>()
        .iter()
        .map(|facet| context(&format!("V{facet}"), [("Q00001", 0.5), ("MIN", 0.25), ("MAX", 0.75)]))
        .collect();
    bench.write("data/single_turn_train_eval.pkl", format!("(dVMRR100\n(d{facets}s."));
    bench.write(
        "stops.toml",
        "name = \"stops\"\n[[stages]]\nstage = \"bm25\"\nanalyzer = \"english\"\ndepth = 30\n[[stages]]\nstage = \"no_question\"\nrank = 1\n",
    );
    let line = "-q tune stops.toml --data data --split dev --measure MRR100 --grid no_question.rank=2,1 --format json";
    let rows: serde_json::Value = json(&bench.succeed(line));
    let shown = |row: usize| (rows[row]["parameters"].clone(), rows[row]["MRR100"].clone());
    assert_eq!(shown(0), ("no_question.rank=1".into(), 0.5.into()));
    assert_eq!(shown(1), ("no_question.rank=2".into(), 0.25.into()));
    assert_eq!(shown(2), ("held out".into(), 0.5.into()));
}

/// `F0012`.
fn is_facet(cell: &str) -> bool {
    cell.len() == 5 && cell.starts_with('F') && cell[1..].bytes().all(|byte| byte.is_ascii_digit())
}

fn words(line: &str) -> Vec<&str> {
    line.split(' ').collect()
}

#[test]
fn runs_that_cannot_be_compared_are_refused_with_a_hint() {
    let bench = with_runs();
    bench.write("other.run", "nobody 0 Q00001 1 1.0 x\n");
    bench.write("empty.run", "");
    for (arguments, place, expected) in [
        ("bm25.run", "error: RUN", "two runs or more"),
        ("bm25.run bm25.run none.run none.run", "error: RUN", "every file once"),
        ("bm25.run none.run ./none.run", "error: RUN", "every file once"),
        ("bm25.run none.run --baseline data/../none.run", "error: RUN", "every file once"),
        (
            "bm25.run none.run --topics 3 --format tsv",
            "error: --topics",
            "no --format tsv beside it",
        ),
        ("bm25.run other.run", "error: other.run", "answers to topics of data/dev.tsv"),
        ("bm25.run nothing.run", "nothing.run: missing file", "a file"),
        ("bm25.run empty.run", "empty.run", "lines of the form"),
        ("bm25.run none.run --alpha 1", "--alpha", "a number between 0 and 1"),
        ("bm25.run none.run -m nDGC@10", "a measure", "the name of a measure"),
    ] {
        let words: Vec<&str> =
            ["compare", "--data", "data"].into_iter().chain(arguments.split(' ')).collect();
        let found = bench.run(&words);
        assert_eq!(
            (found.status, found.stdout.as_str()),
            (Some(2), ""),
            "{arguments}: {}",
            found.stderr
        );
        for part in [place, &format!("expected: {expected}"), "   found: ", "\nhint: "] {
            assert!(found.stderr.contains(part), "{arguments}: {part}: {}", found.stderr);
        }
    }
}

#[test]
fn tsv_is_one_table() {
    let bench = with_runs();
    let found = compare(&bench, "bm25.run none.run --format tsv").stdout;
    let columns = |line: &str| line.split('\t').count();
    assert_eq!(found.lines().count(), 9, "a header, and two runs by four measures: {found}");
    assert!(found.lines().all(|line| columns(line) == 15), "{found}");
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

#[test]
fn the_leaderboard_readme_counts_its_entries() {
    let folder = root().join("configs/leaderboard");
    let readme = fs::read_to_string(folder.join("README.md")).unwrap();
    for (file, named) in [
        ("question_relevance.dev.tsv", "question relevance | Recall@30, then Recall@20, on test"),
        ("document_relevance.test.tsv", "document relevance, single turn | NDCG@3 on test"),
        ("clarification_need.tsv", "clarification need, dev and test in one table | F1 on test"),
    ] {
        let table = fs::read_to_string(folder.join(file)).unwrap();
        let entries = table.lines().skip(1).filter(|line| !line.starts_with('-')).count();
        assert!(readme.contains(&format!("{named} | {entries} |")), "{file}: {entries}");
    }
}
