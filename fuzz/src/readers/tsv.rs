//! Banks, labelled files and requests are read back as they were written with every field quoted.

use super::{both, quoted, read_back};

use clariq_core::Documents;
use clariq_track_clariq::{
    Labelled, LabelledRow, parse_question_bank, parse_requests, read_question_bank, read_requests,
};

/// The same bytes as each kind of file.
pub fn tsv(bytes: &[u8]) {
    bank(bytes);
    labelled(bytes);
    requests(bytes);
}

fn bank(bytes: &[u8]) {
    let Some(bank) = both(bytes, parse_question_bank, read_question_bank) else { return };
    assert!(bank.rows().windows(2).all(|pair| pair[0].id < pair[1].id));
    for (number, row) in (0..).zip(bank.rows()) {
        assert_eq!(bank.find(row.id.as_str()).map(|doc| doc.0), Some(number));
    }
    let rows = bank.rows().iter().map(|row| vec![row.text.as_str(), row.id.as_str()]);
    let again = read_back(table(&["question", "question_id"], rows), read_question_bank);
    assert_eq!(again.rows(), bank.rows());
    assert_eq!(again.checksum(), bank.checksum());
}

fn requests(bytes: &[u8]) {
    let Some(topics) = both(bytes, parse_requests, read_requests) else { return };
    let rows = topics.iter().map(|topic| vec![topic.id.as_str(), topic.request.as_str()]);
    assert_eq!(read_back(table(&["topic_id", "initial request"], rows), read_requests), topics);
}

const LABELLED: [&str; 9] = [
    "topic_id",
    "initial_request",
    "topic_desc",
    "clarification_need",
    "facet_id",
    "facet_desc",
    "question_id",
    "question",
    "answer",
];

fn labelled(bytes: &[u8]) {
    let Some(labelled) = both(bytes, Labelled::parse, Labelled::read) else { return };
    let relevant = labelled.relevant();
    assert!(
        relevant.len() == labelled.topics.len()
            && relevant.iter().all(|questions| !questions.is_empty())
    );
    let needs: Vec<String> = labelled
        .topics
        .iter()
        .map(|topic| topic.need.map_or_else(String::new, |need| need.to_string()))
        .collect();
    let rows = labelled.rows.iter().map(|row| {
        let facet = &labelled.facets[row.facet];
        let (topic, need) = (&labelled.topics[facet.topic], &needs[facet.topic]);
        let of_topic = [topic.id.as_str(), &topic.request, &topic.description, need];
        let of_row =
            [facet.id.as_str(), &facet.description, row.question.as_str(), &row.text, &row.answer];
        [&of_topic[..], &of_row].concat()
    });
    let again = read_back(table(&LABELLED, rows), Labelled::read);
    assert_eq!((&again.topics, &again.facets), (&labelled.topics, &labelled.facets));
    let content = |rows: &[LabelledRow]| {
        rows.iter().map(|row| LabelledRow { line: 0, ..row.clone() }).collect::<Vec<_>>()
    };
    assert_eq!(content(&again.rows), content(&labelled.rows));
}

fn table<'a>(header: &[&str], rows: impl Iterator<Item = Vec<&'a str>>) -> Vec<u8> {
    let mut text = header.join("\t") + "\n";
    for row in rows {
        text += &row.into_iter().map(quoted).collect::<Vec<_>>().join("\t");
        text.push('\n');
    }
    text.into_bytes()
}
