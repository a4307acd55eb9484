//! The beginnings of files of records, by which a folder is known, and tables whose header names their columns.

use super::{CORPUS, QUERIES, data, documents, folder, opened, qrels, refusal, requests};
use clariq_tracks::TRACKS;

#[test]
fn a_table_with_a_header_has_the_quotes_of_csv_whatever_is_between_its_columns() {
    let rows = ["id,text", "a,\"one, \"\"two\"\"\n three\"", "b,\"four\""];
    let text = |sign: &str| rows.map(|row| row.replacen(',', sign, 1) + "\n").concat();
    let expected = [("a", "one, \"two\"\n three"), ("b", "four")];
    for (name, sign) in [("d.csv", ","), ("d.csv", ";"), ("d.tsv", "\t"), ("documents.tsv", "\t")] {
        let (_folder, own) = opened(&[(name, &text(sign))]);
        let expected = expected.map(|(id, text)| (id.to_owned(), text.to_owned()));
        assert_eq!(documents(&*own), expected, "{name} {sign:?}");
        let judged = ["qid,docid,score", "q1,a,1", "q1,\"b\",0"];
        let judged = judged.map(|row| row.replace(',', sign) + "\n").concat();
        let asked = format!("qid{sign}query\n\"q1\"{sign}\"a \"\"big\"\" one\"\n");
        let ending = name.split_once('.').unwrap().1;
        let files = [
            (name.to_owned(), text(sign)),
            (format!("queries.dev.{ending}"), asked),
            (format!("qrels.dev.{ending}"), judged),
        ];
        let files: Vec<_> = files.iter().map(|(name, text)| (&**name, &**text)).collect();
        let (_folder, own) = opened(&files);
        assert_eq!(requests(&*own, "dev")[0].last_said(), "a \"big\" one", "{name} {sign:?}");
        let judged = qrels(&*own, "dev").unwrap().unwrap();
        assert_eq!(judged.topic(&"q1".into()).unwrap().documents().count(), 2);
    }
}

#[test]
fn the_text_of_a_request_or_of_a_document_may_be_its_title_in_a_table_as_in_json() {
    let read = |documents_and_requests: [(&str, &str); 2]| {
        let (_folder, own) = opened(&documents_and_requests);
        (documents(&*own), requests(&*own, "all")[0].last_said())
    };
    let table = read([
        ("d.csv", "id,title,text\na,tea,\nb,tea,green\n"),
        ("queries.csv", "qid,title,text\n1,tea,which tea\n"),
    ]);
    let json = read([
        (
            "d.jsonl",
            "{\"id\": \"a\", \"title\": \"tea\", \"text\": null}\n\
             {\"id\": \"b\", \"title\": \"tea\", \"text\": \"green\"}\n",
        ),
        ("queries.jsonl", "{\"qid\": 1, \"title\": \"tea\", \"text\": \"which tea\"}\n"),
    ]);
    assert_eq!(table, json);
    assert_eq!(table.1, "which tea");
    let table = read([("d.csv", "id,title\na,tea\n"), ("queries.csv", "qid,title\n1,which tea\n")]);
    let json = read([
        ("d.jsonl", "{\"id\": \"a\", \"title\": \"tea\"}\n"),
        ("queries.jsonl", "{\"qid\": 1, \"title\": \"which tea\"}\n"),
    ]);
    assert_eq!(table, json);
    // The text of a document may be at any of the further columns or keys; a topic has its title.
    let refused = refusal(&[("d.csv", "id,title,description\na,tea,green\n")]);
    assert!(refused.contains("found `id`, `title`, `description`"), "{refused}");
    let further = "{\"id\": \"a\", \"title\": \"tea\", \"description\": \"green\"}\n";
    let refused = refusal(&[("d.jsonl", further)]);
    assert!(refused.contains("its keys are `id`, `title`, `description`"), "{refused}");
    let table = read([
        ("d.csv", "id,title,text,url\na,tea,,x\n"),
        ("queries.csv", "qid,title,description\n1,which tea,green\n"),
    ]);
    let json = read([
        ("d.jsonl", "{\"id\": \"a\", \"title\": \"tea\", \"text\": null, \"url\": \"x\"}\n"),
        ("queries.jsonl", "{\"qid\": 1, \"title\": \"which tea\", \"description\": \"green\"}\n"),
    ]);
    assert_eq!(table, json);
}

#[test]
fn a_text_that_is_a_file_of_records_is_refused() {
    for (text, found) in [
        ("{\"id\": \"a\", \"text\": \"x\"}\n{\"id\": \"b\", \"text\": \"y\"}\n", "records"),
        ("id\ttext\na\tx\n", "records"),
        (
            "<DOC>\n<DOCNO>a</DOCNO>\n<TEXT>x</TEXT>\n</DOC>\n",
            "documents between `<DOC>` and `</DOC>`",
        ),
    ] {
        let refused = refusal(&[("documents/a.txt", text), ("documents/b.txt", "y")]);
        let told = format!("documents/a.txt: expected a text that is one document, found {found}");
        assert!(refused.starts_with(&told), "{refused}");
    }
    let (_folder, own) = opened(&[
        ("documents/a.txt", "{\"name\": \"x\"}\n"),
        ("documents/b.md", "- <DOC>\tis a tag"),
    ]);
    assert_eq!(documents(&*own).len(), 2);
}

#[test]
fn a_first_document_with_a_fault_is_told_by_its_line() {
    for (name, text, told) in [
        (
            "a.jsonl",
            "{\"id\": \"a 1\", \"text\": \"x\"}\n",
            "a.jsonl:1: expected an id without blanks",
        ),
        ("a.jsonl", "{\"id\": \"\", \"text\": \"\"}\n", "a.jsonl:1: expected an id without blanks"),
        (
            "a.jsonl",
            "{\"id\": 7.5, \"text\": \"x\"}\n",
            "a.jsonl:1: expected a text or a whole number at",
        ),
        ("a.jsonl", "{\"id\": 7, \"text\": [\"x\"]}\n", "a.jsonl:1: expected a text at `text`"),
        ("a.tsv", "id\ttext\na 1\tx\n", "a.tsv:2: expected an id without blanks"),
    ] {
        let refused = refusal(&[(name, text)]);
        assert!(refused.starts_with(told), "{refused}");
    }
}

#[test]
fn a_folder_that_is_no_collection_is_shown() {
    for (files, found) in [
        (
            vec![("documents.ods", "id,text\n"), ("b.txt", "")],
            "found none of them, but `b.txt`, `documents.ods`",
        ),
        (vec![("sub/a/b.txt", "")], "found none of them, but `sub`"),
        // Why a file tells no documents is what its reader would say.
        (
            vec![("a.csv", "sku,body\n1,x\n")],
            "but `a.csv` (a.csv:1: expected a first line that names the columns of the id and of the \
             text, found `sku`, `body`)",
        ),
        (
            vec![("a.csv", "\u{0}i\u{0}d\u{0},\u{0}t\u{0}e\u{0}x\u{0}t")],
            "but `a.csv` (a.csv:1: expected UTF-8 text, found a NUL)",
        ),
        (
            vec![("a.jsonl", "{\"pid\": \"p\", \"docid\": \"d\", \"passage\": \"x\"}\n")],
            "but `a.jsonl` (a.jsonl:1: expected one key for the id, found `pid` and `docid`)",
        ),
        (
            vec![("a.json", "[\n {\"contents\": \"x\"}\n]")],
            "but `a.json` (a.json:2: expected a key `id`, found an object without it: its key is \
             `contents`)",
        ),
        (
            vec![("a.csv", "sku,body\n"), ("collection.toml", "[document]\nid = \"sku\"\n")],
            "but `a.csv`, `collection.toml` (collection.toml:1: expected `documents`, found unknown \
             field `document`)",
        ),
        (vec![(".hidden", "")], "found an empty folder"),
    ] {
        let folder = folder(&files);
        let refused = TRACKS.kind_of(&data(folder.path())).err().unwrap().to_string();
        let refused = refused.replace(&format!("{}/", folder.path().display()), "");
        assert!(refused.contains(found), "{refused}");
    }
}

#[test]
fn judgements_may_be_lines_of_json() {
    let rows = "{\"query-id\": \"q1\", \"corpus-id\": \"a/1:x\", \"score\": 2}\n";
    let (_folder, own) =
        opened(&[("corpus.jsonl", CORPUS), ("queries.jsonl", QUERIES), ("qrels/test.jsonl", rows)]);
    let judged = qrels(&*own, "test").unwrap().unwrap();
    assert_eq!(judged.topic(&"q1".into()).unwrap().grade(&"a/1:x".into()), Some(2));
    assert_eq!(requests(&*own, "test").len(), 1);
}

#[test]
fn many_files_of_records_have_one_row_in_the_check_and_one_for_each_with_a_fault() {
    let file = |number: usize| {
        let id = if number == 7 { "a b".to_owned() } else { number.to_string() };
        (format!("d{number}.json"), format!("{{\"id\": \"{id}\", \"contents\": \"x\"}}"))
    };
    let files: Vec<_> = (0..101).map(file).collect();
    let files: Vec<_> = files.iter().map(|(name, text)| (&**name, &**text)).collect();
    let folder = folder(&files);
    let report = TRACKS.check(&data(folder.path())).unwrap();
    let name = folder.path().display();
    assert_eq!(report.files, [format!("{name}/d7.json"), format!("{name} (101 files)")]);
}

#[test]
fn a_table_with_tabs_between_texts_as_they_are_keeps_their_quotes() {
    let (_folder, own) = opened(&[
        ("documents.tsv", "id\ttext\na\t\"tea\" for two\nb\t\"one\nc\tmore\"\n"),
        ("queries.dev.tsv", "qid\tquery\nq1\t\"tea\" time\n"),
        ("qrels.dev.tsv", "qid\tquery\tdocid\tscore\nq1\t\"tea\" time\ta\t1\n"),
    ]);
    let expected = [("a", "\"tea\" for two"), ("b", "\"one"), ("c", "more\"")];
    assert_eq!(documents(&*own), expected.map(|(id, text)| (id.to_owned(), text.to_owned())));
    assert_eq!(requests(&*own, "dev")[0].last_said(), "\"tea\" time");
    assert!(qrels(&*own, "dev").unwrap().unwrap().topic(&"q1".into()).is_some());
}
