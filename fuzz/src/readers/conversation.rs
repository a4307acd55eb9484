//! Conversations in any form: what is handed on is sound, and comes back from a pickle and from lines.

use super::NAME;
use clariq_collections::clariq::conversation::{
    Conversation, Counts, MOST_TURNS, Reading, Record, Turn, put_json_lines, put_pickle,
    read_records,
};
use clariq_collections::clariq::{Bank, BankRow};
use clariq_core::Error;
use clariq_files::Source;
use std::ops::ControlFlow;

/// What a few bytes unfold to is read, but no more than this is written again.
const RECORDS: usize = 1_000;

/// Strict and lenient readers agree, with and without a bank, and whatever they hand on is a conversation.
pub fn conversations(bytes: &[u8]) {
    let texts = [("Q00001", ""), ("Q00002", "which one"), ("Q00003", "is it a car")];
    let row = |(id, text): (&str, &str)| BankRow { id: id.into(), text: text.to_owned() };
    let bank = Bank::from_rows(texts.map(row).to_vec());
    let source = Source::memory(NAME, bytes);
    for bank in [None, Some(&bank)] {
        let (strict, first) = read(&source, Reading { bank, skip_bad: false });
        let (lenient, all) = read(&source, Reading { bank, skip_bad: true });
        agree(&strict, &lenient);
        assert!(
            first.len() <= all.len() && first.iter().zip(&all).all(|(one, other)| one == other)
        );
        all.iter().for_each(is_sound);
        if strict.is_ok() {
            assert_eq!(first, all);
            comes_back(&all);
        }
    }
}

fn read(source: &Source, reading: Reading) -> (Result<Counts, Error>, Vec<Record>) {
    let mut records = Vec::new();
    let counts = read_records(source, &reading, &mut |record| {
        records.push(record);
        if records.len() < RECORDS { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
    });
    (counts, records)
}

/// A file is read strictly exactly if nothing in it is bad, and the first bad record is what the strict reader says.
fn agree(strict: &Result<Counts, Error>, lenient: &Result<Counts, Error>) {
    match (strict, lenient) {
        (Ok(strict), Ok(lenient)) => {
            assert!(strict == lenient && strict.bad == 0, "{strict:?} and {lenient:?}");
        }
        (Err(error), Ok(lenient)) => {
            is_helpful(error);
            let first = lenient.first.as_ref().expect("what the strict reader minds is counted");
            assert!(
                matches!(error, Error::Problem(problem) if **problem == *first),
                "{error}: {first}"
            );
            assert!(lenient.bad > 0);
        }
        (Err(error), Err(other)) => [error, other].into_iter().for_each(is_helpful),
        (Ok(counts), Err(error)) => panic!("{counts:?} where the lenient reader says {error}"),
    }
}

fn is_helpful(error: &Error) {
    let report = error.to_problem();
    assert!(report.title().starts_with(NAME) && !report.hint.is_empty(), "{report:?}");
}

fn is_sound(record: &Record) {
    let Conversation { request, turns, .. } = &record.conversation;
    assert!(!request.trim().is_empty() && turns.len() <= MOST_TURNS);
    let answered = |turn: &Turn| turn.question.trim().is_empty() || !turn.answer.trim().is_empty();
    assert!(turns.iter().chain(&record.next).all(answered), "{record:?}");
}

/// The contents come back; an id that is a number is written as one.
fn comes_back(records: &[Record]) {
    let (mut pickle, mut lines) = (Vec::new(), Vec::new());
    put_pickle(&mut pickle, records.to_vec()).unwrap();
    put_json_lines(&mut lines, records.to_vec()).unwrap();
    let expected: Vec<_> = records.iter().map(content).collect();
    for written in [pickle, lines] {
        let (counts, again) = read(&Source::memory("written", written), Reading::default());
        let counts = counts.unwrap_or_else(|error| panic!("{error} in {records:?}"));
        assert_eq!(counts.records, records.len() as u64);
        assert_eq!(again.iter().map(content).collect::<Vec<_>>(), expected);
    }
}

fn content(record: &Record) -> (Conversation, Option<Turn>) {
    let topic = record.conversation.topic.as_str();
    let topic = topic.parse::<i64>().map_or_else(|_| topic.to_owned(), |number| number.to_string());
    let conversation = Conversation { topic: topic.as_str().into(), ..record.conversation.clone() };
    (conversation, record.next.clone())
}
