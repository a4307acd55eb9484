//! The names of a model's tensors in each family.

use clariq_folder::Family;

const LAYERS: &str = "encoder.layer.";

/// The name of a layer's tensor.
pub(crate) fn layer_tensor(layer: i64, rest: &str) -> String {
    format!("{LAYERS}{layer}.{rest}")
}

/// The parts of a layer by BERT's names.
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

/// The tensor names of a family.
struct TensorNames {
    /// The prefix in models with a head.
    prefix: &'static str,
    /// The text before the number of a layer.
    before: &'static str,
    /// The text behind it.
    behind: &'static str,
    /// The parts of a layer, in the order of [`PARTS`].
    parts: &'static [&'static str; 8],
}

fn tensor_names(family: Family) -> TensorNames {
    let usual = |prefix, parts| TensorNames { prefix, before: LAYERS, behind: ".", parts };
    match family {
        Family::Bert => usual("bert.", &PARTS),
        Family::Roberta => usual("roberta.", &PARTS),
        Family::Electra => usual("electra.", &PARTS),
        Family::DistilBert => TensorNames {
            before: "transformer.layer.",
            ..usual("distilbert.", &PARTS_OF_DISTILBERT)
        },
        Family::Albert => TensorNames {
            before: "encoder.albert_layer_groups.",
            behind: ".albert_layers.0.",
            ..usual("albert.", &PARTS_OF_ALBERT)
        },
        Family::Mpnet => usual("mpnet.", &PARTS_OF_MPNET),
        // Query, key and value of the first version are one tensor, which is split when it is read.
        Family::Deberta => usual("deberta.", &PARTS),
        Family::DebertaV2 => usual("deberta.", &PARTS_OF_DEBERTA_V2),
    }
}

/// The first DeBERTa's names of the tensor of query, key and value, and of the biases of queries and
/// values; keys have none.
pub(crate) const FUSED: [&str; 3] =
    ["attention.self.in_proj.weight", "attention.self.q_bias", "attention.self.v_bias"];

/// DeBERTa's names of the projections of distances to keys and to queries.
pub(crate) fn distance_parts(family: Family) -> [&'static str; 2] {
    match family {
        Family::Deberta => ["attention.self.pos_proj", "attention.self.pos_q_proj"],
        _ => ["attention.self.pos_key_proj", "attention.self.pos_query_proj"],
    }
}

/// A family's name of the table of distances.
pub(crate) fn distance_table(family: Family) -> &'static str {
    match family {
        Family::Mpnet => "encoder.relative_attention_bias.weight",
        _ => "encoder.rel_embeddings.weight",
    }
}

/// The name of the norm that DeBERTa's table of distances may have.
pub(crate) const DISTANCE_NORM: &str = "encoder.LayerNorm";

/// ALBERT's names of the layer after the word embeddings and of the pooler, with the usual ones.
const OF_ALBERT: [(&str, &str); 2] =
    [("encoder.embedding_hidden_mapping_in.", "embeddings_project."), ("pooler.", "pooler.dense.")];

/// The usual name of a family's tensor: its name in Hugging Face's `BertModel`, without a prefix. Heads
/// keep their names.
pub(crate) fn usual_name(family: Family, name: &str) -> String {
    let TensorNames { prefix, before, behind, parts } = tensor_names(family);
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

/// A family's name of a tensor, in a model with or without a head.
pub(crate) fn own_name(family: Family, usual: &str, beside_head: bool) -> String {
    let TensorNames { prefix, before, behind, parts } = tensor_names(family);
    let (dense, out) = head_names(family);
    let is_of_head =
        |head: &str| usual.strip_prefix(head).is_some_and(|rest| rest.starts_with('.'));
    let is_in_model = matches!(family, Family::Bert | Family::Albert);
    let is_of_words = is_of_word_head(family, usual);
    if is_of_words || is_of_head(out) || (is_of_head(dense) && !is_in_model) {
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

const POOLER: &str = "pooler.dense";

/// The names of the two layers that score a pair by its first token: the one before the activation
/// (the pooler of BERT, ALBERT and DeBERTa), and the classifier.
pub(crate) fn head_names(family: Family) -> (&'static str, &'static str) {
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

/// The names of the head of a family's masked language model: the matrix, the normalisation, the
/// product with the embeddings, and the tensor of its bias.
pub(crate) type WordHeadNames = [&'static str; 4];

const WORDS_OF_BERT: WordHeadNames = [
    "cls.predictions.transform.dense",
    "cls.predictions.transform.LayerNorm",
    "cls.predictions.decoder",
    "cls.predictions.bias",
];
const WORDS_OF_ROBERTA: WordHeadNames =
    ["lm_head.dense", "lm_head.layer_norm", "lm_head.decoder", "lm_head.bias"];
const WORDS_OF_DISTILBERT: WordHeadNames =
    ["vocab_transform", "vocab_layer_norm", "vocab_projector", "vocab_projector.bias"];
const WORDS_OF_ELECTRA: WordHeadNames = [
    "generator_predictions.dense",
    "generator_predictions.LayerNorm",
    "generator_lm_head",
    "generator_lm_head.bias",
];
const WORDS_OF_ALBERT: WordHeadNames =
    ["predictions.dense", "predictions.LayerNorm", "predictions.decoder", "predictions.bias"];

pub(crate) fn word_head_names(family: Family) -> WordHeadNames {
    match family {
        Family::Bert | Family::Deberta | Family::DebertaV2 => WORDS_OF_BERT,
        Family::Roberta | Family::Mpnet => WORDS_OF_ROBERTA,
        Family::DistilBert => WORDS_OF_DISTILBERT,
        Family::Electra => WORDS_OF_ELECTRA,
        Family::Albert => WORDS_OF_ALBERT,
    }
}

/// True if a tensor is of the head.
fn is_of_word_head(family: Family, name: &str) -> bool {
    word_head_names(family).iter().any(|head| {
        name.strip_prefix(head).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
    })
}

/// The number of a tensor's layer, by its usual name.
pub(crate) fn layer_of(usual: &str) -> Option<&str> {
    Some(usual.strip_prefix(LAYERS)?.split_once('.')?.0)
}

/// The key of `config.json` that counts the layers with weights of their own.
pub(crate) fn layers_key(family: Family) -> &'static str {
    match family {
        Family::Albert => "num_hidden_groups",
        Family::DistilBert => "n_layers",
        _ => "num_hidden_layers",
    }
}
