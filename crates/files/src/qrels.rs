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
mod tests {
    use super::*;
    use crate::write_atomically;

    #[test]
    fn judgements_are_read_in_their_order() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.qrel.gz");
        let judgement = |document: &str, relevance| Judgement {
            topic: "F0010".into(),
            document: document.into(),
            relevance,
        };
        let judgements = vec![judgement("d1", 2), judgement("d2", -2)];
        write_atomically(&path, |out| out.write_all(b"F0010 0 d1 2\nF0010 0 d2 -2\n")).unwrap();
        assert_eq!(read_qrels(&Source::new(&path)).unwrap(), judgements);
    }

    #[test]
    fn the_form_of_beir_has_a_header_and_three_fields() {
        let text = "query-id\tcorpus-id\tscore\nq1\ta/b:1\t2\n";
        let found = read_qrels(&Source::memory("a.tsv", text.as_bytes())).unwrap();
        assert_eq!(found, [judged("q1", "a/b:1", 2)]);
        let bad = format!("{text}q1\tx\n");
        let problem = read_qrels(&Source::memory("a.tsv", bad.into_bytes())).unwrap_err();
        assert_eq!(problem.to_problem().at.line, Some(3));
    }

    #[test]
    fn three_fields_have_no_constant() {
        let text = "0_8\tp:1 \t2\n0_8\tp:2\t0\n";
        let found = read_qrels(&Source::memory("a.txt", text.as_bytes())).unwrap();
        assert_eq!(found, [judged("0_8", "p:1", 2), judged("0_8", "p:2", 0)]);
        let bad = format!("{text}0_8 0 p:3 1\n");
        let problem = read_qrels(&Source::memory("a.txt", bad.into_bytes())).unwrap_err();
        assert_eq!(problem.to_problem().at.line, Some(3));
    }

    #[test]
    fn comments_are_ignored_before_the_form_is_chosen() {
        for text in ["# a b c d e\n\n1 0 d 2\n# 1 0 d 3\n# of 3\n", "# a\n1 d 2\n#\n"] {
            let found = read_qrels(&Source::memory("a.qrels", text.as_bytes())).unwrap();
            assert_eq!(found, [judged("1", "d", 2)], "{text}");
        }
    }

    #[test]
    fn ids_that_begin_with_a_hash_are_no_comments_and_comments_are_counted() {
        let text = "# grades of 3 people in all\n#tea\td1\t1\n#\td2\t0\nq2\td1\t1\n";
        for (text, last) in [(text.to_owned(), "q2"), (text.replace("q2", "#q2"), "#q2")] {
            let qrels = Qrels::read(&Source::memory("a.tsv", text.into_bytes())).unwrap();
            let topics = ["#tea", "#", last].map(|topic| qrels.topic(&topic.into()).is_some());
            assert_eq!((topics, qrels.comments), ([true; 3], 1), "{last}");
        }
    }

    #[test]
    fn a_header_of_known_names_is_no_judgement() {
        for (header, row) in [
            ("query-id\tcorpus-id\tscore", "q1\td\t2"),
            ("qid docno rel", "q1 d 2"),
            ("query_id\titer\tdoc_id\trelevance", "q1\t0\td\t2"),
            ("Topic Q0 DocID Label", "q1 0 d 2"),
        ] {
            let text = format!("{header}\n{row}\n");
            let found = read_qrels(&Source::memory("a.tsv", text.into_bytes())).unwrap();
            assert_eq!(found, [judged("q1", "d", 2)], "{header}");
        }
        let unknown = read_qrels(&Source::memory("a.tsv", &b"q d x\n1 d 2\n"[..])).unwrap_err();
        assert_eq!(unknown.to_problem().at.line, Some(1));
    }

    #[test]
    fn a_header_says_which_column_is_which() {
        for (header, row) in [
            ("query_id\tdoc_id\trelevance\titeration", "q1\td\t2\t0"),
            ("corpus-id\tquery-id\tscore", "d\tq1\t2"),
            ("label qid docno", "2 q1 d"),
            ("docno iter qid label", "d 0 q1 2"),
        ] {
            let text = format!("{header}\n{row}\n");
            let found = read_qrels(&Source::memory("a.tsv", text.into_bytes())).unwrap();
            assert_eq!(found, [judged("q1", "d", 2)], "{header}");
        }
    }

    #[test]
    fn a_header_alone_is_an_empty_file() {
        let refused = read_qrels(&Source::memory("a.tsv", &b"qid docno rel\n\n"[..])).unwrap_err();
        assert_eq!(refused.to_problem().kind, ProblemKind::Empty);
    }

    #[test]
    fn grades_before_the_iteration_are_refused_without_a_header() {
        let text = "q1\td1\t1\t0\nq1\td2\t0\t0\n";
        let refused = read_qrels(&Source::memory("a.tsv", text.as_bytes())).unwrap_err();
        assert_eq!(refused.to_problem().found, "0 on every line, behind numbers");
        for text in ["q1 0 1 0\nq1 0 2 0\n", "q1 0 1 0\nq1 1 2 1\n", "q1 0 a 0\nq1 1 b 0\n"] {
            assert!(read_qrels(&Source::memory("a.txt", text.as_bytes())).is_ok(), "{text}");
        }
    }

    #[test]
    fn a_whole_grade_may_be_written_with_a_point() {
        let text = "q1 0 a 1.0\nq1 0 b 0.00\n#q 0 b -2.0\n";
        let found = read_qrels(&Source::memory("a.qrels", text.as_bytes())).unwrap();
        assert_eq!(found, [judged("q1", "a", 1), judged("q1", "b", 0), judged("#q", "b", -2)]);
        for grade in ["0.5", "1.", "1.0e0", ".0", "1.0.0", "nan", "True"] {
            let text = format!("q1 0 a {grade}\n");
            assert!(read_qrels(&Source::memory("a.qrels", text.into_bytes())).is_err(), "{grade}");
        }
    }

    #[test]
    fn ids_in_quotes_are_refused() {
        let text = "\"query-id\"\t\"corpus-id\"\t\"score\"\n\"q1\"\t\"a\"\t1\n";
        let refused = read_qrels(&Source::memory("a.tsv", text.as_bytes())).unwrap_err();
        let problem = refused.to_problem();
        assert_eq!(problem.at.line, Some(2));
        assert_eq!(problem.expected, "ids without quotes around them");
        let one = read_qrels(&Source::memory("a.qrels", &b"q1 0 \"a\" 1\n"[..])).unwrap();
        assert_eq!(one, [judged("q1", "\"a\"", 1)]);
    }

    fn judged(topic: &str, document: &str, relevance: i32) -> Judgement {
        Judgement { topic: topic.into(), document: document.into(), relevance }
    }

    #[test]
    fn grades_are_kept() {
        let qrels = Qrels::from_judgements(
            "a",
            &[judged("1", "a", 3), judged("1", "b", -1), judged("1", "a", 3)],
        )
        .unwrap();
        let topic = qrels.topic(&"1".into()).unwrap();
        assert_eq!((topic.relevant(1), topic.relevant(3), topic.relevant(4)), (1, 1, 0));
        assert_eq!((topic.grade(&"b".into()), topic.grade(&"c".into())), (Some(-1), None));
    }

    #[test]
    fn a_line_with_another_grade_is_named() {
        let text = "1 0 a 1\n1 0 a 1\n2 0 a 0\n1 0 a 0\n";
        let problem = read_qrels(&Source::memory("a.qrels", text.as_bytes())).unwrap_err();
        let problem = problem.to_problem();
        assert_eq!((problem.at.line, problem.kind), (Some(4), ProblemKind::Contradiction));
    }

    #[test]
    fn two_grades_are_a_contradiction() {
        let judgements = [judged("1", "a", 1), judged("1", "a", 0)];
        let problem = Qrels::from_judgements("a.qrels", &judgements).unwrap_err().to_problem();
        assert_eq!(problem.kind, ProblemKind::Contradiction);
        assert_eq!(problem.found, "`1` and `0`");
    }
}
