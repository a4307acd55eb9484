//! The check of a run or need file: lines that the official scorer refuses, and lines that it ignores.

use super::ClariQ;
use crate::conversation::{RecordOptions, read_records};
use crate::need_file::parse_need_file;
use crate::official_file::{FIELDS_OF_A_RUN, FIELDS_OF_NEEDS, OfficialReader, without_quotes};
use crate::official_scores::score_column;
use crate::text_run::{NOT_IN_THE_BANK, is_text_run, parse_text_run};
use clariq_collections::documents::Bank;
use clariq_collections::validation::{
    FileCheck, Validation, ValidationOptions, first_fields, topics_of,
};
use clariq_collections::{Collection, DataDir};
use clariq_core::{Error, Findings, RequestId, bail, count_of, one_or, problem};
use clariq_files::{FileContent, Source, parse_run, quoted};
use std::collections::HashSet;
use std::ops::ControlFlow;
use std::path::Path;

/// Checks a TREC run, or a need file if its first line has two fields, over a split.
pub(super) fn validate(
    data: &DataDir,
    split: &str,
    file: &Source,
    options: &ValidationOptions,
) -> Result<Validation, Error> {
    let clariq = ClariQ::open(data.clone())?;
    let topics = topics_of(&clariq, (&clariq as &dyn Collection).find_split(split)?)?;
    validate_file(file, &topics, &clariq.bank, options.conversations)
}

/// True if the first line has two fields, also with a comma or a semicolon between them: its faults are
/// then those of a need file.
fn has_needs(input: &FileContent) -> bool {
    match &first_fields(input)[..] {
        [field] => field.split(|byte| matches!(byte, b',' | b';')).count() == FIELDS_OF_NEEDS,
        fields => fields.len() == FIELDS_OF_NEEDS,
    }
}

fn validate_file(
    file: &Source,
    topics: &[RequestId],
    bank: &Bank,
    conversations: Option<&Path>,
) -> Result<Validation, Error> {
    let input = file.read()?;
    if is_text_run(&input, bank) {
        return check_text_run(&input, bank, conversations);
    }
    if conversations.is_some() {
        let hint = "leave it out: the contexts of conversations are in multi-turn runs";
        bail!("--conversations", "a multi-turn run", "a run of a split", hint);
    }
    let reader = OfficialReader::new(topics.iter());
    let mut check = FileCheck::new(&input.name, topics);
    let is_needs = has_needs(&input);
    let least = if is_needs { FIELDS_OF_NEEDS } else { FIELDS_OF_A_RUN };
    reader.check(&input, least).into_iter().for_each(|problem| check.refuse(problem));
    // A quote that is not closed is among the problems already.
    if let Ok(plain) = without_quotes(&input) {
        let topic = |id: &RequestId| reader.topic(id);
        if is_needs {
            check_needs(&mut check, &plain, &topic);
        } else {
            let run = parse_run(&plain, &mut |_| {});
            if let Err(problem) = score_column(&run, &plain) {
                check.refuse(*problem);
            }
            check.check_run_lines(&plain, bank, &topic, ["question", "bank"]);
        }
    }
    Ok(check.finish())
}

/// Checks a multi-turn run. Contexts without a prediction are found with the file of conversations; no
/// file of the data folder lists them.
fn check_text_run(
    input: &FileContent,
    bank: &Bank,
    conversations: Option<&Path>,
) -> Result<Validation, Error> {
    let mut official = Findings::default();
    let mut let_through = Findings::default();
    let run = parse_text_run(input, bank, &mut |problem| official.add(problem));
    let mut contexts = HashSet::new();
    let mut questions = HashSet::new();
    for line in &run.lines {
        let at = (&*input.name, line.line);
        let context = &line.topic;
        contexts.insert(context);
        if context.as_str().parse::<i64>().is_err() {
            let found = quoted(context.as_str());
            let hint = "it is ignored: the ids of contexts are whole numbers";
            let_through.add(problem!(at, "a context id", found, hint).warning());
        }
        if line.document.as_str() == NOT_IN_THE_BANK {
            let found = format!("another text in context {context}");
            let hint = "it counts as the worst question of the context";
            let expected = "the text of a question of the bank, or an empty one";
            let_through.add(problem!(at, expected, found, hint).warning());
        } else if !questions.insert((context, &line.document)) {
            let found = format!("`{}` again in context {context}", line.document);
            let hint = "the first question of a context counts";
            let_through
                .add(problem!(at, "every question of a context once", found, hint).warning());
        }
    }
    let mut notes = Vec::new();
    if let Some(file) = conversations {
        check_contexts(&contexts, file, &input.name, &mut let_through)?;
    } else {
        notes.push(format!(
            "note: {}: {} {} answered; whether any is missing was not checked: --conversations names \
             the file that the run answers",
            input.name,
            count_of(contexts.len(), "context"),
            one_or(contexts.len(), "is", "are")
        ));
    }
    Ok(Validation { notes, ..Validation::new(official, let_through, contexts.len()) })
}

/// Finds the contexts of a file of conversations without a prediction, and predictions for others. The
/// challenge wants one prediction for each context.
fn check_contexts(
    answered: &HashSet<&RequestId>,
    file: &Path,
    run: &str,
    let_through: &mut Findings,
) -> Result<(), Error> {
    let mut known = HashSet::new();
    read_records(&Source::new(file), &RecordOptions::default(), &mut |record| {
        known.insert(RequestId::from(record.conversation.id.to_string().as_str()));
        ControlFlow::Continue(())
    })?;
    let file = file.display();
    let mut missing: Vec<&RequestId> = known.iter().filter(|id| !answered.contains(id)).collect();
    missing.sort_by_key(|id| id.as_str().parse::<i64>().unwrap_or_default());
    for id in missing {
        let found = format!("none for context {id} of {file}");
        let hint = "a context without one counts 0";
        let_through.add(problem!(run, "a prediction for every context", found, hint).warning());
    }
    let mut others: Vec<&&RequestId> = answered.iter().filter(|id| !known.contains(**id)).collect();
    others.sort_unstable();
    for id in others {
        let found = format!("context {id}");
        let hint = "it is ignored: is the run for other conversations?";
        let_through.add(problem!(run, "a context of {file}", found, hint).warning());
    }
    Ok(())
}

fn check_needs(
    check: &mut FileCheck,
    input: &FileContent,
    topic_of: &dyn Fn(&RequestId) -> RequestId,
) {
    let needs = parse_need_file(input, &mut |problem| check.refuse(problem));
    for need in needs {
        let at = (&*input.name, need.line);
        let topic = &topic_of(&need.topic);
        let label = need.label;
        if let Some(first) = check.record_topic(topic, need.line) {
            let found = format!("{topic} again, which is on line {first} already");
            check.note(problem!(at, "every topic once", found, "the last line of a topic counts"));
        }
        if !(1..=4).contains(&label) {
            let hint = "the official scorer counts any other label as wrong";
            let found = format!("{label} for topic {topic}");
            check.note(problem!(at, "a label from 1 to 4", found, hint));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use clariq_collections::documents::BankRow;
    use clariq_collections::validation::OfficialVerdict;
    use clariq_core::Severity;

    const SCORE: &str = "every score of a topic once";
    const QUESTION: &str = "every question of a topic once";
    const OF_THE_BANK: &str = "a question of the bank";
    const TOPIC: &str = "a topic of the split";
    const ANSWER: &str = "an answer to every topic of the split";

    fn checked(text: &str) -> (OfficialVerdict, Vec<(String, usize)>) {
        let row = |id: &str| BankRow { id: id.into(), text: format!("which {id}") };
        let bank = Bank::new(vec![row("Q1"), row("Q2")], crate::NO_QUESTION);
        let topics = ["1", "2"].map(RequestId::from);
        let file = Source::memory("file", text.as_bytes());
        let found = validate_file(&file, &topics, &bank, None).unwrap();
        assert_eq!(found.let_through.count("file", Severity::Error), 0);
        let facts = found.let_through.iter();
        (found.verdict, facts.map(|fact| (fact.first.expected.clone(), fact.count)).collect())
    }

    #[test]
    fn a_need_file_as_csv_is_no_run() {
        let row = |id: &str| BankRow { id: id.into(), text: format!("which {id}") };
        let bank = Bank::new(vec![row("Q1")], crate::NO_QUESTION);
        for text in ["1,4\n", "topic_id,clarification_need\n1,4\n", "1;4\n"] {
            let file = Source::memory("file", text.as_bytes());
            let found = validate_file(&file, &["1".into()], &bank, None).unwrap();
            let expected: Vec<String> =
                found.official.iter().map(|fact| fact.first.expected.clone()).collect();
            let form = "2 fields, `<topic_id> <label>`";
            assert!(expected.iter().any(|expected| expected == form), "{text}: {expected:?}");
            assert!(!expected.iter().any(|expected| expected.starts_with("6 fields")), "{text}");
        }
    }

    #[test]
    fn a_valid_file_has_no_findings() {
        let accepted = (OfficialVerdict::Accepted { warnings: 0 }, vec![]);
        assert_eq!(checked("1 0 Q1 1 2 t\n1 0 Q2 2 1 t\n2 0 Q1 1 2 t\n"), accepted);
        assert_eq!(checked("1 4\n2 2.0\n"), accepted);
        assert_eq!(checked("\"1.0\" 0 \"Q1\" 1 2 t\n02 0 Q1 1 2 t\n"), accepted);
        assert_eq!(checked("\"1\" 4\n+2 2.0\n"), accepted);
        for unknown in ["Q9", " Q2"] {
            let run = format!("1 0 \"{unknown}\" 1 3 t\n1 0 \"Q1\" 2 2 t\n2 0 \"Q2\" 1 2 t\n");
            let facts = vec![("a question of the bank".to_owned(), 1)];
            assert_eq!(checked(&run), (OfficialVerdict::Accepted { warnings: 0 }, facts), "{run}");
        }
    }

    #[test]
    fn lines_that_the_scorer_ignores_are_listed() {
        let accepted = |facts: &[(&str, usize)]| {
            let facts = facts.iter().map(|(expected, count)| ((*expected).to_owned(), *count));
            (OfficialVerdict::Accepted { warnings: 0 }, facts.collect())
        };
        let run = "1 0 Q1 1 2 t\n1 0 Q1 2 2 t\n3 0 Q9 1 0 t\n3 0 Q2 1 -0 t\n";
        let facts = [(SCORE, 2), (QUESTION, 1), (TOPIC, 1), (OF_THE_BANK, 1), (ANSWER, 1)];
        assert_eq!(checked(run), accepted(&facts));
        let facts = [("a label from 1 to 4", 1), ("every topic once", 1), (TOPIC, 1), (ANSWER, 1)];
        assert_eq!(checked("\n1 5\n1 2\n9 1\n"), accepted(&facts));
    }

    #[test]
    fn multi_turn_runs_have_contexts_and_texts() {
        let accepted = |facts: &[(&str, usize)]| {
            let facts = facts.iter().map(|(expected, count)| ((*expected).to_owned(), *count));
            (OfficialVerdict::Accepted { warnings: 0 }, facts.collect())
        };
        let run = "968 0 \"which Q1\" 0 5 t\n968 0 \"which Q2\" 1 4 t\n969 0 \"which Q1\" 0 5 t\n";
        assert_eq!(checked(run), accepted(&[]));
        let run = "968 0 \"which Q1\" 0 5 t\n968 0 \"which Q1\" 1 4 t\nF1 0 \"of no bank\" 0 5 t\n";
        let facts = [
            ("every question of a context once", 1),
            ("a context id", 1),
            ("the text of a question of the bank, or an empty one", 1),
        ];
        assert_eq!(checked(run), accepted(&facts));
        let run = "968 0 \"which Q1\" 0 high t\n";
        assert_eq!(checked(run).0, OfficialVerdict::Error);
    }

    #[test]
    fn lines_that_stop_the_scorer_are_errors() {
        for text in [
            "1 0 Q1 1 high t\n",
            "1 0 Q1\n",
            "1 high\n2 1\n",
            "",
            "1 0 Q1 1 nan t\n",
            "1\t0\tQ1\t1\t2\tt\n",
            "1\t3\n2\t3\n",
            "1  0 Q1 1 2 t\n",
            "1  3\n",
            " 1 0 Q1 1 2 t\n",
            "1 0 Q1 1 2 t\nx 0 Q1 1 2 t\n",
            "1 3\nx 3\n",
            "1 0 Q1 1 2 t\n1 0 Q2 1 1 t u\n",
            "# made by x\n1 0 Q1 1 2 t\n",
            "7 0 Q1 1 2 t\n",
            "1 0 Q1 1 2 t\n2 0 \"Q1 1 2 t\n",
            "1 \"3\n2 3\n",
            "1 0 Q1 1 18446744073709551616 t\n1 0 Q2 1 1.5 t\n",
        ] {
            assert_eq!(checked(text).0, OfficialVerdict::Error, "{text}");
        }
    }
}
