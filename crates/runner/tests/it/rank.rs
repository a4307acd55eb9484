//! `clariq rank`: requests as JSON lines in, rankings out.

use crate::common::Bench;
use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpListener;
use std::process::Stdio;
use std::thread;

/// The requests of the sample's dev split as JSON lines.
fn dev_requests(bench: &Bench) -> String {
    let table = std::fs::read_to_string(bench.path("data/dev.tsv")).expect("the sample");
    let mut lines: Vec<String> = Vec::new();
    for row in table.lines().skip(1) {
        let fields: Vec<&str> = row.split('\t').collect();
        let line = json!({ "id": fields[0], "text": fields[1] }).to_string();
        if !lines.contains(&line) {
            lines.push(line);
        }
    }
    lines.join("\n") + "\n"
}

#[test]
fn rankings_are_those_of_a_run_over_the_split() {
    let bench = Bench::with_sample();
    std::fs::write(bench.path("r.jsonl"), dev_requests(&bench)).expect("written");
    bench.succeed("run bm25-tuned --data data --split dev -o dev.run");
    let run = std::fs::read_to_string(bench.path("dev.run")).expect("a run");
    for form in ["", "--batch "] {
        let line = format!("rank bm25-tuned --data data --requests r.jsonl {form}--format trec");
        let ranked = bench.succeed(&line).stdout;
        // The second column is never read; the published runs of ClariQ write 0 there.
        assert_eq!(ranked.replace(" Q0 ", " 0 "), run);
    }
    let ranked = bench.succeed("rank bm25-tuned --data data --requests r.jsonl --depth 2").stdout;
    let first: Value = serde_json::from_str(ranked.lines().next().expect("a line")).expect("JSON");
    let fields: Vec<&str> = run.lines().next().expect("a line").split(' ').collect();
    assert_eq!(first["id"], fields[0]);
    assert_eq!(first["ranking"][0]["id"], fields[2]);
    assert_eq!(first["ranking"][0]["score"].to_string(), fields[4]);
    assert_eq!(first["ranking"].as_array().expect("a list").len(), 2);
    assert!((1..=4).contains(&first["need"].as_u64().expect("a need")));
}

#[test]
fn a_file_without_requests_and_one_in_another_encoding_are_refused() {
    let bench = Bench::with_sample();
    for (text, told) in [
        (&b"\n\n"[..], "r.jsonl: empty file\n  expected: at least one request\n     found: none"),
        (
            b"1\ttea\n2\tcaf\xe9\n",
            "r.jsonl:2\n  expected: UTF-8 text\n     found: \"2\\tcaf\u{fffd}\" in `line`\nhint: convert the file, \
             for example with `iconv -f latin1 -t utf-8`",
        ),
    ] {
        std::fs::write(bench.path("r.jsonl"), text).expect("written");
        let refused = bench.refused("rank bm25 --data data --requests r.jsonl");
        assert!(refused.contains(told), "{refused}");
    }
}

#[test]
fn standard_input_may_be_packed_as_files_may() {
    let bench = Bench::with_sample();
    std::fs::write(bench.path("r.jsonl"), dev_requests(&bench)).expect("written");
    let rank = "\"$0\" -q rank bm25 --data data --format trec";
    let plain = bench.shell(&["sh"], &format!("{rank} < r.jsonl"));
    let packed = bench.shell(&["sh"], &format!("gzip -c r.jsonl | {rank} --requests -"));
    assert_eq!((plain.status, plain.stdout.is_empty()), (Some(0), false));
    assert_eq!(
        (packed.status, packed.stdout, packed.stderr),
        (Some(0), plain.stdout, plain.stderr)
    );
}

#[test]
fn a_request_through_a_pipe_is_answered_before_the_next_is_sent() {
    let bench = Bench::with_sample();
    let mut child = bench
        .command(&["-q", "rank", "bm25", "--data", "data", "--depth", "3"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("started");
    let mut stdin = child.stdin.take().expect("a pipe");
    let mut answers = BufReader::new(child.stdout.take().expect("a pipe")).lines();
    for id in ["a", "b", "c"] {
        writeln!(stdin, "{}", json!({ "id": id, "text": "tell me about tents" })).expect("sent");
        stdin.flush().expect("sent");
        let answer = answers.next().expect("an answer").expect("text");
        let answer: Value = serde_json::from_str(&answer).expect("JSON");
        assert_eq!(answer["id"], id);
    }
    drop(stdin);
    assert!(child.wait().expect("ended").success());
}

#[test]
fn a_bad_line_stops_or_gets_an_error_in_its_place() {
    let bench = Bench::with_sample();
    let lines =
        "{\"id\": 1, \"text\": \"a tent\"}\n{\"id\": 2}\n{\"id\": 3, \"text\": \"a tent\"}\n";
    std::fs::write(bench.path("r.jsonl"), lines).expect("written");
    let stopped = bench.run(&["rank", "bm25", "--data", "data", "--requests", "r.jsonl"]);
    assert_eq!(stopped.status, Some(2));
    assert_eq!(stopped.stdout, "", "nothing is answered before all requests are read");
    for part in ["r.jsonl:2", "expected: ", "found: a request without them", "hint: "] {
        assert!(stopped.stderr.contains(part), "{}", stopped.stderr);
    }
    for form in ["", " --batch"] {
        let line = format!("rank bm25 --data data --requests r.jsonl --skip-bad{form}");
        let finished = bench.succeed(&line);
        let answers: Vec<Value> =
            finished.stdout.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
        assert_eq!(answers[0]["id"], "1");
        assert_eq!(answers[1]["error"]["line"], 2);
        assert_eq!(answers[2]["id"], "3");
        let says = "r.jsonl: 1 bad line is answered with an error";
        assert!(finished.stderr.contains(says), "{}", finished.stderr);
    }
    std::fs::write(bench.path("r.jsonl"), format!("{lines}{{}}\n")).expect("written");
    for form in ["trec", "tsv --batch"] {
        let line = format!("rank bm25 --data data --requests r.jsonl --skip-bad --format {form}");
        let finished = bench.succeed(&line);
        assert!(!finished.stdout.contains("error"), "{}", finished.stdout);
        assert!(finished.stderr.contains("2 bad lines are left out"), "{}", finished.stderr);
    }
}

/// A server on this machine that gives one answer to each connection, and then none.
fn serve(answers: Vec<&'static str>) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let url = format!("http://{}", listener.local_addr().expect("an address"));
    thread::spawn(move || {
        for answer in answers {
            let (mut stream, _) = listener.accept().expect("a connection");
            let mut question = Vec::new();
            // Its query ends the body.
            while !question.ends_with(b"}\n") {
                let mut some = [0; 4096];
                let read = stream.read(&mut some).expect("a question");
                question.extend_from_slice(&some[..read]);
            }
            let head = "HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length";
            write!(stream, "{head}: {}\r\n\r\n{answer}", answer.len()).expect("sent");
        }
    });
    url
}

#[test]
fn a_server_that_fails_is_no_bad_line() {
    let bench = Bench::with_sample();
    let good = r#"{"responses": [{"hits": {"hits": [{"_id": "Q00002", "_score": 1.5}]}}]}"#;
    let bad = r#"{"responses": [{"status": 400, "error": {"type": "too_many_clauses"}}]}"#;
    // The first answer is to the dummy request that checks the system.
    let url = serve(vec![good, good, bad, good]);
    let system = format!(
        "name = \"far\"\n[[stages]]\nstage = \"elasticsearch\"\nurl = \"{url}\"\n\
         index = \"bank\"\nfield = \"text\"\nretries = 0\n"
    );
    bench.write("far.toml", system);
    bench.write("r.jsonl", "{\"id\": 1, \"text\": \"a tent\"}\n".repeat(9));
    let line = ["rank", "far.toml", "--data", "data", "--requests", "r.jsonl", "--skip-bad"];
    let stopped = bench.run(&line);
    assert_eq!(stopped.status, Some(2), "{}", stopped.stderr);
    assert!(stopped.stderr.contains("/_msearch: no usable answer"), "{}", stopped.stderr);
    let answers: Vec<Value> =
        stopped.stdout.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
    assert_eq!(answers.len(), 3);
    assert_eq!(answers[1]["error"]["line"], 2);
    assert_eq!(answers[2]["ranking"][0]["id"], "Q00002");
}

#[test]
fn a_form_of_tables_is_refused() {
    let bench = Bench::with_sample();
    let finished = bench.run(&["rank", "bm25", "--data", "data", "--format", "latex"]);
    assert_eq!(finished.status, Some(2));
    assert!(finished.stderr.contains("jsonl, trec, tsv or csv"), "{}", finished.stderr);
    let finished = bench.run(&["data", "stats", "--data", "data", "--format", "trec"]);
    assert_eq!(finished.status, Some(2));
}

#[test]
fn arguments_are_checked_before_an_index_is_built() {
    let bench = Bench::with_sample();
    bench.write("r.jsonl", "{\"id\": 1, \"text\": \"tents\"}\n");
    for line in [
        "rank bm25 --data data --requests r.jsonl --index idx --format md",
        "rank bm25 --data data --requests absent --index idx",
        "rank bm25 --data data --requests r.jsonl --index idx --k1 0.3 --set bm25.k1=2",
    ] {
        let refused = bench.run(&line.split(' ').collect::<Vec<_>>());
        assert_eq!(refused.status, Some(2), "{line}: {}", refused.stderr);
        assert!(!bench.path("idx").exists(), "{line}");
    }
    let nameless = bench.run(&["run", "", "--data", "data"]);
    assert!(nameless.stderr.starts_with("error: an empty name\n"), "{}", nameless.stderr);
}

#[test]
fn a_requested_depth_is_reached_or_refused() {
    let bench = Bench::with_sample();
    bench.write("r.jsonl", "{\"id\": 1, \"text\": \"tents\"}\n");
    let lines = |arguments: &str| {
        let line = format!("-q rank {arguments} --data data --requests r.jsonl --format trec");
        bench.succeed(&line).stdout.lines().count()
    };
    assert_eq!(lines("bm25-english"), 30);
    assert_eq!(lines("bm25-english --depth 100"), 100);
    assert_eq!(lines("bm25-english --set bm25.depth=100"), 100);
    assert_eq!(lines("bm25-english --set bm25.depth=100 --depth 50"), 50);
    let set = "--set bm25.depth=100 --set cutoff.depth=100";
    let refused = |arguments: &str, found: &str, hint: &str| {
        let line = format!("rank {arguments} --data data --requests r.jsonl");
        let refused = bench.run(&line.split(' ').collect::<Vec<_>>());
        assert_eq!(refused.status, Some(2), "{line}");
        assert!(refused.stderr.contains(found), "{}", refused.stderr);
        assert!(refused.stderr.contains(&format!("hint: {hint}\n")), "{}", refused.stderr);
    };
    refused("bm25-tuned --depth 100", "`bm25.depth` 30, `cutoff.depth` 30", set);
    refused("bm25 --depth 9 --set bm25.depth=5", "`bm25.depth` 5", "--set bm25.depth=9");
    assert_eq!(lines(&format!("bm25-tuned --depth 100 {set}")), 100);
    // All candidates of a request are ranked, whatever the depths, and here the empty question.
    let candidates = "\"candidates\": [\"Q00002\", \"Q00003\"]";
    bench.write("r.jsonl", format!("{{\"id\": 1, \"text\": \"tents\", {candidates}}}\n"));
    assert_eq!(lines("bm25-tuned --depth 100"), 3);
}

#[test]
fn ids_are_printed_as_they_are_in_files_and_escaped_in_json() {
    let bench = Bench::with_sample().with_learned("");
    bench.write("r.jsonl", "{\"id\": \"a\\u001b[2J\\u009b\\u202e\", \"text\": \"tents\"}\n");
    for format in ["jsonl", "trec", "tsv", "csv"] {
        let line = format!("rank bm25 --data data --requests r.jsonl --depth 1 --format {format}");
        let lines = bench.succeed(&line).stdout;
        let printed = lines.lines().last().expect("a line");
        let id = match format {
            "jsonl" => "a\\u001b[2J\\u009b\\u202e",
            _ => "a\u{1b}[2J\u{9b}\u{202e}",
        };
        assert!(printed.contains(id), "{format}: {printed:?}");
    }
    // A message is short and escaped, whatever was found.
    let folder = format!("\u{1b}[2J{}", "x".repeat(70_000));
    for words in [&["doctor", "--data", &folder[..]][..], &["data", "check", "--data", &folder]] {
        let said = bench.run(words).stderr;
        assert!(said.contains("hint: ") && said.len() < 3_000, "{} bytes", said.len());
        assert!(!said.contains('\u{1b}'), "{said}");
    }
}

#[test]
fn tables_of_rankings_have_a_header() {
    let bench = Bench::with_sample();
    bench.write("r.jsonl", "{\"id\": 1, \"text\": \"a tent\"}\n");
    for (format, header) in
        [("csv", "id,rank,document,score,text"), ("tsv", "id\trank\tdocument\tscore\ttext")]
    {
        let line = format!("rank bm25 --data data --requests r.jsonl --depth 2 --format {format}");
        let ranked = bench.succeed(&line).stdout;
        assert_eq!(ranked.lines().next(), Some(header));
        assert_eq!(ranked.lines().count(), 3);
    }
}

#[test]
fn a_text_is_ranked_and_shown_as_a_table_for_people() {
    let bench = Bench::new();
    let table = bench.run(&["rank", "tell me about dogs", "--depth", "2", "--format", "table"]);
    let rows: Vec<&str> = table.stdout.lines().collect();
    assert_eq!(
        rows,
        [
            "tell me about dogs",
            "1  Q00038  5.0922  are you interested in dog sled races",
            "2  Q00196  4.5716  do you want to bring your dog to the tide pool",
            "",
        ]
    );
    let told = "note: using the system bm25 (`clariq systems` lists others)\n";
    assert!(table.stderr.ends_with(told), "{}", table.stderr);
    let words = ["-q", "rank", "bm25", "tell me about dogs", "--depth", "1", "--format", "table"];
    let coloured = bench.command(&words).env("CLICOLOR_FORCE", "1").output().expect("it starts");
    let shown = String::from_utf8(coloured.stdout).unwrap();
    assert!(shown.contains("\u{1b}[1mdog\u{1b}[0m sled races"), "{shown:?}");
    let lines = bench.run(&["rank", "tell me about dogs", "--depth", "1"]);
    assert!(lines.stdout.starts_with("{\"id\":\"request\","), "JSON lines in a pipe: {lines:?}");
    assert!(!lines.stderr.contains("the system"), "{}", lines.stderr);
    let refused = bench.run(&["rank", "bm25", "a text", "--requests", "r.jsonl"]);
    assert_eq!(refused.status, Some(2), "{}", refused.stderr);
}

#[test]
fn a_word_or_a_file_of_requests_needs_no_system() {
    let bench = Bench::with_sample();
    let ranked = bench.succeed("rank tents --data data --depth 1").stdout;
    let named = bench.run(&["rank", "bm25", "tents", "--data", "data", "--depth", "1"]).stdout;
    assert_eq!(ranked, named);
    bench.write("r.csv", "id,text\nrequest,tents\n");
    assert_eq!(bench.succeed("rank --requests r.csv --data data --depth 1").stdout, named);
    assert!(bench.refused("rank bm52 --data data").contains("did you mean `bm25`"));
    assert_eq!(bench.run(&["rank", "--data", "data"]).status, Some(2));
}
