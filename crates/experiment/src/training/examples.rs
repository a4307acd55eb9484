//! Training examples of a recipe: topics, and their relevant questions by position.

use crate::session::Session;
use clariq_collections::Split;
use clariq_core::{
    Doc, Hint, JudgedQuestions, Recipe, Request, Result, SplitRole, TopicEvaluation, bail,
};

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

/// The only split of a folder, if it is not one to learn from. A model that answers no split of the folder, as that
/// of `clariq train`, is trained on it: nothing else could be.
pub(super) fn only_split(session: &Session) -> Option<Split> {
    let mut available = session.collection.available_splits();
    let only = available.next().filter(|split| split.role() != SplitRole::Learn)?;
    (available.next().is_none() && session.split.is_none()).then_some(only)
}

/// The splits that a recipe learns from, in the order of their roles.
pub(super) fn splits(session: &Session, recipe: &Recipe) -> Result<Vec<Split>> {
    if let Some(only) = only_split(session) {
        return Ok(vec![only]);
    }
    let collection = session.collection;
    let mut all = Vec::new();
    for (role, name) in recipe.train_on.roles().iter().zip(recipe.train_on.names()) {
        let before = all.len();
        all.extend(collection.available_splits().filter(|split| split.role() == *role));
        if all.len() == before {
            let found = "none in the folder";
            let hint =
                Hint::from("`train_on` of the recipe names the splits that it learns from; ")
                    .and(Hint::on_data("data split --train .6 --dev .2 -o DIR"))
                    .and(" makes them of one");
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::session::SessionOptions;
    use clariq_collections::DataDir;
    use std::fs;

    #[test]
    fn the_only_split_is_learned_from_unless_it_is_answered() {
        let folder = tempfile::tempdir().unwrap();
        let write = |name: &str, text: &str| fs::write(folder.path().join(name), text).unwrap();
        write("documents.jsonl", "{\"id\": \"d1\", \"text\": \"a\"}\n");
        write("requests.tsv", "q1\ta\n");
        write("qrels.txt", "q1 0 d1 1\n");
        let open = || clariq_tracks::TRACKS.open(&DataDir::Folder(folder.path().into())).unwrap();
        let collection = open();
        let cache = folder.path().join("cache");
        let options = SessionOptions { cache, ..SessionOptions::default() };
        let session = Session::new(&*collection, options.clone()).unwrap();
        let split = collection.splits()[0];
        assert_eq!(only_split(&session), Some(split));
        assert_eq!(only_split(&session.clone().answering(split)), None);
        write("requests.dev.tsv", "q2\ta\n");
        let collection = open();
        assert_eq!(only_split(&Session::new(&*collection, options).unwrap()), None);
    }
}
