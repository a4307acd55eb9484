//! Reading and writing of runs.

use super::*;
use crate::sink::strictly;
use crate::write_atomically;
use clariq_core::Severity;
use proptest::prelude::*;
use std::borrow::Cow;

fn parse(text: &str) -> Result<Run> {
    let input =
        FileContent { name: "a.run".to_owned(), bytes: Cow::Owned(text.as_bytes().to_vec()) };
    strictly(|sink| parse_run(&input, sink))
}

#[test]
fn scores_that_rise_with_the_ranks_are_noticed() {
    for (text, is_against) in [
        ("1 0 a 1 .2 t\n1 0 b 2 .4 t\n2 0 a 1 .1 t\n", true),
        ("1 0 b 2 .4 t\n1 0 a 1 .2 t\n", true),
        ("1 0 a 1 .2 t\n1 0 b 2 .4 t\n1 0 c 3 .3 t\n", false),
        ("1 0 a 1 .2 t\n1 0 b 2 .2 t\n", false),
        ("1 0 a 0 .2 t\n1 0 b 0 .4 t\n", false),
        ("1 0 a 1 .2 t\n2 0 b 2 .4 t\n", false),
        ("1 0 a - .2 t\n1 0 b - .4 t\n", false),
        ("1 0 a 1 .4 t\n1 0 b 2 .2 t\n", false),
    ] {
        let doubt = parse(text).unwrap().rank_doubt;
        assert_eq!(doubt.is_some_and(|doubt| doubt.contains("distances")), is_against, "{text}");
    }
    let exchanged = parse("1 0 a 5.5 1 t\n1 0 b 4.5 2 t\n").unwrap().rank_doubt.unwrap();
    assert!(exchanged.contains("in each other's place"), "{exchanged}");
    assert_eq!(parse("1 0 a 1.0 .4 t\n1 0 b 2.0 .2 t\n").unwrap().rank_doubt, None);
}

#[test]
fn lines_keep_their_order_and_duplicates() {
    let run = parse("8 0 Q2 0 1e1 bm25\r\n8 0 Q2 1 9 bm25\n\n7 0 Q1 7 10 x\n").unwrap();
    assert_eq!(run.lines.len(), 3);
    assert_eq!((run.lines[0].score, run.lines[2].line), (10.0, 4));
}

#[test]
fn comments_and_words_after_the_last_field_are_ignored() {
    let text = "# made by x\n8 0 Q2 0 10 a tag\n# 7 0 Q1 1 9 x\n8 0 Q1 1 9 x\n";
    let input = FileContent { name: "a.run".to_owned(), bytes: Cow::Borrowed(text.as_bytes()) };
    let mut problems = Vec::new();
    let run = parse_run(&input, &mut |problem| problems.push(problem));
    assert_eq!(run.lines.iter().map(|line| line.line).collect::<Vec<_>>(), [2, 4]);
    assert_eq!((&*run.ignored.comments, &*run.ignored.trailing_words), (&[1, 3][..], &[2][..]));
    let found: Vec<_> =
        problems.iter().map(|problem| (problem.severity, &*problem.found)).collect();
    let words = "words after the last field, on 1 line in all";
    let expected = ["comments, 2 in all", words].map(|found| (Severity::Warning, found));
    assert_eq!(found, expected);
    assert!(parse("# 8 0 Q2 0 10 a\n").is_err(), "a file of comments alone");
}

#[test]
fn ids_that_begin_with_a_hash_are_no_comments() {
    let text = "#tea Q0 d1 1 2 t\n#tea Q0 #2 2 1.5 my tag\n# made for 3 of 5 topics\n\
                #7 0 d1 1 9\n#8 0 d1 1 nan x\n";
    let run = parse(text).unwrap();
    let read: Vec<_> =
        run.lines.iter().map(|line| (line.topic.as_str(), line.document.as_str())).collect();
    assert_eq!(read, [("#tea", "d1"), ("#tea", "#2"), ("#7", "d1")]);
    assert_eq!(run.ignored.comments, [3, 5]);
    assert!(parse(" # 8 0 Q2\n").is_err(), "its first character is a blank");
}

#[test]
fn runs_in_json_are_named_as_such() {
    let object = "a JSON object, such as {\"topic\": {\"document\": score}}";
    for (text, found) in [
        ("{\"1\":{\"d\":2.5}}\n", object),
        ("{\n  \"1\": {\n    \"d\": 2.5\n  }\n}\n", object),
        ("{}", object),
        ("[{\"qid\":\"1\",\"docno\":\"d\",\"score\":2.5}]", "a JSON array"),
        ("[]\n", "a JSON array"),
    ] {
        let problem = parse(text).unwrap_err().to_problem();
        assert_eq!((problem.found.as_str(), problem.at.line), (found, Some(1)), "{text}");
        assert!(problem.hint.starts_with("write a line for each document"), "{}", problem.hint);
    }
    assert!(parse("[1 0 d 1 9 t\n{2} 0 d 1 9 [x]\n").is_ok(), "ids with brackets");
    let lines = "{\"qid\":1,\"docno\":\"d\",\"score\":2.5,\"text\":\"x\"}\n\n{\"qid\":\"2\",\"docno\":\"e\",\"score\":2}\n";
    assert_eq!(parse(lines).unwrap().lines, parse("1 0 d 1 2.5 t\n\n2 0 e 1 2 t\n").unwrap().lines);
    let problem = parse("{\"qid\":\"1\",\"docno\":\"d\"}\n").unwrap_err().to_problem();
    assert_eq!(problem.expected, "keys with topics, documents and scores");
}

#[test]
fn lines_of_another_form_are_told_that_of_a_run() {
    let six = "6 fields, `<topic> 0 <document> <rank> <score> <run>`";
    let finite = "a finite score in the fifth field";
    let forms = "blanks or tabs separate fields: a line of a run has 6 of them, one of judgements 4, or 3 without \
                 the `0`, and one of a need file 2";
    for (text, expected, hint) in [
        ("1 qid:q1 1:2.5 2:3.1 # docno=d1\n", finite, "write scores as 12.5 or 1.25e1"),
        ("1 Q0 d 1 2,5 t\n", finite, "decimals have a point: write 12.5, not 12,5"),
        (
            "1 Q0 d 1 -inf t\n",
            finite,
            "what is infinite or not a number has no place among the scores of a topic",
        ),
        (
            "1 d 1 2.5 t\n",
            six,
            "the line has 5 fields: is the rank, the score or the `Q0` missing?",
        ),
        ("1 Q0 d 1 x t\n", finite, "write scores as 12.5 or 1.25e1"),
        ("1\td\t1\n", six, forms),
        ("q1,d,1,2.5\n", six, "this looks like CSV: write blanks or tabs between the fields"),
        ("q1 2\nq2 3\n", six, forms),
        (
            "0\tq1\tQ0\td\t1\t2.5\tx\n",
            "the topic in the first field, and no row numbers",
            "write the run without them (`index=False` in pandas, `row.names = FALSE` in R)",
        ),
        ("<<<<<<< HEAD\n1 Q0 d 1 2.5 t\n", six, forms),
    ] {
        let problem = parse(text).unwrap_err().to_problem();
        assert_eq!((&*problem.expected, &*problem.hint), (expected, hint), "{text}");
        assert_eq!(problem.at.line, Some(1));
    }
}

#[test]
fn a_header_names_the_columns_of_a_run() {
    for text in [
        "qid\tdocno\trank\tscore\nq1\td 1\t1\t2.5\n".replace("d 1", "d1"),
        "qid,docid,score,query\nq1,d1,2.5,\"a, b\"\n".to_owned(),
        "qid Q0 docno rank score tag\nq1 Q0 d1 1 2.5 t\n".to_owned(),
        "\tquery_id\tquery\tdoc_id\tscore\n0\tq1\twhat is it\td1\t2.5\n".to_owned(),
    ] {
        let run = parse(&text).unwrap();
        let line = &run.lines[0];
        assert_eq!((line.topic.as_str(), line.document.as_str()), ("q1", "d1"), "{text}");
        assert_eq!(line.score, 2.5, "{text}");
        assert_eq!((run.lines.len(), line.line), (1, 2));
    }
    for (text, line, expected) in [
        (
            "qid,docid,docno,rank,score,query\n",
            1,
            "one column each for topics, documents and scores",
        ),
        ("qid\tdocno\tscore\nq1 d1 2.5\n", 2, "3 fields, as in the header"),
        ("qid docno score\nq1 d1 nan\n", 2, "a finite score"),
        ("qid\tdocno\tscore\nq 1\td1\t1\n", 2, "ids of topics and documents without blanks"),
        ("qid docno score\n", 2, "a line below the header"),
        ("docid text relevance\n", 1, "names of the columns of topics, documents and scores"),
    ] {
        let problem = parse(text).unwrap_err().to_problem();
        assert_eq!((problem.at.line, &*problem.expected), (Some(line), expected), "{text}");
    }
}

#[test]
fn a_document_may_have_any_name_behind_its_topic() {
    for line in ["1 Q0 Q0 1 2.5 my tag", "1 0 Q0 1 2.5 t", "q1 x Q0 1 2.5 my tag", "= 0 d 1 2.5 t"]
    {
        assert_eq!(parse(&format!("{line}\n")).unwrap().lines.len(), 1, "{line}");
    }
}

#[test]
fn bad_lines_are_named() {
    for (text, line) in
        [("1 0 Q1 1 1 t\n1 0 Q1 1\n", 2), ("1 0 Q1 1 nan t\n", 1), ("1 0 Q1 1 x t", 1), ("", 1)]
    {
        assert_eq!(parse(text).unwrap_err().to_problem().at.line, Some(line), "{text}");
    }
}

#[test]
fn equal_scores_of_zero_become_readable_numbers_that_lower_no_others() {
    let scores = strictly_decreasing(&[0.0, 0.0, 0.0, -1e-7]);
    assert_eq!((scores[0], scores[3]), (0.0, -1e-7));
    assert_eq!(
        scores[1..3].iter().map(|&score| show_score(score)).collect::<Vec<_>>(),
        ["-1e-30", "-1.0000001e-30"]
    );
}

#[test]
fn equal_scores_keep_their_sign_and_800_keep_four_digits() {
    for score in [3.2e-6, 1e-20, 0.5, 1.001, 9.999, 17.25, 1e6, -3.2e-6, -17.25] {
        for count in [800, 4000] {
            let last = *strictly_decreasing(&vec![score; count]).last().unwrap();
            let share = (score - last).abs() / score.abs();
            assert!(last < score && share <= count as f64 * 2_f64.powi(-23), "{score}: {last}");
            assert!(count > 800 || share < 1e-4, "{score}: {last}");
        }
    }
}

#[test]
fn scores_at_the_lowest_number_stay_finite_and_strictly_decrease() {
    for scores in [[5.0, f64::MIN, f64::MIN, f64::MIN], [f64::MIN; 4], [1.0, 1.0, 0.0, f64::MIN]] {
        let lowered = strictly_decreasing(&scores);
        assert!(lowered.iter().all(|score| score.is_finite()), "{lowered:?}");
        assert!(lowered.windows(2).all(|pair| pair[0] > pair[1]), "{lowered:?}");
        assert_eq!((lowered[0] == scores[0]), scores[0] > f64::MIN);
    }
}

proptest! {
    #[test]
    fn nudged_scores_strictly_decrease_and_stay_close(
        mut scores in prop::collection::vec(prop_oneof![Just(0.0), Just(3.5), -50.0..50.0_f64, -1e-9..1e-9_f64], 1..60)
    ) {
        scores.sort_by(|a, b| b.total_cmp(a));
        let nudged = strictly_decreasing(&scores);
        prop_assert!(nudged.windows(2).all(|pair| pair[0] > pair[1]));
        prop_assert!(nudged.windows(2).all(|pair| pair[0] as f32 > pair[1] as f32), "also in single precision");
        for (was, is) in scores.iter().zip(&nudged) {
            prop_assert!((was - is).abs() <= 1e-4 * was.abs() + 1e-29 && is <= was);
        }
    }

    #[test]
    fn write_then_read_is_identity(
        mut scores in prop::collection::btree_set(-1_000_000..1_000_000_i32, 1..50)
            .prop_map(|set| set.into_iter().map(|score| f64::from(score) / 3.0).collect::<Vec<_>>())
    ) {
        scores.reverse();
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.run");
        let topic = RequestId::from("101");
        let ids: Vec<DocId> = (0..scores.len()).map(|n| format!("Q{n:05}").as_str().into()).collect();
        let nudged = strictly_decreasing(&scores);
        let ranking: Vec<_> = ids.iter().zip(scores.iter().copied()).collect();
        write_atomically(&path, |out| put_run_lines(out, &topic, ranking, "my tag")).unwrap();
        let run = read_run(&Source::new(&path)).unwrap();
        prop_assert!(std::fs::read_to_string(&path).unwrap().ends_with(" my_tag\n"));
        prop_assert_eq!(run.lines.iter().map(|line| line.score).collect::<Vec<_>>(), nudged);
        prop_assert_eq!(run.lines.into_iter().map(|line| line.document).collect::<Vec<_>>(), ids);
    }
}
