//! The layers of a BERT, implemented once for inference and training.
//!
//! Devlin, Chang, Lee and Toutanova, "BERT: Pre-training of Deep Bidirectional Transformers for
//! Language Understanding", NAACL 2019. It differs from a literal transcription in what it leaves
//! out: query, key and value are one matrix product; nothing but attention sees padding; where only
//! `[CLS]` is looked at, the last layer computes nothing else. The tests hold it against the literal
//! transcription of `rust_bert`, and against golden files of transformers.

#[cfg(test)]
mod tests;

use crate::batch::Batch;
use crate::products::{Linear, Products};
use crate::weights::{Weights, torch};
use clariq_core::{Error, Precision, Result, bail};
use clariq_model::{Activation, Shape, layer_tensor};
use tch::{Device, Kind, Tensor};

#[derive(Debug, Clone)]
struct Layer {
    query_key_value: Linear,
    attention: Linear,
    attention_norm: Linear,
    inner: Linear,
    outer: Linear,
    norm: Linear,
}

/// A BERT whose tensors are on one device and of one kind.
#[derive(Debug)]
pub(crate) struct Network {
    pub(crate) shape: Shape,
    products: Products,
    /// The table of word embeddings, of which training keeps the rows that occur in its data.
    pub(crate) words: Tensor,
    positions: Tensor,
    segments: Tensor,
    embedding_norm: Linear,
    layers: Vec<Layer>,
    pooler: Option<Linear>,
    classifier: Option<Linear>,
}

/// A tensor that training may change, with its name.
pub(crate) type Parameter<'n> = (String, &'n mut Tensor);

/// Whether weight decay applies to a tensor: not to biases and not to layer normalisation, as in
/// BERT's own recipe.
pub(crate) fn decays(name: &str) -> bool {
    !name.ends_with("bias") && !name.contains("LayerNorm")
}

/// Lists a matrix and its bias.
fn list<'n>(all: &mut Vec<Parameter<'n>>, name: &str, linear: &'n mut Linear) {
    all.push((format!("{name}.weight"), &mut linear.weight));
    all.push((format!("{name}.bias"), &mut linear.bias));
}

/// Which vectors of the last layer are wanted.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Wanted {
    /// Those of all tokens: texts × tokens × hidden.
    All,
    /// That of `[CLS]`: texts × hidden.
    First,
}

impl Network {
    /// Puts weights on a device, as numbers of a kind.
    pub(crate) fn new(
        shape: &Shape,
        weights: &Weights,
        device: Device,
        kind: Kind,
    ) -> Result<Self> {
        let to = |tensor: &Tensor| tensor.to_device(device).to_kind(kind);
        let get = |name: &str| Ok::<_, Error>(to(weights.get(name)?));
        let linear = |name: &str| {
            Ok::<_, Error>(Linear {
                weight: get(&format!("{name}.weight"))?,
                bias: get(&format!("{name}.bias"))?,
            })
        };
        let optional = |name: &str| {
            let is_there = weights.tensors.contains_key(&format!("{name}.weight"));
            is_there.then(|| linear(name)).transpose()
        };
        let mut layers = Vec::new();
        for number in 0..shape.layers {
            let part = |part: &str| linear(&layer_tensor(number, part));
            let fused = |rest: &str| {
                let part =
                    |name| get(&layer_tensor(number, &format!("attention.self.{name}.{rest}")));
                Ok::<_, Error>(Tensor::cat(&[part("query")?, part("key")?, part("value")?], 0))
            };
            layers.push(Layer {
                query_key_value: Linear { weight: fused("weight")?, bias: fused("bias")? },
                attention: part("attention.output.dense")?,
                attention_norm: part("attention.output.LayerNorm")?,
                inner: part("intermediate.dense")?,
                outer: part("output.dense")?,
                norm: part("output.LayerNorm")?,
            });
        }
        Ok(Self {
            shape: shape.clone(),
            products: Products::Usual,
            words: get("embeddings.word_embeddings.weight")?,
            positions: get("embeddings.position_embeddings.weight")?,
            segments: get("embeddings.token_type_embeddings.weight")?,
            embedding_norm: linear("embeddings.LayerNorm")?,
            layers,
            pooler: optional("pooler.dense")?,
            classifier: optional("classifier")?,
        })
    }

    /// The same network over the same storage, for another thread.
    pub(crate) fn replica(&self) -> Self {
        Self {
            shape: self.shape.clone(),
            products: self.products,
            words: self.words.shallow_clone(),
            positions: self.positions.shallow_clone(),
            segments: self.segments.shallow_clone(),
            embedding_norm: self.embedding_norm.clone(),
            layers: self.layers.clone(),
            pooler: self.pooler.clone(),
            classifier: self.classifier.clone(),
        }
    }

    /// Answers as fast as this machine can.
    pub(crate) fn for_inference(mut self) -> Self {
        self.products = Products::for_inference(self.device(), self.words.kind());
        self
    }

    /// Multiplies in training as a recipe wants it.
    pub(crate) fn for_training(mut self, precision: Precision) -> Self {
        self.products = Products::for_training(self.device(), precision);
        self
    }

    pub(crate) fn device(&self) -> Device {
        self.words.device()
    }

    /// Every tensor that training may change.
    pub(crate) fn parameters(&mut self) -> Vec<Parameter<'_>> {
        let mut all = vec![
            ("embeddings.word_embeddings.weight".to_owned(), &mut self.words),
            ("embeddings.position_embeddings.weight".to_owned(), &mut self.positions),
            ("embeddings.token_type_embeddings.weight".to_owned(), &mut self.segments),
        ];
        list(&mut all, "embeddings.LayerNorm", &mut self.embedding_norm);
        for (number, layer) in (0..).zip(&mut self.layers) {
            let parts = [
                (QUERY_KEY_VALUE, &mut layer.query_key_value),
                ("attention.output.dense", &mut layer.attention),
                ("attention.output.LayerNorm", &mut layer.attention_norm),
                ("intermediate.dense", &mut layer.inner),
                ("output.dense", &mut layer.outer),
                ("output.LayerNorm", &mut layer.norm),
            ];
            for (name, linear) in parts {
                list(&mut all, &layer_tensor(number, name), linear);
            }
        }
        if let Some(pooler) = &mut self.pooler {
            list(&mut all, "pooler.dense", pooler);
        }
        if let Some(classifier) = &mut self.classifier {
            list(&mut all, "classifier", classifier);
        }
        all
    }

    /// The weights under their usual names, query, key and value apart again.
    pub(crate) fn weights(&mut self) -> Weights {
        let mut tensors = std::collections::BTreeMap::new();
        for (name, tensor) in self.parameters() {
            let tensor = tensor.detach().to_device(Device::Cpu).to_kind(Kind::Float);
            let Some((stem, rest)) = name.split_once(QUERY_KEY_VALUE) else {
                tensors.insert(name, tensor.contiguous());
                continue;
            };
            for (part, tensor) in ["query", "key", "value"].iter().zip(tensor.chunk(3, 0)) {
                tensors.insert(format!("{stem}attention.self.{part}{rest}"), tensor.contiguous());
            }
        }
        Weights { tensors }
    }

    /// The vectors after the last layer.
    pub(crate) fn forward(&self, batch: &Batch, wanted: Wanted) -> Result<Tensor> {
        let ((texts, tokens), hidden) = (batch.size(), self.shape.hidden);
        let mut states = self.embed(batch)?;
        for (number, layer) in self.layers.iter().enumerate() {
            let last = number + 1 == self.layers.len();
            let wanted = if last { wanted } else { Wanted::All };
            states = self.layer(layer, &states, batch, wanted)?;
        }
        if wanted == Wanted::First {
            return Ok(states);
        }
        if let Some(padding) = &batch.padding {
            states = rows(&states, &padding.numbers)?;
        }
        Ok(states.view([texts, tokens, hidden]))
    }

    /// The vectors before the first layer, tokens × hidden.
    fn embed(&self, batch: &Batch) -> Result<Tensor> {
        let ((texts, tokens), hidden) = (batch.size(), self.shape.hidden);
        let words = rows(&self.words, &batch.packed(&batch.ids)?)?;
        let segments = rows(&self.segments, &batch.packed(&batch.segments)?)?;
        let sum = if let Some(padding) = &batch.padding {
            words + segments + rows(&self.positions, &padding.positions)?
        } else {
            let positions = self.positions.narrow(0, 0, tokens).unsqueeze(0);
            ((words + segments).view([texts, tokens, hidden]) + positions)
                .view([texts * tokens, hidden])
        };
        self.dropped(self.norm(&sum, &self.embedding_norm)?, batch, Wanted::All)
    }

    fn layer(&self, own: &Layer, states: &Tensor, batch: &Batch, wanted: Wanted) -> Result<Tensor> {
        let before = match (wanted, &batch.padding) {
            (Wanted::All, _) => states.shallow_clone(),
            (Wanted::First, Some(padding)) => rows(states, &padding.firsts)?,
            (Wanted::First, None) => {
                let (texts, tokens) = batch.size();
                states.view([texts, tokens, self.shape.hidden]).select(1, 0)
            }
        };
        let mixed =
            self.attend(&self.products.linear(&own.query_key_value, states)?, batch, wanted)?;
        let attended =
            self.dropped(self.products.linear(&own.attention, &mixed)?, batch, wanted)? + before;
        let attended = self.norm(&attended, &own.attention_norm)?;
        let inner = self.activate(&self.products.linear(&own.inner, &attended)?);
        let outer =
            self.dropped(self.products.linear(&own.outer, &inner)?, batch, wanted)? + attended;
        self.norm(&outer, &own.norm)
    }

    /// Attention over queries, keys and values of all tokens (tokens × 3 hidden), which alone needs
    /// the texts side by side; gives the wanted rows.
    fn attend(&self, projected: &Tensor, batch: &Batch, wanted: Wanted) -> Result<Tensor> {
        let ((texts, tokens), hidden) = (batch.size(), self.shape.hidden);
        let (heads, width) = (self.shape.heads, hidden / self.shape.heads);
        let projected = match &batch.padding {
            Some(padding) => rows(projected, &padding.numbers)?,
            None => projected.shallow_clone(),
        };
        let split = projected.view([texts, tokens, 3, heads, width]).permute([2, 0, 3, 1, 4]);
        let (mut query, key, value) = (split.get(0), split.get(1), split.get(2));
        if wanted == Wanted::First {
            query = query.narrow(2, 0, 1);
        }
        let weights = self.attention_weights(&query, &key, batch)?;
        let mixed = self.products.matmul(&weights, &value)?;
        let mixed = mixed.transpose(1, 2).reshape([-1, hidden]);
        match &batch.padding {
            Some(padding) if wanted == Wanted::All => rows(&mixed, &padding.cells),
            _ => Ok(mixed),
        }
    }

    /// How much of each key every query takes, texts × heads × queries × keys.
    fn attention_weights(&self, query: &Tensor, key: &Tensor, batch: &Batch) -> Result<Tensor> {
        let scale = 1.0 / (query.size()[3] as f64).sqrt();
        let mut scores = self.products.matmul(&(query * scale), &key.transpose(-2, -1))?;
        if let Some(padding) = &batch.padding {
            scores += &padding.mask;
        }
        let weights = scores.softmax(-1, scores.kind());
        if batch.train && self.shape.attention_dropout > 0.0 {
            let dropped = weights.f_dropout(self.shape.attention_dropout, true);
            return dropped.map_err(torch("dropout"));
        }
        Ok(weights)
    }

    fn activate(&self, states: &Tensor) -> Tensor {
        match self.shape.activation {
            Activation::Gelu => states.gelu("none"),
            Activation::GeluTanh => states.gelu("tanh"),
            Activation::Relu => states.relu(),
        }
    }

    fn norm(&self, states: &Tensor, norm: &Linear) -> Result<Tensor> {
        states
            .f_layer_norm(
                [self.shape.hidden],
                Some(&norm.weight),
                Some(&norm.bias),
                self.shape.epsilon,
                false,
            )
            .map_err(torch("layer normalisation"))
    }

    /// Applies dropout in training. Where padding is left out, numbers are drawn for it none the
    /// less: what a token loses does not depend on how the batch is computed.
    fn dropped(&self, states: Tensor, batch: &Batch, wanted: Wanted) -> Result<Tensor> {
        if !batch.train || self.shape.dropout <= 0.0 {
            return Ok(states);
        }
        let refused = torch("dropout");
        let Some(padding) = batch.padding.as_ref().filter(|_| wanted == Wanted::All) else {
            return states.f_dropout(self.shape.dropout, true).map_err(refused);
        };
        let (texts, tokens) = batch.size();
        let kept = 1.0 - self.shape.dropout;
        let mut drawn =
            Tensor::empty([texts * tokens, self.shape.hidden], (states.kind(), states.device()));
        let drawn = drawn
            .f_bernoulli_float_(kept)
            .and_then(|mut drawn| drawn.f_div_scalar_(kept))
            .and_then(|drawn| drawn.f_index_select(0, &padding.cells))
            .map_err(&refused)?;
        states.f_mul(&drawn).map_err(refused)
    }

    /// Mean of the tokens' vectors, of length 1: sentence-transformers' pooling.
    pub(crate) fn pooled_mean(&self, batch: &Batch) -> Result<Tensor> {
        let states = self.forward(batch, Wanted::All)?.to_kind(Kind::Float);
        unit(&match &batch.padding {
            None => states.mean_dim(Some(&[1_i64][..]), false, Kind::Float),
            Some(padding) => mean_of(states, &padding.present),
        })
    }

    /// Mean of the vectors of the first text's tokens, of length 1.
    pub(crate) fn pooled_first(&self, batch: &Batch) -> Result<Tensor> {
        let states = self.forward(batch, Wanted::All)?.to_kind(Kind::Float);
        let mut counted = batch.segments.eq(0).to_kind(Kind::Float);
        if let Some(padding) = &batch.padding {
            counted *= &padding.present;
        }
        unit(&mean_of(states, &counted))
    }

    /// The logits of the classifier over the pooled `[CLS]`, texts × classes.
    pub(crate) fn logits(&self, batch: &Batch) -> Result<Tensor> {
        let (Some(pooler), Some(classifier)) = (&self.pooler, &self.classifier) else {
            let hint = "a stage that scores pairs needs a cross-encoder: train one, or name the \
                        folder of one";
            bail!("weights", "a pooler and a classifier", "an encoder alone", hint);
        };
        let pooled = self.products.linear(pooler, &self.forward(batch, Wanted::First)?)?.tanh();
        let pooled = self.dropped(pooled, batch, Wanted::First)?;
        Ok(self.products.linear(classifier, &pooled)?.to_kind(Kind::Float))
    }

    /// Gives the network a new classifier of so many classes, and a pooler if it has none: normal
    /// with deviation 0.02, as BERT initialises. tch's own initialisation is another.
    pub(crate) fn new_head(&mut self, classes: i64) {
        let (hidden, like) = (self.shape.hidden, (self.words.kind(), self.words.device()));
        let fresh = |to: i64| {
            let normal = Tensor::randn([to, hidden], (Kind::Float, Device::Cpu));
            let weight = normal.to_device(like.1).to_kind(like.0) * 0.02;
            Linear { weight, bias: Tensor::zeros([to], like) }
        };
        if self.pooler.is_none() {
            self.pooler = Some(fresh(hidden));
        }
        self.classifier = Some(fresh(classes));
    }
}

/// Mean of the vectors whose weight is 1 and not 0, texts × tokens.
fn mean_of(states: Tensor, weights: &Tensor) -> Tensor {
    let weights = weights.unsqueeze(-1);
    (states * &weights).sum_dim_intlist(Some(&[1_i64][..]), false, Kind::Float)
        / weights.sum_dim_intlist(Some(&[1_i64][..]), false, Kind::Float)
}

/// Vectors at length 1, one a row.
pub(crate) fn unit(vectors: &Tensor) -> Result<Tensor> {
    let length = vectors.f_norm_scalaropt_dim(2, [1_i64], true);
    Ok(vectors / length.map_err(torch("pooling"))?.clamp_min(1e-12))
}

/// Rows of a table by number. Their gradient is that of an embedding: added up in one pass.
fn rows(table: &Tensor, numbers: &Tensor) -> Result<Tensor> {
    Tensor::f_embedding(table, numbers, -1, false, false).map_err(torch("looking up rows"))
}

/// The part of a layer that holds query, key and value together.
const QUERY_KEY_VALUE: &str = "attention.self.query_key_value";
