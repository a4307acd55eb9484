//! Built-in systems with a language model, against a server on this machine: runs, their replay, and
//! questions in a conversation.

use crate::common::{Bench, Finished, LEARNED, share_vectors};
use crate::stub::{Reply, Stub, chat, completion};
use serde_json::{Value, json};

const HEAD: &str = "uses = [\"language-model\"]\n[models.chat]\nkind = \"chat\"\nmodel = \"m\"\n\
                    retries = 0\n";
const BM25: &str = "[[stages]]\nstage = \"bm25\"\nanalyzer = \"english\"\ndepth = 5\n";

pub(crate) fn run(bench: &Bench, line: &str) -> Finished {
    let words: Vec<&str> = line.split_whitespace().collect();
    Finished::from(bench.command(&words).output().expect("it starts"))
}

pub(crate) fn succeed(bench: &Bench, line: &str) -> Finished {
    let finished = run(bench, line);
    assert_eq!(finished.status, Some(0), "{line}: {}", finished.stderr);
    finished
}

#[test]
fn a_run_is_replayed_and_other_commands_name_the_prompts_of_its_texts() {
    let bench = Bench::new();
    let stub = Stub::start(chat);
    let line = format!("run ikat-chat --split 2023-test --set models.chat.url={}/v1 -o", stub.url);
    succeed(&bench, &format!("{line} one.json"));
    let calls = stub.received().len();
    std::fs::remove_dir_all(bench.path("cache/completions")).expect("removed");
    succeed(&bench, &format!("{line} two.json --replay one.json.completions.jsonl.zst"));
    assert_eq!(stub.received().len(), calls, "no server is asked");
    assert!(bench.read("two.json") == bench.read("one.json"), "the same bytes");
    let validated = run(&bench, "validate one.json --split 2023-test");
    let warning = "a language model wrote texts by";
    assert!(validated.stderr.contains(warning), "{}", validated.stderr);
    succeed(&bench, "report one.json --split 2023-test -o one.html");
    assert!(bench.text("one.html").contains("language-model (rewrite"), "its prompts");
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
fn a_call_that_fails_is_an_answer_with_an_error_and_the_conversation_goes_on() {
    let bench = Bench::new();
    let stub = Stub::start(|received, number| match number {
        0 | 2 => Reply::status(400, "too long"),
        _ => chat(received, number),
    });
    bench.write(
        "asks.toml",
        format!(
            "name = \"asks\"\n{HEAD}url = \"http://localhost:1/v1\"\n[ask]\nchat = \"chat\"\n{BM25}"
        ),
    );
    bench.write("lines", "{\"request\":\"tents\",\"id\":1}\n{\"request\":\"tents and bees\"}\n{\"request\":\"boats\"}\n");
    let script = format!(
        "\"$0\" ask bees --json --system asks.toml --set models.chat.url={}/v1 < lines",
        stub.url
    );
    let asked = bench.shell(&["bash"], &script);
    assert_eq!(asked.status, Some(0), "{}", asked.stderr);
    let lines: Vec<Value> =
        asked.stdout.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
    let is_error: Vec<bool> = lines.iter().map(|line| line.get("error").is_some()).collect();
    assert_eq!(is_error, [true, false, true, false], "{}", asked.stdout);
    let found = lines[2]["error"]["found"].as_str().expect("a text");
    assert!(found.contains("status 400"), "{found}");
    assert_eq!(lines[1]["question"], "do you want to know about tents");
}

#[test]
fn a_request_that_the_server_refuses_is_a_bad_line() {
    let bench = Bench::new();
    let stub = Stub::start(|received, _| {
        if received.body["messages"].to_string().contains("bees") {
            return Reply::status(400, "too long");
        }
        chat(received, 0)
    });
    let url = &stub.url;
    bench.write(
        "asks.toml",
        format!("name = \"asks\"\n{HEAD}url = \"{url}/v1\"\n[ask]\nchat = \"chat\"\n{BM25}"),
    );
    let lines = ["tents", "bees", "boats"]
        .map(|text| format!("{{\"id\":\"{text}\",\"text\":\"{text}\"}}\n"));
    bench.write("lines", lines.concat());
    let ranked = succeed(&bench, "rank asks.toml --requests lines --skip-bad");
    let answers: Vec<Value> =
        ranked.stdout.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
    let found: Vec<&Value> =
        answers.iter().map(|answer| answer.get("id").unwrap_or(&answer["error"]["line"])).collect();
    assert_eq!(found, [&json!("tents"), &json!(2), &json!("boats")], "{}", ranked.stdout);
    assert!(answers[1].to_string().contains("too long"), "{}", answers[1]);
}

#[test]
fn a_run_over_a_file_ends_as_soon_as_too_many_answers_cannot_be_read_and_rank_answers_them() {
    let bench = Bench::new();
    let stub = Stub::start(|_, _| Reply::Json(completion("no JSON")));
    bench.write(
        "rewrites.toml",
        format!(
            "name = \"rewrites\"\nrewrite = {{ chat = \"chat\" }}\n{HEAD}url = \"{}/v1\"\nconcurrency = 1\n{BM25}",
            stub.url
        ),
    );
    let line = |number| format!("{{\"id\":\"{number}\",\"text\":\"tents {number}\"}}\n");
    bench.write("lines", (0..15).map(line).collect::<String>());
    // One of fifteen may have another form in a run; who asks for rankings gets those of the request as it was.
    for (command, status, asked, answered) in [
        ("\"$0\" run rewrites.toml --requests lines -o lines.run", 2, 2, 0),
        ("\"$0\" rank rewrites.toml --requests lines --format jsonl", 0, 15, 15),
        ("\"$0\" rank rewrites.toml --batch --requests lines --format jsonl", 0, 15, 15),
        ("\"$0\" rank rewrites.toml --format jsonl < lines", 0, 15, 15),
    ] {
        let before = stub.received().len();
        let _ = std::fs::remove_dir_all(bench.path("cache/completions"));
        let ended = bench.shell(&["bash"], command);
        assert_eq!(ended.status, Some(status), "{command}: {}", ended.stderr);
        assert_eq!(stub.received().len() - before, asked, "{command}");
        assert_eq!(ended.stdout.lines().count(), answered, "{command}");
        let first = "the first for rewrite of request 0: \"no JSON\"";
        assert!(ended.stderr.contains(first), "{command}: {}", ended.stderr);
    }
    assert!(!bench.path("lines.run").exists());
}

#[test]
fn questions_are_asked_again_without_the_server() {
    let bench = Bench::new();
    let stub = Stub::start(chat);
    bench.write(
        "asks.toml",
        format!("name = \"asks\"\n{HEAD}url = \"{}/v1\"\n[ask]\nchat = \"chat\"\n{BM25}", stub.url),
    );
    bench.write("one.jsonl", "{\"id\":\"0\",\"text\":\"tents\"}\n");
    succeed(&bench, "run asks.toml --requests one.jsonl -o one.run");
    let calls = stub.received().len();
    let replay =
        "--replay one.run.completions.jsonl.zst --set models.chat.url=http://127.0.0.1:1/v1";
    let asked = succeed(&bench, &format!("ask tents --system asks.toml {replay}"));
    assert_eq!(asked.stdout.lines().next(), Some("do you want to know about tents"));
    let ranked =
        succeed(&bench, &format!("rank asks.toml --requests one.jsonl --format trec {replay}"));
    let ids = |text: &str| -> Vec<String> {
        text.lines().filter_map(|line| line.split(' ').nth(2)).map(str::to_owned).collect()
    };
    assert_eq!(ids(&ranked.stdout), ids(&bench.text("one.run")));
    assert_eq!(stub.received().len(), calls, "no server is asked");
}
