//! The tensors that a model consists of, what each family calls them, and what a file must hold of
//! them.

use crate::config::Shape;
use crate::family::Family;
use crate::files::COPY_AGAIN;
use crate::tensors::{Tensors, parse_shapes};
use clariq_core::{Result, bail};
use std::collections::BTreeSet;
use std::path::Path;

const LAYERS: &str = "encoder.layer.";

/// The name of a layer's tensor.
pub fn layer_tensor(layer: i64, rest: &str) -> String {
    format!("{LAYERS}{layer}.{rest}")
}

const OTHER_MODELS: &str = "config.json and the weights are of different models";

/// The parts of a layer, as BERT calls them; the last of a part's sizes is its inputs'.
const PARTS: [&str; 8] = [
    "attention.self.query",
    "attention.self.key",
    "attention.self.value",
    "attention.output.dense",
    "attention.output.LayerNorm",
    "intermediate.dense",
    "output.dense",
    "output.LayerNorm",
];
const PARTS_OF_DISTILBERT: [&str; 8] = [
    "attention.q_lin",
    "attention.k_lin",
    "attention.v_lin",
    "attention.out_lin",
    "sa_layer_norm",
    "ffn.lin1",
    "ffn.lin2",
    "output_layer_norm",
];
const PARTS_OF_ALBERT: [&str; 8] = [
    "attention.query",
    "attention.key",
    "attention.value",
    "attention.dense",
    "attention.LayerNorm",
    "ffn",
    "ffn_output",
    "full_layer_layer_norm",
];
const PARTS_OF_MPNET: [&str; 8] = [
    "attention.attn.q",
    "attention.attn.k",
    "attention.attn.v",
    "attention.attn.o",
    "attention.LayerNorm",
    "intermediate.dense",
    "output.dense",
    "output.LayerNorm",
];

const PARTS_OF_DEBERTA_V2: [&str; 8] = [
    "attention.self.query_proj",
    "attention.self.key_proj",
    "attention.self.value_proj",
    "attention.output.dense",
    "attention.output.LayerNorm",
    "intermediate.dense",
    "output.dense",
    "output.LayerNorm",
];

/// What a family's own names begin with where a head lies beside the model, what is in front of and
/// behind the number of a layer, and its parts.
type Spelling = (&'static str, [&'static str; 2], &'static [&'static str; 8]);

fn spelling(family: Family) -> Spelling {
    let usual = [LAYERS, "."];
    match family {
        Family::Bert => ("bert.", usual, &PARTS),
        Family::Roberta => ("roberta.", usual, &PARTS),
        Family::Electra => ("electra.", usual, &PARTS),
        Family::DistilBert => ("distilbert.", ["transformer.layer.", "."], &PARTS_OF_DISTILBERT),
        Family::Albert => {
            ("albert.", ["encoder.albert_layer_groups.", ".albert_layers.0."], &PARTS_OF_ALBERT)
        }
        Family::Mpnet => ("mpnet.", usual, &PARTS_OF_MPNET),
        // Query, key and value of the first version are one tensor, which is taken apart when it is
        // read.
        Family::Deberta => ("deberta.", usual, &PARTS),
        Family::DebertaV2 => ("deberta.", usual, &PARTS_OF_DEBERTA_V2),
    }
}

/// What the first DeBERTa calls query, key and value together, head by head, and the biases of
/// queries and values; keys have none.
pub const FUSED: [&str; 3] =
    ["attention.self.in_proj.weight", "attention.self.q_bias", "attention.self.v_bias"];

/// What DeBERTa calls the projections of distances to keys and to queries, where they have their own.
pub fn distance_parts(family: Family) -> [&'static str; 2] {
    match family {
        Family::Deberta => ["attention.self.pos_proj", "attention.self.pos_q_proj"],
        _ => ["attention.self.pos_key_proj", "attention.self.pos_query_proj"],
    }
}

/// What a family calls the table of distances.
pub fn distance_table(family: Family) -> &'static str {
    match family {
        Family::Mpnet => "encoder.relative_attention_bias.weight",
        _ => "encoder.rel_embeddings.weight",
    }
}

/// The name of the norm that DeBERTa's table of distances may have.
pub const DISTANCE_NORM: &str = "encoder.LayerNorm";

/// What ALBERT calls the table's own layer and the pooler, with their usual names.
const OF_ALBERT: [(&str, &str); 2] =
    [("encoder.embedding_hidden_mapping_in.", "embeddings_project."), ("pooler.", "pooler.dense.")];

/// The usual name of a family's tensor: that of `BertModel` in Hugging Face's library, without any
/// prefix. Heads keep their names.
pub fn usual_name(family: Family, name: &str) -> String {
    let (prefix, [before, behind], parts) = spelling(family);
    let name =
        name.strip_prefix(prefix).or_else(|| name.strip_prefix("0.auto_model.")).unwrap_or(name);
    let name = name.strip_prefix("module.").unwrap_or(name);
    let name = match name.rsplit_once('.') {
        Some((stem, "gamma")) => format!("{stem}.weight"),
        Some((stem, "beta")) => format!("{stem}.bias"),
        _ => name.to_owned(),
    };
    if family == Family::Albert {
        for (own, usual) in OF_ALBERT {
            if let Some(rest) = name.strip_prefix(own) {
                return format!("{usual}{rest}");
            }
        }
    }
    let in_layer = || {
        let (number, rest) = name.strip_prefix(before)?.split_once(behind)?;
        let (part, kind) = rest.rsplit_once('.')?;
        let part = PARTS[parts.iter().position(|own| *own == part)?];
        Some(format!("{LAYERS}{number}.{part}.{kind}"))
    };
    in_layer().unwrap_or(name)
}

/// What a family calls the tensor of a usual name, as a model alone or beside a head.
pub fn own_name(family: Family, usual: &str, beside_head: bool) -> String {
    let (prefix, [before, behind], parts) = spelling(family);
    let (dense, out) = head_names(family);
    let is_of_head =
        |head: &str| usual.strip_prefix(head).is_some_and(|rest| rest.starts_with('.'));
    let is_in_model = matches!(family, Family::Bert | Family::Albert);
    if is_of_head(out) || (is_of_head(dense) && !is_in_model) {
        return usual.to_owned();
    }
    let prefix = if beside_head { prefix } else { "" };
    if family == Family::Albert {
        for (own, start) in OF_ALBERT {
            if let Some(rest) = usual.strip_prefix(start) {
                return format!("{prefix}{own}{rest}");
            }
        }
    }
    let in_layer = || {
        let (number, rest) = usual.strip_prefix(LAYERS)?.split_once('.')?;
        let (part, kind) = rest.rsplit_once('.')?;
        let part = parts[PARTS.iter().position(|usual| *usual == part)?];
        Some(format!("{prefix}{before}{number}{behind}{part}.{kind}"))
    };
    in_layer().unwrap_or_else(|| format!("{prefix}{usual}"))
}

/// The floating-point tensors of a safetensors file in memory, by their usual names; `at` names the
/// file in messages.
pub fn parse_header(at: &Path, file: &[u8], family: Family) -> Result<Tensors> {
    usual(at, parse_shapes(at, file)?, family)
}

/// Tensors by their usual names, which no two of them may share.
pub(crate) fn usual(at: &Path, own: Tensors, family: Family) -> Result<Tensors> {
    let mut tensors = Tensors::new();
    for (name, size) in own {
        let usual = usual_name(family, &name);
        if tensors.insert(usual.clone(), size).is_some() {
            bail!(at, "each tensor once", "`{usual}` twice", COPY_AGAIN);
        }
    }
    Ok(tensors)
}

const POOLER: &str = "pooler.dense";

/// The two layers that score a pair by its first token, by name: the one whose values are activated
/// (the pooler of BERT, ALBERT and DeBERTa), and the one that gives a number per class.
pub fn head_names(family: Family) -> (&'static str, &'static str) {
    match family {
        Family::Bert | Family::Albert | Family::Deberta | Family::DebertaV2 => {
            (POOLER, "classifier")
        }
        Family::DistilBert => ("pre_classifier", "classifier"),
        Family::Roberta | Family::Electra | Family::Mpnet => {
            ("classifier.dense", "classifier.out_proj")
        }
    }
}

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
    if head_names(shape.family).0 == POOLER {
        for (name, size) in dense(shape) {
            has(at, found, &name, &size)?;
        }
    }
    let Some(first) = missing.first() else { return Ok(()) };
    bail!(
        at,
        (format!("all tensors of {}", shape.family)),
        (format!("{} missing, {first} first; {} there", missing.len(), found.len())),
        "the weights are of another architecture, or the file is damaged"
    )
}

/// Checks the two layers of a model that scores pairs; the number of its classes.
pub fn check_head(at: &Path, shape: &Shape, found: &Tensors) -> Result<i64> {
    let (_, out) = head_names(shape.family);
    let names = [format!("{out}.weight"), format!("{out}.bias")];
    let classes = found.get(&names[0]).and_then(|size| size.first()).copied();
    let classes = classes.unwrap_or_default();
    let [weight, bias] = names;
    let out = [(weight, vec![classes, shape.hidden]), (bias, vec![classes])];
    for (name, size) in dense(shape).into_iter().chain(out) {
        if !has(at, found, &name, &size)? {
            bail!(
                at,
                "a tensor {name}",
                "none of that name",
                "a cross-encoder needs the layers that score a pair; an encoder can be fine-tuned \
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
    let (layers, key) = match shape.family {
        Family::Albert => (shape.groups, "num_hidden_groups"),
        Family::DistilBert => (shape.layers, "n_layers"),
        _ => (shape.layers, "num_hidden_layers"),
    };
    if i64::try_from(found) == Ok(layers) {
        return Ok(());
    }
    let hint = format!("{OTHER_MODELS}, or of another architecture");
    bail!(at, "{layers} layers, {key} of config.json", "{found} layers", hint)
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

/// The layer over the first token.
fn dense(shape: &Shape) -> [(String, Vec<i64>); 2] {
    let (name, hidden) = (head_names(shape.family).0, shape.hidden);
    [(format!("{name}.weight"), vec![hidden, hidden]), (format!("{name}.bias"), vec![hidden])]
}

/// Every tensor of the architecture with its shape, the pooler and heads left out.
fn tensors_of(shape: &Shape) -> Vec<(String, Vec<i64>)> {
    let &Shape { hidden, embedding, intermediate: inner, .. } = shape;
    let words = "embeddings.word_embeddings.weight".to_owned();
    let mut all = vec![(words, vec![shape.vocabulary, embedding])];
    if shape.adds_positions {
        let name = "embeddings.position_embeddings.weight";
        all.push((name.to_owned(), vec![shape.positions, embedding]));
    }
    if shape.segments > 0 {
        let name = "embeddings.token_type_embeddings.weight";
        all.push((name.to_owned(), vec![shape.segments, embedding]));
    }
    let table = distance_table(shape.family).to_owned();
    if shape.buckets > 0 {
        all.push((table, vec![shape.buckets, shape.heads]));
    } else if let Some(distances) = &shape.disentangled {
        all.push((table, vec![distances.span.saturating_mul(2), hidden]));
    }
    let mut add = |name: String, size: &[i64]| {
        all.push((format!("{name}.weight"), size.to_vec()));
        all.push((format!("{name}.bias"), size[..1].to_vec()));
    };
    add("embeddings.LayerNorm".to_owned(), &[embedding]);
    if shape.family == Family::Albert || embedding != hidden {
        add("embeddings_project".to_owned(), &[hidden, embedding]);
    }
    let sizes: [&[i64]; 8] = [
        &[hidden, hidden],
        &[hidden, hidden],
        &[hidden, hidden],
        &[hidden, hidden],
        &[hidden],
        &[inner, hidden],
        &[hidden, inner],
        &[hidden],
    ];
    let is_fused = shape.family == Family::Deberta;
    for layer in 0..shape.groups {
        for (name, size) in PARTS.into_iter().zip(sizes).skip(if is_fused { 3 } else { 0 }) {
            add(layer_tensor(layer, name), size);
        }
    }
    let Some(distances) = &shape.disentangled else { return all };
    if distances.is_normed {
        add(DISTANCE_NORM.to_owned(), &[hidden]);
    }
    let [key, query] = distance_parts(shape.family);
    for layer in (0..shape.groups).filter(|_| !distances.is_shared) {
        add(layer_tensor(layer, query), &[hidden, hidden]);
        if !is_fused {
            add(layer_tensor(layer, key), &[hidden, hidden]);
        }
    }
    let key = format!("{key}.weight");
    let [fused, query_bias, value_bias] = FUSED;
    for layer in (0..shape.groups).filter(|_| is_fused) {
        let own = [
            (fused, vec![hidden.saturating_mul(3), hidden]),
            (query_bias, vec![hidden]),
            (value_bias, vec![hidden]),
            (&key, vec![hidden, hidden]),
        ];
        all.extend(own.map(|(part, size)| (layer_tensor(layer, part), size)));
    }
    all
}
