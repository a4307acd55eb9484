//! The keys of `config.json` and `generation_config.json` that this program knows.
//!
//! One rule holds for all families: a known key that would change a result is refused unless it has its
//! usual value; a key that is not known is passed over, and reported.

use crate::files::{Object, expect_usual};
use clariq_core::Result;
use std::path::Path;

/// A key that would change a result, with the values that do not, the usual one first, and a hint
/// about others.
pub type OnlyUsual = (&'static str, &'static [&'static str], &'static str);

/// Refuses other values of these keys.
pub fn expect_all_usual(at: &Path, object: &Object, keys: &[OnlyUsual]) -> Result<()> {
    keys.iter().try_for_each(|(key, usual, hint)| expect_usual(at, object, key, usual, hint))
}

/// The keys of an object that are none of the known ones, in order.
pub fn unknown_keys(object: &Object, known: &[&[&str]]) -> Vec<String> {
    let unknown =
        object.keys().filter(|key| !known.iter().any(|keys| keys.contains(&key.as_str())));
    unknown.cloned().collect()
}

/// Keys of all families that change no result: they concern training, tasks and other programs.
pub const IGNORED: &[&str] = &[
    "_attn_implementation_autoset",
    "_from_model_config",
    "_name_or_path",
    "_num_labels",
    "architectures",
    "bos_token_id",
    "classifier_dropout",
    "dtype",
    "eos_token_id",
    "finetuning_task",
    "gradient_checkpointing",
    "id2label",
    "initializer_factor",
    "initializer_range",
    "is_encoder_decoder",
    "label2id",
    "max_length",
    "model_type",
    "num_labels",
    "output_attentions",
    "output_hidden_states",
    "output_past",
    "problem_type",
    "return_dict",
    "sep_token_id",
    "task_specific_params",
    "tie_word_embeddings",
    "torch_dtype",
    "torchscript",
    "transformers_version",
    "use_cache",
];

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn keys_are_unknown_if_no_list_has_them() {
        let object = json!({ "use_cache": true, "hidden_size": 4, "shuffles": true, "a": 1 });
        let object = object.as_object().unwrap();
        assert_eq!(unknown_keys(object, &[IGNORED, &["hidden_size"]]), ["shuffles", "a"]);
    }
}
