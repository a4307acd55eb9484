//! Built-in systems with a language model, against a server on this machine: runs, their replay, and
//! questions in a conversation.

use crate::common::{Folder, Work};
use crate::stub::{Stub, chat, shared};
use clariq_core::Request;
use clariq_experiment::ask::{Asker, Move};
use clariq_experiment::{Contexts, RankedPart};
use serde_json::{Value, json};
use std::collections::HashMap;
use std::fs;

/// Runs a built-in system on a split and replays it without the server; returns the notes, and the
/// run.
fn run_and_replay(work: &Work, system: &str, models: &[(&str, &str)]) -> (String, Vec<u8>) {
    let stub = Stub::start(chat);
    let servers: Vec<String> = models
        .iter()
        .map(|(model, path)| format!("models.{model}.url={}{path}", stub.url))
        .collect();
    let servers: Vec<&str> = servers.iter().map(String::as_str).collect();
    let folder = work.folder;
    let mut work = work.with(&servers);
    let (_, notes) = work.run(system, "one.run").expect("a run");
    let calls = stub.received().len();
    assert!(calls > 0);
    fs::remove_dir_all(folder.path("cache/completions")).expect("removed");
    work.replay = Some(folder.path("one.run.completions.jsonl.zst"));
    work.run(system, "two.run").expect("a replay");
    assert_eq!(stub.received().len(), calls, "no server is asked");
    let run = folder.read("one.run");
    assert!(folder.read("two.run") == run, "the same bytes");
    (notes, run)
}

const ORGANISERS: &[(&str, &str)] = &[("chat", "/v1"), ("reranker", "")];

#[test]
fn the_organisers_construction_answers_from_cited_passages() {
    let folder = Folder::new();
    let work = Work::on_ikat(&folder, "2023-test");
    let (notes, run) = run_and_replay(&work, "ikat-organisers-2025", ORGANISERS);
    let run: Value = serde_json::from_slice(&run).expect("JSON");
    let turns = run["turns"].as_array().expect("turns");
    assert!(turns.len() > 10);
    for turn in turns {
        let response = &turn["responses"][0];
        let passages = response["passage_provenance"].as_array().expect("passages");
        let text = if passages.is_empty() { "" } else { "It is so. It is not." };
        assert_eq!(response["text"], text);
        // The two that are cited are the best; BM25 may find fewer.
        for (index, passage) in passages.iter().enumerate() {
            assert_eq!(passage["used"] == json!(true), index < 2, "{response}");
        }
    }
    assert!(notes.contains(" citations are of passages that were not given"), "{notes}");
}

#[test]
fn a_turn_without_passages_has_an_empty_response_and_is_not_sent() {
    let folder = Folder::new();
    folder.write_ikat("data", |topics| {
        topics.truncate(1);
        topics[0]["turns"].as_array_mut().expect("turns").truncate(2);
        topics[0]["turns"][1]["utterance"] = "xyzzy".into();
    });
    let stub = Stub::start(chat);
    let servers =
        [format!("models.chat.url={}/v1", stub.url), format!("models.reranker.url={}", stub.url)];
    let work = Work::on(&folder, "data", "2023-test").with(&[&servers[0], &servers[1]]);
    work.run("ikat-organisers-2025", "one.json").expect("a run");
    let run = folder.json("one.json");
    let response = |turn: usize| run["turns"][turn]["responses"][0]["text"].as_str();
    assert_eq!((response(0), response(1)), (Some("It is so. It is not."), Some("")));
    let asked = stub.received().into_iter().filter(|one| one.path == "/v1/chat/completions");
    let answers = asked.filter(|one| one.body.to_string().contains("Name the passages")).count();
    assert_eq!(answers, 1);
}

#[test]
fn several_queries_are_fused_and_reordered() {
    let folder = Folder::new();
    let work = Work::on_ikat(&folder, "2023-test");
    let (notes, _) = run_and_replay(&work, "ikat-chat", &[("chat", "/v1")]);
    let written = "note: rewrite: the model wrote ";
    let noted = notes.lines().filter(|line| line.starts_with(written));
    assert_eq!(noted.count(), 1, "three of five for each turn, noted once: {notes}");
    assert!(notes.contains("note: chat_rerank: "), "repaired: {notes}");
}

#[test]
fn a_reranker_behind_a_server_reorders_the_first_stage() {
    let folder = Folder::with_sample();
    let work = Work::on(&folder, "data", "dev");
    let (_, run) = run_and_replay(&work, "rerank-endpoint", &[("reranker", "/v1")]);
    let run = String::from_utf8(run).expect("text");
    let bank = folder.text("data/question_bank.tsv");
    let questions: HashMap<&str, &str> =
        bank.lines().filter_map(|line| line.split_once('\t')).collect();
    let topics = folder.text("data/dev.tsv");
    let mut requests = HashMap::new();
    for line in topics.lines() {
        let fields: Vec<&str> = line.split('\t').collect();
        requests.insert(fields[0], fields[1]);
    }
    let lines: Vec<Vec<&str>> = run.lines().map(|line| line.split(' ').collect()).collect();
    assert_eq!(lines.len(), 15 * 30);
    for pair in lines.windows(2).filter(|pair| pair[0][0] == pair[1][0]) {
        let words = |line: &[&str]| shared(requests[line[0]], questions[line[2]]);
        assert!(words(&pair[0]) >= words(&pair[1]), "{pair:?}");
    }
}

/// A system over the sample with a chat model behind a server, and a table.
fn with_chat(stub: &Stub, name: &str, table: &str) -> String {
    format!(
        "name = \"{name}\"\nuses = [\"language-model\"]\n[models.chat]\nkind = \"chat\"\n\
         url = \"{}/v1\"\nmodel = \"m\"\n{table}\n\
         [[stages]]\nstage = \"bm25\"\nanalyzer = \"english\"\ndepth = 30\n",
        stub.url
    )
}

#[test]
fn needs_are_predicted_with_examples_from_train() {
    let folder = Folder::with_sample();
    let stub = Stub::start(chat);
    let table = "[need]\nchat = \"chat\"\nexamples = 1";
    folder.write("needs.toml", with_chat(&stub, "needs", table));
    let work = Work::on(&folder, "data", "dev");
    let (_, notes) = work.run("needs.toml", "needs.run").expect("a run");
    assert!(notes.contains("note: need: 1 of 15 answers"), "{notes}");
    let needs = folder.text("needs.need");
    assert_eq!(needs.lines().count(), 15);
    assert!(needs.lines().filter(|line| line.ends_with(" 3")).count() >= 14, "{needs}");
    let received = stub.received();
    let prompt = received[0].body["messages"][1]["content"].as_str().expect("a prompt");
    let examples: Vec<&str> =
        prompt.lines().filter_map(|line| line.strip_prefix("Request: ")).collect();
    let train = folder.text("data/train.tsv");
    assert_eq!(examples.len(), 5, "one of each need, and the request: {prompt}");
    assert!(examples[..4].iter().all(|example| train.contains(example)), "{prompt}");
    let prompts = |examples: i64| {
        let sent = stub.received().len();
        work.with(&[&format!("need.examples={examples}")])
            .run("needs.toml", "many.run")
            .expect("a run");
        stub.received()[sent..].iter().map(|one| one.body["messages"].clone()).collect::<Vec<_>>()
    };
    // More than train has.
    let all = prompts(1000);
    assert!(all.len() == 15 && all[0].to_string().len() > received[0].body.to_string().len());
    assert_eq!(prompts(i64::MAX), [json!(null); 0], "the answers to the same prompts are kept");
}

#[test]
fn a_chat_model_writes_the_question() {
    let folder = Folder::with_sample();
    let stub = Stub::start(chat);
    folder.write("asks.toml", with_chat(&stub, "asks", "[ask]\nchat = \"chat\""));
    let work = Work::on(&folder, "data", "dev");
    work.run("asks.toml", "asks.run").expect("a run");
    let record = folder.json("asks.run.json");
    assert_eq!(record["uses"], json!(["language-model"]));
    assert_eq!(record["stages"][0]["stage"], "ask");
    assert_eq!(record["stages"][0]["prompt"]["file"], "ask");
    let written = "do you want to know about tents";
    let explained = work.with_system("asks.toml", |system| {
        let query = Request::new("1", "tents").into();
        let doc = system.session().documents.find("Q00002").expect("a question");
        let traces = system.explain(&query, RankedPart::Documents, doc).expect("traces");
        json!(traces[0].stages[0].explanation).to_string()
    });
    let explained = explained.expect("a system").0;
    assert!(explained.contains(written), "{explained}");
    let config = work.load("asks.toml").expect("a system");
    let (asked, _) = work.with_session(|session| {
        let contexts = Contexts::new(session);
        let asker = Asker::open(&contexts, &config, 3, false).expect("a system");
        let next = asker.next(&mut Request::new("1", "tents").into()).expect("a move");
        let Move::Ask { question, .. } = next else { panic!("it asks nothing") };
        question
    });
    assert_eq!((asked.id.as_str(), asked.text.as_str()), ("", written));
}
