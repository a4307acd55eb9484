//! Small labels for tests.

use clariq_collections::clariq::{Facet, Labelled, LabelledRow, Topic};
use clariq_core::Need;

fn topic(id: &str, need: u8) -> Topic {
    Topic {
        id: id.into(),
        request: String::new(),
        description: String::new(),
        need: Need::new(need),
    }
}

pub(in crate::clariq) fn needs(topics: &[(&str, u8)]) -> Labelled {
    Labelled {
        topics: topics.iter().map(|&(id, need)| topic(id, need)).collect(),
        ..Labelled::default()
    }
}

pub(in crate::clariq) fn labels(topics: &[(&str, &[&str])]) -> Labelled {
    let mut labelled = Labelled::default();
    for (index, (id, questions)) in topics.iter().enumerate() {
        labelled.topics.push(topic(id, 2));
        labelled.facets.push(Facet {
            id: format!("F{index}").as_str().into(),
            topic: index,
            description: String::new(),
        });
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
