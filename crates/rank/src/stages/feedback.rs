//! Stage `feedback`: moves each request towards the best documents found so far.
//!
//! Pseudo-relevance feedback after Rocchio ("Relevance feedback in information retrieval", 1971) in
//! a space of similarities: the request moves towards the mean of its first documents. Documents
//! that are near to many others are ranked first for too many requests; the mean similarity to their
//! nearest neighbours is subtracted from their scores, after Conneau, Lample, Ranzato, Denoyer and Jégou,
//! "Word translation without parallel data", ICLR 2018.

use crate::build::Build;
use crate::space::{Space, SpaceConfig};
use crate::stage::{About, Batch, Stage};
use clariq_core::{
    Doc, Explanation, Models, Ranking, Result, count_of, number, positive, rank_by_score,
};
use ndarray::{Array1, Array2, ArrayView1};
use serde::{Deserialize, Serialize};
use std::num::NonZeroUsize;
use std::slice;

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Feedback {
    /// The number of best documents that are used.
    questions: NonZeroUsize,
    /// The weight of their mean, beside a weight of 1 for the request.
    #[serde(default = "number::<1, _>")]
    weight: f32,
    /// The factor of a document's similarity to its neighbours that is subtracted from its score.
    #[serde(default)]
    hub_weight: f32,
    /// The number of neighbours of a document.
    #[serde(default = "positive::<10>")]
    hub_neighbours: NonZeroUsize,
    /// A space for this stage alone.
    #[serde(skip_deserializing)]
    space: SpaceConfig,
}

pub(super) fn build(mut build: Build) -> Result<Box<dyn Stage>> {
    let space = build.space()?;
    Ok(Box::new(Feedback { space, ..build.table.read()? }))
}

/// The similarity of every document to the request moved by `weight` towards a mean of documents,
/// for each row of `means`, whose numbers sum to 1 in each row: the cosine of the request's vector
/// plus `weight` times the mean's, scaled to length 1.
pub(super) fn move_towards(
    to_documents: &Array2<f32>,
    among: &Array2<f32>,
    means: &Array2<f32>,
    weight: f32,
) -> Array2<f32> {
    let towards = means.dot(among);
    let mut scores = Array2::zeros(to_documents.dim());
    for (index, mut row) in scores.rows_mut().into_iter().enumerate() {
        let mean = means.row(index);
        let toward = towards.row(index);
        let request = to_documents.row(index);
        let length = toward.dot(&mean).max(1e-9).sqrt();
        let cross = request.dot(&mean) / length;
        let whole = (1.0 + 2.0 * weight * cross + weight * weight).sqrt();
        row.assign(&((&request + &(&toward * (weight / length))) / whole));
    }
    scores
}

/// The mean similarity of each document to its nearest neighbours.
fn hubs(among: &Array2<f32>, neighbours: usize) -> Array1<f32> {
    let mean = |(index, row): (usize, ArrayView1<f32>)| {
        let mut others: Vec<f32> = row
            .iter()
            .enumerate()
            .filter(|&(other, _)| other != index)
            .map(|(_, &value)| value)
            .collect();
        others.sort_unstable_by(|a, b| b.total_cmp(a));
        others.truncate(neighbours);
        others.iter().sum::<f32>() / others.len().max(1) as f32
    };
    among.rows().into_iter().enumerate().map(mean).collect()
}

/// A pool of candidates, with everything that does not depend on the request.
struct CandidatePool {
    docs: Vec<Doc>,
    among: Array2<f32>,
    hubs: Array1<f32>,
}

/// The documents of rankings, each once, in ascending order.
pub(super) fn docs_of(rankings: &[Ranking]) -> Vec<Doc> {
    let mut docs: Vec<Doc> = rankings.iter().flatten().map(|hit| hit.doc).collect();
    docs.sort_unstable();
    docs.dedup();
    docs
}

impl Feedback {
    fn pool(&self, space: &Space, docs: Vec<Doc>) -> CandidatePool {
        let among = space.among(&docs);
        let hubs = match self.hub_weight {
            0.0 => Array1::zeros(docs.len()),
            weight => hubs(&among, self.hub_neighbours.get()) * weight,
        };
        CandidatePool { docs, among, hubs }
    }

    /// Scores a pool for a text; the second value is the number of documents used as feedback.
    fn score(
        &self,
        models: &dyn Models,
        space: &Space,
        text: &str,
        pool: &CandidatePool,
    ) -> Result<(Array2<f32>, usize)> {
        let nearest = space.to_documents(models, &[text], &pool.docs)?;
        let columns: Vec<Doc> = Doc::all(pool.docs.len()).collect();
        let corrected = &nearest.row(0) - &pool.hubs;
        let count = self.questions.get();
        let first = rank_by_score(&columns, corrected.iter().copied(), count);
        let mut mean = Array2::zeros(nearest.dim());
        for hit in &first {
            mean[[0, hit.doc.index()]] = 1.0 / first.len() as f32;
        }
        let moved = move_towards(&nearest, &pool.among, &mean, self.weight);
        Ok((moved - &pool.hubs, first.len()))
    }
}

impl Stage for Feedback {
    fn about(&self) -> About {
        About { models: self.space.models(), ..About::new("feedback", self) }
    }

    fn apply(&self, batch: &Batch, rankings: Vec<Ranking>) -> Result<Vec<Ranking>> {
        let context = batch.context;
        let space = batch.context.space(&self.space)?;
        let space = space.of_cosines("feedback")?;
        // Rankings of all documents share one pool, which is prepared once.
        let mut last: Option<CandidatePool> = None;
        let mut answers = Vec::with_capacity(rankings.len());
        for (request, ranking) in batch.requests.iter().zip(rankings) {
            let docs = docs_of(&[ranking]);
            let pool = match last.take() {
                Some(pool) if pool.docs == docs => pool,
                _ => self.pool(space, docs),
            };
            let (scores, _) = self.score(context.models, space, &request.flatten(), &pool)?;
            answers.push(rank_by_score(&pool.docs, scores.iter().copied(), usize::MAX));
            last = Some(pool);
            (batch.progress)(1);
        }
        Ok(answers)
    }

    fn explain(&self, one: &Batch, doc: Doc, before: &Ranking) -> Result<Option<Explanation>> {
        let context = one.context;
        let space = one.context.space(&self.space)?;
        let space = space.of_cosines("feedback")?;
        let docs = docs_of(slice::from_ref(before));
        let Ok(column) = docs.binary_search(&doc) else { return Ok(None) };
        let Some(request) = one.requests.first() else { return Ok(None) };
        let pool = self.pool(space, docs);
        let (scores, taken) = self.score(context.models, space, &request.flatten(), &pool)?;
        let score = scores[[0, column]];
        let hub = pool.hubs[column];
        let Self { weight, hub_weight, hub_neighbours, .. } = self;
        let what = format!(
            "similarity to the request moved by {weight} towards its first {}",
            count_of(taken, "question")
        );
        let mut parts = vec![Explanation::value(f64::from(score + hub), what)];
        if hub != 0.0 {
            let what = format!(
                "{hub_weight} × mean similarity to its {hub_neighbours} nearest questions, subtracted"
            );
            parts.push(Explanation::value(f64::from(-hub), what));
        }
        Ok(Some(Explanation::of(f64::from(score), "feedback", parts)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ndarray::array;

    #[test]
    fn feedback_adds_the_vectors_of_documents_to_the_query() {
        // Vectors of length 1: a request, and three documents.
        let request = array![[0.6_f32, 0.8, 0.0]];
        let questions = array![[1.0_f32, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.6, 0.8]];
        let to_documents = request.dot(&questions.t());
        let among = questions.dot(&questions.t());
        let means = array![[0.5_f32, 0.0, 0.5]];
        let unit = |vector: Array2<f32>| {
            let length = vector.iter().map(|x| x * x).sum::<f32>().sqrt();
            vector / length
        };
        let by_hand = unit(request + unit(means.dot(&questions)) * 2.0).dot(&questions.t());
        for (one, other) in move_towards(&to_documents, &among, &means, 2.0).iter().zip(&by_hand) {
            assert!((one - other).abs() < 1e-6, "{one} {other}");
        }
    }

    #[test]
    fn a_document_is_no_neighbour_of_itself() {
        let among = array![[1.0_f32, 0.5, 0.1], [0.5, 1.0, 0.3], [0.1, 0.3, 1.0]];
        assert_eq!(hubs(&among, 1), array![0.5, 0.5, 0.3]);
        assert_eq!(hubs(&among, 5).len(), 3);
    }
}
