//! Conversations at the terminal, through a pipe, in JSON lines, and from Python.

use crate::common::{Bench, Finished, LEARNED, root, share_vectors};
use serde_json::Value;
use std::io::Write;
use std::process::{Command, Stdio};

/// Runs `ask` with some standard input; by the lexical system, which every build has, unless one is
/// named.
fn ask(bench: &Bench, arguments: &[&str], input: &str) -> Finished {
    let named = arguments.contains(&"--system");
    let lexical: &[&str] = if named { &[] } else { &["--system", "bm25-conversation"] };
    run_ask(bench, &[lexical, arguments].concat(), input)
}

fn run_ask(bench: &Bench, arguments: &[&str], input: &str) -> Finished {
    let mut command = bench.command(&[&["ask", "--data", "data"], arguments].concat());
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().expect("it starts");
    // The command may end before it reads everything.
    drop(child.stdin.take().expect("a pipe").write_all(input.as_bytes()));
    Finished::from(child.wait_with_output().expect("it ends"))
}

fn objects(finished: &Finished) -> Vec<Value> {
    finished
        .stdout
        .lines()
        .map(|line| serde_json::from_str(line).expect("an object a line"))
        .collect()
}

const REQUEST: &str = "Tell me about Saturn.";

#[test]
fn ask_stops_when_the_stop_stage_applies() {
    let bench = Bench::with_sample();
    let finished = ask(&bench, &[REQUEST], "the car\nno\nyes please\nmore\n");
    assert_eq!(finished.status, Some(0), "{}", finished.stderr);
    let questions: Vec<&str> = finished.stdout.lines().collect();
    assert_eq!(questions.len(), 3, "{}", finished.stdout);
    assert!(questions[0].contains("saturn"), "{questions:?}");
    assert!(
        questions[0] != questions[1]
            && questions[1] != questions[2]
            && questions[0] != questions[2]
    );
    assert!(
        finished.stderr.contains("need for clarification: ")
            && finished.stderr.contains("stopped: enough questions were asked\n")
    );
    assert_eq!(
        ask(&bench, &[REQUEST, "--max-turns", "1"], "the car\n").stdout,
        format!("{}\n", questions[0])
    );
    for silence in ["", "\n"] {
        let finished = ask(&bench, &[REQUEST], silence);
        assert_eq!(
            (finished.status, finished.stdout.lines().count()),
            (Some(0), 1),
            "no reply is the end"
        );
    }
    let finished = ask(&bench, &[REQUEST, "--system", "no-question"], "");
    assert_eq!((finished.status, finished.stdout.as_str()), (Some(0), ""), "{}", finished.stderr);
}

#[test]
fn explain_shows_why_a_question_was_chosen() {
    let bench = Bench::with_sample();
    let finished = ask(&bench, &[REQUEST, "--explain"], "");
    for text in [
        "\n  bm25: rank 1 of ",
        "request: 1.000 × ",
        "`saturn` = idf × tf part",
        "\n  exclude_asked: ",
        "not asked so far",
        "\n  stop: rank 1",
        "no reason to stop",
        "questions asked, stops at 3",
        " \"which saturn",
    ] {
        assert!(finished.stdout.contains(text), "no `{text}` in\n{}", finished.stdout);
    }
    let finished = ask(&bench, &[REQUEST, "--explain", "--json"], "");
    let object = &objects(&finished)[0];
    assert!(object["candidates"].as_array().is_some_and(|all| all.len() == 5));
    assert_eq!(object["candidates"][0]["question_id"], object["question_id"]);
    assert_eq!(object["stages"][0]["stage"], "bm25");
    let stages = object["stages"].as_array().expect("stages");
    assert!(stages.iter().all(|stage| stage["explanation"]["what"].is_string()), "{object}");
    let input = "no\nthe car\nyes\n";
    let talk = ask(&bench, &[REQUEST, "--explain", "--max-turns", "4"], input).stdout;
    for text in [
        "question 2: 0.300 × ",
        "answer 2: ",
        "asks nothing more",
        "stop: 3 questions were asked, the most is 3",
    ] {
        assert!(talk.contains(text), "no `{text}` in\n{talk}");
    }
}

#[test]
fn the_default_system_is_dense_and_stops_on_topics_outside_the_bank() {
    if LEARNED.is_none() {
        return;
    }
    let bench = Bench::with_sample();
    share_vectors(&bench.path("cache"));
    let input = "{\"request\": \"Tell me about Saturn.\"}\n{\"request\": \"asdf qwer\"}\n\
                 {\"request\": \"what is a monad\"}\n{\"request\": \"rust borrow checker\"}\n";
    let found = objects(&run_ask(&bench, &["--json", "--explain"], input));
    let [first, strangers @ ..] = &found[..] else { panic!("{found:?}") };
    assert!(first["question"].as_str().is_some_and(|text| text.contains("saturn")), "{first}");
    let stages: Vec<&Value> =
        first["stages"].as_array().expect("stages").iter().map(|stage| &stage["stage"]).collect();
    assert_eq!(stages[0], "dense", "{stages:?}");
    assert!(first.to_string().contains("cosine by `all-MiniLM-L6-v2`: "), "{first}");
    assert_eq!(strangers.len(), 3);
    assert!(strangers.iter().all(|object| object["action"] == "stop"), "{strangers:?}");
}

#[test]
fn json_lines_hold_several_conversations() {
    let bench = Bench::with_sample();
    let input = format!(
        "{{\"request\": \"{REQUEST}\", \"id\": \"a\"}}\n{{\"answer\": \"the car\", \"id\": [1]}}\n\n\
         {{\"request\": \"How can I stop snoring?\"}}\n"
    );
    let found = objects(&ask(&bench, &["--json"], &input));
    assert_eq!(found.len(), 3);
    assert!(found.iter().all(|object| object["action"] == "ask" && object["need"].is_number()));
    assert_eq!((&found[0]["id"], &found[1]["id"]), (&Value::from("a"), &serde_json::json!([1])));
    assert_eq!(
        (&found[0]["turn"], &found[1]["turn"], &found[2]["turn"]),
        (&1.into(), &2.into(), &1.into())
    );
    let first = &found[0];
    let middle = serde_json::json!({
        "request": REQUEST,
        "conversation_context": [{ "question": first["question"], "answer": "the car" }],
    });
    let entered = &objects(&ask(&bench, &["--json"], &format!("{middle}\n")))[0];
    assert_eq!(
        (&entered["question"], &entered["turn"]),
        (&found[1]["question"], &found[1]["turn"])
    );
    let given = objects(&ask(&bench, &["--json", REQUEST], "{\"answer\": \"the car\"}\n"));
    assert_eq!(
        (&given[0]["question"], &given[1]["question"]),
        (&found[0]["question"], &found[1]["question"])
    );
}

#[test]
fn a_bad_line_is_answered_with_an_error_and_the_conversation_goes_on() {
    let bench = Bench::with_sample();
    let mut command =
        bench.command(&["ask", "--data", "data", "--json", "--system", "bm25-conversation"]);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().expect("it starts");
    let mut input = child.stdin.take().expect("a pipe");
    input
        .write_all(b"{\"request\": \"saturn\"}\n\xff\n{\"id\": 7}\n{\"answer\": \"the car\"}\n")
        .expect("written");
    drop(input);
    let finished = Finished::from(child.wait_with_output().expect("it ends"));
    let found = objects(&finished);
    let errors = [&found[1]["error"], &found[2]["error"]];
    assert_eq!(
        (&errors[0]["found"], &errors[0]["line"]),
        (&"\"\u{fffd}\" in `line`".into(), &2.into())
    );
    assert_eq!((&errors[1]["found"], &found[2]["id"]), (&"neither".into(), &7.into()));
    assert!(errors.iter().all(|error| error["expected"].is_string() && error["hint"].is_string()));
    assert_eq!((&found[3]["action"], &found[3]["turn"]), (&"ask".into(), &2.into()));
    assert!(finished.stderr.contains("2 bad lines are answered with an error"), "{finished:?}");
}

#[test]
fn bad_arguments_are_refused() {
    let bench = Bench::with_sample();
    for (arguments, says) in [
        (&[""][..], "REQUEST\n  expected: a request"),
        (&["x", "--max-turns", "0"], "--max-turns\n  expected: 1 to "),
    ] {
        let finished = ask(&bench, arguments, "");
        assert_eq!(finished.status, Some(2));
        assert!(finished.stderr.contains(says), "{}", finished.stderr);
    }
}

#[test]
fn python_drives_it_as_a_subprocess() {
    let script = root().join("scripts/clariq_ask.py");
    let bench = Bench::with_sample();
    let program = format!(
        "import sys; sys.path.insert(0, {:?})\n\
         from clariq_ask import ClariqError, Session\n\
         with Session('--data', 'data', '--system', 'bm25-conversation') as session:\n\
         \x20   first = session.request({REQUEST:?}, id=7)\n\
         \x20   second = session.answer('the car')\n\
         \x20   again = session.request({REQUEST:?}, [(first['question'], 'the car')])\n\
         \x20   assert first['id'] == 7 and first['action'] == 'ask', first\n\
         \x20   assert second['question'] == again['question'] != first['question'], (second, again)\n\
         \x20   try:\n\
         \x20       session.answer('')\n\
         \x20   except ClariqError as error:\n\
         \x20       assert 'an empty one' in str(error), error\n\
         \x20   else:\n\
         \x20       raise AssertionError('an empty answer')\n\
         \x20   assert session.answer('the car')['turn'] == 3\n",
        script.parent().expect("a folder").to_string_lossy()
    );
    let mut python = Command::new("python3");
    python
        .args(["-B", "-c", &program])
        .current_dir(bench.path(""))
        .env("CLARIQ", env!("CARGO_BIN_EXE_clariq"));
    let Ok(done) = python.env("CLARIQ_CACHE", bench.path("cache")).output() else {
        println!("skipped: no python3");
        return;
    };
    let done = Finished::from(done);
    assert_eq!(done.status, Some(0), "{}", done.stderr);
}

#[test]
fn a_system_in_the_place_of_the_request_is_said_to_be_the_request() {
    let bench = Bench::with_sample().with_learned("");
    let says = "note: `bm25-conversation` is taken for what the user says; the system is named by --system";
    let asked = run_ask(&bench, &["bm25-conversation", "--max-turns", "1"], "\n");
    assert_eq!(asked.stderr.matches(says).count(), 1, "{}", asked.stderr);
    let named = ask(&bench, &["bm25-conversation", "--max-turns", "1"], "\n");
    assert!(!named.stderr.contains("taken for"), "{}", named.stderr);
}
