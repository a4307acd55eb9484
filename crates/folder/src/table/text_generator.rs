//! `config.json` and `generation_config.json` of a T5.

use super::Keys;
use super::config::EVERY_MODEL;

const HINT: &str = "it may change the generated text; remove the key if it does not";

/// The keys of both files, and of `transformers`'
/// [`GenerationConfig`](https://huggingface.co/docs/transformers/main_classes/text_generation).
pub const TEXT_GENERATOR: Keys = Keys {
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
        ("auto_map", &["null", "{}"], HINT),
        ("bad_words_ids", &["null"], HINT),
        ("begin_suppress_tokens", &["null", "[]"], HINT),
        ("constraints", &["null"], HINT),
        ("diversity_penalty", &["0.0", "0", "null"], HINT),
        ("do_sample", &["false", "null"], HINT),
        ("dola_layers", &["null"], HINT),
        ("encoder_no_repeat_ngram_size", &["0", "null"], HINT),
        ("encoder_repetition_penalty", &["1.0", "1", "null"], HINT),
        ("exponential_decay_length_penalty", &["null"], HINT),
        ("force_words_ids", &["null"], HINT),
        ("forced_bos_token_id", &["null"], HINT),
        ("forced_decoder_ids", &["null"], HINT),
        ("forced_eos_token_id", &["null"], HINT),
        ("guidance_scale", &["null", "1.0", "1"], HINT),
        ("is_decoder", &["false", "null"], HINT),
        ("is_encoder_decoder", &["true", "null"], HINT),
        ("min_length", &["0", "null"], HINT),
        ("min_new_tokens", &["null", "0"], HINT),
        ("no_repeat_ngram_size", &["0", "null"], HINT),
        ("num_beam_groups", &["1", "null"], HINT),
        ("penalty_alpha", &["null"], HINT),
        ("quantization_config", &["null"], HINT),
        ("renormalize_logits", &["false", "null"], HINT),
        ("repetition_penalty", &["1.0", "1", "null"], HINT),
        ("sequence_bias", &["null"], HINT),
        ("stop_strings", &["null"], HINT),
        ("suppress_tokens", &["null", "[]"], HINT),
    ],
    ..Keys::of("config.json and generation_config.json of a T5")
};
