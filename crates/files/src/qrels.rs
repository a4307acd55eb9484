//! TREC qrels, `<topic or facet> 0 <document> <relevance>`: their lines, and the grades by topic.
//! Files whose first line has three fields have no constant. A header is recognised by its names, as
//! that of BEIR, `query-id corpus-id score`; it may name further columns. Lines that begin with `#` are
//! comments, as in `trec_eval` 10, unless they have the form of the others.

use crate::columns::Role;
use crate::fields::{LineForm, WITHOUT_QUOTES, for_each_line, is_quoted};
use crate::named::{NamedColumns, NamedForm, first_line};
use crate::sink::{Sink, quoted, read_strictly};
use crate::source::{FileContent, MOST_OF_A_TABLE, Source};
use clariq_core::{DocId, Location, Problem, ProblemKind, RequestId, Result, problem};
use compact_str::CompactString;
use std::collections::HashMap;
use std::collections::hash_map::Entry;

/// A line of a qrels file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Judgement {
    /// The topic; in `ClariQ`'s own files a facet.
    pub topic: CompactString,
    /// The document; for question relevance a question.
    pub document: CompactString,
    /// The grade; 0 and below is not relevant.
    pub relevance: i32,
}

/// Reads a qrels file in file order.
pub fn read_qrels(source: &Source) -> Result<Vec<Judgement>> {
    read_strictly(source, MOST_OF_A_TABLE, parse_qrels)
}

/// Reads a qrels file, reports every problem to `sink`, and leaves lines with problems out.
pub fn parse_qrels(input: &FileContent, sink: Sink) -> Vec<Judgement> {
    parse_with_comments(input, sink).0
}

/// The judgements of a file.
#[derive(Default)]
struct Judgements {
    judged: Vec<Judgement>,
    grades: HashMap<(CompactString, CompactString), i32>,
    /// The lines of comments.
    comments: Vec<u64>,
}

impl Judgements {
    /// Adds a judgement; a second grade of a document is a problem.
    fn add(&mut self, at: (&str, u64), topic: &str, document: &str, relevance: i32, sink: Sink) {
        let topic: CompactString = topic.into();
        let document: CompactString = document.into();
        match self.grades.insert((topic.clone(), document.clone()), relevance) {
            Some(first) if first != relevance => {
                sink(two_grades(at, &topic, &document, first, relevance));
            }
            _ => self.judged.push(Judgement { topic, document, relevance }),
        }
    }
}

/// Judgements with a header.
const NAMED: NamedForm = NamedForm {
    roles: [Role::Topic, Role::Document, Role::Grade],
    what: "topics, documents and grades",
    hint: "a header such as `query-id`, `corpus-id`, `score` names one column for each of them, and may name \
           more",
    is_value: |field| grade_of(field).is_some(),
};

/// Returns the number of comments, too.
fn parse_with_comments(input: &FileContent, sink: Sink) -> (Vec<Judgement>, usize) {
    let (number, first) = first_line(input);
    let judgements = match NamedColumns::of((&input.name, number), first, &NAMED) {
        Ok(Some(columns)) => {
            let mut judgements = Judgements::default();
            let ignored =
                columns.for_each(input, sink, |at, [topic, document, grade], sink| match grade_of(
                    grade,
                ) {
                    Some(grade) => judgements.add(at, topic, document, grade, sink),
                    None => sink(no_grade(at, &quoted(grade))),
                });
            judgements.comments = ignored.comments;
            judgements
        }
        Ok(None) => parse_without_header(input, sink),
        Err(problem) => {
            sink(problem);
            Judgements::default()
        }
    };
    (judgements.judged, judgements.comments.len())
}

/// Judgements without a header. The first line says whether they have a constant.
fn parse_without_header(input: &FileContent, sink: Sink) -> Judgements {
    let (names, document, grade) = if first_fields(input) == 3 {
        ("<topic> <document> <relevance>", 1, 2)
    } else {
        ("<topic> 0 <document> <relevance>", 2, 3)
    };
    // The second field is a constant, or counts iterations.
    let mut second: Option<CompactString> = None;
    let mut varies = false;
    let unlike_comment: fn(&[&str]) -> bool =
        |fields| fields.last().is_some_and(|field| grade_of(field).is_some());
    let unlike_comment = Some(unlike_comment);
    let form = LineForm {
        names,
        optional: 0,
        unlike_comment,
        trailing_words: false,
        kind: ProblemKind::Other,
    };
    let mut judgements = Judgements::default();
    let ignored =
        for_each_line(input, form, sink, |line, sink| match grade_of(line.fields[grade]) {
            Some(_) if is_quoted(line.fields[0]) && is_quoted(line.fields[document]) => {
                sink(line.problem("ids without quotes around them", WITHOUT_QUOTES));
            }
            Some(relevance) => {
                let constant = line.fields[1];
                varies |= second.get_or_insert_with(|| constant.into()) != constant;
                judgements.add(line.at, line.fields[0], line.fields[document], relevance, sink);
            }
            None => sink(no_grade(line.at, &line.shown())),
        });
    let has_no_grade =
        |judged: &Judgement| judged.relevance == 0 && grade_of(&judged.document).is_some();
    let judged = &judgements.judged;
    if varies && document == 2 && !judged.is_empty() && judged.iter().all(has_no_grade) {
        let found = "0 on every line, behind numbers";
        let hint = "are the columns topic, document, grade and iteration, as `ir_datasets` has them? Write a header \
                    with their names, or topic, 0, document and grade";
        sink(problem!((&*input.name, 1), "grades in the last field", found, hint));
    }
    judgements.comments = ignored.comments;
    judgements
}

fn no_grade(at: (&str, u64), found: &str) -> Problem {
    let hint = "0 and below is not relevant, 1 and above is";
    problem!(at, "a whole number as relevance", found, hint)
}

/// A whole number, which pandas writes as `1.0` where other lines had none.
fn grade_of(field: &str) -> Option<i32> {
    let whole = match field.split_once('.') {
        Some((whole, zeros)) if !zeros.is_empty() && zeros.bytes().all(|byte| byte == b'0') => {
            whole
        }
        _ => field,
    };
    whole.parse().ok()
}

/// The problem of a document with two grades.
fn two_grades(
    at: impl Into<Location>,
    topic: &str,
    document: &str,
    first: i32,
    second: i32,
) -> Problem {
    let expected = format!("one grade for document `{document}` of topic `{topic}`");
    let hint = "keep one line for each document of a topic";
    problem!(at, expected, "`{first}` and `{second}`", hint).kind(ProblemKind::Contradiction)
}

/// The number of fields of the first line that does not begin with `#`; if all of them do, of the first one
/// that ends with a grade.
fn first_fields(input: &FileContent) -> usize {
    let (_, plain) = first_line(input);
    let mut lines = input.filled_lines().map(|(_, line)| line);
    let first = match plain {
        "" => lines.find(|line| ends_with_grade(line)).unwrap_or_default(),
        plain => plain.as_bytes(),
    };
    first.split(u8::is_ascii_whitespace).filter(|field| !field.is_empty()).count()
}

fn ends_with_grade(line: &[u8]) -> bool {
    let last = line.rsplit(u8::is_ascii_whitespace).next().unwrap_or_default();
    str::from_utf8(last).is_ok_and(|field| grade_of(field).is_some())
}

/// The grades of a topic's documents.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TopicJudgements {
    grades: HashMap<DocId, i32>,
}

impl TopicJudgements {
    /// The grade of a document; `None` if it is not judged. A negative grade means, as for
    /// `trec_eval`, that it is in the pool but not judged: it is not relevant and has no gain.
    pub fn grade(&self, document: &DocId) -> Option<i32> {
        self.grades.get(document).copied()
    }

    /// True if a document has at least the grade `rel`; those that are not judged are not relevant.
    pub fn is_relevant(&self, document: &DocId, rel: i32) -> bool {
        self.grade(document).is_some_and(|grade| grade >= rel)
    }

    /// The number of documents with at least the grade `rel`.
    pub fn relevant(&self, rel: i32) -> usize {
        self.grades.values().filter(|grade| **grade >= rel).count()
    }

    /// The judged documents with their grades, in any order.
    pub fn documents(&self) -> impl Iterator<Item = (&DocId, i32)> {
        self.grades.iter().map(|(document, &grade)| (document, grade))
    }

    /// All grades, in any order.
    pub fn grades(&self) -> impl Iterator<Item = i32> {
        self.grades.values().copied()
    }
}

/// The judgements of all topics with at least one judgement.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Qrels {
    topics: HashMap<RequestId, TopicJudgements>,
    /// The number of comments in their file.
    comments: usize,
}

impl Qrels {
    /// Collects the lines of a qrels file; `name` is that of the file, for messages. A document
    /// that is judged twice with the same grade counts once, with two grades it is a contradiction.
    /// (`trec_eval` refuses both.)
    pub fn from_judgements<'a>(
        name: &str,
        judgements: impl IntoIterator<Item = &'a Judgement>,
    ) -> Result<Self> {
        let mut qrels = Self::default();
        for judgement in judgements {
            let Judgement { topic, document, relevance: grade } = judgement;
            let grade = *grade;
            match qrels.insert(&topic.as_str().into(), document.as_str().into(), grade) {
                Some(first) if first != grade => {
                    return Err(two_grades(name, topic, document, first, grade).into());
                }
                _ => {}
            }
        }
        Ok(qrels)
    }

    /// Reads a file of judgements.
    ///
    /// # Errors
    ///
    /// A bad line, and two grades for a document.
    pub fn read(source: &Source) -> Result<Self> {
        let (judgements, comments) =
            read_strictly(source, MOST_OF_A_TABLE, |input, sink| parse_with_comments(input, sink))?;
        Ok(Self { comments, ..Self::from_judgements(&source.name(), &judgements)? })
    }

    /// A warning about the comments in their file, if it was [read](Self::read) here and has any.
    pub fn warning(&self) -> Option<String> {
        let count = self.comments;
        match count {
            0 => None,
            1 => Some("1 line of the judgements begins with `#` and is a comment".to_owned()),
            _ => Some(format!("{count} lines of the judgements begin with `#` and are comments")),
        }
    }

    /// Each topic with its judgements, in any order.
    pub fn topics(&self) -> impl Iterator<Item = (&RequestId, &TopicJudgements)> {
        self.topics.iter()
    }

    /// The judgements of a topic; `None` if it has none.
    pub fn topic(&self, topic: &RequestId) -> Option<&TopicJudgements> {
        self.topics.get(topic)
    }

    /// Adds a grade, unless the document has one already, which is returned.
    pub fn insert(&mut self, topic: &RequestId, document: DocId, grade: i32) -> Option<i32> {
        if !self.topics.contains_key(topic) {
            self.topics.insert(topic.clone(), TopicJudgements::default());
        }
        match self.topics.get_mut(topic)?.grades.entry(document) {
            Entry::Vacant(entry) => {
                entry.insert(grade);
                None
            }
            Entry::Occupied(entry) => Some(*entry.get()),
        }
    }
}

#[cfg(test)]
mod tests;
