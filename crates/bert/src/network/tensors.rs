//! The tensors of a network: loaded from weights, listed for training, and given back as weights.

use super::{Layer, Network};
use crate::names::{
    DISTANCE_NORM, GATED, HEAD_NORM, HEAD_NORMS, LAST_NORM, NORM_BEFORE_ATTENTION,
    NORM_BEFORE_INNER, QUERY_KEY_VALUE, distance_parts, distance_table, head_names, layer_tensor,
};
use crate::pooling::PoolingHead;
use crate::products::{Linear, Products, SharedTensor};
use crate::weights::{SELF, Weights};
use clariq_core::Result;
use clariq_folder::{Family, ModelFolder, ModelShape, Norms};
use tch::{Device, Kind, Tensor};

pub(crate) const WORDS: &str = "embeddings.word_embeddings.weight";
const POSITIONS: &str = "embeddings.position_embeddings.weight";
const SEGMENTS: &str = "embeddings.token_type_embeddings.weight";
const PROJECT: &str = "embeddings_project";
const ATTENTION: &str = "attention.output.dense";
const INNER: &str = "intermediate.dense";
const OUTER: &str = "output.dense";

/// A tensor that training may change, with its name.
pub(crate) type NamedTensor<'n> = (String, &'n mut Tensor);

/// True if weight decay applies to a tensor: not to biases and not to layer normalisation, as in
/// BERT's own recipe.
pub(crate) fn decays(name: &str) -> bool {
    let is_norm = ["LayerNorm", "layer_norm"].iter().any(|norm| name.contains(norm));
    !name.ends_with("bias") && !is_norm
}

/// Adds a matrix and its bias to a list of parameters.
pub(super) fn list<'n>(all: &mut Vec<NamedTensor<'n>>, name: &str, linear: &'n mut Linear) {
    all.push((format!("{name}.weight"), &mut linear.weight.0));
    if let Some(bias) = &mut linear.bias {
        all.push((format!("{name}.bias"), &mut bias.0));
    }
}

/// Copies weights to a device, as numbers of one kind.
pub(super) struct Loader<'w> {
    pub(super) weights: &'w Weights,
    pub(super) shape: &'w ModelShape,
    pub(super) device: Device,
    pub(super) kind: Kind,
}

impl Loader<'_> {
    fn copy(&self, tensor: &Tensor) -> Tensor {
        tensor.to_device(self.device).to_kind(self.kind)
    }

    pub(super) fn tensor(&self, name: &str, size: &[i64]) -> Result<SharedTensor> {
        Ok(SharedTensor(self.copy(self.weights.get(name, size)?)))
    }

    pub(super) fn linear(&self, name: &str, size: &[i64], has_bias: bool) -> Result<Linear> {
        let (weight, bias) = self.weights.linear(name, size, has_bias)?;
        Ok(Linear::new(self.copy(weight), bias.map(|bias| self.copy(bias))))
    }

    fn norm(&self, name: &str, size: i64) -> Result<Linear> {
        self.linear(name, &[size], self.shape.layer.has_norm_bias && !self.shape.layer.is_rms)
    }

    fn layer(&self, number: i64) -> Result<Layer> {
        let &ModelShape { hidden, intermediate, heads, width, layer: form, .. } = self.shape;
        let name = |part: &str| layer_tensor(number, part);
        let is_normed_before = form.norms != Norms::After;
        let norm = |part: &str, is_there: bool| {
            is_there.then(|| self.norm(&name(part), hidden)).transpose()
        };
        let distances = self.shape.disentangled.as_ref();
        let has_projections = distances.is_some_and(|distances| !distances.is_shared);
        let mut distance_projections = None;
        if has_projections {
            distance_projections = Some(self.distance_projections(number)?);
        }
        let mut head_norms = None;
        if form.heads_are_normed {
            let [query, key] = HEAD_NORMS;
            head_norms = Some([self.norm(&name(query), width)?, self.norm(&name(key), width)?]);
        }
        let has_first = is_normed_before && (number > 0 || form.first_is_normed);
        let output = [hidden, heads * width];
        Ok(Layer {
            before_attention: norm(NORM_BEFORE_ATTENTION, has_first)?,
            query_key_value: self.query_key_value(number)?,
            head_norms,
            distance_projections,
            attention: self.linear(&name(ATTENTION), &output, form.has_attention_bias)?,
            attention_norm: norm("attention.output.LayerNorm", form.norms != Norms::Before)?,
            before_inner: norm(NORM_BEFORE_INNER, is_normed_before)?,
            inner: self.inner(number)?,
            outer: self.linear(&name(OUTER), &[hidden, intermediate], form.has_inner_bias)?,
            norm: norm("output.LayerNorm", form.norms != Norms::Before)?,
        })
    }

    /// The first product of the feed-forward part; of a gated one, both products.
    fn inner(&self, layer: i64) -> Result<Linear> {
        let &ModelShape { hidden, intermediate, layer: form, .. } = self.shape;
        let whole = layer_tensor(layer, INNER);
        if !form.is_gated {
            return self.linear(&whole, &[intermediate, hidden], form.has_inner_bias);
        }
        if self.weights.has(&whole) {
            return self.linear(&whole, &[2 * intermediate, hidden], form.has_inner_bias);
        }
        let size = [intermediate, hidden];
        self.joined(&GATED.map(|part| (layer_tensor(layer, part), size)), form.has_inner_bias)
    }

    /// The matrices of query, key and value of a layer as one.
    fn query_key_value(&self, layer: i64) -> Result<Linear> {
        let &ModelShape { hidden, heads, key_heads, width, layer: form, .. } = self.shape;
        let whole = layer_tensor(layer, QUERY_KEY_VALUE);
        if self.weights.has(&whole) {
            let size = [(heads + 2 * key_heads) * width, hidden];
            return self.linear(&whole, &size, form.has_attention_bias);
        }
        let mut parts = Vec::new();
        for (part, heads) in SELF.into_iter().zip([heads, key_heads, key_heads]) {
            let name = layer_tensor(layer, &format!("attention.self.{part}"));
            parts.push((name, [heads * width, hidden]));
        }
        self.joined(&parts, form.has_attention_bias)
    }

    /// Matrices as one, with their rows one after the other.
    fn joined(&self, parts: &[(String, [i64; 2])], has_bias: bool) -> Result<Linear> {
        let mut matrices = Vec::new();
        let mut biases = Vec::new();
        for (name, size) in parts {
            let (weight, bias) = self.weights.linear(name, size, has_bias)?;
            matrices.push(self.copy(weight));
            biases.extend(bias.map(|bias| self.copy(bias)));
        }
        let bias = has_bias.then(|| Tensor::cat(&biases, 0));
        Ok(Linear::new(Tensor::cat(&matrices, 0), bias))
    }

    /// DeBERTa's projections of distances to keys and to queries. The first version has no bias for
    /// keys.
    fn distance_projections(&self, layer: i64) -> Result<[Linear; 2]> {
        let hidden = self.shape.hidden;
        let [key, query] = distance_parts(self.shape.family).map(|part| layer_tensor(layer, part));
        let to_key = match self.shape.family {
            Family::Deberta => {
                let weight = self.weights.get(&format!("{key}.weight"), &[hidden, hidden])?;
                let no_bias = Tensor::zeros([hidden], (self.kind, self.device));
                Linear::new(self.copy(weight), Some(no_bias))
            }
            _ => self.linear(&key, &[hidden, hidden], true)?,
        };
        Ok([to_key, self.linear(&query, &[hidden, hidden], true)?])
    }

    /// The table of distances: biases per head in MPNet, vectors in DeBERTa.
    fn distances(&self) -> Result<Option<SharedTensor>> {
        let &ModelShape { family, hidden, buckets, heads, .. } = self.shape;
        let size = match &self.shape.disentangled {
            Some(distances) => [distances.span.saturating_mul(2), hidden],
            None if buckets > 0 => [buckets, heads],
            None => return Ok(None),
        };
        Ok(Some(self.tensor(distance_table(family), &size)?))
    }
}

impl Network {
    /// Puts weights on a device, as numbers of a kind. `head` is for encoders; other models take the
    /// mean of the tokens.
    pub(crate) fn new(
        folder: &ModelFolder,
        weights: &Weights,
        head: PoolingHead,
        device: Device,
        kind: Kind,
    ) -> Result<Self> {
        let shape = &folder.shape;
        let &ModelShape { family, hidden, embedding, .. } = shape;
        let loader = Loader { weights, shape, device, kind };
        let mut layers = Vec::new();
        for number in 0..shape.groups {
            layers.push(loader.layer(number)?);
        }
        let mut positions = None;
        if shape.adds_positions {
            positions = Some(loader.tensor(POSITIONS, &[shape.positions, embedding])?);
        }
        let mut segments = None;
        if shape.segments > 0 {
            segments = Some(loader.tensor(SEGMENTS, &[shape.segments, embedding])?);
        }
        let mut distance_norm = None;
        if shape.disentangled.as_ref().is_some_and(|distances| distances.is_normed) {
            distance_norm = Some(loader.linear(DISTANCE_NORM, &[hidden], true)?);
        }
        let mut project = None;
        if family == Family::Albert || embedding != hidden {
            project = Some(loader.linear(PROJECT, &[hidden, embedding], true)?);
        }
        let mut has_bias = None;
        if family == Family::Deberta {
            let ones = Tensor::ones([3 * hidden], (kind, device));
            let _ = ones.narrow(0, hidden, hidden).zero_();
            has_bias = Some(SharedTensor(ones));
        }
        let mut embedding_norm = None;
        if shape.layer.embedding_is_normed {
            embedding_norm = Some(loader.norm("embeddings.LayerNorm", embedding)?);
        }
        let mut last_norm = None;
        if shape.layer.norms != Norms::After {
            last_norm = Some(loader.norm(LAST_NORM, hidden)?);
        }
        let (dense_name, classifier_name) = head_names(family);
        let mut dense = None;
        if let Some(name) = dense_name.filter(|name| weights.has(name)) {
            dense = Some(loader.linear(name, &[hidden, hidden], shape.classifier.has_bias)?);
        }
        let mut classifier = None;
        let mut head_norm = None;
        if weights.has(classifier_name) {
            let size = [weights.classes(classifier_name), hidden];
            classifier = Some(loader.linear(classifier_name, &size, dense_name.is_some())?);
            if shape.classifier.is_normed {
                head_norm = Some(loader.norm(HEAD_NORM, hidden)?);
            }
        }
        Ok(Self {
            shape: shape.clone(),
            products: Products::Usual,
            words: loader.tensor(WORDS, &[shape.vocabulary, embedding])?,
            positions,
            padding: shape.positions_after,
            segments,
            uses_segments: folder.uses_segments(),
            embedding_norm,
            project,
            layers,
            distances: loader.distances()?,
            distance_norm,
            has_bias,
            last_norm,
            dense,
            head_norm,
            classifier,
            head,
            word_head: None,
        })
    }

    /// Every tensor that training may change.
    pub(crate) fn parameters(&mut self) -> Vec<NamedTensor<'_>> {
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
        let outside = [
            ("embeddings.LayerNorm", &mut self.embedding_norm),
            (DISTANCE_NORM, &mut self.distance_norm),
            (PROJECT, &mut self.project),
        ];
        for (name, linear) in outside {
            if let Some(linear) = linear {
                list(&mut all, name, linear);
            }
        }
        for (number, layer) in (0..).zip(&mut self.layers) {
            let [query_norm, key_norm] = match &mut layer.head_norms {
                Some([query, key]) => [Some(query), Some(key)],
                None => [None, None],
            };
            let parts = [
                (NORM_BEFORE_ATTENTION, layer.before_attention.as_mut()),
                (QUERY_KEY_VALUE, Some(&mut layer.query_key_value)),
                (HEAD_NORMS[0], query_norm),
                (HEAD_NORMS[1], key_norm),
                (ATTENTION, Some(&mut layer.attention)),
                ("attention.output.LayerNorm", layer.attention_norm.as_mut()),
                (NORM_BEFORE_INNER, layer.before_inner.as_mut()),
                (INNER, Some(&mut layer.inner)),
                (OUTER, Some(&mut layer.outer)),
                ("output.LayerNorm", layer.norm.as_mut()),
            ];
            for (name, linear) in parts {
                if let Some(linear) = linear {
                    list(&mut all, &layer_tensor(number, name), linear);
                }
            }
            let parts = layer.distance_projections.as_mut().into_iter().flatten();
            for (name, linear) in distance_parts(family).into_iter().zip(parts) {
                list(&mut all, &layer_tensor(number, name), linear);
            }
        }
        if family == Family::Deberta {
            let [to_key, _] = distance_parts(family);
            all.retain(|(name, _)| !name.ends_with(&format!("{to_key}.bias")));
        }
        let head = [
            (LAST_NORM, &mut self.last_norm),
            (dense.unwrap_or_default(), &mut self.dense),
            (HEAD_NORM, &mut self.head_norm),
            (classifier, &mut self.classifier),
        ];
        for (name, linear) in head {
            if let Some(linear) = linear {
                list(&mut all, name, linear);
            }
        }
        if let Some(words) = &mut self.word_head {
            all.extend(words.parameters());
        }
        all
    }

    /// The weights under their usual names; what the family's files have apart is taken apart.
    pub(crate) fn weights(&mut self) -> Weights {
        let &mut ModelShape { family, heads, key_heads, width, intermediate, layer, .. } =
            &mut self.shape;
        let heads = [heads, key_heads, key_heads].map(|heads| heads * width);
        let mut tensors = std::collections::BTreeMap::new();
        for (name, tensor) in self.parameters() {
            let tensor = tensor.detach().to_device(Device::Cpu).to_kind(Kind::Float);
            let apart = match name.split_once(QUERY_KEY_VALUE) {
                _ if family == Family::ModernBert => None,
                Some((stem, rest)) => {
                    let parts = SELF.map(|part| format!("{stem}attention.self.{part}{rest}"));
                    Some((parts.to_vec(), heads.to_vec()))
                }
                None => name.split_once(INNER).filter(|_| layer.is_gated).map(|(stem, rest)| {
                    let parts = GATED.map(|part| format!("{stem}{part}{rest}"));
                    (parts.to_vec(), vec![intermediate; 2])
                }),
            };
            let Some((names, sizes)) = apart else {
                tensors.insert(name, tensor.contiguous());
                continue;
            };
            for (name, part) in names.into_iter().zip(tensor.split_with_sizes(&sizes, 0)) {
                tensors.insert(name, part.contiguous());
            }
        }
        Weights::of(tensors)
    }

    /// Gives the network a new classifier, and the layer before it if it has none. Weights are
    /// normal with deviation 0.02, as in BERT; tch's own initialisation differs.
    pub(crate) fn new_head(&mut self, classes: i64) {
        if self.dense.is_none() {
            self.dense = Some(self.new_layer(self.shape.hidden));
        }
        self.classifier = Some(self.new_layer(classes));
    }

    fn new_layer(&self, outputs: i64) -> Linear {
        let kind = self.words.kind();
        let device = self.words.device();
        let normal = Tensor::randn([outputs, self.shape.hidden], (Kind::Float, Device::Cpu));
        let weight = normal.to_device(device).to_kind(kind) * 0.02;
        Linear::new(weight, Some(Tensor::zeros([outputs], (kind, device))))
    }
}
