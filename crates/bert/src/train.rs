//! Fine-tuning: the loop that follows a recipe, with its losses, checkpoints and evaluations.

mod adamw;
mod card;
mod checkpoint;
mod curve;
mod evaluate;
mod objective;
mod steps;

use crate::inference::{Parallel, keep_memory};
use crate::models::device;
use crate::names::head_names;
use crate::network::Network;
use crate::pooling::PoolingHead;
use crate::sparse::{self, sparse_base};
use crate::weights::{Weights, torch};
use adamw::AdamW;
use card::{ModelCard, write_folder};
use checkpoint::TrainingCounters;
use clariq_core::{
    Error, ExampleForm, IoAction, ModelKind, Precision, Recipe, Result, Similarity, Training,
    TrainingEvent, bail, training_key,
};
use clariq_folder::{ModelFolder, Sentence, SparseFolder, Tokenize, is_sparse};
pub use curve::{Curve, CurvePoint};
use objective::TrainingMaterial;
use std::collections::HashMap;
use std::fs;
use std::mem;
use std::path::Path;
use steps::{ExampleSplit, TrainingStep, steps};
use tch::{Device, Kind, Tensor};

/// The threads of a step, however many are asked for: libtorch adds up in as many shares as there
/// are threads, and other shares have other last digits. Two are those that all published figures
/// were reached with.
const THREADS: i32 = 2;

struct Learner<'a> {
    training: &'a Training<'a>,
    split: ExampleSplit,
    material: TrainingMaterial<'a>,
    tokenize: Tokenize,
    network: Network,
    optimizer: AdamW,
    /// The whole table of word embeddings, of which the network has the rows that occur in the
    /// data.
    words: Tensor,
    rows: Tensor,
    best: HashMap<String, Tensor>,
    counts: TrainingCounters,
}

/// Trains, and leaves the model in `folder`, which must not exist. Checkpoints are in
/// `<folder>.training`.
pub fn train(
    training: &Training,
    folder: &Path,
    report: &mut dyn FnMut(&TrainingEvent),
) -> Result<Curve> {
    keep_memory();
    let recipe = training.recipe;
    let base = TrainingBase::open(training)?;
    let requests = &training.examples.requests;
    let split = ExampleSplit::draw(requests, recipe.held_out, recipe.fold, recipe.seed);
    if training.examples.pairs(&split.train, true).is_empty() {
        let hint = "no request that it learns from has a relevant question";
        bail!("train.tsv", "rows to train on", "none", hint);
    }
    let mut learner = Learner::new(training, &base, split)?;
    let aside = folder.with_extension("training");
    let checkpoint = aside.join("checkpoint.safetensors");
    learner.restore(&checkpoint, report)?;
    learner.learn(&checkpoint, report)?;
    let weights = learner.finished()?;
    let Learner { split, counts, .. } = learner;
    let made = aside.join("model");
    let _ = fs::remove_dir_all(&made);
    fs::create_dir_all(&made).map_err(Error::io(IoAction::Write, &made))?;
    let about = ModelCard { training, base: &base.folder, split: &split, counts: &counts };
    write_folder(&made, &about, &weights)?;
    fs::rename(&made, folder).map_err(Error::io(IoAction::Write, folder))?;
    // The model is complete; what is left of its making is of no use.
    let _ = fs::remove_dir_all(&aside);
    Ok(counts.curve)
}

/// The model that a training begins with.
struct TrainingBase {
    folder: ModelFolder,
    /// How an encoder makes its vectors while it is trained: as its base does. A sparse encoder has its
    /// prompts alone, and a cross-encoder no use for it.
    sentence: Sentence,
    /// The same folder as a sparse encoder's, where one is trained.
    sparse: Option<SparseFolder>,
}

impl TrainingBase {
    fn open(training: &Training) -> Result<Self> {
        let kind = training.recipe.objective.kind();
        if kind == ModelKind::Sparse {
            return Self::of_sparse(training.base);
        }
        let folder = ModelFolder::open(training.base)?;
        if head_names(folder.shape.family).0.is_none() {
            let hint = "sentence-transformers trains it, and its folder is read here";
            bail!(training.base, "an encoder as a base", (folder.shape.family.to_string()), hint);
        }
        if folder.has_chat_template() {
            let hint = "a trained folder has the files of an encoder of texts alone";
            bail!(training.base, "a base that reads texts as they are", "a chat template", hint);
        }
        let mut sentence = Sentence::usual(folder.shape.hidden as usize);
        if kind == ModelKind::Encoder {
            sentence = folder.sentence()?;
            if sentence.similarity != Similarity::Cosine {
                let expected = "a base whose vectors are compared by cosine";
                let hint = "the losses compare cosines; `all-MiniLM-L6-v2` is such a base";
                bail!(training.base, expected, "by dot product", hint);
            }
        }
        Ok(Self { folder, sentence, sparse: None })
    }

    fn of_sparse(path: &Path) -> Result<Self> {
        let sparse = sparse_base(path)?;
        let mut folder = sparse.transformer.clone();
        if is_sparse(path) {
            folder.checksum = sparse.checksum();
        }
        let usual = Sentence::usual(folder.shape.hidden as usize);
        let sentence = Sentence { prompts: sparse.prompts.clone(), ..usual };
        Ok(Self { folder, sentence, sparse: Some(sparse) })
    }

    /// A network for an objective: without a pooler, which would get no gradient, or with a new head.
    fn network(&self, recipe: &Recipe, device: Device) -> Result<Network> {
        let mut folder = self.folder.clone();
        if let Some(dropout) = recipe.dropout {
            (folder.shape.dropout, folder.shape.attention_dropout) = (dropout, dropout);
        }
        if let Some(sparse) = &self.sparse {
            let sparse = SparseFolder { transformer: folder, ..sparse.clone() };
            let network = sparse::network(&sparse, device, Kind::Float)?;
            return Ok(network.for_training(recipe.precision));
        }
        let mut weights = Weights::read(&folder)?;
        let classes = match recipe.objective.form() {
            ExampleForm::Texts { .. } => {
                let (dense, out) = head_names(folder.shape.family);
                let is_of_head = |name: &str| {
                    name.starts_with(out) || dense.is_some_and(|dense| name.starts_with(dense))
                };
                weights.tensors.retain(|name, _| !is_of_head(name));
                None
            }
            ExampleForm::Pairs { .. } => Some(2),
            ExampleForm::Lists { .. } => Some(1),
        };
        let head = PoolingHead::read(&self.sentence, device)?;
        let network = Network::new(&folder, &weights, head, device, Kind::Float)?;
        let mut network = network.for_training(recipe.precision);
        if let Some(classes) = classes {
            network.new_head(classes);
        }
        Ok(network)
    }
}

impl<'a> Learner<'a> {
    fn new(training: &'a Training, base: &TrainingBase, split: ExampleSplit) -> Result<Self> {
        let recipe = training.recipe;
        let device = device(training.options)?;
        seed(recipe.seed, 0);
        let mut network = base.network(recipe, device)?;
        let tokenize = Tokenize::open(&base.folder, Some(recipe.max_tokens))?
            .with_prompts(&base.sentence.prompts);
        let mut material = TrainingMaterial::new(training, &split, &tokenize)?;
        let rows = if network.word_head.is_some() {
            // A weight for each word of the vocabulary needs all of them.
            (0..base.folder.shape.vocabulary).collect()
        } else {
            material.narrow()
        };
        let at = |id: i64| rows.iter().position(|&row| row == id).map_or(-1, |at| at as i64);
        network.padding = network.padding.map(at);
        let rows = Tensor::from_slice(&rows).to_device(device);
        let narrow = network.words.index_select(0, &rows);
        let words = mem::replace(&mut network.words.0, narrow);
        for (_, weight) in network.parameters() {
            let leaf = weight.detach().contiguous().set_requires_grad(true);
            *weight = leaf;
        }
        let optimizer = AdamW::new(&mut network, recipe.weight_decay, recipe.clip);
        let computes_with = training.options.computes_with();
        let key = training_key(recipe, &base.folder.checksum, training.examples, computes_with);
        let counts = TrainingCounters {
            key,
            step: 0,
            decay: 1.0_f64.to_bits(),
            curve: Curve {
                first_stage: evaluate::first_stage(&material, &split.held_out),
                ..Curve::default()
            },
            best: None,
        };
        let best = HashMap::new();
        Ok(Self {
            training,
            split,
            material,
            tokenize,
            network,
            optimizer,
            words,
            rows,
            best,
            counts,
        })
    }

    fn restore(&mut self, checkpoint: &Path, report: &mut dyn FnMut(&TrainingEvent)) -> Result<()> {
        if !self.training.resume {
            return Ok(());
        }
        let key = &self.counts.key;
        let restored = checkpoint::read(checkpoint, key, &mut self.network, &mut self.optimizer)?;
        if let Some((counts, best)) = restored {
            report(&TrainingEvent::Resumed(counts.step));
            (self.counts, self.best) = (counts, best);
        }
        Ok(())
    }

    fn save(&mut self, checkpoint: &Path) -> Result<()> {
        self.counts.decay = self.optimizer.decay.to_bits();
        if let Some(folder) = checkpoint.parent() {
            fs::create_dir_all(folder).map_err(Error::io(IoAction::Write, folder))?;
        }
        checkpoint::write(checkpoint, &mut self.network, &self.optimizer, &self.best, &self.counts)
    }

    fn learn(&mut self, checkpoint: &Path, report: &mut dyn FnMut(&TrainingEvent)) -> Result<()> {
        let recipe = self.training.recipe;
        let per_epoch = steps(recipe, self.training.examples, &self.split, 0).len();
        let total = ((recipe.epochs * per_epoch as f64).round() as usize).max(1);
        let mut current: Option<(usize, Vec<TrainingStep>)> = None;
        // Once: libtorch makes a new pool of threads when the number changes, and evaluations set
        // another for threads of their own.
        tch::set_num_threads(THREADS);
        while self.counts.step < total {
            if self.waited_long_enough() {
                report(&TrainingEvent::StoppedEarly(self.counts.step));
                break;
            }
            let epoch = self.counts.step / per_epoch;
            let number = self.counts.step % per_epoch;
            if current.as_ref().is_none_or(|(of, _)| *of != epoch) {
                current = Some((epoch, steps(recipe, self.training.examples, &self.split, epoch)));
            }
            // The number of batches is the same in every epoch but for batches by request.
            let Some(step) =
                current.as_ref().and_then(|(_, steps)| steps.get(number).or_else(|| steps.last()))
            else {
                break;
            };
            let row = self.step(step, total)?;
            report(&TrainingEvent::Step { step: row.step, steps: total, loss: row.loss });
            self.counts.curve.rows.push(row);
            if self.counts.step.is_multiple_of(recipe.checkpoint_every) {
                self.save(checkpoint)?;
            }
        }
        Ok(())
    }

    fn step(&mut self, step: &TrainingStep, total: usize) -> Result<CurvePoint> {
        let recipe = self.training.recipe;
        let before = self.counts.step;
        // Dropout depends on the step and the group, not on what came before: that makes a training
        // resumable, and a group the same when it is computed again.
        let seed = |group: usize| seed(recipe.seed, 1 + before as u64 + ((group as u64) << 32));
        let group = recipe.group.unwrap_or(usize::MAX);
        let flops = recipe.flops(before, total);
        let loss = self.material.gradient(&self.network, step, group, &seed, flops)?;
        if !loss.is_finite() {
            let found = format!("{loss} at step {}", before + 1);
            let hint = "a lower learning_rate, or a longer warm_up, keeps it finite";
            bail!(&*recipe.name, "a finite loss", found, hint);
        }
        let rate = recipe.rate(before, total);
        let norm = self.optimizer.step(&mut self.network, rate)?;
        self.counts.step += 1;
        let due =
            self.counts.step.is_multiple_of(recipe.evaluate_every) || self.counts.step == total;
        let recall =
            if due && !self.split.held_out.is_empty() { Some(self.evaluate()?) } else { None };
        Ok(CurvePoint { step: self.counts.step, rate, loss, norm, recall })
    }

    fn evaluate(&mut self) -> Result<[f64; 4]> {
        let recipe = self.training.recipe;
        let narrow = self.whole_words()?;
        // Weights are saved as 32-bit floats.
        let mut exact = self.network.clone().for_training(Precision::F32);
        exact.padding = exact.shape.positions_after;
        let exact = Parallel::new(exact, self.training.options.threads);
        let recall = evaluate::recall(&exact, &self.tokenize, &self.material, &self.split.held_out);
        self.network.words.0 = narrow;
        let recall = recall?;
        let mean = recall.iter().sum::<f64>() / 4.0;
        if recipe.patience > 0 && self.counts.best.is_none_or(|(_, best)| mean > best) {
            self.counts.best = Some((self.counts.step, mean));
            let weights = self.network.parameters().into_iter();
            self.best = weights.map(|(name, weight)| (name, weight.detach().copy())).collect();
        }
        Ok(recall)
    }

    /// Puts the whole vocabulary into the network; gives the trained rows.
    fn whole_words(&mut self) -> Result<Tensor> {
        let _without_tape = tch::no_grad_guard();
        // Rows without a token in the data had no gradient: weight decay alone has changed them.
        let mut whole = &self.words * self.optimizer.decay;
        let whole = whole
            .f_index_copy_(0, &self.rows, &self.network.words.detach())
            .map_err(torch("the vocabulary"))?;
        Ok(mem::replace(&mut self.network.words.0, whole))
    }

    fn waited_long_enough(&self) -> bool {
        let recipe = self.training.recipe;
        let Some((best_step, _)) = self.counts.best else { return false };
        let evaluations = (self.counts.step - best_step) / recipe.evaluate_every;
        recipe.patience > 0 && evaluations >= recipe.patience
    }

    /// The weights that are saved: the last ones, or the best ones where the recipe watches
    /// held-out topics.
    fn finished(&mut self) -> Result<Weights> {
        let _without_tape = tch::no_grad_guard();
        for (name, weight) in self.network.parameters() {
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
fn check_finite(name: &str, weights: &Weights) -> Result<()> {
    for (tensor, values) in &weights.tensors {
        let finite = values.f_isfinite().and_then(|finite| finite.f_all());
        let finite = finite.and_then(|all| all.f_int64_value(&[]));
        if finite.map_err(torch("checking the weights"))? == 0 {
            let hint = "no model was saved; a lower learning_rate, or a longer warm_up, keeps them \
                        finite";
            bail!(name, "finite weights", "NaN or infinity in `{tensor}`", hint);
        }
    }
    Ok(())
}

/// Seeds libtorch's own generator, which dropout draws from.
fn seed(seed: u64, purpose: u64) {
    let mixed = (seed ^ purpose.wrapping_mul(0x9e37_79b9_7f4a_7c15)) >> 1;
    tch::manual_seed(mixed as i64);
    if tch::Cuda::is_available() {
        tch::Cuda::manual_seed_all(mixed);
    }
}
