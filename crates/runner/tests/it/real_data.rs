//! Figures on the released files. The tests are skipped, with a message, where those are missing.

use crate::common::{Bench, root};
use clariq_collections::DataDir;
use clariq_core::Documents;
use clariq_files::{Run, Source, read_run};
use clariq_index::{Analyzer, Bm25, BuildOptions, Depth, DocumentIndex, Query, Scorer};
use clariq_track_clariq::{ClariQ, ClariqSplit};
use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::Arc;

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

/// The four figures that `eval` prints of a run.
fn recalls(bench: &Bench, run: &str) -> Vec<f64> {
    recalls_of(bench, "dev", run)
}

fn recalls_of(bench: &Bench, split: &str, run: &str) -> Vec<f64> {
    let printed = bench.succeed(&format!("eval --data data --split {split} {run}")).stdout;
    printed
        .lines()
        .map(|line| line.split_once(": ").expect("a figure").1.parse().expect("a number"))
        .collect()
}

fn six_digits(figures: &[f64]) -> Vec<String> {
    figures.iter().map(|figure| format!("{figure:.6}")).collect()
}

/// Topic, unused second field, and question of each line.
fn questions(run: &str) -> Vec<Vec<&str>> {
    run.lines().map(|line| line.split(' ').take(3).collect()).collect()
}

#[test]
fn published_multi_turn_runs_are_valid() {
    let Some(bench) = bench() else { return };
    for run in ["dev_bm25_multi_turn", "dev_best_question_multi_turn"] {
        let line = format!("validate published/{run} --split dev --data data --format tsv");
        let finished = bench.succeed(&line);
        assert!(finished.stdout.contains("\taccepted\t"), "{run}: {}", finished.stdout);
    }
}

#[test]
fn the_bm25_baseline_is_the_published_run() {
    let Some(bench) = bench() else { return };
    bench.succeed("run bm25 --data data --split dev -o dev.run");
    let ours = bench.text("dev.run");
    let published = bench.text("published/dev_bm25");
    assert_eq!(questions(&ours), questions(&published));
    assert_eq!(
        six_digits(&recalls(&bench, "dev.run")),
        ["0.324557", "0.563804", "0.667500", "0.691282"]
    );
    let row = bench.succeed("eval dev.run --data data --task document_relevance --leaderboard");
    assert_eq!(row.stdout, "| RANK | CREATOR | bm25 | 0.3096 | 0.2313 | 0.1608 | 0.1530 |\n");
}

#[test]
fn with_ties_by_id_the_baseline_differs_inside_ties_alone() {
    let Some(bench) = bench() else { return };
    bench.succeed("run bm25 --data data --split dev -o dev.run --set bm25.ties=id");
    assert_eq!(
        six_digits(&recalls(&bench, "dev.run")),
        ["0.324557", "0.563680", "0.667500", "0.691282"]
    );
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

/// The official scorer keeps one line per distinct score.
#[test]
fn the_official_tie_rule_lowers_the_recall_of_the_published_baseline() {
    let Some(bench) = bench() else { return };
    let level = |line: &str| {
        let fields: Vec<&str> = line.split(' ').collect();
        [&fields[..4], &["1", fields[5]]].concat().join(" ") + "\n"
    };
    bench.write(
        "level.run",
        bench.text("published/dev_bm25").lines().map(level).collect::<String>(),
    );
    assert_eq!(format!("{:.4}", recalls(&bench, "level.run")[0]), "0.0659");
}

/// The lines of each topic, in file order.
fn by_topic(run: &Run) -> HashMap<&str, Vec<&str>> {
    let mut topics: HashMap<&str, Vec<&str>> = HashMap::new();
    for line in &run.lines {
        topics.entry(line.topic.as_str()).or_default().push(line.document.as_str());
    }
    topics
}

#[test]
fn the_published_baseline_is_a_descending_order_of_our_scores() {
    let Some(released) = released() else { return };
    let index = tempfile::tempdir().expect("a folder");
    let collection = ClariQ::open(DataDir::Folder(released.join("data"))).expect("the collection");
    let bank = &collection.bank;
    let opened =
        DocumentIndex::open_or_build(index.path(), bank, Analyzer::Nltk, &BuildOptions::default());
    let index = opened.expect("an index").0;
    let scorer = Scorer::new(&Arc::new(index), Bm25::okapi()).expect("a scorer");
    let run =
        read_run(&Source::new(released.join("sample_runs/dev_bm25"))).expect("the published run");
    let published = by_topic(&run);
    let topics = collection.split(ClariqSplit::Dev).expect("dev").topics;
    assert_eq!((published.len(), topics.len()), (50, 50));
    for topic in &topics {
        let depth = Depth { limit: bank.len(), pad: true };
        let hits =
            scorer.rank(&Query::new(&Analyzer::Nltk.tokens(&topic.request), depth)).expect("hits");
        assert_eq!(hits.len(), bank.len());
        let scores: HashMap<&str, f64> =
            hits.iter().map(|hit| (bank.id(hit.doc).as_str(), hit.score)).collect();
        let lines = &published[topic.id.as_str()];
        let ordered: Vec<f64> = lines.iter().map(|question| scores[question]).collect();
        assert!(
            ordered.windows(2).all(|pair| pair[0] >= pair[1]),
            "topic {}: {ordered:?}",
            topic.id
        );
        let lowest = ordered[ordered.len() - 1];
        let missing =
            scores.iter().find(|(question, score)| **score > lowest && !lines.contains(*question));
        assert_eq!(missing, None, "topic {} leaves out a question above {lowest}", topic.id);
    }
}

#[test]
fn the_released_folder_has_no_error_and_the_known_warnings() {
    let Some(bench) = bench() else { return };
    let finished = bench.succeed("data check --data data --format tsv");
    let rows: Vec<Vec<&str>> =
        finished.stdout.lines().skip(1).map(|line| line.split('\t').collect()).collect();
    let warnings = |name: &str| {
        let row = rows.iter().find(|row| row[0].ends_with(name)).expect("a row of that file");
        assert_eq!(row[1], "0", "{name}");
        row[2]
    };
    let names = ["question_bank.tsv", "train.tsv", "dev.tsv", "/test.tsv", "dev.qrel"];
    assert_eq!(names.map(warnings), ["0", "17", "5", "0", "0"]);
}

/// The released files beside a file in the form of the released test labels, with two wordings of
/// topic 260.
fn whole_release() -> Option<Bench> {
    let released = released()?;
    let bench = Bench::new();
    let labels = released.join("format/test_with_labels.tsv");
    if !labels.exists() {
        println!("skipped: no {}", labels.display());
        return None;
    }
    std::fs::create_dir(bench.path("data")).expect("created");
    let files = std::fs::read_dir(released.join("data")).expect("a folder");
    for file in files.map(|entry| entry.expect("an entry").path()).chain([labels]) {
        let link = bench.path("data").join(file.file_name().expect("a name"));
        std::os::unix::fs::symlink(&file, link).expect("linked");
    }
    Some(bench)
}

#[test]
fn every_command_works_on_the_whole_release() {
    let Some(bench) = whole_release() else { return };
    let checked = bench.succeed("data check --data data");
    let wording =
        "found: `tell me more about the american revolutionary`, 124 times: first on lines";
    assert_eq!(checked.stderr.matches("american revolutionary").count(), 1, "{}", checked.stderr);
    assert!(checked.stderr.contains(wording), "{}", checked.stderr);
    assert!(!checked.stderr.contains("error: "), "{}", checked.stderr);
    bench.succeed("data stats --data data");
    bench.succeed("run bm25 --data data --split test -o test.run");
    let figures = recalls_of(&bench, "test", "test.run");
    assert_eq!(figures.len(), 4);
    bench.succeed("run bm25 --data data --split dev -o dev.run");
    let dev = ["0.324557", "0.563804", "0.667500", "0.691282"];
    assert_eq!(six_digits(&recalls_of(&bench, "dev", "dev.run")), dev);
}

#[test]
fn the_released_folder_has_the_known_figures() {
    let Some(bench) = bench() else { return };
    let finished = bench.succeed("data stats --data data --format json");
    let stats: serde_json::Value = serde_json::from_str(&finished.stdout).expect("JSON");
    assert_eq!((&stats["questions"], &stats["longest_question"]), (&3941.into(), &33.into()));
    let split =
        |place: usize, names: [&str; 6]| names.map(|name| stats["splits"][place][name].to_string());
    let names = ["topics", "facets", "single", "rows", "needs", "no_question"];
    // The challenge's README counts 891 facets and 39 topics with a single one.
    assert_eq!(split(0, names), ["187", "638", "30", "9176", "[25,74,62,26]", "159"]);
    assert_eq!(split(1, names), ["50", "163", "11", "2313", "[4,21,16,9]", "39"]);
    assert_eq!(split(2, names), ["61", "null", "null", "null", "null", "null"]);
    let relevant = |place: usize| {
        let relevant = &stats["splits"][place]["relevant"];
        let least = &relevant[0];
        let mean = relevant[1].as_f64().expect("a mean");
        let most = &relevant[2];
        format!("{least} {mean:.1} {most}")
    };
    assert_eq!([relevant(0), relevant(1)], ["5 13.9 18", "8 13.6 19"]);
}

/// Encoding the questions takes as long as a fifth of all tests, and fine-tuning takes minutes: systems
/// with models are checked by `reproduce` outside the tests, and on the sample.
#[test]
fn systems_without_models_reach_the_figures_of_their_configurations() {
    let Some(bench) = bench() else { return };
    let names = "no-question bm25 bm25-english bm25-tuned";
    let finished = bench.succeed(&format!("reproduce --data data --format tsv {names}"));
    let is_expected = |row: &&str| !row.ends_with("\t-");
    let (expected, other): (Vec<&str>, Vec<&str>) =
        finished.stdout.lines().skip(1).partition(is_expected);
    let sound = |row: &&str| row.ends_with("\tOK") || row.ends_with("\tclose");
    assert!(expected.len() >= 42 && expected.iter().all(sound), "{}", finished.stdout);
    // Needs that the configuration does not expect are shown, and published figures of a split without
    // labels.
    let is_known = |row: &&str| row.contains("\tneed F1\t") || row.starts_with("bm25\ttest\t");
    assert!(other.iter().all(is_known), "{}", finished.stdout);
    assert_eq!(other.iter().filter(|row| row.starts_with("bm25\ttest\t")).count(), 4);
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

/// The need models of the shipped systems need nothing that is fine-tuned: their labels alone are
/// checked here.
#[test]
fn predicted_needs_reach_the_figures_of_their_configuration() {
    let Some(bench) = bench() else { return };
    for system in ["bm25-tuned", "strict", "best"] {
        let text = std::fs::read_to_string(root().join(format!("configs/{system}.toml")))
            .expect("a configuration");
        let config: toml::Table = text.parse().expect("TOML");
        let of_dev = |expected: &&toml::Value| {
            expected["collection"].as_str() == Some("clariq")
                && expected["split"].as_str() == Some("dev")
        };
        let expected = config["expected"]
            .as_array()
            .expect("figures")
            .iter()
            .find(of_dev)
            .expect("those of dev");
        bench.succeed(&format!("need predict {system} --data data -o dev.need"));
        let printed = bench.succeed("eval dev.need --data data --task clarification_need").stdout;
        let f1 = printed.lines().find_map(|line| line.strip_prefix("F1: ")).expect("an F1");
        let difference = f1.parse::<f64>().expect("a figure")
            - expected["measures"]["need F1"].as_float().expect("it");
        assert!(difference.abs() < 1e-5, "{system}: {difference}");
    }
}
