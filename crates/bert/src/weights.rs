//! The weights of a model: read with the tensor names of any family, written with those of Hugging
//! Face; and errors of libtorch.

use crate::names::{FUSED, layer_of, layer_tensor, layers_key, own_name, usual_name};
use clariq_core::{Error, IoAction, ProblemKind, Result, bail, problem};
use clariq_folder::{COPY_AGAIN, Family, ModelFolder, ModelShape, OTHER_MODELS, not_finite};
use safetensors::tensor::{Dtype, TensorView};
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fs;
use std::path::{Path, PathBuf};
use tch::{Kind, TchError, Tensor};

/// The parts of attention that the network has in one matrix.
pub(crate) const SELF: [&str; 3] = ["query", "key", "value"];

/// Tensors by their usual names: those that `BertModel` has in Hugging Face's library, without the
/// prefix `bert.`. Heads keep their own names.
pub struct Weights {
    /// The file, for messages.
    file: PathBuf,
    /// All tensors, as 32-bit floats on the CPU.
    pub tensors: BTreeMap<String, Tensor>,
}

impl Weights {
    /// The weights of a network.
    pub(crate) fn of(tensors: BTreeMap<String, Tensor>) -> Self {
        Self { file: PathBuf::from("weights"), tensors }
    }

    /// Reads the weights of a model.
    pub fn read(folder: &ModelFolder) -> Result<Self> {
        let shape = &folder.shape;
        let file = &folder.weights[0];
        let mut tensors = BTreeMap::new();
        for (name, tensor) in read_all(&folder.weights)? {
            let usual = usual_name(shape.family, &name);
            if tensors.insert(usual.clone(), tensor).is_some() {
                bail!(file, "each tensor once", "`{usual}` twice", COPY_AGAIN);
            }
        }
        let mut weights = Self { file: file.clone(), tensors };
        weights.check_layers(shape)?;
        if shape.family == Family::Deberta {
            weights.split(shape)?;
        }
        Ok(weights)
    }

    /// Refuses weights with more or fewer layers than `config.json` has: extra layers would load, and
    /// make another model.
    fn check_layers(&self, shape: &ModelShape) -> Result<()> {
        let numbers: BTreeSet<&str> =
            self.tensors.keys().filter_map(|name| layer_of(name)).collect();
        if numbers.len() as i64 == shape.groups {
            return Ok(());
        }
        let expected =
            format!("{} layers, {} of config.json", shape.groups, layers_key(shape.family));
        let hint = format!("{OTHER_MODELS}, or of another architecture");
        bail!(&self.file, expected, (format!("{} layers", numbers.len())), hint)
    }

    /// Splits the tensor in which the first DeBERTa has query, key and value, head by head. Its keys
    /// have no bias.
    fn split(&mut self, shape: &ModelShape) -> Result<()> {
        let &ModelShape { hidden, heads, .. } = shape;
        for layer in 0..shape.groups {
            let [fused, query, value] = FUSED.map(|part| layer_tensor(layer, part));
            let parts = self.get(&fused, &[hidden.saturating_mul(3), hidden])?;
            let parts = parts.view([heads, 3, hidden / heads, hidden]).unbind(1);
            let query_bias = self.get(&query, &[hidden])?.shallow_clone();
            let value_bias = self.get(&value, &[hidden])?.shallow_clone();
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

    /// The tensors with the names of the family: the reverse of `split`.
    fn join(&self, shape: &ModelShape) -> Result<BTreeMap<String, Tensor>> {
        let &ModelShape { hidden, heads, .. } = shape;
        let mut tensors = BTreeMap::new();
        for (name, tensor) in &self.tensors {
            tensors.insert(name.clone(), tensor.shallow_clone());
        }
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

    /// The tensor of a name; another shape is an error.
    pub(crate) fn get(&self, name: &str, size: &[i64]) -> Result<&Tensor> {
        let Some(tensor) = self.tensors.get(name) else {
            let hint = "the weights are of another architecture, or the file is damaged";
            bail!(&self.file, "a tensor {name}", "none of that name", hint);
        };
        let found = tensor.size();
        if found != size {
            let expected = format!("{name} of the shape {size:?}, as config.json has it");
            bail!(&self.file, expected, "{found:?}", OTHER_MODELS);
        }
        Ok(tensor)
    }

    /// A matrix of weights with its bias, if it has one; another shape is an error.
    pub(crate) fn linear(
        &self,
        name: &str,
        size: &[i64],
        has_bias: bool,
    ) -> Result<(&Tensor, Option<&Tensor>)> {
        let weight = self.get(&format!("{name}.weight"), size)?;
        let mut bias = None;
        if has_bias {
            bias = Some(self.get(&format!("{name}.bias"), &size[..1])?);
        }
        Ok((weight, bias))
    }

    /// True if there is a matrix of that name.
    pub(crate) fn has(&self, name: &str) -> bool {
        self.tensors.contains_key(&format!("{name}.weight"))
    }

    /// The number of classes of a classifier.
    pub(crate) fn classes(&self, name: &str) -> i64 {
        let weight = self.tensors.get(&format!("{name}.weight"));
        weight.and_then(|weight| weight.size().first().copied()).unwrap_or_default()
    }

    /// Writes `model.safetensors` with the metadata that `from_pretrained` needs, and the family's
    /// tensor names for a model alone or beside a head.
    pub fn write(&self, path: &Path, shape: &ModelShape, beside_head: bool) -> Result<()> {
        let mut tensors = Vec::new();
        for (name, tensor) in &self.join(shape)? {
            tensors.push(tensor_bytes(own_name(shape.family, name, beside_head), tensor)?);
        }
        write_tensors(path, &tensors, [("format", "pt".to_owned())])
    }
}

/// The floating-point tensors of files by their own names, as 32-bit floats on the CPU.
pub(crate) fn read_all(files: &[PathBuf]) -> Result<BTreeMap<String, Tensor>> {
    let mut tensors = BTreeMap::new();
    for path in files {
        let entries = Tensor::read_safetensors(path).map_err(|error| {
            problem!(path, "weights that can be read", (first_line(&error)), COPY_AGAIN)
        })?;
        for (name, tensor) in entries {
            if matches!(tensor.kind(), Kind::Float | Kind::Half | Kind::BFloat16 | Kind::Double) {
                let tensor = tensor.to_kind(Kind::Float);
                // A sum is not finite if one of its terms is not; its own overflow is looked at again.
                let is_finite = tensor.sum(Kind::Double).double_value(&[]).is_finite();
                if !is_finite && tensor.isfinite().all().int64_value(&[]) == 0 {
                    return Err(not_finite(path, &name));
                }
                tensors.insert(name, tensor);
            }
        }
    }
    Ok(tensors)
}

/// The name, shape and bytes of a tensor.
pub(crate) type TensorBytes = (String, Vec<usize>, Vec<u8>);

/// The bytes of a tensor as 32-bit floats.
pub(crate) fn tensor_bytes(name: String, tensor: &Tensor) -> Result<TensorBytes> {
    let size = tensor.size().iter().map(|&size| size as usize).collect();
    let bytes = values(tensor)?.into_iter().flat_map(f32::to_le_bytes).collect();
    Ok((name, size, bytes))
}

/// Writes or replaces a safetensors file with metadata.
pub(crate) fn write_tensors<const N: usize>(
    path: &Path,
    tensors: &[TensorBytes],
    metadata: [(&str, String); N],
) -> Result<()> {
    let mut views = Vec::new();
    for (name, size, bytes) in tensors {
        let view = TensorView::new(Dtype::F32, size.clone(), bytes);
        let view =
            view.map_err(|error| problem!(path, "tensors that can be written", "{error}"))?;
        views.push((name.as_str(), view));
    }
    let metadata: HashMap<String, String> =
        metadata.into_iter().map(|(key, value)| (key.to_owned(), value)).collect();
    // Not built in memory first: a checkpoint is three times as large as its model.
    let partial = path.with_extension("partial");
    safetensors::serialize_to_file(views, &Some(metadata), &partial)
        .map_err(|error| problem!(path, "tensors that can be written", "{error}"))?;
    fs::rename(&partial, path).map_err(Error::io(IoAction::Write, path))
}

/// The numbers of a tensor.
pub(crate) fn values(tensor: &Tensor) -> Result<Vec<f32>> {
    let flat =
        tensor.detach().to_device(tch::Device::Cpu).to_kind(Kind::Float).contiguous().view([-1]);
    Vec::<f32>::try_from(flat).map_err(torch("copying numbers out of a tensor"))
}

/// Makes an error of libtorch's, with the action that failed.
pub(crate) fn torch(action: &'static str) -> impl Fn(TchError) -> Error {
    move |source| {
        let hint = "fewer tokens per batch need less memory";
        let problem = problem!("libtorch", action, (first_line(&source)), hint);
        problem.kind(ProblemKind::Engine).into()
    }
}

/// The message of libtorch without its stack trace.
fn first_line(error: &TchError) -> String {
    error.to_string().lines().next().unwrap_or_default().to_owned()
}
