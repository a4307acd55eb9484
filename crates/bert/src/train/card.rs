//! The card of a trained model, and a folder that Hugging Face's library loads.

use crate::train::curve::Curve;
use crate::train::examples::TopicSplit;
use crate::weights::Weights;
use clariq_core::Error;
use clariq_core::{Examples, ModelKind, Objective, Recipe, TrainOn};
use clariq_files::write_atomically;
use clariq_model::ModelFolder;
use serde_json::{Value, json};
use std::fmt::Write as _;
use std::path::Path;

/// What a trained model is described by.
pub(crate) struct Description<'a> {
    pub(crate) recipe: &'a Recipe,
    pub(crate) base: &'a ModelFolder,
    pub(crate) examples: &'a Examples,
    pub(crate) split: &'a TopicSplit,
    pub(crate) curve: &'a Curve,
    pub(crate) best: Option<(usize, f64)>,
    pub(crate) data: &'a str,
    pub(crate) key: &'a str,
}

/// Files of a tokenizer and of sentence-transformers that go with the weights.
const COMPANIONS: [&str; 8] = [
    "tokenizer.json",
    "vocab.txt",
    "tokenizer_config.json",
    "special_tokens_map.json",
    "modules.json",
    "sentence_bert_config.json",
    "config_sentence_transformers.json",
    "1_Pooling/config.json",
];

/// Writes the files of a model into an empty folder.
pub(crate) fn write_folder(
    into: &Path,
    about: &Description,
    weights: &Weights,
) -> Result<(), Error> {
    let put =
        |name: &str, bytes: &[u8]| write_atomically(&into.join(name), |out| out.write_all(bytes));
    let kind = about.recipe.objective.kind();
    let pairs = kind == ModelKind::CrossEncoder;
    for name in COMPANIONS {
        // What belongs to sentence-transformers describes an encoder of texts.
        if kind != ModelKind::Encoder && !name.contains("token") && name != "vocab.txt" {
            continue;
        }
        let Ok(bytes) = std::fs::read(about.base.path.join(name)) else { continue };
        if let Some(folder) = into.join(name).parent() {
            std::fs::create_dir_all(folder).map_err(|source| Error::Io {
                action: "create",
                path: folder.to_owned(),
                source,
            })?;
        }
        put(name, &bytes)?;
    }
    let pretty = |value: &Value| serde_json::to_vec_pretty(value).unwrap_or_default();
    put("config.json", &pretty(&config(about, pairs)))?;
    put("training.json", &pretty(&training(about)))?;
    put("curve.csv", about.curve.csv().as_bytes())?;
    put("curve.svg", about.curve.svg(&format!("{}: loss by step", about.recipe.name)).as_bytes())?;
    put("README.md", card(about).as_bytes())?;
    weights.write(&into.join("model.safetensors"), if pairs { "bert." } else { "" })
}

fn config(about: &Description, pairs: bool) -> Value {
    let mut config = about.base.config.clone();
    config["model_type"] = json!("bert");
    config["torch_dtype"] = json!("float32");
    if let Some(dropout) = about.recipe.dropout {
        config["hidden_dropout_prob"] = json!(dropout);
        config["attention_probs_dropout_prob"] = json!(dropout);
    }
    config["architectures"] =
        json!([if pairs { "BertForSequenceClassification" } else { "BertModel" }]);
    let labels: Vec<&str> = match &about.recipe.objective {
        Objective::InBatchSoftmax { .. } | Objective::ResolvedUtterance { .. } => Vec::new(),
        Objective::CrossEntropy { .. } => vec!["not relevant", "relevant"],
        Objective::Listwise { .. } => vec!["relevant"],
    };
    if !labels.is_empty() {
        let numbered = labels.iter().enumerate();
        config["id2label"] =
            numbered.clone().map(|(place, label)| (place.to_string(), json!(label))).collect();
        config["label2id"] =
            numbered.map(|(place, label)| ((*label).to_owned(), json!(place))).collect();
    }
    config
}

fn training(about: &Description) -> Value {
    let topics = |places: &[usize]| {
        places.iter().map(|&place| about.examples.topics[place].clone()).collect::<Vec<_>>()
    };
    json!({
        "clariq": env!("CARGO_PKG_VERSION"),
        "key": about.key,
        "recipe": about.recipe,
        "base_checksum": about.base.checksum,
        "data": about.data,
        "steps": about.curve.rows.len(),
        "best": about.best.map(|(step, recall)| json!({ "step": step, "mean_recall": recall })),
        "held_out_topics": topics(&about.split.held_out),
    })
}

fn card(about: &Description) -> String {
    let Description { recipe, examples, split, curve, .. } = about;
    let pairs = examples.pairs(&split.train, true).len();
    let topics = split.train.len();
    let files = match recipe.train_on {
        TrainOn::Train => "train.tsv",
        TrainOn::TrainAndDev => "train.tsv and dev.tsv",
    };
    let learned_from = match recipe.objective.kind() {
        ModelKind::ConversationEncoder => {
            format!("{topics} turns of TREC CAsT 2019 to 2022 with their resolved utterances")
        }
        ModelKind::Encoder | ModelKind::CrossEncoder => {
            format!(
                "{topics} topics of ClariQ's {files} with {pairs} relevant (request, question) pairs"
            )
        }
    };
    let (library, kind) = match recipe.objective.kind() {
        ModelKind::Encoder => ("sentence-transformers", "Encoder (mean of the tokens, length 1)"),
        ModelKind::ConversationEncoder => (
            "transformers",
            "Conversational encoder: the mean of the first text's tokens at length 1, added to the \
             base's vector of the conversation",
        ),
        ModelKind::CrossEncoder => ("transformers", "Cross-encoder of (request, question) pairs"),
    };
    let mut text = format!(
        "---\nlibrary_name: {library}\nlanguage: en\ntags: [clariq, clarifying-questions]\n---\n\n# {}\n\n{}\n\n{kind}, \
         trained by clariq {} from `{}`.\n\n## Data\n\n{learned_from}; {} topics held out. {}\n\n## Parameters\n\n```json\n{}\n```\n\n## Figures\n\n",
        recipe.name,
        recipe.description,
        env!("CARGO_PKG_VERSION"),
        recipe.base,
        split.held_out.len(),
        about.data,
        serde_json::to_string_pretty(recipe).unwrap_or_default(),
    );
    if let Some((first, last)) = curve.loss(10) {
        let steps = curve.rows.len();
        let _ = writeln!(
            text,
            "{steps} steps; mean loss of the first ten {first:.4}, of the last ten {last:.4}."
        );
    }
    if let Some(recall) = curve.rows.iter().rev().find_map(|row| row.recall) {
        let [r5, r10, r20, r30] = recall;
        let _ = writeln!(
            text,
            "Held-out topics, last evaluation: R@5 {r5:.4}, R@10 {r10:.4}, R@20 {r20:.4}, R@30 {r30:.4}."
        );
    }
    text += "\n`curve.csv` and `curve.svg` have every step; `training.json` says what made the weights.\n";
    text
}
