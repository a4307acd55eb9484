//! Training objectives: one for encoders, two for cross-encoders, and one for conversational
//! encoders, which `resolved` has.

use crate::error::torch;
use crate::network::Network;
use crate::tokens::Tokens;
use crate::train::batch::Batch;
use crate::train::examples::{TopicSplit, below, generator, shuffle};
use crate::train::resolved::{Taught, without_teacher};
use clariq_core::Error;
use clariq_core::{Examples, Objective, Recipe};
use std::collections::BTreeMap;
use tch::{Kind, Tensor};

/// Everything that the steps of a training are made from.
pub(crate) struct Material<'a> {
    pub(crate) recipe: &'a Recipe,
    pub(crate) examples: &'a Examples,
    pub(crate) split: TopicSplit,
    /// Tokens of the requests, for an encoder; of the conversations, for a conversational one.
    pub(crate) requests: Vec<Tokens>,
    /// Tokens of the questions, for an encoder.
    pub(crate) questions: Vec<Tokens>,
    /// Tokens of (topic, question) pairs, for a cross-encoder.
    pub(crate) pairs: BTreeMap<(usize, u32), Tokens>,
    /// What the base says, for a conversational encoder.
    pub(crate) taught: Option<Taught>,
}

/// (topic, question) pairs of a step; the objective says what they mean.
pub(crate) type Step = Vec<(usize, u32)>;

/// The steps of an epoch.
pub(crate) fn steps(
    recipe: &Recipe,
    examples: &Examples,
    split: &TopicSplit,
    epoch: usize,
) -> Vec<Step> {
    let mut random = generator(recipe.seed, 1 + epoch as u64);
    match &recipe.objective {
        Objective::InBatchSoftmax { batch, per_request, .. } => {
            let mut pairs = examples.pairs(&split.train, true);
            shuffle(&mut pairs, &mut random);
            if *per_request == 0 {
                return in_batches(&pairs, *batch);
            }
            by_request(&pairs, *batch, *per_request, &mut random)
        }
        Objective::ResolvedUtterance { batch, .. } => {
            let mut pairs = examples.pairs(&split.train, true);
            shuffle(&mut pairs, &mut random);
            pairs.chunks(*batch).map(<[_]>::to_vec).collect()
        }
        Objective::CrossEntropy { batch, negatives, .. } => {
            let mut pairs = examples.pairs(&split.train, false);
            for &topic in &split.train {
                pairs.extend(
                    topped_up(examples, topic, *negatives, recipe.seed)
                        .into_iter()
                        .map(|question| (topic, question)),
                );
            }
            shuffle(&mut pairs, &mut random);
            pairs.chunks(*batch).map(<[_]>::to_vec).collect()
        }
        Objective::Listwise { batch, negatives, depth, unique, .. } => {
            let mut positives = examples.pairs(&split.train, *unique);
            shuffle(&mut positives, &mut random);
            let list = |(topic, question): (usize, u32)| {
                let candidates = &examples.candidates[topic];
                let mut pool: Vec<u32> = candidates.iter().copied().take(*depth).collect();
                shuffle(&mut pool, &mut random);
                pool.truncate(*negatives);
                while pool.len() < *negatives {
                    pool.push(some_negative(examples, topic, &mut random));
                }
                std::iter::once((topic, question))
                    .chain(pool.into_iter().map(move |negative| (topic, negative)))
                    .collect()
            };
            let lists: Vec<Step> = positives.into_iter().map(list).collect();
            lists.chunks(*batch).map(<[Step]>::concat).collect()
        }
    }
}

/// The last batch is left out if it is less than half full: a softmax over few questions says
/// little.
fn in_batches(pairs: &[(usize, u32)], batch: usize) -> Vec<Step> {
    let full = |step: &&[(usize, u32)]| step.len() * 2 >= batch || pairs.len() * 2 < batch;
    pairs.chunks(batch).filter(full).map(<[_]>::to_vec).collect()
}

/// Batches with several questions of each of their requests, and no request twice.
fn by_request(
    pairs: &[(usize, u32)],
    batch: usize,
    per_request: usize,
    random: &mut rand_chacha::ChaCha8Rng,
) -> Vec<Step> {
    let mut of_topic: BTreeMap<usize, Vec<(usize, u32)>> = BTreeMap::new();
    for &pair in pairs {
        of_topic.entry(pair.0).or_default().push(pair);
    }
    let mut chunks: Vec<(usize, Vec<Step>)> = of_topic
        .into_iter()
        .map(|(topic, pairs)| (topic, pairs.chunks(per_request).map(<[_]>::to_vec).collect()))
        .collect();
    let width = (batch / per_request).max(1);
    let mut steps = Vec::new();
    while !chunks.is_empty() {
        // Topics with most chunks left come first, so that batches stay full to the end.
        shuffle(&mut chunks, random);
        chunks.sort_by_key(|(_, left)| std::cmp::Reverse(left.len()));
        let step: Step =
            chunks.iter_mut().take(width).filter_map(|(_, left)| left.pop()).flatten().collect();
        if chunks.len() * 2 >= width || steps.is_empty() {
            steps.push(step);
        }
        chunks.retain(|(_, left)| !left.is_empty());
    }
    shuffle(&mut steps, random);
    steps
}

fn some_negative(examples: &Examples, topic: usize, random: &mut rand_chacha::ChaCha8Rng) -> u32 {
    loop {
        let question = below(examples.questions.len(), random) as u32;
        if !examples.questions[question as usize].is_empty()
            && !examples.is_relevant(topic, question)
        {
            return question;
        }
    }
}

/// The best candidates of a topic, and questions at random where there are too few; the same in
/// every epoch.
pub(crate) fn topped_up(examples: &Examples, topic: usize, count: usize, seed: u64) -> Vec<u32> {
    let mut negatives: Vec<u32> = examples.candidates[topic].iter().copied().take(count).collect();
    let mut random = generator(seed, (1 << 32) + topic as u64);
    while negatives.len() < count {
        let negative = some_negative(examples, topic, &mut random);
        if !negatives.contains(&negative) {
            negatives.push(negative);
        }
    }
    negatives
}

impl Material<'_> {
    /// The loss of a step, with its tape.
    pub(crate) fn loss(
        &self,
        network: &Network,
        step: &Step,
        train: bool,
    ) -> Result<Tensor, Error> {
        match &self.recipe.objective {
            Objective::InBatchSoftmax {
                scale,
                request_to_question,
                question_to_request,
                question_to_question,
                ..
            } => {
                let weights = [*request_to_question, *question_to_request, *question_to_question];
                self.in_batch_softmax(network, step, *scale, weights, train)
            }
            Objective::ResolvedUtterance { .. } => {
                let taught = self.taught.as_ref();
                let taught = taught.ok_or_else(|| without_teacher(&self.recipe.name))?;
                let topics: Vec<usize> = step.iter().map(|&(topic, _)| topic).collect();
                taught.loss(network, &topics, &self.requests, train)
            }
            Objective::CrossEntropy { .. } => {
                let label = |&(topic, question): &(usize, u32)| {
                    i64::from(self.examples.is_relevant(topic, question))
                };
                let labels: Vec<i64> = step.iter().map(label).collect();
                cross_entropy(&self.logits(network, step, train)?, &labels)
            }
            Objective::Listwise { negatives, .. } => {
                let logits = self.logits(network, step, train)?.view([-1, 1 + *negatives as i64]);
                let first = vec![0; logits.size()[0] as usize];
                cross_entropy(&logits, &first)
            }
        }
    }

    fn logits(&self, network: &Network, step: &Step, train: bool) -> Result<Tensor, Error> {
        let texts: Vec<&Tokens> = step.iter().filter_map(|pair| self.pairs.get(pair)).collect();
        network.logits(&Batch::new(&texts, network.device()).input(train))
    }

    /// Requests and questions of a step are encoded once each, in one pass.
    fn in_batch_softmax(
        &self,
        network: &Network,
        step: &Step,
        scale: f64,
        weights: [f64; 3],
        train: bool,
    ) -> Result<Tensor, Error> {
        let sorted = |mut list: Vec<usize>| {
            list.sort_unstable();
            list.dedup();
            list
        };
        let topics = sorted(step.iter().map(|&(topic, _)| topic).collect());
        let questions = sorted(step.iter().map(|&(_, question)| question as usize).collect());
        let texts: Vec<&Tokens> = topics
            .iter()
            .map(|&topic| &self.requests[topic])
            .chain(questions.iter().map(|&question| &self.questions[question]))
            .collect();
        let device = network.device();
        let batch = Batch::new(&texts, device);
        let vectors = network.pooled_mean(&batch.input(train))?;
        let requests = vectors.narrow(0, 0, topics.len() as i64);
        let questions_at = vectors.narrow(0, topics.len() as i64, questions.len() as i64);
        let is_relevant =
            |topic: usize, question: usize| self.examples.is_relevant(topic, question as u32);
        let table = |rows: &[usize], test: &dyn Fn(usize, usize) -> bool| {
            let flat: Vec<bool> = rows
                .iter()
                .flat_map(|&row| questions.iter().map(move |&at| (row, at)))
                .map(|(row, at)| test(row, at))
                .collect();
            Tensor::from_slice(&flat)
                .view([rows.len() as i64, questions.len() as i64])
                .to_device(device)
        };
        let relevant = table(&topics, &is_relevant);
        let scores = requests.matmul(&questions_at.transpose(0, 1)) * scale;
        let mut loss = Tensor::zeros([], (Kind::Float, device));
        if weights[0] > 0.0 {
            loss += softmax_of_each(&scores, &relevant, &relevant, 1) * weights[0];
        }
        if weights[1] > 0.0 {
            loss += softmax_of_each(&scores, &relevant, &relevant, 0) * weights[1];
        }
        if weights[2] > 0.0 {
            let siblings = table(&questions, &|one, other| {
                topics.iter().any(|&topic| is_relevant(topic, one) && is_relevant(topic, other))
            });
            let others = table(&questions, &|one, other| one != other);
            let positives = siblings.logical_and(&others);
            if positives.any().int64_value(&[]) != 0 {
                let scores = questions_at.matmul(&questions_at.transpose(0, 1)) * scale;
                loss += softmax_of_each(&scores, &positives, &siblings, 1) * weights[2];
            }
        }
        Ok(loss)
    }
}

/// Mean over the rows of −log of the softmax of their label.
fn cross_entropy(logits: &Tensor, labels: &[i64]) -> Result<Tensor, Error> {
    let labels = Tensor::from_slice(labels).to_device(logits.device());
    let no_weights: Option<Tensor> = None;
    logits
        .f_cross_entropy_loss(&labels, no_weights, tch::Reduction::Mean, -100, 0.0)
        .map_err(torch("the loss"))
}

/// Mean over the `positives` of −log of their softmax among themselves alone and everything outside
/// `left_out`, along a dimension.
fn softmax_of_each(scores: &Tensor, positives: &Tensor, left_out: &Tensor, dim: i64) -> Tensor {
    let others = scores.masked_fill(left_out, -1e4).logsumexp([dim], true);
    let losses = scores.logaddexp(&others) - scores;
    losses.masked_select(positives).mean(Kind::Float)
}

/// The tokens that a recipe looks at.
pub(crate) fn pairs_of(
    recipe: &Recipe,
    examples: &Examples,
    split: &TopicSplit,
    epochs: usize,
) -> Vec<(usize, u32)> {
    let mut all: Vec<(usize, u32)> =
        (0..epochs).flat_map(|epoch| steps(recipe, examples, split, epoch)).flatten().collect();
    all.sort_unstable();
    all.dedup();
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    fn examples() -> Examples {
        Examples {
            topics: vec!["1".into(), "2".into(), "3".into()],
            requests: vec!["a".into(), "b".into(), "c".into()],
            questions: (0..20)
                .map(|place| if place == 0 { String::new() } else { format!("q{place}") })
                .collect(),
            relevant: vec![vec![1, 2, 2], vec![3, 4], vec![5, 6]],
            candidates: vec![vec![7, 8], vec![9], vec![10, 11, 12]],
            ..Examples::default()
        }
    }

    fn recipe(objective: &str) -> Recipe {
        let text = format!(
            "name = \"m\"\nbase = \"b\"\nepochs = 2\nlearning_rate = 1e-3\n[objective]\n{objective}"
        );
        Recipe::parse("m.toml", &text).unwrap()
    }

    fn split() -> TopicSplit {
        TopicSplit { train: vec![0, 2], held_out: vec![1] }
    }

    const OBJECTIVES: [&str; 5] = [
        "kind = \"in-batch-softmax\"\nbatch = 4",
        "kind = \"in-batch-softmax\"\nbatch = 4\nper_request = 2",
        "kind = \"cross-entropy\"\nbatch = 4\nnegatives = 5\nsystem = \"bm25\"",
        "kind = \"listwise\"\nbatch = 2\nnegatives = 4\nsystem = \"bm25\"\ndepth = 3",
        "kind = \"resolved-utterance\"\nbatch = 1\nuntrained = 0.5\nhistory = { context = 0, system = 0, decay = 0 }",
    ];

    #[test]
    fn no_held_out_topic_is_in_any_step() {
        for objective in OBJECTIVES {
            let recipe = recipe(objective);
            let pairs = pairs_of(&recipe, &examples(), &split(), 5);
            assert!(!pairs.is_empty(), "{objective}");
            assert!(pairs.iter().all(|&(topic, _)| topic != 1), "{objective}: {pairs:?}");
        }
    }

    #[test]
    fn the_empty_question_is_never_a_negative_and_relevant_ones_neither() {
        for objective in &OBJECTIVES[2..4] {
            let examples = examples();
            let relevant = pairs_of(&recipe(objective), &examples, &split(), 5)
                .into_iter()
                .filter(|&(topic, question)| examples.is_relevant(topic, question));
            assert_eq!(relevant.count(), 4, "{objective}");
            assert!(
                pairs_of(&recipe(objective), &examples, &split(), 5)
                    .iter()
                    .all(|&(_, question)| question != 0)
            );
        }
    }

    #[test]
    fn the_published_recipe_repeats_positives_and_tops_negatives_up() {
        let steps = steps(&recipe(OBJECTIVES[2]), &examples(), &split(), 0);
        let pairs = steps.concat();
        assert_eq!(pairs.len(), 3 + 2 + 2 * 5);
        assert_eq!(pairs.iter().filter(|&&pair| pair == (0, 2)).count(), 2);
        assert!(
            [7, 8].iter().all(|&question| pairs.contains(&(0, question))),
            "candidates come first"
        );
    }

    #[test]
    fn epochs_differ_and_repeat_themselves() {
        for objective in OBJECTIVES {
            let recipe = recipe(objective);
            let epoch = |epoch| steps(&recipe, &examples(), &split(), epoch);
            assert_eq!(epoch(0), epoch(0), "{objective}");
            assert_ne!(epoch(0), epoch(1), "{objective}");
        }
    }

    #[test]
    fn the_softmax_of_two_by_hand() {
        let scores = Tensor::from_slice(&[2.0_f32, 1.0, 0.5]).view([1, 3]);
        let relevant = Tensor::from_slice(&[true, true, false]).view([1, 3]);
        let loss = f64::try_from(softmax_of_each(&scores, &relevant, &relevant, 1)).unwrap();
        let one = |score: f64| -(score.exp() / (score.exp() + 0.5_f64.exp())).ln();
        assert!((loss - f64::midpoint(one(2.0), one(1.0))).abs() < 1e-6, "{loss}");
    }
}
