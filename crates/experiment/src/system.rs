//! The executor: a system that is open, what it ranks for requests and answers, and why.

use crate::needs;
use crate::plan::{AnswerPlan, CHOSEN, PASSAGES, Plan, STATEMENTS};
use crate::sentences::Sentences;
use crate::session::{Contexts, Session};
use crate::systems::Loaded;
use clariq_collections::documents::{Bank, BankRow};
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
        let requests = self.requests(queries);
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
        let requests = self.requests(queries);
        if let (Plan::Answer(plan), Part::Statements) = (&self.loaded.plan, part) {
            return Ok(self.rank_statements(plan, queries, &requests, &|_| {})?.0);
        }
        run(self.pipeline(part), self.context(part)?, &requests, &|_| {})
    }

    /// Gives requests that have no need the predicted one, where the system predicts any.
    pub(crate) fn predict(&self, requests: &mut [Request]) {
        if let Some(model) = &self.need_model {
            needs::predict(model, requests);
        }
    }

    /// The requests with their needs and what was rewritten, as stages see them.
    fn requests(&self, queries: &[Query]) -> Vec<Request> {
        let mut requests: Vec<Request> =
            queries.iter().map(|query| query.request.clone()).collect();
        self.predict(&mut requests);
        if let Some(rewrites) = &self.loaded.rewrites {
            let collection = self.session().collection;
            for request in &mut requests {
                rewrites.apply(collection, request);
            }
        }
        requests
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
        let mut outcomes = Vec::with_capacity(requests.len());
        let rankings = statements.into_iter().zip(chosen).zip(passages);
        for (request, ((statements, mut chosen), ranking)) in requests.iter().zip(rankings) {
            chosen.truncate(plan.config.statements.count(&chosen));
            // Each request has a bank of its own: how rare a word is among the sentences must not
            // depend on the other requests, some of which are later turns of the conversation.
            let sentences = Sentences::new(&ranking, context.documents, rule)?;
            let over = self.contexts.over(&sentences.bank);
            let ranked = run(&plan.sentences, &over, &[sentences.request(request)], progress)?;
            let (text, used) = sentences.extract(&ranked[0], rule);
            let answer = Some(Answer { text, used, statements, chosen });
            outcomes.push(Outcome { need: request.need, ranking, answer });
        }
        Ok(outcomes)
    }

    /// Ranks the statements of each user, and scores those that an answer rests on. Consecutive
    /// requests of one user are ranked together.
    fn rank_statements(
        &self,
        plan: &AnswerPlan,
        queries: &[Query],
        requests: &[Request],
        progress: Progress,
    ) -> Result<(Vec<Ranking>, Vec<Ranking>)> {
        let (mut statements, mut chosen) = (Vec::new(), Vec::new());
        let mut rest = requests;
        for of_user in queries.chunk_by(|one, next| one.statements == next.statements) {
            let (requests, later) = rest.split_at(of_user.len());
            rest = later;
            let user = self.statements_of(&of_user[0])?;
            let requests: Vec<Request> = requests.iter().map(|one| user.request(one)).collect();
            let context = self.contexts.over(&user.bank);
            let ranked = user.name(run(&plan.statements, &context, &requests, progress)?);
            chosen.extend(match &plan.chosen {
                Some(pipeline) => user.name(run(pipeline, &context, &requests, progress)?),
                None => ranked.clone(),
            });
            statements.extend(ranked);
        }
        Ok((statements, chosen))
    }

    fn statements_of(&self, query: &Query) -> Result<UserStatements> {
        match &query.statements {
            Statements::Own(texts) => Ok(UserStatements::of_texts(texts)),
            Statements::Known(docs) => {
                let documents = self.documents(Part::Statements)?;
                let all = || Doc::all(documents.len()).collect();
                UserStatements::of_documents(documents, docs.clone().unwrap_or_else(all))
            }
        }
    }

    /// Follows a document of a part through the pipelines that rank it.
    pub fn explain(&self, query: &Query, part: Part, doc: Doc) -> Result<Vec<Traces>> {
        let requests = self.requests(slice::from_ref(query));
        let pipeline = self.pipeline(part);
        let (Plan::Answer(plan), Part::Statements) = (&self.loaded.plan, part) else {
            let batch = Batch::new(self.context(part)?, &requests);
            let traces = pipeline.explain(&batch, doc, &Ranking::new())?;
            return Ok(vec![(self.task(part), traces)]);
        };
        let user = self.statements_of(query)?;
        let Some(doc) = user.find(doc) else {
            let found = format!("`{}`", self.documents(part)?.id(doc));
            let hint = "a statement is ranked for the requests of its user alone";
            bail!("DOCUMENT_ID", "a statement of the user of the request", found, hint);
        };
        let requests: Vec<Request> = requests.iter().map(|one| user.request(one)).collect();
        let context = self.contexts.over(&user.bank);
        let batch = Batch::new(&context, &requests);
        let mut all = vec![(self.task(part), pipeline.explain(&batch, doc, &Ranking::new())?)];
        if let Some(chosen) = &plan.chosen {
            all.push((CHOSEN, chosen.explain(&batch, doc, &Ranking::new())?));
        }
        Ok(all)
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

/// The statements of one user as documents of their own, so that the statements of others do not
/// change how rare a word is.
struct UserStatements {
    bank: Bank,
    /// The document that each row of the bank is in rankings, in the order of the rows.
    docs: Vec<Doc>,
}

impl UserStatements {
    /// Texts that came with a request. In rankings they are numbered from 0.
    fn of_texts(texts: &[String]) -> Self {
        let number = |doc: Doc| (doc.index() + 1).to_string();
        let docs = Doc::all(texts.len());
        Self::new(texts.iter().zip(docs).map(|(text, doc)| (number(doc), text.clone(), doc)))
    }

    /// Documents of the collection, which keep their ids.
    fn of_documents(documents: &dyn Documents, docs: Vec<Doc>) -> Result<Self> {
        let mut statements = Vec::with_capacity(docs.len());
        for doc in docs {
            let (id, text) = (documents.id(doc), documents.text(doc)?);
            statements.push((id.into_owned(), text.into_owned(), doc));
        }
        Ok(Self::new(statements))
    }

    fn new(statements: impl IntoIterator<Item = (String, String, Doc)>) -> Self {
        let mut statements: Vec<_> = statements.into_iter().collect();
        // The order of the bank's rows.
        statements.sort_by(|one, other| one.0.cmp(&other.0));
        let docs = statements.iter().map(|(.., doc)| *doc).collect();
        let row = |(id, text, _): (String, String, Doc)| BankRow { id: id.as_str().into(), text };
        Self { bank: Bank::new(statements.into_iter().map(row).collect(), ""), docs }
    }

    /// The request with all statements as candidates, so that a stage cuts none of them off.
    fn request(&self, request: &Request) -> Request {
        let candidates = Some(Doc::all(self.docs.len()).collect());
        Request { candidates, ..request.clone() }
    }

    /// The row of a document of rankings.
    fn find(&self, doc: Doc) -> Option<Doc> {
        let row = self.docs.iter().position(|known| *known == doc)?;
        Some(Doc(row as u32))
    }

    /// Rankings of rows as rankings of the documents that these are.
    fn name(&self, mut rankings: Vec<Ranking>) -> Vec<Ranking> {
        for hit in rankings.iter_mut().flatten() {
            hit.doc = self.docs[hit.doc.index()];
        }
        rankings
    }
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
