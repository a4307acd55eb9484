//! `config.json` and `generation_config.json` of a T5.

use super::Keys;
use super::config::EVERY_MODEL;

pub(crate) const MAY_CHANGE_A_TEXT: &str =
    "it may change the generated text; remove the key if it does not";

/// The keys of both files, and of `transformers`'
/// [`GenerationConfig`](https://huggingface.co/docs/transformers/main_classes/text_generation).
pub(crate) const TEXT_GENERATOR: Keys = Keys {
    base: Some(&EVERY_MODEL),
    done: &[
        "d_ff",
        "d_kv",
        "d_model",
        "decoder_start_token_id",
        "dense_act_fn",
        "eos_token_id",
        "feed_forward_proj",
        "is_gated_act",
        "layer_norm_epsilon",
        "num_decoder_layers",
        "num_heads",
        "num_layers",
        "pad_token_id",
        "relative_attention_max_distance",
        "relative_attention_num_buckets",
        "scale_decoder_outputs",
        "tie_word_embeddings",
    ],
    // Some are parameters of a system.
    without_effect: &[
        "architectures",
        "dropout_rate",
        "early_stopping",
        "id2label",
        "initializer_factor",
        "length_penalty",
        "max_length",
        "max_new_tokens",
        "n_positions",
        "num_beams",
        "output_past",
        "temperature",
        "top_k",
        "top_p",
    ],
    refused: &[
        ("auto_map", &["null", "{}"], MAY_CHANGE_A_TEXT),
        ("bad_words_ids", &["null"], MAY_CHANGE_A_TEXT),
        ("begin_suppress_tokens", &["null", "[]"], MAY_CHANGE_A_TEXT),
        ("constraints", &["null"], MAY_CHANGE_A_TEXT),
        ("diversity_penalty", &["0.0", "0", "null"], MAY_CHANGE_A_TEXT),
        ("do_sample", &["false", "null"], MAY_CHANGE_A_TEXT),
        ("dola_layers", &["null"], MAY_CHANGE_A_TEXT),
        ("encoder_no_repeat_ngram_size", &["0", "null"], MAY_CHANGE_A_TEXT),
        ("encoder_repetition_penalty", &["1.0", "1", "null"], MAY_CHANGE_A_TEXT),
        ("exponential_decay_length_penalty", &["null"], MAY_CHANGE_A_TEXT),
        ("force_words_ids", &["null"], MAY_CHANGE_A_TEXT),
        ("forced_bos_token_id", &["null"], MAY_CHANGE_A_TEXT),
        ("forced_decoder_ids", &["null"], MAY_CHANGE_A_TEXT),
        ("forced_eos_token_id", &["null"], MAY_CHANGE_A_TEXT),
        ("guidance_scale", &["null", "1.0", "1"], MAY_CHANGE_A_TEXT),
        ("is_decoder", &["false", "null"], MAY_CHANGE_A_TEXT),
        ("is_encoder_decoder", &["true", "null"], MAY_CHANGE_A_TEXT),
        ("min_length", &["0", "null"], MAY_CHANGE_A_TEXT),
        ("min_new_tokens", &["null", "0"], MAY_CHANGE_A_TEXT),
        ("no_repeat_ngram_size", &["0", "null"], MAY_CHANGE_A_TEXT),
        ("num_beam_groups", &["1", "null"], MAY_CHANGE_A_TEXT),
        ("penalty_alpha", &["null"], MAY_CHANGE_A_TEXT),
        ("quantization_config", &["null"], MAY_CHANGE_A_TEXT),
        ("renormalize_logits", &["false", "null"], MAY_CHANGE_A_TEXT),
        ("repetition_penalty", &["1.0", "1", "null"], MAY_CHANGE_A_TEXT),
        ("sequence_bias", &["null"], MAY_CHANGE_A_TEXT),
        ("stop_strings", &["null"], MAY_CHANGE_A_TEXT),
        ("suppress_tokens", &["null", "[]"], MAY_CHANGE_A_TEXT),
    ],
    ..Keys::of("config.json and generation_config.json of a T5")
};
