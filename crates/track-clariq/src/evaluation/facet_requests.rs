//! Requests for another search over documents: for every facet, the user's request, the first question
//! of a run, and the answer of a user with this facet in mind.

use super::document_relevance::first_questions;
use crate::{ClariQ, RetrievedWith};
use clariq_collections::{Collection, Split};
use clariq_core::{Documents, Request, Result, Utterance};
use clariq_files::{Source, read_run};
use std::collections::HashMap;

/// The requests of all facets of a split, with the ids of the facets.
#[derive(Debug)]
pub struct FacetRequests {
    /// In the order of the labelled file.
    pub requests: Vec<Request>,
    /// The number of facets whose topic gets no question: the run has none, or asks the empty one.
    pub not_asked: usize,
    /// The number of facets without an answer to the question, which stays unanswered.
    pub not_answered: usize,
}

/// Makes the requests by which documents are retrieved after the first question of a run.
pub fn facet_requests(
    collection: &dyn Collection,
    run: &Source,
    split: Split,
    with: RetrievedWith,
) -> Result<FacetRequests> {
    let clariq = ClariQ::of(collection)?;
    let labels = clariq.labelled(split)?;
    let run = read_run(run)?;
    let first = first_questions(&run);
    let mut answers: HashMap<(usize, &str), &str> = HashMap::new();
    for row in &labels.rows {
        answers.insert((row.facet, row.question.as_str()), &row.answer);
    }
    let mut made = FacetRequests { requests: Vec::new(), not_asked: 0, not_answered: 0 };
    for (number, facet) in labels.facets.iter().enumerate() {
        let topic = &labels.topics[facet.topic];
        let mut request = Request::new(facet.id.as_str(), topic.request.as_str());
        let question = first.get(topic.id.as_str()).map(|first| first.question.as_str());
        let text = question.and_then(|id| Some(clariq.bank.text(clariq.bank.find(id)?)));
        match (question, text.filter(|text| !text.is_empty())) {
            (Some(question), Some(text)) => {
                request.said.push(Utterance::system(text));
                let answer = answers.get(&(number, question)).filter(|answer| !answer.is_empty());
                match answer {
                    Some(&answer) if with == RetrievedWith::Answer => {
                        request.said.push(Utterance::user(answer));
                    }
                    Some(_) => {}
                    None => made.not_answered += 1,
                }
            }
            _ => made.not_asked += 1,
        }
        made.requests.push(request);
    }
    Ok(made)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::splits;
    use clariq_core::Speaker;

    #[test]
    fn a_facet_gets_the_first_question_and_its_own_answer() {
        let sample = ClariQ::open(crate::SAMPLE).unwrap();
        let run = Source::memory("run", *b"13 0 Q00260 1 2.0 r\n13 0 Q00102 2 1.0 r\n");
        let made = |with| facet_requests(&sample, &run, splits::DEV, with).unwrap();
        let answered = made(RetrievedWith::Answer);
        let request = answered.requests.iter().find(|one| one.id.as_str() == "F0012").unwrap();
        let texts: Vec<&str> = request.said.iter().map(|said| said.text.as_str()).collect();
        assert_eq!(texts[0], "How do I clean up a broken mercury thermometer?");
        assert_eq!(texts[1], "has anybody touched the mercury beads");
        assert_eq!(texts[2], "yes so i am looking for safe steps to clean it up");
        let alone = made(RetrievedWith::QuestionAlone);
        let request = alone.requests.iter().find(|one| one.id.as_str() == "F0012").unwrap();
        assert_eq!(request.said.last().unwrap().speaker, Speaker::System);
        assert_eq!(alone.requests.len(), answered.requests.len());
        // The run answers one topic.
        assert!(answered.not_asked > 0 && answered.not_asked < answered.requests.len());
    }
}
