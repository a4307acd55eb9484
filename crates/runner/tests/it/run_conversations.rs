//! Multi-turn runs: the published baseline to the letter, and bad conversations.

use crate::common::{Bench, eval_table, root};
use clariq_collections::DataDir;
use clariq_collections::documents::Bank;
use clariq_files::Source;
use std::collections::HashMap;
use std::path::Path;

/// The question and score of every context of a run.
fn answers(bench: &Bench, run: &str, bank: &Bank) -> HashMap<i64, (String, f64)> {
    let run =
        clariq_track_clariq::read_text_run(&Source::new(bench.path(run)), bank).expect("a run");
    let lines = run.lines.iter();
    lines
        .map(|line| {
            (
                line.topic.as_str().parse().expect("a number"),
                (line.document.to_string(), line.score),
            )
        })
        .collect()
}

/// Compares answers with those of a naive version of the recipe in Python; see
/// `scripts/make-multi-turn-golden`.
fn assert_golden_answers(bench: &Bench, golden: &str, data: &DataDir) {
    bench.succeed("-q data synthesize --data data --split dev -o synthesized.jsonl");
    bench.succeed(
        "-q run bm25-multi-turn --data data --conversations synthesized.jsonl -o synthesized.run",
    );
    bench.succeed(
        "-q run bm25-multi-turn --data data --conversations data/multi_turn_human_generated_data.tsv -o human.run",
    );
    let bank = clariq_track_clariq::read_question_bank(
        &data.require("question_bank.tsv").expect("a bank"),
    )
    .expect("a bank");
    let mut ours = HashMap::new();
    for name in ["human", "synthesized"] {
        ours.insert(name, answers(bench, &format!("{name}.run"), &bank));
    }
    let golden = root().join("crates/runner/tests/data/multi_turn").join(golden);
    let mut seen = HashMap::new();
    let mut wrong = Vec::new();
    for line in std::fs::read_to_string(golden).expect("golden answers").lines() {
        let fields: Vec<&str> = line.split('\t').collect();
        let [file, context, question, remaining] = fields[..] else { panic!("{line}") };
        *seen.entry(file.to_owned()).or_insert(0) += 1;
        let found = ours[file].get(&context.parse().expect("a number"));
        let expected = (question.to_owned(), remaining.parse().expect("a number"));
        if found != Some(&expected) && question != "-" {
            wrong.push(format!("{line}: {found:?}"));
        }
    }
    assert_eq!(wrong, Vec::<String>::new());
    assert_eq!(seen["human"], ours["human"].len(), "all contexts of the human-generated file");
    assert!(seen["synthesized"] >= 1000, "{seen:?}");
}

#[test]
fn the_baseline_is_the_published_recipe() {
    assert_golden_answers(&Bench::with_sample(), "sample.tsv", &clariq_track_clariq::SAMPLE);
}

#[test]
fn the_baseline_is_the_published_recipe_on_the_released_files() {
    let data = root().join("../shared/clariq/data");
    if !data.join("multi_turn_human_generated_data.tsv").exists() {
        println!("skipped: the released files are not in {}", data.display());
        return;
    }
    let bench = Bench::new();
    std::os::unix::fs::symlink(data.canonicalize().expect("a folder"), bench.path("data"))
        .expect("linked");
    assert_golden_answers(&bench, "clariq.tsv", &DataDir::Folder(data));
}

/// Writes the records of `c.jsonl` as pickles: `p0.pkl` to `p5.pkl`, by protocol. Records of one
/// context share its turns.
const PICKLE: &str = "
import json, pickle
records, contexts = {}, {}
for line in open('c.jsonl'):
    record = json.loads(line)
    turns = record['conversation_context']
    record['conversation_context'] = contexts.setdefault(record['context_id'], turns)
    records[record.pop('record_id')] = record
for protocol in range(6):
    pickle.dump(records, open(f'p{protocol}.pkl', 'wb'), protocol)
";

fn write_pickles(bench: &Bench) {
    let mut python = std::process::Command::new("python3");
    let done = python.args(["-c", PICKLE]).current_dir(bench.path("")).output().expect("python3");
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
}

#[test]
fn all_forms_of_one_file_give_one_run() {
    let bench = Bench::with_sample();
    bench.succeed("-q data synthesize --data data --turns 1 -o c.jsonl -o c.jsonl.gz");
    write_pickles(&bench);
    let tar = bench.shell(&["sh"], "gzip -k p3.pkl && tar -czf c.pkl.tar.gz p4.pkl");
    assert_eq!(tar.status, Some(0), "{}", tar.stderr);
    let mut runs = Vec::new();
    for file in [
        "c.jsonl",
        "c.jsonl.gz",
        "p0.pkl",
        "p1.pkl",
        "p2.pkl",
        "p3.pkl.gz",
        "p4.pkl",
        "p5.pkl",
        "c.pkl.tar.gz",
    ] {
        bench.succeed(&format!(
            "-q run bm25-multi-turn --data data --conversations {file} -o a.run"
        ));
        runs.push(bench.read("a.run"));
    }
    let piped = bench
        .shell(&["sh"], "$0 -q run bm25-multi-turn --data data --conversations - -o - < c.jsonl");
    runs.push(piped.stdout.into_bytes());
    assert!(runs.iter().all(|run| *run == runs[0]) && runs[0].len() > 1000);
    let record: serde_json::Value =
        serde_json::from_slice(&bench.read("a.run.json")).expect("a record");
    assert_eq!(record["conversations"]["file"], "c.pkl.tar.gz");
    let without = bench
        .shell(&["sh"], "PATH= $0 run bm25-multi-turn --data data --conversations p4.pkl -o b.run");
    assert_eq!(without.status, Some(2), "{}", without.stderr);
    assert!(
        without.stderr.contains("error: python3\n  expected: Python 3.9"),
        "{}",
        without.stderr
    );
    assert!(!Path::new(&bench.path("b.run")).exists());
}

const GOOD: &str =
    r#"{"initial_request": "Tell me about Saturn.", "conversation_context": [], "context_id": 7}"#;

/// A refused file: where, what was expected, what was found.
fn refused(bench: &Bench, file: &str, says: [&str; 3]) {
    let before = bench.snapshot();
    let line = format!("run bm25-multi-turn --data data --conversations {file} -o out/old.run");
    let finished = bench.run(&line.split(' ').collect::<Vec<_>>());
    let stderr = &finished.stderr;
    assert_eq!((finished.status, finished.stdout.as_str()), (Some(2), ""), "{file}: {stderr}");
    let [place, expected, found] = says;
    assert!(stderr.contains(&format!("error: {place}")), "{file}: {stderr}");
    for (label, text) in [("  expected: ", expected), ("     found: ", found), ("hint: ", "")] {
        let told = stderr.lines().find_map(|line| line.strip_prefix(label)).unwrap_or_default();
        assert!(!told.is_empty() && told.contains(text), "{file}: no `{label}{text}` in\n{stderr}");
    }
    assert!(bench.snapshot() == before, "{file}: a file was left or changed");
}

fn lines(bad: &str) -> String {
    format!("{GOOD}\n{bad}\n{GOOD}\n")
}

#[test]
fn bad_conversations_are_refused_or_counted() {
    let bench = Bench::with_sample();
    bench.write("out/old.run", "old");
    let turn = r#"{"question": "which saturn do you mean the planet the car or the console", "answer": "the car"}"#;
    let with = |turns: &str| GOOD.replace("[]", &format!("[{turns}]"));
    let cases = [
        (
            "no-context",
            lines(&GOOD.replace(r#""conversation_context": [], "#, "")),
            "`conversation_context`",
            "without",
        ),
        ("turns", lines(&with(&vec![turn; 50].join(","))), "at most 20 turns", "50"),
        (
            "stranger",
            lines(&with(&turn.replace("which saturn", "what saturn"))),
            "of the bank in turn 1",
            "what saturn",
        ),
        (
            "silence",
            lines(&with(&turn.replace("the car\"", "\""))),
            "an answer in turn 1",
            "an empty answer",
        ),
        (
            "clash",
            lines(&GOOD.replace("Saturn", "Jupiter")),
            "one conversation with the `context_id` 7",
            "another one than in an earlier record",
        ),
        (
            "key",
            lines(&GOOD.replace("context_id", "contextid")),
            "one of `record_id`",
            "unknown field `contextid`",
        ),
    ];
    for (name, text, expected, found) in cases {
        bench.write(name, text);
        refused(&bench, name, [&format!("{name}:2"), expected, found]);
        let line = format!(
            "run bm25-multi-turn --data data --conversations {name} --skip-bad -o - --no-progress"
        );
        let told = bench.succeed(&line);
        assert_eq!(told.stdout.lines().count(), 1, "one context, twice in the file");
        assert!(told.stderr.contains(&format!(
            "warning: {name}: 1 bad records are left out; the first: {name}:2"
        )));
    }
    bench.write("latin", [GOOD.as_bytes(), b"\n{\"initial_request\": \"caf\xe9\"}\n"].concat());
    refused(&bench, "latin", ["latin:2", "UTF-8", "caf"]);
    bench.write("key.pkl", b"(dI2287\n(dVnote\nVx\nss.");
    refused(
        &bench,
        "key.pkl",
        ["key.pkl: record 2287", "one of `record_id`", "unknown field `note`"],
    );
    bench.write("evil.pkl", b"cos\nsystem\n(Vls\ntR.");
    refused(&bench, "evil.pkl", ["evil.pkl", "text, numbers and dictionaries only", "os.system"]);
    bench.write("empty.jsonl", "");
    refused(&bench, "empty.jsonl", ["empty.jsonl", "conversations", "nothing"]);
    refused(&bench, "nowhere.pkl", ["nowhere.pkl", "a file", "nothing at that path"]);
    refused(&bench, "data/dev.qrel", ["data/dev.qrel", "conversations", ""]);
}

#[test]
fn truncated_archives_are_refused() {
    let bench = Bench::with_sample();
    bench.write("out/old.run", "old");
    bench.succeed("-q data synthesize --data data -o c.jsonl");
    write_pickles(&bench);
    let script = "tar -czf whole.tar.gz p4.pkl && gzip -c p4.pkl > whole.gz && head -c 9000 whole.tar.gz > cut.pkl.tar.gz \
                  && head -c 9000 whole.gz > cut.pkl.gz && head -c 9000 p4.pkl > cut.pkl";
    assert_eq!(bench.shell(&["sh"], script).status, Some(0));
    refused(&bench, "cut.pkl.tar.gz", ["cut.pkl.tar.gz", "a whole archive", ""]);
    refused(&bench, "cut.pkl.gz", ["cut.pkl.gz", "a whole archive", ""]);
    refused(&bench, "cut.pkl", ["cut.pkl", "conversations", "truncated"]);
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
        ("--task document_relevance", "no --task with --conversations"),
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
    ] {
        let finished = bench.run(&line.split(' ').collect::<Vec<_>>());
        assert_eq!(finished.status, Some(2), "{line}");
        assert!(finished.stderr.contains(says), "{}", finished.stderr);
    }
}
