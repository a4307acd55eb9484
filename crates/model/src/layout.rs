//! The tensors that a BERT consists of, and what a file must hold of them.

use crate::config::Shape;
use crate::tensors::Tensors;
use clariq_core::{Result, bail};
use std::collections::BTreeSet;
use std::path::Path;

const LAYERS: &str = "encoder.layer.";

/// The name of a layer's tensor.
pub fn layer_tensor(layer: i64, rest: &str) -> String {
    format!("{LAYERS}{layer}.{rest}")
}

const OTHER_MODELS: &str = "config.json and the weights are of different models";

/// Checks that weights hold every tensor of a shape, in the sizes and as many layers as
/// `config.json` says. The pooler may be missing: an encoder has no use for it.
pub fn check_layout(at: &Path, shape: &Shape, found: &Tensors) -> Result<()> {
    check_layers(at, shape, found)?;
    // From here on, a shape has no more layers than the file has tensors.
    let mut missing = Vec::new();
    for (name, size) in tensors_of(shape) {
        if !has(at, found, &name, &size)? {
            missing.push(name);
        }
    }
    for (name, size) in pooler(shape) {
        has(at, found, name, &size)?;
    }
    let Some(first) = missing.first() else { return Ok(()) };
    bail!(
        at,
        "all tensors of a BERT",
        (format!("{} missing, {first} first; {} there", missing.len(), found.len())),
        "the weights are of another architecture, or the file is damaged"
    )
}

/// Checks the pooler and the classifier of a model that scores pairs; the number of its classes.
pub fn check_head(at: &Path, shape: &Shape, found: &Tensors) -> Result<i64> {
    let classes = found.get("classifier.weight").and_then(|size| size.first()).copied();
    let classes = classes.unwrap_or_default();
    let classifier =
        [("classifier.weight", vec![classes, shape.hidden]), ("classifier.bias", vec![classes])];
    for (name, size) in pooler(shape).into_iter().chain(classifier) {
        if !has(at, found, name, &size)? {
            bail!(
                at,
                "a tensor {name}",
                "none of that name",
                "a cross-encoder needs a pooler and a classifier; an encoder can be fine-tuned \
                 into one"
            );
        }
    }
    if !(1..=2).contains(&classes) {
        let hint = "a model for another task cannot score pairs";
        bail!(at, "a classifier of 1 or 2 classes", "{classes}", hint);
    }
    Ok(classes)
}

/// Weights with more layers than `config.json` says would load, and be another model.
fn check_layers(at: &Path, shape: &Shape, found: &Tensors) -> Result<()> {
    let number = |name: &String| Some(name.strip_prefix(LAYERS)?.split_once('.')?.0.to_owned());
    let found = found.keys().filter_map(number).collect::<BTreeSet<String>>().len();
    let layers = shape.layers;
    if i64::try_from(found) == Ok(layers) {
        return Ok(());
    }
    let hint = format!("{OTHER_MODELS}, or of another architecture");
    bail!(at, "{layers} layers, num_hidden_layers of config.json", "{found} layers", hint)
}

/// Whether a tensor is there; of another size than expected, it is an error.
fn has(at: &Path, found: &Tensors, name: &str, size: &[i64]) -> Result<bool> {
    match found.get(name) {
        Some(tensor) if tensor == size => Ok(true),
        Some(tensor) => {
            let expected = format!("{name} of the shape {size:?}, as config.json says");
            bail!(at, expected, "{tensor:?}", OTHER_MODELS)
        }
        None => Ok(false),
    }
}

/// The layer over `[CLS]`.
fn pooler(shape: &Shape) -> [(&'static str, Vec<i64>); 2] {
    let hidden = shape.hidden;
    [("pooler.dense.weight", vec![hidden, hidden]), ("pooler.dense.bias", vec![hidden])]
}

/// Every tensor of the architecture with its shape, the pooler and heads left out.
fn tensors_of(shape: &Shape) -> Vec<(String, Vec<i64>)> {
    let &Shape { hidden, intermediate: inner, .. } = shape;
    let mut all = vec![
        ("embeddings.word_embeddings.weight".to_owned(), vec![shape.vocabulary, hidden]),
        ("embeddings.position_embeddings.weight".to_owned(), vec![shape.positions, hidden]),
        ("embeddings.token_type_embeddings.weight".to_owned(), vec![shape.segments, hidden]),
    ];
    let mut add = |name: String, size: &[i64]| {
        all.push((format!("{name}.weight"), size.to_vec()));
        all.push((format!("{name}.bias"), size[..1].to_vec()));
    };
    add("embeddings.LayerNorm".to_owned(), &[hidden]);
    let parts: [(&str, &[i64]); 8] = [
        ("attention.self.query", &[hidden, hidden]),
        ("attention.self.key", &[hidden, hidden]),
        ("attention.self.value", &[hidden, hidden]),
        ("attention.output.dense", &[hidden, hidden]),
        ("attention.output.LayerNorm", &[hidden]),
        ("intermediate.dense", &[inner, hidden]),
        ("output.dense", &[hidden, inner]),
        ("output.LayerNorm", &[hidden]),
    ];
    for layer in 0..shape.layers {
        for (name, size) in parts {
            add(layer_tensor(layer, name), size);
        }
    }
    all
}
