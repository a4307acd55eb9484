//! Collections of a user's own: the forms that are recognised, and the files that are refused.

use clariq_collections::evaluation::{ComparisonOptions, EvalRequest, ResultCell};
use clariq_collections::{Collection, DataDir, NeedLabel, OWN, Split};
use clariq_core::{Doc, Error, Request, Speaker};
use clariq_files::{Qrels, Source};
use clariq_tracks::TRACKS;
use flate2::Compression;
use flate2::write::GzEncoder;
use serde_json::json;
use std::fmt::Write as _;
use std::fs;
use std::io::Write as _;
use std::path::Path;
use tempfile::TempDir;

fn folder(files: &[(&str, &str)]) -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    for (name, text) in files {
        let path = folder.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
    folder
}

fn data(folder: &Path) -> DataDir {
    DataDir::Folder(folder.to_owned())
}

fn opened(files: &[(&str, &str)]) -> (TempDir, Box<dyn Collection>) {
    let folder = folder(files);
    assert_eq!(TRACKS.kind_of(&data(folder.path())).unwrap().name, "own");
    let collection = TRACKS.open(&data(folder.path())).unwrap();
    (folder, collection)
}

fn documents(collection: &dyn Collection) -> Vec<(String, String)> {
    let documents = collection.documents(collection.tasks()[0]).unwrap();
    let pair = |doc| (documents.id(doc).into_owned(), documents.text(doc).unwrap().into_owned());
    Doc::all(documents.len()).map(pair).collect()
}

fn requests(collection: &dyn Collection, split: &str) -> Vec<Request> {
    let split = collection.find_split(split).unwrap();
    collection.requests(split, collection.tasks()[0]).unwrap().map(Result::unwrap).collect()
}

fn qrels(collection: &dyn Collection, split: &str) -> Result<Option<Qrels>, Error> {
    collection.qrels(collection.find_split(split)?, collection.tasks()[0])
}

fn names(splits: &[Split]) -> Vec<&'static str> {
    splits.iter().map(|split| split.name()).collect()
}

fn ids(collection: &dyn Collection, split: &str) -> Vec<String> {
    requests(collection, split).iter().map(|request| request.id.to_string()).collect()
}

fn refusal(files: &[(&str, &str)]) -> String {
    let folder = folder(files);
    let error = TRACKS.open(&data(folder.path())).err().map(|error| error.to_problem());
    let error = error.unwrap_or_else(|| {
        let (_folder, collection) = opened(files);
        let requests = |split| collection.requests(split, collection.tasks()[0]).map(drop);
        collection.available_splits().map(requests).find_map(Result::err).unwrap().to_problem()
    });
    let name = folder.path().display().to_string() + "/";
    format!("{error} {}", error.hint).replace(&name, "")
}

const CORPUS: &str = "{\"_id\": \"a/1:x\", \"title\": \"Saturn\", \"text\": \"a planet\", \"metadata\": {}}\n\
                      {\"_id\": \"ü2\", \"title\": \"\", \"text\": \"a car\"}\n\n\
                      {\"_id\": 3, \"text\": \"a god\"}\n";
const QUERIES: &str = "{\"_id\": \"q1\", \"text\": \"planets\", \"metadata\": {}}\n{\"_id\": \"q2\", \"text\": \"cars\"}\n";

#[test]
fn beir_has_titles_in_front_and_splits_by_judgements() {
    let (_folder, own) = opened(&[
        ("corpus.jsonl", CORPUS),
        ("queries.jsonl", QUERIES),
        ("qrels/test.tsv", "query-id\tcorpus-id\tscore\nq2\tü2\t2\n"),
        ("qrels/train.tsv", "query-id\tcorpus-id\tscore\nq1\ta/1:x\t1\n"),
    ]);
    let expected = [("3", "a god"), ("a/1:x", "Saturn a planet"), ("ü2", "a car")];
    let expected = expected.map(|(id, text)| (id.to_owned(), text.to_owned()));
    assert_eq!(documents(&*own), expected);
    assert_eq!((ids(&*own, "train"), ids(&*own, "test")), (vec!["q1".into()], vec!["q2".into()]));
    assert!(own.find_split("dev").is_err() && own.find_split("all").is_err());
    let qrels = qrels(&*own, "test").unwrap().unwrap();
    assert_eq!(qrels.topic(&"q2".into()).unwrap().grade(&"ü2".into()), Some(2));
    assert!(own.label().starts_with("own-"));
    own.statistics().unwrap();
}

#[test]
fn ms_marco_is_tables() {
    let (_folder, own) = opened(&[
        ("collection.tsv", "0\tA planet.\n1\tA car, \"fast\".\n"),
        ("queries.dev.small.tsv", "7\twhat is saturn\n"),
        ("queries.dev.tsv", "7\twhat is saturn\n8\twhat is it\n"),
        ("qrels.dev.small.tsv", "7\t0\t1\t1\n"),
        ("queries.eval.small.tsv", "9\twhat else\n"),
    ]);
    assert_eq!(documents(&*own)[1], ("1".to_owned(), "A car, \"fast\".".to_owned()));
    assert_eq!((ids(&*own, "dev"), ids(&*own, "test")), (vec!["7".into()], vec!["9".into()]));
    assert!(qrels(&*own, "test").unwrap().is_none());
    assert!(qrels(&*own, "dev").unwrap().is_some());
}

#[test]
fn splits_have_the_names_that_their_files_have() {
    let document = "{\"_id\": \"a\", \"text\": \"tea\"}\n";
    let request = |id: &str| format!("{{\"_id\": \"{id}\", \"text\": \"tea\"}}\n");
    let shared = request("q1") + &request("q2") + &request("q3");
    let (_folder, own) = opened(&[
        ("corpus.jsonl", document),
        ("queries.validation.jsonl", &request("v1")),
        ("qrels/validation.tsv", "query-id\tcorpus-id\tscore\nv1\ta\t1\n"),
        ("queries.jsonl", &shared),
        ("qrels/fold2.tsv", "query-id\tcorpus-id\tscore\nq2\ta\t1\n"),
        ("qrels/fold1.tsv", "query-id\tcorpus-id\tscore\nq1\ta\t1\n"),
        ("requests.train-large.jsonl", "{\"id\": \"t1\", \"text\": \"tea\"}\n"),
    ]);
    assert_eq!(names(own.splits()), ["train-large", "validation", "fold1", "fold2"]);
    assert_eq!(ids(&*own, "validation"), ["v1"]);
    assert_eq!((ids(&*own, "fold1"), ids(&*own, "fold2")), (vec!["q1".into()], vec!["q2".into()]));
    // A fold does not know the labels of another.
    assert_eq!(
        names(&own.earlier_splits(own.find_split("fold2").unwrap())),
        ["train-large", "validation"]
    );
    assert_eq!(names(&own.earlier_splits(own.find_split("validation").unwrap())), ["train-large"]);
    assert!(own.unread_files().is_empty());
    let refused = own.find_split("fold3").unwrap_err();
    assert_eq!(refused.expected, "one of the splits train-large, validation, fold1, fold2");
}

#[test]
fn documents_alone_are_a_collection_in_one_file_or_many_packed_or_not() {
    let line =
        |id: &str| format!("{{\"id\": \"{id}\", \"contents\": \"text of {id}\", \"url\": 1}}\n");
    let folder = tempfile::tempdir().unwrap();
    for place in [folder.path().to_owned(), folder.path().join("collection")] {
        fs::create_dir_all(&place).unwrap();
        fs::write(place.join("part-2.jsonl"), line("c")).unwrap();
        let mut gzip = GzEncoder::new(Vec::new(), Compression::fast());
        gzip.write_all((line("b") + &line("a")).as_bytes()).unwrap();
        fs::write(place.join("part-1.json.gz"), gzip.finish().unwrap()).unwrap();
        let zstandard = zstd::encode_all(line("d").as_bytes(), 1).unwrap();
        fs::write(place.join("part-3.jsonl.zst"), zstandard).unwrap();
        let own = TRACKS.open(&data(&place)).unwrap();
        assert_eq!(ids_of(&*own), ["a", "b", "c", "d"]);
        assert!(own.available_splits().next().is_none());
        for file in fs::read_dir(&place).unwrap() {
            fs::remove_file(file.unwrap().path()).unwrap();
        }
    }
    // Below the data folder, too.
    fs::write(folder.path().join("collection/one.json"), line("x")).unwrap();
    fs::write(folder.path().join("requests.jsonl"), "{\"id\": 1, \"text\": \"x\"}").unwrap();
    let own = TRACKS.open(&data(folder.path())).unwrap();
    assert_eq!((ids_of(&*own), ids(&*own, "all")), (vec!["x".to_owned()], vec!["1".to_owned()]));
}

fn ids_of(collection: &dyn Collection) -> Vec<String> {
    documents(collection).into_iter().map(|(id, _)| id).collect()
}

#[test]
fn requests_may_be_conversations_and_name_candidates() {
    let said = "{\"id\": \"c\", \"said\": [{\"user\": \"cars\"}, {\"system\": \"which\"}, \
                {\"user\": \"fast\"}], \"candidates\": [\"ü2\", 3]}";
    let (_folder, own) = opened(&[("documents.jsonl", CORPUS), ("requests.dev.jsonl", said)]);
    let request = requests(&*own, "dev").remove(0);
    assert_eq!(request.said[1].speaker, Speaker::System);
    assert_eq!(request.candidates, Some(vec![Doc(0), Doc(2)]));
}

#[test]
fn mistakes_are_refused_with_their_line() {
    let corpus = ("corpus.jsonl", CORPUS);
    for (files, expected) in [
        (
            vec![(
                "corpus.jsonl",
                "{\"_id\": 1, \"text\": \"a\"}\n{\"_id\": \"1\", \"text\": \"a\"}",
            )],
            "corpus.jsonl:2: expected an id that no other document has, found `1`, which is at corpus.jsonl:1",
        ),
        (
            vec![("corpus.jsonl", "{\"_id\": \"a b\", \"text\": \"a\"}")],
            "corpus.jsonl:1: expected an id without blanks",
        ),
        (
            vec![("corpus.jsonl", "{\"_id\": \"a\u{2003}b\", \"text\": \"a\"}")],
            "expected an id without blanks",
        ),
        (
            vec![("corpus.jsonl", "\n{\"_id\": \"a\", \"text\": [1]}")],
            "corpus.jsonl:2: expected a text at `text`",
        ),
        (
            vec![("corpus.jsonl", "{\"_id\": \"a\", \"text\": \"x\", \"title\": 1}")],
            "a text at `title`",
        ),
        (
            vec![("corpus.jsonl", "{\"_id\": 1.5, \"text\": \"x\"}")],
            "a text or a whole number at `_id`",
        ),
        (vec![("corpus.jsonl", "{\"_id\": \"a\"}")], "a key `contents` or `text`"),
        (vec![("collection.tsv", "a\tb\nc d\n")], "collection.tsv:2: expected a tab behind the id"),
        (vec![corpus, ("collection.tsv", "a\tb\n")], "one file or folder of documents"),
        (
            vec![
                corpus,
                (
                    "requests.dev.jsonl",
                    "{\"id\": 1, \"text\": \"a\"}\n{\"id\": \"1\", \"text\": \"b\"}",
                ),
            ],
            "requests.dev.jsonl:2: expected an id that no other request has",
        ),
        (
            vec![corpus, ("requests.dev.jsonl", "{\"id\": 1, \"text\": \" \"}")],
            "a request that is not empty",
        ),
        (
            vec![
                corpus,
                ("requests.dev.jsonl", "{\"id\": 1, \"text\": \"x\", \"candidates\": [\"x\"]}"),
            ],
            "requests.dev.jsonl:1: expected a document of the collection",
        ),
        (
            vec![
                corpus,
                ("requests.dev.jsonl", "{\"id\": 1, \"text\": \"x\", \"statements\": [\"I ski\"]}"),
            ],
            "requests.dev.jsonl:1: expected a request without `statements`",
        ),
        (
            vec![corpus, ("requests.dev.jsonl", "{\"id\": 1, \"said\": [{\"robot\": \"x\"}]}")],
            "`user` or `system`",
        ),
        (
            vec![
                corpus,
                ("queries.jsonl", QUERIES),
                ("qrels/dev.tsv", "query-id\tcorpus-id\tscore\nq1\tx\n"),
            ],
            "qrels/dev.tsv:2: expected 3 fields",
        ),
    ] {
        let found = refusal(&files);
        assert!(found.contains(expected), "{found}\nnot: {expected}");
    }
}

#[test]
fn unknown_ids_of_judgements_are_counted_in_one_warning_each() {
    let qrels = "q1 0 x 1\nq1 0 y 0\nq1 0 ü2 1\nq9 0 3 1\n";
    let files =
        [("corpus.jsonl", CORPUS), ("queries.dev.jsonl", QUERIES), ("qrels.dev.txt", qrels)];
    let (folder, own) = opened(&files);
    let evaluation = own.evaluation(own.find_split("dev").unwrap()).unwrap();
    let [documents, topics] = evaluation.warnings() else { panic!("{:?}", evaluation.warnings()) };
    assert!(documents.contains("2 judgements name documents"), "{documents}");
    assert!(documents.ends_with("such as `x`") && topics.ends_with("such as `q9`"), "{topics}");
    let found = TRACKS.check(&data(folder.path())).unwrap();
    assert!(!found.findings.has_errors());
    assert_eq!(found.findings.iter().len(), 2);
}

#[test]
fn a_beir_form_of_clariq_has_the_figures_of_clariq() {
    let clariq = TRACKS.open(&clariq_track_clariq::SAMPLE).unwrap();
    let questions = clariq.documents(clariq.tasks()[0]).unwrap();
    let mut corpus = String::new();
    for doc in Doc::all(questions.len()) {
        let id = questions.id(doc);
        let text = questions.text(doc).unwrap();
        writeln!(corpus, "{}", json!({ "_id": id, "title": "", "text": text })).unwrap();
    }
    let mut queries = String::new();
    let labels = qrels(&*clariq, "dev").unwrap().unwrap();
    let mut qrels = "query-id\tcorpus-id\tscore\n".to_owned();
    let mut run = String::new();
    for request in requests(&*clariq, "dev") {
        writeln!(queries, "{}", json!({ "_id": request.id, "text": request.opening() })).unwrap();
        let judged = labels.topic(&request.id.as_str().into()).unwrap();
        for (id, grade) in judged.documents() {
            writeln!(qrels, "{}\t{id}\t{grade}", request.id).unwrap();
        }
        for rank in 0..60_u32 {
            let doc = Doc((rank * 7 + request.opening().len() as u32) % questions.len() as u32);
            writeln!(run, "{} 0 {} {rank} {} t", request.id, questions.id(doc), 60 - rank).unwrap();
        }
    }
    let files =
        [("corpus.jsonl", &*corpus), ("queries.jsonl", &queries), ("qrels/dev.tsv", &qrels)];
    let (_folder, own) = opened(&files);
    let measures = clariq_eval::parse_measures("nDCG@10 R@100 AP").unwrap();
    let by = ComparisonOptions { measures: &measures, ..ComparisonOptions::default() };
    let run = Source::memory("a.run", run.into_bytes());
    let values = |collection: &dyn Collection| {
        let mut columns = collection
            .evaluation(collection.find_split("dev").unwrap())
            .unwrap()
            .columns(&run, &by)
            .unwrap()
            .columns;
        for column in &mut columns {
            column.values.sort_by(|a, b| a.0.cmp(&b.0));
        }
        columns.into_iter().map(|column| (column.measure, column.values)).collect::<Vec<_>>()
    };
    assert_eq!(values(&*own), values(&*clariq));
    assert!(values(&*own).iter().any(|(_, values)| values.iter().any(|(_, value)| *value > 0.0)));
}

const DOCUMENT: &str = "{\"id\": \"a\", \"text\": \"one\"}\n";

#[test]
fn a_file_beside_documents_is_read_or_refused_by_name() {
    let faulty = [
        "{\"id\": \"b\", \"te\n",
        "[{\"id\": \"b\", \"text\": \"two\"}]\n",
        "{\n  \"id\": \"b\",\n  \"text\": \"two\"\n}\n",
        "// a comment\n{\"id\": \"b\", \"text\": \"two\"}\n",
        "<DOC>\n<DOCNO>b</DOCNO>\n<TEXT>two</TEXT>\n</DOC>\n",
    ];
    for text in faulty {
        let refused = refusal(&[("a.jsonl", DOCUMENT), ("b.jsonl", text)]);
        assert!(refused.contains("b.jsonl"), "{text}: {refused}");
    }
}

#[test]
fn two_places_of_documents_are_refused_with_both_names() {
    for other in ["documents.jsonl.gz", "corpus.jsonl", "more.jsonl", "documents/x.JSONL"] {
        let refused = refusal(&[("documents.jsonl", DOCUMENT), (other, DOCUMENT)]);
        let name = other.split('/').next().unwrap();
        assert!(refused.contains("`documents.jsonl`"), "{other}: {refused}");
        assert!(refused.contains(&format!("`{name}`")), "{other}: {refused}");
    }
    for packed in ["documents.jsonl.bz2", "more.jsonl.xz", "queries.dev.jsonl.bz2"] {
        let refused = refusal(&[("documents.jsonl", DOCUMENT), (packed, "x")]);
        assert!(refused.contains(packed), "{refused}");
    }
}

#[test]
fn folders_below_a_folder_of_documents_are_read() {
    let (_folder, own) = opened(&[
        ("documents/1.JSONL", DOCUMENT),
        ("documents/below/2.tsv", "b\ttwo\n"),
        ("documents/notes.txt", "x"),
    ]);
    assert_eq!(ids_of(&*own), ["a", "b"]);
    assert_eq!(own.unread_files().len(), 1);
}

#[test]
fn files_that_are_not_read_are_listed_by_the_check() {
    let files = [
        ("documents.jsonl", DOCUMENT),
        ("queries_validation.jsonl", QUERIES),
        ("qrels/validation.tsv", "q1\t0\ta\t1\n"),
    ];
    let (folder, own) = opened(&files);
    assert_eq!(own.unread_files().len(), 2);
    let report = TRACKS.check(&data(folder.path())).unwrap();
    assert!(!report.findings.has_errors());
    let listed = report.files.iter().filter(|file| file.contains("validation"));
    assert_eq!(listed.count(), 2, "{:?}", report.files);
}

#[test]
fn two_files_of_one_split_are_refused_with_both_names() {
    let documents = ("documents.jsonl", DOCUMENT);
    let requests = ("queries.dev.tsv", "q1\tx\n");
    let qrels = "q1 0 a 1\n";
    let refused =
        refusal(&[documents, requests, ("qrels.dev.txt", qrels), ("qrels/dev.tsv", qrels)]);
    assert!(
        refused.contains("`qrels.dev.txt`") && refused.contains("`qrels/dev.tsv`"),
        "{refused}"
    );
    let refused = refusal(&[documents, requests, ("requests.dev.jsonl", QUERIES)]);
    assert!(refused.contains("`queries.dev.tsv`"), "{refused}");
    assert!(refused.contains("`requests.dev.jsonl`"), "{refused}");
}

#[test]
fn ids_that_begin_like_another_form_are_ids() {
    let (_folder, own) = opened(&[
        ("collection.tsv", "<x>\tone\n{y\ttwo\n"),
        ("queries.dev.tsv", "{q\tone\n"),
        ("qrels.dev.txt", "query-id-1 0 <x> 1\n{q 0 <x> 1\n"),
    ]);
    assert_eq!(ids_of(&*own), ["<x>", "{y"]);
    assert_eq!(ids(&*own, "dev"), ["{q"]);
    let qrels = qrels(&*own, "dev").unwrap().unwrap();
    assert_eq!(qrels.topic(&"query-id-1".into()).unwrap().grade(&"<x>".into()), Some(1));
    for text in
        ["{\"id\": \"a\\u001cb\", \"text\": \"x\"}\n", "{\"id\": \"a\\u001f\", \"text\": \"x\"}\n"]
    {
        let refused = refusal(&[("documents.jsonl", text)]);
        assert!(refused.contains("an id without blanks"), "{refused}");
    }
}

#[test]
fn rows_without_a_text_are_documents_but_not_requests() {
    let (_folder, own) = opened(&[("collection.tsv", "a\tone\nb\t\n")]);
    assert_eq!(documents(&*own)[1], ("b".to_owned(), String::new()));
    let refused = refusal(&[("collection.tsv", "a\tone\n"), ("queries.dev.tsv", "7\t\n")]);
    assert!(
        refused.contains("queries.dev.tsv:1: expected a JSON object, or an id, a tab and a text")
    );
}

#[test]
fn lines_may_end_with_a_carriage_return() {
    for end in ["\r", "\r\n", "\n"] {
        let lines = |text: &str| text.replace('*', end);
        let (_folder, own) = opened(&[
            ("collection.tsv", &lines("a\tone*b\ttwo*")),
            (
                "queries.dev.jsonl",
                &lines("{\"id\":\"q1\",\"text\":\"x\"}*{\"id\":\"q2\",\"text\":\"y\"}"),
            ),
            ("qrels.dev.txt", &lines("q1 0 a 1*q2 0 b 2*")),
        ]);
        assert_eq!(ids_of(&*own), ["a", "b"], "{end:?}");
        assert_eq!(ids(&*own, "dev"), ["q1", "q2"], "{end:?}");
        let qrels = qrels(&*own, "dev").unwrap().unwrap();
        assert_eq!(qrels.topic(&"q2".into()).unwrap().grade(&"b".into()), Some(2), "{end:?}");
    }
    let (_folder, loose) =
        opened(&[("a.jsonl", "{\"id\":\"a\",\"text\":\"x\"}\r{\"id\":\"b\",\"text\":\"y\"}\r")]);
    assert_eq!(ids_of(&*loose), ["a", "b"]);
}

#[test]
fn headers_of_known_names_are_neither_documents_nor_requests() {
    for (of_documents, of_requests) in [
        ("id\ttext", "qid\tquery"),
        ("docid\tcontents", "_id\ttext"),
        ("pid\tpassage", "query_id\tquery"),
    ] {
        let (_folder, own) = opened(&[
            ("collection.tsv", &format!("{of_documents}\na\tone\n")),
            ("queries.dev.tsv", &format!("{of_requests}\nq1\tone\n")),
            ("qrels.dev.tsv", "query-id\tcorpus-id\tscore\nq1\ta\t1\n"),
        ]);
        assert_eq!(
            (ids_of(&*own), ids(&*own, "dev")),
            (vec!["a".to_owned()], vec!["q1".to_owned()])
        );
    }
}

#[test]
fn text_in_utf_16_and_nul_are_errors() {
    for text in ["\0a\0\t\0o\0n\0e\0\n\0b\0\t\0x\0\n", "a\tone\nb\ttw\0o\n"] {
        let refused = refusal(&[("collection.tsv", text)]);
        assert!(refused.contains("expected UTF-8 text, found a NUL"), "{refused}");
        let folder = folder(&[("collection.tsv", text)]);
        assert!(TRACKS.check(&data(folder.path())).unwrap().findings.has_errors());
    }
}

#[test]
fn two_keys_for_one_thing_are_refused() {
    for (line, keys) in [
        ("{\"id\":\"a\",\"_id\":\"b\",\"text\":\"x\"}", "`id` and `_id`"),
        ("{\"id\":\"a\",\"text\":\"x\",\"contents\":\"y\"}", "`contents` and `text`"),
        (
            "{\"doc_id\":\"a\",\"passage_id\":1,\"passage_text\":\"x\",\"text\":\"y\"}",
            "`passage_text` and `text`",
        ),
    ] {
        let refused = refusal(&[("corpus.jsonl", line)]);
        assert!(refused.contains(keys), "{refused}");
        let folder = folder(&[("corpus.jsonl", line)]);
        assert!(TRACKS.check(&data(folder.path())).unwrap().findings.has_errors(), "{line}");
    }
    let refused = refusal(&[
        ("documents.jsonl", DOCUMENT),
        ("queries.dev.jsonl", "{\"_id\":\"a\",\"id\":\"b\",\"text\":\"x\"}"),
    ]);
    assert!(refused.contains("`id` and `_id`"), "{refused}");
}

#[test]
fn every_file_beside_loose_documents_that_may_hold_data_is_listed() {
    let (folder, own) = opened(&[
        ("a.jsonl", DOCUMENT),
        ("b.ndjson", DOCUMENT),
        ("b.txt", "x"),
        ("more", DOCUMENT),
        ("below/c.jsonl", DOCUMENT),
        ("README.md", "x"),
        ("bm25.test.run", "q1 0 a 1 1 t\n"),
        ("bm25.test.run.json", "{}"),
    ]);
    assert_eq!(ids_of(&*own), ["a"]);
    let names: Vec<_> = own
        .unread_files()
        .iter()
        .map(|path| path.strip_prefix(folder.path()).unwrap().display().to_string())
        .collect();
    assert_eq!(names, ["b.ndjson", "b.txt", "below/c.jsonl", "more"]);
    let report = TRACKS.check(&data(folder.path())).unwrap();
    assert_eq!((report.findings.has_errors(), report.findings.iter().count()), (false, 4));
}

#[test]
fn ids_that_a_run_cannot_name_are_refused() {
    for id in ["a\\u0000b", "\\ufeffa", "a\\u2003b"] {
        let refused =
            refusal(&[("documents.jsonl", &format!("{{\"id\": \"{id}\", \"text\": \"x\"}}\n"))]);
        assert!(refused.contains("an id without blanks"), "{refused}");
    }
    let (_folder, own) =
        opened(&[("documents.jsonl", "{\"id\": \"#\\u001ba\\u202e\", \"text\": \"x\"}\n")]);
    assert_eq!(ids_of(&*own), ["#\u{1b}a\u{202e}"]);
}

#[test]
fn two_grades_are_an_error_of_the_check_and_of_every_use() {
    let folder = folder(&[
        ("documents.jsonl", DOCUMENT),
        ("queries.jsonl", QUERIES),
        ("qrels/test.tsv", "query-id\tcorpus-id\tscore\nq1\ta\t1\nq1\ta\t0\n"),
    ]);
    let report = TRACKS.check(&data(folder.path())).unwrap();
    assert!(report.findings.iter().any(|finding| finding.first.found == "`1` and `0`"));
    assert!(report.findings.has_errors());
    let own = TRACKS.open(&data(folder.path())).unwrap();
    assert_eq!(qrels(&*own, "test").unwrap_err().to_problem().at.line, Some(3));
}

#[test]
fn a_need_file_is_scored_against_the_labels_of_requests() {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| fs::write(folder.path().join(name), text).unwrap();
    write("documents.jsonl", "{\"id\": \"d1\", \"text\": \"a document\"}\n");
    let requests = [
        json!({ "id": "1", "text": "a", "need": 1, "answer": "yes" }),
        json!({ "id": "2", "text": "b", "need": 3 }),
        json!({ "id": "3", "text": "c" }),
    ];
    write("requests.test.jsonl", &requests.map(|line| line.to_string()).join("\n"));
    write("a.need", "1 2\n2 4\n");
    let own = (OWN.open)(&DataDir::Folder(folder.path().to_owned()), None).unwrap();
    let annotations = own.annotations(own.find_split("test").unwrap()).unwrap();
    assert_eq!(annotations.len(), 2);
    assert_eq!(annotations[0].answer.as_deref(), Some("yes"));
    assert_eq!(annotations[1].need, Some(NeedLabel::Number(3)));
    let evaluation = own.evaluation(own.find_split("test").unwrap()).unwrap();
    let score = |file: &str| {
        let file = folder.path().join(file);
        evaluation.score(&EvalRequest { file, ..EvalRequest::default() })
    };
    let table = score("a.need").unwrap().tables.remove(0);
    let balanced: Vec<&ResultCell> = table.rows.iter().map(|row| &row[8]).collect();
    assert_eq!(balanced, [&ResultCell::Figure(0.5, 4); 3]);
    assert_eq!(table.rows[2][9], ResultCell::Figure(1.0, 4), "the area under the curve");
    write("a.run", "1 0 d1 1 1.0 x\n");
    let refused = score("a.run").err().unwrap().to_problem();
    assert_eq!(refused.expected, "judgements for a run");
}
