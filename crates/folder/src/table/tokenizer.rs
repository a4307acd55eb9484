//! The settings of a tokenizer.

use super::Keys;

/// `tokenizer_config.json`.
pub(crate) const TOKENIZER: Keys = Keys {
    done: &[
        "*_token",
        "add_prefix_space",
        "added_tokens_decoder",
        "additional_special_tokens",
        "chat_template",
        "clean_up_tokenization_spaces",
        "do_lower_case",
        "extra_special_tokens",
        "keep_accents",
        "max_len",
        "model_input_names",
        "model_max_length",
        "padding_side",
        "split_by_punct",
        "split_special_tokens",
        "strip_accents",
        "tokenize_chinese_chars",
        "tokenizer_class",
        "truncation_side",
        "unk_id",
    ],
    without_effect: &[
        "add_bos_token",
        "add_eos_token",
        "backend",
        "chat_control_tokens",
        "clean_up_tokenization_spaces_for_bpe_even_though_it_will_corrupt_output",
        "do_basic_tokenize",
        "errors",
        "extra_ids",
        "files_loaded",
        "from_slow",
        "init_inputs",
        "is_local",
        "legacy",
        "local_files_only",
        "max_length",
        "merges_file",
        "name_or_path",
        "never_split",
        "pad_to_multiple_of",
        "pad_token_type_id",
        "processor_class",
        "response_schema",
        "response_template",
        "return_token_type_ids",
        "sp_model_kwargs",
        "special_tokens_map_file",
        "stride",
        "tokenizer_file",
        "trim_offsets",
        "truncation_strategy",
        "use_fast",
        "verbose",
        "vocab_file",
        "vocab_type",
    ],
    refused: &[
        ("auto_map", &["null", "{}"], "such a tokenizer is Python code that comes with it"),
        (
            "fast_tokenizer_files",
            &["null", "[]"],
            "the tokenizer of all releases is in tokenizer.json",
        ),
    ],
    ..Keys::of("tokenizer_config.json")
};

/// The keys of `special_tokens_map.json` and `tokenizer_config.json` that name single tokens.
pub(crate) const SPECIAL_TOKENS: [&str; 7] =
    ["bos_token", "eos_token", "unk_token", "sep_token", "pad_token", "cls_token", "mask_token"];
