//! The weights of a model: read from any spelling of a BERT, written as Hugging Face does.

use crate::error::torch;
use clariq_core::Error;
use clariq_files::write_atomically;
use clariq_model::{ModelFolder, Tensors, check_layout, problem, usual_name};
use safetensors::tensor::{Dtype, TensorView};
use std::collections::{BTreeMap, HashMap};
use std::path::Path;
use tch::{Kind, Tensor};

/// Tensors by the names that `BertModel` gives them in Hugging Face's library, without the prefix
/// `bert.`; the head of a classifier is `classifier.weight` and `classifier.bias`.
pub struct Weights {
    /// All tensors, as 32-bit floats on the CPU.
    pub tensors: BTreeMap<String, Tensor>,
}

impl Weights {
    /// Reads the weights of a model; every tensor of its architecture must be there with its shape.
    pub fn read(folder: &ModelFolder) -> Result<Self, Error> {
        let path = folder.weights()?;
        let safe = path.extension().is_some_and(|extension| extension == "safetensors");
        let read = if safe { Tensor::read_safetensors(&path) } else { Tensor::load_multi(&path) };
        let hint = if safe {
            "copy the file again from where the model came from; it may be truncated"
        } else {
            "this form of pytorch_model.bin cannot be read: load the model in Python and save it with \
             `model.save_pretrained(DIR, safe_serialization=True)`"
        };
        let named = read.map_err(|error| {
            let first = error.to_string().lines().next().unwrap_or_default().to_owned();
            problem(&path, "weights that can be read", first).hint(hint)
        })?;
        let mut tensors = BTreeMap::new();
        for (name, tensor) in named {
            if matches!(tensor.kind(), Kind::Float | Kind::Half | Kind::BFloat16 | Kind::Double) {
                tensors.insert(usual_name(&name), tensor.to_kind(Kind::Float));
            }
        }
        let weights = Self { tensors };
        // What a safetensors file holds was checked when the folder was opened.
        if !safe {
            check_layout(&path, &folder.shape, &weights.shapes())?;
        }
        Ok(weights)
    }

    /// The shapes of all tensors.
    pub(crate) fn shapes(&self) -> Tensors {
        self.tensors.iter().map(|(name, tensor)| (name.clone(), tensor.size())).collect()
    }

    /// The tensor of that name.
    pub(crate) fn get(&self, name: &str) -> Result<&Tensor, Error> {
        self.tensors.get(name).ok_or_else(|| {
            problem(Path::new("weights"), format!("a tensor {name}"), "none of that name")
                .hint("a cross-encoder needs a pooler and a classifier; an encoder can be fine-tuned into one")
                .into()
        })
    }

    /// Writes `model.safetensors` with the metadata that `from_pretrained` wants; `prefix` is
    /// `bert.` where a head lies beside the model.
    pub fn write(&self, path: &Path, prefix: &str) -> Result<(), Error> {
        let named: Vec<(String, Vec<usize>, Vec<u8>)> = self
            .tensors
            .iter()
            .map(|(name, tensor)| {
                let name = if name.starts_with("classifier.") {
                    name.clone()
                } else {
                    format!("{prefix}{name}")
                };
                Ok((
                    name,
                    tensor.size().iter().map(|&size| size as usize).collect(),
                    bytes(tensor)?,
                ))
            })
            .collect::<Result<_, Error>>()?;
        let views = named
            .iter()
            .map(|(name, shape, bytes)| {
                TensorView::new(Dtype::F32, shape.clone(), bytes).map(|view| (name.as_str(), view))
            })
            .collect::<Result<Vec<_>, _>>();
        let metadata = Some(HashMap::from([("format".to_owned(), "pt".to_owned())]));
        let file = views.and_then(|views| safetensors::serialize(views, &metadata));
        let file =
            file.map_err(|error| problem(path, "weights that can be written", error.to_string()))?;
        Ok(write_atomically(path, |out| out.write_all(&file))?)
    }
}

/// The numbers of a tensor as they stand in a file.
pub(crate) fn bytes(tensor: &Tensor) -> Result<Vec<u8>, Error> {
    let values = values(tensor)?;
    Ok(values.iter().flat_map(|value| value.to_le_bytes()).collect())
}

/// The numbers of a tensor.
pub(crate) fn values(tensor: &Tensor) -> Result<Vec<f32>, Error> {
    let flat =
        tensor.detach().to_device(tch::Device::Cpu).to_kind(Kind::Float).contiguous().view([-1]);
    Vec::<f32>::try_from(flat).map_err(torch("copying numbers out of a tensor"))
}
