//! A folder that cannot be read is named as what it is.

use crate::{config, folder, put, tokenizer};
use clariq_folder::{ModelFolder, check, is_model, unknown_keys};
use serde_json::json;
use std::fs;
use std::path::Path;

fn refused(folder: &Path) -> String {
    let problem = ModelFolder::open(folder).unwrap_err().to_problem();
    assert!(!problem.hint.is_empty(), "{problem}");
    problem.found.clone()
}

#[test]
fn a_folder_of_another_kind_is_named_as_what_it_is() {
    let lora = folder(&[("adapter_config.json", json!({ "peft_type": "LORA" }))]);
    let beside = folder(&[
        ("config.json", config()),
        ("tokenizer.json", tokenizer()),
        ("adapter_config.json", json!({ "peft_type": "LORA" })),
    ]);
    fs::write(beside.path().join("model.safetensors"), "").unwrap();
    for folder in [lora, beside] {
        assert!(is_model(folder.path()));
        let found = refused(folder.path());
        assert_eq!(found, "a LoRA adapter of peft, which is a change of another model's weights");
    }
    for (name, found) in [
        ("model-Q4_K_M.gguf", "weights in GGUF alone"),
        ("tf_model.h5", "weights for TensorFlow alone"),
        ("onnx/model.onnx", "weights for ONNX alone"),
        ("pytorch_model.bin", "a file of PyTorch, which may run any program when it is read"),
    ] {
        let folder = folder(&[("config.json", config()), (name, json!(0))]);
        assert_eq!(refused(folder.path()), found);
        // Beside weights that are read, they change nothing.
        fs::write(folder.path().join("model.safetensors"), "").unwrap();
        check(folder.path()).unwrap();
    }
}

#[test]
fn a_pointer_of_git_lfs_and_numbers_of_eight_bits_are_named() {
    let folder = folder(&[("config.json", config()), ("tokenizer.json", tokenizer())]);
    let weights = folder.path().join("model.safetensors");
    fs::write(&weights, "version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 1\n")
        .unwrap();
    assert_eq!(refused(folder.path()), "a pointer of git-lfs in place of the file");
    let header = json!({ "a": { "dtype": "F8_E4M3", "shape": [1], "data_offsets": [0, 1] } });
    let header = header.to_string().into_bytes();
    let file = [&(header.len() as u64).to_le_bytes()[..], &header, &[0]].concat();
    fs::write(&weights, file).unwrap();
    assert_eq!(refused(folder.path()), "F8_E4M3 in `a`");
}

#[test]
fn unknown_keys_of_every_file_are_told_with_their_file() {
    let module = |number: usize, path: &str, class: &str| {
        let class = format!("sentence_transformers.models.{class}");
        json!({ "idx": number, "name": number.to_string(), "path": path, "type": class })
    };
    let mut modules = vec![module(0, "", "Transformer"), module(1, "1_Pooling", "Pooling")];
    modules[1]["late"] = json!(1);
    let folder = folder(&[
        ("config.json", config()),
        ("tokenizer_config.json", json!({ "cls_token": "[CLS]", "newer": 1 })),
        ("modules.json", json!(modules)),
        ("1_Pooling/config.json", json!({ "embedding_dimension": 4, "softly": true })),
        ("sentence_bert_config.json", json!({ "max_seq_length": 8, "hard": 0 })),
    ]);
    put(folder.path(), "config_sentence_transformers.json", &json!({ "requirements": {}, "x": 1 }));
    assert_eq!(
        unknown_keys(folder.path()).unwrap(),
        [
            "config_sentence_transformers.json: x",
            "tokenizer_config.json: newer",
            "sentence_bert_config.json: hard",
            "1_Pooling/config.json: softly",
            "modules.json: late",
        ]
    );
}
