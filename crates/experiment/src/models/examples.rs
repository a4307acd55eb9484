//! Training examples of a recipe: labels in numbers, with the negatives that the recipe mines.

use super::resolved;
use crate::session::Session;
use crate::systems::Loaded;
use clariq_collections::clariq::{Bank, ClariQ, Labelled};
use clariq_core::Error;
use clariq_core::{Examples, Location, ModelKind, Models, Problem, ProblemKind, Recipe, Request};
use clariq_rank::{Batch, Override};

/// The labels that a recipe is trained on in numbers, with the candidates that the recipe wants.
/// `models` are those that mining may use.
pub(super) fn collect(
    session: &Session,
    recipe: &Recipe,
    models: &dyn Models,
) -> Result<Examples, Error> {
    if recipe.objective.kind() == ModelKind::ConversationEncoder {
        return resolved::collect(session.collection);
    }
    let clariq = ClariQ::of(session.collection)?;
    let labelled = clariq.training_labels(recipe.train_on)?;
    let bank = &clariq.bank;
    let mut examples = Examples {
        topics: labelled.topics.iter().map(|topic| topic.id.to_string()).collect(),
        requests: labelled.topics.iter().map(|topic| topic.request.clone()).collect(),
        questions: bank.rows().iter().map(|row| row.text.clone()).collect(),
        relevant: vec![Vec::new(); labelled.topics.len()],
        candidates: vec![Vec::new(); labelled.topics.len()],
        conversations: Vec::new(),
    };
    for row in &labelled.rows {
        let question = bank.find(row.question.as_str());
        if let Some(question) = question.filter(|&found| !bank.text(found).is_empty()) {
            examples.relevant[labelled.facets[row.facet].topic].push(question.0);
        }
    }
    if let Some((system, depth)) = recipe.negatives() {
        let system = mining_system(recipe, system, depth)?;
        mine(session, bank, &system, models, &labelled, &mut examples)?;
    }
    Ok(examples)
}

/// The system that negatives are mined with, retrieving as many questions as the recipe wants.
fn mining_system(recipe: &Recipe, name: &str, depth: usize) -> Result<Loaded, Error> {
    let shallow = Loaded::open(name, &[])?;
    let first = shallow.system.pipeline.about().next().map_or("bm25", |stage| stage.name);
    let deeper =
        Override { stage: first.to_owned(), key: "depth".to_owned(), value: depth.to_string() };
    let loaded = Loaded::open(name, &[deeper])?;
    if loaded.system.models().iter().any(|model| *model.name == *recipe.name) {
        let at = Location::file(format!("recipe `{}`", recipe.name));
        let expected = "negatives of a system that needs no such model";
        let found = format!("`{name}`, which asks for `{}` itself", recipe.name);
        return Err(Problem::new(at, ProblemKind::Configuration, expected, found)
            .hint("take the negatives of `bm25-english` or of a system with an untrained model")
            .into());
    }
    Ok(loaded)
}

/// Adds the best questions of a system for each topic that are not relevant.
fn mine(
    session: &Session,
    bank: &Bank,
    loaded: &Loaded,
    models: &dyn Models,
    labelled: &Labelled,
    examples: &mut Examples,
) -> Result<(), Error> {
    let context = session.context().with_models(models);
    let requests: Vec<Request> = labelled.topics.iter().map(Request::from).collect();
    let batch = Batch::new(&context, &requests);
    let rankings = loaded.system.pipeline.run(&batch, batch.unranked())?;
    for (topic, ranking) in rankings.into_iter().enumerate() {
        let relevant = &examples.relevant[topic];
        let negatives = ranking
            .into_iter()
            .map(|hit| hit.doc)
            .filter(|doc| !relevant.contains(&doc.0) && !bank.text(*doc).is_empty());
        examples.candidates[topic] = negatives.map(|doc| doc.0).collect();
    }
    Ok(())
}
