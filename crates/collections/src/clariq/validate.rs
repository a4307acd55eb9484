//! The check of a run or need file: what the official scorer refuses, and what it ignores.

use crate::DataDir;
use crate::clariq::need_file::parse_need_file;
use crate::validation::{Validation, ValidationOptions, Verdict, first_fields};
use clariq_core::{Documents, Error, Findings, Problem, Severity, TopicId, bail, problem};
use clariq_files::{Input, Source, parse_run, shorten};
use std::collections::{HashMap, HashSet};

/// Checks a TREC run, or a need file, by the topics and the documents of a collection.
pub(crate) fn by_topics(
    data: &DataDir,
    split: &str,
    run: &Source,
    options: &ValidationOptions,
) -> Result<Validation, Error> {
    if options.passage_ids.is_some() {
        let hint = "leave it out: this collection has no file of passage ids";
        bail!("--passage-ids", "a split of iKAT beside it", "`{split}`", hint);
    }
    let collection = crate::open(data)?;
    let (split, task) = (collection.find_split(split)?, collection.tasks()[0]);
    let mut topics: Vec<TopicId> = Vec::new();
    for request in collection.requests(split, task)? {
        topics.push(request?.id.as_str().into());
    }
    validate(run, topics.iter(), collection.documents(task)?)
}

/// Checks a run, or a need file if its first line has two fields, against the topics of a split.
pub fn validate<'a>(
    file: &Source,
    topics: impl Iterator<Item = &'a TopicId>,
    bank: &dyn Documents,
) -> Result<Validation, Error> {
    let input = file.read()?;
    let topics: Vec<&TopicId> = topics.collect();
    let mut check = Check {
        file: &input.name,
        known: topics.iter().copied().collect(),
        answered: HashMap::new(),
        let_through: Findings::default(),
    };
    let mut official = Findings::default();
    if first_fields(&input).len() == 2 {
        check.needs(&input, &mut official);
    } else {
        check.run(&input, bank, &mut official);
    }
    check.missing(&topics);
    let verdict =
        if official.has_errors() { Verdict::Error } else { Verdict::Accepted { warnings: 0 } };
    let answered = check.answered.len();
    Ok(Validation { verdict, official, let_through: check.let_through, answered })
}

/// A file while it is checked.
struct Check<'a> {
    file: &'a str,
    known: HashSet<&'a TopicId>,
    /// The topics of the file, each with its first line.
    answered: HashMap<TopicId, u64>,
    let_through: Findings,
}

impl Check<'_> {
    fn run(&mut self, input: &Input, bank: &dyn Documents, official: &mut Findings) {
        let run = parse_run(input, &mut |mut problem| {
            // The official scorer refuses words after the last field.
            problem.severity = Severity::Error;
            official.add(problem);
        });
        if let Some(&first) = run.ignored.comments.first() {
            let hint = "the official scorer refuses comments: remove them";
            official.add(problem!((self.file, first), "a line of a run", "a comment", hint));
        }
        let (mut scores, mut questions) = (HashMap::new(), HashMap::new());
        for line in &run.lines {
            let (at, topic, score) = ((self.file, line.line), &line.topic, line.score);
            self.topic(topic, line.line);
            // Zero and negative zero are one score.
            if let Some(first) = scores.insert((topic, (score + 0.0).to_bits()), line.line) {
                let found = format!("{score} of topic {topic} on line {first} too");
                let hint = "the official scorer drops the line: write scores that differ";
                self.note(problem!(at, "every score of a topic once", found, hint));
            }
            let question = shorten(line.question.as_str());
            if questions.insert((topic, &line.question), line.line).is_some() {
                let found = format!("`{question}` again in topic {topic}");
                let hint = "a question that was asked already finds nothing new";
                self.note(problem!(at, "every question of a topic once", found, hint));
            }
            if bank.find(line.question.as_str()).is_none() {
                let hint = "a question of another bank is relevant to nothing";
                self.note(problem!(at, "a question of the bank", "`{question}`", hint));
            }
        }
    }

    fn needs(&mut self, input: &Input, official: &mut Findings) {
        for need in parse_need_file(input, &mut |problem| official.add(problem)) {
            let (at, topic, label) = ((self.file, need.line), &need.topic, need.label);
            if let Some(first) = self.topic(topic, need.line) {
                let found = format!("{topic} again, which is on line {first} already");
                self.note(problem!(
                    at,
                    "every topic once",
                    found,
                    "the last line of a topic counts"
                ));
            }
            if !(1..=4).contains(&label) {
                let hint = "the official scorer counts any other label as wrong";
                let found = format!("{label} for topic {topic}");
                self.note(problem!(at, "a label from 1 to 4", found, hint));
            }
        }
    }

    /// Notes that a topic is answered, and returns the line on which it was answered before.
    fn topic(&mut self, topic: &TopicId, line: u64) -> Option<u64> {
        if let Some(&first) = self.answered.get(topic) {
            return Some(first);
        }
        self.answered.insert(topic.clone(), line);
        if !self.known.contains(topic) {
            let found = format!("`{}`", shorten(topic.as_str()));
            let hint = "it is not looked at: is the file of another split?";
            self.note(problem!((self.file, line), "a topic of the split", found, hint));
        }
        None
    }

    /// A topic without an answer counts 0, which changes every mean.
    fn missing(&mut self, topics: &[&TopicId]) {
        for topic in topics.iter().filter(|topic| !self.answered.contains_key(**topic)) {
            let expected = "an answer to every topic of the split";
            let hint = "a topic that is not answered counts 0";
            let problem = problem!((self.file, 1), expected, "none for topic {topic}", hint);
            self.let_through.add(problem.warning());
        }
    }

    fn note(&mut self, problem: Problem) {
        self.let_through.add(problem.warning());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clariq::{Bank, BankRow};
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
        let found = validate(&file, topics.iter(), &bank).unwrap();
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
