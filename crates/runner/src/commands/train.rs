//! `clariq train`: trains the models that a system needs.

mod notes;

use crate::arguments::folder;
use crate::failure::Outcome;
use crate::output::{Cell, Sheet};
use crate::settings::{Settings, with_split_hint};
use crate::target::open_collection;
use clap::Args;
use clariq_core::{ModelKind, Precision, Result, SplitRole, TrainingSummary};
use clariq_experiment::training::{
    TrainMode, TrainingOutcome, check_output, pipeline_scores, train as train_recipe,
    usual_first_stage,
};
use clariq_systems::find_recipes;
use notes::{beside_base, beside_first_stage, system_with, use_of};
use std::path::PathBuf;

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
    let recipes = find_recipes(&arguments.configs, &arguments.set).map_err(with_split_hint)?;
    if let Some(output) = &arguments.output {
        check_output(output, recipes.len())?;
    }
    settings.take_over()?;
    let collection = open_collection(settings)?;
    let session = settings.session(&*collection, None)?;
    // Without a split, the model may be for any split of the collection. A folder's only one is learned from.
    let split = match collection.find_split_or(arguments.split.as_deref(), SplitRole::Tune) {
        Err(problem) if arguments.split.is_some() => return Err(problem.into()),
        _ if arguments.split.is_none() && collection.available_splits().count() == 1 => None,
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
            uses.push(beside_first_stage(&name, trained, first_stage).into());
        }
        if let Some(figures) = pipeline_scores(&session, &recipe, &folder)? {
            uses.push(beside_base(&name, &recipe.base, figures, first_stage).into());
        }
        let is_found = arguments.output.is_none() && arguments.set.is_empty();
        let system = if is_found { system_with(&name)? } else { None };
        uses.push(use_of(system, kind, &folder, first_stage, arguments.split.as_deref()));
    }
    let printed = sheet.print(settings.format)?;
    for text in &uses {
        settings.advise(text);
    }
    Ok(printed)
}

/// Steps, losses and recall of a training; empty cells if the model existed already.
fn cells(trained: Option<&TrainingSummary>) -> [Cell; 5] {
    let Some(trained) = trained else { return std::array::from_fn(|_| Cell::Nothing) };
    let recall = |depth: usize| {
        trained.recall.map_or(Cell::Nothing, |recall| Cell::Number(recall[depth], 4))
    };
    [
        Cell::count(trained.steps),
        Cell::Number(trained.first_loss, 4),
        Cell::Number(trained.last_loss, 4),
        recall(0),
        recall(3),
    ]
}
