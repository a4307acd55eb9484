//! Rankings of requests as they come, by a system that stays open.

use crate::error::Error;
use crate::needs::need_model;
use crate::session::Session;
use crate::systems::Loaded;
use clariq_core::{Hit, Location, Problem, ProblemKind, Request};
use clariq_files::strictly_decreasing;
use clariq_need::Classifier;
use clariq_rank::{Batch, Context, System, Uses};

/// A system that is ready to rank.
pub struct Ranker<'a> {
    context: &'a Context<'a>,
    system: &'a System,
    need: Option<Classifier>,
    depth: usize,
}

/// A request with its predicted need, and its documents, best first, by strictly decreasing score.
#[derive(Debug, Clone, PartialEq)]
pub struct Ranked {
    /// The request.
    pub request: Request,
    /// At most as many documents as were asked for.
    pub hits: Vec<Hit>,
}

impl<'a> Ranker<'a> {
    /// Opens a system: its need model is trained, its indexes and models are opened. `batch` says
    /// that requests come together; a system that uses the batch is refused without it.
    pub fn new(
        session: &Session,
        context: &'a Context<'a>,
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
        system.models().iter().try_for_each(|model| context.models.prepare(model))?;
        let need = need_model(session, context, system)?;
        let none = Batch::new(context, &[]);
        system.pipeline.run(&none, none.unranked())?;
        Ok(Self { context, system, need, depth })
    }

    /// Ranks requests together. What a request gets depends on the others only where the system
    /// declares that it uses the batch; to get the same bytes however requests arrive, rank each
    /// by itself.
    pub fn rank(&self, mut requests: Vec<Request>) -> Result<Vec<Ranked>, Error> {
        if let Some(model) = &self.need {
            let openings: Vec<&str> = requests.iter().map(Request::opening).collect();
            let predictions = model.predict(&openings)?;
            for (request, prediction) in requests.iter_mut().zip(predictions) {
                request.need = Some(prediction.need);
            }
        }
        let batch = Batch::new(self.context, &requests);
        let rankings = self.system.pipeline.run(&batch, batch.unranked())?;
        let cut = |(request, mut hits): (Request, Vec<Hit>)| {
            hits.truncate(self.depth);
            let scores: Vec<f64> = hits.iter().map(|hit| hit.score).collect();
            for (hit, score) in hits.iter_mut().zip(strictly_decreasing(&scores)) {
                hit.score = score;
            }
            Ranked { request, hits }
        };
        Ok(requests.into_iter().zip(rankings).map(cut).collect())
    }
}
