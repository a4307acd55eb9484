//! TREC qrels, `<topic or facet> 0 <document> <relevance>`: their lines, and the grades by topic.
//! Files whose first line has three fields have no constant. A header is recognised by its names, as
//! that of BEIR, `query-id corpus-id score`. Lines that begin with `#` are comments, as in `trec_eval` 10, unless
//! they have the form of the others.

use crate::fields::{LineForm, WITHOUT_QUOTES, for_each_line, is_quoted};
use crate::sink::{Sink, read_strictly};
use crate::source::{FileContent, MOST_OF_A_TABLE, Source};
use crate::table::{is_header, judgement_columns};
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

/// Returns the number of comments, too.
fn parse_with_comments(input: &FileContent, sink: Sink) -> (Vec<Judgement>, usize) {
    let mut judgements = Vec::new();
    let first: Vec<&str> =
        first_fields(input).into_iter().map(|field| str::from_utf8(field).unwrap_or("")).collect();
    let (names, usual) = if first.len() == 3 {
        ("<topic> <document> <relevance>", [0, 1, 2])
    } else {
        ("<topic> 0 <document> <relevance>", [0, 2, 3])
    };
    let named = judgement_columns(&first).filter(|_| (3..=4).contains(&first.len()));
    let [topic, document, grade] = named.unwrap_or(usual);
    // In a file without named columns, the second field is a constant, or counts iterations.
    let mut second: Option<CompactString> = None;
    let mut varies = false;
    let mut has_header = false;
    let unlike_comment: fn(&[&str]) -> bool =
        |fields| fields.last().is_some_and(|field| grade_of(field).is_some());
    let unlike_comment = Some(unlike_comment);
    let form = LineForm { names, optional: 0, unlike_comment, trailing_words: false };
    let mut grades: HashMap<(CompactString, CompactString), i32> = HashMap::new();
    let ignored =
        for_each_line(input, form, sink, |line, sink| match grade_of(line.fields[grade]) {
            Some(_) if is_quoted(line.fields[topic]) && is_quoted(line.fields[document]) => {
                sink(line.problem("ids without quotes around them", WITHOUT_QUOTES));
            }
            Some(relevance) => {
                let constant = line.fields[1];
                varies |= second.get_or_insert_with(|| constant.into()) != constant;
                let topic: CompactString = line.fields[topic].into();
                let document: CompactString = line.fields[document].into();
                match grades.insert((topic.clone(), document.clone()), relevance) {
                    Some(first) if first != relevance => {
                        sink(two_grades(line.at, &topic, &document, first, relevance));
                    }
                    _ => judgements.push(Judgement { topic, document, relevance }),
                }
            }
            None if is_header(line.fields) || judgement_columns(line.fields).is_some() => {
                has_header = true;
            }
            None => sink(line.problem(
                "a whole number as relevance in the last field",
                "0 and below is not relevant, 1 and above is",
            )),
        });
    if has_header && judgements.is_empty() {
        let hint = "nothing can be scored by it: was the program that wrote it interrupted?";
        let problem = problem!((&*input.name, 2), "a judgement below the header", "none", hint);
        sink(problem.kind(ProblemKind::Empty));
    }
    let has_no_grade =
        |judged: &Judgement| judged.relevance == 0 && grade_of(&judged.document).is_some();
    if varies && document == 2 && !judgements.is_empty() && judgements.iter().all(has_no_grade) {
        let found = "0 on every line, behind numbers";
        let hint = "are the columns topic, document, grade and iteration, as `ir_datasets` has them? Write a header \
                    with their names, or topic, 0, document and grade";
        sink(problem!((&*input.name, 1), "grades in the last field", found, hint));
    }
    (judgements, ignored.comments.len())
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

/// The fields of the first line that does not begin with `#`; if all of them do, of the first one that
/// ends with a grade.
fn first_fields(input: &FileContent) -> Vec<&[u8]> {
    let lines = input.bytes.split(|&byte| byte == b'\n').map(<[u8]>::trim_ascii);
    let mut lines = lines.filter(|line| !line.is_empty());
    let plain = lines.clone().find(|line| !line.starts_with(b"#"));
    let first = plain.or_else(|| lines.find(|line| ends_with_grade(line))).unwrap_or_default();
    first.split(u8::is_ascii_whitespace).filter(|field| !field.is_empty()).collect()
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
