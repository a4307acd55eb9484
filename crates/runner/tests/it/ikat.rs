//! TREC iKAT by the command: `validate`, `convert`, `data segment` and `data passage-ids`.

use crate::common::refusals::{Case as Refusal, NOTHING, case as refusal, check};
use crate::common::{Bench, root};
use crate::validator_cases::cases;
use serde_json::json;
use std::fs;
use std::path::{Path, PathBuf};

/// The released files of the track; the test that asks for them is skipped without.
fn released() -> Option<PathBuf> {
    let folder = root().join("../shared/ikat");
    if folder.join("sample_runs").is_dir() {
        return Some(folder.canonicalize().expect("a folder"));
    }
    println!("skipped: the released files are not in {}", folder.display());
    None
}

/// What `validate --format tsv` prints of a run: verdict, answered, errors, warnings, let through.
fn verdict(bench: &Bench, data: &Path, split: &str, run: &str) -> (Option<i32>, Vec<String>) {
    let data = data.to_str().expect("UTF-8");
    let line = ["validate", run, "--split", split, "--data", data, "--format", "tsv"];
    let finished = bench.run(&line);
    let row = finished.stdout.lines().nth(1).unwrap_or_else(|| panic!("{}", finished.stderr));
    (finished.status, row.split('\t').skip(1).map(str::to_owned).collect())
}

#[test]
fn the_command_gives_every_recorded_verdict() {
    let Some(folder) = released() else { return };
    let bench = Bench::new();
    for (year, split, count) in [(2023, "2023-test", 20), (2024, "2024", 70), (2025, "2025", 30)] {
        let cases = cases(&folder.join("sample_runs"), year);
        assert_eq!(cases.len(), count);
        for case in cases {
            bench.write("run.json", &case.run);
            let (status, row) = verdict(&bench, &folder, split, "run.json");
            let name = &case.name;
            match case.warnings {
                _ if case.has_no_turn => {
                    assert_eq!((status, row[0].as_str()), (Some(0), "nothing to validate"));
                }
                Some(warnings) => {
                    assert_eq!((status, row[0].as_str()), (Some(0), "accepted"), "{year} {name}");
                    assert_eq!(row[3], warnings.to_string(), "{year} {name}");
                }
                None => assert_eq!((status, row[0].as_str()), (Some(1), "error"), "{year} {name}"),
            }
        }
    }
}

#[test]
fn conversions_are_those_of_the_official_program() {
    let Some(folder) = released() else { return };
    let bench = Bench::new();
    for (run, expected) in [
        ("2023/full_run.json", "2023/full_run.json.run"),
        ("2023/sample_run.json", "2023/sample_run.json.run"),
        ("2023/sample_run_no_ptkb.json", "2023/sample_run_no_ptkb.json.run"),
        ("2024/sample_run.json", "2024/sample_run.json.run"),
        ("2025/full_run.jsonl", "2025/full_run.run"),
    ] {
        let expected = fs::read(folder.join("sample_runs").join(expected)).expect("a run");
        let run = folder.join("sample_runs").join(run);
        let line = ["convert", run.to_str().expect("UTF-8"), "--to", "trec"];
        assert!(bench.run(&line).stdout.as_bytes() == expected, "{}", run.display());
        let to_file = [&line[..], &["-o", "out.run"]].concat();
        assert_eq!(bench.run(&to_file).status, Some(0));
        assert!(bench.read("out.run") == expected, "{}", run.display());
    }
}

/// A run over the first conversation of the sample alone.
fn small_run() -> serde_json::Value {
    let statement = "I work shifts as a nurse, often at night.";
    let turn = |id: &str| {
        json!({"turn_id": id, "responses": [{"rank": 1, "text": "t",
            "ptkb_provenance": [{"id": "1", "text": statement, "score": 1.0}],
            "passage_provenance": [{"id": "clueweb22-en0000-00-00000:0", "score": 1.0, "used": true}]}]})
    };
    json!({"run_name": "r", "run_type": "automatic", "turns": [turn("1-1_1"), turn("1-1_1")]})
}

#[test]
fn what_is_let_through_is_listed_apart() {
    let bench = Bench::new();
    bench.write("run.json", serde_json::to_vec_pretty(&small_run()).unwrap());
    let finished = bench.run(&["validate", "run.json", "--split", "2023-test"]);
    assert_eq!(finished.status, Some(1), "the sample has more turns");
    let official = finished.stderr.find("error: run.json:1: contradiction").expect("official");
    let beyond = finished.stderr.find("let through: run.json:").expect("let through");
    assert!(official < beyond, "{}", finished.stderr);
    assert!(finished.stderr.contains("expected: every turn once"), "{}", finished.stderr);
    assert!(finished.stderr.contains("built-in iKAT sample"), "{}", finished.stderr);
}

#[test]
fn responses_are_counted_in_tokens_and_not_in_words() {
    let Some(folder) = released() else { return };
    let bench = Bench::new();
    let run = fs::read_to_string(folder.join("sample_runs/2024/sample_run.json")).unwrap();
    let mut run: serde_json::Value = serde_json::from_str(&run).unwrap();
    // 126 words of two tokens each.
    run["turns"][0]["responses"][0]["text"] = json!("don't ".repeat(126).trim());
    bench.write("run.json", run.to_string());
    assert_eq!(verdict(&bench, &folder, "2024", "run.json").1[4], "1");
    run["turns"][0]["responses"][0]["text"] = json!("don't ".repeat(125).trim());
    bench.write("run.json", run.to_string());
    assert_eq!(verdict(&bench, &folder, "2024", "run.json").1[4], "0");
}

#[test]
fn passages_are_looked_up_in_a_file_of_ids() {
    let Some(folder) = released() else { return };
    let bench = Bench::new();
    bench.write("ids.tsv", "clueweb22-en0004-50-00170\t0\tfec6\n");
    let built = bench.succeed("data passage-ids ids.tsv -o passages.ids --format tsv");
    assert_eq!(built.stdout, "passages\trepeated\tfile\n1\t0\tpassages.ids\n");
    let run = folder.join("sample_runs/2023/full_run.json");
    let (run, data) = (run.to_str().expect("UTF-8"), folder.to_str().expect("UTF-8"));
    let line = ["validate", run, "--split", "2023-test", "--data", data, "--format", "tsv"];
    let with_ids = [&line[..], &["--passage-ids", "passages.ids"]].concat();
    let warnings = |line: &[&str]| {
        let finished = bench.run(line);
        let row = finished.stdout.lines().nth(1).map(str::to_owned).expect("a row");
        row.split('\t').nth(4).map(|count| count.parse::<usize>().unwrap()).unwrap()
    };
    assert_eq!(warnings(&line), 0);
    let text = fs::read_to_string(run).unwrap();
    let passages = text.matches("\"used\"").count();
    assert!(passages > 332);
    assert_eq!(warnings(&with_ids), passages - 1, "one of them is in the file");
}

#[test]
fn clariq_files_are_checked_too() {
    let bench = Bench::with_sample();
    bench.succeed("run bm25-tuned --data data -o good.run");
    for file in ["good.run", "good.need"] {
        let finished = bench.succeed(&format!("validate {file} --split dev --data data"));
        assert_eq!(finished.stderr, "", "{file}");
        assert!(finished.stdout.contains("accepted        15"), "{}", finished.stdout);
    }
    bench.edit("good.run", |text| text.split_inclusive('\n').flat_map(|line| [line; 2]).collect());
    let finished = bench.succeed("validate good.run --split dev --data data");
    let facts = finished.stderr.lines().filter(|line| line.starts_with("let through: good.run:2:"));
    assert_eq!(facts.count(), 2, "equal scores and equal questions: {}", finished.stderr);
    bench.write("bad.need", "13 high\n");
    let finished = bench.run(&["validate", "bad.need", "--split", "dev", "--data", "data"]);
    assert_eq!(finished.status, Some(1));
    assert!(finished.stderr.contains("error: bad.need:1: not a number"), "{}", finished.stderr);
}

fn page(number: usize, sentences: usize) -> String {
    let text: Vec<String> = (0..sentences).map(|n| format!("Sentence {n} ends.")).collect();
    json!({"ClueWeb22-ID": format!("clueweb22-en0000-00-{number:05}"),
        "URL": "https://example.org/\n", "Clean-Text": format!("A title\n{}", text.join(" "))})
    .to_string()
        + "\n"
}

#[test]
fn pages_are_cut_and_the_hashes_list_what_validate_looks_up() {
    let bench = Bench::new();
    bench.write("pages.jsonl", page(0, 12) + &page(1, 3));
    let finished = bench.succeed("data segment pages.jsonl -o cut --format tsv");
    let bytes = bench.read("pages.jsonl").len();
    let expected = format!("pages\tpassages\tbytes read\tfolder\n2\t3\t{bytes}\tcut\n");
    assert_eq!(finished.stdout, expected);
    let lines = bench.text("cut/passages.jsonl");
    let ids: Vec<String> = lines
        .lines()
        .map(|line| serde_json::from_str::<serde_json::Value>(line).unwrap())
        .map(|passage| passage["id"].as_str().unwrap().to_owned())
        .collect();
    let id = |page: u32, number: u32| format!("clueweb22-en0000-00-{page:05}:{number}");
    assert_eq!(ids, [id(0, 0), id(0, 1), id(1, 0)]);
    assert_eq!(bench.text("cut/passages.trecweb").matches("<DOC>").count(), 2);
    let built = bench.succeed("data passage-ids cut/hashes.tsv -o passages.ids --format tsv");
    assert!(built.stdout.contains("\n3\t0\t"), "{}", built.stdout);
    let one = bench.succeed("data segment pages.jsonl -o one --threads 1");
    assert!(one.stdout.contains("one"));
    for name in ["passages.jsonl", "passages.trecweb", "hashes.tsv"] {
        assert!(bench.read(&format!("cut/{name}")) == bench.read(&format!("one/{name}")));
    }
}

const CUT_PAGE: fn(&Bench) = |bench| bench.write("pages.jsonl", page(0, 12) + "{\"URL\": \"x\"}\n");
const RUN: fn(&Bench) = |bench| bench.write("run.json", small_run().to_string());

const REFUSALS: &[Refusal] = &[
    refusal(
        "no run",
        NOTHING,
        "validate gone.json --split 2023-test",
        ["gone.json", "a file", "nothing"],
    ),
    refusal("no such split", RUN, "validate run.json --split 2026", ["--split", "2025", "`2026`"]),
    refusal(
        "topics that are not there",
        RUN,
        "validate run.json --split 2024 --data data",
        ["data", "`2024_test_topics.json`", "no topics at all"],
    ),
    refusal(
        "a folder that is not there",
        RUN,
        "validate run.json --split 2024 --data nowhere",
        ["nowhere", "`2024_test_topics.json`", "nothing at that path"],
    ),
    refusal(
        "passage ids that are none",
        |bench| {
            RUN(bench);
            bench.write("ids", "clueweb22-en0004-50-00170:0\n");
        },
        "validate run.json --split 2023-test --passage-ids ids",
        ["ids", "a whole file of passage ids", ""],
    ),
    refusal(
        "passage ids for ClariQ",
        NOTHING,
        "validate good.run --split dev --data data --passage-ids ids",
        ["--passage-ids", "a split of iKAT", "`dev`"],
    ),
    refusal(
        "a run that is no JSON",
        |bench| bench.write("run.json", "{\"run_name\": True}"),
        "convert run.json --to trec -o out/old.run",
        ["run.json:1", "", ""],
    ),
    refusal(
        "a TREC run to convert",
        NOTHING,
        "convert good.run --to trec -o out/old.run",
        ["good.run:1", "", ""],
    ),
    refusal(
        "a conversion onto itself",
        RUN,
        "convert run.json --to trec -o run.json",
        ["run.json", "an output apart from", "one of them"],
    ),
    refusal(
        "a line that is no page",
        CUT_PAGE,
        "data segment pages.jsonl -o cut",
        ["pages.jsonl:2", "ClueWeb22-ID", ""],
    ),
    refusal(
        "no page at all",
        |bench| bench.write("pages.jsonl", "\n"),
        "data segment pages.jsonl -o cut",
        ["pages.jsonl", "web pages", "no line"],
    ),
    refusal(
        "pages that would be replaced",
        |bench| bench.write("cut/passages.jsonl", page(0, 12)),
        "data segment cut/passages.jsonl -o cut",
        ["cut/passages.jsonl", "an output apart from", "one of them"],
    ),
    refusal(
        "a list that names no passage",
        |bench| bench.write("list", "no passage here\n"),
        "data passage-ids list -o out/old.json",
        ["list:1", "a list of passage ids", "no passage here"],
    ),
];

#[test]
fn bad_input_is_refused() {
    check(REFUSALS);
}

/// The sample's folder.
fn sample() -> String {
    root().join("data/sample-ikat").to_str().expect("UTF-8").to_owned()
}

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
    assert_eq!(validated.stderr, "", "no error, no warning, nothing let through");
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
        serde_json::from_slice(&bench.read(&format!("{run}.json"))).unwrap();
    assert_eq!(record["split"], "2023-test");
    assert_eq!(record["answer"]["class"], "automatic");
}

/// A built-in system with another space in place of its encoder, and without expected figures.
fn with_space(name: &str, space: &str) -> String {
    let text = fs::read_to_string(root().join(format!("configs/{name}.toml"))).unwrap();
    let (system, _) = text.split_once("\n[[expected]]").unwrap_or((&text, ""));
    system.replace("models = { \"all-MiniLM-L6-v2\" = 1.0 }", space)
}

/// What a system of a class may not see of the sample, scrambled.
fn scramble(topics: &str, class: &str) -> String {
    let mut topics: serde_json::Value = serde_json::from_str(topics).unwrap();
    for conversation in topics.as_array_mut().unwrap() {
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
    topics.to_string()
}

const SYSTEMS: [(&str, &str); 5] = [
    ("ikat-bm25", "automatic"),
    ("ikat-dense", "automatic"),
    ("ikat-automatic", "automatic"),
    ("ikat-manual", "manual"),
    ("ikat-only-response", "only-response"),
];

#[test]
fn a_system_sees_nothing_that_its_class_may_not() {
    let bench = Bench::new();
    let sample = root().join("data/sample-ikat");
    let passages = fs::read(sample.join("passages.jsonl")).unwrap();
    let topics = fs::read_to_string(sample.join("2023_test_topics.json")).unwrap();
    for (system, class) in SYSTEMS {
        bench.write("mine.toml", with_space(system, "characters = 1.0"));
        for (data, topics) in [("plain", &topics), ("scrambled", &scramble(&topics, class))] {
            bench.write(&format!("{data}/2023_test_topics.json"), topics);
            bench.write(&format!("{data}/passages.jsonl"), &passages);
            bench.succeed(&format!("run mine.toml --split 2023-test --data {data} -o {data}.json"));
        }
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
        bench.succeed("run mine.toml --split 2023-test --data scrambled -o scrambled.json");
        let read = |data: &str| bench.read(&format!("{data}.statements.run"));
        assert!(read("plain") != read("scrambled"), "{system}");
    }
}

#[test]
fn every_system_writes_a_run_that_is_accepted() {
    let bench = Bench::new();
    for (system, class) in SYSTEMS {
        bench.write("mine.toml", with_space(system, "characters = 1.0"));
        let finished =
            bench.succeed("-q run mine.toml --split 2023-test -o mine.json --format tsv");
        assert!(finished.stdout.contains(&format!("\t{class}\t")), "{}", finished.stdout);
        let line = "-q validate mine.json --split 2023-test --format tsv";
        let validated = bench.succeed(line);
        let sound = validated.stdout.ends_with("\taccepted\t46\t0\t0\t0\n");
        assert!(sound, "{system}: {}{}", validated.stdout, validated.stderr);
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
    bench.write("mine.toml", with_space("ikat-automatic", "models = { \"tiny\" = 1.0 }"));
    for threads in ["1", "3"] {
        let output = format!("-o t{threads}.json --threads {threads}");
        bench.succeed(&format!("run mine.toml --split 2023-test {output}"));
    }
    for ending in ["json", "statements.run", "passages.run"] {
        let read = |threads: u32| bench.read(&format!("t{threads}.{ending}"));
        assert!(read(1) == read(3), "{ending}");
    }
    let record: serde_json::Value = serde_json::from_slice(&bench.read("t1.json.json")).unwrap();
    assert!(record["models"]["tiny"].is_string(), "{record}");
}

#[test]
fn a_later_turn_changes_no_earlier_answer() {
    let bench = Bench::new();
    let data = sample();
    bench.succeed(&format!("run ikat-bm25 --split 2023-test --data {data} -o whole.json"));
    let topics = fs::read_to_string(root().join("data/sample-ikat/2023_test_topics.json")).unwrap();
    let mut topics: serde_json::Value = serde_json::from_str(&topics).unwrap();
    for conversation in topics.as_array_mut().unwrap() {
        conversation["turns"].as_array_mut().unwrap().truncate(2);
    }
    bench.write("short/2023_test_topics.json", topics.to_string());
    let passages = fs::read(root().join("data/sample-ikat/passages.jsonl")).unwrap();
    bench.write("short/passages.jsonl", passages);
    bench.succeed("run ikat-bm25 --split 2023-test --data short -o short.json");
    for ending in ["statements.run", "passages.run"] {
        let whole = bench.text(&format!("whole.{ending}"));
        let is_early = |line: &&str| {
            let turn = line.split(' ').next().unwrap();
            turn.ends_with("_1") || turn.ends_with("_2")
        };
        let early: String = whole
            .lines()
            .filter(is_early)
            .map(|line| format!("{line}\n"))
            .collect::<Vec<_>>()
            .concat();
        assert!(early == bench.text(&format!("short.{ending}")), "{ending}");
    }
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
fn every_figure_of_the_sample_is_the_expected_one() {
    let bench = Bench::new();
    let finished = bench.succeed("reproduce ikat-bm25 --format tsv");
    let verdicts: Vec<&str> =
        finished.stdout.lines().skip(1).map(|line| line.rsplit('\t').next().unwrap()).collect();
    assert!(verdicts.len() >= 20, "{}", finished.stdout);
    assert!(verdicts.iter().all(|verdict| *verdict == "OK"), "{}", finished.stdout);
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
            "a system of several tasks on requests",
            NOTHING,
            "rank ikat-bm25 --data data",
            ["configs/ikat-bm25.toml", "a system for one task", "passages"],
        ),
        refusal(
            "a system of several tasks on ClariQ",
            NOTHING,
            "run ikat-bm25 --data data --split dev",
            ["--split", "", "`dev`"],
        ),
        refusal(
            "conversations of ClariQ",
            NOTHING,
            "run ikat-bm25 --conversations c.jsonl",
            ["--conversations", "a run of iKAT over a split", ""],
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
            ["mine.toml:31", "a class of automatic, manual, only-response", "`magic`"],
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
fn runs_of_every_year_are_accepted_without_a_warning() {
    let Some(folder) = released() else { return };
    let bench = Bench::new();
    let data = folder.to_str().expect("UTF-8");
    for (split, turns) in [("2023-train", 95), ("2023-test", 332), ("2024", 218), ("2025", 188)] {
        bench.succeed(&format!("-q run ikat-bm25 --split {split} --data {data}"));
        let run = format!("runs/ikat-bm25.{split}.json");
        let (status, row) = verdict(&bench, &folder, split, &run);
        assert_eq!(status, Some(0));
        assert_eq!(row, ["accepted", &turns.to_string(), "0", "0", "0"], "{split}");
        let converted = bench.succeed(&format!("convert {run} --to trec")).stdout;
        assert_eq!(converted.lines().count(), turns * 100, "{split}");
    }
}

#[test]
fn figures_on_the_released_files_are_the_expected_ones() {
    let Some(folder) = released() else { return };
    let bench = Bench::new();
    let data = folder.to_str().expect("UTF-8");
    let finished = bench.succeed(&format!("reproduce ikat-bm25 --data {data} --format tsv"));
    let rows: Vec<&str> = finished.stdout.lines().skip(1).collect();
    assert_eq!(rows.len(), 14 + 23, "train and test");
    assert!(rows.iter().all(|row| row.ends_with("\tOK")), "{}", finished.stdout);
    assert!(finished.stderr.contains("a substitute"), "{}", finished.stderr);
}
