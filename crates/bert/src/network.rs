//! The layers of a BERT and of its relatives, implemented once for inference and training.
//!
//! Devlin, Chang, Lee and Toutanova, "BERT: Pre-training of Deep Bidirectional Transformers for
//! Language Understanding", NAACL 2019. The other families compute the same layers, with these
//! differences:
//!
//! * RoBERTa and MPNet count positions from the padding token;
//! * MPNet adds a bias per distance between tokens to attention, DeBERTa attends to distances, too;
//! * ELECTRA and ALBERT may have shorter word vectors; ALBERT repeats its layers;
//! * DistilBERT has no segments;
//! * `ModernBERT`, Qwen3 and Gemma 3 have rotary positions, normalise before each part of a layer (Gemma
//!   after it, too), and have a gated feed-forward part; some of their layers attend to near tokens, and
//!   Qwen3's to earlier ones;
//! * each family has its own classifier head.
//!
//! A row of a table says what a layer is made of ([`LayerForm`](clariq_folder::LayerForm)).
//! Three things are faster than in a literal transcription: query, key and value are one matrix
//! product; padding is computed in attention alone; and where only `[CLS]` is wanted, the last layer
//! computes nothing else. The tests compare it with the literal transcription of `rust_bert`, and
//! with golden files of transformers.

mod attention;
mod distances;
mod rotary;
mod tensors;
#[cfg(test)]
mod tests;
mod words;

use crate::batch::TokenBatch;
use crate::names::head_names;
use crate::pooling::{PoolingHead, activate, last_beside, pool};
use crate::products::{Linear, Products, SharedTensor};
use crate::weights::torch;
use clariq_core::{Pooling, Precision, Result, bail};
use clariq_folder::{ModelShape, Norms};
use distances::Distances;
use rotary::Turns;
use tch::{Device, Kind, Tensor};
pub(crate) use tensors::{WORDS, decays};
pub(crate) use words::WordHead;

#[derive(Debug, Clone)]
struct Layer {
    before_attention: Option<Linear>,
    query_key_value: Linear,
    /// The norms of queries and of keys, head by head.
    head_norms: Option<[Linear; 2]>,
    /// DeBERTa's projections of distances to keys and to queries, where they are not those of words.
    distance_projections: Option<[Linear; 2]>,
    attention: Linear,
    attention_norm: Option<Linear>,
    before_inner: Option<Linear>,
    /// In a gated feed-forward part, the product that is activated, and its factor.
    inner: Linear,
    outer: Linear,
    norm: Option<Linear>,
}

/// A model whose tensors are on one device and of one kind. Clones share them, for other threads.
#[derive(Debug, Clone)]
pub(crate) struct Network {
    pub(crate) shape: ModelShape,
    pub(crate) products: Products,
    /// The table of word embeddings. Training keeps only the rows that occur in its data.
    pub(crate) words: SharedTensor,
    positions: Option<SharedTensor>,
    /// The id of the padding token in `words`, for families that count positions from it.
    pub(crate) padding: Option<i64>,
    segments: Option<SharedTensor>,
    /// True if the two texts of a pair are told apart.
    uses_segments: bool,
    embedding_norm: Option<Linear>,
    /// The projection from word vectors to the longer vectors of the layers.
    project: Option<Linear>,
    layers: Vec<Layer>,
    /// Relative position biases, buckets × heads; in DeBERTa the vectors of distances, rows × hidden.
    distances: Option<SharedTensor>,
    distance_norm: Option<Linear>,
    /// A mask over the biases of query, key and value: 0 for those of keys, which the first DeBERTa
    /// does not have.
    has_bias: Option<SharedTensor>,
    /// The norm after the last layer.
    last_norm: Option<Linear>,
    /// The first of the two layers that score a pair; decoders do not have it.
    dense: Option<Linear>,
    head_norm: Option<Linear>,
    /// The second of them.
    classifier: Option<Linear>,
    /// The pooling of token vectors.
    pub(crate) head: PoolingHead,
    /// The layers that give words weights, in place of a vector.
    pub(crate) word_head: Option<WordHead>,
}

/// The vectors of the last layer that are computed.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum WantedVectors {
    /// The vectors of all tokens: texts × tokens × hidden.
    All,
    /// The vector of `[CLS]`: texts × hidden.
    First,
}

impl Network {
    /// Chooses the fastest matrix products of this machine.
    pub(crate) fn for_inference(mut self) -> Self {
        self.products = Products::for_inference(self.device(), self.words.kind());
        self
    }

    /// Chooses the matrix products of a recipe's precision.
    pub(crate) fn for_training(mut self, precision: Precision) -> Self {
        self.products = Products::for_training(self.device(), precision);
        self
    }

    pub(crate) fn device(&self) -> Device {
        self.words.device()
    }

    /// The number of classes that a pair is scored by; `None` without the layers for it.
    pub(crate) fn classes(&self) -> Option<i64> {
        if head_names(self.shape.family).0.is_some() {
            self.dense.as_ref()?;
        }
        Some(self.classifier.as_ref()?.weight.size()[0])
    }

    /// The vectors after the last layer.
    pub(crate) fn forward(&self, batch: &TokenBatch, wanted: WantedVectors) -> Result<Tensor> {
        let (texts, tokens) = batch.size();
        let mut states = self.embed(batch)?;
        let distances = self.distances(tokens)?;
        let turns = self.turns(tokens);
        let repeats = self.shape.layers as f64 / self.layers.len() as f64;
        for number in 0..self.shape.layers {
            let is_last = number + 1 == self.shape.layers;
            let wanted = if is_last { wanted } else { WantedVectors::All };
            let layer = &self.layers[(number as f64 / repeats) as usize];
            let places =
                Places { distances: distances.as_ref(), turns: turns.get(number as usize) };
            states = self.layer(layer, &states, batch, wanted, &places)?;
        }
        if let Some(norm) = &self.last_norm {
            states = self.norm(norm, &states)?;
        }
        if wanted == WantedVectors::First {
            return Ok(states);
        }
        if let Some(padding) = &batch.padding {
            states = rows(&states, &padding.numbers)?;
        }
        Ok(states.view([texts, tokens, self.shape.hidden]))
    }

    /// The vectors before the first layer, tokens × hidden.
    fn embed(&self, batch: &TokenBatch) -> Result<Tensor> {
        let mut states = rows(&self.words, &batch.packed(&batch.ids)?)?;
        if let Some(table) = &self.segments {
            states += if self.uses_segments {
                rows(table, &batch.packed(&batch.segments)?)?
            } else {
                table.get(0)
            };
        }
        if let Some(table) = &self.positions {
            states = self.add_positions(&states, table, batch)?;
        }
        if self.shape.layer.scales_words {
            // The factor is rounded as the words are.
            let scale = Tensor::from((self.shape.hidden as f64).sqrt()).to_kind(states.kind());
            states *= scale.to_device(self.device());
        }
        if let Some(norm) = &self.embedding_norm {
            states = self.norm(norm, &states)?;
        }
        let embedded = self.dropped(states, batch, WantedVectors::All)?;
        match &self.project {
            Some(project) => self.products.linear(project, &embedded),
            None => Ok(embedded),
        }
    }

    fn add_positions(&self, words: &Tensor, table: &Tensor, batch: &TokenBatch) -> Result<Tensor> {
        if let Some(padding_id) = self.padding {
            let positions = self.positions_after_padding(padding_id, batch);
            return Ok(words + rows(table, &batch.packed(&positions)?)?);
        }
        if let Some(padding) = &batch.padding {
            return Ok(words + rows(table, &padding.positions)?);
        }
        let (texts, tokens) = batch.size();
        let width = self.words.size()[1];
        let positions = table.narrow(0, 0, tokens).unsqueeze(0);
        Ok((words.view([texts, tokens, width]) + positions).view([texts * tokens, width]))
    }

    /// The positions of tokens, texts × tokens, as Hugging Face's library counts them: from the row
    /// after the padding token's. A padding token inside a text is not counted.
    fn positions_after_padding(&self, id: i64, batch: &TokenBatch) -> Tensor {
        let first = self.shape.positions_after.unwrap_or_default();
        let is_counted = batch.ids.ne(id).to_kind(Kind::Int64);
        is_counted.cumsum(1, Kind::Int64) * is_counted + first
    }

    /// Normalises vectors as the family does.
    fn norm(&self, norm: &Linear, states: &Tensor) -> Result<Tensor> {
        let form = &self.shape.layer;
        if form.is_rms {
            let offset = if form.weights_from_one { 1.0 } else { 0.0 };
            return norm.rms_norm(states, self.shape.epsilon, offset);
        }
        norm.norm(states, self.shape.epsilon)
    }

    /// The input of a part of a layer.
    fn input(&self, norm: Option<&Linear>, states: &Tensor) -> Result<Tensor> {
        norm.map_or_else(|| Ok(states.shallow_clone()), |norm| self.norm(norm, states))
    }

    /// The sum of what a part of a layer reads and gives.
    fn sum(&self, norm: Option<&Linear>, output: Tensor, before: &Tensor) -> Result<Tensor> {
        match (norm, self.shape.layer.norms) {
            (Some(norm), Norms::After) => self.norm(norm, &(output + before)),
            (Some(norm), _) => Ok(before + self.norm(norm, &output)?),
            (None, _) => Ok(output + before),
        }
    }

    /// The activation inside a feed-forward part.
    fn activated(&self, inner: &Tensor) -> Tensor {
        let activation = self.shape.activation;
        if !self.shape.layer.is_gated {
            return activate(activation, inner);
        }
        let halves = inner.chunk(2, -1);
        activate(activation, &halves[0]) * &halves[1]
    }

    fn layer(
        &self,
        own: &Layer,
        states: &Tensor,
        batch: &TokenBatch,
        wanted: WantedVectors,
        places: &Places,
    ) -> Result<Tensor> {
        let before = match (wanted, &batch.padding) {
            (WantedVectors::All, _) => states.shallow_clone(),
            (WantedVectors::First, Some(padding)) => rows(states, &padding.firsts)?,
            (WantedVectors::First, None) => {
                let (texts, tokens) = batch.size();
                states.view([texts, tokens, self.shape.hidden]).select(1, 0)
            }
        };
        let input = self.input(own.before_attention.as_ref(), states)?;
        let projected = match (&self.has_bias, &own.query_key_value) {
            (Some(has_bias), Linear { weight, bias: Some(bias) }) => {
                let bias = Some(SharedTensor(&**bias * &**has_bias));
                self.products.linear(&Linear { weight: weight.clone(), bias }, &input)?
            }
            (_, linear) => self.products.linear(linear, &input)?,
        };
        let mixed = self.attend(own, &projected, batch, wanted, places)?;
        let attention = self.products.linear(&own.attention, &mixed)?;
        let attention = self.dropped(attention, batch, wanted)?;
        let attention = self.sum(own.attention_norm.as_ref(), attention, &before)?;
        let input = self.input(own.before_inner.as_ref(), &attention)?;
        let inner = self.activated(&self.products.linear(&own.inner, &input)?);
        let outer = self.products.linear(&own.outer, &inner)?;
        let outer = self.dropped(outer, batch, wanted)?;
        self.sum(own.norm.as_ref(), outer, &attention)
    }

    /// Applies dropout in training. Random numbers are drawn for padding, too, although it is not
    /// computed, so that the dropout of a token does not depend on how a batch is computed.
    fn dropped(&self, states: Tensor, batch: &TokenBatch, wanted: WantedVectors) -> Result<Tensor> {
        if !batch.train || self.shape.dropout <= 0.0 {
            return Ok(states);
        }
        let torch_error = torch("dropout");
        let Some(padding) = batch.padding.as_ref().filter(|_| wanted == WantedVectors::All) else {
            return states.f_dropout(self.shape.dropout, true).map_err(torch_error);
        };
        let (texts, tokens) = batch.size();
        let probability = 1.0 - self.shape.dropout;
        let width = states.size()[1];
        let mut factors = Tensor::empty([texts * tokens, width], (states.kind(), states.device()));
        let factors = factors
            .f_bernoulli_float_(probability)
            .and_then(|mut factors| factors.f_div_scalar_(probability))
            .and_then(|factors| factors.f_index_select(0, &padding.cells))
            .map_err(&torch_error)?;
        states.f_mul(&factors).map_err(torch_error)
    }

    /// The vector of each text, texts × dimensions; with a head of words, the weights of all words.
    pub(crate) fn pooled(&self, batch: &TokenBatch) -> Result<Tensor> {
        if let Some(words) = &self.word_head {
            return words.weights(self, batch);
        }
        let takes_first = self.head.takes_first(batch);
        let wanted = if takes_first { WantedVectors::First } else { WantedVectors::All };
        let states = self.forward(batch, wanted)?.to_kind(Kind::Float);
        self.head.apply(&states, batch)
    }

    /// A vector for each token, texts × tokens × dimensions.
    pub(crate) fn token_vectors(&self, batch: &TokenBatch) -> Result<Tensor> {
        let states = self.forward(batch, WantedVectors::All)?.to_kind(Kind::Float);
        self.head.apply_to_tokens(&states)
    }

    /// The logits of the classifier, texts × classes.
    pub(crate) fn logits(&self, batch: &TokenBatch) -> Result<Tensor> {
        let (Some(classifier), Some(_)) = (&self.classifier, self.classes()) else {
            let hint = "a stage that scores pairs needs a cross-encoder: train one, or name the \
                        folder of one";
            bail!("weights", "the two layers that score a pair", "only an encoder", hint);
        };
        let form = &self.shape.classifier;
        let mut vector = match form.pooling {
            Pooling::Cls => self.forward(batch, WantedVectors::First)?,
            Pooling::LastToken => {
                let states = self.forward(batch, WantedVectors::All)?;
                last_beside(form.padding, &states, batch)
            }
            pooling => {
                let states = self.forward(batch, WantedVectors::All)?;
                pool(pooling, &states.to_kind(Kind::Float), batch).to_kind(states.kind())
            }
        };
        if let Some(dense) = &self.dense {
            vector = activate(form.activation, &self.products.linear(dense, &vector)?);
        }
        if let Some(norm) = &self.head_norm {
            vector = self.norm(norm, &vector)?;
        }
        let vector = self.dropped(vector, batch, WantedVectors::First)?;
        Ok(self.products.linear(classifier, &vector)?.to_kind(Kind::Float))
    }
}

/// Where tokens are, as attention uses it.
#[derive(Clone, Copy)]
struct Places<'p> {
    distances: Option<&'p Distances>,
    turns: Option<&'p Turns>,
}

/// Rows of a table by number. Their gradient is that of an embedding: added up in one pass.
fn rows(table: &Tensor, numbers: &Tensor) -> Result<Tensor> {
    Tensor::f_embedding(table, numbers, -1, false, false).map_err(torch("looking up rows"))
}
