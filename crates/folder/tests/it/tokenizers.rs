//! The settings of a tokenizer, as transformers 5 follows them.

use crate::{model, tokenizer};
use clariq_core::{Result, TextSide};
use clariq_folder::{ModelFolder, Tokenize};
use serde_json::{Value, json};

/// The numbers of a text's words under these settings.
fn words(settings: Value, tokenizer: Value, text: &str) -> Result<Vec<i64>> {
    let folder = model(&[("tokenizer.json", tokenizer), ("tokenizer_config.json", settings)]);
    let tokenize = Tokenize::open(&ModelFolder::open(folder.path())?, None)?;
    Ok(tokenize.texts(&[text], TextSide::Request)?.remove(0).ids)
}

const TEXT: &str = "bees tent wind pegs honey";

#[test]
fn a_long_text_loses_the_side_that_settings_or_file_name() {
    let cut = |settings: Value, tokenizer| words(settings, tokenizer, TEXT).unwrap();
    let beginning = json!({ "model_max_length": 5, "truncation_side": "right" });
    let end = json!({ "model_max_length": 5, "truncation_side": "left" });
    assert_eq!(cut(beginning.clone(), tokenizer()), [2, 4, 5, 6, 3]);
    assert_eq!(cut(end, tokenizer()), [2, 6, 7, 8, 3]);
    let mut own = tokenizer();
    own["truncation"] =
        json!({ "direction": "Left", "max_length": 9, "strategy": "LongestFirst", "stride": 0 });
    assert_eq!(cut(json!({ "max_len": 5 }), own.clone()), [2, 6, 7, 8, 3]);
    assert_eq!(cut(beginning, own), [2, 4, 5, 6, 3], "the settings win");
}

#[test]
fn tokens_of_the_settings_are_added_and_may_be_split() {
    let special = json!({ "extra_special_tokens": ["bees"] });
    assert_eq!(words(special, tokenizer(), "beestent").unwrap(), [2, 4, 5, 3]);
    let id = |special: bool| {
        json!({ "content": "bees", "lstrip": false, "rstrip": false,
        "single_word": false, "normalized": false, "special": special })
    };
    let by_id = json!({ "added_tokens_decoder": { "4": id(true) } });
    assert_eq!(words(by_id, tokenizer(), "beestent").unwrap(), [2, 4, 5, 3]);
    let own = json!({ "image_token": "bees" });
    assert_eq!(words(own, tokenizer(), "beestent").unwrap(), [2, 4, 5, 3]);
    let split = json!({ "additional_special_tokens": ["bees"], "split_special_tokens": true });
    assert_eq!(words(split, tokenizer(), "beestent").unwrap(), [2, 1, 3]);
    let new = words(json!({ "extra_special_tokens": ["<new>"] }), tokenizer(), "bees").unwrap_err();
    assert!(new.to_string().contains("the id 9 of `<new>`"), "{new}");
}

#[test]
fn settings_that_change_a_vector_and_are_not_done_are_refused_by_key() {
    for (settings, key) in [
        (json!({ "padding_side": "left" }), "padding_side"),
        (json!({ "auto_map": { "AutoTokenizer": "x.y" } }), "auto_map"),
        (json!({ "fast_tokenizer_files": ["tokenizer.5.json"] }), "fast_tokenizer_files"),
        (json!({ "tokenizer_class": "BertJapaneseTokenizer" }), "a tokenizer_class"),
    ] {
        let problem = words(settings, tokenizer(), TEXT).unwrap_err().to_problem();
        assert!(problem.expected.starts_with(key), "{problem}");
        assert!(
            problem.at.file.ends_with("tokenizer_config.json") || key == "padding_side",
            "{problem}"
        );
    }
}

/// A file in which everything but the words is other than BERT's class makes it.
fn unlike_bert() -> Value {
    let mut file = tokenizer();
    file["normalizer"] = Value::Null;
    file["pre_tokenizer"] = json!({ "type": "WhitespaceSplit" });
    file["post_processor"] = Value::Null;
    file["model"]["unk_token"] = "pegs".into();
    file
}

#[test]
fn a_class_makes_its_tokenizer_from_the_words_of_the_file_and_the_settings() {
    let ids = |settings: Value| words(settings, unlike_bert(), "BEES tent-moon").unwrap();
    for class in ["BertTokenizer", "BertTokenizerFast", "DistilBertTokenizer", "ElectraTokenizer"] {
        let class = json!({ "tokenizer_class": class });
        assert_eq!(ids(class), [2, 4, 5, 1, 1, 3], "lower case, words, marks, [UNK]");
    }
    assert_eq!(ids(json!({})), [2, 4, 5, 1, 1, 3], "the model's class");
    for class in ["PreTrainedTokenizerFast", "TokenizersBackend"] {
        assert_eq!(ids(json!({ "tokenizer_class": class })), [7, 7], "the file as it is");
    }
    let as_it_is = json!({ "tokenizer_class": "TokenizersBackend" });
    let problem = words(as_it_is, unlike_bert(), " ").unwrap_err().to_problem();
    assert_eq!(problem.expected, "a text with a token", "no mark, no word");
    let named = json!({ "cls_token": "honey", "sep_token": "[PAD]", "unk_token": "wind" });
    assert_eq!(ids(named), [8, 4, 5, 6, 6, 0]);
    let cased = json!({ "do_lower_case": false });
    assert_eq!(ids(cased), [2, 1, 5, 1, 1, 3]);
}

#[test]
fn a_class_over_pieces_has_its_own_blanks_and_marks() {
    let pieces = ["<s>", "<pad>", "</s>", "<unk>", "▁bees", "bees", "▁tent", "tent", "Bees"];
    let vocab: Vec<Value> = (0..).zip(pieces).map(|(id, piece)| json!([piece, -id])).collect();
    let file = json!({
        "normalizer": { "type": "Lowercase" },
        "pre_tokenizer": null,
        "model": { "type": "Unigram", "unk_id": 0, "vocab": vocab },
    });
    let ids = |settings: Value| words(settings, file.clone(), "Bees tent").unwrap();
    let class = |name: &str| json!({ "tokenizer_class": name });
    assert_eq!(ids(class("XLMRobertaTokenizer")), [0, 3, 8, 6, 2]);
    assert_eq!(ids(class("CamembertTokenizer")), [0, 3, 8, 6, 2]);
    let joined = json!({ "tokenizer_class": "XLMRobertaTokenizer", "add_prefix_space": false });
    assert_eq!(ids(joined), [0, 8, 7, 2]);
    let marks = json!({ "tokenizer_class": "XLMRobertaTokenizer", "bos_token": "</s>", "eos_token": "<pad>" });
    assert_eq!(ids(marks), [2, 3, 8, 6, 1]);
}
