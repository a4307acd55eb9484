//! Built-in systems with a language model, against a server on this machine: runs, their replay, and
//! questions in a conversation.

use crate::common::{Bench, Finished, LEARNED, root, share_vectors};
use crate::stub::{Received, Reply, Stub, completion, dialects, shared};
use serde_json::{Value, json};
use std::collections::HashMap;

/// Answers the built-in prompts, which differ in their words.
pub(crate) fn chat(received: &Received, _: usize) -> Reply {
    if received.path != "/v1/chat/completions" {
        return dialects(received);
    }
    let messages = received.body["messages"].as_array().expect("messages");
    let all: Vec<&str> = messages.iter().filter_map(|one| one["content"].as_str()).collect();
    let all = all.join("\n");
    let last = all.lines().find_map(|line| line.strip_prefix("Last utterance: "));
    let text = if let Some(last) = last.filter(|_| all.ends_with("Rewritten:")) {
        last.to_owned()
    } else if let Some(last) = last {
        format!("{last}\n{last} please\n1. {last} again")
    } else if all.contains("[2] > [1]") {
        "[2] > [1] > [2]".to_owned()
    } else if all.contains("cite the passages") {
        "It is so [1]. It is not [2][7].".to_owned()
    } else if all.contains("needs clarification") {
        if all.ends_with("Request: Tell me about kombucha.\nNeed:") { "unsure" } else { "Need: 3" }
            .to_owned()
    } else {
        "do you want to know about tents".to_owned()
    };
    Reply::Json(completion(&text))
}

pub(crate) fn run(bench: &Bench, line: &str) -> Finished {
    let words: Vec<&str> = line.split_whitespace().collect();
    Finished::from(bench.command(&words).output().expect("it starts"))
}

pub(crate) fn succeed(bench: &Bench, line: &str) -> Finished {
    let finished = run(bench, line);
    assert_eq!(finished.status, Some(0), "{line}: {}", finished.stderr);
    finished
}

/// Runs a built-in system on the sample and replays it without the server; returns what was written
/// to standard error, and the run.
fn run_and_replay(system: &str, split: &str, ending: &str) -> (String, Vec<u8>) {
    let bench = Bench::new();
    let stub = Stub::start(chat);
    let chat = format!("--set models.chat.url={}/v1", stub.url);
    let (servers, prompt) = match system {
        "ikat-organisers-2025" => {
            (format!("{chat} --set models.reranker.url={}", stub.url), Some("rewrite"))
        }
        "rerank-endpoint" => (format!("--set models.reranker.url={}/v1", stub.url), None),
        _ => (chat, Some("rewrite")),
    };
    let line = format!("run {system} --split {split} {servers} -o");
    let first = succeed(&bench, &format!("{line} one.{ending}"));
    assert!(first.stdout.contains(system), "{}", first.stdout);
    let calls = stub.received().len();
    std::fs::remove_dir_all(bench.path("cache/completions")).expect("removed");
    let replay = format!("two.{ending} --replay one.{ending}.completions.jsonl.zst");
    succeed(&bench, &format!("{line} {replay}"));
    assert_eq!(stub.received().len(), calls, "no server is asked");
    if let Some(prompt) = prompt {
        let validated = run(&bench, &format!("validate one.{ending} --split {split}"));
        assert!(
            validated.stderr.contains("a language model wrote texts by"),
            "{}",
            validated.stderr
        );
        succeed(&bench, &format!("report one.{ending} --split {split} -o one.html"));
        assert!(
            bench.text("one.html").contains(&format!("language-model ({prompt}")),
            "its prompts"
        );
    }
    let run = bench.read(&format!("one.{ending}"));
    assert!(bench.read(&format!("two.{ending}")) == run, "the same bytes");
    (first.stderr, run)
}

#[test]
fn the_organisers_construction_answers_from_cited_passages() {
    let (notes, run) = run_and_replay("ikat-organisers-2025", "2023-test", "json");
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
    let bench = Bench::new();
    let stub = Stub::start(chat);
    let sample = root().join("data/sample-ikat");
    let topics = std::fs::read_to_string(sample.join("2023_test_topics.json")).expect("topics");
    let mut topics: Value = serde_json::from_str(&topics).expect("JSON");
    topics.as_array_mut().expect("topics").truncate(1);
    topics[0]["turns"].as_array_mut().expect("turns").truncate(2);
    topics[0]["turns"][1]["utterance"] = "xyzzy".into();
    bench.write("data/2023_test_topics.json", topics.to_string());
    let passages = std::fs::read(sample.join("passages.jsonl")).expect("passages");
    bench.write("data/passages.jsonl", passages);
    let line = format!(
        "run ikat-organisers-2025 --data data --split 2023-test -o one.json \
         --set models.chat.url={0}/v1 --set models.reranker.url={0}",
        stub.url
    );
    let finished = succeed(&bench, &line);
    let run: Value = serde_json::from_slice(&bench.read("one.json")).expect("JSON");
    let response = |turn: usize| run["turns"][turn]["responses"][0]["text"].as_str();
    assert_eq!((response(0), response(1)), (Some("It is so. It is not."), Some("")));
    let asked = stub.received().into_iter().filter(|one| one.path == "/v1/chat/completions");
    let answers = asked.filter(|one| one.body.to_string().contains("cite the passages")).count();
    assert_eq!(answers, 1, "{}", finished.stderr);
}

#[test]
fn several_queries_are_fused_and_reordered() {
    let (notes, _) = run_and_replay("ikat-chat", "2023-test", "json");
    let written = "note: rewrite: the model wrote ";
    let noted = notes.lines().filter(|line| line.starts_with(written));
    assert_eq!(noted.count(), 1, "three of five for each turn, noted once: {notes}");
    assert!(notes.contains("note: chat_rerank: "), "repaired: {notes}");
}

#[test]
fn a_reranker_behind_a_server_reorders_the_first_stage() {
    let (_, run) = run_and_replay("rerank-endpoint", "dev", "run");
    let run = String::from_utf8(run).expect("text");
    let bank = std::fs::read_to_string(root().join("data/sample/question_bank.tsv")).expect("bank");
    let questions: HashMap<&str, &str> =
        bank.lines().filter_map(|line| line.split_once('\t')).collect();
    let topics = std::fs::read_to_string(root().join("data/sample/dev.tsv")).expect("dev");
    let requests: HashMap<&str, &str> = topics
        .lines()
        .filter_map(|line| {
            let (id, rest) = line.split_once('\t')?;
            Some((id, rest.split('\t').next()?))
        })
        .collect();
    let lines: Vec<Vec<&str>> = run.lines().map(|line| line.split(' ').collect()).collect();
    assert_eq!(lines.len(), 15 * 30);
    for pair in lines.windows(2).filter(|pair| pair[0][0] == pair[1][0]) {
        let words = |line: &[&str]| shared(requests[line[0]], questions[line[2]]);
        assert!(words(&pair[0]) >= words(&pair[1]), "{pair:?}");
    }
}

#[test]
fn the_bank_is_ranked_by_similarity_to_a_generated_question() {
    if LEARNED.is_none() {
        println!("skipped: built without `bert`");
        return;
    }
    // The README replays a recorded run of this system.
    let bench = Bench::new();
    share_vectors(&bench.path("cache"));
    let stub = Stub::start(chat);
    let server = format!("--set models.chat.url={}/v1", stub.url);
    succeed(&bench, &format!("run clariq-chat --split dev {server} -o chat.run"));
    let run = bench.text("chat.run");
    // The same question is written for every request.
    let ranked: Vec<Vec<&str>> =
        run.lines().map(|line| line.split(' ').skip(2).take(3).collect()).collect();
    assert_eq!(ranked.len(), 15 * 30);
    assert!(ranked.chunks(30).all(|ranking| ranking == &ranked[..30]));
}

#[test]
fn needs_are_predicted_with_examples_from_train() {
    let bench = Bench::new();
    let stub = Stub::start(chat);
    bench.write(
        "needs.toml",
        format!(
            "name = \"needs\"\nuses = [\"language-model\"]\n[models.chat]\nkind = \"chat\"\n\
             url = \"{}/v1\"\nmodel = \"m\"\n[need]\nchat = \"chat\"\nexamples = 1\n\
             [[stages]]\nstage = \"bm25\"\nanalyzer = \"english\"\ndepth = 30\n",
            stub.url
        ),
    );
    let finished = succeed(&bench, "run needs.toml --split dev -o needs.run");
    assert!(finished.stderr.contains("note: need: 1 of 15 answers"), "{}", finished.stderr);
    let needs = bench.text("needs.need");
    assert_eq!(needs.lines().count(), 15);
    assert!(needs.lines().filter(|line| line.ends_with(" 3")).count() >= 14, "{needs}");
    let received = stub.received();
    let prompt = received[0].body["messages"][1]["content"].as_str().expect("a prompt");
    let examples: Vec<&str> =
        prompt.lines().filter_map(|line| line.strip_prefix("Request: ")).collect();
    let train = std::fs::read_to_string(root().join("data/sample/train.tsv")).expect("train");
    assert_eq!(examples.len(), 5, "one of each need, and the request: {prompt}");
    assert!(examples[..4].iter().all(|example| train.contains(example)), "{prompt}");
}

#[test]
fn a_chat_model_writes_the_question() {
    let bench = Bench::new();
    let stub = Stub::start(chat);
    bench.write(
        "asks.toml",
        format!(
            "name = \"asks\"\nuses = [\"language-model\"]\n[models.chat]\nkind = \"chat\"\n\
             url = \"{}/v1\"\nmodel = \"m\"\n[ask]\nchat = \"chat\"\n\
             [[stages]]\nstage = \"bm25\"\nanalyzer = \"english\"\ndepth = 30\n",
            stub.url
        ),
    );
    succeed(&bench, "run asks.toml --split dev -o asks.run");
    let record: Value = serde_json::from_slice(&bench.read("asks.run.json")).expect("JSON");
    assert_eq!(record["uses"], json!(["language-model"]));
    assert_eq!(record["stages"][0]["stage"], "ask");
    assert_eq!(record["stages"][0]["prompt"]["file"], "ask");
    let explained = succeed(&bench, "explain --system asks.toml tents Q00002").stdout;
    assert!(explained.contains("do you want to know about tents"), "{explained}");
    let asked = succeed(&bench, "ask tents --system asks.toml").stdout;
    assert_eq!(asked.lines().next(), Some("do you want to know about tents"), "{asked}");
}

#[test]
fn a_system_is_shown_with_its_prompts() {
    let bench = Bench::new();
    let shown = succeed(&bench, "systems show ikat-chat").stdout;
    for prompt in ["rewrite", "rerank-list", "answer"] {
        assert!(shown.contains(&format!("\n# The prompt `{prompt}`:\n")), "{shown}");
    }
    // It is still the file of a system.
    bench.write("mine.toml", &shown);
    assert!(succeed(&bench, "systems show mine.toml").stdout.starts_with(&shown));
    let stub = Stub::start(chat);
    let line =
        format!("run mine.toml --split 2023-test --set models.chat.url={}/v1 --dry-run", stub.url);
    succeed(&bench, &line);
    assert!(stub.received().is_empty());
}

#[test]
fn tables_that_do_not_fit_are_refused() {
    let bench = Bench::new();
    let head = "name = \"x\"\nuses = [\"language-model\"]\n[models.chat]\nkind = \"chat\"\n\
        url = \"http://localhost:1/v1\"\nmodel = \"m\"\n";
    let stages = "[[stages]]\nstage = \"bm25\"\nanalyzer = \"english\"\ndepth = 30\n";
    for (tables, says) in [
        (
            format!("[ask]\nchat = \"chat\"\nneed = 3\n{stages}"),
            "a table [answer] beside [ask], which",
        ),
        (format!("[ask]\nmost = 1\n{stages}"), "or a key `chat`"),
        (format!("[ask]\nchat = \"chat\"\nmost = 2\n{stages}"), "with a key `most`"),
        (format!("[ask]\nchat = \"chat\"\nchoices = 3\n{stages}"), "no key `choices`"),
        (format!("[ask]\nchat = \"chat\"\nprompt = \"answer\"\n{stages}"), "one of the variables"),
        (format!("[ask]\nchat = \"chat\"\ntemperature = 0.5\n{stages}"), "uses = [\"sampling\"]"),
        (format!("[ask]\nchat = \"other\"\n{stages}"), "a table [models.other]"),
    ] {
        bench.write("x.toml", format!("{head}{tables}"));
        let refused = run(&bench, "run x.toml --split dev -o x.run");
        assert_eq!(refused.status, Some(2), "{tables}: {}", refused.stderr);
        assert!(refused.stderr.contains(says), "{tables}: {}", refused.stderr);
    }
    let line = "run ikat-chat --split 2023-test --set answer.response.fewest_words=5 -o x.json";
    let refused = run(&bench, line);
    assert_eq!(refused.status, Some(2), "{}", refused.stderr);
    assert!(refused.stderr.contains("no keys `response.fewest_words`"), "{}", refused.stderr);
    let twice = format!("rewrite = {{ chat = \"chat\" }}\n{head}[ask]\nchat = \"chat\"\n{stages}");
    bench.write("x.toml", twice);
    let refused = run(&bench, "run x.toml --split dev -o x.run");
    assert!(refused.stderr.contains("either `rewrite` or [ask]"), "{}", refused.stderr);
}
