//! The layers of a BERT and of its relatives, implemented once for inference and training.
//!
//! Devlin, Chang, Lee and Toutanova, "BERT: Pre-training of Deep Bidirectional Transformers for
//! Language Understanding", NAACL 2019. The other families compute the same layers: RoBERTa and
//! MPNet count positions from the padding token, MPNet adds what tokens' distances weigh to
//! attention, DeBERTa attends to distances beside words, ELECTRA and ALBERT have shorter vectors of
//! words, ALBERT repeats its layers, DistilBERT has no segments; and each has its own head of a
//! classifier. It differs from a literal transcription in what it leaves
//! out: query, key and value are one matrix product; nothing but attention sees padding; where only
//! `[CLS]` is looked at, the last layer computes nothing else. The tests hold it against the literal
//! transcription of `rust_bert`, and against golden files of transformers.

mod distances;
#[cfg(test)]
mod tests;

use crate::batch::TokenBatch;
use crate::folder::{
    Activation, DISTANCE_NORM, Family, ModelFolder, ModelShape, distance_parts, distance_table,
    head_names, layer_tensor,
};
use crate::pooling::{PoolingHead, activate};
use crate::products::{Linear, Products, SharedTensor};
use crate::weights::{SELF, Weights, torch};
use clariq_core::{Error, Precision, Result, bail};
use distances::Distances;
use tch::{Device, Kind, Tensor};

#[derive(Debug, Clone)]
struct Layer {
    query_key_value: Linear,
    /// DeBERTa's projections of distances to keys and to queries, where they are not those of words.
    of_distances: Option<[Linear; 2]>,
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
    products: Products,
    /// The table of word embeddings, of which training keeps the rows that occur in its data.
    pub(crate) words: SharedTensor,
    positions: Option<SharedTensor>,
    /// The id of the padding token in `words`, where positions are counted from it. A text that has
    /// this token in its midst counts on behind it.
    pub(crate) padding: Option<i64>,
    segments: Option<SharedTensor>,
    /// True if the two texts of a pair are told apart.
    uses_segments: bool,
    embedding_norm: Linear,
    /// From the words' shorter vectors to those of the layers.
    project: Option<Linear>,
    layers: Vec<Layer>,
    /// Relative position biases, buckets × heads; in DeBERTa the vectors of distances, rows × hidden.
    distances: Option<SharedTensor>,
    distance_norm: Option<Linear>,
    /// 0 for the biases of keys, which the first DeBERTa does not have, and 1 for the others.
    has_bias: Option<SharedTensor>,
    /// The two layers over the first token that score a pair.
    dense: Option<Linear>,
    classifier: Option<Linear>,
    /// How tokens become one vector.
    pub(crate) head: PoolingHead,
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
    all.push((format!("{name}.weight"), &mut linear.weight.0));
    all.push((format!("{name}.bias"), &mut linear.bias.0));
}

/// The matrices of query, key and value of a layer as one.
fn query_key_value(
    weights: &Weights,
    layer: i64,
    hidden: i64,
    to: &impl Fn(&Tensor) -> Tensor,
) -> Result<Linear> {
    let mut matrices = Vec::new();
    let mut biases = Vec::new();
    for part in SELF {
        let name = layer_tensor(layer, &format!("attention.self.{part}"));
        let [weight, bias] = weights.linear(&name, &[hidden, hidden])?;
        matrices.push(to(weight));
        biases.push(to(bias));
    }
    Ok(Linear::new(Tensor::cat(&matrices, 0), Tensor::cat(&biases, 0)))
}

/// DeBERTa's projections of distances to keys and to queries. The first version has no bias for keys.
fn distance_projections(
    weights: &Weights,
    shape: &ModelShape,
    layer: i64,
    to: &impl Fn(&Tensor) -> Tensor,
) -> Result<[Linear; 2]> {
    let size = [shape.hidden, shape.hidden];
    let [key, query] = distance_parts(shape.family).map(|part| layer_tensor(layer, part));
    let weight = to(weights.get(&format!("{key}.weight"), &size)?);
    let bias = match shape.family {
        Family::Deberta => Tensor::zeros([shape.hidden], (weight.kind(), weight.device())),
        _ => to(weights.get(&format!("{key}.bias"), &size[..1])?),
    };
    let [query_weight, query_bias] = weights.linear(&query, &size)?;
    let to_query = Linear::new(to(query_weight), to(query_bias));
    Ok([Linear::new(weight, bias), to_query])
}

/// Which vectors of the last layer are wanted.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum WantedVectors {
    /// The vectors of all tokens: texts × tokens × hidden.
    All,
    /// The vector of `[CLS]`: texts × hidden.
    First,
}

impl Network {
    /// Puts weights on a device, as numbers of a kind. What a folder says of its vectors is for
    /// encoders; without it they are the mean of the tokens.
    pub(crate) fn new(
        folder: &ModelFolder,
        weights: &Weights,
        head: PoolingHead,
        device: Device,
        kind: Kind,
    ) -> Result<Self> {
        let shape = &folder.shape;
        let &ModelShape { family, hidden, embedding, intermediate, .. } = shape;
        let to = |tensor: &Tensor| tensor.to_device(device).to_kind(kind);
        let table = |name: &str, size: [i64; 2]| {
            Ok::<_, Error>(SharedTensor(to(weights.get(name, &size)?)))
        };
        let linear = |name: &str, size: &[i64]| {
            let [weight, bias] = weights.linear(name, size)?;
            Ok::<_, Error>(Linear::new(to(weight), to(bias)))
        };
        let mut layers = Vec::new();
        for number in 0..shape.groups {
            let part = |part: &str, size: &[i64]| linear(&layer_tensor(number, part), size);
            layers.push(Layer {
                query_key_value: query_key_value(weights, number, hidden, &to)?,
                of_distances: match &shape.disentangled {
                    Some(distances) if !distances.is_shared => {
                        Some(distance_projections(weights, shape, number, &to)?)
                    }
                    _ => None,
                },
                attention: part("attention.output.dense", &[hidden, hidden])?,
                attention_norm: part("attention.output.LayerNorm", &[hidden])?,
                inner: part("intermediate.dense", &[intermediate, hidden])?,
                outer: part("output.dense", &[hidden, intermediate])?,
                norm: part("output.LayerNorm", &[hidden])?,
            });
        }
        let mut positions = None;
        if shape.adds_positions {
            positions = Some(table(POSITIONS, [shape.positions, embedding])?);
        }
        let mut segments = None;
        if shape.segments > 0 {
            segments = Some(table(SEGMENTS, [shape.segments, embedding])?);
        }
        let distances_of = distance_table(family);
        let distances = match &shape.disentangled {
            Some(own) => Some(table(distances_of, [own.span.saturating_mul(2), hidden])?),
            None if shape.buckets > 0 => Some(table(distances_of, [shape.buckets, shape.heads])?),
            None => None,
        };
        let mut distance_norm = None;
        if shape.disentangled.as_ref().is_some_and(|distances| distances.is_normed) {
            distance_norm = Some(linear(DISTANCE_NORM, &[hidden])?);
        }
        let mut project = None;
        if family == Family::Albert || embedding != hidden {
            project = Some(linear(PROJECT, &[hidden, embedding])?);
        }
        let mut has_bias = None;
        if family == Family::Deberta {
            let ones = Tensor::ones([3 * hidden], (kind, device));
            let _ = ones.narrow(0, hidden, hidden).zero_();
            has_bias = Some(SharedTensor(ones));
        }
        let (dense_name, classifier_name) = head_names(family);
        let mut dense = None;
        if weights.has(dense_name) {
            dense = Some(linear(dense_name, &[hidden, hidden])?);
        }
        let mut classifier = None;
        if weights.has(classifier_name) {
            let classes = weights.classes(classifier_name);
            classifier = Some(linear(classifier_name, &[classes, hidden])?);
        }
        Ok(Self {
            shape: shape.clone(),
            products: Products::Usual,
            words: table(WORDS, [shape.vocabulary, embedding])?,
            positions,
            padding: shape.positions_after,
            segments,
            uses_segments: folder.uses_segments(),
            embedding_norm: linear("embeddings.LayerNorm", &[embedding])?,
            project,
            layers,
            distances,
            distance_norm,
            has_bias,
            dense,
            classifier,
            head,
        })
    }

    /// Chooses the fastest matrix products of this machine.
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
        let family = self.shape.family;
        let (dense, classifier) = head_names(family);
        let mut all = vec![(WORDS.to_owned(), &mut self.words.0)];
        let tables = [
            (POSITIONS, &mut self.positions),
            (SEGMENTS, &mut self.segments),
            (distance_table(family), &mut self.distances),
        ];
        for (name, table) in tables {
            all.extend(table.as_mut().map(|table| (name.to_owned(), &mut table.0)));
        }
        list(&mut all, "embeddings.LayerNorm", &mut self.embedding_norm);
        if let Some(norm) = &mut self.distance_norm {
            list(&mut all, DISTANCE_NORM, norm);
        }
        if let Some(project) = &mut self.project {
            list(&mut all, PROJECT, project);
        }
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
            let parts = layer.of_distances.as_mut().into_iter().flatten();
            for (name, linear) in distance_parts(family).into_iter().zip(parts) {
                list(&mut all, &layer_tensor(number, name), linear);
            }
        }
        if family == Family::Deberta {
            let [to_key, _] = distance_parts(family);
            all.retain(|(name, _)| !name.ends_with(&format!("{to_key}.bias")));
        }
        for (name, linear) in [(dense, &mut self.dense), (classifier, &mut self.classifier)] {
            if let Some(linear) = linear {
                list(&mut all, name, linear);
            }
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
            for (part, tensor) in SELF.iter().zip(tensor.chunk(3, 0)) {
                tensors.insert(format!("{stem}attention.self.{part}{rest}"), tensor.contiguous());
            }
        }
        Weights::of(tensors)
    }

    /// The number of classes that a pair is scored by; `None` without the layers for it.
    pub(crate) fn classes(&self) -> Option<i64> {
        self.dense.as_ref()?;
        Some(self.classifier.as_ref()?.bias.size()[0])
    }

    /// The vectors after the last layer.
    pub(crate) fn forward(&self, batch: &TokenBatch, wanted: WantedVectors) -> Result<Tensor> {
        let ((texts, tokens), hidden) = (batch.size(), self.shape.hidden);
        let mut states = self.embed(batch)?;
        let distances = self.distances(tokens)?;
        let distances = distances.as_ref();
        let repeats = self.shape.layers as f64 / self.layers.len() as f64;
        for number in 0..self.shape.layers {
            let wanted = if number + 1 == self.shape.layers { wanted } else { WantedVectors::All };
            let layer = &self.layers[(number as f64 / repeats) as usize];
            states = self.layer(layer, &states, batch, wanted, distances)?;
        }
        if wanted == WantedVectors::First {
            return Ok(states);
        }
        if let Some(padding) = &batch.padding {
            states = rows(&states, &padding.numbers)?;
        }
        Ok(states.view([texts, tokens, hidden]))
    }

    /// The vectors before the first layer, tokens × hidden.
    fn embed(&self, batch: &TokenBatch) -> Result<Tensor> {
        let ((texts, tokens), width) = (batch.size(), self.words.size()[1]);
        let mut words = rows(&self.words, &batch.packed(&batch.ids)?)?;
        if let Some(table) = &self.segments {
            words += if self.uses_segments {
                rows(table, &batch.packed(&batch.segments)?)?
            } else {
                table.get(0)
            };
        }
        let sum = match (&self.positions, self.padding, &batch.padding) {
            (None, ..) => words,
            (Some(table), Some(id), _) => {
                words + rows(table, &batch.packed(&self.positions_behind(id, batch))?)?
            }
            (Some(table), None, Some(padding)) => words + rows(table, &padding.positions)?,
            (Some(table), None, None) => {
                let positions = table.narrow(0, 0, tokens).unsqueeze(0);
                (words.view([texts, tokens, width]) + positions).view([texts * tokens, width])
            }
        };
        let embedded = self.dropped(
            self.embedding_norm.norm(&sum, self.shape.epsilon)?,
            batch,
            WantedVectors::All,
        )?;
        match &self.project {
            Some(project) => self.products.linear(project, &embedded),
            None => Ok(embedded),
        }
    }

    /// The positions of tokens, texts × tokens, as Hugging Face's library counts them behind the
    /// padding token's: that token has its own, and is not counted.
    fn positions_behind(&self, id: i64, batch: &TokenBatch) -> Tensor {
        let first = self.shape.positions_after.unwrap_or_default();
        let counted = batch.ids.ne(id).to_kind(Kind::Int64);
        counted.cumsum(1, Kind::Int64) * counted + first
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
        let attended =
            self.dropped(self.products.linear(&own.attention, &mixed)?, batch, wanted)? + before;
        let attended = own.attention_norm.norm(&attended, self.shape.epsilon)?;
        let inner = self.products.linear(&own.inner, &attended)?;
        let inner = activate(self.shape.activation, &inner);
        let outer =
            self.dropped(self.products.linear(&own.outer, &inner)?, batch, wanted)? + attended;
        own.norm.norm(&outer, self.shape.epsilon)
    }

    /// Attention over queries, keys and values of all tokens (tokens × 3 hidden), which alone needs
    /// the texts side by side; gives the wanted rows.
    fn attend(
        &self,
        own: &Layer,
        projected: &Tensor,
        batch: &TokenBatch,
        wanted: WantedVectors,
        distances: Option<&Distances>,
    ) -> Result<Tensor> {
        let ((texts, tokens), hidden) = (batch.size(), self.shape.hidden);
        let heads = self.shape.heads;
        let width = hidden / self.shape.heads;
        let projected = match &batch.padding {
            Some(padding) => rows(projected, &padding.numbers)?,
            None => projected.shallow_clone(),
        };
        let split = projected.view([texts, tokens, 3, heads, width]).permute([2, 0, 3, 1, 4]);
        let mut query = split.get(0);
        let key = split.get(1);
        let value = split.get(2);
        if wanted == WantedVectors::First {
            query = query.narrow(2, 0, 1);
        }
        let weights = self.attention_weights(own, &query, &key, batch, distances)?;
        let mixed = self.products.matmul(&weights, &value)?;
        let mixed = mixed.transpose(1, 2).reshape([-1, hidden]);
        match &batch.padding {
            Some(padding) if wanted == WantedVectors::All => rows(&mixed, &padding.cells),
            _ => Ok(mixed),
        }
    }

    /// How much of each key every query takes, texts × heads × queries × keys.
    fn attention_weights(
        &self,
        own: &Layer,
        query: &Tensor,
        key: &Tensor,
        batch: &TokenBatch,
        distances: Option<&Distances>,
    ) -> Result<Tensor> {
        // The variance of three products is three times that of one.
        let terms = if matches!(distances, Some(Distances::Vectors(..))) { 3.0 } else { 1.0 };
        let scale = 1.0 / (query.size()[3] as f64 * terms).sqrt();
        let query = query * scale;
        let mut scores = self.products.matmul(&query, &key.transpose(-2, -1))?;
        match distances {
            None => {}
            Some(Distances::Weights(added)) => scores += added.narrow(2, 0, query.size()[2]),
            Some(Distances::Vectors(vectors, at)) => {
                let [of_key, of_query] = self.project_distances(own, vectors, batch)?;
                let size = scores.size();
                let at = at.narrow(0, 0, size[2]).expand(&size, false);
                let to_distance = self.products.matmul(&query, &of_key)?;
                scores += to_distance.gather(-1, &at, false);
                let from_distance = self.products.matmul(key, &(of_query * scale))?;
                scores += from_distance.gather(-1, &at.transpose(-2, -1), false).transpose(-2, -1);
            }
        }
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

    /// Applies dropout in training. Where padding is left out, numbers are drawn for it none the
    /// less: what a token loses does not depend on how the batch is computed.
    fn dropped(&self, states: Tensor, batch: &TokenBatch, wanted: WantedVectors) -> Result<Tensor> {
        if !batch.train || self.shape.dropout <= 0.0 {
            return Ok(states);
        }
        let refused = torch("dropout");
        let Some(padding) = batch.padding.as_ref().filter(|_| wanted == WantedVectors::All) else {
            return states.f_dropout(self.shape.dropout, true).map_err(refused);
        };
        let (texts, tokens) = batch.size();
        let kept = 1.0 - self.shape.dropout;
        let width = states.size()[1];
        let mut drawn = Tensor::empty([texts * tokens, width], (states.kind(), states.device()));
        let drawn = drawn
            .f_bernoulli_float_(kept)
            .and_then(|mut drawn| drawn.f_div_scalar_(kept))
            .and_then(|drawn| drawn.f_index_select(0, &padding.cells))
            .map_err(&refused)?;
        states.f_mul(&drawn).map_err(refused)
    }

    /// The vector of each text, texts × dimensions.
    pub(crate) fn pooled(&self, batch: &TokenBatch) -> Result<Tensor> {
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
            bail!("weights", "the two layers that score a pair", "an encoder alone", hint);
        };
        let activation = match self.shape.family {
            Family::DistilBert => Activation::Relu,
            Family::Electra | Family::Deberta | Family::DebertaV2 => Activation::Gelu,
            _ => Activation::Tanh,
        };
        let first = self.products.linear(dense, &self.forward(batch, WantedVectors::First)?)?;
        let first = self.dropped(activate(activation, &first), batch, WantedVectors::First)?;
        Ok(self.products.linear(classifier, &first)?.to_kind(Kind::Float))
    }

    /// Gives the network a new classifier of so many classes, and the layer before it if it has
    /// none: normal with deviation 0.02, as BERT initialises. tch's own initialisation is another.
    pub(crate) fn new_head(&mut self, classes: i64) {
        let hidden = self.shape.hidden;
        let like = (self.words.kind(), self.words.device());
        let fresh = |to: i64| {
            let normal = Tensor::randn([to, hidden], (Kind::Float, Device::Cpu));
            let weight = normal.to_device(like.1).to_kind(like.0) * 0.02;
            Linear::new(weight, Tensor::zeros([to], like))
        };
        if self.dense.is_none() {
            self.dense = Some(fresh(hidden));
        }
        self.classifier = Some(fresh(classes));
    }
}

/// Rows of a table by number. Their gradient is that of an embedding: added up in one pass.
fn rows(table: &Tensor, numbers: &Tensor) -> Result<Tensor> {
    Tensor::f_embedding(table, numbers, -1, false, false).map_err(torch("looking up rows"))
}

const WORDS: &str = "embeddings.word_embeddings.weight";
const POSITIONS: &str = "embeddings.position_embeddings.weight";
const SEGMENTS: &str = "embeddings.token_type_embeddings.weight";
const PROJECT: &str = "embeddings_project";

/// The part of a layer that holds query, key and value together.
const QUERY_KEY_VALUE: &str = "attention.self.query_key_value";
