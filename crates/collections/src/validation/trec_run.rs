//! The check of a TREC run against the requests and the documents of a collection.

use super::Validation;
use crate::evaluation::spelling::{meant_in, shown};
use crate::{Collection, Split};
use clariq_core::{Documents, Error, Findings, Problem, RequestId, Severity, problem};
use clariq_files::{FileContent, Source, parse_run, quoted, shorten};
use std::collections::{HashMap, HashSet};

/// Checks a TREC run over a split of a collection.
#[allow(clippy::indexing_slicing, reason = "every collection has a task")]
pub fn check_run(
    collection: &dyn Collection,
    split: &str,
    run: &Source,
) -> Result<Validation, Error> {
    let task = collection.tasks()[0];
    let topics = topics_of(collection, collection.find_split(split)?)?;
    let input = run.read()?;
    let mut check = FileCheck::new(&input.name, &topics);
    check.check_run_lines(
        &input,
        collection.documents(task)?,
        &RequestId::clone,
        ["document", "collection"],
    );
    Ok(check.finish())
}

/// The ids of the requests of a split.
#[allow(clippy::indexing_slicing, reason = "every collection has a task")]
pub fn topics_of(collection: &dyn Collection, split: Split) -> Result<Vec<RequestId>, Error> {
    let mut topics = Vec::new();
    for request in collection.requests(split, collection.tasks()[0])? {
        topics.push(request?.id);
    }
    Ok(topics)
}

/// The check of a file of answers to the requests of a split.
pub struct FileCheck<'a> {
    file: &'a str,
    topics: &'a [RequestId],
    known: HashSet<&'a RequestId>,
    /// The topics that the file answers, each with its first line.
    answered: HashMap<RequestId, u64>,
    official: Findings,
    let_through: Findings,
}

impl<'a> FileCheck<'a> {
    pub fn new(file: &'a str, topics: &'a [RequestId]) -> Self {
        Self {
            file,
            topics,
            known: topics.iter().collect(),
            answered: HashMap::new(),
            official: Findings::default(),
            let_through: Findings::default(),
        }
    }

    /// The result, including the requests without an answer.
    pub fn finish(mut self) -> Validation {
        if !self.answered.is_empty()
            && self.answered.keys().all(|topic| !self.known.contains(topic))
        {
            let found = "other topics alone";
            let hint = "is the file for another split or collection?";
            self.refuse(problem!((self.file, 1), "answers to topics of the split", found, hint));
        }
        self.note_missing_topics();
        Validation::new(self.official, self.let_through, self.answered.len())
    }

    /// Adds a problem for which the official program refuses the file.
    pub fn refuse(&mut self, problem: Problem) {
        self.official.add(problem);
    }

    /// Checks the lines of a TREC run, which ranks items of a whole, such as documents of a collection.
    pub fn check_run_lines(
        &mut self,
        input: &FileContent,
        documents: &dyn Documents,
        topic_of: &dyn Fn(&RequestId) -> RequestId,
        [item, whole]: [&str; 2],
    ) {
        let run = parse_run(input, &mut |problem| {
            if problem.severity == Severity::Error {
                self.refuse(problem);
            }
        });
        if let Some(&first) = run.ignored.comments.first() {
            let hint = "the official scorer refuses comments: remove them";
            self.refuse(problem!((self.file, first), "a line of a run", "a comment", hint));
        }
        if let Some(&first) = run.ignored.trailing_words.first() {
            let hint = "they are ignored: was a tag with blanks written?";
            let found = "words after the last field";
            self.note(problem!((self.file, first), "6 fields", found, hint));
        }
        if let Some(doubt) = run.rank_doubt {
            let hint = "runs are ordered by their scores, best first, and ranks are not read";
            let expected = "whole ranks, and scores that fall with them";
            self.note(problem!((self.file, 1), expected, doubt, hint));
        }
        let mut scores = HashMap::new();
        let mut questions = HashMap::new();
        for line in &run.lines {
            let at = (self.file, line.line);
            let topic = &topic_of(&line.topic);
            let score = line.score;
            self.record_topic(topic, line.line);
            // Zero and negative zero are one score.
            if let Some(first) = scores.insert((topic.clone(), (score + 0.0).to_bits()), line.line)
            {
                let found = format!("{score} of topic {topic} on line {first} too");
                let hint = match item {
                    "question" => "the official scorer drops the line: write scores that differ",
                    _ => "ids order documents of one score: write scores that differ",
                };
                self.note(problem!(at, "every score of a topic once", found, hint));
            }
            let question = shorten(line.document.as_str());
            if questions.insert((topic.clone(), &line.document), line.line).is_some() {
                let found = format!("`{question}` again in topic {topic}");
                let hint = "the repeated line counts once";
                self.note(problem!(at, "every {item} of a topic once", found, hint));
            }
            if documents.find(line.document.as_str()).is_none() {
                let hint = match meant_in(documents, line.document.as_str()) {
                    Some(meant) => format!("did you mean `{}`?", shown(&meant)),
                    None => format!("a {item} of another {whole} is relevant to nothing"),
                };
                self.note(problem!(at, "a {item} of the {whole}", "`{question}`", hint));
            }
        }
    }

    /// Records that a topic is answered, and returns the line on which it was answered before.
    pub fn record_topic(&mut self, topic: &RequestId, line: u64) -> Option<u64> {
        if let Some(&first) = self.answered.get(topic) {
            return Some(first);
        }
        self.answered.insert(topic.clone(), line);
        if !self.known.contains(topic) {
            let found = quoted(topic.as_str());
            let hint = "it is ignored: is the file for another split?";
            self.note(problem!((self.file, line), "a topic of the split", found, hint));
        }
        None
    }

    /// Notes the topics without an answer: each counts 0, which changes every mean.
    fn note_missing_topics(&mut self) {
        for topic in self.topics.iter().filter(|topic| !self.answered.contains_key(*topic)) {
            let expected = "an answer to every topic of the split";
            let hint = "a topic that is not answered counts 0";
            let problem = problem!((self.file, 1), expected, "none for topic {topic}", hint);
            self.let_through.add(problem.warning());
        }
    }

    /// Adds a problem that the official program overlooks.
    pub fn note(&mut self, problem: Problem) {
        self.let_through.add(problem.warning());
    }
}
