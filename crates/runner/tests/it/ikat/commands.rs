//! Systems that answer, in the commands that other systems have: `run` with candidates and a
//! stream, `rank`, `explain`, `tune` and `ask`, on the sample of iKAT.

use crate::common::refusals::{NOTHING, case as refusal, check};
use crate::common::{Bench, root};
use serde_json::{Value, json};
use std::fmt::Write as _;
use std::fs;
use std::io::Write as _;
use std::process::Stdio;

fn sample(name: &str) -> Vec<u8> {
    fs::read(root().join("data/sample-ikat").join(name)).expect("a file of the sample")
}

fn topics() -> Value {
    serde_json::from_slice(&sample("2023_test_topics.json")).expect("JSON")
}

fn lines(text: &str) -> Vec<Value> {
    text.lines().map(|line| serde_json::from_str(line).expect("JSON lines")).collect()
}

/// Gives a command its standard input.
pub(super) fn with_input(bench: &Bench, arguments: &[&str], input: &str) -> String {
    let mut command = bench.command(arguments);
    let mut child =
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("it starts");
    child.stdin.take().expect("a pipe").write_all(input.as_bytes()).expect("written");
    let done = child.wait_with_output().expect("it ends");
    assert!(done.status.success(), "{arguments:?}");
    String::from_utf8(done.stdout).expect("UTF-8")
}

#[test]
fn a_run_tag_names_the_run_and_a_stream_gets_the_submission() {
    let bench = Bench::new();
    bench.succeed("run ikat-bm25 --split 2023-test --run-tag mine -o mine.json");
    let run: Value = serde_json::from_slice(&bench.read("mine.json")).unwrap();
    assert_eq!(run["run_name"], "mine");
    assert!(bench.text("mine.passages.run").lines().all(|line| line.ends_with(" mine")));
    let streamed = bench.succeed("run ikat-bm25 --split 2023-test --run-tag mine -o -").stdout;
    assert!(streamed.as_bytes() == bench.read("mine.json"));
    // A stream is scored as the file is, without the complete rankings that lie beside a file.
    bench.write("alone.json", &streamed);
    let scored = bench.succeed("eval alone.json --split 2023-test").stdout;
    assert_eq!(with_input(&bench, &["eval", "-", "--split", "2023-test"], &streamed), scored);
}

#[test]
fn passages_of_another_run_are_reranked_and_answered_from() {
    let bench = Bench::new();
    let passages = String::from_utf8(sample("passages.jsonl")).unwrap();
    let name = |line: &Value| {
        let field = |name: &str| line[name].as_str().unwrap().to_owned();
        format!("{}:{}", field("doc_id"), field("passage_id"))
    };
    let ids: Vec<String> = lines(&passages).iter().map(name).collect();
    // The folder has no passages: their texts come from a file, of which most are not read.
    bench.write("mine/2023_test_topics.json", sample("2023_test_topics.json"));
    bench.write("licensed/part-1.jsonl", &passages);
    let mut run = String::new();
    for conversation in topics().as_array().unwrap() {
        for turn in conversation["turns"].as_array().unwrap() {
            let number = conversation["number"].as_str().unwrap();
            for (rank, id) in ids.iter().step_by(7).enumerate() {
                let turn = &turn["turn_id"];
                let score = 1.0 / (rank + 1) as f64;
                writeln!(run, "{number}_{turn} Q0 {id} {} {score} x", rank + 1).unwrap();
            }
        }
    }
    bench.write("elsewhere.run", &run);
    let line = "-q run ikat-bm25 --split 2023-test --data mine --candidates elsewhere.run \
                --passages licensed -o out.json";
    let line = line.split_whitespace().collect::<Vec<_>>().join(" ");
    bench.succeed(&line);
    let candidates: Vec<&String> = ids.iter().step_by(7).collect();
    let ranked = bench.text("out.passages.run");
    let mut of_first: Vec<&str> = ranked
        .lines()
        .filter(|line| line.starts_with("1-1_1 "))
        .map(|line| line.split(' ').nth(2).unwrap())
        .collect();
    assert!(of_first != candidates, "they are reranked");
    of_first.sort_unstable();
    let mut sorted = candidates.clone();
    sorted.sort_unstable();
    assert_eq!(of_first, sorted, "all of them, and no others");
    let submission: Value = serde_json::from_slice(&bench.read("out.json")).unwrap();
    let response = &submission["turns"][0]["responses"][0];
    assert!(!response["text"].as_str().unwrap().is_empty());
    let record: Value = serde_json::from_slice(&bench.read("out.record.json")).unwrap();
    assert_eq!(record["candidates"]["file"], "elsewhere.run");
    assert_eq!(record["passages"]["count"], candidates.len());
    // A system of one task ranks among them as well.
    bench.succeed(&line.replace("ikat-bm25", "bm25-english").replace("out.json", "one.run"));
    let one = bench.text("one.run");
    assert!(one.lines().all(|line| candidates.iter().any(|id| line.contains(id.as_str()))));
}

#[test]
fn requests_are_answered_as_they_come() {
    let bench = Bench::new();
    bench.succeed("-q run ikat-bm25 --split 2023-test -o run.json");
    let first = &topics()[0];
    let statements: Vec<&Value> = first["ptkb"].as_object().unwrap().values().collect();
    let utterance = &first["turns"][0]["utterance"];
    let request = json!({ "id": "1-1_1", "text": utterance, "statements": statements });
    bench.write("r.jsonl", format!("{request}\n"));
    let line = "rank ikat-bm25 --requests r.jsonl --depth 5";
    let ranked = &lines(&bench.succeed(line).stdout)[0];
    let ids: Vec<&str> = ranked["passages"]
        .as_array()
        .unwrap()
        .iter()
        .map(|hit| hit["id"].as_str().unwrap())
        .collect();
    let run = bench.text("run.passages.run");
    let of_run: Vec<&str> = run
        .lines()
        .filter(|line| line.starts_with("1-1_1 "))
        .map(|line| line.split(' ').nth(2).unwrap())
        .take(5)
        .collect();
    assert_eq!(ids, of_run, "as `run` ranks them");
    assert_eq!(ranked["statements"].as_array().unwrap().len(), 5);
    let best = &ranked["statements"][0];
    assert_eq!(&best["text"], &first["ptkb"][best["id"].as_str().unwrap()], "ids are numbers");
    assert_eq!(ranked["response"]["statements"], json!([best["id"]]));
    let used = ranked["response"]["passages"].as_array().unwrap();
    assert!(!used.is_empty() && used.iter().all(|id| ids[..3].contains(&id.as_str().unwrap())));
    assert!(!ranked["response"]["text"].as_str().unwrap().is_empty());
    // Without statements, and as a TREC run of the passages.
    let bare = json!({ "id": 1, "said": [{ "user": utterance }] });
    bench.write("r.jsonl", format!("{bare}\n{{\"id\": 2}}\n"));
    let line = "rank ikat-bm25 --requests r.jsonl --skip-bad";
    let both = lines(&bench.succeed(line).stdout);
    assert_eq!(both[0]["response"]["statements"], json!([]));
    assert!(both[1]["error"].is_object() || both[1]["error"].is_string(), "{}", both[1]);
    let trec = bench.succeed(&format!("{line} --format trec --depth 2")).stdout;
    assert_eq!(trec.lines().count(), 2, "{trec}");
    // The same, whether requests come one by one or together.
    let mut second = request.clone();
    second["id"] = json!("1-1_2");
    bench.write("r.jsonl", format!("{request}\n{second}\n"));
    let line = "rank ikat-bm25 --requests r.jsonl --format trec";
    let together = bench.succeed(&format!("{line} --batch")).stdout;
    assert_eq!(bench.succeed(line).stdout, together);
}

#[test]
fn statements_and_passages_of_a_turn_are_explained() {
    let bench = Bench::new();
    bench.succeed("-q run ikat-bm25 --split 2023-test -o run.json");
    let best = |task: &str| {
        let run = bench.text(&format!("run.{task}.run"));
        let line = run.lines().find(|line| line.starts_with("1-1_2 ")).unwrap().to_owned();
        let fields: Vec<&str> = line.split(' ').collect();
        (fields[2].to_owned(), fields[4].parse::<f64>().unwrap())
    };
    for task in ["passages", "statements"] {
        let (id, score) = best(task);
        let line = format!("-q explain --system ikat-bm25 --split 2023-test --topic 1-1_2 {id}");
        let told = bench.succeed(&line).stdout;
        assert!(told.contains(&format!("\n{task}, bm25: rank 1 of ")), "{told}");
        assert!(told.contains("sum over the conversation"), "{told}");
        let object = bench.succeed(&format!("{line} --format json")).stdout;
        let object: Value = serde_json::from_str(&object).unwrap();
        let shown = object["tasks"][task][0]["score"].as_f64().unwrap();
        assert!((shown - score).abs() < 1e-9, "{task}: {shown} {score}");
    }
}

#[test]
fn tuning_prints_its_trials_and_what_each_fold_chooses() {
    let bench = Bench::new();
    let line = "tune ikat-bm25 --split 2023-test --folds 3 --format json --measure nDCG@3";
    let tuned = bench.succeed(&format!("{line} --grid passages.bm25.k1=0.5,0.9"));
    let rows: Value = serde_json::from_str(&tuned.stdout).unwrap();
    assert_eq!((rows.as_array().unwrap().len(), &rows[2]["parameters"]), (4, &"held out".into()));
    assert_eq!(tuned.stderr.matches("best on the other folds: ").count(), 3, "{}", tuned.stderr);
}

#[test]
fn a_conversation_is_answered_turn_by_turn() {
    let bench = Bench::new();
    let first = &topics()[0];
    let statements: Vec<&str> =
        first["ptkb"].as_object().unwrap().values().map(|text| text.as_str().unwrap()).collect();
    bench.write("me.txt", statements.join("\n"));
    let turns = first["turns"].as_array().unwrap();
    let one = turns[0]["utterance"].as_str().unwrap();
    let two = turns[1]["utterance"].as_str().unwrap();
    let begin = json!({ "request": one, "statements": statements, "id": "a" });
    let input = format!("{begin}\n{}\n", json!({ "answer": two }));
    let line = ["ask", "--system", "ikat-bm25", "--json", "--explain"];
    let answers = lines(&with_input(&bench, &line, &input));
    assert_eq!(answers.len(), 2);
    assert_eq!((&answers[0]["action"], &answers[0]["id"]), (&json!("answer"), &json!("a")));
    assert_eq!((&answers[0]["turn"], &answers[1]["turn"]), (&json!(1), &json!(2)));
    let response = |turn: usize| answers[turn]["response"]["text"].as_str().unwrap();
    assert!(!response(0).is_empty() && response(0) != response(1));
    assert_eq!(answers[0]["passages"].as_array().unwrap().len(), 5);
    // The second turn sees the first, as `rank` does.
    let said = json!([{ "user": one }, { "system": response(0) }, { "user": two }]);
    let request = json!({ "id": 1, "said": said, "statements": statements });
    let ranked = lines(&with_input(&bench, &["rank", "ikat-bm25"], &format!("{request}\n")));
    assert_eq!(ranked[0]["response"], answers[1]["response"]);
    // The same conversation as text.
    let mut command =
        bench.command(&["ask", "--system", "ikat-bm25", "--statements", "me.txt", one]);
    let mut child =
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("it starts");
    child.stdin.take().unwrap().write_all(format!("{two}\n").as_bytes()).unwrap();
    let talk = String::from_utf8(child.wait_with_output().unwrap().stdout).unwrap();
    assert_eq!(talk, format!("{}\n{}\n", response(0), response(1)));
}

#[test]
fn a_response_is_printed_with_its_alternatives_and_the_reason_to_ask() {
    let bench = Bench::new();
    let request = "Can I eat peanuts on the plane to Oslo?";
    bench.write("r.jsonl", json!({ "id": 1, "text": request }).to_string());
    let rank =
        |line: &str| lines(&bench.succeed(&format!("-q rank {line} --requests r.jsonl")).stdout);
    let two = "ikat-bm25 --set answer.responses=2 --set answer.response.tokens=80";
    let ranked = &rank(two)[0];
    assert_eq!(ranked["response"]["others"].as_array().map(Vec::len), Some(1), "{ranked}");
    let text = fs::read_to_string(root().join("configs/ikat-bm25.toml")).expect("a system");
    bench.write("mine.toml", text.replace("[answer]", "[ask]\nscore_below = 1000\n[answer]"));
    let ranked = &rank("mine.toml")[0];
    let why = ranked["response"]["asks"].as_str().unwrap_or_default();
    assert!(why.ends_with("and the system asks below 1000"), "{ranked}");
    assert_eq!(ranked["response"]["passages"], json!([]));
    let asked = with_input(&bench, &["ask", request, "--system", "mine.toml", "--json"], "");
    let asked = &lines(&asked)[0];
    assert_eq!(
        (&asked["action"], &asked["question"]),
        (&json!("ask"), &ranked["response"]["text"])
    );
    assert_eq!(asked["reason"], why);
}

#[test]
fn options_that_do_not_fit_are_refused() {
    check(&[
        refusal(
            "statements for a system that ranks none",
            |bench| {
                bench.write("r.jsonl", "{\"id\": 1, \"text\": \"a\", \"statements\": [\"b\"]}\n");
            },
            "rank bm25 --data data --requests r.jsonl",
            ["r.jsonl:1", "ranks no statements", "`statements`"],
        ),
        refusal(
            "a turn that is not there",
            NOTHING,
            "explain --system ikat-bm25 --split 2023-test --topic 77-1_1 3",
            ["--topic", "a request of 2023-test", "`77-1_1`"],
        ),
        refusal(
            "a document that is not there",
            NOTHING,
            "explain --system ikat-bm25 --split 2023-test --topic 1-1_1 77",
            ["DOCUMENT_ID", "the id of a document", "`77`"],
        ),
        refusal(
            "a document without a request",
            NOTHING,
            "explain Q00159 --data data",
            ["REQUEST", "a request and the id of a document", "1 argument"],
        ),
        refusal(
            "a task that the system does not rank for",
            NOTHING,
            "tune ikat-bm25 --split 2023-test --task answers --grid passages.bm25.b=0.4,0.5",
            ["--task", "statements, passages", "`answers`"],
        ),
        refusal(
            "a stage that the task does not have",
            NOTHING,
            "tune ikat-bm25 --split 2023-test --grid passages.dense.depth=4,5",
            ["command line, passages.dense.depth=4", "a stage", "without it"],
        ),
        refusal(
            "more folds than conversations",
            NOTHING,
            "tune ikat-bm25 --split 2023-test --folds 7 --grid passages.bm25.b=0.4,0.5",
            ["--folds", "from 2 to 6 folds", "7"],
        ),
        refusal(
            "candidates whose text nobody knows",
            |bench| bench.write("x.run", "1-1_1 Q0 clueweb22-en0000-00-00000:77 1 1 x\n"),
            "run ikat-bm25 --split 2023-test --candidates x.run -o out/old.json",
            ["x.run:1", "documents whose texts are known", "00000:77"],
        ),
        refusal(
            "passages for ClariQ",
            |bench| bench.write("p.jsonl", "{\"id\": \"a:0\", \"contents\": \"x\"}\n"),
            "run bm25 --data data --passages p.jsonl -o out/old.run",
            ["data", "a collection whose passages may come from a file", "ClariQ"],
        ),
        refusal(
            "statements for a system that asks",
            |bench| bench.write("me.txt", "I am tall.\n"),
            "ask hello --system bm25-conversation --data data --statements me.txt",
            ["--statements", "a system that ranks statements", "one that ranks none"],
        ),
    ]);
}
