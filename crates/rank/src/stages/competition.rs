//! Stage `competition`: assigns each document to the request for which it was written.
//!
//! A question of `ClariQ` belongs to about one topic. Requests compete for it: an inverted softmax
//! (Smith, Turban, Hamblin and Hammerla, "Offline bilingual word vectors, orthogonal
//! transformations and the inverted softmax", ICLR 2017) gives the share of a document that each of them
//! wins. Each request then moves towards the documents that it wins, and they compete again.

use crate::build::Build;
use crate::context::Context;
use crate::space::SpaceConfig;
use crate::stage::{About, Batch, Stage, Uses};
use crate::stages::feedback::{docs_of, move_towards};
use clariq_core::{Doc, Explanation, Ranking, Request, Result, bail, number, rank_by_score};
use ndarray::{Array2, Axis};
use serde::{Deserialize, Serialize};
use std::collections::HashSet;

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Competition {
    /// The number of rounds.
    rounds: usize,
    /// The factor of similarities before the softmax: the inverse of its temperature.
    #[serde(default = "number::<20, _>")]
    scale: f32,
    /// The weight of a request's best documents, beside a weight of 1 for the request.
    #[serde(default = "number::<1, _>")]
    weight: f32,
    /// The weight of the logarithm of the final share, beside the similarity.
    #[serde(default)]
    prize: f32,
    /// A space for this stage alone.
    #[serde(skip_deserializing)]
    space: SpaceConfig,
}

pub(super) fn build(mut build: Build) -> Result<Box<dyn Stage>> {
    let space = build.space()?;
    Ok(Box::new(Competition { space, ..build.table.read()? }))
}

/// Logarithms of the softmax over the rows, for each column.
fn log_softmax(scores: &Array2<f32>, scale: f32) -> Array2<f32> {
    let mut logs = scores * scale;
    for mut column in logs.columns_mut() {
        let most = column.iter().copied().fold(f32::NEG_INFINITY, f32::max);
        let sum: f64 = column.iter().map(|&value| f64::from(value - most).exp()).sum();
        let log = most + sum.ln() as f32;
        column.mapv_inplace(|value| value - log);
    }
    logs
}

impl Competition {
    /// The scores after all rounds, and the logarithms of the shares that each request wins.
    fn compete(
        &self,
        to_documents: &Array2<f32>,
        among: &Array2<f32>,
    ) -> (Array2<f32>, Array2<f32>) {
        let mut scores = to_documents.clone();
        for _ in 0..self.rounds {
            let mut won = log_softmax(&scores, self.scale).mapv_into(f32::exp);
            for mut row in won.rows_mut() {
                let sum = row.sum().max(f32::MIN_POSITIVE);
                row.mapv_inplace(|value| value / sum);
            }
            scores = move_towards(to_documents, among, &won, self.weight);
        }
        let won = log_softmax(&scores, self.scale);
        scores.scaled_add(self.prize, &won);
        (scores, won)
    }
}

/// The texts that compete: the requests of the batch, and all others that no earlier split judged.
fn competitors(context: &Context, requests: &[Request]) -> Result<Vec<String>> {
    let mut others: Vec<&String> = Vec::new();
    if let Some(surroundings) = context.surroundings.as_deref() {
        let judged = surroundings.judged_before()?.iter().flat_map(|judged| &judged.requests);
        let judged: HashSet<&String> = judged.collect();
        let all = surroundings.all_requests()?.iter();
        others.extend(all.filter(|request| !judged.contains(request)));
    }
    let of_batch = requests.iter().map(|request| request.opening().to_owned());
    let mut texts: Vec<String> = Vec::new();
    for text in of_batch.chain(others.into_iter().cloned()) {
        if !texts.contains(&text) {
            texts.push(text);
        }
    }
    Ok(texts)
}

/// Contexts of one request do not compete: all of them are about the same questions.
fn refuse_conversations(requests: &[Request]) -> Result<()> {
    if !requests.iter().any(Request::has_turns) {
        return Ok(());
    }
    let expected = "requests of a split, each with questions of its own";
    let hint = "systems for conversations are `dense-conversation`, `bm25-conversation` and \
                `bm25-multi-turn`";
    bail!("stage `competition`", expected, "conversations", hint)
}

impl Competition {
    /// Scores and shares of the pool, a row per request.
    fn table(&self, batch: &Batch, pool: &[Doc]) -> Result<(Array2<f32>, Array2<f32>)> {
        refuse_conversations(batch.requests)?;
        let texts = competitors(batch.context, batch.requests)?;
        let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
        let space = batch.context.space(&self.space)?;
        let space = space.of_cosines("competition")?;
        let to_documents = space.to_documents(batch.context.models, &texts, pool)?;
        let (scores, won) = self.compete(&to_documents, &space.among(pool));
        let row = |request: &Request| texts.iter().position(|&text| text == request.opening());
        let own: Vec<usize> = batch.requests.iter().filter_map(row).collect();
        Ok((scores.select(Axis(0), &own), won.select(Axis(0), &own)))
    }
}

impl Stage for Competition {
    fn about(&self) -> About {
        About {
            uses: vec![Uses::Batch],
            models: self.space.models(),
            ..About::new("competition", self)
        }
    }

    fn apply(&self, batch: &Batch, rankings: Vec<Ranking>) -> Result<Vec<Ranking>> {
        let pool = docs_of(&rankings);
        let (scores, _) = self.table(batch, &pool)?;
        let mut answers = Vec::with_capacity(rankings.len());
        for (row, ranking) in scores.rows().into_iter().zip(&rankings) {
            let docs: HashSet<Doc> = ranking.iter().map(|hit| hit.doc).collect();
            let mut answer = rank_by_score(&pool, row.iter().copied(), usize::MAX);
            answer.retain(|hit| docs.contains(&hit.doc));
            answers.push(answer);
        }
        Ok(answers)
    }

    fn explain(&self, one: &Batch, doc: Doc, before: &Ranking) -> Result<Option<Explanation>> {
        let pool = docs_of(std::slice::from_ref(before));
        let Ok(column) = pool.binary_search(&doc) else { return Ok(None) };
        let (scores, won) = self.table(one, &pool)?;
        let score = scores[[0, column]];
        let won = won[[0, column]];
        let Self { rounds, prize, .. } = *self;
        let similarity =
            format!("similarity to the request moved towards what it won in {rounds} rounds");
        let share = won.exp();
        let won_by = format!("{prize} × logarithm of its share of the question, {share:.4}");
        let parts = vec![
            Explanation::value(f64::from(score - prize * won), similarity),
            Explanation::value(f64::from(prize * won), won_by),
        ];
        Ok(Some(Explanation::of(f64::from(score), "competition between requests", parts)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ndarray::array;

    #[test]
    fn shares_of_a_document_sum_to_one() {
        let logs = log_softmax(&array![[0.1_f32, 0.9], [0.5, 0.2], [0.3, 0.3]], 20.0);
        for column in logs.columns() {
            assert!((column.iter().map(|log| log.exp()).sum::<f32>() - 1.0).abs() < 1e-6);
        }
    }

    #[test]
    fn a_request_loses_a_document_that_is_nearer_to_another() {
        // The second question is near to both requests, and nearer to the second; the third is a
        // little farther from the first request, and from no other.
        let to_documents = array![[0.9_f32, 0.7, 0.65], [0.1, 0.9, 0.1]];
        let among = array![[1.0_f32, 0.3, 0.3], [0.3, 1.0, 0.3], [0.3, 0.3, 1.0]];
        let space = SpaceConfig::default();
        let stage = Competition { rounds: 3, scale: 20.0, weight: 1.0, prize: 0.2, space };
        let (scores, _) = stage.compete(&to_documents, &among);
        assert!(scores[[0, 2]] > scores[[0, 1]], "{scores}");
        let none = Competition { rounds: 0, prize: 0.0, ..stage };
        assert_eq!(none.compete(&to_documents, &among).0, to_documents);
    }
}
