//! Collections of a user's own: the forms that are recognised, and the files that are refused.

mod files;
mod forms;
mod other_tools;
mod records;

use clariq_collections::evaluation::{Answers, ScoreOptions};
use clariq_collections::{Collection, DataDir, Split};
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
    let by = ScoreOptions { measures: &measures, ..ScoreOptions::default() };
    let run = Source::memory("a.run", run.into_bytes());
    let values = |collection: &dyn Collection| {
        let mut scores = collection
            .evaluation(collection.find_split("dev").unwrap())
            .unwrap()
            .cases(Answers::File(&run), &by)
            .unwrap()
            .scores;
        for score in &mut scores {
            score.values.sort_by(|a, b| a.0.cmp(&b.0));
        }
        scores.into_iter().map(|score| (score.measure, score.values)).collect::<Vec<_>>()
    };
    assert_eq!(values(&*own), values(&*clariq));
    assert!(values(&*own).iter().any(|(_, values)| values.iter().any(|(_, value)| *value > 0.0)));
}
