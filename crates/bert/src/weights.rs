//! The weights of a model: read in any family's spelling, written as Hugging Face does; and refusals
//! of libtorch.

use clariq_core::{Error, Result, problem};
use clariq_files::write_atomically;
use clariq_model::{Family, ModelFolder, own_name, usual_name};
use safetensors::tensor::{Dtype, TensorView};
use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};
use tch::{Kind, TchError, Tensor};

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
        Ok(Self { tensors: named.map(usual).collect() })
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
    pub fn write(&self, path: &Path, family: Family, beside_head: bool) -> Result<()> {
        let named = self.tensors.iter();
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
