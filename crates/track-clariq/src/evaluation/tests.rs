//! Small labels, runs and tables for tests.

use crate::{ContextId, EvalTable, Facet, Labelled, LabelledRow, LabelledTopic};
use clariq_core::Need;
use clariq_files::{Run, RunLine};

/// Topic, document and score.
pub(crate) type Line<'a> = (&'a str, &'a str, f64);

pub(crate) fn run(lines: &[Line]) -> Run {
    let lines = (1..).zip(lines).map(|(line, &(topic, document, score))| RunLine {
        topic: topic.into(),
        document: document.into(),
        score,
        line,
    });
    Run { lines: lines.collect(), ..Run::default() }
}

fn topic(id: &str, request: &str, need: u8) -> LabelledTopic {
    let request = request.to_owned();
    let description = String::new();
    LabelledTopic { id: id.into(), request, description, need: Need::new(need) }
}

pub(crate) fn needs(topics: &[(&str, u8)]) -> Labelled {
    let topics = topics.iter().map(|&(id, need)| topic(id, "", need)).collect();
    Labelled { topics, ..Labelled::default() }
}

/// Topics with one facet each and their relevant questions.
pub(crate) fn labels(topics: &[(&str, &[&str])]) -> Labelled {
    let mut labelled = Labelled::default();
    for (index, (id, questions)) in topics.iter().enumerate() {
        labelled.topics.push(topic(id, "", 2));
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

/// A table of the metric `P1`.
pub(crate) fn table(contexts: &[(ContextId, &[(&str, f64)])]) -> EvalTable {
    let mut table = EvalTable::default();
    for (context, figures) in contexts {
        let figures =
            figures.iter().map(|(question, figure)| ((*question).to_owned(), Some(*figure)));
        table.insert("P1", context.clone(), figures);
    }
    table
}
