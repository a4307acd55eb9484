//! Systems whose models are behind an endpoint, by the program without libtorch: runs and their
//! replay, costs, faults, and the key, which is in no file and no message.

use crate::common::{Bench, Finished};
use crate::stub::{Received, Reply, Stub, dialects};
use clariq_core::Checksum;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

const KEY: &str = "sk-2f0e77a1c3";

/// A bench whose `clariq-learned` cannot be started.
fn bench() -> Bench {
    Bench::with_sample().with_learned("/nonexistent/clariq-learned")
}

fn reranker(stub: &Stub, more: &str) -> String {
    format!(
        "name = \"far\"\n[models.far-reranker]\nkind = \"rerank\"\nurl = \"{}/v1\"\n\
         model = \"shared-words\"\nretries = 0\n{more}\n\
         [[stages]]\nstage = \"bm25\"\nanalyzer = \"english\"\ndepth = 40\n\
         [[stages]]\nstage = \"rerank\"\nmodel = \"far-reranker\"\ndepth = 20\n",
        stub.url
    )
}

fn encoder(stub: &Stub, more: &str) -> String {
    format!(
        "name = \"near\"\n[space]\nmodels = {{ \"far-encoder\" = 1.0 }}\n\
         [models.far-encoder]\nkind = \"embed\"\nurl = \"{}\"\ndialect = \"tei\"\n\
         model = \"letters\"\nretries = 0\n{more}\n\
         [[stages]]\nstage = \"dense\"\ndepth = 30\n",
        stub.url
    )
}

fn run(bench: &Bench, line: &str) -> Finished {
    let words: Vec<&str> = line.split_whitespace().collect();
    let output = bench.command(&words).env("CLARIQ_API_KEY", KEY).output();
    Finished::from(output.expect("it starts"))
}

fn succeed(bench: &Bench, line: &str) -> Finished {
    let finished = run(bench, line);
    assert_eq!(finished.status, Some(0), "{line}: {}", finished.stderr);
    finished
}

/// The files of a folder and below, by their names in it.
fn files(folder: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut all = BTreeMap::new();
    for entry in fs::read_dir(folder).expect("a folder") {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            all.extend(files(&path));
        } else {
            let content = fs::read(&path).expect("a file");
            all.insert(path, content);
        }
    }
    all
}

/// Asserts that no file, unpacked, contains a text, except the file `but`.
fn assert_in_no_file(bench: &Bench, text: &str, but: &str) {
    for (path, content) in files(&bench.path("")) {
        if path.ends_with(but) {
            continue;
        }
        let source = clariq_files::Source::new(&path);
        let unpacked = source.read().map_or(content, |input| input.bytes.into_owned());
        let found = String::from_utf8_lossy(&unpacked).contains(text);
        assert!(!found, "{text} in {}", path.display());
    }
}

#[test]
fn a_run_over_a_reranker_is_recorded_and_replayed_without_the_server() {
    let bench = bench();
    let stub = Stub::working();
    bench.write("far.toml", reranker(&stub, "batch = 8"));
    let shown = succeed(&bench, "run far.toml --data data -o one/far.run").stdout;
    assert!(shown.contains("far"), "{shown}");
    let sent = stub.received();
    assert!(sent.iter().all(|one| one.path == "/v1/rerank"));
    assert!(sent.iter().all(|one| one.headers.contains(&format!("authorization: Bearer {KEY}"))));
    let record: Value = serde_json::from_slice(&bench.read("one/far.run.json")).expect("JSON");
    let described = json!({ "kind": "rerank", "model": "shared-words", "dialect": "v1" });
    assert_eq!(record["endpoints"]["far-reranker"], described);
    assert_eq!(record["outputs"]["completions"]["file"], "far.run.completions.jsonl.zst");
    assert!(record.get("arithmetic").is_none(), "nothing was computed here");
    let recorded = clariq_files::Source::new(bench.path("one/far.run.completions.jsonl.zst"));
    let unpacked = Checksum::of(&recorded.read().expect("a file").bytes);
    assert_eq!(record["outputs"]["completions"]["sha256"], unpacked.as_str());
    // The replay needs neither the cache nor the server.
    fs::remove_dir_all(bench.path("cache")).expect("removed");
    let line = "run far.toml --data data --replay one/far.run.completions.jsonl.zst -o two/far.run";
    let replayed = bench.succeed(line);
    assert_eq!(stub.received().len(), sent.len(), "{}", replayed.stderr);
    let names = |folder: &str| {
        let named = files(&bench.path(folder)).into_iter();
        named.map(|(path, content)| (path.file_name().unwrap().to_owned(), content)).collect()
    };
    let [one, two]: [BTreeMap<_, _>; 2] = ["one", "two"].map(names);
    assert_eq!(one.keys().collect::<Vec<_>>(), two.keys().collect::<Vec<_>>());
    assert!(one == two, "the same bytes");
    assert_in_no_file(&bench, KEY, "");
    assert_in_no_file(&bench, &stub.url, "far.toml");
    // A file is not replaced by what is replayed from it.
    let refused = run(&bench, &line.replace("two/far.run", "one/far.run"));
    assert_eq!(refused.status, Some(2), "{}", refused.stderr);
    // Other documents are other requests.
    let refused = run(&bench, &line.replace("-o", "--split train -o"));
    assert_eq!(refused.status, Some(2), "{}", refused.stderr);
    assert!(refused.stderr.contains("found: none to this request"), "{}", refused.stderr);
    assert!(refused.stderr.contains("expected: the answer for \""), "{}", refused.stderr);
    // The second of two runs takes everything from the cache.
    succeed(&bench, "run far.toml --data data -o three/far.run");
    succeed(&bench, "run far.toml --data data -o four/far.run");
    assert_eq!(stub.received().len(), 2 * sent.len());
    assert!(bench.read("four/far.run") == bench.read("one/far.run"));
}

#[test]
fn dense_retrieval_over_an_encoder_is_replayed_without_libtorch_and_server() {
    let bench = bench();
    let stub = Stub::working();
    bench.write("near.toml", encoder(&stub, "dimensions = 4"));
    succeed(&bench, "run near.toml --data data -o near.run");
    let sent = stub.received();
    let texts = |one: &Received| one.body["inputs"].as_array().expect("texts").len();
    assert_eq!(sent.iter().map(texts).filter(|&count| count > 1).max(), Some(32));
    assert!(sent.iter().filter(|one| texts(one) == 1).count() >= 15, "each request by itself");
    succeed(&bench, "run near.toml --data data -o again.run");
    assert_eq!(stub.received().len(), sent.len(), "all vectors are cached");
    // A second system of one command has documents in its recording, too.
    bench.write("other.toml", encoder(&stub, "dimensions = 4").replace("\"near\"", "\"other\""));
    succeed(&bench, "run near.toml other.toml --data data");
    let recording = |run: &str| format!("{run}.completions.jsonl.zst");
    let first = bench.read(&recording("near.run"));
    assert!(first == bench.read(&recording("again.run")));
    assert!(first == bench.read(&recording("runs/sample/other.dev.run")));
    fs::remove_dir_all(bench.path("cache")).expect("removed");
    let replay = format!("--replay {}", recording("near.run"));
    bench.succeed(&format!("run near.toml --data data {replay} -o two/near.run"));
    assert_eq!(stub.received().len(), sent.len());
    for file in ["near.run".to_owned(), "near.run.json".to_owned(), recording("near.run")] {
        assert!(bench.read(&file) == bench.read(&format!("two/{file}")), "{file}");
    }
    let refused = run(&bench, &format!("run near.toml --data data --split train {replay}"));
    assert_eq!(refused.status, Some(2), "{}", refused.stderr);
    assert!(refused.stderr.contains("found: none to this request"), "{}", refused.stderr);
    assert_in_no_file(&bench, KEY, "");
    for system in ["near.toml", "other.toml"] {
        bench.remove(system);
    }
    assert_in_no_file(&bench, &stub.url, "");
}

#[test]
fn a_dry_run_counts_calls_and_max_calls_stops() {
    let bench = bench();
    let stub = Stub::working();
    bench.write("far.toml", reranker(&stub, ""));
    bench.write("near.toml", encoder(&stub, "dimensions = 4"));
    let before = bench.snapshot();
    let planned = succeed(&bench, "run far.toml near.toml --data data --dry-run --format json");
    let rows: Value = serde_json::from_str(&planned.stdout).expect("JSON");
    assert_eq!(rows[0]["model"], "far-reranker");
    assert_eq!(rows[0]["calls"], 15, "{}", planned.stdout);
    assert!(rows[0]["tokens read"].as_u64() > Some(1000), "{}", planned.stdout);
    assert_eq!(rows[1]["model"], "far-encoder");
    assert!(planned.stderr.contains("note: nothing was sent"), "{}", planned.stderr);
    assert!(stub.received().is_empty() && bench.snapshot() == before);
    let stopped = run(&bench, "run far.toml --data data --max-calls 5 -o far.run");
    assert_eq!(stopped.status, Some(2), "{}", stopped.stderr);
    assert!(stopped.stderr.contains("error: --max-calls"), "{}", stopped.stderr);
    assert!(bench.snapshot() == before);
    assert_eq!(stub.received().len(), 5);
    let planned = succeed(&bench, "run far.toml --data data --dry-run --format json");
    let rows: Value = serde_json::from_str(&planned.stdout).expect("JSON");
    assert_eq!((&rows[0]["calls"], &rows[0]["in cache"]), (&json!(10), &json!(5)));
    let priced = "run far.toml --data data --dry-run --price 2000,10 --format json";
    let priced: Value = serde_json::from_str(&succeed(&bench, priced).stdout).expect("JSON");
    let tokens = |key: &str| rows[0][key].as_f64().expect("a count");
    let price = (2000.0 * tokens("tokens read") + 10.0 * tokens("tokens written")) / 1e6;
    assert!((priced[0]["price"].as_f64().expect("a price") - price).abs() < 1e-9, "{priced}");
    succeed(&bench, "run far.toml --data data --max-calls 10 -o far.run");
    assert_eq!(stub.received().len(), 15);
    let encoded = succeed(&bench, "run near.toml --data data -o near.run");
    assert!(!encoded.stderr.contains("damaged"), "the dry run left no vectors");
    assert!(stub.received().len() > 15);
}

#[test]
fn a_server_that_fails_leaves_nothing_and_the_key_is_in_no_message() {
    let bench = bench();
    let echo = |received: &Received, _: usize| {
        let said = received.headers.iter().find(|line| line.starts_with("authorization"));
        Reply::status(400, &format!("bad request, {}", said.expect("a header")))
    };
    let echo_late = |received: &Received, _: usize| {
        let said = received.headers.iter().find(|line| line.starts_with("authorization"));
        Reply::status(400, &format!("{}{}", "x".repeat(270), said.expect("a header")))
    };
    let broken = |received: &Received, number: usize| {
        if number > 3 { Reply::Cut } else { dialects(received) }
    };
    let half = |received: &Received, _: usize| {
        let Reply::Json(mut answer) = dialects(received) else { panic!() };
        answer["results"].as_array_mut().unwrap().pop();
        Reply::Json(answer)
    };
    let cases: [(Stub, &str); 5] = [
        (
            Stub::start(echo),
            "status 400 Bad Request: bad request, authorization: Bearer [authorization]",
        ),
        (Stub::start(echo_late), "xauthorization: Bearer [auth"),
        (Stub::start(broken), "no usable answer"),
        (Stub::start(half), "no score for index 0"),
        (Stub::always(Reply::Endless), "an answer of more than 64 MiB"),
    ];
    for (stub, says) in cases {
        bench.write("far.toml", reranker(&stub, "concurrency = 3"));
        let before = bench.snapshot();
        let failed = run(&bench, "run far.toml --data data -o far.run");
        assert_eq!(failed.status, Some(2), "{says}: {}", failed.stderr);
        assert!(failed.stderr.contains(says), "{says}: {}", failed.stderr);
        assert!(failed.stderr.contains("for \""), "the request is named: {}", failed.stderr);
        assert!(!failed.stderr.contains(&KEY[..6]), "{}", failed.stderr);
        assert!(bench.snapshot() == before, "{says}: a file was left or changed");
        assert_in_no_file(&bench, KEY, "");
    }
}

#[test]
fn a_model_uses_its_own_key_or_the_common_one() {
    let bench = bench();
    let stub = Stub::working();
    bench.write("far.toml", reranker(&stub, ""));
    let line = ["run", "far.toml", "--data", "data", "-o", "far.run"];
    let mut command = bench.command(&line);
    command.env("CLARIQ_API_KEY", KEY).env("CLARIQ_API_KEY_FAR_RERANKER", "sk-another-one");
    assert!(command.output().expect("it starts").status.success());
    let bearer = "authorization: Bearer sk-another-one".to_owned();
    assert!(stub.received().iter().all(|one| one.headers.contains(&bearer)));
    for bad in ["short", "sk-with a space", "sk-with\nanother line"] {
        let refused = bench.command(&line).env("CLARIQ_API_KEY", bad).output().expect("it starts");
        let refused = Finished::from(refused);
        assert_eq!(refused.status, Some(2), "{bad}");
        let says = "environment variable CLARIQ_API_KEY";
        assert!(
            refused.stderr.contains(says) && !refused.stderr.contains(bad),
            "{}",
            refused.stderr
        );
    }
}

#[test]
fn models_that_do_not_fit_are_refused_without_secrets() {
    let bench = bench();
    let stub = Stub::working();
    let whole = reranker(&stub, "");
    let with = |old: &str, new: &str| whole.replacen(old, new, 1);
    let far = format!("url = \"{}/v1\"", stub.url);
    for (text, says) in [
        (with(&far, "url = \"http://me:secret@host\""), "error: far.toml:2\n"),
        (with("kind = \"rerank\"", "kind = \"embed\""), "model `far-reranker`"),
        (with("model = \"far-reranker\"", "model = \"other\""), "clariq-learned: cannot start"),
        (with("depth = 20", "depth = 20\nmax_tokens = 9"), "without overrides"),
    ] {
        bench.write("far.toml", &text);
        let refused = run(&bench, "run far.toml --data data -o far.run");
        assert_eq!(refused.status, Some(2), "{says}: {}", refused.stderr);
        assert!(refused.stderr.contains(says), "{says}: {}", refused.stderr);
        assert!(!refused.stderr.contains("secret"), "{}", refused.stderr);
    }
    // Two systems of one command cannot mean two models by one name.
    bench.write("far.toml", &whole);
    bench.write("other.toml", with("shared-words", "others").replacen("far", "other", 1));
    let refused = run(&bench, "run far.toml other.toml --data data");
    assert!(refused.stderr.contains("one model of that name"), "{}", refused.stderr);
    // Another URL does not change the system's name; another model does.
    let moved = Stub::working();
    let set = format!("--set models.far-reranker.url={}/v1", moved.url);
    succeed(&bench, &format!("run far.toml --data data {set}"));
    succeed(&bench, "run far.toml --data data --set models.far-reranker.model=b");
    for name in ["far.dev.run", "far-model-b.dev.run"] {
        assert!(bench.path("runs/sample").join(name).exists(), "{name}");
    }
    assert_eq!(moved.received().len(), 15);
}
