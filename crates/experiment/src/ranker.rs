//! The executor: an open system, which ranks documents, composes answers, and explains both.

mod outcome;
mod parts;
mod statements;

pub use outcome::{Answer, RankedPart, RankedText, RankerOutcome, Statements, UserRequest};

use crate::needs::{self, NeedPredictor, NeedScope};
use crate::respond::{Material, ResponseWriter};
use crate::session::{Contexts, Session};
use clariq_collections::Task;
use clariq_core::{Doc, Documents, Hit, Models, Progress, Ranking, Request, Result, bail};
use clariq_files::as_written;
use clariq_rank::{Batch, Context, Pipeline, StageTrace};
use clariq_systems::plan::{AnswerPlan, CHOSEN, PASSAGES, STATEMENTS, StatementPlan};
use clariq_systems::{Plan, SystemConfig};
use serde_json::{Map, Value};
use statements::UserStatements;
use std::slice;

/// The statements of a user for a request: the ranking, and the ranking that an answer chooses from.
#[derive(Clone, Default)]
struct RankedStatements {
    ranking: Ranking,
    chosen: Ranking,
}

/// The trace of a document through a pipeline.
pub struct PipelineTrace {
    /// The task that the pipeline ranks for.
    pub task: &'static str,
    /// The effect of each stage.
    pub stages: Vec<StageTrace>,
}

/// An open system with its models.
pub struct Ranker<'a> {
    contexts: &'a Contexts<'a>,
    /// The configuration that it was opened from.
    pub config: &'a SystemConfig,
    pub(crate) need_model: Option<NeedPredictor>,
    /// The checksums of its models by name.
    pub(crate) weights: Map<String, Value>,
}

impl<'a> Ranker<'a> {
    /// Opens a system whose models were trained before; [`open_system`](crate::open_system) trains
    /// missing ones.
    pub(crate) fn open(
        contexts: &'a Contexts<'a>,
        config: &'a SystemConfig,
        predict: NeedScope,
    ) -> Result<Self> {
        let session = contexts.session;
        let mut weights = Map::new();
        for model in config.models() {
            weights.insert(model.label(), session.open(&model)?.checksum().as_str().into());
        }
        let need_model = needs::open(session, config, predict)?;
        let system = Self { contexts, config, need_model, weights };
        system.context(RankedPart::Documents)?;
        if session.engine.is_none() && config.needs_models() {
            // Another program must index the documents if none has: before a request is read.
            system.warm_up()?;
        }
        Ok(system)
    }

    /// Opens indexes and vectors of the documents before the first request.
    pub fn warm_up(&self) -> Result<()> {
        let part = RankedPart::Documents;
        run(self.pipeline(part), self.context(part)?, &[], &|_| {}).map(drop)
    }

    /// The session, with its collection, options and models.
    pub fn session(&self) -> &'a Session<'a> {
        self.contexts.session
    }

    /// The kinds of documents that it ranks.
    pub fn parts(&self) -> &'static [RankedPart] {
        match self.config.plan {
            Plan::Answer(_) if self.config.ranks_statements() => {
                &[RankedPart::Statements, RankedPart::Documents]
            }
            Plan::Rank(_) | Plan::Answer(_) => &[RankedPart::Documents],
        }
    }

    /// The name of the task that a part belongs to.
    pub fn task_name(&self, part: RankedPart) -> &'static str {
        let Session { collection, task, .. } = self.session();
        match (part, &self.config.plan) {
            (RankedPart::Statements, _) => STATEMENTS,
            (RankedPart::Documents, Plan::Answer(_)) => {
                collection.find_task(PASSAGES).unwrap_or(*task).name()
            }
            (RankedPart::Documents, Plan::Rank(_)) => task.name(),
        }
    }

    /// The task of the collection that a part belongs to.
    ///
    /// # Errors
    ///
    /// Statements, if the collection has none: they come with the requests.
    pub fn task(&self, part: RankedPart) -> Result<Task> {
        Ok(self.session().collection.find_task(self.task_name(part))?)
    }

    fn pipeline(&self, part: RankedPart) -> &'a Pipeline {
        match (&self.config.plan, part) {
            (Plan::Rank(pipeline), _) => pipeline,
            (Plan::Answer(plan), RankedPart::Documents) => &plan.passages,
            (Plan::Answer(plan), RankedPart::Statements) => {
                plan.statements.as_ref().map_or(&plan.passages, |part| &part.ranked)
            }
        }
    }

    pub(crate) fn context(&self, part: RankedPart) -> Result<&Context<'a>> {
        self.contexts.of(self.task(part)?)
    }

    /// The documents of the collection that are ranked in a part.
    pub fn documents(&self, part: RankedPart) -> Result<&'a dyn Documents> {
        Ok(self.context(part)?.documents)
    }

    /// Ranks documents, and answers if the system does. The result of a request depends on the other
    /// requests only if the system uses the batch.
    pub fn rank(&self, queries: &[UserRequest]) -> Result<Vec<RankerOutcome>> {
        let outcomes = self.rank_counting(queries, &|_| {})?;
        self.session().report_answers();
        Ok(outcomes)
    }

    /// Ranks as [`Ranker::rank`] does, and leaves counts of answers for a later report. `progress`
    /// counts (request, stage) pairs.
    pub(crate) fn rank_counting(
        &self,
        queries: &[UserRequest],
        progress: Progress,
    ) -> Result<Vec<RankerOutcome>> {
        let requests = self.requests(queries)?;
        let outcomes = match &self.config.plan {
            Plan::Answer(plan) => self.answer(plan, queries, &requests, progress)?,
            Plan::Rank(pipeline) => {
                let rankings =
                    self.run_in_parts(pipeline, RankedPart::Documents, &requests, progress)?;
                let mut outcomes = Vec::with_capacity(requests.len());
                for (request, ranking) in requests.iter().zip(rankings) {
                    outcomes.push(RankerOutcome { need: request.need, ranking, answer: None });
                }
                outcomes
            }
        };
        let session = self.session();
        session.models.report_cut(session.observer);
        Ok(outcomes)
    }

    pub(crate) fn rank_part(
        &self,
        queries: &[UserRequest],
        part: RankedPart,
    ) -> Result<Vec<Ranking>> {
        let requests = self.requests(queries)?;
        if let (Plan::Answer(plan), RankedPart::Statements) = (&self.config.plan, part)
            && let Some(plan) = &plan.statements
        {
            let statements = self.rank_statements(plan, queries, &requests, &|_| {})?;
            return Ok(statements.into_iter().map(|statements| statements.ranking).collect());
        }
        self.run_in_parts(self.pipeline(part), part, &requests, &|_| {})
    }

    /// The clarifying question that is written for a request, in a system whose requests are such
    /// questions.
    pub(crate) fn written_question(&self, query: &UserRequest) -> Result<Option<String>> {
        let Plan::Rank(pipeline) = &self.config.plan else { return Ok(None) };
        let requests = self.requests(slice::from_ref(query))?;
        pipeline.question(&Batch::new(self.context(RankedPart::Documents)?, &requests))
    }

    /// Predicts the needs of requests that have none, if the system has a need model.
    pub(crate) fn predict(&self, requests: &mut [Request]) -> Result<()> {
        match &self.need_model {
            Some(model) => needs::predict(model, self.session(), requests),
            None => Ok(()),
        }
    }

    /// The requests with predicted needs, resolved utterances and, for prompts, the statements of their
    /// users.
    fn requests(&self, queries: &[UserRequest]) -> Result<Vec<Request>> {
        let mut requests = Vec::with_capacity(queries.len());
        for query in queries {
            let statements = self.statement_texts(query)?;
            requests.push(Request { statements, ..query.request.clone() });
        }
        self.predict(&mut requests)?;
        self.config.apply_rewrites(self.session().collection, &mut requests);
        Ok(requests)
    }

    /// The statements of a request's user, if the system has prompts and they are known.
    fn statement_texts(&self, query: &UserRequest) -> Result<Vec<String>> {
        if !self.config.ranks_statements() || self.config.plan.prompts().is_empty() {
            return Ok(Vec::new());
        }
        match &query.statements {
            Statements::Own(texts) => Ok(texts.clone()),
            Statements::Known(None) => Ok(Vec::new()),
            Statements::Known(Some(docs)) => {
                let documents = self.documents(RankedPart::Statements)?;
                docs.iter().map(|doc| Ok(documents.text(*doc)?.into_owned())).collect()
            }
        }
    }

    fn answer(
        &self,
        plan: &AnswerPlan,
        queries: &[UserRequest],
        requests: &[Request],
        progress: Progress,
    ) -> Result<Vec<RankerOutcome>> {
        let statements = match &plan.statements {
            Some(plan) => self.rank_statements(plan, queries, requests, progress)?,
            None => vec![RankedStatements::default(); requests.len()],
        };
        let passages =
            self.run_in_parts(&plan.passages, RankedPart::Documents, requests, progress)?;
        let mut materials = Vec::with_capacity(requests.len());
        let mut asks = Vec::with_capacity(requests.len());
        for (request, passages) in requests.iter().zip(&passages) {
            materials.push(Material { request, passages });
            asks.push(plan.ask.as_ref().and_then(|ask| ask.reason(request, passages)));
        }
        let context = self.context(RankedPart::Documents)?;
        let writer = ResponseWriter { contexts: self.contexts, context, plan, progress };
        let responses = writer.write(&materials, &asks)?;
        let mut outcomes = Vec::with_capacity(requests.len());
        for (index, (ranking, responses)) in passages.into_iter().zip(responses).enumerate() {
            let RankedStatements { ranking: statements, mut chosen } = statements[index].clone();
            let rule = plan.statements.as_ref().and_then(|statements| statements.rule);
            chosen.truncate(rule.map_or(0, |rule| rule.count(&chosen)));
            let answer = Answer { responses, asks: asks[index].clone(), statements, chosen };
            let need = requests[index].need;
            outcomes.push(RankerOutcome { need, ranking, answer: Some(answer) });
        }
        Ok(outcomes)
    }

    /// Ranks the statements of each user, and scores them for the choice of an answer. Consecutive
    /// requests of one user are ranked together.
    fn rank_statements(
        &self,
        plan: &StatementPlan,
        queries: &[UserRequest],
        requests: &[Request],
        progress: Progress,
    ) -> Result<Vec<RankedStatements>> {
        let mut statements = Vec::with_capacity(requests.len());
        let mut rest = requests;
        for of_user in queries.chunk_by(|query, next| query.statements == next.statements) {
            let (requests, later) = rest.split_at(of_user.len());
            rest = later;
            let user = self.statements_of(&of_user[0])?;
            let requests: Vec<Request> =
                requests.iter().map(|request| user.request(request)).collect();
            let context = self.contexts.over(&user.bank);
            let rankings = user.to_docs(run(&plan.ranked, &context, &requests, progress)?);
            let chosen = match &plan.chosen {
                Some(pipeline) => user.to_docs(run(pipeline, &context, &requests, progress)?),
                None => rankings.clone(),
            };
            for (ranking, chosen) in rankings.into_iter().zip(chosen) {
                statements.push(RankedStatements { ranking, chosen });
            }
        }
        Ok(statements)
    }

    fn statements_of(&self, query: &UserRequest) -> Result<UserStatements> {
        match &query.statements {
            Statements::Own(texts) => Ok(UserStatements::of_texts(texts)),
            Statements::Known(docs) => {
                let documents = self.documents(RankedPart::Statements)?;
                let all = || Doc::all(documents.len()).collect();
                UserStatements::of_documents(documents, docs.clone().unwrap_or_else(all))
            }
        }
    }

    /// Traces a document through the pipelines that rank it.
    pub fn explain(
        &self,
        query: &UserRequest,
        part: RankedPart,
        doc: Doc,
    ) -> Result<Vec<PipelineTrace>> {
        let requests = self.requests(slice::from_ref(query))?;
        let pipeline = self.pipeline(part);
        let statements = match (&self.config.plan, part) {
            (Plan::Answer(plan), RankedPart::Statements) => plan.statements.as_ref(),
            _ => None,
        };
        let Some(plan) = statements else {
            let collection = self.session().collection;
            let own = collection.part_of(self.task(part)?, query.request.id.as_str());
            let context = match own {
                Some(own) => self.contexts.of(own.task)?,
                None => self.context(part)?,
            };
            let first = own.map_or(0, |own| own.first);
            let count = context.documents.len() as u32;
            let requests = [parts::within(&requests[0], first, count)];
            let own_doc = doc.0.checked_sub(first).filter(|doc| *doc < count).map(Doc);
            let Some(doc) = own_doc else {
                let found = format!("`{}`", self.documents(part)?.id(doc));
                let hint = "each request is answered from the documents of its own domain";
                bail!("DOCUMENT_ID", "a document of the domain of the request", found, hint);
            };
            let batch = Batch::new(context, &requests);
            let stages = pipeline.explain(&batch, doc, &Ranking::new())?;
            self.session().report_answers();
            return Ok(vec![PipelineTrace { task: self.task_name(part), stages }]);
        };
        let user = self.statements_of(query)?;
        let Some(doc) = user.find(doc) else {
            let found = format!("`{}`", self.documents(part)?.id(doc));
            let hint = "a statement is only ranked for the requests of its user";
            bail!("DOCUMENT_ID", "a statement of the user of the request", found, hint);
        };
        let requests: Vec<Request> = requests.iter().map(|request| user.request(request)).collect();
        let context = self.contexts.over(&user.bank);
        let batch = Batch::new(&context, &requests);
        let stages = pipeline.explain(&batch, doc, &Ranking::new())?;
        let mut all = vec![PipelineTrace { task: self.task_name(part), stages }];
        if let Some(chosen) = &plan.chosen {
            let stages = chosen.explain(&batch, doc, &Ranking::new())?;
            all.push(PipelineTrace { task: CHOSEN, stages });
        }
        self.session().report_answers();
        Ok(all)
    }

    /// The documents of a ranking with their texts, and with scores that strictly decrease.
    pub fn list(
        &self,
        query: &UserRequest,
        part: RankedPart,
        ranking: &[Hit],
    ) -> Result<Vec<RankedText>> {
        let mut all = Vec::with_capacity(ranking.len());
        for Hit { doc, score } in as_written(ranking) {
            let text = match &query.statements {
                Statements::Own(texts) if part == RankedPart::Statements => {
                    texts[doc.index()].clone()
                }
                _ => self.documents(part)?.text(doc)?.into_owned(),
            };
            all.push(RankedText { id: self.name(query, part, doc)?, text, score });
        }
        Ok(all)
    }

    /// The id of a document, or the number of a statement.
    pub fn name(&self, query: &UserRequest, part: RankedPart, doc: Doc) -> Result<String> {
        if matches!((&query.statements, part), (Statements::Own(_), RankedPart::Statements)) {
            return Ok((doc.index() + 1).to_string());
        }
        let id = self.documents(part)?.id(doc);
        let collection = self.session().collection;
        let request = query.request.id.as_str();
        Ok(match part {
            RankedPart::Statements => {
                collection.name_in_runs(request, self.task(part)?, &id).into_owned()
            }
            RankedPart::Documents => id.into_owned(),
        })
    }
}

/// Runs a pipeline over requests without rankings so far.
fn run(
    pipeline: &Pipeline,
    context: &Context,
    requests: &[Request],
    progress: Progress,
) -> Result<Vec<Ranking>> {
    let batch = Batch { progress, ..Batch::new(context, requests) };
    pipeline.run(&batch, batch.unranked())
}
