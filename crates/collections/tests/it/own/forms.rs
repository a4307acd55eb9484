//! The sample of documents of one's own is the same collection in every form that is read.

use super::{documents, opened, qrels, requests};
use clariq_core::{DocId, Request};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

const SPLITS: [&str; 2] = ["train", "dev"];

fn sample(name: &str) -> String {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../data/sample-own");
    fs::read_to_string(folder.join(name)).unwrap()
}

/// The objects of a file of the sample, each as a line of another form.
fn lines(name: &str, line: impl Fn(&Value) -> String) -> String {
    let object = |text: &str| serde_json::from_str(text).unwrap();
    sample(name).lines().map(|text| line(&object(text)) + "\n").collect()
}

fn text<'o>(object: &'o Value, key: &str) -> &'o str {
    object[key].as_str().unwrap_or("which telescope should i buy")
}

fn contents(document: &Value) -> String {
    format!("{} {}", text(document, "title"), text(document, "text"))
}

/// The files of the sample in a form.
fn files(form: &str) -> Vec<(String, String)> {
    let of_documents = |line: &dyn Fn(&Value) -> String| lines("documents.jsonl", line);
    let mut files = vec![match form {
        "export" => ("documents.jsonl".to_owned(), sample("documents.jsonl")),
        "beir" => (
            "corpus.jsonl".to_owned(),
            of_documents(&|one| {
                json!({ "_id": one["id"], "title": one["title"], "text": one["text"] }).to_string()
            }),
        ),
        "msmarco" => (
            "collection.tsv".to_owned(),
            of_documents(&|one| format!("{}\t{}", text(one, "id"), contents(one))),
        ),
        _ => (
            "passages/all.jsonl".to_owned(),
            of_documents(&|one| json!({ "id": one["id"], "contents": contents(one) }).to_string()),
        ),
    }];
    if form == "beir" {
        let queries = SPLITS.map(|split| {
            lines(&format!("requests.{split}.jsonl"), |one| {
                json!({ "_id": one["id"], "text": text(one, "text") }).to_string()
            })
        });
        files.push(("queries.jsonl".to_owned(), queries.concat()));
    }
    for split in SPLITS {
        let requests = format!("requests.{split}.jsonl");
        let qrels = sample(&format!("qrels.{split}.txt"));
        match form {
            "beir" => {
                let rows = qrels.replace(" 0 ", "\t").replace(' ', "\t");
                let rows = format!("query-id\tcorpus-id\tscore\n{rows}");
                files.push((format!("qrels/{split}.tsv"), rows));
            }
            "msmarco" => {
                let row = |one: &Value| format!("{}\t{}", text(one, "id"), text(one, "text"));
                files.push((format!("queries.{split}.tsv"), lines(&requests, row)));
                files.push((format!("qrels.{split}.tsv"), qrels));
            }
            _ => {
                files.push((requests.clone(), sample(&requests)));
                files.push((format!("qrels.{split}.txt"), qrels));
            }
        }
    }
    files
}

#[test]
fn every_form_is_the_same_collection() {
    let read = ["export", "beir", "msmarco", "anserini"].map(|form| {
        let files = files(form);
        let files: Vec<_> = files.iter().map(|(name, text)| (&**name, &**text)).collect();
        let (_folder, own) = opened(&files);
        let splits = SPLITS.map(|split| {
            let judged = qrels(&*own, split).unwrap().unwrap();
            let of = |request: Request| {
                let id = request.id.as_str().into();
                let topic = judged.topic(&id).expect("judgements");
                let grade = |(document, grade): (&DocId, i32)| (document.to_string(), grade);
                let grades: BTreeMap<String, i32> = topic.documents().map(grade).collect();
                (request.id.to_string(), request.last_said(), grades)
            };
            requests(&*own, split).into_iter().map(of).collect::<Vec<_>>()
        });
        (documents(&*own), splits)
    });
    assert_eq!((read[0].0.len(), read[0].1[1].len()), (40, 8));
    assert!(read.iter().all(|one| *one == read[0]), "{read:?}");
}
