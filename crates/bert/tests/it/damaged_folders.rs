//! Folders whose configuration and weights do not belong together.

use crate::model_files::{change, copy, module, problem_of, put, tiny};
use clariq_bert::{BertEncoder, CrossEncoder, Torch};
use clariq_core::{ModelOptions, Problem};
use clariq_experiment::installed::check_model_opens;
use clariq_folder::ModelFolder;
use serde_json::{Value, json};
use std::fs;
use std::path::Path;

fn refused(folder: &Path) -> Problem {
    problem_of(BertEncoder::open(folder, &ModelOptions::default()))
}

fn with_key(key: &str, value: Value) -> Problem {
    let folder = copy("tiny");
    change(folder.path(), "config.json", |config| config[key] = value);
    refused(folder.path())
}

#[test]
fn a_folder_that_belongs_together_is_opened() {
    let folder = ModelFolder::open(&tiny()).unwrap();
    assert_eq!((folder.shape.layers, folder.checksum.as_str().len()), (2, 64));
}

#[test]
fn a_folder_is_installed_if_it_opens_as_a_model_of_some_kind() {
    let check = |folder: &Path| check_model_opens(Some(&Torch), "mine", folder);
    check(&tiny()).unwrap();
    check(&tiny().with_file_name("t5").join("t5")).unwrap();
    let folder = copy("tiny");
    let weights = folder.path().join("model.safetensors");
    let whole = fs::read(&weights).unwrap();
    fs::write(&weights, &whole[..90_000]).unwrap();
    let problem = check(folder.path()).unwrap_err().to_problem();
    assert!(problem.at.file.ends_with("model.safetensors"), "{problem}");
}

#[test]
fn another_number_of_layers_is_refused() {
    for layers in [1, 3] {
        let problem = with_key("num_hidden_layers", json!(layers));
        let expected = format!("{layers} layers, num_hidden_layers of config.json");
        assert_eq!((&problem.expected, &*problem.found), (&expected, "2 layers"));
        assert!(problem.at.file.ends_with("model.safetensors"), "{problem}");
    }
    for layers in [1_000_000_000_u64, 1 << 31, 1 << 62] {
        let problem = with_key("num_hidden_layers", json!(layers));
        assert!(problem.expected.starts_with("num_hidden_layers"), "{problem}");
    }
}

#[test]
fn a_size_that_the_weights_do_not_have_is_refused() {
    for key in [
        "hidden_size",
        "num_attention_heads",
        "intermediate_size",
        "vocab_size",
        "max_position_embeddings",
        "type_vocab_size",
    ] {
        for value in [json!(1_u64 << 62), json!(0), json!(-1), json!(1.5), json!("4"), json!(999)] {
            let problem = with_key(key, value.clone());
            assert!(!problem.hint.is_empty(), "{key} = {value}: {problem}");
        }
    }
    for key in ["hidden_dropout_prob", "attention_probs_dropout_prob"] {
        assert!(with_key(key, json!(2.0)).expected.starts_with(key));
    }
    assert!(with_key("layer_norm_eps", json!(0)).expected.starts_with("layer_norm_eps"));
}

#[test]
fn weights_that_are_cut_are_named() {
    let whole = fs::read(tiny().join("model.safetensors")).unwrap();
    for length in [0, 7, 8, 9, 100, whole.len() / 2, whole.len() - 1] {
        let folder = copy("tiny");
        fs::write(folder.path().join("model.safetensors"), &whole[..length]).unwrap();
        let problem = refused(folder.path());
        assert!(problem.expected.starts_with("weights"), "{length}: {problem}");
    }
    for length in [0_u64, 1 << 20, 1 << 40, 1 << 63, u64::MAX] {
        let folder = copy("tiny");
        let header = [&length.to_le_bytes()[..], &b"{}".repeat(50)].concat();
        fs::write(folder.path().join("model.safetensors"), header).unwrap();
        assert!(!refused(folder.path()).hint.is_empty());
    }
}

#[test]
fn a_tensor_that_is_missing_or_of_another_type_is_named() {
    const NAME: &str = "encoder.layer.1.output.dense.weight";
    let whole = fs::read(tiny().join("model.safetensors")).unwrap();
    let (length, rest) = whole.split_first_chunk().unwrap();
    let (header, numbers) = rest.split_at(u64::from_le_bytes(*length) as usize);
    let header: Value = serde_json::from_slice(header).unwrap();
    let own = header.as_object().unwrap().keys().find(|name| name.ends_with(NAME)).unwrap().clone();
    let changes: [&dyn Fn(&mut Value); 2] = [
        &|header| {
            let tensor = header[&own].take();
            header.as_object_mut().unwrap().remove(&own);
            header["another"] = tensor;
        },
        &|header| header[&own]["dtype"] = json!("I32"),
    ];
    for change in changes {
        let (folder, mut header) = (copy("tiny"), header.clone());
        change(&mut header);
        let header = header.to_string().into_bytes();
        let file = [&(header.len() as u64).to_le_bytes()[..], &*header, numbers].concat();
        fs::write(folder.path().join("model.safetensors"), file).unwrap();
        let problem = refused(folder.path());
        assert_eq!(problem.expected, format!("a tensor {NAME}"), "{problem}");
    }
}

#[test]
fn pipes_in_place_of_files_are_not_waited_for() {
    for name in ["config.json", "model.safetensors", "vocab.txt"] {
        let folder = copy("tiny");
        let path = folder.path().join(name);
        fs::remove_file(&path).unwrap();
        assert!(std::process::Command::new("mkfifo").arg(&path).status().unwrap().success());
        assert_eq!(refused(folder.path()).found, "no such file", "{name}");
    }
}

#[test]
fn a_head_of_another_size_scores_no_pairs() {
    let hidden = 32;
    for (name, size) in [
        ("classifier.weight", vec![0, hidden]),
        ("classifier.weight", vec![3, hidden]),
        ("classifier.weight", vec![2, hidden + 1]),
        ("classifier.bias", vec![7]),
        ("bert.pooler.dense.weight", vec![hidden]),
    ] {
        let folder = copy("tiny");
        let file = folder.path().join("model.safetensors");
        let mut tensors = tch::Tensor::read_safetensors(&file).unwrap();
        let changed = tensors.iter_mut().find(|(known, _)| known == name).unwrap();
        changed.1 = tch::Tensor::zeros(&*size, (tch::Kind::Float, tch::Device::Cpu));
        tch::Tensor::write_safetensors(&tensors, &file).unwrap();
        let error = CrossEncoder::open(folder.path(), &ModelOptions::default()).err().unwrap();
        assert!(!error.to_problem().hint.is_empty(), "{name} {size:?}: {error}");
    }
}

#[test]
fn a_dense_module_without_dimensions_is_refused() {
    let folder = copy("tiny");
    let put = |name: &str, content: Value| put(folder.path(), name, &content);
    let modules =
        [module("", "Transformer"), module("1_Pooling", "Pooling"), module("2_Dense", "Dense")];
    put("modules.json", json!(modules));
    put("1_Pooling/config.json", json!({ "word_embedding_dimension": 32 }));
    put("2_Dense/config.json", json!({ "in_features": 32, "out_features": 0 }));
    let problem = refused(folder.path());
    assert!(problem.at.file.ends_with("2_Dense/config.json"), "{problem}");
    assert!(problem.expected.starts_with("out_features"), "{problem}");
}
