//! The examples of a training as tokens, and the loss of a step.

mod in_batch;

use crate::batch::TokenBatch;
use crate::network::Network;
use crate::train::steps::{ExampleSplit, pairs_of};
use crate::weights::torch;
use clariq_core::{ExampleForm, JudgedQuestions, Result, TextSide, Training};
use clariq_folder::{Tokenize, Tokens};
pub(super) use in_batch::InBatch;
use std::collections::{BTreeMap, HashMap};
use tch::Tensor;

/// The examples of a training in tokens, as its objective takes them.
pub(crate) enum TrainingMaterial<'a> {
    /// Requests and questions on their own, for an encoder.
    Texts(InBatch<'a>),
    /// (topic, question) pairs, for a cross-encoder.
    Pairs(Pairs<'a>),
}

/// The pairs of a cross-entropy over classes, or of a softmax over lists.
pub(crate) struct Pairs<'a> {
    pub(crate) judged: &'a JudgedQuestions,
    tokens: BTreeMap<(usize, u32), Tokens>,
    /// The pairs of a list, the relevant one first; `None` where each pair is on its own.
    list: Option<usize>,
}

impl<'a> TrainingMaterial<'a> {
    pub(crate) fn new(
        training: &'a Training,
        split: &ExampleSplit,
        tokenize: &Tokenize,
    ) -> Result<Self> {
        let judged = training.examples;
        let list = match training.recipe.objective.form() {
            ExampleForm::Texts { scale, weights, late, .. } => {
                return Ok(Self::Texts(InBatch {
                    judged,
                    requests: tokenize.texts(&texts(&judged.requests), TextSide::Request)?,
                    questions: tokenize.texts(&texts(&judged.questions), TextSide::Document)?,
                    scale,
                    weights,
                    late,
                }));
            }
            ExampleForm::Pairs { .. } => None,
            ExampleForm::Lists { negatives, .. } => Some(1 + negatives),
        };
        let epochs = training.recipe.epochs.ceil() as usize;
        let wanted = pairs_of(training.recipe, judged, split, epochs);
        let tokens = tokenize.pairs(&pair_texts(judged, &wanted))?;
        Ok(Self::Pairs(Pairs { judged, tokens: wanted.into_iter().zip(tokens).collect(), list }))
    }

    /// Renumbers all tokens so that only words of the data have numbers; gives their ids in the
    /// vocabulary, in order.
    ///
    /// Most of a small BERT is its table of words, and most of its words never occur here:
    /// gradients and moments of rows that stay 0 are half of the time of a step.
    pub(crate) fn narrow(&mut self) -> Vec<i64> {
        let mut texts: Vec<&mut Tokens> = match self {
            Self::Texts(InBatch { requests, questions, .. }) => {
                requests.iter_mut().chain(questions).collect()
            }
            Self::Pairs(pairs) => pairs.tokens.values_mut().collect(),
        };
        // 0 stays 0, which is what padding is made of.
        let mut ids = vec![0];
        ids.extend(texts.iter().flat_map(|text| &text.ids));
        ids.sort_unstable();
        ids.dedup();
        let numbers: HashMap<i64, i64> = ids.iter().copied().zip(0..).collect();
        for id in texts.iter_mut().flat_map(|text| &mut text.ids) {
            *id = numbers.get(id).copied().unwrap_or(0);
        }
        ids
    }

    /// Adds the gradient of a step's loss to those of the weights, and gives the loss. At most
    /// `group` texts, or pairs in whole lists, pass through the network together. `seed` seeds the
    /// dropout of a group by its number; `flops` are the factors of `Recipe::flops`.
    pub(crate) fn gradient(
        &self,
        network: &Network,
        step: &[(usize, u32)],
        group: usize,
        seed: &dyn Fn(usize),
        flops: [f64; 2],
    ) -> Result<f64> {
        match self {
            Self::Texts(texts) => texts.gradient(network, step, group, seed, flops),
            Self::Pairs(pairs) => pairs.gradient(network, step, group, seed),
        }
    }
}

impl Pairs<'_> {
    /// The loss of a step is the mean over its lists, or pairs, so that gradients add up.
    fn gradient(
        &self,
        network: &Network,
        step: &[(usize, u32)],
        group: usize,
        seed: &dyn Fn(usize),
    ) -> Result<f64> {
        let list = self.list.unwrap_or(1);
        let mut sum = 0.0;
        for (number, pairs) in step.chunks((group / list).max(1) * list).enumerate() {
            seed(number);
            let share = pairs.len() as f64 / step.len() as f64;
            let loss = self.loss(network, pairs)? * share;
            sum += f64::try_from(&loss).map_err(torch("reading the loss"))?;
            loss.f_backward().map_err(torch("the gradient"))?;
        }
        Ok(sum)
    }

    fn loss(&self, network: &Network, pairs: &[(usize, u32)]) -> Result<Tensor> {
        let texts: Vec<&Tokens> = pairs.iter().filter_map(|pair| self.tokens.get(pair)).collect();
        let logits = network.logits(&TokenBatch::new(&texts, network.device(), true))?;
        if let Some(list) = self.list {
            let logits = logits.view([-1, list as i64]);
            let first = vec![0; logits.size()[0] as usize];
            return cross_entropy(&logits, &first);
        }
        let label = |&(topic, question)| i64::from(self.judged.is_relevant(topic, question));
        cross_entropy(&logits, &pairs.iter().map(label).collect::<Vec<i64>>())
    }
}

pub(crate) fn texts(texts: &[String]) -> Vec<&str> {
    texts.iter().map(String::as_str).collect()
}

/// The request and the question of each pair.
pub(crate) fn pair_texts<'a>(
    judged: &'a JudgedQuestions,
    pairs: &[(usize, u32)],
) -> Vec<(&'a str, &'a str)> {
    let text = |&(topic, question): &(usize, u32)| {
        (judged.requests[topic].as_str(), judged.questions[question as usize].as_str())
    };
    pairs.iter().map(text).collect()
}

/// Mean over the rows of −log of the softmax of their label.
fn cross_entropy(logits: &Tensor, labels: &[i64]) -> Result<Tensor> {
    let labels = Tensor::from_slice(labels).to_device(logits.device());
    let no_weights: Option<Tensor> = None;
    logits
        .f_cross_entropy_loss(&labels, no_weights, tch::Reduction::Mean, -100, 0.0)
        .map_err(torch("the loss"))
}

#[cfg(test)]
mod tests {
    use super::in_batch::{PaddedVectors, sorted};
    use super::*;
    use crate::train::steps::steps;
    use crate::train::{Learner, TrainingBase, seed};
    use clariq_core::{ModelOptions, Recipe};
    use std::path::Path;

    fn judged() -> JudgedQuestions {
        JudgedQuestions {
            topics: vec!["1".into(), "2".into(), "3".into()],
            requests: vec!["bees".into(), "tell me about the wind".into(), "a car".into()],
            questions: (0..12).map(|number| format!("is it number {number}")).collect(),
            relevant: vec![vec![1, 2, 3], vec![4, 5], vec![6, 7]],
            candidates: vec![vec![8, 9, 10], vec![8, 9, 11], vec![9, 10, 11]],
            evaluation: Vec::new(),
        }
    }

    /// All gradients of the first step of a training, as `of` computes them.
    fn gradients(
        objective: &str,
        dropout: f64,
        of: impl Fn(&Learner, &[(usize, u32)]) -> Result<f64>,
    ) -> (f64, Vec<Tensor>) {
        let _alone = crate::GENERATOR.lock();
        let text = format!(
            "name = \"m\"\nbase = \"tiny\"\nepochs = 1\nlearning_rate = 1e-3\ndropout = {dropout}\n\
             [objective]\n{objective}"
        );
        let recipe = Recipe::parse("m.toml", &text).unwrap();
        let base = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/tiny");
        let judged = judged();
        let options = ModelOptions { threads: 1, ..ModelOptions::default() };
        let training = Training {
            recipe: &recipe,
            base: &base,
            examples: &judged,
            data: String::new(),
            options: &options,
            resume: false,
        };
        let split = ExampleSplit { train: vec![0, 1, 2], held_out: Vec::new() };
        let step = steps(&recipe, &judged, &split, 0).concat();
        let base = TrainingBase::open(&training).unwrap();
        let mut learner = Learner::new(&training, &base, split).unwrap();
        let loss = of(&learner, &step).unwrap();
        let parameters = learner.network.parameters();
        let gradients = parameters.iter().map(|(_, weight)| weight.grad()).filter(Tensor::defined);
        (loss, gradients.collect())
    }

    fn assert_equal((loss, one): &(f64, Vec<Tensor>), (other_loss, other): &(f64, Vec<Tensor>)) {
        assert!((loss - other_loss).abs() < 1e-5, "{loss} {other_loss}");
        assert_eq!(one.len(), other.len());
        for (one, other) in one.iter().zip(other) {
            assert!(one.allclose(other, 1e-4, 1e-6, false), "{one} {other}");
        }
    }

    #[test]
    fn groups_add_up_to_the_gradient_of_the_whole_step() {
        for objective in [
            "kind = \"in-batch-softmax\"\nbatch = 8\nquestion_to_request = 1\nquestion_to_question = 0.5",
            "kind = \"late-softmax\"\nbatch = 8\nquestion_to_request = 1\nquestion_to_question = 0.5",
            "kind = \"cross-entropy\"\nbatch = 8\nnegatives = 3\nsystem = \"bm25\"",
            "kind = \"listwise\"\nbatch = 8\nnegatives = 2\nsystem = \"bm25\"\ndepth = 3",
        ] {
            let grouped = |group: usize| {
                gradients(objective, 0.0, |learner, step| {
                    learner.material.gradient(&learner.network, step, group, &|_| {}, [0.2, 0.1])
                })
            };
            let whole = grouped(usize::MAX);
            for group in [3, 4, 7] {
                assert_equal(&grouped(group), &whole);
            }
        }
    }

    #[test]
    fn a_group_has_the_same_dropout_both_times() {
        assert_same_dropout("kind = \"in-batch-softmax\"\nbatch = 8");
    }

    #[test]
    fn tokens_of_a_group_have_the_same_dropout_both_times() {
        assert_same_dropout("kind = \"late-softmax\"\nbatch = 8");
    }

    fn assert_same_dropout(objective: &str) {
        let seed = |group: usize| seed(7, group as u64);
        let grouped = gradients(objective, 0.3, |learner, step| {
            learner.material.gradient(&learner.network, step, 4, &seed, [0.0; 2])
        });
        let with_all_tapes = gradients(objective, 0.3, |learner, step| {
            let TrainingMaterial::Texts(texts) = &learner.material else { unreachable!() };
            let network = &learner.network;
            let topics = sorted(step.iter().map(|&(topic, _)| topic).collect());
            let questions = sorted(step.iter().map(|&(_, question)| question as usize).collect());
            let tokens = topics.iter().map(|&topic| &texts.requests[topic]);
            let tokens = tokens.chain(questions.iter().map(|&at| &texts.questions[at]));
            let tokens: Vec<&Tokens> = tokens.collect();
            let lengths = texts.lengths(&tokens);
            let longest = lengths.iter().copied().max().unwrap();
            let mut vectors = Vec::new();
            for (number, group) in tokens.chunks(4).enumerate() {
                seed(number);
                let batch = TokenBatch::new(group, network.device(), true);
                vectors.push(texts.encode(network, &batch, longest)?);
            }
            let vectors = PaddedVectors::new(&Tensor::cat(&vectors, 0), &lengths);
            let loss = texts.loss(&vectors, &topics, &questions);
            loss.backward();
            Ok(loss.double_value(&[]))
        });
        assert_equal(&grouped, &with_all_tapes);
        let without = gradients(objective, 0.0, |learner, step| {
            learner.material.gradient(&learner.network, step, 4, &seed, [0.0; 2])
        });
        assert!((grouped.0 - without.0).abs() > 1e-3, "dropout changes the loss");
    }
}
