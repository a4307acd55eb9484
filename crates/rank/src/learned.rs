//! What does a learned model answer? The questions that stages and need models ask one, and who is asked for a model.
//!
//! They see models through these traits alone. Whoever implements them knows weights and engines; nothing here does.

use crate::error::Error;
use crate::stage::Progress;
use clariq_core::{Location, Problem, ProblemKind};
use std::sync::Arc;

/// Vectors of one length, one row per text.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Embeddings {
    /// The length of a vector.
    pub dim: usize,
    /// All rows, one after the other.
    pub values: Vec<f32>,
}

impl Embeddings {
    /// How many rows there are.
    pub fn len(&self) -> usize {
        self.values.len().checked_div(self.dim).unwrap_or(0)
    }

    /// Whether there are no rows.
    pub fn is_empty(&self) -> bool {
        self.values.is_empty()
    }

    /// One row.
    ///
    /// # Panics
    ///
    /// If there is no such row.
    pub fn row(&self, place: usize) -> &[f32] {
        &self.values[place * self.dim..(place + 1) * self.dim]
    }

    /// All rows in order.
    pub fn rows(&self) -> impl ExactSizeIterator<Item = &[f32]> {
        self.values.chunks_exact(self.dim.max(1))
    }
}

/// Texts in, vectors of length 1 out: the dot product of two is their cosine similarity.
pub trait Encoder: Send + Sync {
    /// One row per text, in order. `progress` is told the number of texts finished since the last call.
    fn encode(&self, texts: &[&str], progress: Progress) -> Result<Embeddings, Error>;

    /// The same, each text by itself: whoever else asks, and for what, a text's vector is the same to the last bit. Slower,
    /// because texts of one length are not computed together.
    fn encode_apart(&self, texts: &[&str], progress: Progress) -> Result<Embeddings, Error> {
        let mut all = Embeddings::default();
        for &text in texts {
            let one = self.encode(&[text], progress)?;
            all.dim = one.dim;
            all.values.extend(one.values);
        }
        Ok(all)
    }

    /// What identifies the weights and everything else that the vectors depend on.
    fn checksum(&self) -> &str;
}

/// Pairs of request and question in, logits out: the higher, the better the question fits the request.
pub trait PairScorer: Send + Sync {
    /// One logit per pair, in order. `progress` is told the number of pairs finished since the last call.
    fn score(&self, pairs: &[(&str, &str)], progress: Progress) -> Result<Vec<f32>, Error>;

    /// What identifies the weights and everything else that the logits depend on.
    fn checksum(&self) -> &str;
}

/// Texts in, probabilities of classes out.
pub trait TextClassifier: Send + Sync {
    /// For each text, in order, the probability of every class; they sum to 1.
    fn classify(&self, texts: &[&str], progress: Progress) -> Result<Vec<Vec<f64>>, Error>;

    /// The name that its weights are kept under.
    fn name(&self) -> &str;

    /// What identifies the weights and everything else that the probabilities depend on.
    fn checksum(&self) -> &str;
}

/// What a classifier is trained on.
#[derive(Debug, Clone, Copy)]
pub struct ClassifiedTexts<'t> {
    /// The texts.
    pub texts: &'t [&'t str],
    /// The class of each text: its place in `names`.
    pub classes: &'t [usize],
    /// The names of the classes.
    pub names: &'t [&'t str],
}

/// Where models come from, by the names that configurations give them.
pub trait Models: Send + Sync {
    /// The encoder of that name.
    fn encoder(&self, name: &str) -> Result<Arc<dyn Encoder>, Error>;

    /// The cross-encoder of that name.
    fn pair_scorer(&self, name: &str) -> Result<Arc<dyn PairScorer>, Error>;

    /// Trains what has to be trained before a model of that name can be opened. Nothing is lost without it but that the
    /// progress of a run would count the training too.
    fn prepare(&self, _name: &str) -> Result<(), Error> {
        Ok(())
    }

    /// Trains the classifier of a recipe; the same texts, classes and seed give the same weights. They stay where
    /// [`Models::classifier`] finds them only if they are to be kept.
    fn train_classifier(
        &self,
        recipe: &str,
        _data: &ClassifiedTexts,
        _seed: u64,
        _keep: bool,
    ) -> Result<Arc<dyn TextClassifier>, Error> {
        Err(NoModels::refusal(recipe))
    }

    /// The classifier of a recipe whose weights were kept under that name.
    fn classifier(&self, recipe: &str, _name: &str) -> Result<Arc<dyn TextClassifier>, Error> {
        Err(NoModels::refusal(recipe))
    }

    /// What identifies the weights of a model that was opened, for the record of a run.
    fn checksum(&self, _name: &str) -> Option<String> {
        None
    }

    /// The vectors of the bank's questions, in the order of their numbers; may come from a cache.
    fn bank(
        &self,
        name: &str,
        texts: &[&str],
        progress: Progress,
    ) -> Result<Arc<Embeddings>, Error> {
        Ok(Arc::new(self.encoder(name)?.encode(texts, progress)?))
    }
}

/// For programs without learned models: says so when one is asked for.
pub struct NoModels;

impl NoModels {
    /// What is said where a model is asked for.
    pub fn refusal(name: &str) -> Error {
        let at = Location::file(format!("model `{name}`"));
        Problem::new(at, ProblemKind::Model, "a clariq with learned stages", "one that was built without them")
            .hint("build it with the feature `bert`: `scripts/clariq` does that, and installs libtorch where it is missing")
            .into()
    }
}

impl Models for NoModels {
    fn encoder(&self, name: &str) -> Result<Arc<dyn Encoder>, Error> {
        Err(Self::refusal(name))
    }

    fn pair_scorer(&self, name: &str) -> Result<Arc<dyn PairScorer>, Error> {
        Err(Self::refusal(name))
    }
}
