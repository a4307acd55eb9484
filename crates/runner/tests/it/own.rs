//! Collections of one's own through every command; a bank of questions alone; and mistakes of new
//! users.

use crate::common::Bench;
use serde_json::{Value, json};

/// The sample of documents of one's own as `data`. None of it needs learned models.
fn bench() -> Bench {
    let bench = Bench::new().with_learned("");
    bench.copy("data/sample-own", "data");
    bench
}

#[test]
fn explain_counts_the_documents_that_a_run_has() {
    let bench = bench();
    let stage =
        "[[stages]]\nstage = \"bm25\"\nanalyzer = \"english\"\nvariant = \"lucene\"\ndepth = 2\n";
    bench.write("two.toml", format!("name = \"two\"\n{stage}"));
    bench.succeed("run two.toml --data data --split dev -o a.run");
    let run = bench.text("a.run");
    let lines = run.lines().filter(|line| line.starts_with("d1 ")).count();
    let explain = "explain bread/4 --topic d1 --data data --split dev --system two.toml";
    let explained = bench.succeed(explain).stdout;
    assert!(lines > 2 && explained.contains(&format!("bm25: rank 1 of {lines}, ")), "{explained}");
    let explained = bench.succeed(&format!("{explain} --set bm25.depth=2")).stdout;
    assert!(explained.contains("bm25: rank 1 of 2, "), "{explained}");
}

#[test]
fn every_command_works_on_documents_of_ones_own() {
    let bench = bench();
    let system = "name = \"mine\"\n[[stages]]\nstage = \"bm25\"\nanalyzer = \"english\"\n\
                  variant = \"lucene\"\ndepth = 30\n[[expected]]\ncollection = \"mine\"\n\
                  bank = \"38f1b87dce06\"\nsplit = \"dev\"\n[expected.measures]\n\"nDCG@10\" = 0.9\n";
    bench.write("mine.toml", system);
    bench.succeed("data check --data data");
    bench.succeed("data stats --data data");
    bench.succeed("-q run mine.toml --data data --split dev -o a.run");
    bench.succeed("-q run mine.toml --data data --split dev --set bm25.k1=0.4 -o b.run");
    let scored = bench.succeed("eval a.run --data data --split dev --format json").stdout;
    bench.succeed("compare a.run b.run --data data --split dev");
    bench.succeed("report a.run b.run --data data --split dev");
    bench.succeed("tune mine.toml --data data --grid bm25.k1=0.4,1.2 -m nDCG@10 --folds 3");
    bench.succeed("validate a.run --data data --split dev");
    bench.succeed("explain saddle bike/4 --data data --system mine.toml");
    bench.succeed("doctor --data data");
    let asked = bench.succeed("ask saddle --data data --max-turns 1 --system bm25-conversation");
    assert!(asked.stdout.contains("heel"), "{}", asked.stdout);
    // The configuration expects other figures, so the check fails.
    let reproduced = bench.run(&["reproduce", "mine.toml", "--data", "data", "--runs", "r"]);
    assert!(reproduced.stdout.contains("nDCG@10"), "{reproduced:?}");
    bench.succeed("data export --data data -o again");
    bench.succeed("-q run mine.toml --data again --split dev -o again.run");
    let again = bench.succeed("eval again.run --data again --split dev --format json");
    assert_eq!(again.stdout, scored);
}

#[test]
fn one_judged_request_cannot_be_divided_into_folds() {
    let bench = bench();
    bench.write("data/qrels.dev.txt", "d1 0 bread/4 1\n");
    let tune = "tune bm25-english --data data --split dev --grid bm25.k1=0.4,1.2 -m nDCG@10";
    assert_eq!(
        bench.refused(tune),
        "error: --split\n  expected: judgements of at least 2 conversations\n     found: 1 conversation\n\
         hint: each of them is held out in turn: judge more requests\n"
    );
}

#[test]
fn documents_alone_are_ranked() {
    let bench = Bench::new();
    bench.write(
        "data/mine.jsonl",
        "{\"id\": \"a\", \"contents\": \"red tea\"}\n{\"id\": \"b\", \"contents\": \"a car\"}\n",
    );
    bench.write("requests.jsonl", "{\"id\": 1, \"text\": \"tea\"}\n");
    let ranked = bench.succeed("rank bm25-english --data data --requests requests.jsonl --depth 1");
    assert!(ranked.stdout.contains("\"a\""), "{}", ranked.stdout);
    let refused = bench.run(&["run", "bm25", "--data", "data"]);
    assert!(
        refused.status == Some(2) && refused.stderr.contains("`requests.dev.jsonl`"),
        "{refused:?}"
    );
}

#[test]
fn documents_of_ones_own_are_passages_to_answer_from() {
    let bench = bench();
    let request = "{\"id\": 1, \"text\": \"keep bread fresh\", \"statements\": [\"I am tall.\", \
                   \"I bake bread.\"]}\n";
    bench.write("requests.jsonl", request);
    let rank = "rank ikat-bm25 --data data --requests requests.jsonl --depth 3";
    let ranked: Value = serde_json::from_str(&bench.succeed(rank).stdout).expect("JSON");
    assert_eq!(ranked["response"]["statements"], json!(["2"]));
    let passages = ranked["response"]["passages"].as_array().expect("passages");
    assert_eq!(passages.first(), Some(&ranked["documents"][0]["id"]), "{ranked}");
    let answer = ranked["response"]["text"].as_str().expect("a text");
    assert!(answer.contains("linen bag"), "{answer}");
    // One by one or together, and without any request.
    assert_eq!(bench.succeed(&format!("{rank} --batch")).stdout, bench.succeed(rank).stdout);
    bench.write("none.jsonl", "");
    bench.succeed("rank ikat-bm25 --data data --requests none.jsonl --batch --skip-bad");
    bench.write("me.txt", "I bake bread.\n");
    let ask = "ask bread --data data --system ikat-bm25 --statements me.txt";
    assert!(bench.succeed(ask).stdout.contains("linen bag"));
    bench.succeed("explain bread bread/4 --data data --system ikat-bm25");
    let fail = |line: &str| {
        let failed = bench.run(&line.split(' ').collect::<Vec<_>>());
        assert_eq!(failed.status, Some(2), "{line}");
        failed.stderr
    };
    let unknown = fail("explain bread nope --data data --system ikat-bm25");
    assert!(unknown.contains("the id of a document"), "{unknown}");
    // Such answers have no form for submissions, and a file of requests has no users.
    let run = fail("run ikat-bm25 --data data --split dev");
    assert!(run.contains("`clariq rank` and `clariq ask`"), "{run}");
    bench.write("data/requests.dev.jsonl", request);
    let run = fail("run bm25-english --data data --split dev");
    assert!(run.contains("a request without `statements`"), "{run}");
    assert!(run.contains("by a system that answers"), "{run}");
}

#[test]
fn a_bank_of_questions_alone_is_asked_from() {
    let bench = Bench::with_sample();
    let bank = bench.text("data/question_bank.tsv");
    let bank: String = bank
        .lines()
        .filter(|line| !line.starts_with("Q00001\t"))
        .map(|line| line.to_owned() + "\n")
        .collect();
    bench.write("mine/question_bank.tsv", bank);
    let asked = bench.run(&[
        "ask",
        "tell me about saturn",
        "--data",
        "mine",
        "--max-turns",
        "1",
        "--system",
        "bm25-conversation",
    ]);
    assert_eq!(asked.status, Some(0), "{}", asked.stderr);
    assert!(asked.stdout.contains("saturn"), "{}", asked.stdout);
    assert_eq!(asked.stderr.matches("no need labels in mine").count(), 1, "{}", asked.stderr);
    bench.succeed("data check --data mine");
    bench.write("requests.jsonl", "{\"id\": 1, \"text\": \"tell me about saturn\"}\n");
    bench.succeed("-q run bm25-tuned --data mine --requests requests.jsonl -o a.run");
    // With labels for the same bank elsewhere, a model can be trained there and named here.
    bench.write("labelled/question_bank.tsv", bench.read("mine/question_bank.tsv"));
    let train = bench.text("data/train.tsv");
    let train: String = train
        .lines()
        .filter(|line| !line.contains("\tQ00001\t"))
        .map(|line| line.to_owned() + "\n")
        .collect();
    bench.write("labelled/train.tsv", train);
    bench.succeed("-q need train bm25-conversation --data labelled -o need.json");
    let ranked = bench.succeed(
        "rank bm25-conversation --data mine --need-model need.json --requests requests.jsonl",
    );
    assert!(!ranked.stdout.contains("\"need\":null"), "{}", ranked.stdout);
    // A model that is named predicts beside every system.
    let line = "rank bm25 --data mine --need-model need.json --requests requests.jsonl";
    let ranked = bench.succeed(line);
    assert!(!ranked.stdout.contains("\"need\":null"), "{}", ranked.stdout);
}

#[test]
fn a_repeated_document_counts_once_with_one_warning() {
    let bench = bench();
    bench.write(
        "a.run",
        "d1 0 bike/1 1 4 a\nd1 0 bread/4 2 3 a\nd1 0 bread/4 3 2 a\nd1 0 bike/1 4 1 a\n",
    );
    let scored = bench.succeed("eval a.run --data data --split dev -m RR -m P@5");
    assert!(scored.stdout.contains("0.062500"), "RR is 1/2 of 8 requests: {}", scored.stdout);
    assert_eq!(scored.stderr.matches("2 lines repeat a document").count(), 1, "{}", scored.stderr);
    bench.write("b.run", "d1 0 bread/4 1 4 b\n");
    bench.succeed("compare a.run b.run --data data --split dev -m nDCG@10");
    bench.succeed("eval a.run --data data --split dev -m RR --ties interval");
}

#[test]
fn nothing_is_fetched_into_a_folder_of_ones_own() {
    let bench = bench();
    let refused = bench.run(&["data", "fetch", "--data", "data"]);
    assert!(refused.status == Some(2) && refused.stderr.contains("files of own"), "{refused:?}");
    bench.write("data/documents.jsonl", "{\"id\": 1}\n");
    let doctor = bench.run(&["doctor", "--data", "data"]);
    assert!(!doctor.stderr.contains("data fetch"), "{}", doctor.stderr);
}

#[test]
fn labels_of_files_give_the_same_results_as_those_of_a_split() {
    let bench = bench();
    for (k1, name) in [("0.9", "a"), ("0.2", "b")] {
        bench.succeed(&format!(
            "-q run bm25-english --data data --k1 {k1} --split dev -o {name}.run"
        ));
    }
    // A glob takes the records along.
    let labels = "--qrels data/qrels.dev.txt --requests data/requests.dev.jsonl";
    let by_file =
        bench.succeed(&format!("compare a.run a.run.json b.run b.run.json -m nDCG@10 {labels}"));
    let by_split = bench.succeed("compare a.run b.run -m nDCG@10 --data data --split dev");
    assert_eq!(by_file.stdout, by_split.stdout);
    bench.succeed(&format!("report a.run a.run.json b.run {labels} -o page.html"));
    let page = bench.text("page.html");
    for shown in ["knee pain when cycling", "a (bm25.k1 0.9)", "b (bm25.k1 0.2)"] {
        assert!(page.contains(shown), "{shown}");
    }
    let tuned = |labels: &str| {
        let line = "tune bm25-english --data data --grid bm25.k1=0.2,0.9 -m nDCG@10 --folds 3";
        bench.succeed(&format!("{line} {labels}")).stdout
    };
    assert_eq!(tuned(labels), tuned("--split dev"));
}

#[test]
fn runs_are_deep_lie_below_the_name_of_the_folder_and_have_no_document_without_a_word() {
    let bench = Bench::new();
    let line = |number| format!("{{\"id\": \"d{number}\", \"text\": \"green tea {number}\"}}\n");
    let mut documents: String = (0..60).map(line).collect();
    documents += "{\"id\": \"other\", \"text\": \"hot milk\"}\n";
    bench.write("beir/documents.jsonl", documents);
    bench.write("beir/requests.test.jsonl", "{\"id\": \"1\", \"text\": \"tea\"}\n");
    bench.succeed("-q run bm25-english --data beir");
    let run = bench.text("runs/beir/bm25-english.test.run");
    assert_eq!(run.lines().count(), 60);
    assert!(!run.contains(" other "), "it shares no word");
    bench.succeed("-q run bm25-english --data beir --depth 5 -o five.run");
    assert_eq!(bench.text("five.run").lines().count(), 5);
    let mut command = bench.command(&["-q", "run", "bm25-english", "-o", "named.run"]);
    assert!(command.env("CLARIQ_DATA", "beir").status().expect("it starts").success());
    assert_eq!(bench.text("named.run").lines().count(), 60);
}

#[test]
fn a_run_is_scored_after_the_documents_have_grown() {
    let bench = Bench::new();
    bench.write("mine/documents.jsonl", "{\"id\": \"a\", \"text\": \"green tea\"}\n");
    bench.write("mine/requests.test.jsonl", "{\"id\": \"1\", \"text\": \"tea\"}\n");
    bench.write("mine/qrels.test.txt", "1 0 a 1\n");
    bench.succeed("-q run bm25-english --data mine");
    bench.edit("mine/documents.jsonl", |text| text + "{\"id\": \"b\", \"text\": \"hot milk\"}\n");
    let line = "eval runs/mine/bm25-english.test.run --data mine -m RR --format tsv";
    let told = bench.succeed(line);
    assert_eq!(told.stdout, "measure\ttopic\tvalue\nRR\tall\t1\n");
    assert!(told.stderr.contains("those that were added since cannot be in it"), "{}", told.stderr);
}

#[test]
fn a_folder_without_a_collection_is_named_by_every_command() {
    let bench = Bench::new().with_learned("");
    bench.write("data/documents.parquet", "PAR1");
    bench.write("one.run", "q1 0 a 1 1 t\n");
    let refused = |line: &str| bench.refused(&format!("{line} --data data --split dev"));
    let expected = refused("run bm25-english");
    assert!(expected.starts_with("error: data: missing file\n"), "{expected}");
    for line in ["eval one.run", "validate one.run", "tune bm25-english --grid bm25.b=0,1"] {
        assert_eq!(refused(line), expected, "{line}");
    }
}

#[test]
fn measures_are_not_marked_where_every_document_with_a_word_was_ranked() {
    let bench = Bench::new().with_learned("");
    let documents = "a\tblack tea\nb\tgreen tea\nc\tblack coffee\nd\tgreen coffee\n";
    bench.write("data/collection.tsv", documents);
    bench.write("data/queries.dev.tsv", "1\ttea\n2\tcoffee\n");
    bench.write("data/qrels.dev.txt", "1 0 a 1\n2 0 d 1\n");
    let scored =
        |run: &str| bench.succeed(&format!("-q eval {run} --data data -m R@5 --split dev"));
    bench.succeed("-q run bm25-english --data data --split dev -o all.run");
    let all = scored("all.run");
    assert_eq!(
        (&*all.stdout, &*all.stderr),
        ("measure  topic     value\nR@5      all    1.000000\n", "")
    );
    bench.succeed("-q run bm25-english --data data --split dev --depth 2 -o cut.run");
    assert!(scored("cut.run").stdout.contains("1.000000°"), "a run of two documents, cut at two");
}

#[test]
fn a_folder_with_one_split_is_divided_and_every_part_is_used() {
    let bench = Bench::new().with_learned("");
    let each = |line: fn(u32) -> String| (0..40).map(line).collect::<Vec<_>>().concat();
    let requests = each(|number| format!("q{number},word{number}\n"));
    let qrels = each(|number| format!("q{number} 0 d{number} {}\n", 1 + number % 2));
    let documents = each(|number| {
        json!({ "id": format!("d{number}"), "text": format!("word{number}") }).to_string() + "\n"
    });
    bench.write("shop/requests.csv", format!("id,text\n{requests}"));
    bench.write("shop/qrels.txt", qrels);
    bench.write("shop/documents.ndjson", documents);
    bench.succeed("tune bm25-english --data shop --grid bm25.k1=0.4,1.2 --folds 4");
    let divide = "data split --data shop --train .6 --dev .2 -o parts --format tsv";
    let divided = bench.succeed(divide).stdout;
    let lines: Vec<&str> = divided.lines().filter_map(|line| line.split('\t').nth(1)).collect();
    assert_eq!(lines, ["lines", "40", "24", "24", "8", "8", "8", "8"], "{divided}");
    bench.succeed("data check --data parts");
    bench.succeed("-q run bm25-english --data parts --split test -o a.run");
    let scored = bench.succeed("eval a.run --data parts --format json").stdout;
    assert!(scored.contains("\"nDCG@10\""), "{scored}");
    let refused = bench.refused("data split --data parts --train .6 --dev .2 -o again");
    assert!(refused.contains("train, dev, test"), "{refused}");
    let refused = bench.refused("data split --data shop --train .6 --dev .5 -o again");
    assert!(refused.contains("1.1 together"), "{refused}");
}
