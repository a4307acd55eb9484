//! The longest text of a folder, and what its layers attend to, as the libraries read it.

use crate::{config, model, module, put};
use clariq_core::TextSide;
use clariq_folder::{ModelFolder, ModelShape, Prompts, Reach, Tokenize};
use serde_json::{Value, json};
use std::path::Path;

fn put_modules(folder: &Path) {
    put(
        folder,
        "modules.json",
        &json!([module("", "Transformer"), module("1_Pooling", "Pooling")]),
    );
    put(folder, "1_Pooling/config.json", &json!({ "embedding_dimension": 4 }));
}

/// The settings of a decoder of two layers.
fn decoder(model_type: &str, more: &Value) -> Value {
    let mut config = json!({ "model_type": model_type, "hidden_size": 4, "num_hidden_layers": 2,
        "num_attention_heads": 1, "num_key_value_heads": 1, "head_dim": 4, "intermediate_size": 4,
        "vocab_size": 9, "max_position_embeddings": 6,
        "layer_types": ["sliding_attention", "full_attention"], "sliding_window": 4,
        "use_sliding_window": true });
    for (key, value) in more.as_object().unwrap() {
        config[key] = value.clone();
    }
    config
}

#[test]
fn a_length_for_sentence_transformers_is_beyond_the_positions_where_none_are_looked_up() {
    let longest = |config: Value, settings: Value| {
        let folder = model(&[("config.json", config), ("sentence_bert_config.json", settings)]);
        put_modules(folder.path());
        ModelFolder::open(folder.path()).unwrap().max_tokens
    };
    let setting = json!({ "max_seq_length": 99 });
    assert_eq!(longest(config(), setting.clone()), 64, "a table of positions");
    assert_eq!(longest(decoder("qwen3", &json!({})), setting), 99);
    assert_eq!(longest(decoder("qwen3", &json!({})), json!({})), 6);
}

#[test]
fn a_decoder_that_is_not_causal_attends_to_both_sides_and_one_token_further() {
    let at = Path::new("config.json");
    let shape = |model_type: &str, more: &Value| {
        let Value::Object(config) = decoder(model_type, more) else { unreachable!() };
        let shape = ModelShape::read(at, config).unwrap();
        let windows = shape.reaches.iter().map(|reach: &Reach| reach.window);
        (shape.layer.is_causal, windows.collect::<Vec<_>>())
    };
    let both = json!({ "is_causal": false });
    for model_type in ["qwen3", "gemma3_text"] {
        assert_eq!(shape(model_type, &json!({})), (true, vec![Some(3), None]), "{model_type}");
        assert_eq!(shape(model_type, &both), (false, vec![Some(4), None]), "{model_type}");
    }
    let bidirectional = json!({ "use_bidirectional_attention": true });
    assert_eq!(shape("gemma3_text", &bidirectional), (false, vec![Some(2), None]));
}

/// Without `modules.json`, sentence-transformers puts texts into the template.
#[test]
fn a_chat_template_is_refused_where_the_library_uses_it() {
    let of_settings = json!({ "chat_template": "{{ messages }}" });
    for (name, content) in [
        ("tokenizer_config.json", of_settings),
        ("chat_template.jinja", json!("x")),
        ("chat_templates/default.jinja", json!("x")),
    ] {
        let folder = model(&[(name, content)]);
        let problem = ModelFolder::open(folder.path()).unwrap_err().to_problem();
        assert_eq!(problem.expected, "no chat_template", "{name}");
        let named = name.split('/').next().unwrap();
        assert!(problem.at.file.ends_with(named), "{problem}");
        put_modules(folder.path());
        ModelFolder::open(folder.path()).unwrap();
    }
}

#[test]
fn the_tokens_of_a_prompt_are_counted_with_the_mark_before_them() {
    let folder = model(&[]);
    let model = ModelFolder::open(folder.path()).unwrap();
    let uncounted = |are_counted: bool, side| {
        let prompts = Prompts { are_counted, ..Prompts::of("bees tent ", "") };
        let tokenize = Tokenize::open(&model, None).unwrap().with_prompts(&prompts);
        let tokens = tokenize.texts(&["wind", ""], side).unwrap();
        tokens.iter().map(|tokens| tokens.uncounted).collect::<Vec<_>>()
    };
    assert_eq!(uncounted(false, TextSide::Request), [3, 3]);
    assert_eq!(uncounted(false, TextSide::Document), [0, 0]);
    assert_eq!(uncounted(true, TextSide::Request), [0, 0]);
}
