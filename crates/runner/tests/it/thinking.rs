//! Chat models as people have them: they think before they answer, begin with a preface, and stand
//! behind servers that are overloaded. Every use of such a model has the results of a plain one.

use crate::chat::{chat, run, succeed};
use crate::common::Bench;
use crate::stub::{Received, Reply, Stub, completion};
use serde_json::{Value, json};

const HEAD: &str = "uses = [\"language-model\"]\n[models.chat]\nkind = \"chat\"\nmodel = \"m\"\n\
                    retries = 0\n";
const BM25: &str = "[[stages]]\nstage = \"bm25\"\nanalyzer = \"english\"\ndepth = 5\n";

/// A server whose answers have the form that the first part of the path names.
fn forms() -> Stub {
    Stub::start(|received, _| {
        let answer = "flat bike tyre hole";
        let text = match received.path.split('/').nth(1).unwrap_or_default() {
            "plain" => answer.to_owned(),
            "think" => format!("<think>\ncoffee grounds, coffee beans\n</think>\n\n{answer}"),
            "empty-think" => format!("<think>\n\n</think>\n\n{answer}"),
            "close-only" => format!("coffee grounds, coffee beans\n</think>\n\n{answer}"),
            "preface" => format!("Sure! This is the rewritten utterance:\n\n{answer}"),
            "explained" => format!("{answer}\n\nI wrote what the user means."),
            "open" => "<think>\ncoffee grounds, coffee beans".to_owned(),
            _ => {
                let error = json!({ "message": "the model is overloaded", "code": 429 });
                return Reply::Json(json!({ "error": error }));
            }
        };
        Reply::Json(completion(&text))
    })
}

/// The answer to a request that has a meaning of its own, with a thinking block before each.
fn thinking(received: &Received, number: usize) -> Reply {
    let Reply::Json(mut answer) = chat(received, number) else { panic!() };
    if let Some(text) = answer["choices"][0]["message"]["content"].as_str() {
        let text = format!("<think>\n[2] 4 coffee?\nIs it 1 or [1]?\n</think>\n\n{text}");
        answer["choices"][0]["message"]["content"] = text.into();
    }
    Reply::Json(answer)
}

#[test]
fn a_rewrite_is_the_same_in_every_form() {
    let bench = Bench::new();
    let stub = forms();
    bench.write(
        "rewriter.toml",
        format!("name = \"rewriter\"\nrewrite = {{ chat = \"chat\" }}\n{HEAD}url = \"{}/plain/v1\"\n{BM25}", stub.url),
    );
    bench.write("request.jsonl", "{\"id\":\"r1\",\"text\":\"how do i repair a puncture\"}\n");
    let rank = |form: &str| {
        let url = format!("models.chat.url={}/{form}/v1", stub.url);
        let own = crate::common::root().join("data/sample-own");
        run(
            &bench,
            &format!(
                "rank rewriter.toml --data {} --requests request.jsonl --format trec --set {url}",
                own.display()
            ),
        )
    };
    let plain = rank("plain");
    let ids: Vec<&str> = plain.stdout.lines().filter_map(|line| line.split(' ').nth(2)).collect();
    assert_eq!(ids, ["bike/1", "bread/5"], "{}", plain.stderr);
    for form in ["think", "empty-think", "close-only", "preface"] {
        let ranked = rank(form);
        assert_eq!((ranked.status, &ranked.stdout), (Some(0), &plain.stdout), "{form}");
        let thinks = "note: chat: 1 of 1 completions begin with what the model thinks";
        assert_eq!(ranked.stderr.contains(thinks), form != "preface", "{form}: {}", ranked.stderr);
    }
    for form in ["explained", "open"] {
        let ranked = rank(form);
        let unread = "note: rewrite: 1 of 1 answers of the model were no query; their requests keep \
                      the utterance";
        assert!(ranked.stderr.contains(unread), "{form}: {}", ranked.stderr);
    }
    let failed = rank("overloaded");
    assert_eq!(failed.status, Some(2));
    let says = "for rewrite of request r1: the model is overloaded, 1 times";
    assert!(failed.stderr.contains(says), "{}", failed.stderr);
}

#[test]
fn the_question_that_is_asked_is_not_a_thought() {
    let bench = Bench::new();
    let stub = forms();
    bench.write(
        "asker.toml",
        format!(
            "name = \"asker\"\n{HEAD}url = \"{}/think/v1\"\n[ask]\nchat = \"chat\"\n{BM25}",
            stub.url
        ),
    );
    let asked =
        bench.run(&["ask", "--system", "asker.toml", "Tell me about Saturn.", "--max-turns", "1"]);
    assert_eq!(asked.stdout, "flat bike tyre hole\n", "{}", asked.stderr);
}

#[test]
fn a_thinking_model_makes_the_runs_of_a_plain_one() {
    let bench = Bench::new();
    let plain = Stub::start(chat);
    let thinks = Stub::start(thinking);
    let stage = "[[stages]]\nstage = \"chat_rerank\"\nchat = \"chat\"\ndepth = 5\n";
    for (name, tables) in [
        (
            "grades",
            format!(
                "{BM25}{stage}method = \"pointwise\"\nscore = \"grade\"\nprompt = \"need.jinja\"\n"
            ),
        ),
        ("needs", format!("[need]\nchat = \"chat\"\nexamples = 1\n{BM25}")),
        ("asks", format!("[ask]\nchat = \"chat\"\n{BM25}")),
    ] {
        bench.write("need.jinja", "How much does {{ query }} and {{ passage }} need clarification? It needs clarification\n");
        let text = format!("name = \"{name}\"\n{HEAD}url = \"{}/v1\"\n{tables}", plain.url);
        bench.write(&format!("{name}.toml"), text);
    }
    for (system, split, ending) in [
        ("grades.toml", "dev", "run"),
        ("needs.toml", "dev", "run"),
        ("asks.toml", "dev", "run"),
        ("ikat-chat", "2023-test", "json"),
    ] {
        let make = |stub: &Stub, name: &str| {
            let url = format!("models.chat.url={}/v1", stub.url);
            let line = format!("run {system} --split {split} -o {name}.{ending} --set {url}");
            succeed(&bench, &line);
            bench.read(&format!("{name}.{ending}"))
        };
        assert!(make(&plain, "plain") == make(&thinks, "thinks"), "{system}");
        if system == "needs.toml" {
            assert!(bench.read("plain.need") == bench.read("thinks.need"));
        }
    }
}

#[test]
fn a_run_with_too_many_answers_of_another_form_ends_with_an_error() {
    let bench = Bench::new();
    let stub = forms();
    let text = |rewrite: &str| {
        format!(
            "name = \"rewriter\"\nrewrite = {{ chat = \"chat\"{rewrite} }}\n{HEAD}url = \"{}/explained/v1\"\n{BM25}",
            stub.url
        )
    };
    bench.write("rewriter.toml", text(""));
    let before = bench.snapshot();
    let failed = run(&bench, "run rewriter.toml --split dev -o one.run");
    assert_eq!(failed.status, Some(2), "{}", failed.stderr);
    let says =
        "15 of 15 others, the first \"flat bike tyre hole\\n\\nI wrote what the user means.\"";
    assert!(failed.stderr.contains(says), "{}", failed.stderr);
    assert!(bench.snapshot() == before, "no run");
    bench.write("rewriter.toml", text(", unread = 1.0"));
    succeed(&bench, "run rewriter.toml --split dev -o one.run");
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
