//! Answers in their forms.

use super::*;

/// One-line answers of models. None of them has a form; in JSON, each may be a query.
const LINES: [&str; 17] = [
    "Es tut mir leid, aber dabei kann ich nicht helfen.",
    "Je suis désolé, mais je ne peux pas vous aider.",
    "Okay, der Nutzer möchte wissen, was Zelte kosten. Ich formuliere die Frage um.",
    "The user refers to tents, so I should mention tents in the rewritten question.",
    "It seems the utterance is about tents; I would rewrite it with the word tents.",
    "Umformulierte Frage: Was kosten Zelte?",
    "I have rewritten it below as requested: how much do tents cost",
    "Rewriting \"how much are they\" -> how much do tents cost",
    "Rewritten: how much do tents cost (since \"they\" means tents)",
    "Error: timeout",
    "What does 'rewritten query' mean in SQL?",
    "The last utterance of Steve Jobs",
    "Why is the request is clear error shown in Postfix?",
    "silence",
    "Doc: 4, Relevance: 9",
    "[2] > [1]",
    "how much do tents cost",
];

const JSON: [AnswerFormat; 3] = [AnswerFormat::Schema, AnswerFormat::Json, AnswerFormat::Prompt];

#[test]
fn a_text_is_read_whole_or_not_at_all() {
    for line in LINES {
        let read = Some(Answer::Text(line.to_owned()));
        for (form, format) in [AnswerForm::Query, AnswerForm::Question]
            .into_iter()
            .flat_map(|form| JSON.map(|format| (form.clone(), format)))
        {
            assert_eq!(form.read(line, format), None, "{line}");
            let object = json!({ (form.key()): line, "why": ["because"] }).to_string();
            for text in [
                object.clone(),
                format!("\n {object}\n"),
                format!("```json\n{object}\n```"),
                format!("```\n{object}```\n"),
                format!("Here it is:\n\n```json\n{object}\n```"),
                json!(line).to_string(),
            ] {
                assert_eq!(form.read(&text, format), read, "{text}");
            }
            for text in [
                format!("{object} {object}"),
                format!("Here it is: {object}"),
                format!("```json\n{object}\n```\n```json\n{object}\n```"),
                json!({ "text": line }).to_string(),
                format!("{}, {}", &object[..object.len() - 1], &object[1..]),
                json!({ (form.key()): [line] }).to_string(),
                json!({ (form.key()): format!("{line}\n{line}") }).to_string(),
                object[..object.len() - 1].to_owned(),
            ] {
                assert_eq!(form.read(&text, format), None, "{text}");
            }
        }
        let text = |text: &str| AnswerForm::Query.read(text, AnswerFormat::Text);
        assert_eq!(text(&format!(" {line}\n")), read);
        assert_eq!(text(&format!("{line}\u{2028}{line}")), None);
    }
    for empty in
        ["", " ", "…", "{\"query\": \"\"}", "{\"query\": \"…\"}", "{\"query\": null}", "null", "{}"]
    {
        assert_eq!(AnswerForm::Query.read(empty, AnswerFormat::Schema), None, "{empty}");
    }
}

#[test]
fn queries_are_distinct_and_at_most_as_many_as_asked() {
    let form = AnswerForm::Queries(3);
    let read =
        |texts: &[&str]| Some(Answer::Queries(texts.iter().map(|&it| it.to_owned()).collect()));
    for (text, queries) in [
        (r#"{"queries": ["a", "b", " a ", "c", "d"]}"#, read(&["a", "b", "c"])),
        (r#"["a"]"#, read(&["a"])),
        (r#"{"queries": ["a", "b\nc"]}"#, None),
        (r#"{"queries": ["a", ""]}"#, None),
        (r#"{"queries": []}"#, None),
        (r#"{"queries": "a"}"#, None),
        (r#"{"queries": [1]}"#, None),
        ("1. a\n2. b", None),
    ] {
        assert_eq!(form.read(text, AnswerFormat::Schema), queries, "{text}");
    }
    assert_eq!(form.read("a\n\n b \n", AnswerFormat::Text), read(&["a", "b"]));
}

#[test]
fn grades_are_whole_numbers_of_their_range() {
    let form = AnswerForm::Grade(0..=3);
    for (text, grade) in [
        (r#"{"grade": 2}"#, Some(2)),
        (r#"{"grade": 3.0}"#, Some(3)),
        ("0", Some(0)),
        ("3.0", Some(3)),
        ("```\n1\n```", Some(1)),
        (r#"{"grade": 2, "reason": "it is 3"}"#, Some(2)),
        (r#"{"grade": 2.5}"#, None),
        (r#"{"grade": 4}"#, None),
        (r#"{"grade": -1}"#, None),
        (r#"{"grade": "2"}"#, None),
        (r#"{"score": 2}"#, None),
        ("Grade: 2", None),
        ("2/3", None),
        ("1e300", None),
    ] {
        assert_eq!(form.read(text, AnswerFormat::Schema), grade.map(Answer::Grade), "{text}");
    }
    assert_eq!(form.read("2", AnswerFormat::Text), None);
    assert!(!form.is_offered(AnswerFormat::Text) && form.is_offered(AnswerFormat::Prompt));
}

#[test]
fn orders_are_repaired_and_half_of_one_is_none() {
    let form = AnswerForm::Order(4);
    for (text, read) in [
        (r#"{"order": [4, 2, 1, 3]}"#, Some((vec![3, 1, 0, 2], 0))),
        (r"[4, 2]", Some((vec![3, 1, 0, 2], 2))),
        (r#"{"order": [4, 4, 9, 2.0, 0, -1, 1.5]}"#, Some((vec![3, 1, 0, 2], 7))),
        (r#"{"order": [4]}"#, None),
        (r#"{"order": []}"#, None),
        (r#"{"order": [4, "2", 1, 3]}"#, None),
        ("[4] > [2] > [1] > [3]", None),
        ("Doc: 4, Relevance: 9\nDoc: 2, Relevance: 8", None),
    ] {
        let read = read.map(|(order, repairs)| Answer::Order(DocumentOrder { order, repairs }));
        assert_eq!(form.read(text, AnswerFormat::Schema), read, "{text}");
    }
}

#[test]
fn responses_are_sentences_with_their_sources() {
    let form = AnswerForm::Response;
    let text = r#"{"response": [{"text": "Bees fly.", "sources": [2, 1.5]}, {"text": " "}, {"text": "So."}]}"#;
    let Some(Answer::Response(read)) = form.read(text, AnswerFormat::Json) else { panic!() };
    assert_eq!((read[0].text.as_str(), read[1].text.as_str()), ("Bees fly.", "So."));
    assert_eq!(read[0].numbers().collect::<Vec<_>>(), [Some(2), None]);
    assert_eq!((read.len(), read[1].sources.len()), (2, 0));
    for text in [
        "Bees fly [1].",
        r#"{"response": "Bees fly."}"#,
        r#"{"response": []}"#,
        r#"{"response": [{"text": "", "sources": []}]}"#,
        // The example of the prompt, repeated with a number.
        r#"{"response": [{"text": "…", "sources": [1]}, {"text": "…", "sources": [2]}]}"#,
    ] {
        assert_eq!(form.read(text, AnswerFormat::Json), None, "{text}");
    }
    let Some(Answer::Response(read)) = form.read("Bees\nfly [1].", AnswerFormat::Text) else {
        panic!()
    };
    assert_eq!(read[0].text, "Bees\nfly [1].");
}

#[test]
fn the_sentence_names_the_key_of_the_schema_and_is_no_answer() {
    for form in [
        AnswerForm::Query,
        AnswerForm::Queries(5),
        AnswerForm::Question,
        AnswerForm::Grade(1..=4),
        AnswerForm::Order(2),
        AnswerForm::Response,
    ] {
        let key = form.key();
        for format in JSON {
            let sentence = form.sentence(format);
            assert!(sentence.contains(&format!("{{\"{key}\": ")), "{sentence}");
            let (_, example) = sentence.split_once(": ").unwrap();
            assert_eq!(form.read(example, format), None, "{example}");
        }
        let schema = form.schema();
        assert_eq!(schema["required"], json!([key]));
        assert!(schema["properties"][key].is_object());
        let sent = form.response_format(AnswerFormat::Schema).unwrap();
        assert_eq!(sent["json_schema"]["schema"], schema);
        assert_eq!(form.response_format(AnswerFormat::Prompt), None);
    }
    let example = AnswerForm::example(2);
    assert_eq!(
        AnswerForm::Grade(1..=4).read(&example, AnswerFormat::Prompt),
        Some(Answer::Grade(2))
    );
}
