//! The tensors of a network: loaded from weights, listed for training, and given back as weights.

use super::{Layer, Network};
use crate::names::{DISTANCE_NORM, distance_parts, distance_table, head_names, layer_tensor};
use crate::pooling::PoolingHead;
use crate::products::{Linear, Products, SharedTensor};
use crate::weights::{SELF, Weights};
use clariq_core::Result;
use clariq_folder::{Family, ModelFolder, ModelShape};
use tch::{Device, Kind, Tensor};

pub(super) const WORDS: &str = "embeddings.word_embeddings.weight";
const POSITIONS: &str = "embeddings.position_embeddings.weight";
const SEGMENTS: &str = "embeddings.token_type_embeddings.weight";
const PROJECT: &str = "embeddings_project";

/// The part of a layer that holds query, key and value together.
const QUERY_KEY_VALUE: &str = "attention.self.query_key_value";

/// A tensor that training may change, with its name.
pub(crate) type Parameter<'n> = (String, &'n mut Tensor);

/// True if weight decay applies to a tensor: not to biases and not to layer normalisation, as in
/// BERT's own recipe.
pub(crate) fn decays(name: &str) -> bool {
    let is_norm = ["LayerNorm", "layer_norm"].iter().any(|norm| name.contains(norm));
    !name.ends_with("bias") && !is_norm
}

/// Adds a matrix and its bias to a list of parameters.
pub(super) fn list<'n>(all: &mut Vec<Parameter<'n>>, name: &str, linear: &'n mut Linear) {
    all.push((format!("{name}.weight"), &mut linear.weight.0));
    all.push((format!("{name}.bias"), &mut linear.bias.0));
}

/// Copies weights to a device, as numbers of one kind.
struct Loader<'w> {
    weights: &'w Weights,
    shape: &'w ModelShape,
    device: Device,
    kind: Kind,
}

impl Loader<'_> {
    fn copy(&self, tensor: &Tensor) -> Tensor {
        tensor.to_device(self.device).to_kind(self.kind)
    }

    fn table(&self, name: &str, size: [i64; 2]) -> Result<SharedTensor> {
        Ok(SharedTensor(self.copy(self.weights.get(name, &size)?)))
    }

    fn linear(&self, name: &str, size: &[i64]) -> Result<Linear> {
        let [weight, bias] = self.weights.linear(name, size)?;
        Ok(Linear::new(self.copy(weight), self.copy(bias)))
    }

    fn layer(&self, number: i64) -> Result<Layer> {
        let &ModelShape { hidden, intermediate, .. } = self.shape;
        let part = |part: &str, size: &[i64]| self.linear(&layer_tensor(number, part), size);
        let distances = self.shape.disentangled.as_ref();
        let has_projections = distances.is_some_and(|distances| !distances.is_shared);
        let mut distance_projections = None;
        if has_projections {
            distance_projections = Some(self.distance_projections(number)?);
        }
        Ok(Layer {
            query_key_value: self.query_key_value(number)?,
            distance_projections,
            attention: part("attention.output.dense", &[hidden, hidden])?,
            attention_norm: part("attention.output.LayerNorm", &[hidden])?,
            inner: part("intermediate.dense", &[intermediate, hidden])?,
            outer: part("output.dense", &[hidden, intermediate])?,
            norm: part("output.LayerNorm", &[hidden])?,
        })
    }

    /// The matrices of query, key and value of a layer as one.
    fn query_key_value(&self, layer: i64) -> Result<Linear> {
        let hidden = self.shape.hidden;
        let mut matrices = Vec::new();
        let mut biases = Vec::new();
        for part in SELF {
            let name = layer_tensor(layer, &format!("attention.self.{part}"));
            let [weight, bias] = self.weights.linear(&name, &[hidden, hidden])?;
            matrices.push(self.copy(weight));
            biases.push(self.copy(bias));
        }
        Ok(Linear::new(Tensor::cat(&matrices, 0), Tensor::cat(&biases, 0)))
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
                Linear::new(self.copy(weight), no_bias)
            }
            _ => self.linear(&key, &[hidden, hidden])?,
        };
        Ok([to_key, self.linear(&query, &[hidden, hidden])?])
    }

    /// The table of distances: biases per head in MPNet, vectors in DeBERTa.
    fn distances(&self) -> Result<Option<SharedTensor>> {
        let &ModelShape { family, hidden, buckets, heads, .. } = self.shape;
        let size = match &self.shape.disentangled {
            Some(distances) => [distances.span.saturating_mul(2), hidden],
            None if buckets > 0 => [buckets, heads],
            None => return Ok(None),
        };
        Ok(Some(self.table(distance_table(family), size)?))
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
            positions = Some(loader.table(POSITIONS, [shape.positions, embedding])?);
        }
        let mut segments = None;
        if shape.segments > 0 {
            segments = Some(loader.table(SEGMENTS, [shape.segments, embedding])?);
        }
        let mut distance_norm = None;
        if shape.disentangled.as_ref().is_some_and(|distances| distances.is_normed) {
            distance_norm = Some(loader.linear(DISTANCE_NORM, &[hidden])?);
        }
        let mut project = None;
        if family == Family::Albert || embedding != hidden {
            project = Some(loader.linear(PROJECT, &[hidden, embedding])?);
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
            dense = Some(loader.linear(dense_name, &[hidden, hidden])?);
        }
        let mut classifier = None;
        if weights.has(classifier_name) {
            let classes = weights.classes(classifier_name);
            classifier = Some(loader.linear(classifier_name, &[classes, hidden])?);
        }
        Ok(Self {
            shape: shape.clone(),
            products: Products::Usual,
            words: loader.table(WORDS, [shape.vocabulary, embedding])?,
            positions,
            padding: shape.positions_after,
            segments,
            uses_segments: folder.uses_segments(),
            embedding_norm: loader.linear("embeddings.LayerNorm", &[embedding])?,
            project,
            layers,
            distances: loader.distances()?,
            distance_norm,
            has_bias,
            dense,
            classifier,
            head,
            word_head: None,
        })
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
            let parts = layer.distance_projections.as_mut().into_iter().flatten();
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
        if let Some(words) = &mut self.word_head {
            all.extend(words.parameters());
        }
        all
    }

    /// The weights under their usual names, with query, key and value as three matrices.
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
        Linear::new(weight, Tensor::zeros([outputs], (kind, device)))
    }
}
