//! Stage `feedback`: which questions are like the best ones found so far?
//!
//! Pseudo-relevance feedback as Rocchio's ("Relevance feedback in information retrieval", 1971) in a space of
//! similarities: the request moves towards the mean of its first questions. Questions that are near to many others come
//! first for too many requests; the mean similarity to their nearest questions is taken off their scores, after Conneau,
//! Lample, Ranzato, Denoyer and Jégou, "Word translation without parallel data", ICLR 2018.

use crate::context::Context;
use crate::error::Error;
use crate::space::{Space, SpaceConfig};
use crate::stage::{Progress, Ranking, Stage};
use crate::stages::{Build, ranked};
use clariq_collections::clariq::Topic;
use clariq_index::Explanation;
use ndarray::{Array1, Array2, ArrayView1};
use serde::{Deserialize, Serialize};
use std::num::NonZeroUsize;

#[derive(Serialize)]
struct Feedback {
    #[serde(flatten)]
    parameters: Parameters,
    space: SpaceConfig,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Parameters {
    /// How many of the first questions are taken.
    questions: NonZeroUsize,
    /// The weight of their mean beside the request's 1.
    #[serde(default = "usual_weight")]
    weight: f32,
    /// What part of a question's similarity to its neighbours is taken off its score.
    #[serde(default)]
    hub_weight: f32,
    /// How many nearest questions are its neighbours.
    #[serde(default = "usual_neighbours")]
    hub_neighbours: NonZeroUsize,
}

fn usual_weight() -> f32 {
    1.0
}

fn usual_neighbours() -> NonZeroUsize {
    const { NonZeroUsize::new(10).unwrap() }
}

pub(super) fn build(mut build: Build) -> Result<Box<dyn Stage>, Error> {
    let space = build.space()?;
    Ok(Box::new(Feedback { parameters: build.table.read()?, space }))
}

/// The similarity of every question to the request moved by `weight` towards a mean of questions, for each row of
/// `means`, whose numbers sum to 1 in each row. With B the similarities of requests and K those of questions: the cosine of
/// the request's vector plus `weight` times the mean's, scaled to length 1.
pub(super) fn moved(
    to_questions: &Array2<f32>,
    among: &Array2<f32>,
    means: &Array2<f32>,
    weight: f32,
) -> Array2<f32> {
    let towards = means.dot(among);
    let mut scores = Array2::zeros(to_questions.dim());
    for (place, mut row) in scores.rows_mut().into_iter().enumerate() {
        let (mean, toward, request) =
            (means.row(place), towards.row(place), to_questions.row(place));
        let length = toward.dot(&mean).max(1e-9).sqrt();
        let cross = request.dot(&mean) / length;
        let whole = (1.0 + 2.0 * weight * cross + weight * weight).sqrt();
        row.assign(&((&request + &(&toward * (weight / length))) / whole));
    }
    scores
}

/// Mean similarity of each question to the others that are nearest to it.
fn hubs(among: &Array2<f32>, neighbours: usize) -> Array1<f32> {
    let mean = |(place, row): (usize, ArrayView1<f32>)| {
        let mut others: Vec<f32> = row
            .iter()
            .enumerate()
            .filter(|&(other, _)| other != place)
            .map(|(_, &value)| value)
            .collect();
        others.sort_unstable_by(|a, b| b.total_cmp(a));
        others.truncate(neighbours);
        others.iter().sum::<f32>() / others.len().max(1) as f32
    };
    among.rows().into_iter().enumerate().map(mean).collect()
}

/// A pool of candidates with what does not depend on the request.
struct Pool {
    questions: Vec<u32>,
    among: Array2<f32>,
    hubs: Array1<f32>,
}

impl Feedback {
    fn pool(&self, space: &Space, questions: Vec<u32>) -> Pool {
        let among = space.among_questions(&questions);
        let hubs = match self.parameters.hub_weight {
            0.0 => Array1::zeros(questions.len()),
            weight => hubs(&among, self.parameters.hub_neighbours.get()) * weight,
        };
        Pool { questions, among, hubs }
    }

    /// Scores of a request for a pool, and which of its questions were taken.
    fn scores(
        &self,
        context: &Context,
        space: &Space,
        request: &str,
        pool: &Pool,
    ) -> Result<(Array2<f32>, Ranking), Error> {
        let nearest = space.to_questions(context, &[request], &pool.questions, &|_| {})?;
        let places: Vec<u32> = (0..pool.questions.len() as u32).collect();
        let corrected = &nearest.row(0) - &pool.hubs;
        let first = ranked(&places, corrected.iter().copied(), self.parameters.questions.get());
        let mut mean = Array2::zeros(nearest.dim());
        for hit in &first {
            mean[[0, hit.question as usize]] = 1.0 / first.len() as f32;
        }
        let scores = moved(&nearest, &pool.among, &mean, self.parameters.weight) - &pool.hubs;
        Ok((scores, first))
    }
}

impl Stage for Feedback {
    fn name(&self) -> &'static str {
        "feedback"
    }

    fn parameters(&self) -> serde_json::Value {
        serde_json::to_value(self).unwrap_or_default()
    }

    fn models(&self) -> Vec<String> {
        self.space.models.keys().cloned().collect()
    }

    fn apply(
        &self,
        context: &Context,
        topics: &[Topic],
        rankings: Vec<Ranking>,
        progress: Progress,
    ) -> Result<Vec<Ranking>, Error> {
        let space = context.space(&self.space)?;
        // Rankings of the whole bank have one pool, and what belongs to it is computed once.
        let mut last: Option<Pool> = None;
        let mut answers = Vec::with_capacity(topics.len());
        for (topic, ranking) in topics.iter().zip(rankings) {
            let mut questions: Vec<u32> = ranking.iter().map(|hit| hit.question).collect();
            questions.sort_unstable();
            let pool = match last.take() {
                Some(pool) if pool.questions == questions => pool,
                _ => self.pool(&space, questions),
            };
            let (scores, _) = self.scores(context, &space, &topic.request, &pool)?;
            answers.push(ranked(&pool.questions, scores.iter().copied(), usize::MAX));
            last = Some(pool);
            progress(1);
        }
        Ok(answers)
    }

    fn explain_ranked(
        &self,
        context: &Context,
        topic: &Topic,
        question: u32,
        before: &Ranking,
    ) -> Result<Option<Explanation>, Error> {
        let space = context.space(&self.space)?;
        let mut questions: Vec<u32> = before.iter().map(|hit| hit.question).collect();
        questions.sort_unstable();
        let Ok(place) = questions.binary_search(&question) else { return Ok(None) };
        let pool = self.pool(&space, questions);
        let (scores, first) = self.scores(context, &space, &topic.request, &pool)?;
        let hub = pool.hubs[place];
        let score = scores[[0, place]];
        let mut parts = vec![Explanation::value(
            f64::from(score + hub),
            format!(
                "similarity to the request moved by {} towards its first {} questions",
                self.parameters.weight,
                first.len()
            ),
        )];
        if hub != 0.0 {
            let what = format!(
                "{} × mean similarity to its {} nearest questions, taken off",
                self.parameters.hub_weight, self.parameters.hub_neighbours
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
    fn moving_is_adding_vectors() {
        // Vectors of length 1: a request, and three questions.
        let request = array![[0.6_f32, 0.8, 0.0]];
        let questions = array![[1.0_f32, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.6, 0.8]];
        let (to_questions, among) = (request.dot(&questions.t()), questions.dot(&questions.t()));
        let means = array![[0.5_f32, 0.0, 0.5]];
        let unit = |vector: Array2<f32>| {
            let length = vector.iter().map(|x| x * x).sum::<f32>().sqrt();
            vector / length
        };
        let by_hand = unit(request + unit(means.dot(&questions)) * 2.0).dot(&questions.t());
        for (one, other) in moved(&to_questions, &among, &means, 2.0).iter().zip(&by_hand) {
            assert!((one - other).abs() < 1e-6, "{one} {other}");
        }
    }

    #[test]
    fn hubs_look_at_others_only() {
        let among = array![[1.0_f32, 0.5, 0.1], [0.5, 1.0, 0.3], [0.1, 0.3, 1.0]];
        assert_eq!(hubs(&among, 1), array![0.5, 0.5, 0.3]);
        assert_eq!(hubs(&among, 5).len(), 3);
    }
}
