//! `clariq train`: trains the models that a system needs.

use crate::arguments::folder;
use crate::failure::Outcome;
use crate::output::{Cell, Sheet};
use crate::settings::Settings;
use clap::Args;
use clariq_core::{ModelKind, Precision, Result, SplitRole, TrainingSummary};
use clariq_experiment::training::{
    PIPELINE, PipelineFigures, TrainMode, TrainingOutcome, check_output, pipeline_figures,
    train as train_recipe, usual_first_stage,
};
use clariq_systems::{SystemConfig, built_in, find_recipes};
use std::path::{Path, PathBuf};

#[derive(Args)]
pub(crate) struct TrainArgs {
    /// Systems or recipes: names of built-in ones, or files
    #[arg(required = true, value_name = "CONFIG")]
    pub(crate) configs: Vec<String>,
    /// Split that the models will be used for; test applies the key `train_on` of a recipe
    /// [default: dev, or the only split]
    #[arg(long, value_name = "SPLIT")]
    pub(crate) split: Option<String>,
    /// Copy the model to a folder, which is found when the model is needed again. It must not exist
    /// yet, or hold this model
    #[arg(long, short, value_name = "DIR", value_parser = folder())]
    pub(crate) output: Option<PathBuf>,
    /// Override a parameter of the recipe, as key=value or objective.key=value; repeatable
    #[arg(long = "set", value_name = "KEY=VALUE")]
    pub(crate) set: Vec<String>,
    /// Continue from the last checkpoint of the same training
    #[arg(long)]
    pub(crate) resume: bool,
    /// Train even if the same model exists
    #[arg(long, conflicts_with = "resume")]
    pub(crate) force: bool,
}

impl TrainArgs {
    fn mode(&self) -> TrainMode {
        match (self.resume, self.force) {
            (true, _) => TrainMode::Resume,
            (_, true) => TrainMode::Force,
            _ => TrainMode::Reuse,
        }
    }
}

const COLUMNS: [&str; 7] = [
    "model",
    "steps",
    "loss, first 10",
    "loss, last 10",
    "held-out R@5",
    "held-out R@30",
    "folder",
];

pub(crate) fn train(settings: &Settings, arguments: &TrainArgs) -> Result<Outcome> {
    let recipes = find_recipes(&arguments.configs, &arguments.set)?;
    if let Some(output) = &arguments.output {
        check_output(output, recipes.len())?;
    }
    settings.take_over()?;
    let collection = settings.collection()?;
    let session = settings.session(&*collection, None)?;
    // Without a split, the model may be for any split of the collection.
    let split = match collection.find_split_or(arguments.split.as_deref(), SplitRole::Tune) {
        Err(problem) if arguments.split.is_some() => return Err(problem.into()),
        found => found.ok(),
    };
    let session = split.map_or(session.clone(), |split| session.clone().answering(split));
    let mut sheet = Sheet::new(&COLUMNS);
    let mut uses = Vec::new();
    for mut recipe in recipes {
        // Without the option, a recipe's own precision counts.
        if session.options.precision == Precision::Bf16 {
            recipe.precision = Precision::Bf16;
        }
        let name = recipe.name.to_string();
        let kind = recipe.objective.kind();
        let TrainingOutcome { folder, recipe, summary: trained } =
            train_recipe(&session, recipe, arguments.mode(), arguments.output.as_deref())?;
        if trained.is_none() {
            settings.note(&format!(
                "`{name}` was trained before on the same data by the same recipe; --force trains again"
            ));
        }
        let mut row = vec![Cell::text(&name)];
        row.extend(cells(trained.as_ref()));
        row.push(Cell::path(&folder));
        sheet.row(row);
        let first_stage = recipe.first_stage.as_deref();
        let first_stage = first_stage.unwrap_or_else(|| usual_first_stage(&*collection));
        if let Some(trained) = &trained
            && kind == ModelKind::CrossEncoder
        {
            uses.push(beside_first_stage(&name, trained, first_stage));
        }
        if let Some(figures) = pipeline_figures(&session, &recipe, &folder)? {
            uses.push(beside_base(&name, &recipe.base, figures, first_stage));
        }
        let is_found = arguments.output.is_none() && arguments.set.is_empty();
        let system = if is_found { system_with(&name)? } else { None };
        uses.push(match system {
            Some(system) => format!("run it: `clariq run {system}` (it finds the model)"),
            None => use_of(&name, kind, &folder, first_stage),
        });
    }
    let printed = sheet.print(settings.format)?;
    for text in uses {
        settings.note(&text);
    }
    Ok(printed)
}

/// The first built-in system with the model of a recipe, which it finds by the name.
fn system_with(recipe: &str) -> Result<Option<&'static str>> {
    for name in built_in::names() {
        let models = SystemConfig::open_any(name, &[])?.models();
        if models.iter().any(|model| model.name == recipe) {
            return Ok(Some(name));
        }
    }
    Ok(None)
}

/// A note that shows how to use a trained model.
fn use_of(name: &str, kind: ModelKind, folder: &Path, first_stage: &str) -> String {
    let folder = folder.display();
    match kind {
        // `bert-reranker` has another first stage than the one that the model was measured with.
        ModelKind::CrossEncoder if first_stage != "bm25" => format!(
            "to use `{name}`: a stage `rerank` with model = \"{folder}\" behind those that `clariq \
             systems show {first_stage}` prints"
        ),
        ModelKind::CrossEncoder => format!(
            "to use `{name}`: clariq run bert-reranker --set rerank.model={folder}, or model = \
             \"{folder}\" in a stage `rerank`"
        ),
        _ => format!(
            "to use `{name}`: models = {{ \"{folder}\" = 1.0 }} under [space] in the file of a system"
        ),
    }
}

/// The score of the pipeline beside that of its first stage, on held-out topics.
fn beside_first_stage(name: &str, trained: &TrainingSummary, system: &str) -> String {
    let Some(([reranked, ..], [first, ..])) = trained.recall.zip(trained.first_stage) else {
        return format!(
            "note: no topics were held out, so that nothing shows whether `{name}` is better than \
             `{system}`: --set held_out=0.2 compares them"
        );
    };
    let scores = format!("R@5 {reranked:.4}, and {first:.4} for `{system}` alone");
    if reranked > first {
        return format!("held-out topics: {scores}");
    }
    format!(
        "warning: `{name}` is no better than `{system}` on the held-out topics: {scores}; more \
         labels, more `epochs` or another `base` may help"
    )
}

/// The figure of the pipeline that an encoder of documents is for, beside the same pipeline with its base and
/// BM25, on held-out topics.
fn beside_base(name: &str, base: &str, figures: PipelineFigures, bm25: &str) -> String {
    let PipelineFigures { trained, untrained, bm25: lexical } = figures;
    let scores = format!(
        "nDCG@10 {trained:.4} for `{PIPELINE}` with `{name}`, {untrained:.4} with `{base}`, and \
         {lexical:.4} for `{bm25}` alone"
    );
    if trained > untrained.max(lexical) {
        return format!("held-out topics: {scores}");
    }
    let better = if untrained >= lexical {
        format!("`{PIPELINE}` with `{base}`")
    } else {
        format!("`{bm25}`")
    };
    format!(
        "warning: `{name}` is no better than {better} on the held-out topics: {scores}; use that, or train \
         on more labels"
    )
}

/// Steps, losses and recall of a training; empty cells if the model existed already.
fn cells(trained: Option<&TrainingSummary>) -> [Cell; 5] {
    let Some(trained) = trained else { return std::array::from_fn(|_| Cell::Nothing) };
    let recall = |depth: usize| {
        trained.recall.map_or(Cell::Nothing, |recall| Cell::Figure(recall[depth], 4))
    };
    [
        Cell::count(trained.steps),
        Cell::Figure(trained.first_loss, 4),
        Cell::Figure(trained.last_loss, 4),
        recall(0),
        recall(3),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reranker_that_is_no_better_than_its_first_stage_is_warned_of() {
        let told = |recall: Option<f64>, first_stage: f64| {
            let trained = TrainingSummary {
                steps: 1,
                first_loss: 1.0,
                last_loss: 1.0,
                recall: recall.map(|recall| [recall; 4]),
                first_stage: recall.map(|_| [first_stage; 4]),
            };
            beside_first_stage("mine", &trained, "bm25-english")
        };
        assert_eq!(
            told(Some(0.5), 0.25),
            "held-out topics: R@5 0.5000, and 0.2500 for `bm25-english` alone"
        );
        for no_better in [0.5, 0.75] {
            let text = told(Some(0.5), no_better);
            assert!(text.starts_with("warning: `mine` is no better than `bm25-english`"), "{text}");
        }
        assert!(told(None, 0.0).contains("--set held_out=0.2"));
    }
    #[test]
    fn an_encoder_that_is_no_better_than_its_base_or_bm25_is_warned_of() {
        let told = |trained: f64, untrained: f64, bm25: f64| {
            beside_base(
                "mine",
                "tiny",
                PipelineFigures { trained, untrained, bm25 },
                "bm25-english",
            )
        };
        assert_eq!(
            told(0.5, 0.25, 0.125),
            "held-out topics: nDCG@10 0.5000 for `hybrid` with `mine`, 0.2500 with `tiny`, and 0.1250 for \
             `bm25-english` alone"
        );
        for (untrained, bm25, better) in
            [(0.5, 0.25, "`hybrid` with `tiny`"), (0.25, 0.75, "`bm25-english`")]
        {
            let text = told(0.5, untrained, bm25);
            let warning =
                format!("warning: `mine` is no better than {better} on the held-out topics: ");
            assert!(text.starts_with(&warning), "{text}");
        }
    }
}
