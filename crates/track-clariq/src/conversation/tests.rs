//! Tests of the readers: accepted files, and reported problems.

use super::*;
use crate::collection::ClariQ;
use crate::labelled::Labelled;
use crate::splits;

fn records(
    name: &str,
    bytes: impl Into<Vec<u8>>,
    reading: &RecordOptions,
) -> Result<(Vec<ConversationRecord>, SkippedRecords), Error> {
    let mut records = Vec::new();
    let skipped = read_records(&Source::memory(name, bytes.into()), reading, &mut |record| {
        records.push(record);
        ControlFlow::Continue(())
    })?;
    Ok((records, skipped))
}

fn problem(bytes: impl Into<Vec<u8>>, reading: &RecordOptions) -> Problem {
    match records("x", bytes, reading) {
        Err(Error::Problem(problem)) => *problem,
        other => panic!("{other:?}"),
    }
}

fn sample() -> ClariQ {
    ClariQ::open(crate::SAMPLE).unwrap()
}

fn synthesized(shape: ConversationShape) -> Vec<ConversationRecord> {
    let labels = sample().labelled(splits::DEV).unwrap();
    Synthesis::new(&labels, shape).unwrap().records().collect()
}

#[test]
fn synthesized_conversations_are_read_back() {
    let expected = synthesized(ConversationShape::default());
    let mut lines = Vec::new();
    put_json_lines(&mut lines, expected.clone()).unwrap();
    let bank = sample().bank;
    let reading = RecordOptions { bank: Some(&bank), skip_bad: false };
    let (found, skipped) = records("dev", lines, &reading).unwrap();
    assert!(found == expected);
    assert_eq!(skipped, SkippedRecords::default());
}

#[test]
fn ids_are_unique_and_do_not_depend_on_other_records() {
    let mut seen = HashSet::new();
    let all = synthesized(ConversationShape::default());
    assert!(all.iter().all(|record| seen.insert(&record.id)), "a record id twice");
    let shape = ConversationShape {
        turns: 4,
        order: TurnOrder::Permutations,
        no_question: true,
        contexts_only: true,
    };
    let more = synthesized(shape);
    let contexts: HashMap<i64, &ClariqConversation> =
        more.iter().map(|record| (record.conversation.id, &record.conversation)).collect();
    assert_eq!(contexts.len(), more.len(), "a context id twice");
    for record in &all {
        assert_eq!(contexts[&record.conversation.id], &record.conversation);
    }
    let first = &all[0].conversation;
    assert_eq!(
        first.id,
        first.facet.as_str()[1..].parse::<i64>().unwrap(),
        "the number of the facet"
    );
}

#[test]
fn facets_with_one_number_are_an_error() {
    let table = "topic_id\tinitial_request\tfacet_id\tfacet_desc\tquestion_id\tquestion\tanswer\t\
                 clarification_need\ttopic_desc\n\
                 1\tr\tF0001\td\tQ00002\tq\ta\t2\tt\n1\tr\tF1\td\tQ00002\tq\ta\t2\tt\n";
    let source = Source::memory("dev.tsv", table.as_bytes().to_vec());
    let labelled = Labelled::read(&source).unwrap();
    let error = Synthesis::new(&labelled, ConversationShape::default()).err().unwrap().to_string();
    assert!(error.starts_with("dev.tsv:3") && error.contains("`F1` beside `F0001`"), "{error}");
}

#[test]
fn counts_are_those_of_combinatorics() {
    let labels = sample().labelled(splits::DEV).unwrap();
    for (order, no_question) in [(TurnOrder::Combinations, false), (TurnOrder::Permutations, true)]
    {
        let shape = ConversationShape { order, no_question, ..ConversationShape::default() };
        let synthesis = Synthesis::new(&labels, shape).unwrap();
        let mut expected = [0; 3];
        for facet in 0..labels.facets.len() {
            let rows = labels.rows.iter().filter(|row| row.facet == facet);
            let questions: HashSet<&str> = rows
                .map(|row| row.question.as_str())
                .filter(|id| no_question || *id != crate::NO_QUESTION)
                .collect();
            let count = questions.len();
            let divisor = if order == TurnOrder::Combinations { 2 } else { 1 };
            expected[0] += 1;
            expected[1] += count;
            expected[2] += count * count.saturating_sub(1) / divisor;
        }
        assert_eq!(synthesis.counts(), expected);
    }
}

#[test]
fn a_row_of_the_human_table_is_a_context_for_each_number_of_turns() {
    let source = crate::SAMPLE.require("multi_turn_human_generated_data.tsv").unwrap();
    let bytes = source.read().unwrap().bytes.into_owned();
    let rows = bytes.split(|&byte| byte == b'\n').filter(|line| !line.is_empty()).count() - 1;
    let (found, _) = records("human.tsv", bytes, &RecordOptions::default()).unwrap();
    assert_eq!(found.len(), 4 * rows);
    let ids: Vec<i64> = found.iter().take(5).map(|record| record.conversation.id).collect();
    assert_eq!(ids, [0, 1, 2, 3, 10]);
    assert_eq!(found[2].conversation.turns.len(), 2);
    assert!(found[2].next.is_some() && found[3].next.is_none());
}

const LINE: &str = r#"{"topic_id": 8, "facet_id": "F1", "initial_request": "r", "question": "q", "answer": "a", "conversation_context": [{"question": "p", "answer": "b"}], "context_id": 7}"#;

#[test]
fn a_record_may_have_an_id() {
    let (plain, _) = records("x", LINE, &RecordOptions::default()).unwrap();
    let named = LINE.replace("{\"topic_id\"", "{\"record_id\": 2287, \"topic_id\"");
    let (named, _) = records("x", format!("{named}\r\n\n"), &RecordOptions::default()).unwrap();
    assert_eq!((plain[0].id.as_str(), named[0].id.as_str()), ("1", "2287"));
    assert_eq!(plain[0].conversation, named[0].conversation);
    assert_eq!(Request::from(&plain[0].conversation).glue(), "rp b");
}

#[test]
fn lines_behind_a_byte_order_mark_are_read() {
    let (plain, _) = records("x", LINE, &RecordOptions::default()).unwrap();
    let (marked, _) = records("x", format!("\u{feff}{LINE}\n"), &RecordOptions::default()).unwrap();
    assert_eq!(plain, marked);
}

#[test]
fn a_quote_that_is_never_closed_in_the_human_table_is_an_error() {
    let source = crate::SAMPLE.require("multi_turn_human_generated_data.tsv").unwrap();
    let text = String::from_utf8(source.read().unwrap().bytes.into_owned()).unwrap();
    let lines: Vec<&str> = text.lines().collect();
    let (before, last) = lines[3].rsplit_once('\t').unwrap();
    let open =
        format!("{}\n{before}\t\"{last}\n{}\n", lines[..3].join("\n"), lines[4..].join("\n"));
    let error = records("human.tsv", open, &RecordOptions::default()).unwrap_err().to_string();
    assert!(error.starts_with("human.tsv:4: expected a quoted field"), "{error}");
}

#[test]
fn bad_lines_are_reported_with_their_number() {
    let turn = r#"{"question": "p", "answer": "b"}"#;
    let many = vec![turn; 50].join(", ");
    let bank = sample().bank;
    let cases = [
        (
            LINE.replace(r#""conversation_context": [{"question": "p", "answer": "b"}], "#, ""),
            "conversation_context",
            "without",
        ),
        (LINE.replace(turn, &many), "at most 20 turns", "50"),
        (LINE.replace(r#""answer": "b""#, r#""answer": " ""#), "an answer in turn 1", "`p`"),
        (LINE.replace(r#""answer": "a""#, r#""answer": """#), "an answer in the record", "`q`"),
        (LINE.replace("topic_id", "topic"), "one of `record_id`", "unknown field `topic`"),
        (LINE.replace(": 7", ": 7.5"), "a whole number at `context_id`", "7.5"),
        (LINE.replace(r#""r""#, "3"), "a text at `initial_request`", "integer `3`"),
        (LINE.replace(", \"context_id\": 7}", ""), "JSON", "EOF while parsing an object"),
        ("{}".to_owned(), "initial_request", "without"),
        (LINE.replace(": 7", ": 7, \"topic_id\": 9"), "`topic_id` once", "it again"),
        (
            LINE.replace("\"b\"}", "\"b\", \"answer\": \"c\"}"),
            "`answer` once at `conversation_context[0]`",
            "it again",
        ),
        (
            LINE.replace("\"b\"}", "\"b\"}, {\"question\": \"c\"}"),
            "a field `answer` at `conversation_context[1]`",
            "none",
        ),
        (LINE.replace("\"F1\"", "1"), "a text at `facet_id`", "integer `1`"),
    ];
    for (line, expected, found) in cases {
        let found_problem = problem(format!("{LINE}\n{line}\n{LINE}\n"), &RecordOptions::default());
        assert_eq!(found_problem.at.line, Some(2), "{line}");
        assert!(found_problem.expected.contains(expected), "{found_problem}");
        assert!(found_problem.found.contains(found), "{found_problem}");
        assert!(!found_problem.hint.is_empty());
        let skip = RecordOptions { bank: None, skip_bad: true };
        let (good, skipped) = records("x", format!("{LINE}\n{line}\n{LINE}\n"), &skip).unwrap();
        assert_eq!((good.len(), skipped.count, skipped.first), (2, 1, Some(found_problem)));
    }
    let strange = problem(LINE, &RecordOptions { bank: Some(&bank), skip_bad: false });
    assert!(
        strange.expected.contains("a question of the bank in turn 1")
            && strange.found.contains("`p`"),
        "{strange}"
    );
    let bytes = [LINE.as_bytes(), b"\n{\"initial_request\": \"caf\xe9\"}\n"].concat();
    let found = problem(bytes, &RecordOptions::default());
    assert!(
        found.expected.contains("UTF-8") && found.found.contains("caf") && found.at.line == Some(2),
        "{found}"
    );
}

#[test]
fn bad_records_of_pickles_are_reported_with_their_id() {
    // pickle.dumps({5: {"initial_request": "r", "conversation_context": [], "context_id": 7}, 6:
    // …}, 0)
    let good = "I5\n(dVinitial_request\nVr\nsVconversation_context\n(lsVcontext_id\nI7\nss";
    let cases = [
        ("I6\n(dVinitial_request\nVr\nsVcontext_id\nI7\nss", "conversation_context", "without"),
        (
            "I6\n(dVinitial_request\nVr\nsVconversation_context\n(lsVcontext_id\nI7\nsVnote\nVx\nss",
            "one of `record_id`",
            "`note`",
        ),
        (
            "I6\n(dVinitial_request\nVr\nsVconversation_context\n(lVx\nasVcontext_id\nI7\nss",
            "at `conversation_context[0]`",
            "string \"x\"",
        ),
        (
            "I6\n(dVinitial_request\nVr\nsVconversation_context\n(lsVcontext_id\nF7.5\nss",
            "a whole number at `context_id`",
            "floating point `7.5`",
        ),
        ("I6\nI7\ns", "an object at `[1]`", "integer `7`"),
    ];
    for (bad, expected, found) in cases {
        let bytes = format!("(d{good}{bad}{}.", good.replace("I5", "I8"));
        let refused = problem(bytes.as_bytes(), &RecordOptions::default());
        assert_eq!(refused.at.file, "x: record 6");
        assert!(refused.expected.contains(expected) && refused.found.contains(found), "{refused}");
        let (kept, skipped) =
            records("x", bytes, &RecordOptions { bank: None, skip_bad: true }).unwrap();
        assert_eq!((kept.len(), skipped.count), (2, 1));
    }
}

#[test]
fn files_without_conversations_are_refused() {
    for (bytes, expected, found) in [
        (&b""[..], "conversations", "nothing"),
        (b"(d.", "at least one conversation", "none"),
        (b"(lI1\na.", "conversations", "`list` in place of a dictionary"),
        (b"a\tb\n1\t2\n", "a column `topic_id`", "a, b"),
        (b"cos\nsystem\n(Vls\ntR.", "text, numbers and dictionaries only", "os.system"),
        (b"(dI1\n", "conversations", "Ran out of input"),
    ] {
        let refused = problem(bytes, &RecordOptions { bank: None, skip_bad: true });
        assert!(refused.expected.contains(expected) && refused.found.contains(found), "{refused}");
    }
}

#[test]
fn reading_ends_when_no_more_is_wanted() {
    let mut seen = 0;
    let source = Source::memory("x", format!("{LINE}\nno JSON\n").into_bytes());
    let read = read_records(&source, &RecordOptions::default(), &mut |_| {
        seen += 1;
        ControlFlow::Break(())
    });
    assert_eq!((seen, read.unwrap()), (1, SkippedRecords::default()));
}

#[test]
fn texts_that_are_no_pickles_are_read_or_refused_as_text() {
    let header = "topic_id\tfacet_id\tinitial_request\tquestion1\tanswer1\tquestion2\tanswer2\t\
                  question3\tanswer3";
    let table = format!("{header}\n1\tF1\ttea\twhich?\tgreen\t\t\t\t\n");
    let utf_16 =
        |text: &str| -> Vec<u8> { text.encode_utf16().flat_map(u16::to_le_bytes).collect() };
    let json = "{\"initial_request\": \"tea\"}\n";
    let any = RecordOptions::default();
    let read = |bytes: &str| records("x", bytes, &any).unwrap().0;
    let expected = read(&table);
    assert_eq!(expected.len(), 2);
    for same in [
        format!("\n\r\n{table}"),
        table.replace('\n', "\r"),
        table.replacen("answer3\n", "answer3\u{b}\n", 1),
        format!("\u{feff}{table}"),
    ] {
        assert!(read(&same) == expected, "{same:?}");
    }
    let nul = table.replace("tea", "t\0ea");
    for (bytes, found) in [
        (utf_16(&format!("\u{feff}{table}")), "a byte order mark of UTF-16"),
        (utf_16(&format!("\u{feff}{json}")), "a byte order mark of UTF-16"),
        (utf_16(&table), "a NUL"),
        (utf_16(json), "a NUL"),
        (nul.into_bytes(), "a NUL"),
        (table.replace("topic_id", "topic\0id").into_bytes(), "a NUL"),
    ] {
        let problem = problem(bytes, &any);
        assert_eq!((&*problem.expected, &*problem.found), ("UTF-8 text", found));
    }
    let commented = problem(format!("# made by me\n{table}"), &any);
    assert_eq!(commented.expected, "a column `topic_id`");
}
