//! Relevance labels: `train.tsv`, `dev.tsv` and `test_with_labels.tsv`. They hold topics, facets,
//! and one row per facet and question that was judged relevant to the topic. `test.tsv` has requests
//! without labels.

use crate::question_bank::repeated;
use clariq_collections::documents::Bank;
use clariq_core::{
    DocId, Documents as _, Error, FacetId, JudgedQuestions, Need, Problem, Request, RequestId,
    TopicEvaluation, problem,
};
use clariq_files::table::{ColumnNames, Row, for_each_row};
use clariq_files::{FileContent, MOST_OF_A_TABLE, Qrels, Sink, Source, read_strictly};
use std::collections::{HashMap, HashSet};
use std::fmt::Display;

const COLUMNS: &[ColumnNames] = &[
    &["topic_id"],
    &["initial_request", "initial request"],
    &["topic_desc"],
    &["clarification_need"],
    &["facet_id"],
    &["facet_desc"],
    &["question_id"],
    &["question"],
    &["answer"],
];

/// A request with its labels.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LabelledTopic {
    pub id: RequestId,
    pub request: String,
    /// A description of the information need; may be empty.
    pub description: String,
    /// The clarification need; `None` in a file without labels.
    pub need: Option<Need>,
}

impl From<&LabelledTopic> for Request {
    /// The request as systems see it: without the description and the label.
    fn from(topic: &LabelledTopic) -> Self {
        Self::new(topic.id.as_str(), topic.request.as_str())
    }
}

/// A facet: an information need behind a topic.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Facet {
    /// Its id, unique over all topics.
    pub id: FacetId,
    /// The position of its topic in [`Labelled::topics`].
    pub topic: usize,
    /// The information need in full.
    pub description: String,
}

/// A question that is relevant to a topic, and the answer of a user with this facet in mind.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LabelledRow {
    /// The position of the facet in [`Labelled::facets`].
    pub facet: usize,
    pub question: DocId,
    /// The question as this file spells it.
    pub text: String,
    /// The answer; empty for the empty question.
    pub answer: String,
    /// The line of the file.
    pub line: u64,
}

/// A labelled file. Topics and facets are in the order of their first appearance.
#[derive(Debug, Clone, Default)]
pub struct Labelled {
    /// The file, for messages.
    pub name: String,
    pub topics: Vec<LabelledTopic>,
    pub facets: Vec<Facet>,
    /// In file order.
    pub rows: Vec<LabelledRow>,
}

impl Labelled {
    /// Reads a labelled file; the first problem is the error.
    pub fn read(source: &Source) -> Result<Self, Error> {
        read_strictly(source, MOST_OF_A_TABLE, Self::parse)
    }

    /// Reads a labelled file as far as it is valid. Every problem goes to `sink`: a bad row is left
    /// out, a row that contradicts an earlier one is kept.
    pub fn parse(input: &FileContent, sink: Sink) -> Self {
        let mut builder = Builder {
            labelled: Self { name: input.name.clone(), ..Self::default() },
            topics: HashMap::new(),
            facets: HashMap::new(),
        };
        for_each_row(input, COLUMNS, sink, |row, sink| builder.add(row, sink));
        builder.labelled
    }

    /// Appends the topics, facets and rows of another file.
    pub fn append(&mut self, other: Self) {
        let topics = self.topics.len();
        let facets = self.facets.len();
        self.name = format!("{} and {}", self.name, other.name);
        self.topics.extend(other.topics);
        let facet = |facet: Facet| Facet { topic: facet.topic + topics, ..facet };
        self.facets.extend(other.facets.into_iter().map(facet));
        let row = |row: LabelledRow| LabelledRow { facet: row.facet + facets, ..row };
        self.rows.extend(other.rows.into_iter().map(row));
    }

    /// The questions judged relevant to each topic, in the order of [`Labelled::topics`]. All other
    /// questions count as not relevant.
    #[allow(clippy::indexing_slicing, reason = "rows and facets hold places of these lists")]
    pub fn relevant(&self) -> Vec<HashSet<DocId>> {
        let mut sets = vec![HashSet::new(); self.topics.len()];
        for row in &self.rows {
            sets[self.facets[row.facet].topic].insert(row.question.clone());
        }
        sets
    }
}

/// Every question that is listed for a topic, the empty one included, has grade 1.
impl Labelled {
    /// The rows as models are trained on them: a relevant question of the bank for each, by topic.
    #[allow(clippy::indexing_slicing, reason = "places of lists that are made there")]
    pub(crate) fn judged_rows(&self, bank: &Bank) -> JudgedQuestions {
        let mut judged = JudgedQuestions {
            topics: self.topics.iter().map(|topic| topic.id.to_string()).collect(),
            requests: self.topics.iter().map(|topic| topic.request.clone()).collect(),
            questions: bank.rows().iter().map(|row| row.text.clone()).collect(),
            relevant: vec![Vec::new(); self.topics.len()],
            candidates: Vec::new(),
            evaluation: vec![TopicEvaluation::default(); self.topics.len()],
        };
        for row in &self.rows {
            let topic = self.facets[row.facet].topic;
            let Some(question) = bank.find(row.question.as_str()) else { continue };
            judged.evaluation[topic].relevant.push(question.0);
            if !bank.text(question).is_empty() {
                judged.relevant[topic].push(question.0);
            }
        }
        for topic in &mut judged.evaluation {
            topic.relevant.sort_unstable();
            topic.relevant.dedup();
        }
        judged
    }
}

impl From<&Labelled> for Qrels {
    fn from(labels: &Labelled) -> Self {
        let mut qrels = Self::default();
        for (topic, questions) in labels.topics.iter().zip(labels.relevant()) {
            for question in questions {
                qrels.insert(&topic.id, question, 1);
            }
        }
        qrels
    }
}

struct Builder {
    labelled: Labelled,
    topics: HashMap<RequestId, FirstOccurrence>,
    facets: HashMap<FacetId, FirstOccurrence>,
}

/// The position of a topic or facet, and the first line that has it.
type FirstOccurrence = (usize, u64);

#[allow(clippy::indexing_slicing, reason = "places are those of lists that are made here")]
impl Builder {
    fn add(&mut self, row: &Row, sink: Sink) {
        let [topic_id, request, topic_desc, need, facet_id, facet_desc, question, text, answer] =
            row.fields[..]
        else {
            return;
        };
        for (name, field) in
            [("topic_id", topic_id), ("facet_id", facet_id), ("question_id", question)]
        {
            if let Err(problem) = row.check_id(name, field) {
                return sink(*problem);
            }
        }
        let line = row.line();
        // So pandas writes whole numbers of a column with gaps.
        let whole = need.trim();
        let Some(label) = Need::parse(whole.strip_suffix(".0").unwrap_or(whole)) else {
            let hint = "1 is clear by itself, 4 cannot be answered without a clarifying question";
            return sink(problem!(
                (&*self.labelled.name, line),
                "a clarification need from 1 to 4",
                "`{need}`",
                hint
            ));
        };
        let topic = self.topic([topic_id, request, topic_desc], label, line, sink);
        let facet = self.facet([facet_id, facet_desc], topic, line, sink);
        self.labelled.rows.push(LabelledRow {
            facet,
            question: question.into(),
            text: text.into(),
            answer: answer.into(),
            line,
        });
    }

    fn topic(
        &mut self,
        [id, request, description]: [&str; 3],
        need: Need,
        line: u64,
        sink: Sink,
    ) -> usize {
        let Labelled { name, topics, .. } = &mut self.labelled;
        let Some(&(position, first_line)) = self.topics.get(id) else {
            self.topics.insert(id.into(), (topics.len(), line));
            let request = request.to_owned();
            let description = description.to_owned();
            topics.push(LabelledTopic { id: id.into(), request, description, need: Some(need) });
            return topics.len() - 1;
        };
        let first = &topics[position];
        if first.request != request {
            // The released test labels have a topic with two wordings, row by row. The official
            // scorer reads neither.
            let expected =
                format!("the request of `{id}` as on line {first_line}, `{}`", first.request);
            let hint = "the first wording is the request of the topic; no score depends on it";
            sink(problem!((&**name, line), expected, "`{request}`", hint).warning());
        }
        if let Some(was) = first.need.filter(|was| *was != need) {
            let what = format!("the need label of `{id}` as on line {first_line}");
            sink(contradiction((name, line), &what, was, need));
        }
        position
    }

    fn facet(&mut self, [id, text]: [&str; 2], topic: usize, line: u64, sink: Sink) -> usize {
        let Labelled { name, topics, facets, .. } = &mut self.labelled;
        let Some(&(position, first_line)) = self.facets.get(id) else {
            self.facets.insert(id.into(), (facets.len(), line));
            facets.push(Facet { id: id.into(), topic, description: text.to_owned() });
            return facets.len() - 1;
        };
        if facets[position].topic != topic {
            let what = format!("the topic of `{id}` as on line {first_line}");
            let [was, is] = [facets[position].topic, topic].map(|topic| &topics[topic].id);
            sink(contradiction((name, line), &what, was, is));
        }
        position
    }
}

fn contradiction<T: Display>(at: (&str, u64), what: &str, was: T, is: T) -> Problem {
    let hint = "all rows of one topic or facet must agree";
    problem!(at, "{what}, `{was}`", "`{is}`", hint)
}

/// The released `test.tsv` spells its header with a space.
const REQUEST_COLUMNS: &[ColumnNames] = &[&["topic_id"], &["initial_request", "initial request"]];

/// Reads a file of requests in file order; the first problem is the error.
pub fn read_requests(source: &Source) -> Result<Vec<LabelledTopic>, Error> {
    read_strictly(source, MOST_OF_A_TABLE, parse_requests)
}

/// Reads the valid rows of a file of requests. Every problem goes to `sink`, and its row is left out.
pub fn parse_requests(input: &FileContent, sink: Sink) -> Vec<LabelledTopic> {
    let mut topics: Vec<LabelledTopic> = Vec::new();
    let mut seen: HashMap<RequestId, (u64, usize)> = HashMap::new();
    for_each_row(input, REQUEST_COLUMNS, sink, |row, sink| {
        let [id, request] = row.fields[..] else { return };
        if let Err(problem) = row.check_id("topic_id", id) {
            return sink(*problem);
        }
        if let Some(&(first, position)) = seen.get(id) {
            let same = topics.get(position).is_some_and(|first| first.request == request);
            return sink(repeated((&*input.name, row.line()), "request", id, first, same));
        }
        seen.insert(id.into(), (row.line(), topics.len()));
        topics.push(LabelledTopic {
            id: id.into(),
            request: request.to_owned(),
            description: String::new(),
            need: None,
        });
    });
    topics
}

#[cfg(test)]
mod tests {
    use super::*;
    use clariq_core::Severity;
    use std::borrow::Cow;

    const HEADER: &str = "topic_id\tinitial_request\ttopic_desc\tclarification_need\tfacet_id\tfacet_desc\tquestion_id\tquestion\tanswer\n";

    fn parse(rows: &str) -> (Labelled, Vec<Problem>) {
        let bytes = Cow::Owned(format!("{HEADER}{rows}").into_bytes());
        let mut problems = Vec::new();
        let input = FileContent { name: "dev.tsv".to_owned(), bytes };
        let labelled = Labelled::parse(&input, &mut |problem| problems.push(problem));
        (labelled, problems)
    }

    #[test]
    fn topics_are_in_the_order_of_appearance() {
        let (labelled, problems) = parse(
            "9\tTell me\tThe family\\'s tree\t4\tF2\t\"Find the \"\"essay\"\".\"\tQ00001\t\t\n\
             3\tWhat is it\t\t1\tF1\tf\tQ2\twhich\tyes\n\
             9\tTell me\tThe family\\'s tree\t4\tF3\tg\tQ2\twhich\tno\n",
        );
        assert!(problems.is_empty(), "{problems:?}");
        assert_eq!(
            labelled.topics.iter().map(|topic| topic.id.as_str()).collect::<Vec<_>>(),
            ["9", "3"]
        );
        assert_eq!(labelled.topics[0].description, r"The family\'s tree");
        assert_eq!(labelled.topics[1].description, "");
        assert_eq!(labelled.facets[0].description, "Find the \"essay\".");
        assert_eq!(labelled.rows[0].answer, "");
        assert_eq!(labelled.relevant()[0].len(), 2);
        assert_eq!(labelled.relevant()[1].len(), 1);
        let qrels = Qrels::from(&labelled);
        assert_eq!(qrels.topic(&"9".into()).unwrap().relevant(1), 2, "the empty one included");
        assert_eq!(qrels.topic(&"2".into()), None, "no judgement, no topic");
    }

    #[test]
    fn contradictions_name_the_line_they_contradict() {
        let (_, problems) = parse(
            "1\ta\t\t1\tF1\tf\tQ2\tq\ty\n1\tb\t\t2\tF1\tf\tQ3\tq\ty\n2\tc\t\t1\tF1\tf\tQ3\tq\ty\n",
        );
        let found: Vec<_> =
            problems.iter().map(|problem| (problem.at.line, problem.severity)).collect();
        let (warning, error) = (Severity::Warning, Severity::Error);
        assert_eq!(found, [(Some(3), warning), (Some(3), error), (Some(4), error)]);
        assert!(problems[0].expected.contains("line 2"));
    }

    #[test]
    fn a_topic_with_two_wordings_loads_and_has_the_first() {
        let rows = "260\tone\t\t4\tF1\tf\tQ2\tq\ty\n260\ttwo\t\t4\tF1\tf\tQ3\tq\ty\n";
        let labelled =
            Labelled::read(&Source::memory("t.tsv", format!("{HEADER}{rows}").into_bytes()));
        let labelled = labelled.unwrap();
        assert_eq!((labelled.topics.len(), labelled.rows.len()), (1, 2));
        assert_eq!(labelled.topics[0].request, "one");
    }

    #[test]
    fn labels_outside_one_to_four_are_refused() {
        for label in ["0", "5", "x", "", "2.5", "2.00", "5.0"] {
            let (_, problems) = parse(&format!("1\ta\t\t{label}\tF1\tf\tQ2\tq\ty\n"));
            assert!(problems[0].expected.ends_with("need from 1 to 4"), "{label}");
        }
        // As pandas writes a column with gaps.
        let (labelled, problems) = parse("1\ta\t\t2.0\tF1\tf\tQ2\tq\ty\n");
        assert!(problems.is_empty() && labelled.topics.len() == 1, "{problems:?}");
    }

    #[test]
    fn both_spellings_of_the_header_are_read() {
        for header in ["topic_id\tinitial request", "topic_id\tinitial_request"] {
            let text = format!("{header}\n202\tGive me information.\n201\tTell me.\n");
            let source = Source::memory("test.tsv", text.into_bytes());
            let topics = read_requests(&source).unwrap();
            assert_eq!(topics[0].id, RequestId::from("202"), "file order, not number order");
            assert_eq!(topics[1].request, "Tell me.");
        }
    }
}
