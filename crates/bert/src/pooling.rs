//! From the vectors of a text's tokens to one vector: the modules after the transformer.

use crate::batch::TokenBatch;
use crate::products::{Linear, SharedTensor};
use crate::weights::{read_all, torch};
use clariq_core::{Pooling, Result, Similarity, bail};
use clariq_folder::{Activation, DOCUMENTED, Module, OTHER_MODELS, Sentence};
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::slice;
use tch::{Device, Kind, Tensor};

/// A step after pooling, with its weights.
#[expect(clippy::option_option, reason = "no residual, one without a matrix, and one with it")]
#[derive(Debug, Clone)]
enum PoolingStep {
    Dense {
        weight: SharedTensor,
        bias: Option<SharedTensor>,
        /// Added to the output: the input, or its product with a matrix.
        residual: Option<Option<SharedTensor>>,
        activation: Activation,
    },
    LayerNorm(Linear),
    Normalize,
}

/// PyTorch's epsilon for layer normalisation.
const EPSILON: f64 = 1e-5;

/// Computes the vector of a text from those of its tokens.
#[derive(Debug, Clone)]
pub(crate) struct PoolingHead {
    poolings: Vec<Pooling>,
    steps: Vec<PoolingStep>,
    full_dim: i64,
    dim: i64,
    unit: bool,
}

impl PoolingHead {
    pub(crate) fn read(sentence: &Sentence, device: Device) -> Result<Self> {
        let is_whole = sentence.dim == sentence.full_dim;
        let unit = sentence.similarity == Similarity::Cosine;
        let mut modules = &sentence.modules[..];
        // A normalisation just before the last one changes nothing.
        while let [before @ .., Module::Normalize] = modules
            && unit
            && is_whole
        {
            modules = before;
        }
        let steps = modules.iter().map(|module| step(module, device)).collect::<Result<_>>()?;
        let poolings = sentence.poolings.clone();
        let full_dim = sentence.full_dim as i64;
        let dim = sentence.dim as i64;
        Ok(Self { poolings, steps, full_dim, dim, unit })
    }

    /// True if only the vectors of first tokens are used.
    pub(crate) fn takes_first(&self, batch: &TokenBatch) -> bool {
        self.poolings == [Pooling::Cls] && batch.is_whole
    }

    /// Returns one vector per text, texts × dimensions.
    pub(crate) fn apply(&self, states: &Tensor, batch: &TokenBatch) -> Result<Tensor> {
        let pooled = if self.takes_first(batch) {
            states.shallow_clone()
        } else {
            let parts = self.poolings.iter().map(|pooling| pool(*pooling, states, batch));
            Tensor::f_cat(&parts.collect::<Vec<_>>(), 1).map_err(torch("pooling"))?
        };
        self.finish(pooled)
    }

    /// The vectors of tokens, texts × tokens × dimensions: the modules after pooling are applied to each
    /// token, where they take one pooling's vector.
    pub(crate) fn apply_to_tokens(&self, states: &Tensor) -> Result<Tensor> {
        match self.poolings.len() {
            0 | 1 => self.finish(states.shallow_clone()),
            _ => unit(states),
        }
    }

    /// The modules after pooling, and the cut.
    fn finish(&self, mut vectors: Tensor) -> Result<Tensor> {
        for step in &self.steps {
            vectors = match step {
                PoolingStep::Dense { weight, bias, residual, activation } => {
                    let product = vectors.f_linear(weight, bias.as_deref());
                    let product = activate(*activation, &product.map_err(torch("a dense module"))?);
                    match residual {
                        None => product,
                        Some(None) => product + vectors,
                        Some(Some(residual)) => {
                            let own = vectors.f_linear(residual, None::<Tensor>);
                            product + own.map_err(torch("a dense module"))?
                        }
                    }
                }
                PoolingStep::LayerNorm(norm) => norm.norm(&vectors, EPSILON)?,
                PoolingStep::Normalize => unit(&vectors)?,
            };
        }
        if self.dim < self.full_dim {
            vectors = vectors.narrow(-1, 0, self.dim);
        }
        if self.unit { unit(&vectors) } else { Ok(vectors) }
    }
}

fn step(module: &Module, device: Device) -> Result<PoolingStep> {
    Ok(match module {
        Module::Dense { weights, from, to, bias, residual, activation } => {
            let mut tensors = read_module(weights)?;
            let weight = tensors.take("linear.weight", &[*to, *from])?.to_device(device);
            let mut bias_tensor = None;
            if *bias {
                let tensor = tensors.take("linear.bias", &[*to])?.to_device(device);
                bias_tensor = Some(SharedTensor(tensor));
            }
            let mut added = None;
            if *residual {
                added = Some(None);
                if from != to {
                    let tensor = tensors.take("residual.weight", &[*to, *from])?;
                    added = Some(Some(SharedTensor(tensor.to_device(device))));
                }
            }
            tensors.expect_no_others()?;
            PoolingStep::Dense {
                weight: SharedTensor(weight),
                bias: bias_tensor,
                residual: added,
                activation: *activation,
            }
        }
        Module::LayerNorm { weights, dim } => {
            let mut tensors = read_module(weights)?;
            let weight = tensors.take("norm.weight", &[*dim])?.to_device(device);
            let bias = tensors.take("norm.bias", &[*dim])?.to_device(device);
            tensors.expect_no_others()?;
            PoolingStep::LayerNorm(Linear::new(weight, Some(bias)))
        }
        Module::Normalize => PoolingStep::Normalize,
    })
}

/// The tensors of a module's file that have not been taken yet.
struct ModuleTensors<'f> {
    file: &'f PathBuf,
    tensors: BTreeMap<String, Tensor>,
}

fn read_module(file: &PathBuf) -> Result<ModuleTensors<'_>> {
    Ok(ModuleTensors { file, tensors: read_all(slice::from_ref(file))? })
}

impl ModuleTensors<'_> {
    fn take(&mut self, name: &str, size: &[usize]) -> Result<Tensor> {
        let Some(tensor) = self.tensors.remove(name) else {
            bail!(self.file, "a tensor {name}", "none of that name", OTHER_MODELS);
        };
        let size: Vec<i64> = size.iter().map(|&length| length as i64).collect();
        let found = tensor.size();
        if found != size {
            bail!(self.file, "{name} of the shape {size:?}", "{found:?}", OTHER_MODELS);
        }
        Ok(tensor)
    }

    fn expect_no_others(&self) -> Result<()> {
        match self.tensors.keys().next() {
            Some(other) => {
                bail!(self.file, "no tensor but those of the module", "`{other}`", DOCUMENTED)
            }
            None => Ok(()),
        }
    }
}

/// Pools the vectors of tokens (texts × tokens × hidden) into one vector per text (texts × hidden).
pub(crate) fn pool(pooling: Pooling, states: &Tensor, batch: &TokenBatch) -> Tensor {
    let (texts, tokens) = batch.size();
    let present = || match &batch.padding {
        Some(padding) => padding.present.shallow_clone(),
        None => Tensor::ones([texts, tokens], (Kind::Float, states.device())),
    };
    match (pooling, &batch.padding) {
        (Pooling::Cls, None) => states.select(1, 0),
        (Pooling::Cls, Some(padding)) => at(states, &padding.present.argmax(1, true)),
        (Pooling::Mean, None) => states.mean_dim(Some(&[1_i64][..]), false, Kind::Float),
        (Pooling::Mean, Some(padding)) => mean_of(states, &padding.present),
        (Pooling::MeanSqrtLen, _) => {
            let present = present().unsqueeze(-1);
            let sum = (states * &present).sum_dim_intlist(Some(&[1_i64][..]), false, Kind::Float);
            sum / present.sum_dim_intlist(Some(&[1_i64][..]), false, Kind::Float).sqrt()
        }
        (Pooling::Max, None) => states.amax([1_i64], false),
        (Pooling::Max, Some(padding)) => {
            let absent = padding.present.eq(0.0).unsqueeze(-1);
            states.masked_fill(&absent, f64::NEG_INFINITY).amax([1_i64], false)
        }
        (Pooling::WeightedMean, _) => {
            let number = Tensor::arange_start(1, tokens + 1, (Kind::Float, states.device()));
            mean_of(states, &(present() * number.unsqueeze(0)))
        }
        (Pooling::LastToken, None) => states.select(1, tokens - 1),
        (Pooling::LastToken, Some(_)) => at(states, &last(&present())),
    }
}

/// The vectors of the last tokens of texts without those of an id, wherever these are.
pub(crate) fn last_beside(id: Option<i64>, states: &Tensor, batch: &TokenBatch) -> Tensor {
    match id {
        Some(id) => at(states, &last(&batch.ids.ne(id).to_kind(Kind::Float))),
        None => pool(Pooling::LastToken, states, batch),
    }
}

/// The place of the last token that counts in each text, texts × 1.
fn last(counts: &Tensor) -> Tensor {
    let places = Tensor::arange(counts.size()[1], (Kind::Float, counts.device()));
    (counts * places).argmax(1, true)
}

/// The vector of one token of each text, by its place.
fn at(states: &Tensor, place: &Tensor) -> Tensor {
    let size = states.size();
    let place = place.unsqueeze(-1).expand([size[0], 1, size[2]], false);
    states.gather(1, &place, false).squeeze_dim(1)
}

/// The weighted mean of token vectors; weights are texts × tokens.
fn mean_of(states: &Tensor, weights: &Tensor) -> Tensor {
    let weights = weights.unsqueeze(-1);
    (states * &weights).sum_dim_intlist(Some(&[1_i64][..]), false, Kind::Float)
        / weights.sum_dim_intlist(Some(&[1_i64][..]), false, Kind::Float)
}

/// Normalises vectors, the last dimension of a tensor, to length 1.
pub(crate) fn unit(vectors: &Tensor) -> Result<Tensor> {
    let length = vectors.f_norm_scalaropt_dim(2, [-1_i64], true);
    Ok(vectors / length.map_err(torch("pooling"))?.clamp_min(1e-12))
}

pub(crate) fn activate(activation: Activation, states: &Tensor) -> Tensor {
    match activation {
        Activation::Gelu => states.gelu("none"),
        Activation::GeluTanh => states.gelu("tanh"),
        Activation::Relu => states.relu(),
        Activation::Silu => states.silu(),
        Activation::Tanh => states.tanh(),
        Activation::Sigmoid => states.sigmoid(),
        Activation::Identity => states.shallow_clone(),
    }
}
