//! What a system does with requests: it ranks by one pipeline, or by one for each task and answers.

use crate::answers::{AnswerConfig, CHOSEN, PASSAGES, SENTENCES, STATEMENTS, Sentences};
use crate::contexts::Contexts;
use crate::systems::Loaded;
use clariq_collections::{Bank, BankRow};
use clariq_core::Error;
use clariq_core::{Doc, Documents, Need, Progress, Ranking, Request};
use clariq_rank::{Batch, Context, Pipeline, StageTrace, System};

/// A request once for each task of a system, with the documents of its own in that task.
pub type Asked = Vec<Request>;

/// Requests that are ranked together.
#[derive(Debug, Default)]
pub struct Block {
    /// For each task, the requests in the same order.
    tasks: Vec<Vec<Request>>,
    /// The statements of users that the collection does not have, in place of those that it has.
    statements: Option<Bank>,
}

/// What a system finds for a request.
#[derive(Debug, Clone, Default)]
pub struct Found {
    /// A ranking for each of its tasks, in the order of [`Pipelines::tasks`].
    pub rankings: Vec<Ranking>,
    /// What it answers, where it does.
    pub answer: Option<Answered>,
}

/// An answer, and what it rests on.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Answered {
    /// The text.
    pub text: String,
    /// The passages that its sentences are of.
    pub used: Vec<Doc>,
    /// The statements that it takes into account, best first.
    pub statements: Ranking,
    /// The passages that are handed in, best first.
    pub passages: Ranking,
}

/// A system over the contexts of its tasks.
pub struct Pipelines<'a> {
    contexts: &'a Contexts<'a>,
    system: &'a System,
    answer: Option<&'a AnswerConfig>,
}

impl Block {
    /// A block of requests with what their users say of themselves, for a system that ranks
    /// statements: the collection need not know these users.
    pub fn of_strangers(requests: Vec<Request>, statements: &[Vec<String>]) -> Self {
        let mut rows = Vec::new();
        for (user, statements) in statements.iter().enumerate() {
            rows.extend((1..).zip(statements).map(|(number, text)| BankRow {
                id: format!("{user:08}/{number}").as_str().into(),
                text: text.clone(),
            }));
        }
        let bank = Bank::new(rows, "");
        let mut with_own = Vec::with_capacity(requests.len());
        for (user, (request, statements)) in requests.iter().zip(statements).enumerate() {
            let find = |number: usize| bank.find(&format!("{user:08}/{number}"));
            let mut own: Vec<Doc> = (1..=statements.len()).filter_map(find).collect();
            own.sort_unstable();
            with_own.push(Request { candidates: Some(own), ..request.clone() });
        }
        Self { tasks: vec![with_own, requests], statements: Some(bank) }
    }

    /// A block of the requests of each task, with their predicted needs where there are any.
    pub(crate) fn of_tasks(mut tasks: Vec<Vec<Request>>, needs: Option<&[Need]>) -> Self {
        for requests in &mut tasks {
            let needs = needs.unwrap_or_default();
            requests.iter_mut().zip(needs).for_each(|(request, &need)| request.need = Some(need));
        }
        Self { tasks, statements: None }
    }

    /// Adds a request.
    pub fn push(&mut self, asked: Asked) {
        self.tasks.resize_with(asked.len().max(self.tasks.len()), Vec::new);
        self.tasks.iter_mut().zip(asked).for_each(|(all, request)| all.push(request));
    }

    /// The number of requests.
    pub fn len(&self) -> usize {
        self.requests().len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.requests().is_empty()
    }

    /// The requests as the last of the tasks sees them, which is the usual one.
    pub fn requests(&self) -> &[Request] {
        self.of(self.tasks.len().saturating_sub(1))
    }

    /// The same, to complete them; only in a system of one task.
    pub(crate) fn requests_mut(&mut self) -> &mut [Request] {
        self.tasks.last_mut().map_or(&mut [], Vec::as_mut_slice)
    }

    fn of(&self, task: usize) -> &[Request] {
        self.tasks.get(task).map_or(&[], Vec::as_slice)
    }
}

impl<'a> Pipelines<'a> {
    /// A system on the tasks of a collection.
    ///
    /// # Errors
    ///
    /// A collection that lacks a task of the system, or documents for it.
    pub fn new(contexts: &'a Contexts<'a>, loaded: &'a Loaded) -> Result<Self, Error> {
        loaded.check_tasks(contexts.session().collection)?;
        let pipelines = Self { contexts, system: &loaded.system, answer: loaded.answer.as_ref() };
        for task in pipelines.tasks() {
            contexts.of(task)?;
        }
        Ok(pipelines)
    }

    /// The system.
    pub fn system(&self) -> &'a System {
        self.system
    }

    /// How it answers, if it does.
    pub fn answer(&self) -> Option<&'a AnswerConfig> {
        self.answer
    }

    /// The tasks that it ranks documents for.
    pub fn tasks(&self) -> Vec<&'static str> {
        match self.answer {
            Some(_) => vec![STATEMENTS, PASSAGES],
            None => vec![self.contexts.session().task],
        }
    }

    /// The documents of the task number `task`, one of [`Pipelines::tasks`], for a block.
    pub fn documents<'b>(
        &'b self,
        block: &'b Block,
        task: usize,
    ) -> Result<&'b dyn Documents, Error> {
        match (self.answer, &block.statements) {
            (Some(_), Some(own)) if task == 0 => Ok(own),
            _ => Ok(self.contexts.of(self.tasks()[task])?.documents),
        }
    }

    /// The stages in the order in which they work on a block.
    pub fn stages(&self) -> Vec<&'static str> {
        let pipelines = self.in_order();
        pipelines.into_iter().flat_map(Pipeline::about).map(|stage| stage.name).collect()
    }

    fn in_order(&self) -> Vec<&'a Pipeline> {
        if self.answer.is_none() {
            return vec![&self.system.pipeline];
        }
        let tasks = [STATEMENTS, CHOSEN, PASSAGES, SENTENCES];
        tasks.into_iter().filter_map(|task| self.system.tasks.get(task)).collect()
    }

    /// Ranks, and answers where the system does. `progress` counts (request, stage) pairs.
    pub fn rank(&self, block: &Block, progress: Progress) -> Result<Vec<Found>, Error> {
        if let Some(config) = self.answer {
            return self.answer_all(config, block, progress);
        }
        let context = self.contexts.of(self.contexts.session().task)?;
        let rankings = run(&self.system.pipeline, context, block.of(0), progress)?;
        let found = |ranking| Found { rankings: vec![ranking], answer: None };
        Ok(rankings.into_iter().map(found).collect())
    }

    fn answer_all(
        &self,
        config: &AnswerConfig,
        block: &Block,
        progress: Progress,
    ) -> Result<Vec<Found>, Error> {
        let [statements, chosen] = self.rank_statements(block, progress)?;
        let context = self.contexts.of(PASSAGES)?;
        let passages = self.run(PASSAGES, context, block.of(1), progress)?;
        let rule = &config.response;
        let sentences = Sentences::new(block.of(1), &passages, context.documents, rule)?;
        let over = self.contexts.over(&sentences.bank);
        let ranked = self.run(SENTENCES, &over, &sentences.requests, progress)?;
        let mut all = Vec::with_capacity(block.len());
        let rankings = statements.into_iter().zip(passages).zip(chosen).zip(&ranked);
        for (((statements, passages), mut chosen), ranked) in rankings {
            let extract = sentences.extract(ranked, rule);
            chosen.truncate(config.statements.count(&chosen));
            let best = passages[..passages.len().min(config.passages)].to_vec();
            let answer = Answered {
                text: extract.text,
                used: extract.used,
                statements: chosen,
                passages: best,
            };
            all.push(Found { rankings: vec![statements, passages], answer: Some(answer) });
        }
        Ok(all)
    }

    /// The rankings of statements, and those that statements are chosen by.
    fn rank_statements(
        &self,
        block: &Block,
        progress: Progress,
    ) -> Result<[Vec<Ranking>; 2], Error> {
        let own = block.statements.as_ref().map(|bank| self.contexts.over(bank));
        let context = match &own {
            Some(own) => own,
            None => self.contexts.of(STATEMENTS)?,
        };
        let requests = block.of(0);
        let statements = self.run(STATEMENTS, context, requests, progress)?;
        let chosen = match self.system.tasks.get(CHOSEN) {
            Some(pipeline) => run(pipeline, context, requests, progress)?,
            None => statements.clone(),
        };
        Ok([statements, chosen])
    }

    fn run(
        &self,
        task: &str,
        context: &Context,
        requests: &[Request],
        progress: Progress,
    ) -> Result<Vec<Ranking>, Error> {
        match self.system.tasks.get(task) {
            Some(pipeline) => run(pipeline, context, requests, progress),
            None => Ok(vec![Ranking::new(); requests.len()]),
        }
    }

    /// Ranks the task number `task` alone.
    pub(crate) fn rank_task(&self, block: &Block, task: usize) -> Result<Vec<Ranking>, Error> {
        match (self.answer, task) {
            (Some(_), 0) => Ok(self.rank_statements(block, &|_| {})?[0].clone()),
            (Some(_), _) => self.run(PASSAGES, self.contexts.of(PASSAGES)?, block.of(1), &|_| {}),
            (None, _) => {
                let found = self.rank(block, &|_| {})?;
                Ok(found.into_iter().filter_map(|mut found| found.rankings.pop()).collect())
            }
        }
    }

    /// Follows a document of the task number `task` through the pipelines that rank it, for a block
    /// of one request; each with the name of its task.
    pub fn explain(
        &self,
        one: &Block,
        task: usize,
        doc: Doc,
    ) -> Result<Vec<(&'static str, Vec<StageTrace>)>, Error> {
        let name = self.tasks()[task];
        let own = one.statements.as_ref().filter(|_| name == STATEMENTS && self.answer.is_some());
        let own = own.map(|bank| self.contexts.over(bank));
        let context = match &own {
            Some(own) => own,
            None => self.contexts.of(name)?,
        };
        let batch = Batch::new(context, one.of(task));
        let follow = |pipeline: &Pipeline| pipeline.explain(&batch, doc, &Ranking::new());
        if self.answer.is_none() {
            return Ok(vec![(name, follow(&self.system.pipeline)?)]);
        }
        let mut traces = Vec::new();
        for task in if name == STATEMENTS { vec![STATEMENTS, CHOSEN] } else { vec![name] } {
            if let Some(pipeline) = self.system.tasks.get(task) {
                traces.push((task, follow(pipeline)?));
            }
        }
        Ok(traces)
    }
}

/// Runs a pipeline; where there is no document at all, nothing is ranked.
fn run(
    pipeline: &Pipeline,
    context: &Context,
    requests: &[Request],
    progress: Progress,
) -> Result<Vec<Ranking>, Error> {
    let batch = Batch { progress, ..Batch::new(context, requests) };
    if context.documents.is_empty() {
        return Ok(batch.unranked());
    }
    Ok(pipeline.run(&batch, batch.unranked())?)
}
