//! The weights of a model: read in any family's spelling, written as Hugging Face does; and refusals
//! of libtorch.

use clariq_core::{Error, Result, problem};
use clariq_files::write_atomically;
use clariq_model::{FUSED, Family, ModelFolder, Shape, layer_tensor, own_name, usual_name};
use safetensors::tensor::{Dtype, TensorView};
use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};
use tch::{Kind, TchError, Tensor};

/// The parts of attention, which the network has in one matrix.
pub(crate) const SELF: [&str; 3] = ["query", "key", "value"];

/// Tensors by their usual names: those that `BertModel` has in Hugging Face's library, without the
/// prefix `bert.`. Heads keep their own names.
pub struct Weights {
    /// All tensors, as 32-bit floats on the CPU.
    pub tensors: BTreeMap<String, Tensor>,
}

impl Weights {
    /// Reads the weights of a model, whose tensors were checked when the folder was opened.
    pub fn read(folder: &ModelFolder) -> Result<Self> {
        let named = read_all(&folder.weights)?.into_iter();
        let usual = |(name, tensor): (String, _)| (usual_name(folder.shape.family, &name), tensor);
        let mut weights = Self { tensors: named.map(usual).collect() };
        if folder.shape.family == Family::Deberta {
            weights.split(&folder.shape)?;
        }
        Ok(weights)
    }

    /// Takes apart what the first DeBERTa has in one tensor, head by head: query, key and value. A key
    /// has no bias there.
    fn split(&mut self, shape: &Shape) -> Result<()> {
        let &Shape { hidden, heads, .. } = shape;
        for layer in 0..shape.groups {
            let [fused, query, value] = FUSED.map(|part| layer_tensor(layer, part));
            let parts = self.get(&fused)?.view([heads, 3, hidden / heads, hidden]).unbind(1);
            let bias = [self.get(&query)?.shallow_clone(), self.get(&value)?.shallow_clone()];
            let [query_bias, value_bias] = bias;
            let key_bias = value_bias.zeros_like();
            let biases = [query_bias, key_bias, value_bias];
            for ((name, part), bias) in SELF.into_iter().zip(parts).zip(biases) {
                let name = |rest| layer_tensor(layer, &format!("attention.self.{name}.{rest}"));
                self.tensors.insert(name("weight"), part.reshape([hidden, hidden]));
                self.tensors.insert(name("bias"), bias);
            }
            for name in [fused, query, value] {
                self.tensors.remove(&name);
            }
        }
        Ok(())
    }

    /// The tensors as the family has them: the reverse of `split`.
    fn join(&self, shape: &Shape) -> Result<BTreeMap<String, Tensor>> {
        let &Shape { hidden, heads, .. } = shape;
        let copies =
            self.tensors.iter().map(|(name, tensor)| (name.clone(), tensor.shallow_clone()));
        let mut tensors: BTreeMap<String, Tensor> = copies.collect();
        for layer in (0..shape.groups).filter(|_| shape.family == Family::Deberta) {
            let mut take = |name: &str, rest: &str| {
                let name = layer_tensor(layer, &format!("attention.self.{name}.{rest}"));
                tensors.remove(&name).ok_or_else(|| problem!("weights", "a tensor {name}", "none"))
            };
            let [query, key, value] = SELF.map(|name| take(name, "weight"));
            let parts = [query?, key?, value?].map(|part| part.view([heads, -1, hidden]));
            let joined = Tensor::cat(&parts, 1).view([3 * hidden, hidden]);
            let [query, _, value] = SELF.map(|name| take(name, "bias"));
            for (name, tensor) in FUSED.into_iter().zip([joined, query?, value?]) {
                tensors.insert(layer_tensor(layer, name), tensor);
            }
        }
        Ok(tensors)
    }

    /// The tensor of that name.
    pub(crate) fn get(&self, name: &str) -> Result<&Tensor> {
        let found = self.tensors.get(name).ok_or_else(|| {
            problem!(
                "weights",
                "a tensor {name}",
                "none of that name",
                "a cross-encoder needs a pooler and a classifier; an encoder can be fine-tuned \
                 into one"
            )
        })?;
        Ok(found)
    }

    /// Writes `model.safetensors` with the metadata that `from_pretrained` wants, and the names of a
    /// family's model alone or beside a head.
    pub fn write(&self, path: &Path, shape: &Shape, beside_head: bool) -> Result<()> {
        let (family, joined) = (shape.family, self.join(shape)?);
        let named = joined.iter();
        let named = named.map(|(name, tensor)| (own_name(family, name, beside_head), tensor));
        write_tensors(path, named, ("format", "pt".to_owned()))
    }
}

/// The floating-point tensors of files by their own names, as 32-bit floats on the CPU.
pub(crate) fn read_all(files: &[PathBuf]) -> Result<BTreeMap<String, Tensor>> {
    let mut tensors = BTreeMap::new();
    for path in files {
        let named = Tensor::read_safetensors(path).map_err(|error| {
            let hint = "copy the file again from where the model came from; it may be truncated";
            problem!(path, "weights that can be read", (first_line(&error)), hint)
        })?;
        for (name, tensor) in named {
            if matches!(tensor.kind(), Kind::Float | Kind::Half | Kind::BFloat16 | Kind::Double) {
                tensors.insert(name, tensor.to_kind(Kind::Float));
            }
        }
    }
    Ok(tensors)
}

/// Writes a safetensors file with one entry of metadata, in place of the one before.
pub(crate) fn write_tensors<'t>(
    path: &Path,
    named: impl Iterator<Item = (String, &'t Tensor)>,
    (key, value): (&str, String),
) -> Result<()> {
    let mut all = Vec::new();
    for (name, tensor) in named {
        let size: Vec<usize> = tensor.size().iter().map(|&size| size as usize).collect();
        let bytes: Vec<u8> = values(tensor)?.into_iter().flat_map(f32::to_le_bytes).collect();
        all.push((name, size, bytes));
    }
    let views = all.iter().map(|(name, size, bytes)| {
        Ok((name.as_str(), TensorView::new(Dtype::F32, size.clone(), bytes)?))
    });
    let metadata = Some(HashMap::from([(key.to_owned(), value)]));
    let file = views
        .collect::<std::result::Result<Vec<_>, safetensors::SafeTensorError>>()
        .and_then(|views| safetensors::serialize(views, &metadata))
        .map_err(|error| problem!(path, "tensors that can be written", "{error}"))?;
    write_atomically(path, |out| out.write_all(&file))
}

/// The numbers of a tensor.
pub(crate) fn values(tensor: &Tensor) -> Result<Vec<f32>> {
    let flat =
        tensor.detach().to_device(tch::Device::Cpu).to_kind(Kind::Float).contiguous().view([-1]);
    Vec::<f32>::try_from(flat).map_err(torch("copying numbers out of a tensor"))
}

/// Names what was being done when libtorch refused.
pub(crate) fn torch(action: &'static str) -> impl Fn(TchError) -> Error {
    move |source| {
        problem!(
            "libtorch",
            action,
            (first_line(&source)),
            "`clariq doctor` shows what was found; fewer tokens per batch need less memory"
        )
        .into()
    }
}

/// What libtorch says, without the trace of its own functions that it appends.
fn first_line(error: &TchError) -> String {
    error.to_string().lines().next().unwrap_or_default().to_owned()
}
