//! Files as other tools write them.

use super::{data, documents, folder, ids, ids_of, opened, refusal};
use clariq_collections::DataDir;
use clariq_collections::evaluation::ComparisonOptions;
use clariq_collections::validation::check_run;
use clariq_files::Source;
use clariq_tracks::TRACKS;

const DOCUMENT: &str = "{\"id\": \"a\", \"text\": \"one\"}\n";
const QUERIES: &str = "{\"id\": \"q1\", \"text\": \"one\"}\n";

#[test]
fn an_instruction_for_excel_is_no_document_and_no_request() {
    for sep in ["sep=\t", "sep=;", "sep=,"] {
        let table = format!("{sep}\nid\ttext\na\tone\n");
        if sep.ends_with('\t') {
            let refused = refusal(&[("collection.tsv", &table)]);
            assert!(refused.contains("an instruction for Excel"), "{refused}");
        }
        let (folder, _own) = opened(&[("documents.jsonl", DOCUMENT), ("queries.dev.tsv", &table)]);
        let report = TRACKS.check(&data(folder.path())).unwrap();
        assert!(report.findings.has_errors(), "{sep}");
    }
}

#[test]
fn the_keys_of_pyterrier_and_ir_datasets_are_ids_and_texts() {
    for id in ["docno", "doc_id", "docid"] {
        let text =
            format!("{{\"{id}\": \"a\", \"text\": \"one\"}}\n{{\"{id}\": 2, \"text\": \"two\"}}\n");
        for name in ["documents.jsonl", "loose.jsonl"] {
            let (_folder, own) = opened(&[(name, &text)]);
            assert_eq!(ids_of(&*own), ["2", "a"], "{name}: {id}");
        }
    }
    for (id, query) in [("qid", "query"), ("query_id", "text"), ("id", "query"), ("qid", "text")] {
        let text = format!("{{\"{id}\": \"q1\", \"{query}\": \"one\"}}\n");
        let (_folder, own) = opened(&[("documents.jsonl", DOCUMENT), ("queries.dev.jsonl", &text)]);
        assert_eq!(ids(&*own, "dev"), ["q1"], "{id}, {query}");
    }
    let two = "{\"docno\": \"a\", \"docid\": \"b\", \"text\": \"one\"}\n";
    let refused = refusal(&[("documents.jsonl", two)]);
    assert!(refused.contains("`docno` and `docid`"), "{refused}");
}

#[test]
fn another_key_beside_the_id_and_the_text_is_ignored() {
    let beside = "{\"id\": \"a\", \"docid\": \"b\", \"docno\": null, \"text\": \"one\"}\n";
    let (_folder, own) = opened(&[("documents.jsonl", beside)]);
    assert_eq!(documents(&*own), [("a".to_owned(), "one".to_owned())]);
    let request = "{\"id\": \"q1\", \"qid\": \"x\", \"text\": \"one\", \"query\": \"two\"}\n";
    let (_folder, own) = opened(&[("documents.jsonl", DOCUMENT), ("queries.dev.jsonl", request)]);
    assert_eq!(ids(&*own, "dev"), ["q1"]);
}

#[test]
fn a_text_that_is_null_is_named() {
    for text in ["null", "NaN"] {
        let document = format!("{{\"id\": \"a\", \"text\": {text}}}\n");
        let refused = refusal(&[("documents.jsonl", &document)]);
        assert!(refused.contains("or `null` there"), "{refused}");
    }
}

#[test]
fn a_folder_without_any_document_is_an_error_of_the_check_too() {
    for files in [
        &[("documents.jsonl", "\n\n")][..],
        &[("documents.jsonl/part-00000", DOCUMENT)],
        &[("documents.jsonl/notes.txt", "x"), ("queries.dev.jsonl", QUERIES)],
    ] {
        let folder = folder(files);
        let report = TRACKS.check(&data(folder.path())).unwrap();
        assert!(report.findings.has_errors(), "{files:?}");
        assert!(TRACKS.open(&data(folder.path())).is_err(), "{files:?}");
    }
}

#[test]
fn two_collections_in_a_folder_are_refused_with_a_file_of_each() {
    for (one, other) in [
        ("question_bank.tsv", "documents.jsonl"),
        ("question_bank.tsv", "2023_test_topics.json"),
        ("2023_test_topics.json", "corpus.jsonl.gz"),
        ("mtrag-human/x", "collection.tsv"),
    ] {
        let folder = folder(&[(one, "x"), (other, DOCUMENT)]);
        let refused = TRACKS.check(&data(folder.path())).unwrap_err().to_string();
        for name in [one, other] {
            let name = name.split('/').next().unwrap();
            assert!(refused.contains(&format!("{name}`")), "{name}: {refused}");
        }
    }
}

#[test]
fn a_table_with_commas_is_told_what_is_read() {
    let folder = folder(&[("documents.csv", "id,text\na,one\n")]);
    let error = TRACKS.check(&data(folder.path())).unwrap_err();
    assert!(error.to_problem().hint.starts_with("tables have tabs"), "{error}");
}

#[test]
fn a_folder_of_another_form_is_told_what_to_do() {
    for (name, hint) in [
        ("documents.xlsx", "save the table as `documents.jsonl`"),
        ("train.parquet", "save the table as `documents.jsonl`"),
        ("corpus.jsonl.xz", "unpack it"),
        ("documents.jsonl.txt", "leave the `.txt` at the end of the name out"),
        ("page.html", "write the texts into `documents.jsonl`"),
        ("notes", "check the path"),
    ] {
        let folder = folder(&[(name, "x")]);
        let problem = TRACKS.check(&data(folder.path())).unwrap_err().to_problem();
        assert!(problem.hint.starts_with(hint), "{name}: {}", problem.hint);
    }
    let folder = folder(&[("a.zip", "x")]);
    let problem = TRACKS.check(&data(&folder.path().join("a.zip"))).unwrap_err().to_problem();
    assert!(problem.hint.starts_with("name a folder"), "{}", problem.hint);
    let address = DataDir::Folder("https://example.org/data".into());
    let problem = TRACKS.check(&address).unwrap_err().to_problem();
    assert_eq!(problem.found, "an address");
    assert!(problem.hint.starts_with("a collection is a folder here"), "{}", problem.hint);
}

#[test]
fn lines_that_are_no_documents_are_named_by_what_they_are() {
    for (name, text, found, hint) in [
        ("collection.tsv", "a;one\n", "`a;one`", "this looks like CSV"),
        ("documents.jsonl", "// mine\n", "`// mine`", "JSON has no comments"),
        ("documents.jsonl", "a: one\n", "`a: one`", "a line is"),
        ("collection.tsv", "a\t\"one\ntwo\"\n", "`two\"`", "is this the rest of a text"),
        (
            "documents.jsonl",
            "{\"id\": \"a\", \"page_content\": \"one\"}\n",
            "an object without them, or `null` there: its keys are `id`, `page_content`",
            "a line is",
        ),
        (
            "documents.jsonl",
            "{\"text\": \"one\"}\n",
            "an object without it, or `null` there: its key is `text`",
            "a line is",
        ),
        (
            "documents.jsonl",
            "{\"id\": \"a\", \"text\": \"one\"},\n",
            "a comma behind the value",
            "a line is",
        ),
    ] {
        let refused = refusal(&[(name, text)]);
        assert!(refused.contains(&format!("found {found} {hint}")), "{text}: {refused}");
    }
}

#[test]
fn a_run_is_told_the_file_of_the_judgements_and_the_spelling_that_they_have() {
    let (folder, own) = opened(&[
        ("documents.jsonl", DOCUMENT),
        ("queries.dev.jsonl", QUERIES),
        ("qrels.dev.txt", "q1 0 a 0\n"),
    ]);
    let split = own.find_split("dev").unwrap();
    let evaluation = own.evaluation(split).unwrap();
    let nothing = "no grade of the judgements is above 0";
    assert!(evaluation.warnings().iter().any(|warning| warning.starts_with(nothing)));
    let path = folder.path().join("a.run");
    std::fs::write(&path, "q2 0 a 1 1 t\n").unwrap();
    let columns = evaluation.columns(&Source::new(&path), &ComparisonOptions::default());
    let problem = columns.err().unwrap().to_problem();
    assert!(problem.expected.ends_with("qrels.dev.txt"), "{problem}");
}

#[test]
fn a_run_over_documents_is_validated_in_their_words() {
    let (folder, own) = opened(&[("documents.jsonl", DOCUMENT), ("queries.dev.jsonl", QUERIES)]);
    let path = folder.path().join("x.run");
    std::fs::write(&path, "q1 0 a 1 .1 t\nq1 0 b 2 .2 t\nq1 0 a 3 .2 t\n").unwrap();
    let checked = check_run(&*own, "dev", &Source::new(&path)).unwrap();
    let noted: Vec<&str> =
        checked.let_through.iter().map(|finding| &*finding.first.expected).collect();
    let expected = [
        "whole ranks, and scores that fall with them",
        "a document of the collection",
        "every score of a topic once",
        "every document of a topic once",
    ];
    assert_eq!(noted, expected);
}

#[cfg(unix)]
#[test]
fn a_link_to_a_folder_above_is_refused() {
    let folder = folder(&[("documents/a.jsonl", DOCUMENT)]);
    std::os::unix::fs::symlink("..", folder.path().join("documents/up")).unwrap();
    let error = TRACKS.open(&data(folder.path())).err().expect("an error");
    assert_eq!(error.to_problem().found, "a link to a folder above it");
}

#[test]
fn judgements_of_another_spelling_are_told_the_one_of_the_collection() {
    let (folder, own) = opened(&[
        ("documents.jsonl", DOCUMENT),
        ("queries.dev.jsonl", QUERIES),
        ("qrels.dev.txt", "q1 0 A 1\n"),
    ]);
    let split = own.find_split("dev").unwrap();
    let evaluation = own.evaluation(split).unwrap();
    let such = "1 judgement names documents that the collection does not have, such as `A`, where it has `a`";
    assert!(evaluation.warnings().iter().any(|warning| warning.ends_with(such)));
    let report = TRACKS.check(&data(folder.path())).unwrap();
    assert!(report.findings.iter().any(|finding| finding.first.found == "`A`, where it has `a`"));
}
