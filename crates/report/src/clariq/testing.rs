//! A small comparison for the tests of this crate: two topics, the first with an attack as request.

use super::comparison::{Comparison, Entry, NeedEntry};
use clariq_collections::clariq::{Bank, BankRow, Facet, Labelled, LabelledRow, Split, Topic};
use clariq_core::Need;
use clariq_files::{Run, RunLine};

pub(crate) const ATTACK: &str = "<script>alert(\"1\")</script> & 'friends'";

/// Topic, question and score.
pub(crate) type Line = (&'static str, &'static str, f64);

pub(crate) struct Small {
    bank: Bank,
    labels: Labelled,
    runs: Vec<Entry>,
    pub(crate) needs: Vec<NeedEntry>,
}

impl Small {
    pub(crate) fn new(runs: &[(&str, &[Line])]) -> Self {
        let ids = ["Q00001", "Q1", "Q2", "Q3", "Q4", "Q5", "Q6"];
        let text =
            |id: &str| if id == "Q00001" { String::new() } else { format!("what about {id}") };
        let rows = ids.map(|id| BankRow { id: id.into(), text: text(id) }).to_vec();
        Self {
            bank: Bank::from_rows(rows),
            labels: labels(&[
                ("1", ATTACK, &["Q00001", "Q1", "Q2", "Q3"]),
                ("2", "usual", &["Q4", "Q5"]),
            ]),
            runs: runs.iter().map(|(name, run)| Entry::new(*name, lines(run))).collect(),
            needs: Vec::new(),
        }
    }

    pub(crate) fn comparison(&self) -> Comparison<'_> {
        Comparison {
            title: "small",
            split: Split::Dev,
            bank: &self.bank,
            labels: &self.labels,
            runs: &self.runs,
            baseline: 0,
            needs: &self.needs,
            seed: 42,
        }
    }
}

pub(crate) fn lines(lines: &[Line]) -> Run {
    let lines = (1..).zip(lines).map(|(line, &(topic, question, score))| RunLine {
        topic: topic.into(),
        question: question.into(),
        score,
        line,
    });
    Run { lines: lines.collect(), ..Run::default() }
}

fn labels(topics: &[(&str, &str, &[&str])]) -> Labelled {
    let mut labelled = Labelled::default();
    for (index, (id, request, questions)) in topics.iter().enumerate() {
        let (request, need) = ((*request).to_owned(), Need::new(index as u8 + 1));
        labelled.topics.push(Topic { id: (*id).into(), request, description: String::new(), need });
        let id = format!("F{index}").as_str().into();
        labelled.facets.push(Facet { id, topic: index, description: String::new() });
        labelled.rows.extend(questions.iter().map(|&question| LabelledRow {
            facet: index,
            question: question.into(),
            text: String::new(),
            answer: String::new(),
            line: 1,
        }));
    }
    labelled
}
