//! The check of a run or need file: what the official scorer refuses, and what it ignores.

use super::ClariQ;
use crate::DataDir;
use crate::clariq::need_file::parse_need_file;
use crate::validation::{FileCheck, Validation, ValidationOptions, first_fields, topics_of};
use clariq_core::{Documents, Error, TopicId, problem};
use clariq_files::{Input, Source};

/// Checks a TREC run, or a need file if its first line has two fields, over a split.
pub(super) fn validate(
    data: &DataDir,
    split: &str,
    file: &Source,
    _options: &ValidationOptions,
) -> Result<Validation, Error> {
    let clariq = ClariQ::open(data.clone())?;
    let topics = topics_of(&clariq, split)?;
    validate_file(file, &topics, &clariq.bank)
}

fn validate_file(
    file: &Source,
    topics: &[TopicId],
    bank: &dyn Documents,
) -> Result<Validation, Error> {
    let input = file.read()?;
    let mut check = FileCheck::new(&input.name, topics);
    if first_fields(&input).len() == 2 {
        check_needs(&mut check, &input);
    } else {
        check.run(&input, bank);
    }
    Ok(check.finish())
}

fn check_needs(check: &mut FileCheck, input: &Input) {
    let needs = parse_need_file(input, &mut |problem| check.refuse(problem));
    for need in needs {
        let at = (&*input.name, need.line);
        let topic = &need.topic;
        let label = need.label;
        if let Some(first) = check.topic(topic, need.line) {
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
    use crate::documents::{Bank, BankRow};
    use crate::validation::Verdict;
    use clariq_core::Severity;

    const SCORE: &str = "every score of a topic once";
    const QUESTION: &str = "every question of a topic once";
    const OF_THE_BANK: &str = "a question of the bank";
    const TOPIC: &str = "a topic of the split";
    const ANSWER: &str = "an answer to every topic of the split";

    fn checked(text: &str) -> (Verdict, Vec<(String, usize)>) {
        let row = |id: &str| BankRow { id: id.into(), text: id.to_owned() };
        let bank = Bank::from_rows(vec![row("Q1"), row("Q2")]);
        let topics = ["1", "2"].map(TopicId::from);
        let file = Source::memory("file", text.as_bytes());
        let found = validate_file(&file, &topics, &bank).unwrap();
        assert_eq!(found.let_through.count("file", Severity::Error), 0);
        let facts = found.let_through.iter();
        (found.verdict, facts.map(|fact| (fact.first.expected.clone(), fact.count)).collect())
    }

    #[test]
    fn a_sound_file_has_no_finding() {
        let accepted = (Verdict::Accepted { warnings: 0 }, vec![]);
        assert_eq!(checked("1 0 Q1 1 2 t\n1 0 Q2 2 1 t\n2 0 Q1 1 2 t\n"), accepted);
        assert_eq!(checked("1 4\n2 2.0\n"), accepted);
    }

    #[test]
    fn what_the_scorer_passes_over_is_listed() {
        let accepted = |facts: &[(&str, usize)]| {
            let facts = facts.iter().map(|(expected, count)| ((*expected).to_owned(), *count));
            (Verdict::Accepted { warnings: 0 }, facts.collect())
        };
        let run = "1 0 Q1 1 2 t\n1 0 Q1 2 2 t\n3 0 Q9 1 0 t\n3 0 Q2 1 -0 t\n";
        let facts = [(SCORE, 2), (QUESTION, 1), (TOPIC, 1), (OF_THE_BANK, 1), (ANSWER, 1)];
        assert_eq!(checked(run), accepted(&facts));
        let facts = [("a label from 1 to 4", 1), ("every topic once", 1), (TOPIC, 1), (ANSWER, 1)];
        assert_eq!(checked("\n1 5\n1 2\n9 1\n"), accepted(&facts));
    }

    #[test]
    fn what_the_scorer_stops_at_is_an_error() {
        for text in ["1 0 Q1 1 high t\n", "1 0 Q1\n", "1 high\n2 1\n", "", "1 0 Q1 1 nan t\n"] {
            assert_eq!(checked(text).0, Verdict::Error, "{text}");
        }
    }
}
