//! Reading of judgements.

use super::*;
use crate::write_atomically;

#[test]
fn judgements_are_read_in_their_order() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.qrel.gz");
    let judgement = |document: &str, relevance| Judgement {
        topic: "F0010".into(),
        document: document.into(),
        relevance,
    };
    let judgements = vec![judgement("d1", 2), judgement("d2", -2)];
    write_atomically(&path, |out| out.write_all(b"F0010 0 d1 2\nF0010 0 d2 -2\n")).unwrap();
    assert_eq!(read_qrels(&Source::new(&path)).unwrap(), judgements);
}

#[test]
fn the_form_of_beir_has_a_header_and_three_fields() {
    let text = "query-id\tcorpus-id\tscore\nq1\ta/b:1\t2\n";
    let found = read_qrels(&Source::memory("a.tsv", text.as_bytes())).unwrap();
    assert_eq!(found, [judged("q1", "a/b:1", 2)]);
    let bad = format!("{text}q1\tx\n");
    let problem = read_qrels(&Source::memory("a.tsv", bad.into_bytes())).unwrap_err();
    assert_eq!(problem.to_problem().at.line, Some(3));
}

#[test]
fn a_header_may_have_semicolons_and_one_without_a_grade_is_told() {
    let read = |text: &str| read_qrels(&Source::memory("a.csv", text.as_bytes()));
    let found = read("qid;docid;rel;note\nq1;d1;2;\"a; b\"\n").unwrap();
    assert_eq!(found, [judged("q1", "d1", 2)]);
    for header in ["query_id,doc_id", "query_id;doc_id", "query_id\tdoc_id", "query_id doc_id"] {
        let problem = read(&format!("{header}\nq1,d1\n")).unwrap_err().to_problem();
        assert_eq!(problem.expected, "names of the columns of topics, documents and grades");
    }
}

#[test]
fn a_json_object_on_each_line_is_a_judgement_and_other_json_is_told() {
    let read = |text: &str| read_qrels(&Source::memory("a.jsonl", text.as_bytes()));
    let found =
        read("{\"query-id\": \"q1\\u0030\", \"corpus-id\": 7, \"score\": 2, \"note\": null}\n");
    assert_eq!(found.unwrap(), [judged("q10", "7", 2)]);
    for (line, told) in [
        ("{\"qid\": \"q\", \"docid\": \"d\"}", "keys with topics, documents and grades"),
        ("{\"qid\": \"q\", \"docid\": \"d\", \"rel\": 1, \"label\": 1}", "one key each for"),
        ("{\"qid\": \"q\", \"docid\": \"d\", \"docid\": \"e\", \"rel\": 1}", "`docid` once"),
        (
            "{\"qid\": \"q\", \"docid\": \"d e\", \"rel\": 1}",
            "ids of topics and documents without blanks",
        ),
        ("{\"qid\": \"q\", \"docid\": \"d\", \"rel\": 0.5}", "a whole number as relevance"),
        ("{\"q1\": {\"d1\": 1}}", "lines of fields with blanks between them"),
        ("[{\"qid\": \"q\"}]", "lines of fields with blanks between them"),
    ] {
        let problem = read(&format!("{line}\n")).unwrap_err().to_problem();
        assert!(problem.expected.starts_with(told), "{line}: {problem}");
    }
}

#[test]
fn three_fields_have_no_constant() {
    let text = "0_8\tp:1 \t2\n0_8\tp:2\t0\n";
    let found = read_qrels(&Source::memory("a.txt", text.as_bytes())).unwrap();
    assert_eq!(found, [judged("0_8", "p:1", 2), judged("0_8", "p:2", 0)]);
    let bad = format!("{text}0_8 0 p:3 1\n");
    let problem = read_qrels(&Source::memory("a.txt", bad.into_bytes())).unwrap_err();
    assert_eq!(problem.to_problem().at.line, Some(3));
}

#[test]
fn comments_are_ignored_before_the_form_is_chosen() {
    for text in ["# a b c d e\n\n1 0 d 2\n# 1 0 d 3\n# of 3\n", "# a\n1 d 2\n#\n"] {
        let found = read_qrels(&Source::memory("a.qrels", text.as_bytes())).unwrap();
        assert_eq!(found, [judged("1", "d", 2)], "{text}");
    }
}

#[test]
fn ids_that_begin_with_a_hash_are_no_comments_and_comments_are_counted() {
    let text = "# grades of 3 people in all\n#tea\td1\t1\n#\td2\t0\nq2\td1\t1\n";
    for (text, last) in [(text.to_owned(), "q2"), (text.replace("q2", "#q2"), "#q2")] {
        let qrels = Qrels::read(&Source::memory("a.tsv", text.into_bytes())).unwrap();
        let topics = ["#tea", "#", last].map(|topic| qrels.topic(&topic.into()).is_some());
        assert_eq!((topics, qrels.comments), ([true; 3], 1), "{last}");
    }
}

#[test]
fn a_header_of_known_names_is_no_judgement() {
    for (header, row) in [
        ("query-id\tcorpus-id\tscore", "q1\td\t2"),
        ("qid docno rel", "q1 d 2"),
        ("query_id\titer\tdoc_id\trelevance", "q1\t0\td\t2"),
        ("Topic Q0 DocID Label", "q1 0 d 2"),
    ] {
        let text = format!("{header}\n{row}\n");
        let found = read_qrels(&Source::memory("a.tsv", text.into_bytes())).unwrap();
        assert_eq!(found, [judged("q1", "d", 2)], "{header}");
    }
    let unknown = read_qrels(&Source::memory("a.tsv", &b"q d x\n1 d 2\n"[..])).unwrap_err();
    assert_eq!(unknown.to_problem().at.line, Some(1));
}

#[test]
fn a_header_says_which_column_is_which() {
    for (header, row) in [
        ("query_id\tdoc_id\trelevance\titeration", "q1\td\t2\t0"),
        ("corpus-id\tquery-id\tscore", "d\tq1\t2"),
        ("label qid docno", "2 q1 d"),
        ("docno iter qid label", "d 0 q1 2"),
    ] {
        let text = format!("{header}\n{row}\n");
        let found = read_qrels(&Source::memory("a.tsv", text.into_bytes())).unwrap();
        assert_eq!(found, [judged("q1", "d", 2)], "{header}");
    }
}

#[test]
fn a_header_that_leaves_columns_open_is_refused() {
    for (header, expected) in [
        ("query_id corpus_id score relevance", "one column each for topics, documents and grades"),
        ("qid query_id docno rel", "one column each for topics, documents and grades"),
        ("qid text score", "names of the columns of topics, documents and grades"),
    ] {
        let text = format!("{header}\nq1 d 1 1\n");
        let refused = read_qrels(&Source::memory("a.tsv", text.into_bytes())).unwrap_err();
        let problem = refused.to_problem();
        assert_eq!((problem.at.line, &*problem.expected), (Some(1), expected), "{header}");
    }
}

#[test]
fn a_header_alone_is_an_empty_file() {
    let refused = read_qrels(&Source::memory("a.tsv", &b"qid docno rel\n\n"[..])).unwrap_err();
    assert_eq!(refused.to_problem().kind, ProblemKind::Empty);
}

#[test]
fn grades_before_the_iteration_are_refused_without_a_header() {
    let text = "q1\td1\t1\t0\nq1\td2\t0\t0\n";
    let refused = read_qrels(&Source::memory("a.tsv", text.as_bytes())).unwrap_err();
    assert_eq!(refused.to_problem().found, "0 on every line, behind numbers");
    for text in ["q1 0 1 0\nq1 0 2 0\n", "q1 0 1 0\nq1 1 2 1\n", "q1 0 a 0\nq1 1 b 0\n"] {
        assert!(read_qrels(&Source::memory("a.txt", text.as_bytes())).is_ok(), "{text}");
    }
}

#[test]
fn a_whole_grade_may_be_written_with_a_point() {
    let text = "q1 0 a 1.0\nq1 0 b 0.00\n#q 0 b -2.0\n";
    let found = read_qrels(&Source::memory("a.qrels", text.as_bytes())).unwrap();
    assert_eq!(found, [judged("q1", "a", 1), judged("q1", "b", 0), judged("#q", "b", -2)]);
    for grade in ["0.5", "1.", "1.0e0", ".0", "1.0.0", "nan", "True"] {
        let text = format!("q1 0 a {grade}\n");
        assert!(read_qrels(&Source::memory("a.qrels", text.into_bytes())).is_err(), "{grade}");
    }
}

#[test]
fn ids_in_quotes_are_refused() {
    let text = "\"q1\" 0 \"a\" 1\n";
    let refused = read_qrels(&Source::memory("a.tsv", text.as_bytes())).unwrap_err();
    assert_eq!(refused.to_problem().expected, "ids without quotes around them");
    // A table with a header has quotes as CSV has them.
    let table = "\"query-id\"\t\"corpus-id\"\t\"score\"\n\"q1\"\t\"a\"\t1\n";
    let read = read_qrels(&Source::memory("a.tsv", table.as_bytes())).unwrap();
    assert_eq!(read, [judged("q1", "a", 1)]);
    let one = read_qrels(&Source::memory("a.qrels", &b"q1 0 \"a\" 1\n"[..])).unwrap();
    assert_eq!(one, [judged("q1", "\"a\"", 1)]);
}

fn judged(topic: &str, document: &str, relevance: i32) -> Judgement {
    Judgement { topic: topic.into(), document: document.into(), relevance }
}

#[test]
fn grades_are_kept() {
    let qrels = Qrels::from_judgements(
        "a",
        &[judged("1", "a", 3), judged("1", "b", -1), judged("1", "a", 3)],
    )
    .unwrap();
    let topic = qrels.topic(&"1".into()).unwrap();
    assert_eq!((topic.relevant(1), topic.relevant(3), topic.relevant(4)), (1, 1, 0));
    assert_eq!((topic.grade(&"b".into()), topic.grade(&"c".into())), (Some(-1), None));
}

#[test]
fn a_line_with_another_grade_is_named() {
    let text = "1 0 a 1\n1 0 a 1\n2 0 a 0\n1 0 a 0\n";
    let problem = read_qrels(&Source::memory("a.qrels", text.as_bytes())).unwrap_err();
    let problem = problem.to_problem();
    assert_eq!((problem.at.line, problem.kind), (Some(4), ProblemKind::Contradiction));
}

#[test]
fn two_grades_are_a_contradiction() {
    let judgements = [judged("1", "a", 1), judged("1", "a", 0)];
    let problem = Qrels::from_judgements("a.qrels", &judgements).unwrap_err().to_problem();
    assert_eq!(problem.kind, ProblemKind::Contradiction);
    assert_eq!(problem.found, "`1` and `0`");
}
