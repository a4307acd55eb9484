//! The training loop: loss, gradient, step, checkpoint, evaluation.

use crate::error::torch;
use crate::network::Network;
use crate::options::device;
use crate::streams::keep_memory;
use crate::tokens::{Tokenize, Tokens};
use crate::train::adamw::AdamW;
use crate::train::card::{Description, write_folder};
use crate::train::checkpoint::{self, Counts};
use crate::train::curve::{Curve, Row};
use crate::train::evaluate;
use crate::train::examples::TopicSplit;
use crate::train::objective::{Material, Step, pairs_of, steps};
use crate::train::resolved::{Taught, tokens_of};
use crate::weights::Weights;
use clariq_core::Error;
use clariq_core::{ModelKind, Objective, Precision, Training, TrainingEvent, training_key};
use clariq_model::{ModelFolder, problem};
use std::collections::{BTreeMap, HashMap};
use std::fs;
use std::path::{Path, PathBuf};
use tch::{Kind, Tensor};

/// A model that was trained.
#[derive(Debug, Clone)]
pub struct Trained {
    /// Its folder.
    pub folder: PathBuf,
    /// Its curve.
    pub curve: Curve,
}

struct Learner<'a> {
    training: &'a Training<'a>,
    key: String,
    split: TopicSplit,
    material: Material<'a>,
    tokenize: Tokenize,
    network: Network,
    optimizer: AdamW,
    /// The whole table of word embeddings, of which the network has the rows that occur in the
    /// data.
    words: Tensor,
    rows: Tensor,
    best: HashMap<String, Tensor>,
    counts: Counts,
}

/// Trains, and leaves the model in `folder`, which must not exist. Checkpoints are in
/// `<folder>.training`.
pub fn train(
    training: &Training,
    folder: &Path,
    tell: &mut dyn FnMut(&TrainingEvent),
) -> Result<Trained, Error> {
    keep_memory();
    let base = ModelFolder::open(training.base)?;
    let recipe = training.recipe;
    let split = TopicSplit::draw(training.examples, recipe.held_out, recipe.fold, recipe.seed);
    if training.examples.pairs(&split.train, true).is_empty() {
        return Err(problem(Path::new("train.tsv"), "rows to train on", "none")
            .hint("`clariq data check` shows what the data folder has")
            .into());
    }
    let mut learner = Learner::new(training, &base, split)?;
    let aside = folder.with_extension("training");
    let checkpoint = aside.join("checkpoint.safetensors");
    learner.restore(&checkpoint, tell)?;
    learner.learn(&checkpoint, tell)?;
    let weights = learner.finished()?;
    let Learner { split, counts, key, .. } = learner;
    let about = Description {
        recipe: training.recipe,
        base: &base,
        examples: training.examples,
        split: &split,
        curve: &counts.curve,
        best: counts.best,
        data: &training.data,
        key: &key,
    };
    let made = aside.join("model");
    let _ = fs::remove_dir_all(&made);
    fs::create_dir_all(&made).map_err(Error::io("create", &made))?;
    write_folder(&made, &about, &weights)?;
    fs::rename(&made, folder).map_err(Error::io("create", folder))?;
    // The model is complete; what is left of its making is of no use.
    let _ = fs::remove_dir_all(&aside);
    Ok(Trained { folder: folder.to_owned(), curve: counts.curve })
}

impl<'a> Learner<'a> {
    fn new(training: &'a Training, base: &ModelFolder, split: TopicSplit) -> Result<Self, Error> {
        let recipe = training.recipe;
        let mut shape = base.shape.clone();
        if let Some(dropout) = recipe.dropout {
            (shape.dropout, shape.attention_dropout) = (dropout, dropout);
        }
        let mut weights = Weights::read(base)?;
        let device = device(training.options)?;
        seed(recipe.seed, 0);
        let classes = match recipe.objective {
            Objective::InBatchSoftmax { .. } | Objective::ResolvedUtterance { .. } => {
                // An encoder has no use for a pooler, and no gradient would reach it.
                weights.tensors.retain(|name, _| !name.starts_with("pooler."));
                None
            }
            Objective::CrossEntropy { .. } => Some(2),
            Objective::Listwise { .. } => Some(1),
        };
        let network = Network::new(&shape, &weights, device, Kind::Float)?;
        let mut network = network.for_training(recipe.precision);
        if let Some(classes) = classes {
            network.new_head(classes);
        }
        let tokenize = Tokenize::open(base, Some(recipe.max_tokens))?;
        let mut material = Material {
            recipe,
            examples: training.examples,
            split: split.clone(),
            requests: Vec::new(),
            questions: Vec::new(),
            pairs: BTreeMap::new(),
            taught: Taught::by_teacher(training, device)?,
        };
        material.tokenise(&tokenize)?;
        let ids = material.narrow();
        let rows = Tensor::from_slice(&ids).to_device(device);
        let words = network.narrow_vocabulary(&rows);
        let frozen = recipe.objective.freezes_embeddings();
        for (name, _, weight) in network.parameters() {
            let learns = !(frozen && name.starts_with("embeddings."));
            let leaf = weight.detach().contiguous().set_requires_grad(learns);
            *weight = leaf;
        }
        let optimizer = AdamW::new(&mut network, recipe.weight_decay, recipe.clip);
        let key = training_key(
            recipe,
            &base.checksum,
            training.examples,
            &training.options.computes_with(),
        );
        let counts = Counts {
            key: key.clone(),
            step: 0,
            decay: 1.0_f64.to_bits(),
            curve: Curve::default(),
            best: None,
        };
        Ok(Self {
            training,
            key,
            split,
            material,
            tokenize,
            network,
            optimizer,
            words,
            rows,
            best: HashMap::new(),
            counts,
        })
    }

    fn restore(
        &mut self,
        checkpoint: &Path,
        tell: &mut dyn FnMut(&TrainingEvent),
    ) -> Result<(), Error> {
        if !self.training.resume {
            return Ok(());
        }
        if let Some((counts, best)) =
            checkpoint::read(checkpoint, &self.key, &mut self.network, &mut self.optimizer)?
        {
            tell(&TrainingEvent::Resumed(counts.step));
            (self.counts, self.best) = (counts, best);
        }
        Ok(())
    }

    fn save(&mut self, checkpoint: &Path) -> Result<(), Error> {
        self.counts.decay = self.optimizer.decay.to_bits();
        if let Some(folder) = checkpoint.parent() {
            fs::create_dir_all(folder).map_err(|source| Error::Io {
                action: "create",
                path: folder.to_owned(),
                source,
            })?;
        }
        checkpoint::write(checkpoint, &mut self.network, &self.optimizer, &self.best, &self.counts)
    }

    fn learn(
        &mut self,
        checkpoint: &Path,
        tell: &mut dyn FnMut(&TrainingEvent),
    ) -> Result<(), Error> {
        let recipe = self.training.recipe;
        let per_epoch = steps(recipe, self.training.examples, &self.split, 0).len();
        let total = ((recipe.epochs * per_epoch as f64).round() as usize).max(1);
        let mut current: Option<(usize, Vec<Step>)> = None;
        while self.counts.step < total {
            if self.waited_long_enough() {
                tell(&TrainingEvent::StoppedEarly(self.counts.step));
                break;
            }
            let (epoch, place) = (self.counts.step / per_epoch, self.counts.step % per_epoch);
            if current.as_ref().is_none_or(|(of, _)| *of != epoch) {
                current = Some((epoch, steps(recipe, self.training.examples, &self.split, epoch)));
            }
            // The number of batches is the same in every epoch but for batches by request.
            let Some(step) =
                current.as_ref().and_then(|(_, steps)| steps.get(place).or_else(|| steps.last()))
            else {
                break;
            };
            let row = self.step(step, total)?;
            tell(&TrainingEvent::Step { step: row.step, steps: total, loss: row.loss });
            self.counts.curve.rows.push(row);
            if self.counts.step.is_multiple_of(recipe.checkpoint_every) {
                self.save(checkpoint)?;
            }
        }
        Ok(())
    }

    fn step(&mut self, step: &Step, total: usize) -> Result<Row, Error> {
        let recipe = self.training.recipe;
        let before = self.counts.step;
        // Dropout of a step depends on the step, not on what came before: that makes it resumable.
        seed(recipe.seed, 1 + before as u64);
        tch::set_num_threads(self.training.options.threads.clamp(1, 1024) as i32);
        let loss = self.material.loss(&self.network, step, true)?;
        let value = f64::try_from(&loss).map_err(torch("reading the loss"))?;
        if !value.is_finite() {
            return Err(problem(
                Path::new(&*recipe.name),
                "a finite loss",
                format!("{value} at step {}", before + 1),
            )
            .hint("a lower learning_rate, or a longer warm_up, keeps it finite")
            .into());
        }
        loss.f_backward().map_err(torch("the gradient"))?;
        let rate = recipe.rate(before, total);
        let norm = self.optimizer.step(&mut self.network, rate)?;
        self.counts.step += 1;
        let due =
            self.counts.step.is_multiple_of(recipe.evaluate_every) || self.counts.step == total;
        let recall =
            if due && !self.split.held_out.is_empty() { Some(self.evaluate()?) } else { None };
        Ok(Row { step: self.counts.step, rate, loss: value, norm, recall })
    }

    fn evaluate(&mut self) -> Result<[f64; 4], Error> {
        let recipe = self.training.recipe;
        let narrow = self.whole_words()?;
        let threads = self.training.options.threads;
        // What is saved is a model of 32-bit floats.
        let exact = self.network.replica().for_training(Precision::F32);
        let recall = evaluate::recall(
            exact,
            &self.tokenize,
            recipe,
            self.training.examples,
            &self.split,
            self.material.taught.as_ref(),
            threads,
        );
        self.network.set_words(narrow);
        let recall = recall?;
        let mean = recall.iter().sum::<f64>() / 4.0;
        if recipe.patience > 0 && self.counts.best.is_none_or(|(_, best)| mean > best) {
            self.counts.best = Some((self.counts.step, mean));
            self.best = self
                .network
                .parameters()
                .into_iter()
                .map(|(name, _, weight)| (name, weight.detach().copy()))
                .collect();
        }
        Ok(recall)
    }

    /// Puts the whole vocabulary into the network; gives the trained rows.
    fn whole_words(&mut self) -> Result<Tensor, Error> {
        let _without_tape = tch::no_grad_guard();
        let narrow = self
            .network
            .narrow_vocabulary(&Tensor::from_slice(&[0_i64]).to_device(self.network.device()));
        // Rows without a token in the data had no gradient: weight decay alone has changed them.
        let frozen = self.training.recipe.objective.freezes_embeddings();
        let decay = if frozen { 1.0 } else { self.optimizer.decay };
        let mut whole = &self.words * decay;
        let whole = whole
            .f_index_copy_(0, &self.rows, &narrow.detach())
            .map_err(torch("the vocabulary"))?;
        self.network.set_words(whole);
        Ok(narrow)
    }

    fn waited_long_enough(&self) -> bool {
        let recipe = self.training.recipe;
        let since = |(step, _): (usize, f64)| (self.counts.step - step) / recipe.evaluate_every;
        recipe.patience > 0 && self.counts.best.is_some_and(|best| since(best) >= recipe.patience)
    }

    /// The weights that are saved: the last ones, or the best ones where the recipe watches
    /// held-out topics.
    fn finished(&mut self) -> Result<Weights, Error> {
        let _without_tape = tch::no_grad_guard();
        for (name, _, weight) in self.network.parameters() {
            if let Some(best) = self.best.get(&name) {
                weight.copy_(best);
            }
        }
        let _narrow = self.whole_words()?;
        let weights = self.network.weights();
        check_finite(&self.training.recipe.name, &weights)?;
        Ok(weights)
    }
}

/// The last step can leave numbers that no later loss would show.
fn check_finite(name: &str, weights: &Weights) -> Result<(), Error> {
    for (tensor, values) in &weights.tensors {
        let finite = values.f_isfinite().and_then(|finite| finite.f_all());
        let finite = finite.and_then(|all| all.f_int64_value(&[]));
        if finite.map_err(torch("checking the weights"))? == 0 {
            return Err(problem(
                Path::new(name),
                "finite weights",
                format!("NaN or infinity in `{tensor}`"),
            )
            .hint(
                "no model was saved; a lower learning_rate, or a longer warm_up, keeps them finite",
            )
            .into());
        }
    }
    Ok(())
}

impl Material<'_> {
    fn tokenise(&mut self, tokenize: &Tokenize) -> Result<(), Error> {
        let (recipe, examples) = (self.recipe, self.examples);
        if recipe.objective.kind() == ModelKind::ConversationEncoder {
            self.requests = tokens_of(examples, tokenize)?;
            return Ok(());
        }
        let texts = |texts: &[String]| {
            tokenize.texts(&texts.iter().map(String::as_str).collect::<Vec<_>>())
        };
        if recipe.objective.kind() == ModelKind::Encoder {
            self.requests = texts(&examples.requests)?;
            self.questions = texts(&examples.questions)?;
            return Ok(());
        }
        let wanted = pairs_of(recipe, examples, &self.split, recipe.epochs.ceil() as usize);
        let texts: Vec<(&str, &str)> = wanted
            .iter()
            .map(|&(topic, question)| {
                (examples.requests[topic].as_str(), examples.questions[question as usize].as_str())
            })
            .collect();
        self.pairs = wanted.iter().copied().zip(tokenize.pairs(&texts)?).collect();
        Ok(())
    }

    /// Renumbers all tokens so that only words of the data have numbers; gives their ids in the
    /// vocabulary, in order.
    ///
    /// Most of a small BERT is its table of words, and most of its words never occur here:
    /// gradients and moments of rows that stay 0 are half of the time of a step.
    fn narrow(&mut self) -> Vec<i64> {
        let all = || self.requests.iter().chain(&self.questions).chain(self.pairs.values());
        // 0 stays 0, which is what padding is made of.
        let mut ids: Vec<i64> = std::iter::once(0)
            .chain(all().flat_map(|text: &Tokens| text.ids.iter().copied()))
            .collect();
        ids.sort_unstable();
        ids.dedup();
        let numbers: HashMap<i64, i64> = ids.iter().copied().zip(0..).collect();
        let texts =
            self.requests.iter_mut().chain(&mut self.questions).chain(self.pairs.values_mut());
        for id in texts.flat_map(|text| &mut text.ids) {
            *id = numbers.get(id).copied().unwrap_or(0);
        }
        ids
    }
}

/// Seeds libtorch's own generator, which dropout draws from.
fn seed(seed: u64, purpose: u64) {
    let mixed = (seed ^ purpose.wrapping_mul(0x9e37_79b9_7f4a_7c15)) >> 1;
    tch::manual_seed(mixed as i64);
    if tch::Cuda::is_available() {
        tch::Cuda::manual_seed_all(mixed);
    }
}
