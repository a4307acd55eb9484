//! Evaluation of a network on examples that it was not trained on.

use crate::inference::{GROUP_TOKENS, Parallel};
use crate::late::TokenChoice;
use crate::models::scores;
use crate::network::Network;
use crate::train::objective::{TrainingMaterial, pair_texts, texts as texts_of};
use clariq_core::{JudgedQuestions, Result, TextSide, TokenVectors};
use clariq_folder::Tokenize;
use rayon::prelude::*;

/// The depths of the challenge.
const DEPTHS: [usize; 4] = [5, 10, 20, 30];

/// Mean recall of the held-out topics at the depths of the challenge, as of a run: an encoder ranks the
/// bank, a cross-encoder reorders the pool of the topic and finds nothing that is not in it.
pub(crate) fn recall(
    network: &Parallel,
    tokenize: &Tokenize,
    material: &TrainingMaterial,
    held_out: &[usize],
) -> Result<[f64; 4]> {
    let mut rankings = Vec::with_capacity(held_out.len());
    for mut scores in material.rank(network, tokenize, held_out)? {
        scores.sort_by(|a, b| b.1.total_cmp(&a.1).then(b.0.cmp(&a.0)));
        rankings.push(scores.into_iter().map(|(text, _)| text).collect());
    }
    Ok(mean_recall(material.judged(), held_out, &rankings))
}

/// The same of the pools that a cross-encoder reorders, before it does; `None` if there are none.
pub(crate) fn first_stage(material: &TrainingMaterial, held_out: &[usize]) -> Option<[f64; 4]> {
    let TrainingMaterial::Pairs(_) = material else { return None };
    let judged = material.judged();
    let pools: Vec<Vec<u32>> =
        held_out.iter().map(|&topic| judged.evaluation[topic].pool.clone()).collect();
    (!pools.is_empty()).then(|| mean_recall(judged, held_out, &pools))
}

/// Mean recall of rankings of the held-out topics.
fn mean_recall(judged: &JudgedQuestions, held_out: &[usize], rankings: &[Vec<u32>]) -> [f64; 4] {
    let mut sums = [0.0; 4];
    for (&topic, ranking) in held_out.iter().zip(rankings) {
        let relevant = &judged.evaluation[topic].relevant;
        for (sum, depth) in sums.iter_mut().zip(DEPTHS) {
            let found = ranking.iter().take(depth).filter(|text| relevant.contains(text)).count();
            *sum += found as f64 / relevant.len().max(1) as f64;
        }
    }
    sums.map(|sum| sum / held_out.len().max(1) as f64)
}

impl TrainingMaterial<'_> {
    fn judged(&self) -> &JudgedQuestions {
        match self {
            Self::Texts(texts) => texts.judged,
            Self::Pairs(pairs) => pairs.judged,
        }
    }

    /// The scores of the questions that are ranked for each held-out topic.
    fn rank(
        &self,
        network: &Parallel,
        tokenize: &Tokenize,
        held_out: &[usize],
    ) -> Result<Vec<Vec<(u32, f32)>>> {
        let mut ranked = Vec::with_capacity(held_out.len());
        let judged = self.judged();
        let requests: Vec<&str> =
            held_out.iter().map(|&topic| judged.requests[topic].as_str()).collect();
        let has_text =
            |(question, _): &(u32, f32)| !judged.questions[*question as usize].is_empty();
        match self {
            Self::Texts(texts) if texts.late => {
                let make = |ids, rows: Vec<f32>| TokenVectors::new(ids, &rows);
                let encode = |texts: &[&str], side| {
                    let all = TokenChoice::default();
                    all.vectors((network, tokenize), (texts, side), make, &|_| {})
                };
                let questions = encode(&texts_of(&judged.questions), TextSide::Document)?;
                for request in encode(&requests, TextSide::Request)? {
                    let request = request.request();
                    let score = |question| request.mean_max_sim(question) as f32;
                    let scores = questions.par_iter().map(score).collect::<Vec<f32>>();
                    ranked.push((0..).zip(scores).filter(has_text).collect());
                }
            }
            Self::Texts(_) => {
                let encode = |texts: &[&str], side| {
                    let tokens = tokenize.texts(texts, side)?;
                    network.rows(&tokens, GROUP_TOKENS, Network::pooled, &|_| {})
                };
                let questions = encode(&texts_of(&judged.questions), TextSide::Document)?;
                let requests = encode(&requests, TextSide::Request)?;
                let dim = (requests.len() / held_out.len().max(1)).max(1);
                for request in requests.chunks_exact(dim) {
                    // Most weights of words are 0.
                    let request: Vec<(usize, f32)> =
                        (0..).zip(request.iter().copied()).filter(|(_, b)| *b != 0.0).collect();
                    let scores = questions
                        .chunks_exact(dim)
                        .map(|row| request.iter().map(|(at, b)| row[*at] * b).sum::<f32>());
                    ranked.push((0..).zip(scores).filter(has_text).collect());
                }
            }
            Self::Pairs(_) => {
                for &topic in held_out {
                    let pool = &judged.evaluation[topic].pool;
                    let pairs: Vec<_> = pool.iter().map(|&question| (topic, question)).collect();
                    let tokens = tokenize.pairs(&pair_texts(judged, &pairs))?;
                    let scores = network.rows(&tokens, GROUP_TOKENS, scores, &|_| {})?;
                    ranked.push(pool.iter().copied().zip(scores).collect());
                }
            }
        }
        Ok(ranked)
    }
}
