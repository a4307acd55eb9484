//! The card of a trained model, and a folder that Hugging Face's library loads.

use crate::train::checkpoint::TrainingCounters;
use crate::train::steps::ExampleSplit;
use crate::weights::Weights;
use clariq_core::{
    Error, ExampleForm, IoAction, ModelKind, Result, Training, count_of, read_regular,
};
use clariq_files::{MOST_OF_A_TABLE, write_atomically};
use clariq_folder::table::transformer_settings;
use clariq_folder::{Family, ModelFolder};
use serde_json::{Value, json};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

/// The content of a model card.
pub(crate) struct ModelCard<'a> {
    pub(crate) training: &'a Training<'a>,
    pub(crate) base: &'a ModelFolder,
    pub(crate) split: &'a ExampleSplit,
    pub(crate) counts: &'a TrainingCounters,
}

/// Files of a tokenizer that go with the weights.
const COMPANIONS: [&str; 5] = [
    "tokenizer.json",
    "vocab.txt",
    "tokenizer_config.json",
    "special_tokens_map.json",
    "added_tokens.json",
];

/// Writes the files of a model into an empty folder.
pub(crate) fn write_folder(into: &Path, about: &ModelCard, weights: &Weights) -> Result<()> {
    let put =
        |name: &str, bytes: &[u8]| write_atomically(&into.join(name), |out| out.write_all(bytes));
    let recipe = about.training.recipe;
    let kind = recipe.objective.kind();
    // The transformer's files lie in the folder itself, whatever the base's `modules.json` says.
    let copied = |from: PathBuf, to: PathBuf| -> Result<()> {
        let Ok(bytes) = read_regular(&from, MOST_OF_A_TABLE) else { return Ok(()) };
        let to = into.join(to);
        if let Some(folder) = to.parent() {
            std::fs::create_dir_all(folder).map_err(Error::io(IoAction::Write, folder))?;
        }
        write_atomically(&to, |out| out.write_all(&bytes))
    };
    for name in COMPANIONS {
        copied(about.base.path.join(name), name.into())?;
    }
    // Settings of sentence-transformers describe an encoder of texts.
    if kind != ModelKind::CrossEncoder {
        for name in transformer_settings() {
            copied(about.base.path.join(name), name.into())?;
        }
        for file in about.base.sentence_files() {
            copied(about.base.root.join(&file), file)?;
        }
    }
    let pretty = |value: &Value| serde_json::to_vec_pretty(value).expect("plain data");
    let curve = &about.counts.curve;
    put("config.json", &pretty(&config(about)))?;
    put("training.json", &pretty(&training(about)))?;
    put("curve.csv", curve.csv().as_bytes())?;
    put("curve.svg", curve.svg(&format!("{}: loss by step", recipe.name)).as_bytes())?;
    put("README.md", card(about).as_bytes())?;
    let shape = &about.base.shape;
    weights.write(&into.join("model.safetensors"), shape, kind != ModelKind::Encoder)
}

fn config(about: &ModelCard) -> Value {
    let recipe = about.training.recipe;
    let mut config = Value::Object(about.base.config.clone());
    let model_type = config["model_type"].as_str().unwrap_or("bert").to_owned();
    config["model_type"] = json!(model_type);
    config["torch_dtype"] = json!("float32");
    if let Some(dropout) = recipe.dropout {
        let keys = match about.base.shape.family {
            Family::DistilBert => ["dropout", "attention_dropout"],
            _ => ["hidden_dropout_prob", "attention_probs_dropout_prob"],
        };
        for key in keys {
            config[key] = json!(dropout);
        }
    }
    let class = Family::class_of(&model_type);
    let labels: &[&str] = match recipe.objective.form() {
        ExampleForm::Texts { .. } => {
            // Other models of texts keep the head of their base.
            if recipe.objective.kind() == ModelKind::Encoder {
                config["architectures"] = json!([format!("{class}Model")]);
            }
            return config;
        }
        ExampleForm::Pairs { .. } => &["not relevant", "relevant"],
        ExampleForm::Lists { .. } => &["relevant"],
    };
    config["architectures"] = json!([format!("{class}ForSequenceClassification")]);
    let numbered = labels.iter().enumerate();
    config["id2label"] =
        numbered.clone().map(|(number, label)| (number.to_string(), json!(label))).collect();
    config["label2id"] =
        numbered.map(|(number, label)| ((*label).to_owned(), json!(number))).collect();
    config
}

fn training(about: &ModelCard) -> Value {
    let ModelCard { training, base, split, counts } = about;
    let topics = &training.examples.topics;
    let held_out: Vec<&String> = split.held_out.iter().map(|&example| &topics[example]).collect();
    json!({
        "clariq": env!("CARGO_PKG_VERSION"),
        "key": counts.key,
        "recipe": training.recipe,
        "base_checksum": base.checksum,
        "data": training.data,
        "steps": counts.curve.rows.len(),
        "best": counts.best.map(|(step, recall)| json!({ "step": step, "mean_recall": recall })),
        "held_out_topics": held_out,
    })
}

fn card(about: &ModelCard) -> String {
    let ModelCard { training, split, counts, .. } = about;
    let recipe = training.recipe;
    let curve = &counts.curve;
    let count = split.train.len();
    let pairs = training.examples.pairs(&split.train, recipe.objective.sees_pairs_once()).len();
    let learned_from = format!(
        "{} of {}, with {}",
        count_of(count, "topic"),
        training.data,
        count_of(pairs, "relevant (request, document) pair")
    );
    let kind = recipe.objective.kind();
    let first_stage = recipe.first_stage.as_deref().unwrap_or("BM25");
    let reordering = format!("reordering the first 30 of {first_stage}");
    let (library, ranks) = match kind {
        ModelKind::CrossEncoder => ("transformers", &*reordering),
        _ => ("sentence-transformers", "ranking the whole bank"),
    };
    let mut text = format!(
        "---\nlibrary_name: {library}\nlanguage: en\ntags: [clariq, clarifying-questions]\n---\n\n# {}\n\n{}\n\nThis is {kind}, \
         trained by clariq {} from `{}`.\n\n## Data\n\n{learned_from}; {} held out.\n\n## Parameters\n\n```json\n{}\n```\n\n## Scores\n\n",
        recipe.name,
        recipe.description,
        env!("CARGO_PKG_VERSION"),
        recipe.base,
        count_of(split.held_out.len(), "topic"),
        serde_json::to_string_pretty(recipe).expect("plain data"),
    );
    if let Some((first, last)) = curve.loss(10) {
        let steps = curve.rows.len();
        let _ = writeln!(
            text,
            "{}; mean loss of the first ten {first:.4}, of the last ten {last:.4}.",
            count_of(steps, "step")
        );
    }
    if let Some([r5, r10, r20, r30]) = curve.last_recall() {
        let _ = writeln!(
            text,
            "Held-out topics, last evaluation, {ranks}: R@5 {r5:.4}, R@10 {r10:.4}, R@20 {r20:.4}, R@30 {r30:.4}."
        );
    }
    if let Some([r5, r10, r20, r30]) = curve.first_stage {
        let _ = writeln!(
            text,
            "The same topics before reordering: R@5 {r5:.4}, R@10 {r10:.4}, R@20 {r20:.4}, R@30 {r30:.4}."
        );
    }
    text += "\n`curve.csv` and `curve.svg` have every step; `training.json` says what made the weights.\n";
    text
}
