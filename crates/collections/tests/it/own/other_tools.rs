//! Files as other tools write them.

use super::{data, documents, folder, ids, ids_of, opened, qrels, refusal};
use clariq_collections::DataDir;
use clariq_collections::evaluation::{Answers, ScoreOptions};
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
        assert!(refused.contains("its keys are `id`, `text` (null)"), "{refused}");
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
fn a_folder_of_another_form_is_told_those_that_are_read() {
    for name in ["documents.xlsx", "train.parquet", "corpus.jsonl.xz", "page.html", "notes"] {
        let folder = folder(&[(name, "x")]);
        let problem = TRACKS.check(&data(folder.path())).unwrap_err().to_problem();
        assert!(problem.found.contains(name), "{problem}");
        assert!(problem.hint.starts_with("documents are files of JSON, CSV"), "{problem:?}");
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
fn csv_is_read_as_spreadsheets_and_pandas_write_it() {
    let plain = "id,title,text\na,Saturn,\"a planet,\nwith \"\"rings\"\"\"\nb,,a car\n";
    let pair = |id: &str, text: &str| (id.to_owned(), text.to_owned());
    let expected = [pair("a", "Saturn a planet,\nwith \"rings\""), pair("b", "a car")];
    let indexed = ",id,title,text\n0,a,Saturn,\"a planet,\nwith \"\"rings\"\"\"\n1,b,,a car\n";
    let semicolons = plain.replace("d,t", "d;t").replace("e,t", "e;t");
    let semicolons = semicolons.replace("a,Saturn,", "a;Saturn;").replace("b,,", "b;;");
    for (name, text) in [
        ("documents.csv", plain),
        ("products.csv", plain),
        ("corpus/part-1.csv", indexed),
        ("documents.csv", &plain.replace('\n', "\r\n")),
        ("documents.csv", &semicolons),
    ] {
        let (_folder, own) = opened(&[(name, text)]);
        assert_eq!(documents(&*own), expected, "{name}: {text}");
    }
    for (text, expected) in [
        ("id,text\na,one,two\n", "documents.csv:2: expected 2 columns, as in the header, found 3"),
        ("id,text\na,\"one\nb,two\n", "documents.csv:2: expected a quoted field that ends"),
        (
            "sku,name\n1,tea\n",
            "documents.csv:1: expected a first line that names the columns of the id and of the text, \
             found `sku`, `name` `collection.toml` in the data folder says which",
        ),
        (
            "docid,docno,text\n1,a,tea\n",
            "documents.csv:1: expected one column with an id, and one with a text, found `docid` and `docno`",
        ),
    ] {
        let refused = refusal(&[("documents.csv", text)]);
        assert!(refused.contains(expected), "{refused}\nnot: {expected}");
    }
}

#[test]
fn objects_over_several_lines_and_lists_are_read() {
    let one = "{\n  \"id\": \"a\",\n  \"contents\": \"one\"\n}\n";
    let two = "{\n  \"id\": \"b\",\n  \"contents\": \"two\"\n}\n";
    let list = format!("[{one}, {two}]");
    for files in [
        &[("doc1.json", one), ("doc2.json", two)][..],
        &[("documents/1.json", one), ("documents/2.json", two)],
        &[("corpus.jsonl", &list)],
        &[("all.json", &list.replace('\n', " "))],
        &[("documents.jsonl", &format!("{one}{two}"))],
    ] {
        let (_folder, own) = opened(files);
        assert_eq!(ids_of(&*own), ["a", "b"], "{files:?}");
    }
    for (text, expected) in [
        (format!("[{one},\n{{\"id\": }}]"), "documents.jsonl:6: expected JSON objects"),
        (format!("[{one}"), "documents.jsonl:5: expected the end `]` of the list"),
        (format!("[{one}, 7]"), "documents.jsonl:5: expected JSON objects"),
    ] {
        let refused = refusal(&[("documents.jsonl", &text)]);
        assert!(refused.contains(expected), "{refused}\nnot: {expected}");
    }
}

#[test]
fn a_text_is_a_document_named_by_its_path() {
    let files = [("a b.md", "# Tea\n\ngreen\n"), ("c.txt", "coffee\n"), ("README.md", "about")];
    let read = |folder: &str, below: &str| {
        let files: Vec<_> =
            files.iter().map(|(name, text)| (format!("{folder}{below}{name}"), *text)).collect();
        let files: Vec<_> = files.iter().map(|(name, text)| (&**name, *text)).collect();
        documents(&*opened(&files).1)
    };
    let pair = |id: &str, text: &str| (id.to_owned(), text.to_owned());
    let expected = [pair("a%20b.md", "# Tea\n\ngreen"), pair("c.txt", "coffee")];
    assert_eq!(read("documents/", ""), expected);
    assert_eq!(read("", ""), expected);
    let below = [pair("x/a%20b.md", "# Tea\n\ngreen"), pair("x/c.txt", "coffee")];
    assert_eq!(read("documents/", "x/"), below);
    assert_eq!(read("", "x/"), below);
    let (folder_of_texts, _) =
        opened(&[("x/a.md", "tea"), ("x/y/b.txt", "coffee"), ("x/c.md", "")]);
    let report = TRACKS.check(&data(folder_of_texts.path())).unwrap();
    assert_eq!(report.files.len(), 1, "{:?}", report.files);
    // A folder of a program is no collection of texts.
    for others in [&["below/main.py", "more.md"][..], &["documents.jsonl.txt"], &[]] {
        let mut files = vec![("notes.md", "x")];
        files.extend(others.iter().map(|name| (*name, "x")));
        let folder = folder(&files);
        assert!(TRACKS.kind_of(&data(folder.path())).is_err(), "{others:?}");
    }
}

#[test]
fn records_and_texts_in_one_folder_are_refused() {
    let refused = refusal(&[("documents/a.json", DOCUMENT), ("documents/b.md", "tea")]);
    assert!(
        refused.contains("files of one kind, found `documents/a.json` and `documents/b.md`"),
        "{refused}"
    );
}

#[test]
fn keys_and_columns_have_the_names_that_a_person_gives_them() {
    let names = "[documents]\nid = \"sku\"\ntext = [\"title\", \"body\"]\n";
    let json =
        "{\"sku\": 7, \"title\": \"Tea\", \"body\": \"green\", \"id\": 1, \"text\": \"no\"}\n";
    for (name, text) in [
        ("documents.jsonl", json),
        ("shop.jsonl", json),
        ("shop.csv", "sku,price,title,body\n7,1,Tea,green\n"),
        ("documents.tsv", "sku\tprice\ttitle\tbody\n7\t1\tTea\tgreen\n"),
    ] {
        let (folder, own) = opened(&[("collection.toml", names), (name, text)]);
        assert_eq!(documents(&*own), [("7".to_owned(), "Tea green".to_owned())], "{name}");
        let report = TRACKS.check(&data(folder.path())).unwrap();
        assert!(!report.findings.has_errors());
        assert_eq!(report.notes, ["documents: id from `sku`, text from `title`, `body`"]);
    }
    for (names, expected) in [
        ("[documents]\nid = \"sku\"\n", "a key `text`"),
        ("[documents]\nid = \"sku\"\ntext = []\n", "a key with a text in `text`"),
        (
            "[documents]\nid = \"ean\"\ntext = \"title\"\n",
            "a key `ean`, which `collection.toml` names",
        ),
        ("[documents]\nid = \"sku\"\ntext = \"x\"\n", "a key `x`, which `collection.toml` names"),
    ] {
        let refused = refusal(&[("collection.toml", names), ("documents.jsonl", json)]);
        assert!(refused.contains(expected), "{refused}\nnot: {expected}");
    }
}

#[test]
fn other_keys_are_ignored_by_one_rule_and_a_misspelt_one_is_not() {
    for keys in [
        "\"reasoning\": \"…\", \"language\": \"en\"",
        "\"metadata\": {\"a\": [1]}, \"answers\": [\"x\"]",
        "\"query_0\": \"x\", \"topic\": \"y\"",
    ] {
        let request = format!("{{\"id\": \"q1\", \"text\": \"one\", {keys}}}\n");
        let (_folder, own) =
            opened(&[("documents.jsonl", DOCUMENT), ("queries.dev.jsonl", &request)]);
        assert_eq!(ids(&*own, "dev"), ["q1"], "{keys}");
    }
    for (request, expected) in [
        (
            "{\"id\": \"q1\", \"text\": \"one\", \"candidate\": [\"a\"]}",
            "a key `candidates`, found `candidate`",
        ),
        (
            "{\"qid\": 1, \"query_id\": 2, \"text\": \"one\"}",
            "one key for the id, found `qid` and `query_id`",
        ),
        (
            "{\"id\": 1, \"query\": \"one\", \"question\": \"two\"}",
            "one key for the text, found `query` and `question`",
        ),
        ("<top>\n<num> 1\n", "found tags, as topics of TREC and XML have them"),
        ("<?xml version=\"1.0\"?>\n", "found tags, as topics of TREC and XML have them"),
        ("[{\"id\": 1, \"text\": \"one\"}]\n", "found a JSON list"),
        ("{\n  \"id\": 1\n}\n", "found an object over several lines"),
    ] {
        let refused = refusal(&[("documents.jsonl", DOCUMENT), ("queries.dev.jsonl", request)]);
        assert!(refused.contains(expected), "{refused}\nnot: {expected}");
    }
}

#[test]
fn judgements_name_their_columns_beside_others() {
    for rows in [
        "query_id\tquery\tcorpus_id\tscore\nq1\twhat is one\ta\t1\n",
        "query_id,query,corpus_id,score\nq1,\"what, is one\",a,1.0\n",
        "corpus-id\tquery-id\tnote\tscore\na\tq1\t\t1\n",
    ] {
        let (_folder, own) = opened(&[
            ("documents.jsonl", DOCUMENT),
            ("queries.dev.jsonl", QUERIES),
            ("qrels/dev.tsv", rows),
        ]);
        let judged = qrels(&*own, "dev").unwrap().unwrap();
        assert_eq!(judged.topic(&"q1".into()).unwrap().grade(&"a".into()), Some(1), "{rows}");
    }
}

#[test]
fn lines_that_are_no_documents_are_named_by_what_they_are() {
    for (name, text, found, hint) in [
        ("collection.tsv", "a;one\n", "`a;one`", "CSV has a name that ends in `.csv`"),
        ("documents.jsonl", "// mine\n", "`// mine`", "JSON has no comments"),
        ("documents.jsonl", "a: one\n", "`a: one`", "a line is"),
        ("collection.tsv", "a\t\"one\ntwo\"\n", "`two\"`", "is this the rest of a text"),
        (
            "documents.jsonl",
            "{\"id\": \"a\", \"page_content\": \"one\"}\n",
            "an object without them: its keys are `id`, `page_content`",
            "a line is",
        ),
        (
            "documents.jsonl",
            "{\"text\": \"one\"}\n",
            "an object without it: its key is `text`",
            "a line is",
        ),
        (
            "documents.jsonl",
            "{\"id\": \"a\", \"text\": \"one\"},\n",
            "a fault in column 27: trailing characters",
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
    let run = Source::new(&path);
    let cases = evaluation.cases(Answers::File(&run), &ScoreOptions::default());
    let problem = cases.err().unwrap().to_problem();
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
