//! Texts and pairs in a chat template, as sentence-transformers 6 puts them there.

use crate::{model, module, put};
use clariq_core::{Result, TextSide};
use clariq_folder::{ModelFolder, Prompts, Tokenize};
use serde_json::json;
use tempfile::TempDir;

const FLAT: &str = "[CLS] {% for m in messages %}{{ m.content }} [SEP] {% endfor %}pegs";
/// The word `task` of a text is no variable.
const STRUCTURED: &str = "{% if 'task' == '' %}{% endif %}{{ cls_token }} {% for m in messages %}{{ m.content[0].text }} [SEP] {% endfor %}pegs";

/// A cross-encoder whose texts are in a template of a format.
fn chat(format: &str, template: &str, most: usize) -> TempDir {
    let settings = json!({ "chat_template": template, "model_max_length": most });
    let forward =
        |more: &str| json!({ "method": "forward", "method_output_name": "logits", "format": more });
    let modalities = json!({ "text": forward(""), "message": forward(format) });
    model(&[
        ("tokenizer_config.json", settings),
        ("modules.json", json!([module("", "Transformer")])),
        ("config_sentence_transformers.json", json!({ "model_type": "CrossEncoder" })),
        ("sentence_bert_config.json", json!({ "modality_config": modalities })),
    ])
}

fn open(folder: &TempDir) -> Result<Tokenize> {
    Tokenize::open(&ModelFolder::open(folder.path())?, None)
}

#[test]
fn texts_and_pairs_are_messages_after_a_prompt_and_keep_the_end_of_the_template() {
    for (format, template) in [("flat", FLAT), ("structured", STRUCTURED)] {
        let ids = |most: usize, prompt: &str, text: &str| {
            let tokenize =
                open(&chat(format, template, most)).unwrap().with_prompts(&Prompts::of(prompt, ""));
            tokenize.texts(&[text], TextSide::Request).unwrap().remove(0).ids
        };
        assert_eq!(ids(64, "", "bees tent"), [2, 4, 5, 3, 7], "{format}");
        assert_eq!(ids(64, "wind", "bees"), [2, 6, 3, 4, 3, 7], "{format}");
        // The end is what two fillers have in common, which are both unknown here.
        assert_eq!(ids(5, "", "bees tent wind honey"), [2, 4, 1, 3, 7], "{format}");
        let pairs = open(&chat(format, template, 64)).unwrap().pairs(&[("bees", "tent wind")]);
        assert_eq!(pairs.unwrap().remove(0).ids, [2, 4, 3, 5, 6, 3, 7], "{format}");
    }
}

#[test]
fn templates_that_cannot_be_done_are_refused_by_their_file() {
    let refused = |format: &str, template: &str| {
        let folder = chat(format, template, 64);
        let opened = ModelFolder::open(folder.path()).and_then(|folder| folder.pair_scoring());
        let problem = opened.unwrap_err().to_problem();
        assert!(!problem.hint.is_empty(), "{problem}");
        (problem.expected, problem.found)
    };
    let readable = "a chat_template that can be read";
    for (format, template, expected, found) in [
        ("auto", FLAT, "a format of messages `flat` or `structured`", "`auto`"),
        ("flat", "{{ task }}", "a chat_template without `task`", "one"),
        (
            "flat",
            "{{ messages[0].content.encode() }}",
            readable,
            "string has no method named encode",
        ),
        ("flat", "{{ raise_exception('no system') }}", readable, "no system"),
        (
            "flat",
            "{{ messages[0].content }}",
            "a chat_template with the role `document`",
            "one without",
        ),
    ] {
        assert_eq!(refused(format, template), (expected.to_owned(), found.to_owned()));
    }
    let without = chat("flat", FLAT, 64);
    put(without.path(), "tokenizer_config.json", &json!({}));
    let problem = ModelFolder::open(without.path()).unwrap_err().to_problem();
    assert_eq!(problem.expected, "one chat_template for messages");
}

#[test]
fn a_template_changes_the_checksum() {
    let checksum =
        |template: &str| ModelFolder::open(chat("flat", template, 64).path()).unwrap().checksum;
    assert_ne!(checksum(FLAT), checksum(&FLAT.replace("pegs", "honey")));
    let described = ModelFolder::open(chat("flat", FLAT, 64).path()).unwrap().describe().unwrap();
    assert_eq!(described, "BERT, cross-encoder with 2 labels, 64 tokens, in a chat template");
}
