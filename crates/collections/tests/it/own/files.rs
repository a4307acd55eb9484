//! Files beside documents, and lines that are not what they look like.

use super::{QUERIES, data, documents, folder, ids, ids_of, opened, qrels, refusal, requests};
use clariq_collections::evaluation::{Answers, ScoreCell, ScoreOptions};
use clariq_collections::{DataDir, NeedLabel, OWN};
use clariq_core::Request;
use clariq_files::Source;
use clariq_tracks::TRACKS;
use serde_json::json;
use std::fs;

const DOCUMENT: &str = "{\"id\": \"a\", \"text\": \"one\"}\n";

#[test]
fn a_file_beside_documents_is_read_or_refused_by_name() {
    let faulty = [
        "{\"id\": \"b\", \"te\n",
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
        ("documents/README.txt", "x"),
        ("documents/notes.rtf", "x"),
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
        refused.contains("queries.dev.tsv:1: expected a request that is not empty"),
        "{refused}"
    );
}

#[test]
fn columns_of_tables_are_found_by_the_names_of_the_header() {
    let (_folder, own) = opened(&[
        // As pandas writes a table with its index, and DPR its passages.
        ("collection.tsv", "\n\ntext\tid\ttitle\na planet\ta\tSaturn\na car\tb\t\n"),
        ("queries.dev.tsv", "\n\tqid\tquery\tsource\n0\tq1\tplanets\tweb\n1\tq2\tcars\n"),
    ]);
    let pair = |id: &str, text: &str| (id.to_owned(), text.to_owned());
    assert_eq!(documents(&*own), [pair("a", "Saturn a planet"), pair("b", "a car")]);
    let requests = requests(&*own, "dev");
    let said = requests.iter().map(|request| pair(request.id.as_str(), &request.last_said()));
    assert_eq!(said.collect::<Vec<_>>(), [pair("q1", "planets"), pair("q2", "cars")]);
}

#[test]
fn tables_of_other_tools_are_refused_where_their_columns_are_not_clear() {
    let documents = ("documents.jsonl", DOCUMENT);
    for (files, expected) in [
        // MS MARCO's documents: id, address, title, body.
        (
            vec![("collection.tsv", "D1\thttp://x\tTea\tgreen tea\n")],
            "collection.tsv:1: expected an id, a tab and a text, or a first line that names more \
             columns, found 4 columns",
        ),
        // R's `write.table` numbers rows and does not name the numbers.
        (
            vec![documents, ("queries.dev.tsv", "qid\tquery\n1\tq1\ttea\n")],
            "queries.dev.tsv:2: expected 2 columns, as in the header, found 3",
        ),
        (
            vec![documents, ("queries.dev.tsv", "\"q1\"\t\"tea\"\n")],
            "queries.dev.tsv:1: expected an id without quotes around it, found `\"q1\"`",
        ),
        (
            vec![documents, ("queries.dev.csv", "qid,query\nq1,\"tea\" for two\n")],
            "queries.dev.csv:2: expected a quoted field that ends with a quote",
        ),
        (
            vec![("collection.tsv", "\"a\"\t\"green tea\"\n")],
            "collection.tsv:1: expected an id without quotes around it, found `\"a\"` the quotes",
        ),
        (
            vec![documents, ("queries.dev.tsv", "qid\tquery\trewrite\nq1\ttea\tgreen tea\n")],
            "queries.dev.tsv:1: expected one column with an id, and one with a text, found `query` and \
             `rewrite`",
        ),
        (
            vec![("corpus.jsonl", "version https://git-lfs.github.com/spec/v1\noid sha256:4d\n")],
            "corpus.jsonl:1: expected a file of text, found a pointer to the file, by Git LFS",
        ),
    ] {
        let refused = refusal(&files);
        assert!(refused.contains(expected), "{refused}\nnot: {expected}");
    }
}

#[test]
fn texts_behind_the_first_row_may_have_tabs() {
    let (_folder, own) = opened(&[("collection.tsv", "a\tone\nb\ttwo\tthree\n")]);
    assert_eq!(documents(&*own)[1], ("b".to_owned(), "two\tthree".to_owned()));
}

#[test]
fn judgements_of_unknown_topics_are_counted_alike_by_check_and_eval() {
    let files = [
        ("documents.jsonl", DOCUMENT),
        ("queries.dev.tsv", "q1\ttea\n"),
        ("qrels.dev.txt", "q1 0 a 1\nq2 0 a 1\nq2 0 x 1\nq3 0 a 0\n"),
    ];
    let (folder, own) = opened(&files);
    let evaluation = own.evaluation(own.find_split("dev").unwrap()).unwrap();
    let unknown = evaluation.warnings().iter().find(|warning| warning.contains("topics")).unwrap();
    assert!(unknown.contains(": 3 judgements name topics that are not among"), "{unknown}");
    let checked = TRACKS.check(&data(folder.path())).unwrap();
    let of_topics = checked
        .findings
        .iter()
        .find(|finding| finding.first.expected == "topics that are requests");
    assert_eq!(of_topics.unwrap().count, 3);
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
        ("{\"id\":\"a\",\"text\":\"x\",\"contents\":\"y\"}", "`text` and `contents`"),
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
    assert!(refused.contains("`_id` and `id`"), "{refused}");
}

#[test]
fn every_file_beside_loose_documents_that_may_hold_data_is_listed() {
    let (folder, own) = opened(&[
        ("a.jsonl", DOCUMENT),
        ("b.ldjson", DOCUMENT),
        ("b.txt", "x"),
        ("d.md", "x"),
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
    assert_eq!(names, ["b.ldjson", "b.txt", "below/c.jsonl", "d.md", "more"]);
    let report = TRACKS.check(&data(folder.path())).unwrap();
    assert!(!report.findings.has_errors());
    let found: Vec<_> = report.findings.iter().map(|one| &*one.first.found).collect();
    assert_eq!(found, ["4 that are not read, such as `b.ldjson`", "a file that is not read"]);
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
fn labels_of_0_and_1_are_needs_of_another_scale() {
    for (need, found) in [(json!(0), "`0`"), (json!(-1), "`-1`"), (json!("0"), "`0`")] {
        let requests = json!({ "id": "1", "text": "a", "need": need }).to_string();
        let (folder, own) =
            opened(&[("documents.jsonl", DOCUMENT), ("requests.test.jsonl", requests.as_str())]);
        assert!(TRACKS.check(&data(folder.path())).unwrap().findings.has_errors(), "{need}");
        let split = own.find_split("test").unwrap();
        let refused = own.annotations(split).err().unwrap().to_problem();
        assert_eq!((refused.at.line, refused.found.as_str()), (Some(1), found));
        assert!(refused.hint.contains("write 1 and 2"), "{}", refused.hint);
    }
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
        let file = Source::new(folder.path().join(file));
        evaluation.cases(Answers::File(&file), &ScoreOptions::default())
    };
    let table = score("a.need").unwrap().tables.remove(0);
    let balanced: Vec<&ScoreCell> = table.rows.iter().map(|row| &row[8]).collect();
    assert_eq!(balanced, [&ScoreCell::Score(0.5, 4); 3]);
    assert_eq!(table.rows[2][9], ScoreCell::Score(1.0, 4), "the area under the curve");
    write("a.run", "1 0 d1 1 1.0 x\n");
    let refused = score("a.run").err().unwrap().to_problem();
    assert_eq!(refused.expected, "judgements for a run");
    // Judgements that cannot be read are not taken for missing ones.
    write("qrels.test.txt", "1 0 d1 1\n1 0 d1 many\n");
    let own = (OWN.open)(&DataDir::Folder(folder.path().to_owned()), None).unwrap();
    let damaged = own.evaluation(own.find_split("test").unwrap()).err().unwrap().to_problem();
    assert_eq!((damaged.at.line, damaged.found.as_str()), (Some(2), "`1 0 d1 many`"));
}

#[test]
fn requests_and_judgements_may_be_csv_and_records_may_end_in_ndjson() {
    let (_folder, own) = opened(&[
        ("documents.ndjson", DOCUMENT),
        ("topics.dev.csv", "id;text\n1;\"tea; green\"\n"),
        ("qrels.dev.csv", "query-id,corpus-id,score\n1,a,1\n"),
        (
            "queries.train.csv",
            "\"qid\",\"query\",\"lang\"\n7,\"cups, \"\"big\"\" ones\",en\n8,pots,en\n",
        ),
        ("requests.test.ndjson", "{\"id\": \"t\", \"text\": \"mugs\"}\n"),
    ]);
    assert_eq!(ids_of(&*own), ["a"]);
    let said = |split| requests(&*own, split).iter().map(Request::last_said).collect::<Vec<_>>();
    assert_eq!(said("train"), ["cups, \"big\" ones", "pots"]);
    assert_eq!([said("dev"), said("test")], [["tea; green"], ["mugs"]]);
    assert_eq!(qrels(&*own, "dev").unwrap().unwrap().topics().count(), 1);
    assert!(own.unread_files().is_empty());
    for (row, found) in [("7,a,b,c\n", "found 4"), ("7,\"a\n", "a quote that opens a field")] {
        let table = format!("qid,query,lang\n{row}");
        let refused = refusal(&[("documents.jsonl", DOCUMENT), ("queries.csv", &table)]);
        assert!(refused.contains("queries.csv:2") && refused.contains(found), "{refused}");
    }
}

#[test]
fn records_whose_columns_are_not_known_lead_to_their_names() {
    let folder = folder(&[("products.csv", "sku,name,body\n1,a,b\n")]);
    let refused = TRACKS.kind_of(&data(folder.path())).err().unwrap().to_problem();
    let hint = refused.hint.render(&[]);
    assert!(hint.contains("[documents] id = \"sku\""), "{hint}");
    let names = "[documents]\nid = \"sku\"\ntext = [\"name\", \"body\"]\n";
    fs::write(folder.path().join("collection.toml"), names).unwrap();
    let own = TRACKS.open(&data(folder.path())).unwrap();
    assert_eq!(documents(&*own), [("1".to_owned(), "a b".to_owned())]);
}

#[test]
fn counts_in_the_place_of_grades_are_told() {
    let warned = |grade: u32| {
        let qrels = format!("q1 0 a {grade}\n");
        let files =
            [("documents.jsonl", DOCUMENT), ("queries.jsonl", QUERIES), ("qrels.txt", &qrels)];
        let (_folder, own) = opened(&files);
        let evaluation = own.evaluation(own.splits()[0]).unwrap();
        evaluation.warnings().iter().any(|it| it.starts_with(&format!("grades up to {grade},")))
    };
    assert_eq!([warned(4), warned(5), warned(40)], [false, false, true]);
}
