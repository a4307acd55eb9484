//! Rankings of requests as they come, by a system that stays open.

use crate::contexts::Contexts;
use crate::needs::need_model;
use crate::pipelines::{Answered, Block, Pipelines};
use crate::requests::Incoming;
use crate::systems::Loaded;
use clariq_core::Error;
use clariq_core::{Hit, Location, Problem, ProblemKind, Ranking, Request};
use clariq_files::strictly_decreasing;
use clariq_need::Classifier;
use clariq_rank::Uses;

/// A system that is ready to rank.
pub struct Ranker<'a> {
    pipelines: Pipelines<'a>,
    need: Option<Classifier>,
    depth: usize,
}

/// A request with its predicted need, and the documents of each task, best first.
#[derive(Debug, Clone, PartialEq)]
pub struct Ranked {
    /// The request.
    pub request: Request,
    /// For each task of the system, its documents by strictly decreasing score.
    pub rankings: Vec<Vec<RankedDocument>>,
    /// What is answered, where the system answers.
    pub answer: Option<RankedAnswer>,
}

/// A document in a ranking.
#[derive(Debug, Clone, PartialEq)]
pub struct RankedDocument {
    /// Its id; of a statement that came with the request, its number.
    pub id: String,
    /// Its text.
    pub text: String,
    /// The higher, the better.
    pub score: f64,
}

/// An answer, and the ids of what it rests on.
#[derive(Debug, Clone, PartialEq)]
pub struct RankedAnswer {
    /// The text.
    pub text: String,
    /// The statements that it takes into account.
    pub statements: Vec<String>,
    /// The passages that it is made of.
    pub used: Vec<String>,
}

impl<'a> Ranker<'a> {
    /// Opens a system: its need model is trained, its indexes and models are opened. At most
    /// `depth` documents of a task are given for a request. `batch` says that requests come
    /// together; a system that uses the batch is refused without it.
    pub fn new(
        contexts: &'a Contexts<'a>,
        loaded: &'a Loaded,
        depth: usize,
        batch: bool,
    ) -> Result<Self, Error> {
        let system = &loaded.system;
        if system.uses.contains(&Uses::Batch) && !batch {
            let at = Location::file(&system.name);
            let found = "uses = [\"batch\"]: it compares the requests with each other";
            let problem = Problem::new(
                at,
                ProblemKind::Argument,
                "a system that answers one request at a time",
                found,
            );
            return Err(problem.hint("--batch reads all requests and ranks them together").into());
        }
        let models = contexts.models();
        system.models().iter().try_for_each(|model| models.prepare(model))?;
        let pipelines = Pipelines::new(contexts, loaded)?;
        let ranker =
            Self { pipelines, need: need_model(contexts.session(), models, loaded)?, depth };
        ranker.pipelines.rank(&ranker.block(&[]), &|_| {})?;
        Ok(ranker)
    }

    /// The system with its tasks.
    pub fn pipelines(&self) -> &Pipelines<'a> {
        &self.pipelines
    }

    /// Ranks requests together. What a request gets depends on the others only where the system
    /// declares that it uses the batch; to get the same bytes however requests arrive, rank each
    /// by itself.
    pub fn rank(&self, mut incoming: Vec<Incoming>) -> Result<Vec<Ranked>, Error> {
        if let Some(model) = &self.need {
            let openings: Vec<&str> = incoming.iter().map(|one| one.request.opening()).collect();
            let predictions = model.predict(&openings)?;
            for (one, prediction) in incoming.iter_mut().zip(predictions) {
                one.request.need = Some(prediction.need);
            }
        }
        let block = self.block(&incoming);
        let mut all = Vec::with_capacity(incoming.len());
        for (one, found) in incoming.into_iter().zip(self.pipelines.rank(&block, &|_| {})?) {
            let mut rankings = Vec::with_capacity(found.rankings.len());
            for (task, ranking) in found.rankings.into_iter().enumerate() {
                rankings.push(self.documents(&block, task, ranking)?);
            }
            let answer = found.answer.map(|answer| self.answer(&block, answer)).transpose()?;
            all.push(Ranked { request: one.request, rankings, answer });
        }
        Ok(all)
    }

    /// The requests as the tasks see them.
    pub fn block(&self, incoming: &[Incoming]) -> Block {
        let requests = incoming.iter().map(|one| one.request.clone());
        if self.pipelines.answer().is_some() {
            let statements: Vec<_> = incoming.iter().map(|one| one.statements.clone()).collect();
            return Block::of_strangers(requests.collect(), &statements);
        }
        let mut block = Block::default();
        requests.for_each(|request| block.push(vec![request]));
        block
    }

    fn documents(
        &self,
        block: &Block,
        task: usize,
        mut ranking: Ranking,
    ) -> Result<Vec<RankedDocument>, Error> {
        ranking.truncate(self.depth);
        let scores: Vec<f64> = ranking.iter().map(|hit| hit.score).collect();
        let documents = self.pipelines.documents(block, task)?;
        let mut all = Vec::with_capacity(ranking.len());
        for (hit, score) in ranking.iter().zip(strictly_decreasing(&scores)) {
            let text = documents.text(hit.doc)?.into_owned();
            all.push(RankedDocument { id: self.name(block, task, *hit)?, text, score });
        }
        Ok(all)
    }

    /// The id of a document; of a statement, its number.
    fn name(&self, block: &Block, task: usize, hit: Hit) -> Result<String, Error> {
        let id = self.pipelines.documents(block, task)?.id(hit.doc);
        let is_statement = task == 0 && self.pipelines.answer().is_some();
        let number = id.rsplit_once('/').filter(|_| is_statement).map(|(_, number)| number);
        Ok(number.unwrap_or(&id).to_owned())
    }

    fn answer(&self, block: &Block, answer: Answered) -> Result<RankedAnswer, Error> {
        let name = |task, doc| self.name(block, task, Hit { doc, score: 0.0 });
        let statements = answer.statements.iter().map(|hit| name(0, hit.doc));
        Ok(RankedAnswer {
            text: answer.text,
            statements: statements.collect::<Result<_, _>>()?,
            used: answer.used.iter().map(|&doc| name(1, doc)).collect::<Result<_, _>>()?,
        })
    }
}
