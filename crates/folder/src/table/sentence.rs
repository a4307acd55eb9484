//! The files of sentence-transformers.

use super::Keys;

const TEXT_ALONE: &str =
    "only the settings of the folder itself are read; remove the key if it is empty";

/// `config_sentence_transformers.json`.
pub(crate) const SENTENCE: Keys = Keys {
    done: &[
        "activation_fn",
        "default_prompt_name",
        "model_type",
        "prompts",
        "similarity_fn_name",
        "truncate_dim",
    ],
    without_effect: &["__version__", "keep_in_fp32_modules", "requirements"],
    refused: &[(
        "max_active_dims",
        &["null"],
        "the words of a text are not cut to those of the largest weights",
    )],
    ..Keys::of("config_sentence_transformers.json")
};

/// An entry of `modules.json`.
pub(crate) const MODULE_LIST: Keys = Keys {
    done: &["path", "type"],
    without_effect: &["idx", "name"],
    refused: &[("kwargs", &["[]", "null"], "arguments of a module change what it computes")],
    ..Keys::of("modules.json, for each module")
};

/// `sentence_bert_config.json` and its older names.
pub(crate) const TRANSFORMER: Keys = Keys {
    done: &[
        "do_lower_case",
        "document_length",
        "max_seq_length",
        "modality_config",
        "module_output_name",
        "query_expansion",
        "query_length",
        "transformer_task",
    ],
    without_effect: &["unpad_inputs"],
    refused: &[
        ("config_args", NONE, TEXT_ALONE),
        ("config_kwargs", NONE, TEXT_ALONE),
        ("model_args", NONE, TEXT_ALONE),
        ("model_kwargs", NONE, TEXT_ALONE),
        ("processing_kwargs", NONE, TEXT_ALONE),
        ("processor_kwargs", NONE, TEXT_ALONE),
        ("tokenizer_args", NONE, TEXT_ALONE),
        ("tokenizer_kwargs", NONE, TEXT_ALONE),
        ("tokenizer_name_or_path", &["null"], "the tokenizer must be in the folder"),
    ],
    ..Keys::of("sentence_bert_config.json and its older names")
};

const NONE: &[&str] = &["{}", "null"];

/// `config.json` of `Pooling`.
pub(crate) const POOLING: Keys = Keys {
    done: &[
        "embedding_dimension",
        "include_prompt",
        "pooling_mode",
        "pooling_mode_cls_token",
        "pooling_mode_lasttoken",
        "pooling_mode_max_tokens",
        "pooling_mode_mean_sqrt_len_tokens",
        "pooling_mode_mean_tokens",
        "pooling_mode_weightedmean_tokens",
        "word_embedding_dimension",
    ],
    ..Keys::of("config.json of Pooling")
};

/// `config.json` of `Dense`.
pub(crate) const DENSE: Keys = Keys {
    done: &[
        "activation_function",
        "bias",
        "in_features",
        "module_input_name",
        "module_output_name",
        "out_features",
        "use_residual",
    ],
    ..Keys::of("config.json of Dense")
};

/// `config.json` of `LayerNorm`.
pub(crate) const LAYER_NORM: Keys =
    Keys { done: &["dimension"], ..Keys::of("config.json of LayerNorm") };

/// `config.json` of `Normalize`.
pub(crate) const NORMALIZE: Keys = Keys {
    done: &["module_input_name", "module_output_name"],
    ..Keys::of("config.json of Normalize")
};

/// `config_sentence_transformers.json` of folders that give each token a vector.
pub(crate) const LATE: Keys = Keys {
    done: &[
        "attend_to_expansion_tokens",
        "attend_to_mask_tokens",
        "do_query_expansion",
        "document_length",
        "document_prefix",
        "model_type",
        "prompts",
        "query_length",
        "query_prefix",
        "skiplist_words",
    ],
    without_effect: &["__version__", "default_prompt_name", "similarity_fn_name", "truncate_dim"],
    refused: &[(
        "query_expansion",
        &["null"],
        "sentence_bert_config.json has it in release 6 of sentence-transformers",
    )],
    ..Keys::of("config_sentence_transformers.json of MultiVectorEncoder and PyLate")
};

/// `config.json` of `MultiVectorMask`.
pub(crate) const MULTI_VECTOR_MASK: Keys = Keys {
    done: &["keep_only_token_ids", "skiplist_tasks", "skiplist_words"],
    ..Keys::of("config.json of MultiVectorMask")
};

/// `config.json` of `LogitScore`.
pub(crate) const LOGIT_SCORE: Keys = Keys {
    done: &["false_token_id", "module_input_name", "true_token_id"],
    ..Keys::of("config.json of LogitScore")
};

/// `config.json` of `SpladePooling`.
pub(crate) const SPLADE: Keys = Keys {
    done: &[
        "activation_function",
        "embedding_dimension",
        "pooling_strategy",
        "word_embedding_dimension",
    ],
    without_effect: &["chunk_size"],
    ..Keys::of("config.json of SpladePooling")
};

/// `config.json` of `SparseStaticEmbedding`.
pub(crate) const LOOKUP: Keys = Keys {
    done: &["path"],
    without_effect: &["frozen"],
    ..Keys::of("config.json of SparseStaticEmbedding (IDF)")
};

/// `config.json` of model2vec; `StaticEmbedding` has none.
pub(crate) const STATIC_EMBEDDING: Keys = Keys {
    done: &["max_length", "normalize"],
    without_effect: &[
        "apply_pca",
        "apply_zipf",
        "architectures",
        "embedding_dtype",
        "hidden_dim",
        "model_type",
        "pooling",
        "seq_length",
        "sif_coefficient",
        "tokenizer_name",
        "vocabulary_quantization",
    ],
    ..Keys::of("config.json of model2vec")
};

/// `router_config.json`.
pub(crate) const ROUTER: Keys =
    Keys { done: &["parameters", "structure", "types"], ..Keys::of("router_config.json") };
