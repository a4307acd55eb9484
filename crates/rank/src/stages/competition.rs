//! Stage `competition`: which request was a question written for?
//!
//! A question belongs to about one topic. Requests that are asked together compete for it: a softmax over requests, known
//! as inverted softmax (Smith, Turban, Hamblin and Hammerla, "Offline bilingual word vectors, orthogonal transformations and
//! the inverted softmax", ICLR 2017), says how much of a question each of them wins. Each request then moves towards the
//! questions that it wins, and they compete again.

use crate::config::Uses;
use crate::context::Context;
use crate::error::Error;
use crate::space::SpaceConfig;
use crate::stage::{Progress, Ranking, Stage};
use crate::stages::feedback::moved;
use crate::stages::{Build, ranked};
use clariq_collections::clariq::Topic;
use clariq_collections::clariq::conversation::Conversation;
use clariq_core::{Location, Problem, ProblemKind};
use clariq_index::Explanation;
use ndarray::{Array2, Axis};
use serde::{Deserialize, Serialize};
use std::collections::HashSet;

#[derive(Serialize)]
struct Competition {
    #[serde(flatten)]
    parameters: Parameters,
    space: SpaceConfig,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Parameters {
    /// How often they compete.
    rounds: usize,
    /// What similarities are multiplied by before the softmax: the inverse of its temperature.
    #[serde(default = "usual_scale")]
    scale: f32,
    /// How far a request moves towards the questions that it wins, beside its own 1.
    #[serde(default = "usual_move")]
    weight: f32,
    /// The weight of the logarithm of what is won at last, beside the similarity.
    #[serde(default)]
    prize: f32,
}

fn usual_scale() -> f32 {
    20.0
}

fn usual_move() -> f32 {
    1.0
}

pub(super) fn build(mut build: Build) -> Result<Box<dyn Stage>, Error> {
    let space = build.space()?;
    Ok(Box::new(Competition { parameters: build.table.read()?, space }))
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

impl Parameters {
    /// Scores after all rounds, and the logarithms of what each request wins.
    fn compete(
        &self,
        to_questions: &Array2<f32>,
        among: &Array2<f32>,
    ) -> (Array2<f32>, Array2<f32>) {
        let mut scores = to_questions.clone();
        for _ in 0..self.rounds {
            let mut won = log_softmax(&scores, self.scale).mapv_into(f32::exp);
            for mut row in won.rows_mut() {
                let sum = row.sum().max(f32::MIN_POSITIVE);
                row.mapv_inplace(|value| value / sum);
            }
            scores = moved(to_questions, among, &won, self.weight);
        }
        let won = log_softmax(&scores, self.scale);
        scores.scaled_add(self.prize, &won);
        (scores, won)
    }
}

/// The requests that compete, each once: those of the batch, and those of the splits that were not judged before.
fn competitors(context: &Context, topics: &[Topic]) -> Result<Vec<String>, Error> {
    let judged: HashSet<String> = context
        .judged_before()?
        .into_iter()
        .flat_map(|labelled| labelled.topics)
        .map(|topic| topic.request)
        .collect();
    let of_batch = topics.iter().map(|topic| topic.request.clone());
    let others = context.all_requests()?.into_iter().map(|topic| topic.request);
    let mut requests: Vec<String> = Vec::new();
    for request in of_batch.chain(others.filter(|request| !judged.contains(request))) {
        if !requests.contains(&request) {
            requests.push(request);
        }
    }
    Ok(requests)
}

impl Competition {
    /// Scores and shares of the pool for each topic.
    fn table(
        &self,
        context: &Context,
        topics: &[Topic],
        pool: &[u32],
    ) -> Result<(Array2<f32>, Array2<f32>), Error> {
        let requests = competitors(context, topics)?;
        let texts: Vec<&str> = requests.iter().map(String::as_str).collect();
        let space = context.space(&self.space)?;
        let to_questions = space.to_questions(context, &texts, pool, &|_| {})?;
        let (scores, won) = self.parameters.compete(&to_questions, &space.among_questions(pool));
        let place = |topic: &Topic| texts.iter().position(|&text| text == topic.request);
        let own: Vec<usize> = topics.iter().filter_map(place).collect();
        Ok((scores.select(Axis(0), &own), won.select(Axis(0), &own)))
    }
}

fn pool_of(rankings: &[Ranking]) -> Vec<u32> {
    let mut pool: Vec<u32> = rankings.iter().flatten().map(|hit| hit.question).collect();
    pool.sort_unstable();
    pool.dedup();
    pool
}

impl Stage for Competition {
    fn name(&self) -> &'static str {
        "competition"
    }

    fn parameters(&self) -> serde_json::Value {
        serde_json::to_value(self).unwrap_or_default()
    }

    fn uses(&self) -> Vec<Uses> {
        vec![Uses::Batch]
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
        let pool = pool_of(&rankings);
        let (scores, _) = self.table(context, topics, &pool)?;
        let answer = |(row, ranking): (ndarray::ArrayView1<f32>, &Ranking)| {
            let kept: HashSet<u32> = ranking.iter().map(|hit| hit.question).collect();
            let mut answer = ranked(&pool, row.iter().copied(), usize::MAX);
            answer.retain(|hit| kept.contains(&hit.question));
            answer
        };
        let answers = scores.rows().into_iter().zip(&rankings).map(answer).collect();
        progress(topics.len() as u64);
        Ok(answers)
    }

    /// Contexts of one request do not compete: all of them are about the same questions.
    fn apply_to_conversations(
        &self,
        _context: &Context,
        _conversations: &[Conversation],
        _rankings: Vec<Ranking>,
        _progress: Progress,
    ) -> Result<Vec<Ranking>, Error> {
        let (expected, found) =
            ("the requests of a split, of which each has questions of its own", "conversations");
        Err(Problem::new(Location::file("stage `competition`"), ProblemKind::Argument, expected, found)
            .hint("systems for conversations are `dense-conversation`, `bm25-conversation` and `bm25-multi-turn`")
            .into())
    }

    fn explain_ranked(
        &self,
        context: &Context,
        topic: &Topic,
        question: u32,
        before: &Ranking,
    ) -> Result<Option<Explanation>, Error> {
        let pool = pool_of(std::slice::from_ref(before));
        let Ok(place) = pool.binary_search(&question) else { return Ok(None) };
        let (scores, won) = self.table(context, std::slice::from_ref(topic), &pool)?;
        let (score, won) = (scores[[0, place]], won[[0, place]]);
        let prize = self.parameters.prize * won;
        let parts = vec![
            Explanation::value(
                f64::from(score - prize),
                format!(
                    "similarity to the request moved towards what it won in {} rounds",
                    self.parameters.rounds
                ),
            ),
            Explanation::value(
                f64::from(prize),
                format!(
                    "{} × logarithm of its share of the question, {:.4}",
                    self.parameters.prize,
                    won.exp()
                ),
            ),
        ];
        Ok(Some(Explanation::of(f64::from(score), "competition between requests", parts)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ndarray::array;

    #[test]
    fn shares_of_a_question_sum_to_one() {
        let logs = log_softmax(&array![[0.1_f32, 0.9], [0.5, 0.2], [0.3, 0.3]], 20.0);
        for column in logs.columns() {
            assert!((column.iter().map(|log| log.exp()).sum::<f32>() - 1.0).abs() < 1e-6);
        }
    }

    #[test]
    fn a_request_loses_what_another_is_nearer_to() {
        // The second question is near to both requests, and nearer to the second; the third is a little farther from the
        // first request, and nobody else's.
        let to_questions = array![[0.9_f32, 0.7, 0.65], [0.1, 0.9, 0.1]];
        let among = array![[1.0_f32, 0.3, 0.3], [0.3, 1.0, 0.3], [0.3, 0.3, 1.0]];
        let parameters = Parameters { rounds: 3, scale: 20.0, weight: 1.0, prize: 0.2 };
        let (scores, _) = parameters.compete(&to_questions, &among);
        assert!(scores[[0, 2]] > scores[[0, 1]], "{scores}");
        let none = Parameters { rounds: 0, prize: 0.0, ..parameters };
        assert_eq!(none.compete(&to_questions, &among).0, to_questions);
    }
}
