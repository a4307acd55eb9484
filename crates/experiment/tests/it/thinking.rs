//! Chat models as people have them: they think before they answer, begin with a preface, and stand
//! behind servers that are overloaded. Every use of such a model has the results of a plain one.

use crate::common::{Folder, Work, root};
use crate::stub::{Received, Reply, Stub, chat, completion};
use clariq_collections::DataDir;
use clariq_core::Request;
use clariq_experiment::Contexts;
use clariq_experiment::ask::{Asker, Move};
use clariq_experiment::run::RequestFileKind;
use serde_json::json;

const HEAD: &str = "uses = [\"language-model\"]\n[models.chat]\nkind = \"chat\"\nmodel = \"m\"\n\
                    retries = 0\n";
/// For a server whose answers are plain text.
const TEXT: &str = "format = \"text\"\n";
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

/// The answers of `chat` with a thinking block before each.
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
    let folder = Folder::new();
    let stub = forms();
    let url = &stub.url;
    let head = format!("name = \"rewriter\"\nrewrite = {{ chat = \"chat\" }}\n{HEAD}");
    folder.write("rewriter.toml", format!("{head}{TEXT}url = \"{url}/plain/v1\"\n{BM25}"));
    folder.write("request.jsonl", "{\"id\":\"r1\",\"text\":\"how do i repair a puncture\"}\n");
    let work = Work::outside(&folder, DataDir::Folder(root().join("data/sample-own")));
    let rank = |form: &str| {
        let work = work.with(&[&format!("models.chat.url={url}/{form}/v1")]);
        let file = ("request.jsonl", RequestFileKind::Requests);
        let done = work.run_file("rewriter.toml", file, false, "a.run");
        done.map(|(_, notes)| (folder.text("a.run"), notes))
    };
    let (plain, _) = rank("plain").unwrap();
    let ids: Vec<&str> = plain.lines().filter_map(|line| line.split(' ').nth(2)).collect();
    assert_eq!(ids, ["bike/1", "bread/5"]);
    for form in ["think", "empty-think", "close-only"] {
        let (ranked, notes) = rank(form).unwrap();
        assert_eq!(ranked, plain, "{form}");
        let thinks = "note: chat: 1 of 1 completions begin with what the model thinks";
        assert!(notes.contains(thinks), "{form}: {notes}");
    }
    for form in ["preface", "explained", "open"] {
        let refused = rank(form).err().unwrap().to_string();
        assert!(refused.contains("1 of 1 others"), "{form}: {refused}");
    }
    let failed = rank("overloaded").err().unwrap().to_string();
    let says = "for rewrite of request r1: the model is overloaded, 1 time";
    assert!(failed.contains(says), "{failed}");
}

#[test]
fn the_question_that_is_asked_is_not_a_thought() {
    let folder = Folder::with_sample();
    let stub = forms();
    let url = &stub.url;
    let tables = format!("{TEXT}url = \"{url}/think/v1\"\n[ask]\nchat = \"chat\"\n{BM25}");
    folder.write("asker.toml", format!("name = \"asker\"\n{HEAD}{tables}"));
    assert_eq!(asked(&folder, "Tell me about Saturn.").as_deref(), Some("flat bike tyre hole"));
}

/// The question that the system `asker.toml` asks, if it asks one.
fn asked(folder: &Folder, request: &str) -> Option<String> {
    let work = Work::on(folder, "data", "dev");
    let config = work.load("asker.toml").unwrap();
    let (asked, _) = work.with_session(|session| {
        let contexts = Contexts::new(session);
        let asker = Asker::open(&contexts, &config, 1, false).unwrap();
        match asker.next(&mut Request::new("1", request).into()).unwrap() {
            Move::Ask { question, .. } => Some(question.text),
            _ => None,
        }
    });
    asked
}

#[test]
fn a_question_is_asked_even_if_no_document_is_like_it() {
    let folder = Folder::with_sample();
    let stub = Stub::always(Reply::Json(completion("Which xylophone?")));
    let ask = format!("{TEXT}url = \"{}/v1\"\n[ask]\nchat = \"chat\"\n{BM25}", stub.url);
    let silent = "[[stages]]\nstage = \"no_question\"\nrank = 1\n";
    for (stages, expected) in [("", Some("Which xylophone?")), (silent, None)] {
        folder.write("asker.toml", format!("name = \"asker\"\n{HEAD}{ask}{stages}"));
        assert_eq!(asked(&folder, "zzz").as_deref(), expected);
    }
}

#[test]
fn a_thinking_model_makes_the_runs_of_a_plain_one() {
    let folder = Folder::with_sample();
    let plain = Stub::start(chat);
    let thinks = Stub::start(thinking);
    let stage = "[[stages]]\nstage = \"chat_rerank\"\nchat = \"chat\"\ndepth = 5\n\
                 method = \"pointwise\"\nscore = \"grade\"\nprompt = \"need.jinja\"\n";
    let prompt = "How much does {{ query }} and {{ passage }} need clarification? It needs \
                  clarification\n{{ form }}";
    folder.write("need.jinja", prompt);
    for (name, tables) in [
        ("grades", format!("{BM25}{stage}")),
        ("needs", format!("[need]\nchat = \"chat\"\nexamples = 1\n{BM25}")),
        ("asks", format!("[ask]\nchat = \"chat\"\n{BM25}")),
    ] {
        let text = format!("name = \"{name}\"\n{HEAD}url = \"{}/v1\"\n{tables}", plain.url);
        folder.write(&format!("{name}.toml"), text);
    }
    let clariq = Work::on(&folder, "data", "dev");
    let ikat = Work::on_ikat(&folder, "2023-test");
    let sample = DataDir::Folder(root().join("data/sample-mtrag"));
    let mtrag = Work { split: Some("mtrag-un".to_owned()), ..Work::outside(&folder, sample) };
    for (work, system, ending) in [
        (&clariq, "grades.toml", "run"),
        (&clariq, "needs.toml", "run"),
        (&clariq, "asks.toml", "run"),
        (&ikat, "ikat-chat", "json"),
        (&mtrag, "mtrag-chat", "jsonl"),
    ] {
        let make = |stub: &Stub, name: &str| {
            let work = work.with(&[&format!("models.chat.url={}/v1", stub.url)]);
            let output = format!("{name}.{ending}");
            work.run(system, &output).unwrap();
            folder.read(&output)
        };
        assert!(make(&plain, "plain") == make(&thinks, "thinks"), "{system}");
        if system == "needs.toml" {
            assert!(folder.read("plain.need") == folder.read("thinks.need"));
        }
    }
}

#[test]
fn a_run_with_too_many_answers_of_another_form_ends_with_an_error() {
    let folder = Folder::with_sample();
    let stub = forms();
    let write = |rewrite: &str| {
        let head = format!("name = \"rewriter\"\nrewrite = {{ chat = \"chat\"{rewrite} }}\n");
        let url = &stub.url;
        folder.write("rewriter.toml", format!("{head}{HEAD}url = \"{url}/explained/v1\"\n{BM25}"));
    };
    write("");
    let before = folder.snapshot();
    let work = Work::on(&folder, "data", "dev");
    let failed = work.run("rewriter.toml", "one.run").err().unwrap().to_string();
    // Of 15 answers, one may have another form: a later one ends the run, not the last.
    let says = [
        "(of 15 at most), the first for rewrite of request ",
        "\"flat bike tyre hole\\n\\nI wrote ",
    ];
    assert!(says.iter().all(|it| failed.contains(it)), "{failed}");
    assert!(stub.received().len() < 15, "calls that are under way are finished, and no more sent");
    assert!(folder.snapshot() == before, "no run");
    write(", unread = 1.0");
    work.run("rewriter.toml", "one.run").unwrap();
    write("");
    work.with(&["models.chat.unread=1.0"]).run("rewriter.toml", "one.run").unwrap();
}
