//! The layers of a BERT, implemented once for inference and training.
//!
//! Devlin, Chang, Lee and Toutanova, "BERT: Pre-training of Deep Bidirectional Transformers for
//! Language Understanding", NAACL 2019. It differs from a literal transcription in what it leaves
//! out: query, key and value are one matrix product; nothing but attention sees padding; where only
//! `[CLS]` is looked at, the last layer computes nothing else. The tests hold it against the literal
//! transcription of `rust_bert`, and against golden files of transformers.

#[cfg(test)]
mod tests;

use crate::error::torch;
use crate::padding::Padding;
use crate::weights::Weights;
use clariq_core::Error;
use clariq_core::{Isa, Precision};
use clariq_model::{Activation, Shape, layer_tensor, problem};
use tch::{Device, Kind, Tensor};

/// A matrix with its bias.
#[derive(Debug)]
pub(crate) struct Linear {
    weight: Tensor,
    bias: Tensor,
}

impl Linear {
    fn replica(&self) -> Self {
        Self { weight: self.weight.shallow_clone(), bias: self.bias.shallow_clone() }
    }
}

#[derive(Debug)]
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
pub struct Network {
    pub(crate) shape: Shape,
    products: Products,
    words: Tensor,
    positions: Tensor,
    segments: Tensor,
    embedding_norm: Linear,
    layers: Vec<Layer>,
    pooler: Option<Linear>,
    classifier: Option<Linear>,
}

/// Which library multiplies matrices.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Products {
    /// What libtorch takes by itself: on x86 MKL, which leaves half of an AMD processor's vector
    /// units idle.
    Usual,
    /// oneDNN, which generates code for the processor at hand: on Zen 5 twice as fast, elsewhere no
    /// slower.
    OneDnn,
    /// Numbers rounded to bf16 for the product, which is a 32-bit float again: mixed precision, as in
    /// Micikevicius et al., "Mixed Precision Training", ICLR 2018. bf16 has the range of a 32-bit
    /// float, so that the loss needs no scale.
    ///
    /// Where the processor does not multiply such numbers, libtorch's products of them are twenty
    /// times slower than of 32-bit floats. There the rounded numbers are multiplied as 32-bit floats
    /// and the product is rounded, which differs in the order of additions alone.
    Bf16 { native: bool },
}

impl Products {
    /// oneDNN, if libtorch has it for such numbers.
    fn fastest(device: Device, kind: Kind) -> Self {
        let works = || {
            let probe = Tensor::ones([2, 2], (kind, device));
            one_dnn(&probe, &probe, &probe.get(0)).is_ok()
        };
        // In bf16, libtorch takes oneDNN by itself.
        if device == Device::Cpu && kind == Kind::Float && works() {
            Self::OneDnn
        } else {
            Self::Usual
        }
    }
}

fn one_dnn(input: &Tensor, weight: &Tensor, bias: &Tensor) -> Result<Tensor, tch::TchError> {
    input.f_to_mkldnn(None)?.f_mkldnn_linear(weight, Some(bias))?.f_to_dense(None, false)
}

/// What `product` makes of operands rounded to bf16, rounded likewise, as 32-bit floats.
fn in_bf16<const N: usize>(
    operands: [&Tensor; N],
    native: bool,
    product: impl FnOnce([&Tensor; N]) -> Result<Tensor, tch::TchError>,
) -> Result<Tensor, tch::TchError> {
    let kind = if native { Kind::BFloat16 } else { Kind::Float };
    let round = |tensor: &Tensor| tensor.to_kind(Kind::BFloat16).to_kind(kind);
    let rounded = operands.map(round);
    product(rounded.each_ref())?.f_to_kind(Kind::BFloat16)?.f_to_kind(Kind::Float)
}

/// Lists a matrix and its bias.
fn both<'l>(
    all: &mut Vec<(String, bool, &'l mut Tensor)>,
    name: &str,
    decays: bool,
    linear: &'l mut Linear,
) {
    all.push((format!("{name}.weight"), decays, &mut linear.weight));
    all.push((format!("{name}.bias"), false, &mut linear.bias));
}

/// Texts of one group as the network reads them.
pub(crate) struct Input<'t> {
    /// Ids of the vocabulary, texts × tokens.
    pub(crate) ids: &'t Tensor,
    /// 0 or 1, texts × tokens.
    pub(crate) segments: &'t Tensor,
    /// Where the tokens are; `None` where all texts have one length.
    pub(crate) padding: Option<&'t Padding>,
    /// Whether dropout is applied.
    pub(crate) train: bool,
}

impl Input<'_> {
    /// The rows of a texts × tokens table that hold a token.
    fn packed(&self, table: &Tensor) -> Result<Tensor, Error> {
        let flat = table.reshape([-1]);
        self.padding.map_or(Ok(flat.shallow_clone()), |padding| {
            flat.f_index_select(0, &padding.places).map_err(torch("leaving padding out"))
        })
    }
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
    ) -> Result<Self, Error> {
        let to = |tensor: &Tensor| tensor.to_device(device).to_kind(kind);
        let get = |name: &str| Ok::<_, Error>(to(weights.get(name)?));
        let linear = |name: &str| {
            Ok::<_, Error>(Linear {
                weight: get(&format!("{name}.weight"))?,
                bias: get(&format!("{name}.bias"))?,
            })
        };
        let optional = |name: &str| {
            let there = weights.tensors.contains_key(&format!("{name}.weight"));
            if there { linear(name).map(Some) } else { Ok(None) }
        };
        let mut layers = Vec::new();
        for place in 0..shape.layers {
            let part = |part: &str| linear(&layer_tensor(place, part));
            let [query, key, value] =
                ["query", "key", "value"].map(|name| part(&format!("attention.self.{name}")));
            let (query, key, value) = (query?, key?, value?);
            let fused = Linear {
                weight: Tensor::cat(&[query.weight, key.weight, value.weight], 0),
                bias: Tensor::cat(&[query.bias, key.bias, value.bias], 0),
            };
            layers.push(Layer {
                query_key_value: fused,
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
        let copy = |layer: &Layer| Layer {
            query_key_value: layer.query_key_value.replica(),
            attention: layer.attention.replica(),
            attention_norm: layer.attention_norm.replica(),
            inner: layer.inner.replica(),
            outer: layer.outer.replica(),
            norm: layer.norm.replica(),
        };
        Self {
            shape: self.shape.clone(),
            products: self.products,
            words: self.words.shallow_clone(),
            positions: self.positions.shallow_clone(),
            segments: self.segments.shallow_clone(),
            embedding_norm: self.embedding_norm.replica(),
            layers: self.layers.iter().map(copy).collect(),
            pooler: self.pooler.as_ref().map(Linear::replica),
            classifier: self.classifier.as_ref().map(Linear::replica),
        }
    }

    /// Answers as fast as this machine can.
    pub(crate) fn for_inference(mut self) -> Self {
        self.products = Products::fastest(self.device(), self.words.kind());
        self
    }

    /// Multiplies in training as a recipe wants it. With 32-bit floats these are libtorch's own
    /// products: oneDNN's differ in the last bits, and what is trained must not depend on which of
    /// them is there.
    pub(crate) fn for_training(mut self, precision: Precision) -> Self {
        self.products = match precision {
            Precision::F32 => Products::Usual,
            Precision::Bf16 => {
                Products::Bf16 { native: self.device() != Device::Cpu || Isa::multiplies_bf16() }
            }
        };
        self
    }

    fn product(&self, linear: &Linear, input: &Tensor) -> Result<Tensor, Error> {
        let Linear { weight, bias } = linear;
        let product = match self.products {
            Products::Usual => input.f_linear(weight, Some(bias)),
            Products::OneDnn => one_dnn(input, weight, bias),
            Products::Bf16 { native } => {
                in_bf16([input, weight, bias], native, |[input, weight, bias]| {
                    input.f_linear(weight, Some(bias))
                })
            }
        };
        product.map_err(torch("a matrix product"))
    }

    /// The products of two stacks of matrices.
    fn matmul(&self, left: &Tensor, right: &Tensor) -> Result<Tensor, Error> {
        let product = match self.products {
            Products::Usual | Products::OneDnn => left.f_matmul(right),
            Products::Bf16 { native } => {
                in_bf16([left, right], native, |[left, right]| left.f_matmul(right))
            }
        };
        product.map_err(torch("attention"))
    }

    pub(crate) fn device(&self) -> Device {
        self.words.device()
    }

    /// Every tensor that training may change, with its name and whether weight decay applies to it:
    /// not to biases and not to layer normalisation, as in BERT's own recipe.
    pub(crate) fn parameters(&mut self) -> Vec<(String, bool, &mut Tensor)> {
        let mut all: Vec<(String, bool, &mut Tensor)> = vec![
            ("embeddings.word_embeddings.weight".to_owned(), true, &mut self.words),
            ("embeddings.position_embeddings.weight".to_owned(), true, &mut self.positions),
            ("embeddings.token_type_embeddings.weight".to_owned(), true, &mut self.segments),
        ];
        both(&mut all, "embeddings.LayerNorm", false, &mut self.embedding_norm);
        for (place, own) in (0..).zip(&mut self.layers) {
            both(&mut all, &layer_tensor(place, QUERY_KEY_VALUE), true, &mut own.query_key_value);
            both(
                &mut all,
                &layer_tensor(place, "attention.output.dense"),
                true,
                &mut own.attention,
            );
            both(
                &mut all,
                &layer_tensor(place, "attention.output.LayerNorm"),
                false,
                &mut own.attention_norm,
            );
            both(&mut all, &layer_tensor(place, "intermediate.dense"), true, &mut own.inner);
            both(&mut all, &layer_tensor(place, "output.dense"), true, &mut own.outer);
            both(&mut all, &layer_tensor(place, "output.LayerNorm"), false, &mut own.norm);
        }
        if let Some(pooler) = &mut self.pooler {
            both(&mut all, "pooler.dense", true, pooler);
        }
        if let Some(classifier) = &mut self.classifier {
            both(&mut all, "classifier", true, classifier);
        }
        all
    }

    /// The weights under their usual names, query, key and value apart again.
    pub(crate) fn weights(&mut self) -> Weights {
        let mut tensors = std::collections::BTreeMap::new();
        for (name, _, tensor) in self.parameters() {
            let tensor = tensor.detach().to_device(Device::Cpu).to_kind(Kind::Float);
            match name.split_once(QUERY_KEY_VALUE) {
                Some((stem, rest)) => {
                    for (part, tensor) in ["query", "key", "value"].iter().zip(tensor.chunk(3, 0)) {
                        tensors.insert(
                            format!("{stem}attention.self.{part}{rest}"),
                            tensor.contiguous(),
                        );
                    }
                }
                None => {
                    tensors.insert(name, tensor.contiguous());
                }
            }
        }
        Weights { tensors }
    }

    /// The vectors after the last layer.
    pub(crate) fn forward(&self, input: &Input, wanted: Wanted) -> Result<Tensor, Error> {
        let size = input.ids.size();
        let (texts, tokens, hidden) = (size[0], size[1], self.shape.hidden);
        let mut states = self.embed(input)?;
        for (place, own) in self.layers.iter().enumerate() {
            let last = place + 1 == self.layers.len();
            let wanted = if last { wanted } else { Wanted::All };
            states = self.layer(own, &states, input, wanted)?;
        }
        if wanted == Wanted::First {
            return Ok(states);
        }
        if let Some(padding) = input.padding {
            states = rows(&states, &padding.numbers)?;
        }
        Ok(states.view([texts, tokens, hidden]))
    }

    /// The vectors before the first layer, tokens × hidden.
    fn embed(&self, input: &Input) -> Result<Tensor, Error> {
        let size = input.ids.size();
        let (texts, tokens, hidden) = (size[0], size[1], self.shape.hidden);
        let words = rows(&self.words, &input.packed(input.ids)?)?;
        let segments = rows(&self.segments, &input.packed(input.segments)?)?;
        let sum = if let Some(padding) = input.padding {
            words + segments + rows(&self.positions, &padding.positions)?
        } else {
            let positions = self.positions.narrow(0, 0, tokens).unsqueeze(0);
            ((words + segments).view([texts, tokens, hidden]) + positions)
                .view([texts * tokens, hidden])
        };
        self.dropped(self.norm(&sum, &self.embedding_norm)?, input, Wanted::All)
    }

    fn layer(
        &self,
        own: &Layer,
        states: &Tensor,
        input: &Input,
        wanted: Wanted,
    ) -> Result<Tensor, Error> {
        let before = match (wanted, input.padding) {
            (Wanted::All, _) => states.shallow_clone(),
            (Wanted::First, Some(padding)) => rows(states, &padding.firsts)?,
            (Wanted::First, None) => {
                let size = input.ids.size();
                states.view([size[0], size[1], self.shape.hidden]).select(1, 0)
            }
        };
        let mixed = self.attend(&self.product(&own.query_key_value, states)?, input, wanted)?;
        let attended = self.dropped(self.product(&own.attention, &mixed)?, input, wanted)? + before;
        let attended = self.norm(&attended, &own.attention_norm)?;
        let inner = self.activate(&self.product(&own.inner, &attended)?);
        let outer = self.dropped(self.product(&own.outer, &inner)?, input, wanted)? + attended;
        self.norm(&outer, &own.norm)
    }

    /// Attention over queries, keys and values of all tokens (tokens × 3 hidden), which alone needs
    /// the texts side by side; gives the wanted rows.
    fn attend(&self, projected: &Tensor, input: &Input, wanted: Wanted) -> Result<Tensor, Error> {
        let size = input.ids.size();
        let (texts, tokens, hidden) = (size[0], size[1], self.shape.hidden);
        let (heads, width) = (self.shape.heads, hidden / self.shape.heads);
        let projected = match input.padding {
            Some(padding) => rows(projected, &padding.numbers)?,
            None => projected.shallow_clone(),
        };
        let split = projected.view([texts, tokens, 3, heads, width]).permute([2, 0, 3, 1, 4]);
        let (mut query, key, value) = (split.get(0), split.get(1), split.get(2));
        if wanted == Wanted::First {
            query = query.narrow(2, 0, 1);
        }
        let weights = self.attention_weights(&query, &key, input)?;
        let mixed = self.matmul(&weights, &value)?;
        let mixed = mixed.transpose(1, 2).reshape([-1, hidden]);
        match input.padding {
            Some(padding) if wanted == Wanted::All => rows(&mixed, &padding.places),
            _ => Ok(mixed),
        }
    }

    /// How much of each key every query takes, texts × heads × queries × keys.
    fn attention_weights(
        &self,
        query: &Tensor,
        key: &Tensor,
        input: &Input,
    ) -> Result<Tensor, Error> {
        let scale = 1.0 / (query.size()[3] as f64).sqrt();
        let mut scores = self.matmul(&(query * scale), &key.transpose(-2, -1))?;
        if let Some(padding) = input.padding {
            scores += &padding.mask;
        }
        let weights = scores.softmax(-1, scores.kind());
        if input.train && self.shape.attention_dropout > 0.0 {
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

    fn norm(&self, states: &Tensor, norm: &Linear) -> Result<Tensor, Error> {
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
    fn dropped(&self, states: Tensor, input: &Input, wanted: Wanted) -> Result<Tensor, Error> {
        if !input.train || self.shape.dropout <= 0.0 {
            return Ok(states);
        }
        let refused = torch("dropout");
        let Some(padding) = input.padding.filter(|_| wanted == Wanted::All) else {
            return states.f_dropout(self.shape.dropout, true).map_err(refused);
        };
        let size = input.ids.size();
        let kept = 1.0 - self.shape.dropout;
        let mut drawn =
            Tensor::empty([size[0] * size[1], self.shape.hidden], (states.kind(), states.device()));
        let drawn = drawn
            .f_bernoulli_float_(kept)
            .and_then(|mut drawn| drawn.f_div_scalar_(kept))
            .and_then(|drawn| drawn.f_index_select(0, &padding.places))
            .map_err(&refused)?;
        states.f_mul(&drawn).map_err(refused)
    }

    /// Mean of the tokens' vectors, of length 1: sentence-transformers' pooling.
    pub(crate) fn pooled_mean(&self, input: &Input) -> Result<Tensor, Error> {
        let states = self.forward(input, Wanted::All)?.to_kind(Kind::Float);
        let mean = match input.padding {
            None => states.mean_dim(Some(&[1_i64][..]), false, Kind::Float),
            Some(padding) => {
                let present = padding.present.unsqueeze(-1);
                (states * &present).sum_dim_intlist(Some(&[1_i64][..]), false, Kind::Float)
                    / present.sum_dim_intlist(Some(&[1_i64][..]), false, Kind::Float)
            }
        };
        unit(&mean)
    }

    /// The logits of the classifier over the pooled `[CLS]`, texts × classes.
    pub(crate) fn logits(&self, input: &Input) -> Result<Tensor, Error> {
        let (Some(pooler), Some(classifier)) = (&self.pooler, &self.classifier) else {
            return Err(no_head());
        };
        let pooled = self.product(pooler, &self.forward(input, Wanted::First)?)?.tanh();
        Ok(self
            .product(classifier, &self.dropped(pooled, input, Wanted::First)?)?
            .to_kind(Kind::Float))
    }

    /// Gives the network a new classifier of so many classes, and a pooler if it has none: normal
    /// with deviation 0.02, as BERT initialises. tch's own initialisation is another.
    pub(crate) fn new_head(&mut self, classes: i64) {
        let (hidden, like) = (self.shape.hidden, (self.words.kind(), self.words.device()));
        let fresh = |to: i64| Linear {
            weight: Tensor::randn([to, hidden], (Kind::Float, Device::Cpu))
                .to_device(like.1)
                .to_kind(like.0)
                * 0.02,
            bias: Tensor::zeros([to], like),
        };
        if self.pooler.is_none() {
            self.pooler = Some(fresh(hidden));
        }
        self.classifier = Some(fresh(classes));
    }

    /// Keeps only these rows of the word embeddings, in this order; gives the whole table back.
    pub(crate) fn narrow_vocabulary(&mut self, ids: &Tensor) -> Tensor {
        let narrow = self.words.index_select(0, ids);
        std::mem::replace(&mut self.words, narrow)
    }

    /// Puts a whole table of word embeddings back.
    pub(crate) fn set_words(&mut self, words: Tensor) {
        self.words = words;
    }
}

/// Vectors at length 1, one a row.
pub(crate) fn unit(vectors: &Tensor) -> Result<Tensor, Error> {
    let length = vectors.f_norm_scalaropt_dim(2, [1_i64], true);
    Ok(vectors / length.map_err(torch("pooling"))?.clamp_min(1e-12))
}

/// Rows of a table by number. Their gradient is that of an embedding: added up in one pass.
fn rows(table: &Tensor, numbers: &Tensor) -> Result<Tensor, Error> {
    Tensor::f_embedding(table, numbers, -1, false, false).map_err(torch("looking up rows"))
}

/// The part of a layer that holds query, key and value together.
const QUERY_KEY_VALUE: &str = "attention.self.query_key_value";

fn no_head() -> Error {
    problem(std::path::Path::new("weights"), "a pooler and a classifier", "an encoder alone")
        .hint(
            "a stage that scores pairs needs a cross-encoder: train one, or name the folder of one",
        )
        .into()
}
