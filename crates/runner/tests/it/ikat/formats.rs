//! `validate`, `convert` and `data segment`.

use super::{released, verdict};
use crate::common::Bench;
use crate::common::refusals::{Case as Refusal, NOTHING, case as refusal, check};
use crate::validator_cases::cases;
use clariq_files::Source;
use serde_json::{Value, json};
use std::collections::HashSet;
use std::fs;

/// One case of each outcome; `clariq-collections` tests all of them.
#[test]
fn the_command_gives_recorded_verdicts() {
    let Some(folder) = released() else { return };
    let bench = Bench::new();
    let mut seen = HashSet::new();
    for (year, split, count) in [(2023, "2023-test", 20), (2024, "2024", 70), (2025, "2025", 30)] {
        let cases = cases(&folder.join("sample_runs"), year);
        assert_eq!(cases.len(), count);
        for case in cases {
            let warns = case.warnings.map(|count| count > 0);
            if !seen.insert((year, case.has_no_turn, warns)) {
                continue;
            }
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
    assert!(seen.len() >= 8, "{seen:?}");
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
fn problems_that_the_official_validator_misses_are_listed_separately() {
    let bench = Bench::new();
    bench.write("run.json", serde_json::to_vec_pretty(&small_run()).unwrap());
    let finished = bench.run(&["validate", "run.json", "--split", "2023-test"]);
    assert_eq!(finished.status, Some(1), "the sample has more turns");
    let official = finished.stderr.find("error: run.json\n").expect("official");
    let beyond = finished.stderr.find("not checked officially: run.json\n").expect("listed");
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
fn clariq_files_are_checked_too() {
    let bench = Bench::with_sample();
    bench.succeed("run bm25-tuned --data data -o good.run");
    for file in ["good.run", "good.need"] {
        let finished = bench.succeed(&format!("validate {file} --split dev --data data"));
        assert_eq!(finished.stderr, "", "{file}");
        assert!(finished.stdout.contains("accepted        15"), "{}", finished.stdout);
    }
    let pair = bench.succeed("validate good.run good.need --split dev --data data --format tsv");
    assert_eq!(pair.stdout.matches("\taccepted\t15\t").count(), 2, "{}", pair.stdout);
    bench.write("multi.run", "968 0 \"\" 0 5 t\n969 0 \"\" 0 5 t\n");
    let multi = bench.succeed("validate multi.run --split dev --data data --format tsv");
    assert!(multi.stdout.contains("\taccepted\t2\t0\t0\t0"), "{}", multi.stdout);
    bench.edit("good.run", |text| text.split_inclusive('\n').flat_map(|line| [line; 2]).collect());
    let finished = bench.succeed("validate good.run --split dev --data data");
    let facts =
        finished.stderr.lines().filter(|line| *line == "not checked officially: good.run:2");
    assert_eq!(facts.count(), 2, "equal scores and equal questions: {}", finished.stderr);
    bench.write("bad.need", "13 high\n");
    let finished = bench.run(&["validate", "bad.need", "--split", "dev", "--data", "data"]);
    assert_eq!(finished.status, Some(1));
    assert!(finished.stderr.contains("error: bad.need:1"), "{}", finished.stderr);
}

#[test]
fn contexts_without_a_prediction_are_counted() {
    let bench = Bench::with_sample();
    bench.succeed("-q data synthesize --data data --split dev --turns 1 -o c.jsonl");
    bench.succeed("-q run bm25-multi-turn --data data --conversations c.jsonl -o multi.run");
    let contexts = bench.text("multi.run").lines().count();
    let line = "validate multi.run --split dev --data data --format tsv";
    let unchecked = bench.succeed(line);
    let note =
        format!("multi.run: {contexts} contexts are answered; whether any is missing was not");
    assert!(unchecked.stderr.contains(&note), "{}", unchecked.stderr);
    let checked = bench.succeed(&format!("{line} --conversations c.jsonl"));
    assert!(
        checked.stdout.contains(&format!("\taccepted\t{contexts}\t0\t0\t0")),
        "{}",
        checked.stdout
    );
    assert_eq!(checked.stderr, "");
    bench.edit("multi.run", |run| {
        let kept: String = run.split_inclusive('\n').skip(3).collect();
        format!("{kept}999999999 0 \"\" 0 5 t\n")
    });
    let checked = bench.succeed(&format!("{line} --conversations c.jsonl"));
    let answered = contexts - 2;
    assert!(
        checked.stdout.contains(&format!("\taccepted\t{answered}\t0\t0\t4")),
        "{}",
        checked.stdout
    );
    for text in ["a prediction for every context", "context 999999999"] {
        assert!(checked.stderr.contains(text), "{}", checked.stderr);
    }
    bench.succeed("-q run bm25 --data data -o single.run");
    let words = [
        "validate",
        "single.run",
        "--split",
        "dev",
        "--data",
        "data",
        "--conversations",
        "c.jsonl",
    ];
    assert_eq!(bench.run(&words).status, Some(2));
}

#[test]
fn passages_that_a_collection_lacks_are_named() {
    let bench = Bench::new();
    bench.succeed("-q run ikat-bm25 --split 2023-test -o run.json");
    let run: Value = serde_json::from_slice(&bench.read("run.json")).expect("JSON");
    let mut ids = std::collections::BTreeSet::new();
    for turn in run["turns"].as_array().expect("turns") {
        for passage in turn["responses"][0]["passage_provenance"].as_array().expect("passages") {
            ids.insert(passage["id"].as_str().expect("an id").to_owned());
        }
    }
    let lists = |ids: &[&String]| {
        let mut alone: Vec<String> = Vec::new();
        let mut with_sums = Vec::new();
        for id in ids {
            let (page, number) = id.rsplit_once(':').expect("a number");
            alone.push((*id).clone());
            with_sums.push(format!("{page}\t{number}\t0123456789abcdef"));
        }
        [alone, with_sums].map(|lines| lines.join("\n"))
    };
    let all: Vec<&String> = ids.iter().collect();
    for (kept, named) in [(&all[..], None), (&all[1..], Some(all[0]))] {
        for list in lists(kept) {
            bench.write("ids.txt", list);
            let done = bench.succeed("validate run.json --split 2023-test --passages ids.txt");
            assert_eq!(done.stderr.contains("a passage of the collection"), named.is_some());
            assert!(named.is_none_or(|id| done.stderr.contains(&format!("`{id}` in turn"))));
        }
    }
    bench.write("ids.txt", "no id at all\n");
    let words = "validate run.json --split 2023-test --passages ids.txt";
    let refused = bench.run(&words.split(' ').collect::<Vec<_>>());
    assert!(refused.stderr.contains("error: ids.txt:1"), "{}", refused.stderr);
}

#[test]
fn topics_of_2024_that_are_named_by_texts_are_refused_as_the_official_program_does() {
    use clariq_track_ikat::TopicFile;
    use clariq_track_ikat::validate::{MAX_WARNINGS, OfficialVerdict, ValidationOptions, validate};
    let topics = json!([{"number": "0-a", "title": "t", "ptkb": {"1": "I run."}, "turns": [{
        "turn_id": 1, "utterance": "u", "resolved_utterance": "u", "response": "r",
        "sample_passage_ranking": ["clueweb22-en0000-00-00000:0"]}]}]);
    let topics = Source::memory("2024_test_topics.json", topics.to_string().into_bytes());
    let Ok(topics) = TopicFile::read(&topics) else { panic!("the topics") };
    let run = json!({"run_name": "r", "run_type": "automatic", "eval_response": true, "turns": [
        {"turn_id": "0-a_1", "responses": []}]});
    let run = Source::memory("run.json", run.to_string().into_bytes());
    let tokens = |text: &str| text.len();
    let found =
        validate(&run, &topics, &ValidationOptions::new(&tokens, MAX_WARNINGS)).expect("a verdict");
    assert_eq!(found.verdict, OfficialVerdict::Error);
    let hints: Vec<&str> = found.official.iter().map(|it| it.first.hint.as_str()).collect();
    assert!(
        hints.iter().any(|hint| hint.contains("of 2024 reads conversations as integers")),
        "{hints:?}"
    );
}

fn page(number: usize, sentences: usize) -> String {
    let text: Vec<String> = (0..sentences).map(|n| format!("Sentence {n} ends.")).collect();
    json!({"ClueWeb22-ID": format!("clueweb22-en0000-00-{number:05}"),
        "URL": "https://example.org/\n", "Clean-Text": format!("A title\n{}", text.join(" "))})
    .to_string()
        + "\n"
}

#[test]
fn pages_are_cut_with_any_number_of_threads() {
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
    assert_eq!(bench.text("cut/hashes.tsv").lines().count(), 3);
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
        ["--split", "train, dev, test", "`2024`"],
    ),
    refusal(
        "a folder that is not there",
        RUN,
        "validate run.json --split 2024 --data nowhere",
        ["nowhere", "`2024_test_topics.json`", "nothing at that path"],
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
];

#[test]
fn bad_input_is_refused() {
    check(REFUSALS);
}
