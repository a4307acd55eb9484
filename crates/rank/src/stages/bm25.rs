//! Stage `bm25`: retrieves documents that share words with what was said.
//!
//! Without `weights`, everything said is one query. With them, the opening, the system's questions
//! and the user's answers count differently, older turns count less, and what the user said "no" to
//! counts against a document. With `history`, the last utterance is the query, and terms of earlier
//! turns are added to it.

use crate::build::Build;
use crate::context::Context;
use crate::stage::{About, Batch, Stage};
use crate::stages::dense::both_given;
use crate::stages::history::TermHistory;
use crate::stages::ties::{Order, Ties};
use crate::stages::weights::{Part, Said, Weights};
use crate::table::Table;
use clariq_core::{Doc, Error, Explanation, History, Location, Problem, Ranking, Request, bail};
use clariq_index::{Analyzer, Bm25, Query, Scorer, Scratch, Variant};
use rayon::prelude::*;
use serde::{Deserialize, Serialize};
use std::collections::HashSet;
use std::num::NonZeroUsize;
use std::sync::{Arc, Mutex, PoisonError};

/// Retrieves: whatever ranking comes in is replaced.
#[derive(Serialize)]
struct Retrieve {
    analyzer: Analyzer,
    #[serde(flatten)]
    model: Bm25,
    depth: NonZeroUsize,
    pad: bool,
    ties: Ties,
    #[serde(skip_serializing_if = "Option::is_none")]
    weights: Option<Weights>,
    #[serde(skip_serializing_if = "Option::is_none")]
    history: Option<TermHistory>,
    #[serde(skip)]
    ready: Mutex<Option<Arc<Ready>>>,
}

/// What takes a look at every document and none at the requests.
struct Ready {
    scorer: Scorer,
    order: Order,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Given {
    analyzer: Analyzer,
    variant: Option<Variant>,
    k1: Option<f64>,
    b: Option<f64>,
    delta: Option<f64>,
    depth: NonZeroUsize,
    #[serde(default)]
    pad: bool,
    #[serde(default)]
    ties: Ties,
}

pub(super) fn build(mut build: Build) -> Result<Box<dyn Stage>, Error> {
    let history_at = build.table.at("history");
    let history = TermHistory::take(&mut build.table)?;
    let weights = Weights::take(&mut build.table)?;
    if history.is_some() && weights.is_some() {
        return Err(both_given(history_at).into());
    }
    let (model, given) = read(build.table)?;
    let Given { analyzer, depth, pad, ties, .. } = given;
    let ready = Mutex::default();
    Ok(Box::new(Retrieve { analyzer, model, depth, pad, ties, weights, history, ready }))
}

fn read(table: Table) -> Result<(Bm25, Given), Error> {
    let places = ["k1", "b", "delta"].map(|key| (key, table.at(key)));
    let (stage, ties_at) = (table.at("stage"), table.at("ties"));
    let given: Given = table.read()?;
    let usual = Bm25::default_of(given.variant.unwrap_or(Variant::Lucene));
    let model = Bm25 {
        k1: given.k1.unwrap_or(usual.k1),
        b: given.b.unwrap_or(usual.b),
        delta: given.delta.unwrap_or(usual.delta),
        ..usual
    };
    if let Err(problem) = model.check() {
        let Problem { at: Location { file: key, .. }, expected, found, .. } = problem;
        let at = places.into_iter().find(|(name, _)| *name == key).map_or(stage, |(_, at)| at);
        let hint = "usual values are k1 from 0.5 to 2 and b from 0 to 1";
        bail!(at, "{key} = {expected}", found, hint);
    }
    given.ties.check(given.pad, ties_at)?;
    Ok((model, given))
}

impl Retrieve {
    /// What is ready of the last batch, if that was over the same index: requests that come one by
    /// one would otherwise each cost a look at every document.
    fn ready(&self, context: &Context) -> Result<Arc<Ready>, Error> {
        let index = context.index(self.analyzer)?;
        // A poisoned lock means that another thread panicked while preparing; nothing is half set.
        let mut ready = self.ready.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(ready) = &*ready
            && Arc::ptr_eq(ready.scorer.index(), &index)
        {
            return Ok(Arc::clone(ready));
        }
        let scorer = Scorer::new(&index, self.model)?;
        let order = Order::new(self.ties, self.analyzer, context.documents)?;
        Ok(Arc::clone(ready.insert(Arc::new(Ready { scorer, order }))))
    }

    /// The tokens of everything said. Of a question that was answered "no", only those count that
    /// the user never said.
    fn tokens<'a>(&self, weights: &Weights, request: &'a Request) -> Vec<(Said<'a>, Vec<String>)> {
        let mut said: Vec<(Said, Vec<String>)> = weights
            .said(request)
            .into_iter()
            .map(|said| (said, self.analyzer.tokens(said.text)))
            .collect();
        let of_user = said.iter().filter(|(said, _)| said.part != Part::Question);
        let wanted: HashSet<String> = of_user.flat_map(|(_, tokens)| tokens).cloned().collect();
        for (said, tokens) in &mut said {
            if said.refused && said.part == Part::Question {
                tokens.retain(|token| !wanted.contains(token));
            }
        }
        said
    }

    /// The tokens of the last utterance as often as they are said, and those of earlier turns once
    /// for each text, with what a token of that text counts.
    fn recent_tokens<'a>(
        &self,
        history: &TermHistory,
        request: &'a Request,
    ) -> Vec<(&'a str, f64, Vec<String>)> {
        let weighed = history.weighed(&History::of(&request.said)).into_iter().enumerate();
        let tokens = |(index, (text, weight)): (usize, (&'a str, f64))| {
            let mut tokens = self.analyzer.tokens(text);
            if index > 0 {
                let mut seen = HashSet::new();
                tokens.retain(|token| seen.insert(token.clone()));
            }
            (text, weight, tokens)
        };
        weighed.map(tokens).collect()
    }

    /// The tokens of a request, and how much each counts.
    fn query(&self, request: &Request) -> (Vec<String>, Option<Vec<f64>>) {
        if let Some(history) = &self.history {
            let (mut all, mut counts) = (Vec::new(), Vec::new());
            for (_, weight, tokens) in self.recent_tokens(history, request) {
                counts.extend(std::iter::repeat_n(weight, tokens.len()));
                all.extend(tokens);
            }
            return (all, Some(counts));
        }
        let Some(weights) = &self.weights else {
            return (self.analyzer.tokens(&request.flatten()), None);
        };
        let (mut all, mut counts) = (Vec::new(), Vec::new());
        for (said, tokens) in self.tokens(weights, request) {
            counts.extend(std::iter::repeat_n(said.weight, tokens.len()));
            all.extend(tokens);
        }
        (all, Some(counts))
    }

    fn explain_history(
        &self,
        scorer: &Scorer,
        history: &TermHistory,
        request: &Request,
        doc: Doc,
    ) -> Result<Explanation, Error> {
        let mut parts = Vec::new();
        for (text, weight, tokens) in self.recent_tokens(history, request) {
            let mut words = scorer.explain(&tokens, doc)?.parts;
            words.retain(|word| word.value != 0.0);
            if !words.is_empty() {
                let sum = words.iter().map(|word| word.value).sum::<f64>();
                let what = format!("{weight:.4} × {sum:.6} {text:?}");
                parts.push(Explanation::of(weight * sum, what, words));
            }
        }
        let score = parts.iter().map(|part| part.value).sum();
        let what = "sum over what was said, of the words that the document has";
        Ok(Explanation::of(score, what, parts))
    }

    fn rank(
        &self,
        Ready { scorer, order }: &Ready,
        request: &Request,
        scratch: &mut Scratch,
    ) -> Result<Ranking, Error> {
        let (tokens, weights) = self.query(request);
        let depth = request.depth(self.depth.get());
        let query = Query {
            tokens: &tokens,
            weights: weights.as_deref(),
            among: request.candidates.as_deref(),
            depth: order.depth(depth, self.pad),
        };
        Ok(order.apply(scorer.rank(&query, scratch)?, depth, query.among))
    }
}

impl Stage for Retrieve {
    fn about(&self) -> About {
        About::new("bm25", self)
    }

    fn apply(&self, batch: &Batch, _rankings: Vec<Ranking>) -> Result<Vec<Ranking>, Error> {
        let ready = self.ready(batch.context)?;
        let rank = |scratch: &mut Scratch, request: &Request| {
            let ranking = self.rank(&ready, request, scratch)?;
            (batch.progress)(1);
            Ok(ranking)
        };
        // `collect` keeps the order of the requests, whichever thread ranked them.
        batch.requests.par_iter().map_init(Scratch::default, rank).collect()
    }

    fn explain(
        &self,
        one: &Batch,
        doc: Doc,
        _before: &Ranking,
    ) -> Result<Option<Explanation>, Error> {
        let ready = self.ready(one.context)?;
        let scorer = &ready.scorer;
        let Some(request) = one.requests.first() else { return Ok(None) };
        if let Some(history) = &self.history {
            return self.explain_history(scorer, history, request, doc).map(Some);
        }
        let Some(weights) = &self.weights else {
            let tokens = self.analyzer.tokens(&request.flatten());
            return Ok(Some(scorer.explain(&tokens, doc)?));
        };
        let mut parts = Vec::new();
        for (said, tokens) in self.tokens(weights, request) {
            let mut words = scorer.explain(&tokens, doc)?.parts;
            words.retain(|word| word.value != 0.0);
            if !words.is_empty() {
                let sum = words.iter().map(|word| word.value).sum::<f64>();
                let what = format!("{said}: {:.3} × {sum:.6}", said.weight);
                parts.push(Explanation::of(said.weight * sum, what, words));
            }
        }
        let score = parts.iter().map(|part| part.value).sum();
        let what = "sum over what was said, of the words that the document has";
        Ok(Some(Explanation::of(score, what, parts)))
    }
}
