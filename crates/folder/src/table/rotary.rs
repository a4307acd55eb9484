//! `config.json` of the families with rotary positions.

use super::config::EVERY_MODEL;
use super::{Keys, OnlyUsual, SERVED};

const WHOLE: OnlyUsual = ("partial_rotary_factor", &["null", "1.0"], "heads are turned whole");
const SCALING: OnlyUsual =
    ("rope_scaling", &["null"], "release 5 of transformers writes it as `rope_parameters`");
const PRECISE: OnlyUsual =
    ("quantization_config", &["null"], "save the model with numbers of 16 or 32 bits");
const OWN_CODE: OnlyUsual = ("auto_map", &["null", "{}"], SERVED);

/// The keys that all of these families have.
const ROTARY: Keys = Keys {
    base: Some(&EVERY_MODEL),
    done: &[
        "architectures",
        "attention_bias",
        "hidden_size",
        "id2label",
        "intermediate_size",
        "layer_types",
        "max_position_embeddings",
        "num_attention_heads",
        "num_hidden_layers",
        "rope_parameters",
        "sentence_transformers",
        "tokenizer_class",
    ],
    without_effect: &[
        "attention_dropout",
        "attn_implementation",
        "chunk_size_feed_forward",
        "eos_token_id",
        "is_encoder_decoder",
        "tie_word_embeddings",
    ],
    refused: &[WHOLE, SCALING, PRECISE, OWN_CODE],
    ..Keys::of("config.json")
};

pub(crate) const MODERNBERT: Keys = Keys {
    base: Some(&ROTARY),
    done: &[
        "classifier_activation",
        "classifier_bias",
        "classifier_pooling",
        "decoder_bias",
        "global_attn_every_n_layers",
        "global_rope_theta",
        "hidden_activation",
        "local_attention",
        "local_rope_theta",
        "mlp_bias",
        "norm_bias",
        "norm_eps",
    ],
    without_effect: &[
        "cls_token_id",
        "deterministic_flash_attn",
        "embedding_dropout",
        "initializer_cutoff_factor",
        "layer_norm_eps",
        "mlp_dropout",
        "pad_token_id",
        "position_embedding_type",
        "reference_compile",
        "repad_logits_with_grad",
        "sparse_pred_ignore_index",
        "sparse_prediction",
    ],
    ..Keys::of("config.json of ModernBERT")
};

pub(crate) const QWEN3: Keys = Keys {
    base: Some(&ROTARY),
    done: &[
        "head_dim",
        "hidden_act",
        "is_causal",
        "max_window_layers",
        "num_key_value_heads",
        "pad_token_id",
        "rms_norm_eps",
        "rope_theta",
        "sliding_window",
        "use_sliding_window",
    ],
    ..Keys::of("config.json of Qwen3")
};

pub(crate) const GEMMA3: Keys = Keys {
    base: Some(&ROTARY),
    done: &[
        "head_dim",
        "hidden_activation",
        "is_causal",
        "num_key_value_heads",
        "pad_token_id",
        "query_pre_attn_scalar",
        "rms_norm_eps",
        "rope_local_base_freq",
        "rope_theta",
        "sliding_window",
        "sliding_window_pattern",
        "use_bidirectional_attention",
    ],
    without_effect: &["_sliding_window_pattern", "final_logit_softcapping"],
    refused: &[("attn_logit_softcapping", &["null"], "scores of attention are not capped")],
    ..Keys::of("config.json of Gemma 3")
};
