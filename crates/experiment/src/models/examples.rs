//! Training examples of a recipe: labels in numbers, or conversations and resolved utterances.

use crate::session::Session;
use clariq_collections::Collection;
use clariq_collections::clariq::ClariQ;
use clariq_core::{
    Doc, Documents, Examples, JudgedQuestions, ModelKind, ProblemKind, Recipe, Request,
    ResolvedTurns, Result, Speaker, bail, problem,
};
use std::collections::{BTreeMap, BTreeSet};

/// The examples of a recipe without negatives, and the requests that these can be mined for.
pub(super) fn collect(session: &Session, recipe: &Recipe) -> Result<(Examples, Vec<Request>)> {
    if recipe.objective.kind() == ModelKind::ConversationEncoder {
        return Ok((Examples::Resolved(resolved_turns(session.collection)?), Vec::new()));
    }
    let (requests, mut judged) = match session.collection.downcast::<ClariQ>() {
        Some(clariq) => labelled_rows(clariq, recipe)?,
        None => judgements(session, recipe)?,
    };
    judged.candidates = vec![Vec::new(); judged.topics.len()];
    Ok((Examples::Judged(judged), requests))
}

fn labelled_rows(clariq: &ClariQ, recipe: &Recipe) -> Result<(Vec<Request>, JudgedQuestions)> {
    let labelled = clariq.training_labels(recipe.train_on)?;
    let bank = &clariq.bank;
    let mut judged = JudgedQuestions {
        topics: labelled.topics.iter().map(|topic| topic.id.to_string()).collect(),
        requests: labelled.topics.iter().map(|topic| topic.request.clone()).collect(),
        questions: bank.rows().iter().map(|row| row.text.clone()).collect(),
        relevant: vec![Vec::new(); labelled.topics.len()],
        candidates: Vec::new(),
    };
    for row in &labelled.rows {
        let question = bank.find(row.question.as_str());
        if let Some(question) = question.filter(|&found| !bank.text(found).is_empty()) {
            judged.relevant[labelled.facets[row.facet].topic].push(question.0);
        }
    }
    Ok((labelled.topics.iter().map(Request::from).collect(), judged))
}

/// More documents are not trained on: their texts and tokens are kept in memory.
const MOST_DOCUMENTS: usize = 1_000_000;

/// The judgements of a collection's splits, in the order of their requests.
fn judgements(session: &Session, recipe: &Recipe) -> Result<(Vec<Request>, JudgedQuestions)> {
    let Session { collection, task, documents, .. } = *session;
    if documents.len() > MOST_DOCUMENTS {
        let (at, found) = (collection.location(), documents.len());
        let hint = "train on a sample of them, with its judgements";
        bail!(at, "at most {MOST_DOCUMENTS} documents to train on", "{found}", hint);
    }
    let texts = Doc::all(documents.len()).map(|doc| Ok(documents.text(doc)?.into_owned()));
    let mut judged =
        JudgedQuestions { questions: texts.collect::<Result<_>>()?, ..JudgedQuestions::default() };
    let mut requests = Vec::new();
    for split in recipe.train_on.splits() {
        let split = collection.find_split(split)?;
        let Some(qrels) = collection.qrels(split, task)? else {
            let hint = "a model learns from the judgements of train";
            bail!(collection.location(), "judgements of {split}", "requests alone", hint);
        };
        for request in collection.requests(split, task)? {
            let request = request?;
            let Some(judgements) = qrels.topic(&request.id.as_str().into()) else { continue };
            let relevant = judgements.documents().filter(|(_, grade)| *grade > 0);
            let relevant = relevant.filter_map(|(id, _)| Some(documents.find(id.as_str())?.0));
            let mut relevant: Vec<u32> =
                relevant.filter(|&doc| !judged.questions[doc as usize].is_empty()).collect();
            relevant.sort_unstable();
            judged.topics.push(request.id.to_string());
            judged.requests.push(request.flatten().into_owned());
            judged.relevant.push(relevant);
            requests.push(request);
        }
    }
    Ok((requests, judged))
}

/// Every turn of a collection whose utterance people resolved. A resolved utterance must be told
/// apart from all others, and from all responses that the conversations have.
fn resolved_turns(collection: &dyn Collection) -> Result<ResolvedTurns> {
    let turns = collection.resolved_turns()?;
    if turns.is_empty() {
        let (at, hint) = (collection.location(), "the files of topics may be those without labels");
        let none = problem!(at, "a resolved utterance to train on", "none", hint);
        return Err(none.kind(ProblemKind::Empty).into());
    }
    let said = turns.iter().flat_map(|turn| &turn.said);
    let responses = said.filter(|said| said.speaker == Speaker::System);
    let texts = responses.map(|said| said.text.as_str()).filter(|text| !text.is_empty());
    let texts: BTreeSet<&str> =
        texts.chain(turns.iter().map(|turn| turn.resolved.as_str())).collect();
    let numbers: BTreeMap<&str, u32> = texts.iter().copied().zip(0..).collect();
    Ok(ResolvedTurns {
        turns: turns.iter().map(|turn| turn.id.clone()).collect(),
        conversations: turns.iter().map(|turn| turn.conversation.clone()).collect(),
        texts: texts.iter().map(|&text| text.to_owned()).collect(),
        resolved: turns.iter().map(|turn| numbers[turn.resolved.as_str()]).collect(),
        said: turns.into_iter().map(|turn| turn.said).collect(),
    })
}
