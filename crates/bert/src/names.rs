//! The names of a model's tensors in each family.

use clariq_folder::Family;

const LAYERS: &str = "encoder.layer.";

/// The name of a layer's tensor.
pub(crate) fn layer_tensor(layer: i64, rest: &str) -> String {
    format!("{LAYERS}{layer}.{rest}")
}

/// A family's names of the parts of a layer, with the usual ones.
type Parts = &'static [(&'static str, &'static str)];

const OF_BERT: Parts = &[];
const OF_DISTILBERT: Parts = &[
    ("attention.q_lin", "attention.self.query"),
    ("attention.k_lin", "attention.self.key"),
    ("attention.v_lin", "attention.self.value"),
    ("attention.out_lin", "attention.output.dense"),
    ("sa_layer_norm", "attention.output.LayerNorm"),
    ("ffn.lin1", "intermediate.dense"),
    ("ffn.lin2", "output.dense"),
    ("output_layer_norm", "output.LayerNorm"),
];
const OF_ALBERT: Parts = &[
    ("attention.query", "attention.self.query"),
    ("attention.key", "attention.self.key"),
    ("attention.value", "attention.self.value"),
    ("attention.dense", "attention.output.dense"),
    ("attention.LayerNorm", "attention.output.LayerNorm"),
    ("ffn", "intermediate.dense"),
    ("ffn_output", "output.dense"),
    ("full_layer_layer_norm", "output.LayerNorm"),
];
const OF_MPNET: Parts = &[
    ("attention.attn.q", "attention.self.query"),
    ("attention.attn.k", "attention.self.key"),
    ("attention.attn.v", "attention.self.value"),
    ("attention.attn.o", "attention.output.dense"),
    ("attention.LayerNorm", "attention.output.LayerNorm"),
];
const OF_DEBERTA_V2: Parts = &[
    ("attention.self.query_proj", "attention.self.query"),
    ("attention.self.key_proj", "attention.self.key"),
    ("attention.self.value_proj", "attention.self.value"),
];
const OF_MODERNBERT: Parts = &[
    ("attn_norm", NORM_BEFORE_ATTENTION),
    ("attn.Wqkv", QUERY_KEY_VALUE),
    ("attn.Wo", "attention.output.dense"),
    ("mlp_norm", NORM_BEFORE_INNER),
    ("mlp.Wi", "intermediate.dense"),
    ("mlp.Wo", "output.dense"),
];
const OF_QWEN3: Parts = &[
    ("input_layernorm", NORM_BEFORE_ATTENTION),
    ("self_attn.q_proj", "attention.self.query"),
    ("self_attn.k_proj", "attention.self.key"),
    ("self_attn.v_proj", "attention.self.value"),
    ("self_attn.q_norm", HEAD_NORMS[0]),
    ("self_attn.k_norm", HEAD_NORMS[1]),
    ("self_attn.o_proj", "attention.output.dense"),
    ("post_attention_layernorm", NORM_BEFORE_INNER),
    ("mlp.gate_proj", GATED[0]),
    ("mlp.up_proj", GATED[1]),
    ("mlp.down_proj", "output.dense"),
];
const OF_GEMMA3: Parts = &[
    ("input_layernorm", NORM_BEFORE_ATTENTION),
    ("self_attn.q_proj", "attention.self.query"),
    ("self_attn.k_proj", "attention.self.key"),
    ("self_attn.v_proj", "attention.self.value"),
    ("self_attn.q_norm", HEAD_NORMS[0]),
    ("self_attn.k_norm", HEAD_NORMS[1]),
    ("self_attn.o_proj", "attention.output.dense"),
    ("post_attention_layernorm", "attention.output.LayerNorm"),
    ("pre_feedforward_layernorm", NORM_BEFORE_INNER),
    ("mlp.gate_proj", GATED[0]),
    ("mlp.up_proj", GATED[1]),
    ("mlp.down_proj", "output.dense"),
    ("post_feedforward_layernorm", "output.LayerNorm"),
];

/// Query, key and value of a layer as one tensor.
pub(crate) const QUERY_KEY_VALUE: &str = "attention.self.query_key_value";
/// The norm of what attention reads, where there is one.
pub(crate) const NORM_BEFORE_ATTENTION: &str = "attention.LayerNorm";
/// The norm of what the feed-forward part reads, where there is one.
pub(crate) const NORM_BEFORE_INNER: &str = "intermediate.LayerNorm";
/// The norms of the queries and of the keys of a head.
pub(crate) const HEAD_NORMS: [&str; 2] =
    ["attention.self.query.LayerNorm", "attention.self.key.LayerNorm"];
/// The two products of a gated feed-forward part, where they are not one tensor: the one that the
/// activation is taken of, and its factor.
pub(crate) const GATED: [&str; 2] = ["intermediate.gate", "intermediate.up"];
/// The norm after the last layer.
pub(crate) const LAST_NORM: &str = "LastLayerNorm";

/// The tensor names of a family.
struct TensorNames {
    /// The prefix in models with a head.
    prefix: &'static str,
    /// The text before the number of a layer.
    before: &'static str,
    /// The text behind it.
    behind: &'static str,
    parts: Parts,
    /// Starts of names outside layers, with the usual ones.
    outside: &'static [(&'static str, &'static str)],
}

fn tensor_names(family: Family) -> TensorNames {
    let usual =
        |prefix, parts| TensorNames { prefix, before: LAYERS, behind: ".", parts, outside: &[] };
    let decoder = |parts| TensorNames {
        before: "layers.",
        outside: &[("embed_tokens.", "embeddings.word_embeddings."), ("norm.", "LastLayerNorm.")],
        ..usual("model.", parts)
    };
    match family {
        Family::Bert => usual("bert.", OF_BERT),
        Family::Roberta => usual("roberta.", OF_BERT),
        Family::Electra => usual("electra.", OF_BERT),
        Family::DistilBert => {
            TensorNames { before: "transformer.layer.", ..usual("distilbert.", OF_DISTILBERT) }
        }
        Family::Albert => TensorNames {
            before: "encoder.albert_layer_groups.",
            behind: ".albert_layers.0.",
            outside: &[
                ("encoder.embedding_hidden_mapping_in.", "embeddings_project."),
                ("pooler.", "pooler.dense."),
            ],
            ..usual("albert.", OF_ALBERT)
        },
        Family::Mpnet => usual("mpnet.", OF_MPNET),
        // Query, key and value of the first version are one tensor, which is split when it is read.
        Family::Deberta => usual("deberta.", OF_BERT),
        Family::DebertaV2 => usual("deberta.", OF_DEBERTA_V2),
        Family::ModernBert => TensorNames {
            before: "layers.",
            outside: &[
                ("embeddings.tok_embeddings.", "embeddings.word_embeddings."),
                ("embeddings.norm.", "embeddings.LayerNorm."),
                ("final_norm.", "LastLayerNorm."),
            ],
            ..usual("model.", OF_MODERNBERT)
        },
        Family::Qwen3 => decoder(OF_QWEN3),
        Family::Gemma3 => decoder(OF_GEMMA3),
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

/// The usual name of a family's tensor: its name in Hugging Face's `BertModel`, without a prefix. Heads
/// keep their names.
pub(crate) fn usual_name(family: Family, name: &str) -> String {
    let TensorNames { prefix, before, behind, parts, outside } = tensor_names(family);
    let name =
        name.strip_prefix(prefix).or_else(|| name.strip_prefix("0.auto_model.")).unwrap_or(name);
    let name = name.strip_prefix("module.").unwrap_or(name);
    let name = match name.rsplit_once('.') {
        Some((stem, "gamma")) => format!("{stem}.weight"),
        Some((stem, "beta")) => format!("{stem}.bias"),
        _ => name.to_owned(),
    };
    for (own, usual) in outside {
        if let Some(rest) = name.strip_prefix(own) {
            return format!("{usual}{rest}");
        }
    }
    let in_layer = || {
        let (number, rest) = name.strip_prefix(before)?.split_once(behind)?;
        let (part, kind) = rest.rsplit_once('.')?;
        let usual = parts.iter().find(|(own, _)| *own == part).map_or(part, |(_, usual)| usual);
        Some(format!("{LAYERS}{number}.{usual}.{kind}"))
    };
    in_layer().unwrap_or(name)
}

/// A family's name of a tensor, in a model with or without a head.
pub(crate) fn own_name(family: Family, usual: &str, beside_head: bool) -> String {
    let TensorNames { prefix, before, behind, parts, outside } = tensor_names(family);
    let (dense, out) = head_names(family);
    let dense = dense.unwrap_or(out);
    let is_of_head =
        |head: &str| usual.strip_prefix(head).is_some_and(|rest| rest.starts_with('.'));
    let is_in_model = matches!(family, Family::Bert | Family::Albert);
    let is_of_words = is_of_word_head(family, usual);
    if is_of_words || is_of_head(out) || (is_of_head(dense) && !is_in_model) {
        return usual.to_owned();
    }
    let prefix = if beside_head { prefix } else { "" };
    for (own, start) in outside {
        if let Some(rest) = usual.strip_prefix(start) {
            return format!("{prefix}{own}{rest}");
        }
    }
    let in_layer = || {
        let (number, rest) = usual.strip_prefix(LAYERS)?.split_once('.')?;
        let (part, kind) = rest.rsplit_once('.')?;
        let own = parts.iter().find(|(_, usual)| *usual == part).map_or(part, |(own, _)| own);
        Some(format!("{prefix}{before}{number}{behind}{own}.{kind}"))
    };
    in_layer().unwrap_or_else(|| format!("{prefix}{usual}"))
}

const POOLER: &str = "pooler.dense";

/// The names of the two layers that score a pair by its first token: the one before the activation
/// (the pooler of BERT, ALBERT and DeBERTa) where there is one, and the classifier.
pub(crate) fn head_names(family: Family) -> (Option<&'static str>, &'static str) {
    match family {
        Family::Bert | Family::Albert | Family::Deberta | Family::DebertaV2 => {
            (Some(POOLER), "classifier")
        }
        Family::DistilBert => (Some("pre_classifier"), "classifier"),
        Family::Roberta | Family::Electra | Family::Mpnet => {
            (Some("classifier.dense"), "classifier.out_proj")
        }
        Family::ModernBert => (Some("head.dense"), "classifier"),
        // The score is a product with the vector of the last token.
        Family::Qwen3 | Family::Gemma3 => (None, "score"),
    }
}

/// The name of the norm between the two layers, where there is one.
pub(crate) const HEAD_NORM: &str = "head.norm";

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
const WORDS_OF_MODERNBERT: WordHeadNames = ["head.dense", "head.norm", "decoder", "decoder.bias"];

pub(crate) fn word_head_names(family: Family) -> WordHeadNames {
    match family {
        Family::Bert | Family::Deberta | Family::DebertaV2 => WORDS_OF_BERT,
        Family::Roberta | Family::Mpnet => WORDS_OF_ROBERTA,
        Family::DistilBert => WORDS_OF_DISTILBERT,
        Family::Electra => WORDS_OF_ELECTRA,
        Family::Albert => WORDS_OF_ALBERT,
        // Decoders have no such head, and no tensor of this name.
        Family::ModernBert | Family::Qwen3 | Family::Gemma3 => WORDS_OF_MODERNBERT,
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
