//! The head of a masked language model: a matrix, an activation and a normalisation, the product with
//! the word embeddings, and the reduction of all logits of a text to a weight for each word.

use super::tensors::{Loader, NamedTensor, WORDS, list};
use super::{Network, WantedVectors};
use crate::batch::TokenBatch;
use crate::names::{WordHeadNames, word_head_names};
use crate::pooling::activate;
use crate::products::{Linear, SharedTensor};
use crate::weights::{Weights, torch};
use clariq_core::{Result, bail};
use clariq_folder::{
    Activation, Family, ModelFolder, ModelShape, SparseActivation, SparseFolder, SparsePooling,
};
use serde_json::Value;
use tch::{Device, Kind, Tensor};

/// The most tokens whose logits are in memory at a time, for each thread: 31 MB of them for the
/// vocabulary of BERT.
const LOGIT_TOKENS: i64 = 256;

/// The activation after the matrix: some families have one that no configuration changes.
fn activation_of(shape: &ModelShape) -> Activation {
    match shape.family {
        Family::Roberta | Family::Mpnet | Family::Electra => Activation::Gelu,
        Family::ModernBert => shape.classifier.activation,
        _ => shape.activation,
    }
}

/// From the vectors of a text's tokens to the weights of words.
#[derive(Debug, Clone)]
pub(crate) struct WordHead {
    names: WordHeadNames,
    dense: Linear,
    norm: Linear,
    activation: Activation,
    epsilon: f64,
    /// The embeddings of words; `None` if they are those of the transformer.
    decoder: Option<SharedTensor>,
    bias: Option<SharedTensor>,
    pooling: SparsePooling,
    activation_of_logits: SparseActivation,
}

impl WordHead {
    pub(crate) fn read(
        sparse: &SparseFolder,
        weights: &Weights,
        device: Device,
        kind: Kind,
    ) -> Result<Self> {
        let folder: &ModelFolder = &sparse.transformer;
        let shape = &folder.shape;
        let names = word_head_names(shape.family);
        let [dense, norm, decoder, bias] = names;
        let loader = Loader { weights, shape, device, kind };
        if !weights.has(dense) {
            let hint = "the stage `sparse` takes a masked language model with its head";
            let expected = format!("a tensor {dense}.weight");
            bail!(&folder.weights[0], expected, "a model without a head", hint);
        }
        let has_dense_bias = shape.family != Family::ModernBert || shape.classifier.has_bias;
        let has_bias = shape.family != Family::ModernBert
            || folder.config.get("decoder_bias") != Some(&Value::Bool(false));
        // The product's own bias is the one that transformers adds; most files have it under the other name.
        let of_product = format!("{decoder}.bias");
        let bias = if weights.tensors.contains_key(&of_product) { &of_product } else { bias };
        let mut own_bias = None;
        if has_bias {
            own_bias = Some(loader.tensor(bias, &[shape.vocabulary])?);
        }
        // transformers 5 takes a matrix that the file has; release 4 only where config.json unties it.
        let is_tied = folder.config.get("tie_word_embeddings") != Some(&Value::Bool(false));
        let mut own_decoder = None;
        if !is_tied || weights.has(decoder) {
            let size = [shape.vocabulary, shape.embedding];
            let name = format!("{decoder}.weight");
            // A copy of the embeddings is tied to them.
            if !is_tied || weights.get(&name, &size)? != weights.get(WORDS, &size)? {
                own_decoder = Some(loader.tensor(&name, &size)?);
            }
        }
        Ok(Self {
            names,
            dense: loader.linear(dense, &[shape.embedding, shape.hidden], has_dense_bias)?,
            norm: loader.linear(norm, &[shape.embedding], shape.layer.has_norm_bias)?,
            activation: activation_of(shape),
            // DistilBERT's is always this one.
            epsilon: if shape.family == Family::DistilBert { 1e-12 } else { shape.epsilon },
            decoder: own_decoder,
            bias: own_bias,
            pooling: sparse.pooling,
            activation_of_logits: sparse.activation,
        })
    }

    /// Every tensor that training may change.
    pub(crate) fn parameters(&mut self) -> Vec<NamedTensor<'_>> {
        let [dense, norm, decoder, bias] = self.names;
        let mut all = Vec::new();
        list(&mut all, dense, &mut self.dense);
        list(&mut all, norm, &mut self.norm);
        if let Some(weight) = &mut self.decoder {
            all.push((format!("{decoder}.weight"), &mut weight.0));
        }
        if let Some(own) = &mut self.bias {
            all.push((bias.to_owned(), &mut own.0));
        }
        all
    }

    /// The weights of all words, texts × vocabulary. The logits of a few tokens are in memory at a
    /// time.
    pub(crate) fn weights(&self, network: &Network, batch: &TokenBatch) -> Result<Tensor> {
        let states = network.forward(batch, WantedVectors::All)?;
        let states = network.products.linear(&self.dense, &states)?;
        let states = self.norm.norm(&activate(self.activation, &states), self.epsilon)?;
        let absent = batch.padding.as_ref().map(|padding| padding.present.eq(0.0).unsqueeze(-1));
        let (texts, tokens) = batch.size();
        let texts_at_once = (LOGIT_TOKENS / tokens.max(1)).max(1);
        let mut rows = Vec::new();
        for text in (0..texts).step_by(texts_at_once as usize) {
            let count = texts_at_once.min(texts - text);
            let some = |all: &Tensor| all.narrow(0, text, count);
            rows.push(self.reduced(network, &some(&states), absent.as_ref().map(some).as_ref())?);
        }
        let reduced = Tensor::f_cat(&rows, 0).map_err(torch("weights of words"))?;
        Ok(match self.pooling {
            // The weight grows with the logit, so that it is computed once for a text.
            SparsePooling::Max => self.activated(&reduced),
            SparsePooling::Sum => reduced,
        })
    }

    /// The largest logits of some texts, or the sums of their weights.
    fn reduced(
        &self,
        network: &Network,
        states: &Tensor,
        absent: Option<&Tensor>,
    ) -> Result<Tensor> {
        let tokens = states.size()[1];
        let mut reduced: Option<Tensor> = None;
        for token in (0..tokens).step_by(LOGIT_TOKENS as usize) {
            let count = LOGIT_TOKENS.min(tokens - token);
            let mut logits = self.logits(network, &states.narrow(1, token, count))?;
            if let Some(absent) = absent {
                logits = logits.masked_fill(&absent.narrow(1, token, count), f64::NEG_INFINITY);
            }
            let piece = match self.pooling {
                SparsePooling::Max => logits.f_amax([1_i64], false),
                SparsePooling::Sum => {
                    let weights = self.activated(&logits);
                    weights.f_sum_dim_intlist(Some(&[1_i64][..]), false, Kind::Float)
                }
            };
            let piece = piece.map_err(torch("weights of words"))?;
            reduced = Some(match (reduced, self.pooling) {
                (None, _) => piece,
                (Some(before), SparsePooling::Max) => before.maximum(&piece),
                (Some(before), SparsePooling::Sum) => before + piece,
            });
        }
        // Texts without tokens have no words.
        Ok(reduced.unwrap_or_else(|| {
            let size = [states.size()[0], network.shape.vocabulary];
            Tensor::zeros(size, (Kind::Float, states.device()))
        }))
    }

    /// A logit for each word.
    fn logits(&self, network: &Network, states: &Tensor) -> Result<Tensor> {
        let weight = self.decoder.as_ref().unwrap_or(&network.words).clone();
        let decoder = Linear { weight, bias: self.bias.clone() };
        Ok(network.products.linear(&decoder, states)?.to_kind(Kind::Float))
    }

    fn activated(&self, logits: &Tensor) -> Tensor {
        let weights = logits.relu().log1p();
        match self.activation_of_logits {
            SparseActivation::Log => weights,
            SparseActivation::LogLog => weights.log1p(),
        }
    }
}
