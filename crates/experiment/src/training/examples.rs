//! Training examples of a recipe: topics, and their relevant questions by position.

use crate::session::Session;
use clariq_collections::Split;
use clariq_core::{Doc, JudgedQuestions, Recipe, Request, Result, TopicEvaluation, bail};

/// The examples of a recipe without negatives, and the requests for which negatives can be mined.
pub(super) fn collect(
    session: &Session,
    recipe: &Recipe,
) -> Result<(JudgedQuestions, Vec<Request>)> {
    let (requests, mut judged) = match session.collection.training_rows(recipe.train_on)? {
        Some(rows) => rows,
        None => judgements(session, recipe)?,
    };
    judged.candidates = vec![Vec::new(); judged.topics.len()];
    Ok((judged, requests))
}

/// The maximum number of documents of a training, whose texts and tokens are in memory.
const MOST_DOCUMENTS: usize = 1_000_000;

/// The splits that a recipe learns from, in the order of their roles.
pub(super) fn splits(session: &Session, recipe: &Recipe) -> Result<Vec<Split>> {
    let collection = session.collection;
    let mut all = Vec::new();
    for (role, name) in recipe.train_on.roles().iter().zip(recipe.train_on.names()) {
        let before = all.len();
        all.extend(collection.available_splits().filter(|split| split.role() == *role));
        if all.len() == before {
            let found = "none in the folder";
            let hint = "`train_on` of the recipe names the splits that it learns from";
            bail!(collection.location(), "requests of a split like {name}", found, hint);
        }
    }
    Ok(all)
}

/// The judgements of a collection's splits, in the order of their requests.
fn judgements(session: &Session, recipe: &Recipe) -> Result<(Vec<Request>, JudgedQuestions)> {
    let Session { collection, task, documents, .. } = *session;
    if documents.len() > MOST_DOCUMENTS {
        let at = collection.location();
        let found = documents.len();
        let hint = "train on a sample of them, with its judgements";
        bail!(at, "at most {MOST_DOCUMENTS} documents to train on", "{found}", hint);
    }
    let texts = Doc::all(documents.len()).map(|doc| Ok(documents.text(doc)?.into_owned()));
    let mut judged =
        JudgedQuestions { questions: texts.collect::<Result<_>>()?, ..JudgedQuestions::default() };
    let mut requests = Vec::new();
    for split in splits(session, recipe)? {
        let Some(qrels) = collection.qrels(split, task)? else {
            let hint = "a model learns from the judgements of train";
            bail!(collection.location(), "judgements of {split}", "requests alone", hint);
        };
        for request in collection.requests(split, task)? {
            let request = request?;
            let Some(judgements) = qrels.topic(&request.id) else { continue };
            let relevant = judgements.documents().filter(|(_, grade)| *grade > 0);
            let relevant = relevant.filter_map(|(id, _)| Some(documents.find(id.as_str())?.0));
            let mut relevant: Vec<u32> = relevant.collect();
            relevant.sort_unstable();
            judged
                .evaluation
                .push(TopicEvaluation { relevant: relevant.clone(), pool: Vec::new() });
            relevant.retain(|&doc| !judged.questions[doc as usize].is_empty());
            judged.topics.push(request.id.to_string());
            judged.requests.push(request.flatten().into_owned());
            judged.relevant.push(relevant);
            requests.push(request);
        }
    }
    Ok((requests, judged))
}
