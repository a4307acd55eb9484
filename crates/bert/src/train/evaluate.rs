//! Evaluation of a network on topics that it was not trained on.

use crate::conversation::pooled_first;
use crate::network::{Input, Network};
use crate::streams::answer_all;
use crate::tokens::{Tokenize, Tokens};
use crate::train::examples::TopicSplit;
use crate::train::resolved::Taught;
use clariq_core::Error;
use clariq_core::{Examples, History, Objective, Recipe};
use std::collections::HashSet;
use std::sync::Mutex;

/// The depths of the challenge.
const DEPTHS: [usize; 4] = [5, 10, 20, 30];

/// Mean recall of the held-out topics at the depths of the challenge: an encoder ranks the whole
/// bank, a cross-encoder a topic's relevant questions and candidates, a conversational encoder all
/// texts that resolved utterances are told from.
pub(crate) fn recall(
    network: Network,
    tokenize: &Tokenize,
    recipe: &Recipe,
    examples: &Examples,
    split: &TopicSplit,
    taught: Option<&Taught>,
    threads: usize,
) -> Result<[f64; 4], Error> {
    let network = Mutex::new(network);
    let mut sums = [0.0; 4];
    let mut add = |topic: usize, mut ranking: Vec<(u32, f32)>| {
        ranking.sort_by(|a, b| b.1.total_cmp(&a.1).then(b.0.cmp(&a.0)));
        let relevant: HashSet<u32> = examples.relevant[topic].iter().copied().collect();
        for (sum, depth) in sums.iter_mut().zip(DEPTHS) {
            let found = ranking
                .iter()
                .take(depth)
                .filter(|(question, _)| relevant.contains(question))
                .count();
            *sum += found as f64 / relevant.len().max(1) as f64;
        }
    };
    if let Some(taught) = taught {
        let conversation = |&topic: &usize| History::of(&examples.conversations[topic]);
        let tokens = split.held_out.iter().map(|topic| tokenize.conversation(&conversation(topic)));
        let tokens: Vec<Tokens> = tokens.collect::<Result<_, _>>()?;
        let width = network.lock().map_or(1, |network| network.shape.hidden) as usize;
        let vectors = answer_all(&network, &tokens, width, threads, pooled_first, &|_| {})?;
        for (&topic, vector) in split.held_out.iter().zip(vectors.chunks_exact(width.max(1))) {
            add(topic, (0..).zip(taught.scores(topic, vector)?).collect());
        }
    } else if let Objective::InBatchSoftmax { .. } = recipe.objective {
        let texts = |texts: Vec<&str>| -> Result<Vec<f32>, Error> {
            let tokens = tokenize.texts(&texts)?;
            let width = network.lock().map_or(1, |network| network.shape.hidden) as usize;
            answer_all(&network, &tokens, width, threads, Network::pooled_mean, &|_| {})
        };
        let questions = texts(examples.questions.iter().map(String::as_str).collect())?;
        let requests =
            texts(split.held_out.iter().map(|&topic| examples.requests[topic].as_str()).collect())?;
        let width = questions.len() / examples.questions.len().max(1);
        for (&topic, request) in split.held_out.iter().zip(requests.chunks_exact(width.max(1))) {
            let dot = |row: &[f32]| row.iter().zip(request).map(|(a, b)| a * b).sum::<f32>();
            add(topic, (0..).zip(questions.chunks_exact(width).map(dot)).collect());
        }
    } else {
        for &topic in &split.held_out {
            let mut pool: Vec<u32> = examples.relevant[topic]
                .iter()
                .chain(&examples.candidates[topic])
                .copied()
                .collect();
            pool.sort_unstable();
            pool.dedup();
            let request = examples.requests[topic].as_str();
            let pairs: Vec<_> = pool
                .iter()
                .map(|&question| (request, examples.questions[question as usize].as_str()))
                .collect();
            let tokens: Vec<Tokens> = tokenize.pairs(&pairs)?;
            let answer = |network: &Network, input: &Input| {
                Ok(crate::cross_encoder::score(&network.logits(input)?))
            };
            let scores = answer_all(&network, &tokens, 1, threads, answer, &|_| {})?;
            add(topic, pool.into_iter().zip(scores).collect());
        }
    }
    Ok(sums.map(|sum| sum / split.held_out.len().max(1) as f64))
}
