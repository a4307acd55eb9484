//! Evaluation of a network on examples that it was not trained on.

use crate::inference::{GROUP_TOKENS, Parallel};
use crate::models::scores;
use crate::network::Network;
use crate::train::objective::{TrainingMaterial, pair_texts, texts};
use clariq_core::Result;
use clariq_folder::{Prompt, Tokenize};
use std::collections::HashSet;

/// The depths of the challenge.
const DEPTHS: [usize; 4] = [5, 10, 20, 30];

/// Mean recall of the held-out examples at the depths of the challenge.
pub(crate) fn recall(
    network: &Parallel,
    tokenize: &Tokenize,
    material: &TrainingMaterial,
    held_out: &[usize],
) -> Result<[f64; 4]> {
    let mut sums = [0.0; 4];
    for (relevant, mut scores) in material.rank(network, tokenize, held_out)? {
        scores.sort_by(|a, b| b.1.total_cmp(&a.1).then(b.0.cmp(&a.0)));
        let relevant: HashSet<u32> = relevant.iter().copied().collect();
        for (sum, depth) in sums.iter_mut().zip(DEPTHS) {
            let best = scores.iter().take(depth);
            let found = best.filter(|(text, _)| relevant.contains(text)).count();
            *sum += found as f64 / relevant.len().max(1) as f64;
        }
    }
    Ok(sums.map(|sum| sum / held_out.len().max(1) as f64))
}

/// The relevant texts of an example, and the scores of all texts that they are ranked among.
type RankedScores<'m> = (&'m [u32], Vec<(u32, f32)>);

impl TrainingMaterial<'_> {
    /// Scores texts for the held-out examples: an encoder the whole bank, a cross-encoder a topic's
    /// relevant questions and candidates.
    fn rank(
        &self,
        network: &Parallel,
        tokenize: &Tokenize,
        held_out: &[usize],
    ) -> Result<Vec<RankedScores<'_>>> {
        let mut ranked = Vec::with_capacity(held_out.len());
        match self {
            Self::Texts(all) => {
                let encode = |texts: &[&str], prompt| {
                    let tokens = tokenize.texts(texts, prompt)?;
                    network.rows(&tokens, GROUP_TOKENS, Network::pooled, &|_| {})
                };
                let judged = all.judged;
                let questions = encode(&texts(&judged.questions), Prompt::Document)?;
                let requests: Vec<&str> =
                    held_out.iter().map(|&topic| judged.requests[topic].as_str()).collect();
                let requests = encode(&requests, Prompt::Query)?;
                let dim = (requests.len() / held_out.len().max(1)).max(1);
                for (&topic, request) in held_out.iter().zip(requests.chunks_exact(dim)) {
                    // Most weights of a sparse encoder are 0.
                    let request: Vec<(usize, f32)> =
                        (0..).zip(request.iter().copied()).filter(|(_, b)| *b != 0.0).collect();
                    let dot = |row: &[f32]| request.iter().map(|(at, b)| row[*at] * b).sum::<f32>();
                    let scores = (0..).zip(questions.chunks_exact(dim).map(dot)).collect();
                    ranked.push((&*judged.relevant[topic], scores));
                }
            }
            Self::Pairs(pairs) => {
                let judged = pairs.judged;
                for &topic in held_out {
                    let relevant = &judged.relevant[topic];
                    let mut pool = [&relevant[..], &judged.candidates[topic]].concat();
                    pool.sort_unstable();
                    pool.dedup();
                    let pairs: Vec<_> = pool.iter().map(|&question| (topic, question)).collect();
                    let tokens = tokenize.pairs(&pair_texts(judged, &pairs))?;
                    let scores = network.rows(&tokens, GROUP_TOKENS, scores, &|_| {})?;
                    ranked.push((&**relevant, pool.into_iter().zip(scores).collect()));
                }
            }
        }
        Ok(ranked)
    }
}
