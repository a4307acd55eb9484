//! Which numbers does a model consist of? Reading them from any spelling of a BERT, and writing them as Hugging Face does.

use crate::error::Error;
use crate::folder::{ModelFolder, Shape, problem};
use clariq_files::write_atomically;
use safetensors::tensor::{Dtype, TensorView};
use std::collections::{BTreeMap, HashMap};
use std::path::Path;
use tch::{Kind, Tensor};

/// Tensors by the names that `BertModel` gives them in Hugging Face's library, without the prefix `bert.`; the head of a
/// classifier is `classifier.weight` and `classifier.bias`.
pub struct Weights {
    /// All tensors, as 32-bit floats on the CPU.
    pub tensors: BTreeMap<String, Tensor>,
}

/// The name of a layer's tensor.
pub(crate) fn layer(layer: i64, rest: &str) -> String {
    format!("encoder.layer.{layer}.{rest}")
}

impl Weights {
    /// Reads the weights of a model; every tensor of its architecture must be there with its shape. The pooler's may be
    /// missing: an encoder has no use for it.
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
        weights.check(&path, &folder.shape)?;
        Ok(weights)
    }

    fn check(&self, path: &Path, shape: &Shape) -> Result<(), Error> {
        let mut missing = Vec::new();
        for (name, size) in expected(shape) {
            match self.tensors.get(&name) {
                Some(tensor) if tensor.size() == size => {}
                Some(tensor) => {
                    let expected = format!("{name} of the shape {size:?}, as config.json says");
                    return Err(problem(path, expected, format!("{:?}", tensor.size()))
                        .hint("config.json and the weights are of different models")
                        .into());
                }
                None => missing.push(name),
            }
        }
        match missing.first() {
            None => Ok(()),
            Some(first) => {
                let found = format!(
                    "{} missing, {first} first; {} there",
                    missing.len(),
                    self.tensors.len()
                );
                Err(problem(path, "all tensors of a BERT", found)
                    .hint("the weights are of another architecture, or of fewer layers than config.json says")
                    .into())
            }
        }
    }

    /// The tensor of that name.
    pub(crate) fn get(&self, name: &str) -> Result<&Tensor, Error> {
        self.tensors.get(name).ok_or_else(|| {
            problem(Path::new("weights"), format!("a tensor {name}"), "none of that name")
                .hint("a cross-encoder needs a pooler and a classifier; an encoder can be fine-tuned into one")
                .into()
        })
    }

    /// Writes `model.safetensors` with the metadata that `from_pretrained` wants; `prefix` is `bert.` where a head
    /// lies beside the model.
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
    Vec::<f32>::try_from(flat).map_err(Error::torch("copying numbers out of a tensor"))
}

/// One spelling for all: no prefix, and the names that layer normalisation has today.
fn usual_name(name: &str) -> String {
    let name =
        name.strip_prefix("bert.").or_else(|| name.strip_prefix("0.auto_model.")).unwrap_or(name);
    let name = name.strip_prefix("module.").unwrap_or(name);
    match name.rsplit_once('.') {
        Some((stem, "gamma")) => format!("{stem}.weight"),
        Some((stem, "beta")) => format!("{stem}.bias"),
        _ => name.to_owned(),
    }
}

/// Every tensor of the architecture with its shape, the pooler and heads left out.
pub(crate) fn expected(shape: &Shape) -> Vec<(String, Vec<i64>)> {
    let (hidden, inner) = (shape.hidden, shape.intermediate);
    let norm = |name: String| {
        [(format!("{name}.weight"), vec![hidden]), (format!("{name}.bias"), vec![hidden])]
    };
    let linear = |name: String, to: i64, from: i64| {
        [(format!("{name}.weight"), vec![to, from]), (format!("{name}.bias"), vec![to])]
    };
    let mut all = vec![
        ("embeddings.word_embeddings.weight".to_owned(), vec![shape.vocabulary, hidden]),
        ("embeddings.position_embeddings.weight".to_owned(), vec![shape.positions, hidden]),
        ("embeddings.token_type_embeddings.weight".to_owned(), vec![shape.segments, hidden]),
    ];
    all.extend(norm("embeddings.LayerNorm".to_owned()));
    for place in 0..shape.layers {
        for name in ["query", "key", "value"] {
            all.extend(linear(layer(place, &format!("attention.self.{name}")), hidden, hidden));
        }
        all.extend(linear(layer(place, "attention.output.dense"), hidden, hidden));
        all.extend(norm(layer(place, "attention.output.LayerNorm")));
        all.extend(linear(layer(place, "intermediate.dense"), inner, hidden));
        all.extend(linear(layer(place, "output.dense"), hidden, inner));
        all.extend(norm(layer(place, "output.LayerNorm")));
    }
    all
}
