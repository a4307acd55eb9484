//! A folder that cannot be read is named as what it is.

use crate::{config, folder, model, module, put};
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
    let beside = model(&[("adapter_config.json", json!({ "peft_type": "LORA" }))]);
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
        // A list of modules is no weights.
        put(folder.path(), "modules.json", &json!([module("", "Transformer")]));
        assert_eq!(refused(folder.path()), found);
        // Beside weights that are read, they change nothing.
        fs::write(folder.path().join("model.safetensors"), "").unwrap();
        check(folder.path()).unwrap();
    }
}

#[test]
fn an_adapter_below_a_router_is_found() {
    let folder = folder(&[
        ("modules.json", json!([module("", "Router")])),
        (
            "router_config.json",
            json!({ "types": { "document_0_Transformer": "x.Transformer" }, "structure": {}, "parameters": {} }),
        ),
        ("document_0_Transformer/adapter_config.json", json!({ "peft_type": "LORA" })),
    ]);
    let problem = check(folder.path()).unwrap_err().to_problem();
    assert!(problem.found.starts_with("a LoRA adapter of peft"), "{problem}");
}

#[test]
fn a_pointer_of_git_lfs_and_numbers_of_eight_bits_are_named() {
    let header = |kind: &str| {
        let header = json!({ "a": { "dtype": kind, "shape": [1], "data_offsets": [0, 1] } });
        let header = header.to_string().into_bytes();
        [&(header.len() as u64).to_le_bytes()[..], &header, &[0]].concat()
    };
    let folder = model(&[]);
    let weights = folder.path().join("model.safetensors");
    fs::write(&weights, "version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 1\n")
        .unwrap();
    assert_eq!(refused(folder.path()), "a pointer of git-lfs in place of the file");
    for kind in ["F8_E4M3", "F4", "F6_E2M3"] {
        fs::write(&weights, header(kind)).unwrap();
        assert_eq!(refused(folder.path()), format!("{kind} in `a`"));
    }
    for kind in ["F64", "F32", "F16", "BF16", "I64"] {
        fs::write(&weights, header(kind)).unwrap();
        check(folder.path()).unwrap();
    }
    // In a module, too.
    put(folder.path(), "modules.json", &json!([module("2_Dense", "Dense")]));
    put(folder.path(), "2_Dense/config.json", &json!({}));
    fs::write(folder.path().join("2_Dense/model.safetensors"), header("F8_E5M2")).unwrap();
    assert_eq!(check(folder.path()).unwrap_err().to_problem().found, "F8_E5M2 in `a`");
}

#[test]
fn unknown_keys_of_every_file_are_told_with_their_file() {
    let mut modules = vec![module("", "Transformer"), module("1_Pooling", "Pooling")];
    modules[1]["idx"] = json!(1);
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
