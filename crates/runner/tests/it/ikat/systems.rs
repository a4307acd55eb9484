//! The built-in systems: their input, their output and their figures.

use super::{released, sample, verdict};
#[cfg(feature = "bert")]
use crate::common::here::Work;
use crate::common::refusals::{NOTHING, case as refusal, check};
use crate::common::{Bench, root};
use serde_json::json;
use std::fs;

#[test]
fn a_run_is_written_validated_converted_and_scored() {
    let bench = Bench::new();
    let run = "runs/ikat-sample/ikat-bm25.2023-test.json";
    let finished = bench.succeed("-q run ikat-bm25 --split 2023-test --format tsv");
    assert!(
        finished.stdout.contains("ikat-bm25\tautomatic\t2023-test\t46\t"),
        "{}",
        finished.stdout
    );
    let validated = bench.succeed(&format!("-q validate {run} --split 2023-test --format tsv"));
    assert_eq!(validated.stderr, "", "no error, no warning, no missed problem");
    assert!(validated.stdout.contains("\taccepted\t46\t0\t0\t0\n"), "{}", validated.stdout);
    let converted = bench.succeed(&format!("convert {run} --to trec")).stdout;
    let written = bench.text("runs/ikat-sample/ikat-bm25.2023-test.passages.run");
    let ids = |text: &str, n: usize| -> Vec<String> {
        let lines = text.lines().map(|line| line.split_whitespace().take(3).collect::<Vec<_>>());
        lines.filter(|fields| fields[0] == "1-1_1").map(|f| f[2].to_owned()).take(n).collect()
    };
    assert_eq!(ids(&converted, 100), ids(&written, 100));
    let statements = bench.text("runs/ikat-sample/ikat-bm25.2023-test.statements.run");
    assert_eq!(statements.lines().filter(|line| line.starts_with("1-1_1 ")).count(), 10);
    let scored = bench.succeed(&format!("-q eval {run} --split 2023-test --format tsv"));
    for name in [
        "statements (organisers) nDCG@3",
        "sets (NIST) macro F1",
        "passages R@10",
        "response ROUGE-1",
    ] {
        assert!(scored.stdout.contains(&format!("\n{name}\t0.")), "{name}: {}", scored.stdout);
    }
    let graded =
        bench.succeed(&format!("-q eval {run} --split 2023-test -m P(rel=2)@5 --format tsv"));
    assert!(graded.stdout.contains("passages (graded by NIST) P(rel=2)@5\t"), "{}", graded.stdout);
    let record: serde_json::Value =
        serde_json::from_slice(&bench.read(&run.replace(".json", ".record.json"))).unwrap();
    assert_eq!(record["split"], "2023-test");
    assert_eq!(record["answer"]["class"], "automatic");
}

#[test]
fn a_figure_has_the_same_name_for_every_kind_of_file() {
    let bench = Bench::new();
    bench.succeed("-q run ikat-bm25 --split 2023-test -o mine.json");
    let figures = |line: &str| {
        let text = bench.succeed(&format!("-q {line} --split 2023-test --format tsv")).stdout;
        let rows = text.lines().skip(1).map(|line| line.split_once('\t').unwrap());
        rows.map(|(name, value)| (name.to_owned(), value.to_owned())).collect::<Vec<_>>()
    };
    let submission = figures("eval mine.json -m nDCG@3");
    let ranking = figures("eval mine.statements.run -m nDCG@3");
    assert_eq!(submission[..2], ranking);
    assert!(ranking[0].0 == "statements (organisers) nDCG@3" && ranking[0].1.starts_with("0.384"));
    assert_eq!(submission[2].0, "ptkb_provenance (organisers) nDCG@3");
    assert!(submission[2].1 < submission[0].1, "one statement is handed in");
    // Without the ranking beside it, only what is handed in can be scored.
    fs::copy(bench.path("mine.json"), bench.path("alone.json")).unwrap();
    let alone = figures("eval alone.json");
    assert!(alone.iter().all(|(name, _)| !name.starts_with("statements")), "{alone:?}");
    assert!(alone.contains(&submission[2]), "{alone:?}");
    let refused = bench.run(&["compare", "alone.json", "mine.json", "--task", "statements"]);
    assert!(refused.stderr.contains("found: no alone.statements.run"), "{}", refused.stderr);
    // Rankings of another run are not taken for its own.
    bench.write("alone.statements.run", "1-1_1 Q0 2 1 1.0 other\n");
    bench.write("alone.passages.run", "1-1_1 Q0 p:0 1 1.0 other\n");
    let warned = bench.succeed("eval alone.json --split 2023-test").stderr;
    for task in ["statements", "passages"] {
        let warning = format!("warning: alone.{task}.run belongs to another run and is ignored\n");
        assert!(warned.contains(&warning), "{warned}");
    }
    assert_eq!(figures("eval alone.json"), alone);
}

#[test]
fn a_system_may_list_no_statement() {
    let bench = Bench::new();
    let system = fs::read_to_string(root().join("configs/ikat-bm25.toml")).unwrap();
    let (system, _) = system.split_once("\n[[expected]]").unwrap();
    let rule = system.lines().find(|line| line.starts_with("statements = ")).unwrap();
    let listed = |rules: &str| {
        bench.write("mine.toml", system.replacen(rule, rules, 1));
        bench.succeed("-q run mine.toml --split 2023-test -o mine.json");
        let run: serde_json::Value = serde_json::from_slice(&bench.read("mine.json")).unwrap();
        let turns = run["turns"].as_array().unwrap().iter();
        turns
            .map(|turn| turn["responses"][0]["ptkb_provenance"].as_array().map_or(0, Vec::len))
            .collect::<Vec<_>>()
    };
    let usual = listed(rule);
    assert!(usual.iter().all(|count| *count >= 1), "{usual:?}");
    let none = vec![0; usual.len()];
    assert_eq!(listed(""), none);
    assert_eq!(listed("statements = { most = 0, least = 0.0, gap = 0.0 }"), none);
    let rule_with = |least: &str| {
        format!("statements = {{ most = 1, least = 0.0, gap = 0.0, none_below = {least} }}")
    };
    assert_eq!(listed(&rule_with("-1.0")), usual);
    assert_eq!(listed(&rule_with("1000.0")), none);
    let validated = bench.succeed("-q validate mine.json --split 2023-test --format tsv").stdout;
    assert!(validated.contains("accepted"), "{validated}");
}

#[test]
fn a_manual_system_may_use_the_relevant_statements_of_its_turn_and_of_earlier_ones() {
    let bench = Bench::new();
    let manual = fs::read_to_string(root().join("configs/ikat-bm25.toml")).unwrap();
    let (system, _) = manual.split_once("\n[[expected]]").unwrap();
    let manual = system.replace("class = \"automatic\"", "class = \"manual\"");
    bench.write("plain.toml", &manual);
    let uses = "\nuses = [\"relevant-statements\"]\n\n[[tasks.statements";
    let labelled = manual.replacen("\n\n[[tasks.statements", uses, 1);
    bench.write("labelled.toml", &labelled);
    let score = |name: &str| -> f64 {
        let line = format!("-q run {name}.toml --split 2023-test -o {name}.json --format tsv");
        let told = bench.succeed(&line).stdout;
        assert_eq!(told.contains("relevant-statements"), name == "labelled", "{told}");
        let line =
            format!("-q eval {name}.statements.run --split 2023-test -m nDCG@3 --format tsv");
        let scored = bench.succeed(&line).stdout;
        scored.lines().nth(1).unwrap().split('\t').nth(1).unwrap().parse().unwrap()
    };
    let (labelled_score, plain_score) = (score("labelled"), score("plain"));
    assert!(labelled_score > plain_score + 0.1, "{labelled_score} {plain_score}");
    // No other class may, and labels of later turns are not seen.
    bench.write("automatic.toml", labelled.replace("class = \"manual\"", "class = \"automatic\""));
    let refused = bench.run(&["run", "automatic.toml", "--split", "2023-test"]);
    assert!(refused.stderr.contains("the track only allows these labels to manual runs"));
    bench.write_ikat("plain", |topics| topics.truncate(1));
    bench.write_ikat("later", |topics| {
        topics.truncate(1);
        let turns = topics[0]["turns"].as_array_mut().unwrap();
        turns.last_mut().unwrap()["ptkb_provenance"] = json!([1, 2, 3]);
    });
    bench.write_ikat("none", |topics| {
        topics.truncate(1);
        for turn in topics[0]["turns"].as_array_mut().unwrap() {
            turn["ptkb_provenance"] = json!([]);
        }
    });
    let lines = |data: &str| {
        let line = "-q run labelled.toml --split 2023-test";
        bench.succeed(&format!("{line} --data {data} -o {data}.json"));
        bench.text(&format!("{data}.statements.run"))
    };
    let (plain, later) = (lines("plain"), lines("later"));
    let differs = plain.lines().zip(later.lines()).filter(|(one, other)| one != other);
    let turns: std::collections::BTreeSet<&str> =
        differs.filter_map(|(line, _)| line.split(' ').next()).collect();
    assert_eq!(turns.len(), 1, "the last turn alone: {turns:?}");
    let words = ["run", "labelled.toml", "--split", "2023-test", "--data", "none"];
    assert!(bench.run(&words).stderr.contains("found: topics without `ptkb_provenance`"));
}

#[test]
fn a_page_needs_no_labels() {
    let bench = Bench::new();
    bench.write_ikat("data", |topics| {
        for conversation in topics.iter_mut() {
            for turn in conversation["turns"].as_array_mut().unwrap() {
                let turn = turn.as_object_mut().unwrap();
                turn.remove("ptkb_provenance");
                turn.remove("response_provenance");
            }
        }
    });
    let on = "--split 2023-test --data data";
    bench.succeed(&format!("-q run ikat-bm25 {on} -o mine.json"));
    let told = bench.succeed(&format!("report mine.json {on}"));
    assert!(
        told.stderr.contains("warning: the folder has no labels of 2023-test"),
        "{}",
        told.stderr
    );
    let page = bench.text("report.html");
    assert!(page.contains("id=\"conversations\"") && !page.contains("id=\"figures\""));
}

#[test]
fn a_question_that_nothing_fits_gets_no_answer() {
    let bench = Bench::new();
    let ask = |request: &str| {
        let mut command = bench.command(&["-q", "ask", "--system", "ikat-bm25", request]);
        let output = command.stdin(std::process::Stdio::null()).output().unwrap();
        String::from_utf8(output.stdout).unwrap()
    };
    let cooking = ask("What can I cook tonight?");
    assert!(cooking.starts_with("nothing fits: the best document shares "), "{cooking}");
    assert!(ask("What can I do?").starts_with("nothing fits: the request has only stop words"));
    assert!(ask("Which telescope should I buy?").starts_with("Beginners should buy binoculars"));
}

/// A built-in system with another space in place of its encoder, and without expected figures.
fn with_space(name: &str, space: &str) -> String {
    let text = fs::read_to_string(root().join(format!("configs/{name}.toml"))).unwrap();
    let (system, _) = text.split_once("\n[[expected]]").unwrap_or((&text, ""));
    system.replace("models = { \"all-MiniLM-L6-v2\" = 1.0 }", space)
}

/// Scrambles the parts of conversations that a system of this class may not see.
fn scramble(topics: &mut [serde_json::Value], class: &str) {
    for conversation in topics {
        conversation["title"] = json!("scrambled");
        let turns = conversation["turns"].as_array_mut().unwrap();
        // Nothing follows the last response, so that no system may see it.
        let last = turns.len() - 1;
        turns[last]["response"] = json!("scrambled");
        for turn in turns {
            turn["ptkb_provenance"] = json!([1]);
            if class != "manual" {
                turn["resolved_utterance"] = json!("scrambled");
            }
            if class != "only-response" {
                turn["response_provenance"] = json!([]);
            }
        }
    }
}

const SYSTEMS: [(&str, &str); 5] = [
    ("ikat-bm25", "automatic"),
    ("ikat-dense", "automatic"),
    ("ikat-automatic", "automatic"),
    ("ikat-manual", "manual"),
    ("ikat-only-response", "only-response"),
];

#[test]
fn a_system_sees_nothing_that_its_class_may_not_and_its_run_is_accepted() {
    let bench = Bench::new();
    bench.write_ikat("plain", |topics| topics.truncate(2));
    let run = |data: &str| {
        let line = "-q run mine.toml --split 2023-test --format tsv";
        bench.succeed(&format!("{line} --data {data} -o {data}.json")).stdout
    };
    for (system, class) in SYSTEMS {
        bench.write("mine.toml", with_space(system, "characters = 1.0"));
        let told = run("plain");
        assert!(told.contains(&format!("\t{class}\t")), "{told}");
        let line = "-q validate plain.json --data plain --split 2023-test --format tsv";
        let validated = bench.succeed(line);
        let sound = validated.stdout.ends_with("\taccepted\t15\t0\t0\t0\n");
        assert!(sound, "{system}: {}{}", validated.stdout, validated.stderr);
        bench.write_ikat("scrambled", |topics| {
            topics.truncate(2);
            scramble(topics, class);
        });
        run("scrambled");
        for ending in ["json", "statements.run", "passages.run"] {
            let read = |data: &str| bench.read(&format!("{data}.{ending}"));
            assert!(read("plain") == read("scrambled"), "{system}: {ending}");
        }
        // The test would see a difference if there were one: an utterance may be looked at.
        bench.edit("scrambled/2023_test_topics.json", |text| {
            let field = if class == "manual" { "resolved_utterance" } else { "utterance" };
            let mut topics: serde_json::Value = serde_json::from_str(&text).unwrap();
            topics[0]["turns"][0][field] = json!("cold frames keep young plants warm");
            topics.to_string()
        });
        run("scrambled");
        let read = |data: &str| bench.read(&format!("{data}.statements.run"));
        assert!(read("plain") != read("scrambled"), "{system}");
    }
}

#[test]
fn a_turn_that_is_given_no_passage_is_answered_from_those_that_rank_best() {
    let bench = Bench::new();
    let sample = root().join("data/sample-ikat");
    bench.write("data/passages.jsonl", fs::read(sample.join("passages.jsonl")).unwrap());
    let topics = fs::read(sample.join("2023_test_topics.json")).unwrap();
    let mut topics: serde_json::Value = serde_json::from_slice(&topics).unwrap();
    topics[0]["turns"][0]["response_provenance"] = json!([]);
    bench.write("data/2023_test_topics.json", topics.to_string());
    bench.write("mine.toml", with_space("ikat-only-response", "characters = 1.0"));
    bench.succeed("-q run mine.toml --split 2023-test --data data -o mine.json");
    let validated =
        bench.succeed("-q validate mine.json --split 2023-test --data data --format tsv");
    assert!(validated.stdout.contains("\taccepted\t46\t0\t0\t0\n"), "{}", validated.stdout);
    assert_eq!(validated.stderr, "", "no warning of an empty text or of no passage");
}

#[cfg(feature = "bert")]
#[test]
fn a_system_with_an_encoder_gives_the_same_bytes_with_any_number_of_threads() {
    let bench = Bench::new();
    for name in ["config.json", "model.safetensors", "vocab.txt"] {
        let file = root().join("crates/bert/tests/data/tiny").join(name);
        bench.write(&format!("tiny/{name}"), fs::read(file).expect("a file"));
    }
    // The tiny model reads few tokens, and its folder says where a text is cut.
    bench.write("tiny/sentence_bert_config.json", "{\"max_seq_length\": 16}");
    bench.write_ikat("data", |topics| topics.truncate(2));
    let tiny = bench.path("tiny").display().to_string();
    bench.write(
        "mine.toml",
        with_space("ikat-automatic", &format!("models = {{ {tiny:?} = 1.0 }}")),
    );
    for threads in [1, 3] {
        let work = Work { threads, ..Work::on(&bench, "data", "2023-test") };
        work.run("mine.toml", &[], &format!("t{threads}.json")).expect("a run");
    }
    for ending in ["json", "statements.run", "passages.run"] {
        let read = |threads: u32| bench.read(&format!("t{threads}.{ending}"));
        assert!(read(1) == read(3), "{ending}");
    }
    let record: serde_json::Value = serde_json::from_slice(&bench.read("t1.record.json")).unwrap();
    assert!(record["models"][tiny].is_string(), "{record}");
}

#[test]
fn runs_are_the_same_with_any_number_of_threads() {
    let bench = Bench::new();
    for threads in ["1", "3"] {
        bench.succeed(&format!(
            "run ikat-bm25 --split 2023-test --threads {threads} -o t{threads}.json"
        ));
    }
    for ending in ["json", "statements.run", "passages.run"] {
        assert!(
            bench.read(&format!("t1.{ending}")) == bench.read(&format!("t3.{ending}")),
            "{ending}"
        );
    }
}

#[test]
fn folders_are_checked_and_counted() {
    let bench = Bench::new();
    let data = sample();
    let checked = bench.succeed(&format!("data check --data {data}"));
    assert!(!checked.stderr.contains("error"), "{}", checked.stderr);
    let counted = bench.succeed(&format!("data stats --data {data} --format tsv"));
    for row in ["conversations\t6\t", "turns\t46\t", "statements\t60\t"] {
        assert!(counted.stdout.contains(&format!("\n{row}")), "{row}: {}", counted.stdout);
    }
    let Some(folder) = released() else { return };
    let folder = folder.to_str().unwrap();
    let checked = bench.succeed(&format!("data check --data {folder}"));
    assert!(checked.stderr.contains("twice in turn 3-1_5"), "{}", checked.stderr);
    let counted = bench.succeed(&format!("data stats --data {folder} --format tsv"));
    assert!(counted.stdout.contains("\nturns\t95\t332\t218\t188\t"), "{}", counted.stdout);
    assert!(counted.stdout.contains("\npassages\t\t\t\t\t894\n"), "{}", counted.stdout);
}

#[test]
fn systems_and_collections_that_do_not_fit_are_refused() {
    check(&[
        refusal(
            "a system of several tasks on requests of ClariQ",
            NOTHING,
            "rank ikat-bm25 --data data",
            ["--data", "a collection with statements and passages", "with questions"],
        ),
        refusal(
            "a system of several tasks on ClariQ",
            NOTHING,
            "run ikat-bm25 --data data --split dev",
            ["--data", "a collection with statements and passages", "ClariQ in data"],
        ),
        refusal(
            "conversations of ClariQ",
            NOTHING,
            "run ikat-bm25 --conversations c.jsonl",
            ["--data", "a ClariQ collection", "iKAT"],
        ),
        refusal(
            "labels that are not there",
            |bench| {
                let topics = json!([{"number": 0, "title": "t", "ptkb": {"1": "a"}, "turns":
                    [{"turn_id": 1, "utterance": "u"}]}]);
                bench.write("ikat/2024_test_topics.json", topics.to_string());
                bench.write("ikat/passages.jsonl", "{\"id\": \"a:0\", \"contents\": \"x\"}\n");
            },
            "eval run.json --split 2024 --data ikat",
            ["ikat", "labels of 2024", "topics without labels"],
        ),
        refusal(
            "a class that does not exist",
            |bench| {
                let text = fs::read_to_string(root().join("configs/ikat-bm25.toml")).unwrap();
                bench.write("mine.toml", text.replace("\"automatic\"", "\"magic\""));
            },
            "run mine.toml --split 2023-test",
            ["mine.toml:32", "one of automatic, manual, only-response", "`magic`"],
        ),
        refusal(
            "more tokens than the guidelines allow",
            |bench| {
                let text = fs::read_to_string(root().join("configs/ikat-bm25.toml")).unwrap();
                bench.write("mine.toml", text.replace("tokens = 150", "tokens = 300"));
            },
            "run mine.toml --split 2023-test",
            ["mine.toml:31", "response.tokens from 1 to 250", "300"],
        ),
        refusal(
            "history that grows",
            |bench| {
                let text = fs::read_to_string(root().join("configs/ikat-bm25.toml")).unwrap();
                bench.write("mine.toml", text.replace("decay = 0.3", "decay = 3.0"));
            },
            "run mine.toml --split 2023-test",
            ["mine.toml:20", "weights of at least 0", "3.0"],
        ),
    ]);
}

#[test]
fn released_years_have_the_expected_figures_and_runs_that_are_accepted() {
    let Some(folder) = released() else { return };
    let bench = Bench::new();
    let data = folder.to_str().expect("UTF-8");
    // It leaves the run. The other split with labels is checked outside the tests.
    let line = format!("reproduce ikat-bm25 --split 2023-test --data {data} --format tsv");
    let finished = bench.succeed(&line);
    let rows: Vec<&str> = finished.stdout.lines().skip(1).collect();
    assert_eq!(rows.len(), 23);
    assert!(rows.iter().all(|row| row.ends_with("\tOK")), "{}", finished.stdout);
    assert!(finished.stderr.contains("a substitute"), "{}", finished.stderr);
    for (split, turns) in [("2023-test", 332), ("2024", 218), ("2025", 188)] {
        let ending = if split == "2025" { "jsonl" } else { "json" };
        let run = format!("runs/ikat/ikat-bm25.{split}.{ending}");
        if !bench.path(&run).exists() {
            bench.succeed(&format!("-q run ikat-bm25 --split {split} --data {data}"));
        }
        let (status, row) = verdict(&bench, &folder, split, &run);
        assert_eq!(status, Some(0));
        assert_eq!(row, ["accepted", &turns.to_string(), "0", "0", "0"], "{split}");
        // The forms of 2023 and 2025.
        if split == "2023-test" || split == "2025" {
            let converted = bench.succeed(&format!("convert {run} --to trec")).stdout;
            assert_eq!(converted.lines().count(), turns * 100, "{split}");
        }
    }
}
