//! The tensors that a BERT consists of, and what a file must hold of them.

use crate::config::Shape;
use crate::problem::problem;
use clariq_core::Problem;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// The shapes of tensors by their names, without any prefix: as `BertModel` names them.
pub type Tensors = BTreeMap<String, Vec<i64>>;

const LAYERS: &str = "encoder.layer.";

/// The name of a layer's tensor.
pub fn layer_tensor(layer: i64, rest: &str) -> String {
    format!("{LAYERS}{layer}.{rest}")
}

/// One spelling for all: no prefix, and the names that layer normalisation has today.
pub fn usual_name(name: &str) -> String {
    let name =
        name.strip_prefix("bert.").or_else(|| name.strip_prefix("0.auto_model.")).unwrap_or(name);
    let name = name.strip_prefix("module.").unwrap_or(name);
    match name.rsplit_once('.') {
        Some((stem, "gamma")) => format!("{stem}.weight"),
        Some((stem, "beta")) => format!("{stem}.bias"),
        _ => name.to_owned(),
    }
}

/// Checks that weights hold every tensor of a shape, in the sizes and as many layers as
/// `config.json` says. The pooler may be missing: an encoder has no use for it.
pub fn check_layout(at: &Path, shape: &Shape, found: &Tensors) -> Result<(), Problem> {
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
    let found = format!("{} missing, {first} first; {} there", missing.len(), found.len());
    Err(problem(at, "all tensors of a BERT", found)
        .hint("the weights are of another architecture, or the file is damaged"))
}

/// Checks the pooler and the classifier of a model that scores pairs; the number of its classes.
pub fn check_head(at: &Path, shape: &Shape, found: &Tensors) -> Result<i64, Problem> {
    let classes = found.get("classifier.weight").and_then(|size| size.first()).copied();
    let classes = classes.unwrap_or_default();
    let classifier =
        [("classifier.weight", vec![classes, shape.hidden]), ("classifier.bias", vec![classes])];
    for (name, size) in pooler(shape).into_iter().chain(classifier) {
        if !has(at, found, name, &size)? {
            return Err(problem(at, format!("a tensor {name}"), "none of that name").hint(
                "a cross-encoder needs a pooler and a classifier; an encoder can be fine-tuned \
                 into one",
            ));
        }
    }
    if !(1..=2).contains(&classes) {
        let found = classes.to_string();
        return Err(problem(at, "a classifier of 1 or 2 classes", found)
            .hint("a model for another task cannot score pairs"));
    }
    Ok(classes)
}

/// Weights with more layers than `config.json` says would load, and be another model.
fn check_layers(at: &Path, shape: &Shape, found: &Tensors) -> Result<(), Problem> {
    let number = |name: &String| Some(name.strip_prefix(LAYERS)?.split_once('.')?.0.to_owned());
    let layers: BTreeSet<String> = found.keys().filter_map(number).collect();
    if i64::try_from(layers.len()) == Ok(shape.layers) {
        return Ok(());
    }
    let expected = format!("{} layers, num_hidden_layers of config.json", shape.layers);
    Err(problem(at, expected, format!("{} layers", layers.len()))
        .hint("config.json and the weights are of different models, or of another architecture"))
}

/// Whether a tensor is there; of another size than expected, it is an error.
fn has(at: &Path, found: &Tensors, name: &str, size: &[i64]) -> Result<bool, Problem> {
    match found.get(name) {
        Some(tensor) if tensor == size => Ok(true),
        Some(tensor) => {
            let expected = format!("{name} of the shape {size:?}, as config.json says");
            Err(problem(at, expected, format!("{tensor:?}"))
                .hint("config.json and the weights are of different models"))
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
    for layer in 0..shape.layers {
        let named = |rest: &str| layer_tensor(layer, rest);
        for name in ["query", "key", "value"] {
            all.extend(linear(named(&format!("attention.self.{name}")), hidden, hidden));
        }
        all.extend(linear(named("attention.output.dense"), hidden, hidden));
        all.extend(norm(named("attention.output.LayerNorm")));
        all.extend(linear(named("intermediate.dense"), inner, hidden));
        all.extend(linear(named("output.dense"), hidden, inner));
        all.extend(norm(named("output.LayerNorm")));
    }
    all
}
