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
//! * each family has its own classifier head.
//!
//! Three things are faster than in a literal transcription: query, key and value are one matrix
//! product; padding is computed in attention alone; and where only `[CLS]` is wanted, the last layer
//! computes nothing else. The tests compare it with the literal transcription of `rust_bert`, and
//! with golden files of transformers.

mod attention;
mod distances;
mod tensors;
#[cfg(test)]
mod tests;
mod words;

use crate::batch::TokenBatch;
use crate::pooling::{PoolingHead, activate};
use crate::products::{Linear, Products, SharedTensor};
use crate::weights::torch;
use clariq_core::{Precision, Result, bail};
use clariq_folder::{Activation, Family, ModelShape};
use distances::Distances;
use tch::{Device, Kind, Tensor};
pub(crate) use tensors::decays;
pub(crate) use words::WordHead;

#[derive(Debug, Clone)]
struct Layer {
    query_key_value: Linear,
    /// DeBERTa's projections of distances to keys and to queries, where they are not those of words.
    distance_projections: Option<[Linear; 2]>,
    attention: Linear,
    attention_norm: Linear,
    inner: Linear,
    outer: Linear,
    norm: Linear,
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
    embedding_norm: Linear,
    /// The projection from word vectors to the longer vectors of the layers.
    project: Option<Linear>,
    layers: Vec<Layer>,
    /// Relative position biases, buckets × heads; in DeBERTa the vectors of distances, rows × hidden.
    distances: Option<SharedTensor>,
    distance_norm: Option<Linear>,
    /// A mask over the biases of query, key and value: 0 for those of keys, which the first DeBERTa
    /// does not have.
    has_bias: Option<SharedTensor>,
    /// The first of the two layers that score a pair by its first token.
    dense: Option<Linear>,
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
        self.dense.as_ref()?;
        Some(self.classifier.as_ref()?.bias.size()[0])
    }

    /// The vectors after the last layer.
    pub(crate) fn forward(&self, batch: &TokenBatch, wanted: WantedVectors) -> Result<Tensor> {
        let (texts, tokens) = batch.size();
        let mut states = self.embed(batch)?;
        let distances = self.distances(tokens)?;
        let repeats = self.shape.layers as f64 / self.layers.len() as f64;
        for number in 0..self.shape.layers {
            let is_last = number + 1 == self.shape.layers;
            let wanted = if is_last { wanted } else { WantedVectors::All };
            let layer = &self.layers[(number as f64 / repeats) as usize];
            states = self.layer(layer, &states, batch, wanted, distances.as_ref())?;
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
        let normed = self.embedding_norm.norm(&states, self.shape.epsilon)?;
        let embedded = self.dropped(normed, batch, WantedVectors::All)?;
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

    fn layer(
        &self,
        own: &Layer,
        states: &Tensor,
        batch: &TokenBatch,
        wanted: WantedVectors,
        distances: Option<&Distances>,
    ) -> Result<Tensor> {
        let before = match (wanted, &batch.padding) {
            (WantedVectors::All, _) => states.shallow_clone(),
            (WantedVectors::First, Some(padding)) => rows(states, &padding.firsts)?,
            (WantedVectors::First, None) => {
                let (texts, tokens) = batch.size();
                states.view([texts, tokens, self.shape.hidden]).select(1, 0)
            }
        };
        let projected = match &self.has_bias {
            None => self.products.linear(&own.query_key_value, states)?,
            Some(has_bias) => {
                let Linear { weight, bias } = &own.query_key_value;
                let bias = SharedTensor(&**bias * &**has_bias);
                self.products.linear(&Linear { weight: weight.clone(), bias }, states)?
            }
        };
        let mixed = self.attend(own, &projected, batch, wanted, distances)?;
        let attention = self.products.linear(&own.attention, &mixed)?;
        let attention = self.dropped(attention, batch, wanted)? + before;
        let attention = own.attention_norm.norm(&attention, self.shape.epsilon)?;
        let inner = self.products.linear(&own.inner, &attention)?;
        let inner = activate(self.shape.activation, &inner);
        let outer = self.products.linear(&own.outer, &inner)?;
        let outer = self.dropped(outer, batch, wanted)? + attention;
        own.norm.norm(&outer, self.shape.epsilon)
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
        let wanted =
            if self.head.takes_first() { WantedVectors::First } else { WantedVectors::All };
        let states = self.forward(batch, wanted)?.to_kind(Kind::Float);
        self.head.apply(&states, batch)
    }

    /// The logits of the classifier over the first token, texts × classes.
    pub(crate) fn logits(&self, batch: &TokenBatch) -> Result<Tensor> {
        let (Some(dense), Some(classifier)) = (&self.dense, &self.classifier) else {
            let hint = "a stage that scores pairs needs a cross-encoder: train one, or name the \
                        folder of one";
            bail!("weights", "the two layers that score a pair", "only an encoder", hint);
        };
        let activation = match self.shape.family {
            Family::DistilBert => Activation::Relu,
            Family::Electra | Family::Deberta | Family::DebertaV2 => Activation::Gelu,
            _ => Activation::Tanh,
        };
        let first = self.forward(batch, WantedVectors::First)?;
        let first = self.products.linear(dense, &first)?;
        let first = self.dropped(activate(activation, &first), batch, WantedVectors::First)?;
        Ok(self.products.linear(classifier, &first)?.to_kind(Kind::Float))
    }
}

/// Rows of a table by number. Their gradient is that of an embedding: added up in one pass.
fn rows(table: &Tensor, numbers: &Tensor) -> Result<Tensor> {
    Tensor::f_embedding(table, numbers, -1, false, false).map_err(torch("looking up rows"))
}
