//! The executor: a system that is open, what it ranks for requests and answers, and why.

use crate::needs;
use crate::plan::{AnswerPlan, CHOSEN, PASSAGES, Plan, STATEMENTS};
use crate::sentences::Sentences;
use crate::session::{Contexts, Session};
use crate::systems::Loaded;
use clariq_collections::{Bank, BankRow};
use clariq_core::{Doc, Documents, Hit, Need, Progress, Ranking, Request, Result, bail};
use clariq_files::strictly_decreasing;
use clariq_need::Classifier;
use clariq_rank::{Batch, Context, Pipeline, StageTrace};
use serde::Serialize;
use serde_json::{Map, Value};
use std::slice;

/// A request, with the statements of its user.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Query {
    /// The request.
    pub request: Request,
    /// What its user says of themselves; only a system that answers looks at it.
    pub statements: Statements,
}

/// What a user says of themselves.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Statements {
    /// Documents of the collection, in ascending order; `None` for all of them.
    Known(Option<Vec<Doc>>),
    /// Texts of a user whom the collection need not know.
    Own(Vec<String>),
}

impl Query {
    /// A request of nobody: a system that answers it works, and a later error is about a request.
    pub fn of_nobody() -> Self {
        Self { request: Request::new("0", "hello"), statements: Statements::Own(Vec::new()) }
    }
}

impl From<Request> for Query {
    fn from(request: Request) -> Self {
        Self { request, statements: Statements::Known(None) }
    }
}

/// What a system finds for a request.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Outcome {
    /// The need that was predicted for the request, where any was.
    pub need: Option<Need>,
    /// The documents of [`Part::Documents`], best first.
    pub ranking: Ranking,
    /// What the system answers, where it does.
    pub answer: Option<Answer>,
}

/// An answer, and what it rests on.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Answer {
    /// The text.
    pub text: String,
    /// The passages that its sentences come from.
    pub used: Vec<Doc>,
    /// The user's statements, best first; of [`Statements::Own`], by their numbers from 0.
    pub statements: Ranking,
    /// Those that it takes into account, best first.
    pub chosen: Ranking,
}

/// What a system ranks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Part {
    /// The statements of the user; only in a system that answers.
    Statements,
    /// The documents of the collection; passages in a system that answers.
    Documents,
}

/// A document in a ranking, as it is shown.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Listed {
    /// Its id; of a statement, its number.
    pub id: String,
    /// Its text.
    pub text: String,
    /// The higher, the better.
    pub score: f64,
}

/// What each stage of a pipeline did to a document, and the task of the pipeline.
pub type Traces = (&'static str, Vec<StageTrace>);

/// A system that is open: its models are there, and its need model is trained.
pub struct System<'a> {
    pub(crate) contexts: &'a Contexts<'a>,
    /// What it was opened from.
    pub loaded: &'a Loaded,
    pub(crate) need_model: Option<Box<Classifier>>,
    /// The checksums of its models by name.
    pub(crate) weights: Map<String, Value>,
}

impl<'a> System<'a> {
    /// Opens indexes and vectors of the documents before the first request.
    pub fn warm_up(&self) -> Result<()> {
        let part = Part::Documents;
        run(self.pipeline(part), self.context(part)?, &[], &|_| {}).map(drop)
    }

    /// What it was opened in.
    pub fn session(&self) -> &'a Session<'a> {
        self.contexts.session
    }

    /// What it ranks.
    pub fn parts(&self) -> &'static [Part] {
        match self.loaded.plan {
            Plan::Rank(_) => &[Part::Documents],
            Plan::Answer(_) => &[Part::Statements, Part::Documents],
        }
    }

    /// The task of the collection that a part belongs to.
    pub fn task(&self, part: Part) -> &'static str {
        let tasks = self.session().collection.tasks();
        match (part, &self.loaded.plan) {
            (Part::Statements, _) => STATEMENTS,
            (Part::Documents, Plan::Answer(_)) if tasks.contains(&PASSAGES) => PASSAGES,
            (Part::Documents, _) => self.session().task,
        }
    }

    fn pipeline(&self, part: Part) -> &'a Pipeline {
        match (&self.loaded.plan, part) {
            (Plan::Rank(pipeline), _) => pipeline,
            (Plan::Answer(plan), Part::Statements) => &plan.statements,
            (Plan::Answer(plan), Part::Documents) => &plan.passages,
        }
    }

    pub(crate) fn context(&self, part: Part) -> Result<&Context<'a>> {
        self.contexts.of(self.task(part))
    }

    /// The documents of the collection that are ranked in a part.
    pub fn documents(&self, part: Part) -> Result<&'a dyn Documents> {
        Ok(self.context(part)?.documents)
    }

    /// Ranks, and answers where the system does. What a request gets depends on the others only
    /// where the system uses the batch; for the same bytes however requests arrive, rank each by
    /// itself.
    pub fn rank(&self, queries: &[Query]) -> Result<Vec<Outcome>> {
        self.rank_counting(queries, &|_| {})
    }

    /// Ranks as [`System::rank`] does; `progress` counts (request, stage) pairs.
    pub fn rank_counting(&self, queries: &[Query], progress: Progress) -> Result<Vec<Outcome>> {
        let requests = self.requests(queries)?;
        let outcomes = match &self.loaded.plan {
            Plan::Answer(plan) => self.answer(plan, queries, &requests, progress)?,
            Plan::Rank(pipeline) => {
                let rankings = run(pipeline, self.context(Part::Documents)?, &requests, progress)?;
                let outcome = |(request, ranking): (&Request, _)| {
                    let need = request.need;
                    Outcome { need, ranking, answer: None }
                };
                requests.iter().zip(rankings).map(outcome).collect()
            }
        };
        let session = self.session();
        session.models.report_cut(session.observer);
        Ok(outcomes)
    }

    pub(crate) fn rank_part(&self, queries: &[Query], part: Part) -> Result<Vec<Ranking>> {
        let requests = self.requests(queries)?;
        if let (Plan::Answer(plan), Part::Statements) = (&self.loaded.plan, part) {
            return Ok(self.rank_statements(plan, queries, &requests, &|_| {})?.0);
        }
        run(self.pipeline(part), self.context(part)?, &requests, &|_| {})
    }

    /// Gives requests that have no need the predicted one, where the system predicts any.
    pub(crate) fn predict(&self, requests: &mut [Request]) -> Result<()> {
        self.need_model.as_ref().map_or(Ok(()), |model| needs::predict(model, requests))
    }

    /// The requests with their needs and what was rewritten, as stages see them.
    fn requests(&self, queries: &[Query]) -> Result<Vec<Request>> {
        let mut requests: Vec<Request> =
            queries.iter().map(|query| query.request.clone()).collect();
        self.predict(&mut requests)?;
        if let Some(rewrites) = &self.loaded.rewrites {
            let collection = self.session().collection;
            for request in &mut requests {
                rewrites.apply(collection, request);
            }
        }
        Ok(requests)
    }

    fn answer(
        &self,
        plan: &AnswerPlan,
        queries: &[Query],
        requests: &[Request],
        progress: Progress,
    ) -> Result<Vec<Outcome>> {
        let (statements, chosen) = self.rank_statements(plan, queries, requests, progress)?;
        let (context, rule) = (self.context(Part::Documents)?, &plan.config.response);
        let passages = run(&plan.passages, context, requests, progress)?;
        let sentences = Sentences::new(requests, &passages, context.documents, rule)?;
        let over = self.contexts.over(&sentences.bank);
        let ranked = run(&plan.sentences, &over, &sentences.requests, progress)?;
        let mut all = Vec::with_capacity(requests.len());
        let rankings = statements.into_iter().zip(chosen).zip(passages).zip(&ranked);
        for ((((statements, mut chosen), ranking), ranked), request) in rankings.zip(requests) {
            chosen.truncate(plan.config.statements.count(&chosen));
            let (text, used) = sentences.extract(ranked, rule);
            let answer = Some(Answer { text, used, statements, chosen });
            all.push(Outcome { need: request.need, ranking, answer });
        }
        Ok(all)
    }

    fn rank_statements(
        &self,
        plan: &AnswerPlan,
        queries: &[Query],
        requests: &[Request],
        progress: Progress,
    ) -> Result<(Vec<Ranking>, Vec<Ranking>)> {
        let asked = AskedStatements::new(queries, requests)?;
        let own = asked.own.as_ref().map(|bank| self.contexts.over(bank));
        let context = own.as_ref().map_or_else(|| self.context(Part::Statements), Ok)?;
        let rank = |pipeline| run(pipeline, context, &asked.requests, progress);
        let statements = rank(&plan.statements)?;
        let chosen = plan.chosen.as_ref().map(rank).transpose()?;
        let statements = asked.number(statements);
        let chosen = chosen.map_or_else(|| statements.clone(), |chosen| asked.number(chosen));
        Ok((statements, chosen))
    }

    /// Follows a document of a part through the pipelines that rank it.
    pub fn explain(&self, query: &Query, part: Part, doc: Doc) -> Result<Vec<Traces>> {
        let queries = slice::from_ref(query);
        let requests = self.requests(queries)?;
        let (asked, chosen) = match (&self.loaded.plan, part) {
            (Plan::Answer(plan), Part::Statements) => {
                (AskedStatements::new(queries, &requests)?, plan.chosen.as_ref())
            }
            _ => (AskedStatements { requests, own: None }, None),
        };
        let own = asked.own.as_ref().map(|bank| self.contexts.over(bank));
        let context = own.as_ref().map_or_else(|| self.context(part), Ok)?;
        let of_own = asked.own.as_ref().and_then(|bank| bank.find(&own_id(0, doc.index())));
        let (doc, batch) = (of_own.unwrap_or(doc), Batch::new(context, &asked.requests));
        let pipelines = [(self.task(part), Some(self.pipeline(part))), (CHOSEN, chosen)];
        let there = pipelines.into_iter().filter_map(|(task, pipeline)| Some((task, pipeline?)));
        there
            .map(|(task, pipeline)| Ok((task, pipeline.explain(&batch, doc, &Ranking::new())?)))
            .collect()
    }

    /// Documents of a part as they are shown, with scores that strictly decrease.
    pub fn list(&self, query: &Query, part: Part, ranking: &[Hit]) -> Result<Vec<Listed>> {
        let scores: Vec<f64> = ranking.iter().map(|hit| hit.score).collect();
        let mut all = Vec::with_capacity(ranking.len());
        for (hit, score) in ranking.iter().zip(strictly_decreasing(&scores)) {
            let text = match &query.statements {
                Statements::Own(texts) if part == Part::Statements => {
                    texts[hit.doc.index()].clone()
                }
                _ => self.documents(part)?.text(hit.doc)?.into_owned(),
            };
            all.push(Listed { id: self.name(query, part, hit.doc)?, text, score });
        }
        Ok(all)
    }

    /// What a document of a part is called; of a statement, its number.
    pub fn name(&self, query: &Query, part: Part, doc: Doc) -> Result<String> {
        if matches!((&query.statements, part), (Statements::Own(_), Part::Statements)) {
            return Ok((doc.index() + 1).to_string());
        }
        let id = self.documents(part)?.id(doc);
        let (collection, request) = (self.session().collection, query.request.id.as_str());
        Ok(match part {
            Part::Statements => collection.name_in_runs(request, STATEMENTS, &id).into_owned(),
            Part::Documents => id.into_owned(),
        })
    }
}

/// Requests as the pipelines of statements see them: with their users' statements as candidates.
struct AskedStatements {
    requests: Vec<Request>,
    /// The statements, where the collection does not have them.
    own: Option<Bank>,
}

impl AskedStatements {
    fn new(queries: &[Query], requests: &[Request]) -> Result<Self> {
        let (mut rows, mut count) = (Vec::new(), 0);
        for (user, query) in queries.iter().enumerate() {
            if let Statements::Own(texts) = &query.statements {
                count += 1;
                rows.extend(texts.iter().enumerate().map(|(number, text)| BankRow {
                    id: own_id(user, number).as_str().into(),
                    text: text.clone(),
                }));
            }
        }
        if (1..queries.len()).contains(&count) {
            let expected = "statements of the collection or texts, for all requests alike";
            let hint = "rank the two kinds of requests one after the other";
            bail!("statements", expected, "both", hint);
        }
        // For no request at all, the collection need not have statements either.
        let own = (count == queries.len()).then(|| Bank::new(rows, ""));
        let mut with_own = Vec::with_capacity(requests.len());
        for (user, (query, request)) in queries.iter().zip(requests).enumerate() {
            let candidates = match (&query.statements, &own) {
                (Statements::Own(texts), Some(bank)) => {
                    let find = |number| bank.find(&own_id(user, number));
                    let mut docs: Vec<Doc> = (0..texts.len()).filter_map(find).collect();
                    docs.sort_unstable();
                    Some(docs)
                }
                (Statements::Known(docs), _) => docs.clone(),
                (Statements::Own(_), None) => None,
            };
            with_own.push(Request { candidates, ..request.clone() });
        }
        Ok(Self { requests: with_own, own })
    }

    /// The rankings, with the numbers of the user's texts in place of documents.
    fn number(&self, mut rankings: Vec<Ranking>) -> Vec<Ranking> {
        if let Some(bank) = &self.own {
            for hit in rankings.iter_mut().flatten() {
                let number = bank.id(hit.doc).as_str().rsplit_once('/');
                let number = number.and_then(|(_, number)| number.parse::<u32>().ok());
                hit.doc = number.map_or(hit.doc, |number| Doc(number - 1));
            }
        }
        rankings
    }
}

/// The id of a text in the bank of all that came with requests; texts are numbered from 1.
fn own_id(user: usize, index: usize) -> String {
    format!("{user:08}/{}", index + 1)
}

/// Runs a pipeline; where there is no document at all, nothing is ranked.
fn run(
    pipeline: &Pipeline,
    context: &Context,
    requests: &[Request],
    progress: Progress,
) -> Result<Vec<Ranking>> {
    let batch = Batch { progress, ..Batch::new(context, requests) };
    if context.documents.is_empty() {
        return Ok(batch.unranked());
    }
    pipeline.run(&batch, batch.unranked())
}
