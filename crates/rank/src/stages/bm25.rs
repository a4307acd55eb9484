//! Stage `bm25`: retrieves documents that share words with the conversation.
//!
//! Without `weights` and `history`, the whole conversation is the query. With `weights`, the opening,
//! the system's questions and the user's answers have weights of their own, older turns count less, and
//! questions that were answered "no" count against a document. With `history`, the last utterance is
//! the query, and terms of earlier turns are added to it.

use crate::build::Build;
use crate::context::Context;
use crate::stage::{About, Batch, Stage};
use crate::stages::conversation::{ConversationWeights, TermHistory, explain};
use crate::stages::ties::{TieOrder, TieSetting};
use crate::table::Table;
use clariq_core::{
    Doc, Explanation, Location, Problem, Ranking, Request, Result, Role, WeightedText, bail,
};
use clariq_index::{Analyzer, Query, Scorer, Variant, WeightingModel};
use parking_lot::Mutex;
use rayon::prelude::*;
use serde::{Deserialize, Serialize};
use std::collections::HashSet;
use std::num::NonZeroUsize;
use std::sync::Arc;

/// Retrieves documents; an earlier ranking is replaced.
#[derive(Serialize)]
pub(super) struct Retrieve {
    pub(super) analyzer: Analyzer,
    #[serde(flatten)]
    model: WeightingModel,
    depth: NonZeroUsize,
    pad: Padding,
    pub(super) ties: TieSetting,
    /// Without a blank before what the system says, as in the published multi-turn baseline.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    glued: bool,
    #[serde(flatten)]
    conversation: Option<ConversationWeights<TermHistory>>,
    #[serde(skip)]
    ready: Mutex<Option<Arc<Ready>>>,
}

/// Where rankings are filled with documents that share no word with the request.
#[derive(Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(untagged, expecting = "a `pad` that is neither true, false nor `bank`")]
enum Padding {
    /// Everywhere, or nowhere.
    All(bool),
    Some(PaddedDocuments),
}

#[derive(Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum PaddedDocuments {
    /// In a bank of questions, any of which may be asked, and among the candidates of a request.
    Bank,
}

impl Default for Padding {
    fn default() -> Self {
        Self::All(false)
    }
}

/// Precomputed from the documents, independent of requests.
pub(super) struct Ready {
    pub(super) scorer: Scorer,
    order: TieOrder,
    /// True for a bank of questions.
    is_bank: bool,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Bm25Keys {
    /// How texts are cut into words: an analyser, see below.
    analyzer: Analyzer,
    /// `okapi`, `lucene` (default), `lucene-default` (document lengths rounded to one byte as in Lucene, empty
    /// documents left out), `bm25plus`, `bm25l`; or `ql`, query likelihood with Dirichlet's smoothing as in Lucene.
    variant: Option<Variant>,
    /// How soon further occurrences of a word add nothing: 1.2 for `lucene` and `lucene-default`, 1.5 for the others.
    k1: Option<f64>,
    /// How strongly long documents are penalised, from 0 to 1 (0.75).
    b: Option<f64>,
    /// The least that a word adds (1 for `bm25plus`, 0.5 for `bm25l`).
    delta: Option<f64>,
    /// The smoothing of `ql`, instead of `k1`, `b` and `delta` (1000).
    mu: Option<f64>,
    /// The maximum number of documents.
    depth: NonZeroUsize,
    /// Fill the ranking with documents that share no word with the request, score 0: `true`, `false` (default), or
    /// `"bank"`, only in a bank of questions and among the candidates of a request.
    #[serde(default)]
    pad: Padding,
    /// The order of equal scores: `id` (descending id, as trec_eval), `anserini`, or `{ numpy = [BANK, …] }`: on the
    /// banks whose checksums begin so, as the published run does, on all others as `id`.
    #[serde(default)]
    ties: TieSetting,
    /// Put no blank before what the system says, as the published multi-turn baseline of ClariQ does.
    #[serde(default)]
    glued: bool,
}

pub(super) fn build(build: Build) -> Result<Box<dyn Stage>> {
    Ok(Box::new(retrieve(build)?))
}

pub(super) fn retrieve(mut build: Build) -> Result<Retrieve> {
    let conversation = ConversationWeights::take(&mut build.table)?;
    let glued_at = build.table.at("glued");
    let (model, keys) = read(build.table)?;
    let Bm25Keys { analyzer, depth, pad, ties, glued, .. } = keys;
    if glued && conversation.is_some() {
        let hint = "texts with weights of their own are never joined";
        bail!(glued_at, "`glued` without `weights` and `history`", "both", hint);
    }
    let ready = Mutex::default();
    Ok(Retrieve { analyzer, model, depth, pad, ties, glued, conversation, ready })
}

fn read(table: Table) -> Result<(WeightingModel, Bm25Keys)> {
    let locations = ["k1", "b", "delta", "mu"].map(|key| (key, table.at(key)));
    let stage = table.at("stage");
    let ties_at = table.at("ties");
    let keys: Bm25Keys = table.read()?;
    let mut model = WeightingModel::usual(keys.variant.unwrap_or(Variant::Lucene));
    for ((key, at), value) in locations.iter().zip([keys.k1, keys.b, keys.delta, keys.mu]) {
        let Some(value) = value else { continue };
        let Some(parameter) = model.parameter(key) else {
            let hint = "`ql` has `mu`; the other variants have `k1` and `b`, and `bm25plus` and \
                        `bm25l` have `delta` as well";
            bail!(at.clone(), "no `{key}` for this variant", "`{key}`", hint);
        };
        *parameter = value;
    }
    if let Err(error) = model.check() {
        let Problem { at: Location { file: key, .. }, expected, found, hint, .. } =
            error.to_problem();
        let at = locations.into_iter().find(|(name, _)| *name == key).map_or(stage, |(_, at)| at);
        bail!(at, "{key} = {expected}", found, hint);
    }
    keys.ties.check(keys.pad != Padding::All(false), ties_at)?;
    Ok((model, keys))
}

impl Retrieve {
    /// The state of the last batch, if it used the same index: single requests would otherwise each
    /// read all documents.
    pub(super) fn ready(&self, context: &Context) -> Result<Arc<Ready>> {
        let index = context.index(self.analyzer)?;
        let mut ready = self.ready.lock();
        if let Some(ready) = &*ready
            && Arc::ptr_eq(ready.scorer.index(), &index)
        {
            return Ok(Arc::clone(ready));
        }
        let scorer = Scorer::new(&index, self.model)?;
        let order = TieOrder::new(&self.ties, self.analyzer, context.documents)?;
        let is_bank = context.documents.empty_question().is_some();
        Ok(Arc::clone(ready.insert(Arc::new(Ready { scorer, order, is_bank }))))
    }

    /// The tokens of the whole conversation as one query.
    fn tokens(&self, request: &Request) -> Vec<String> {
        let text = if self.glued { request.glue() } else { request.flatten() };
        self.analyzer.tokens(&text)
    }

    /// The weighted texts with their tokens; `None` if the whole conversation is one query. A
    /// question that was answered "no" keeps only the tokens that the user never used. With
    /// `history`, repeated tokens of an earlier turn count once.
    fn terms<'a>(&self, request: &'a Request) -> Option<Vec<(WeightedText<'a>, Vec<String>)>> {
        let mut terms = Vec::new();
        for weighted in self.conversation.as_ref()?.texts(request) {
            let tokens = self.analyzer.tokens(&weighted.text);
            terms.push((weighted, tokens));
        }
        let of_user = terms.iter().filter(|(weighted, _)| !weighted.role.is_system());
        let user_tokens: HashSet<String> =
            of_user.flat_map(|(_, tokens)| tokens).cloned().collect();
        for (weighted, tokens) in &mut terms {
            match weighted.role {
                Role::Question { refused: true, .. } => {
                    tokens.retain(|token| !user_tokens.contains(token));
                }
                Role::Earlier | Role::Response => {
                    let mut seen = HashSet::new();
                    tokens.retain(|token| seen.insert(token.clone()));
                }
                _ => {}
            }
        }
        Some(terms)
    }

    /// The tokens of a request with their weights.
    pub(super) fn query(&self, request: &Request) -> (Vec<String>, Option<Vec<f64>>) {
        let Some(terms) = self.terms(request) else {
            return (self.tokens(request), None);
        };
        let mut all = Vec::new();
        let mut weights = Vec::new();
        for (weighted, tokens) in terms {
            weights.extend(std::iter::repeat_n(weighted.weight, tokens.len()));
            all.extend(tokens);
        }
        (all, Some(weights))
    }

    /// Ranks the documents of a request for weighted tokens.
    pub(super) fn rank(
        &self,
        Ready { scorer, order, is_bank }: &Ready,
        request: &Request,
        (tokens, weights): &(Vec<String>, Option<Vec<f64>>),
    ) -> Result<Ranking> {
        let depth = request.depth(self.depth.get());
        let pad = match self.pad {
            Padding::All(pad) => pad,
            Padding::Some(PaddedDocuments::Bank) => *is_bank || request.candidates.is_some(),
        };
        let query = Query {
            tokens,
            weights: weights.as_deref(),
            among: request.candidates.as_deref(),
            depth: order.depth(depth, pad),
        };
        Ok(order.apply(scorer.rank(&query)?, depth, query.among))
    }
}

impl Stage for Retrieve {
    fn about(&self) -> About {
        About::new("bm25", self)
    }

    fn apply(&self, batch: &Batch, _: Vec<Ranking>) -> Result<Vec<Ranking>> {
        let ready = self.ready(batch.context)?;
        let rank = |request: &Request| {
            let ranking = self.rank(&ready, request, &self.query(request))?;
            (batch.progress)(1);
            Ok(ranking)
        };
        // `collect` keeps the order of the requests, whichever thread ranked them.
        batch.requests.par_iter().map(rank).collect()
    }

    fn explain(&self, one: &Batch, doc: Doc, _: &Ranking) -> Result<Option<Explanation>> {
        let Some(request) = one.requests.first() else { return Ok(None) };
        let ready = self.ready(one.context)?;
        let Some(terms) = self.terms(request) else {
            return ready.scorer.explain(&self.tokens(request), doc).map(Some);
        };
        let mut parts = Vec::new();
        for (weighted, tokens) in terms {
            let mut words = ready.scorer.explain(&tokens, doc)?.parts;
            words.retain(|word| word.value != 0.0);
            if !words.is_empty() {
                parts.push(explain(&weighted, words));
            }
        }
        let what = "sum over the conversation, of the words that the document has";
        Ok(Some(Explanation::sum(what, parts)))
    }
}
