//! Trained sparse encoders.

use super::routed::{routed, table};
use super::{documents, make_symmetric, models, splade};
use crate::families::folder;
use crate::model_files::{module, put};
use crate::training::{TestTraining, alone, recipe};
use clariq_core::Recipe;
use clariq_folder::{ModelFolder, SparseFolder};
use serde_json::json;
use std::path::Path;
use tch::Tensor;

const SOFTMAX: &str = "kind = \"sparse-softmax\"\nbatch = 6\nper_request = 2";

/// A recipe with the same factor for the words of requests and of questions.
fn recipe_of(flops: f64, epochs: f64) -> Recipe {
    let objective = format!("{SOFTMAX}\nrequest_flops = {flops}\nquestion_flops = {flops}");
    // Evaluations and checkpoints between the steps would take most of the time.
    Recipe { evaluate_every: 1000, checkpoint_every: 1000, ..recipe(&objective, epochs) }
}

fn tensor_names(folder: &Path) -> Vec<String> {
    let tensors = Tensor::read_safetensors(folder.join("model.safetensors")).unwrap();
    let mut names: Vec<String> = tensors.into_iter().map(|(name, _)| name).collect();
    names.sort();
    names
}

#[test]
fn a_trained_model_has_a_lower_loss_and_the_layout_of_its_base() {
    let _alone = alone();
    let recipe = recipe_of(0.001, 8.0);
    for model in models() {
        let name = &model["name"];
        let base = folder(&model);
        let training = TestTraining::new(base.path(), recipe.clone());
        let (first, last) = training.losses();
        let trained = training.model();
        assert!(last < first * 0.9, "{name}: {first} {last}");
        assert_eq!(tensor_names(&trained), tensor_names(base.path()), "{name}");
        assert_ne!(documents(&trained), documents(base.path()), "{name}");
    }
    let base = folder(&models()[0]);
    make_symmetric(base.path(), &splade("max", "log1p_relu"));
    let training = TestTraining::new(base.path(), recipe);
    training.losses();
    let trained = training.model();
    assert!(SparseFolder::open(&trained).unwrap().describe().contains("max of two logarithms"));
}

#[test]
fn a_trained_model_has_the_prompts_of_its_base() {
    let _alone = alone();
    let encoder = "kind = \"in-batch-softmax\"\nbatch = 6";
    let sparse = format!("{SOFTMAX}\nrequest_flops = 0.001\nquestion_flops = 0.001");
    for objective in [encoder, &*sparse] {
        let base = folder(&models()[0]);
        if objective == encoder {
            let hidden = ModelFolder::open(base.path()).unwrap().shape.hidden;
            let modules = [module("", "Transformer"), module("1_Pooling", "Pooling")];
            put(base.path(), "modules.json", &json!(modules));
            put(base.path(), "1_Pooling/config.json", &json!({ "embedding_dimension": hidden }));
        } else {
            make_symmetric(base.path(), &splade("max", "relu"));
        }
        let prompts = json!({ "prompts": { "query": "about: ", "document": "" } });
        put(base.path(), "config_sentence_transformers.json", &prompts);
        let training = TestTraining::new(base.path(), recipe(objective, 1.0));
        training.losses();
        let trained = training.model();
        let prompt = if objective == encoder {
            ModelFolder::open(&trained).unwrap().sentence().unwrap().prompts.query
        } else {
            SparseFolder::open(&trained).unwrap().prompts.query
        };
        assert_eq!(prompt, "about: ", "{objective}");
    }
}

#[test]
fn a_training_that_was_interrupted_ends_with_the_same_bytes() {
    let _alone = alone();
    let recipe = recipe(
        &format!("{SOFTMAX}\nrequest_flops = 0.01\nquestion_flops = 0.01\nflops_warm_up = 0.5"),
        4.0,
    );
    let base = folder(&models()[0]);
    let whole = TestTraining::new(base.path(), recipe.clone());
    whole.losses();
    let mut resumed = TestTraining::new(base.path(), recipe);
    resumed.threads = 2;
    resumed.interrupt();
    resumed.threads = 1;
    assert_eq!(resumed.resume(), Some(2));
    assert_eq!(whole.files(), resumed.files());
}

#[test]
fn flops_leave_fewer_words() {
    let _alone = alone();
    let words = |factor: f64| -> usize {
        let base = folder(&models()[0]);
        let training = TestTraining::new(base.path(), recipe_of(factor, 8.0));
        training.losses();
        documents(&training.model()).rows().map(<[_]>::len).sum()
    };
    let [free, few] = [words(0.0), words(1.0)];
    assert!(few < free, "{few} of {free}");
}

#[test]
fn a_table_is_not_trained() {
    let routed = routed(&table());
    let training = TestTraining::new(routed.path(), recipe_of(0.0, 1.0));
    let error = training.run(false, &mut |_| {}).err().unwrap();
    let expected =
        "expected one network for requests and documents, found a transformer in a folder below";
    assert!(error.to_string().contains(expected), "{error}");
}
