//! Trouble that people reported in public with tools of this kind, tried here. All inputs were made for
//! these tests; a test's name is the right outcome.
//!
//! | reported | input | right |
//! |---|---|---|
//! | `xhluca/bm25s#116`: `k` above the number of documents is an error | depth 30, two documents | both documents |
//! | `dorianbrown/rank_bm25#36`, `deepset-ai/haystack#11598`: division by zero | no documents; documents without words | an error that names the folder; score 0 |
//! | `cvangysel/pytrec_eval#49`: a topic without relevant documents spoils the topics after it | grades of 0 alone | 0 for that topic, the others unchanged |
//! | `usnistgov/trec_eval#22`: ties | equal scores in two orders | descending id, whatever the file's order |
//! | `cvangysel/pytrec_eval#50`: a document twice in a run | the relevant one twice | it counts once, with a warning |
//! | `cvangysel/pytrec_eval#30`: topics that the run lacks | one of two topics | it counts 0 |
//! | `beir-cellar/beir#212`: every rank is 0 | ranks 0, falling scores | the order of the scores |
//! | `terrier-org/pyterrier#253`, #376, #174: quotes and signs in requests | `'`, `?`, `{`, `/`, `"` | ranked as words |
//! | `castorini/anserini#961`: a document without `contents` ends the indexer | `{"id": …}` | an error with file and line |
//! | `castorini/anserini#258`: a document twice in a collection | one id, two lines | an error with both lines |
//! | `beir-cellar/beir#101`: judged documents that the corpus lacks | one such judgement | it counts as missed, with a warning |
//! | `joaopalotti/trectools#47`: grades with a fraction | `0.5` | an error with file and line |

use crate::common::Bench;
use std::fmt::Write as _;

const DOCUMENTS: &str = "{\"_id\":\"d1\",\"title\":null,\"text\":\"green tea\"}\n\
                         {\"_id\":\"d2\",\"title\":\"\",\"text\":\"hot milk\"}\n";

fn bench(files: &[(&str, &str)]) -> Bench {
    let bench = Bench::new();
    for (name, text) in files {
        bench.write(&format!("data/{name}"), text);
    }
    bench
}

/// The documents of a run, in the order of its lines.
fn documents_of(bench: &Bench, run: &str) -> Vec<String> {
    let field = |line: &str| line.split(' ').nth(2).expect("a document").to_owned();
    bench.text(run).lines().map(field).collect()
}

/// The value of a measure for judgements and a run, and the messages.
fn value(qrels: &str, run: &str, measure: &str) -> (String, String) {
    let bench = Bench::new();
    bench.write("a.qrels", qrels);
    bench.write("a.run", run);
    let finished = bench.succeed(&format!("eval a.run --qrels a.qrels -m {measure} --format tsv"));
    let all = finished.stdout.lines().last().expect("a row");
    (all.split('\t').next_back().expect("a value").to_owned(), finished.stderr)
}

#[test]
fn a_depth_above_the_number_of_documents_gives_all_that_share_a_word() {
    let bench = bench(&[("corpus.jsonl", DOCUMENTS), ("queries.test.tsv", "q1\ttea\n")]);
    bench.succeed("run bm25-english --data data --split test -o a.run");
    assert_eq!(documents_of(&bench, "a.run"), ["d1"]);
}

#[test]
fn no_documents_are_an_error_and_documents_without_words_are_no_hits() {
    let empty = bench(&[("corpus.jsonl", ""), ("queries.test.tsv", "q1\ttea\n")]);
    let finished = empty.run(&["run", "bm25-english", "--data", "data", "--split", "test"]);
    assert_eq!(finished.status, Some(2), "{}", finished.stderr);
    let blank = bench(&[
        ("corpus.jsonl", "{\"_id\":\"d1\",\"text\":\"\"}\n{\"_id\":\"d2\",\"text\":\"?!\"}\n"),
        ("queries.test.tsv", "q1\ttea\n"),
    ]);
    for system in ["bm25", "bm25-english", "ql", "rm3"] {
        let line = format!("run {system} --data data --split test -o {system}.run");
        let finished = blank.run(&line.split(' ').collect::<Vec<_>>());
        assert_eq!(finished.status, Some(2), "{}", finished.stderr);
        assert!(finished.stderr.contains("nothing for any of 1 requests"), "{}", finished.stderr);
    }
}

#[test]
fn a_topic_without_relevant_documents_changes_no_other() {
    let qrels = "q1 0 a 0\nq2 0 a 1\nq3 0 b 1\nq3 0 c 1\n";
    let run = "q1 0 a 1 2 t\nq2 0 b 1 2 t\nq2 0 a 2 1 t\nq3 0 b 1 2 t\nq3 0 c 2 1 t\n";
    assert_eq!(value(qrels, run, "RR").0, "0.5");
}

#[test]
fn ties_are_ordered_by_descending_id_whatever_the_order_of_the_file() {
    let qrels = "1 0 a 0\n1 0 b 1\n1 0 c 0\n";
    assert_eq!(value(qrels, "1 0 b 1 1.0 t\n1 0 a 2 1.0 t\n", "nDCG").0, "1");
    for run in ["1 0 b 1 1.0 t\n1 0 c 2 1.0 t\n", "1 0 c 1 1.0 t\n1 0 b 2 1.0 t\n"] {
        assert_eq!(value(qrels, run, "nDCG").0, "0.6309297535714575");
    }
}

#[test]
fn a_document_twice_in_a_run_counts_once_with_a_warning() {
    let run = "1 0 a 1 3 t\n1 0 a 2 2 t\n1 0 b 3 1 t\n";
    let (figure, messages) = value("1 0 a 1\n1 0 b 1\n", run, "nDCG");
    assert_eq!(figure, "1");
    assert!(messages.contains("repeat a document"), "{messages}");
}

#[test]
fn a_topic_that_the_run_lacks_counts_0() {
    assert_eq!(value("1 0 a 1\n2 0 a 1\n", "1 0 a 1 3 t\n", "RR").0, "0.5");
}

#[test]
fn ranks_are_not_read() {
    let run = "1 Q0 b 0 1.5 beir\n1 Q0 a 0 2.5 beir\n";
    assert_eq!(value("1\t0\ta\t1\n", run, "RR").0, "1");
}

#[test]
fn quotes_and_signs_in_requests_are_no_operators() {
    let requests = "q1\tQueen 's tea?\nq2\t{tea} / \"milk\nq3\ttea -milk +green ~*\n";
    let bench = bench(&[("corpus.jsonl", DOCUMENTS), ("queries.test.tsv", requests)]);
    bench.succeed("run bm25-english --data data --split test -o a.run");
    assert_eq!(documents_of(&bench, "a.run"), ["d1", "d2", "d1", "d1", "d2"]);
}

#[test]
fn a_document_without_a_text_and_one_with_a_repeated_id_are_errors_with_their_lines() {
    for (line, at) in [
        ("{\"_id\":\"d3\"}\n", "data/corpus.jsonl:3: expected a key `contents` or `text`"),
        ("{\"_id\":\"d1\",\"text\":\"x\"}\n", "data/corpus.jsonl:3: expected an id that no other"),
    ] {
        let bench = bench(&[("corpus.jsonl", &format!("{DOCUMENTS}{line}"))]);
        let finished = bench.run(&["data", "check", "--data", "data"]);
        assert_eq!(finished.status, Some(1), "{}", finished.stderr);
        let one_line = finished.stderr.replace("\n  expected: ", ": expected ");
        assert!(one_line.contains(at), "{one_line}");
    }
}

#[test]
fn a_judged_document_that_the_collection_lacks_counts_as_missed() {
    let bench = bench(&[
        ("corpus.jsonl", DOCUMENTS),
        ("queries.jsonl", "{\"_id\":\"q1\",\"text\":\"tea\"}\n"),
        ("qrels/test.tsv", "query-id\tcorpus-id\tscore\nq1\td1\t1\nq1\tgone\t1\n"),
    ]);
    bench.succeed("run bm25-english --data data --split test -o a.run");
    let finished = bench.succeed("eval a.run --data data --split test -m R@5 --format tsv");
    assert!(finished.stdout.ends_with("\t0.5\n"), "{}", finished.stdout);
    assert!(finished.stderr.contains("`gone`"), "{}", finished.stderr);
}

#[test]
fn a_grade_with_a_fraction_is_an_error_with_its_line() {
    let bench = Bench::new();
    bench.write("a.qrels", "1 0 a 1\n1 0 b 0.5\n");
    bench.write("a.run", "1 0 a 1 1 t\n");
    let finished = bench.run(&["eval", "a.run", "--qrels", "a.qrels", "-m", "RR"]);
    assert_eq!(finished.status, Some(2));
    assert!(finished.stderr.starts_with("error: a.qrels:2"), "{}", finished.stderr);
}

/// A run over the sample of `ClariQ` with one line for each topic of dev: its spelling, and the form of
/// the other fields.
fn dev_run(bench: &Bench, topic: impl Fn(&str) -> String, rest: &str, end: &str) -> String {
    let mut run = String::new();
    let mut known = Vec::new();
    for row in bench.text("data/dev.tsv").lines().skip(1) {
        let fields: Vec<&str> = row.split('\t').collect();
        if !known.contains(&fields[0].to_owned()) {
            known.push(fields[0].to_owned());
            let question = fields[6];
            let _ = write!(run, "{}{}{end}", topic(fields[0]), rest.replace("QUESTION", question));
        }
    }
    run
}

#[test]
fn topics_are_read_as_numbers_and_lines_may_end_with_a_carriage_return() {
    let bench = Bench::with_sample();
    let plain = |topic: &str| topic.to_owned();
    let rest = " 0 QUESTION 1 2.5 t";
    bench.write("plain.run", dev_run(&bench, plain, rest, "\n"));
    let expected = bench.succeed("eval plain.run --data data --split dev").stdout;
    assert!(!expected.starts_with("Recall5: 0.0\n"));
    for (name, run) in [
        ("float", dev_run(&bench, |topic| format!("{topic}.0"), rest, "\n")),
        ("padded", dev_run(&bench, |topic| format!("000{topic}"), rest, "\n")),
        (
            "quoted",
            dev_run(&bench, |topic| format!("\"{topic}\""), " 0 \"QUESTION\" 1 \"2.5\" t", "\n"),
        ),
        ("returns", dev_run(&bench, plain, rest, "\r")),
        ("both", dev_run(&bench, plain, rest, "\r\n")),
    ] {
        bench.write("a.run", run);
        for command in ["eval", "compare plain.run", "report"] {
            let finished = bench.succeed(&format!("{command} a.run --data data --split dev"));
            assert!(
                command != "eval" || finished.stdout == expected,
                "{name}: {}",
                finished.stdout
            );
        }
        bench.succeed("validate a.run --data data --split dev");
    }
}

#[test]
fn the_validator_refuses_what_the_official_scorer_cannot_read() {
    let bench = Bench::with_sample();
    let plain = |topic: &str| topic.to_owned();
    for (name, rest) in [
        ("tabs.run", "\t0\tQUESTION\t1\t2\tt"),
        ("blanks.run", "  0  QUESTION  1  2  t"),
        ("tabs.need", "\t3"),
    ] {
        bench.write(name, dev_run(&bench, plain, rest, "\n"));
        let finished = bench.run(&["validate", name, "--data", "data", "--split", "dev"]);
        assert_eq!(finished.status, Some(1), "{name}: {}", finished.stderr);
    }
    let warned = bench.succeed("eval blanks.run --data data --split dev");
    assert!(warned.stderr.contains("not as the official scorer needs them"), "{}", warned.stderr);
}

#[test]
fn equal_texts_are_ranked_once_each() {
    let mut documents = String::new();
    for number in 0..200 {
        let _ = writeln!(documents, "{{\"id\": \"river{number}\", \"text\": \"lake {number}\"}}");
    }
    for number in 0..60 {
        let _ =
            writeln!(documents, "{{\"id\": \"gone{number}\", \"text\": \"This page is gone.\"}}");
    }
    let requests = "{\"id\":\"1\",\"text\":\"page gone\"}\n";
    let bench = bench(&[("documents.jsonl", &documents), ("requests.test.jsonl", requests)]);
    bench.succeed("run bm25 --data data --split test -o a.run");
    let mut found = documents_of(&bench, "a.run");
    assert_eq!((found.len(), &*found[0]), (60, "gone9"));
    found.sort_unstable();
    found.dedup();
    assert_eq!(found.len(), 60);
}

#[test]
fn ids_that_begin_with_a_hash_are_scored() {
    let bench = bench(&[
        ("corpus.jsonl", DOCUMENTS),
        (
            "queries.jsonl",
            "{\"_id\":\"#tea\",\"text\":\"tea\"}\n{\"_id\":\"q2\",\"text\":\"milk\"}\n",
        ),
        ("qrels/test.tsv", "query-id\tcorpus-id\tscore\n#tea\td1\t1\n#tea\td2\t1\nq2\td2\t1\n"),
    ]);
    bench.write("a.run", "# made by hand\n#tea Q0 d1 1 2 t\nq2 Q0 d2 1 2 t\n");
    let finished = bench.succeed("eval a.run --data data --split test -m R@5 --format tsv");
    assert!(finished.stdout.ends_with("\t0.75\n"), "{}", finished.stdout);
    assert!(
        finished.stderr.contains("1 lines begin with `#` and are comments"),
        "{}",
        finished.stderr
    );
    bench.succeed("run bm25-english --data data --split test -o own.run");
    assert!(bench.text("own.run").starts_with("#tea 0 d1 1 "));
}

#[test]
fn a_run_in_json_is_named_as_such() {
    let bench = bench(&[
        ("corpus.jsonl", DOCUMENTS),
        ("queries.dev.tsv", "q1\ttea\n"),
        ("qrels.dev.txt", "q1 0 d1 1\n"),
    ]);
    bench.write("run.json", "{\"q1\":{\"d1\":2.5}}\n");
    for with in ["--data data --split dev", "--qrels data/qrels.dev.txt"] {
        let line = format!("eval run.json {with} -m nDCG@10");
        let finished = bench.run(&line.split(' ').collect::<Vec<_>>());
        assert_eq!(finished.status, Some(2));
        let found = "found: a JSON object, such as {\"topic\": {\"document\": score}}";
        assert!(finished.stderr.contains(found), "{}", finished.stderr);
    }
}

#[test]
fn requests_of_beir_and_tables_are_ranked() {
    let bench = bench(&[("corpus.jsonl", DOCUMENTS)]);
    bench.write("q.jsonl", "{\"_id\":\"q1\",\"text\":\"tea\",\"metadata\":{}}\n");
    bench.write("q.tsv", "qid\tquery\r\nq1\ttea\r\n");
    let rank = |file: &str| {
        bench
            .succeed(&format!("rank bm25-english --data data --requests {file} --format trec"))
            .stdout
    };
    assert!(rank("q.jsonl").starts_with("q1 Q0 d1 1 "));
    assert_eq!(rank("q.jsonl"), rank("q.tsv"));
}

#[test]
fn ids_are_written_as_they_are() {
    let bench = bench(&[("documents.jsonl", "{\"id\":\"a\\u001bb\\u202e\",\"text\":\"tea\"}\n")]);
    bench.write("q.jsonl", "{\"id\":\"q\",\"text\":\"tea\"}\n");
    for (format, field) in [("trec", 2), ("tsv", 2)] {
        let line = format!("rank bm25-english --data data --requests q.jsonl --format {format}");
        let last = bench.succeed(&line).stdout.lines().last().expect("a line").to_owned();
        let id = last.split([' ', '\t']).nth(field).expect("an id").to_owned();
        assert_eq!(id, "a\u{1b}b\u{202e}", "{format}");
    }
}

#[test]
fn standard_input_and_output_have_one_meaning_each() {
    let bench = Bench::with_sample();
    bench.write("q.jsonl", "{\"id\":\"q\",\"text\":\"tea\"}\n");
    let twice = "rank bm25 --data data --requests - --rewrites - --rewritten-by people <q.jsonl";
    let finished = bench.shell(&["bash"], &format!("\"$0\" {twice}"));
    assert_eq!(finished.status, Some(2));
    assert!(
        finished.stderr.contains("standard input for one of the inputs"),
        "{}",
        finished.stderr
    );
    bench.succeed("run bm25 --data data --split dev -o a.run");
    bench.succeed("eval a.run --data data --split dev --out-file a.json");
    let printed = bench.succeed("eval a.run --data data --split dev --out-file -").stdout;
    assert_eq!(printed, bench.text("a.json"));
    assert!(!bench.path("-").exists());
    for line in ["data export --data data -o -", "report a.run --data data --charts -"] {
        let finished = bench.run(&line.split(' ').collect::<Vec<_>>());
        assert_eq!(finished.status, Some(2), "{line}");
        assert!(finished.stderr.contains("a folder, which `-` is not"), "{}", finished.stderr);
    }
}
