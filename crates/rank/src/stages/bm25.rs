//! Stage `bm25`: which questions share words with the request?

use crate::context::Context;
use crate::error::Error;
use crate::stage::{Progress, Ranking, Stage};
use crate::stages::Build;
use crate::stages::ties::{Order, Ties};
use crate::table::Table;
use clariq_collections::clariq::Topic;
use clariq_core::ProblemKind;
use clariq_index::{Analyzer, Bm25, Explanation, Path, Scorer, Scratch, Variant};
use rayon::prelude::*;
use serde::{Deserialize, Serialize};
use std::num::NonZeroUsize;

/// Retrieves: whatever ranking comes in is replaced.
#[derive(Serialize)]
struct Retrieve {
    analyzer: Analyzer,
    #[serde(flatten)]
    model: Bm25,
    depth: NonZeroUsize,
    pad: bool,
    ties: Ties,
    /// Without effect on the result, and so not part of what made it.
    #[serde(skip)]
    path: Path,
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
    #[serde(default)]
    path: Path,
}

/// What every stage that retrieves by BM25 is told.
pub(super) struct Parameters {
    pub(super) analyzer: Analyzer,
    pub(super) model: Bm25,
    pub(super) depth: NonZeroUsize,
    pub(super) pad: bool,
    pub(super) ties: Ties,
}

impl Parameters {
    /// Reads what is left in the table of a stage.
    pub(super) fn read(table: Table) -> Result<Self, Error> {
        read(table).map(|(parameters, _)| parameters)
    }
}

fn read(table: Table) -> Result<(Parameters, Path), Error> {
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
    if let Err(clariq_index::Error::Parameter { parameter, expected, found }) = model.check() {
        let at = places.into_iter().find(|(key, _)| *key == parameter).map_or(stage, |(_, at)| at);
        let (expected, found) = (format!("{parameter} = {expected}"), found.to_string());
        return Err(clariq_core::Problem::new(at, ProblemKind::Configuration, expected, found)
            .hint("usual values are k1 from 0.5 to 2 and b from 0 to 1")
            .into());
    }
    let Given { analyzer, depth, pad, ties, path, .. } = given;
    ties.check(pad, ties_at)?;
    Ok((Parameters { analyzer, model, depth, pad, ties }, path))
}

pub(super) fn build(build: Build) -> Result<Box<dyn Stage>, Error> {
    let (Parameters { analyzer, model, depth, pad, ties }, path) = read(build.table)?;
    Ok(Box::new(Retrieve { analyzer, model, depth, pad, ties, path }))
}

impl Stage for Retrieve {
    fn name(&self) -> &'static str {
        "bm25"
    }

    fn parameters(&self) -> serde_json::Value {
        serde_json::to_value(self).unwrap_or_default()
    }

    fn apply(
        &self,
        context: &Context,
        topics: &[Topic],
        _rankings: Vec<Ranking>,
        progress: Progress,
    ) -> Result<Vec<Ranking>, Error> {
        let index = context.index(self.analyzer)?;
        let scorer = Scorer::new(&index, self.model)?;
        let order = Order::new(self.ties, self.analyzer, context.bank);
        let depth = order.depth(self.depth, self.pad);
        // `collect` keeps the order of the topics, whichever thread ranked them.
        let rank = |scratch: &mut Scratch, topic: &Topic| {
            let tokens = self.analyzer.tokens(&topic.request);
            let hits = scorer.top_by(self.path, &tokens, depth, scratch)?;
            progress(1);
            Ok(order.apply(hits, self.depth))
        };
        topics.par_iter().map_init(Scratch::default, rank).collect()
    }

    fn explain(
        &self,
        context: &Context,
        topic: &Topic,
        question: u32,
    ) -> Result<Option<Explanation>, Error> {
        let index = context.index(self.analyzer)?;
        let scorer = Scorer::new(&index, self.model)?;
        Ok(Some(scorer.explain(&self.analyzer.tokens(&topic.request), question)?))
    }
}
