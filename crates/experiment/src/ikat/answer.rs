//! What a system answers to every turn of a split.

use super::config::{AnswerConfig, CHOSEN};
use super::sentences::{Extract, Sentences};
use crate::error::Error;
use crate::models::Registry;
use crate::session::Session;
use crate::systems::Loaded;
use clariq_collections::ikat::run::{
    RankedPassage, RankedStatement, Reference, Response, Submission, SubmittedTurn,
};
use clariq_collections::ikat::{Ikat, PASSAGES, STATEMENTS, Split, Year, statement_number};
use clariq_core::{Hit, Models, Ranking, Request};
use clariq_rank::{Batch, Pipeline};
use std::collections::BTreeMap;

/// Who hands a run in, which 2025 asks for.
const TEAM: &str = "clariq";

/// What a system gives for a split, turn by turn in the order of the topics.
pub struct Answers {
    /// The split.
    pub split: Split,
    /// The turns.
    pub turns: Vec<String>,
    /// The statements of the user, best first.
    pub statements: Vec<Ranking>,
    /// The passages, best first.
    pub passages: Vec<Ranking>,
    /// The run as it is handed in.
    pub submission: Submission,
    /// The checksums of the learned models that were asked, by name.
    pub models: BTreeMap<String, Option<String>>,
}

/// Ranks statements and passages and answers, for every turn of a split.
///
/// # Errors
///
/// A system without a table `[answer]`, and whatever ranking reports.
pub fn answer(
    session: &Session,
    ikat: &Ikat,
    loaded: &Loaded,
    split: Split,
) -> Result<Answers, Error> {
    let config = loaded.answer()?;
    let mut work = Work { session, loaded, split, models: BTreeMap::new() };
    let class = config.class();
    let of_users = ikat.requests_for(split, STATEMENTS, class)?;
    let statements = work.rank("statements", &session.clone().on(STATEMENTS)?, &of_users)?;
    let chosen = if loaded.system.tasks.contains_key(CHOSEN) {
        work.rank(CHOSEN, &session.clone().on(STATEMENTS)?, &of_users)?
    } else {
        statements.clone()
    };
    let requests = ikat.requests_for(split, PASSAGES, class)?;
    let passages = work.rank("passages", &session.clone().on(PASSAGES)?, &requests)?;
    let rule = &config.response;
    let sentences = Sentences::new(&requests, &passages, ikat.bank(PASSAGES), rule);
    let over_sentences = Session { documents: &sentences.bank, ..session.clone() };
    let ranked = work.rank("sentences", &over_sentences, &sentences.requests)?;
    let models = work.models;
    let parts = Parts { ikat, config: &config, year: split.year() };
    let mut turns = Vec::with_capacity(requests.len());
    for (index, request) in requests.iter().enumerate() {
        let extract = sentences.extract(&ranked[index], rule);
        turns.push(parts.turn(request, &chosen[index], &passages[index], &extract));
    }
    let submission = Submission {
        year: split.year(),
        run_name: loaded.system.name.clone(),
        run_type: class.run_type(split.year()).to_owned(),
        team: TEAM.to_owned(),
        eval_response: split.year() == Year::Y2024,
        turns,
    };
    let turns = requests.iter().map(|request| request.id.as_str().to_owned()).collect();
    Ok(Answers { split, turns, statements, passages, submission, models })
}

/// The tasks of a system while they are done.
struct Work<'a> {
    session: &'a Session<'a>,
    loaded: &'a Loaded,
    split: Split,
    models: BTreeMap<String, Option<String>>,
}

impl Work<'_> {
    /// Runs the pipeline of a task on the documents of `session`.
    fn rank(
        &mut self,
        task: &str,
        session: &Session,
        requests: &[Request],
    ) -> Result<Vec<Ranking>, Error> {
        let empty = Pipeline { stages: Vec::new() };
        let pipeline = self.loaded.system.tasks.get(task).unwrap_or(&empty);
        // Vectors of documents are kept by the name of their encoder, so every task has its
        // registry.
        let registry = Registry::new(session);
        let models = pipeline.about().flat_map(|stage| stage.models);
        let models: Vec<_> = models.collect();
        models.iter().try_for_each(|model| registry.prepare(model))?;
        let context = session.context().with_models(&registry);
        let title = format!("{} {} {task}", self.loaded.system.name, self.split);
        let steps = requests.len() * pipeline.stages.len();
        let progress = self.session.observer.begin(&title, Some(steps as u64));
        let advance = |finished| progress.advance(finished);
        let batch = Batch { progress: &advance, ..Batch::new(&context, requests) };
        let rankings = pipeline.run(&batch, batch.unranked())?;
        progress.finish(&format!("{} turns", requests.len()));
        for model in models {
            let checksum = registry.checksum(&model.name);
            self.models.insert(model.name, checksum);
        }
        Ok(rankings)
    }
}

/// What turns of a run are made of.
struct Parts<'a> {
    ikat: &'a Ikat,
    config: &'a AnswerConfig,
    year: Year,
}

impl Parts<'_> {
    fn turn(
        &self,
        request: &Request,
        chosen: &[Hit],
        passages: &[Hit],
        extract: &Extract,
    ) -> SubmittedTurn {
        let best = &passages[..passages.len().min(self.config.passages)];
        let response = Response {
            rank: 1,
            text: extract.text.clone(),
            passages: self.passages(best, extract),
            statements: self.statements(chosen),
            line: 0,
        };
        let references = match self.year {
            Year::Y2025 => response.passages.iter().map(reference).collect(),
            _ => Vec::new(),
        };
        let id = request.id.as_str().to_owned();
        SubmittedTurn { id, responses: vec![response], references, line: 0 }
    }

    fn passages(&self, ranking: &[Hit], extract: &Extract) -> Vec<RankedPassage> {
        let bank = self.ikat.bank(PASSAGES);
        let passage = |hit: &Hit| RankedPassage {
            id: bank.id(hit.doc).to_string(),
            text: String::new(),
            score: written_score(hit.score),
            used: extract.used.contains(&hit.doc),
            line: 0,
        };
        ranking.iter().map(passage).collect()
    }

    fn statements(&self, ranking: &[Hit]) -> Vec<RankedStatement> {
        let bank = self.ikat.bank(STATEMENTS);
        let statement = |hit: &Hit| RankedStatement {
            id: statement_number(bank.id(hit.doc).as_str()).to_owned(),
            text: bank.text(hit.doc).to_owned(),
            score: written_score(hit.score),
            line: 0,
        };
        let count = self.config.statements.count(ranking);
        ranking[..count].iter().map(statement).collect()
    }
}

fn reference(passage: &RankedPassage) -> Reference {
    Reference { id: passage.id.clone(), score: passage.score, line: 0 }
}

/// A score in single precision, as the track's parser reads it, by its shortest decimal.
fn written_score(score: f64) -> f64 {
    let single = score as f32 + 0.0;
    single.to_string().parse().unwrap_or_else(|_| single.into())
}
