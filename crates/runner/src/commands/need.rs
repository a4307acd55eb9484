//! `clariq need`: training need models with their report, predicting needs, explaining a label.

mod report;

use crate::failure::Outcome;
use crate::output::{Cell, Format, Sheet, print_all};
use crate::settings::Settings;
use crate::target::open_collection;
use clap::{Args, Subcommand};
use clariq_core::{Error, Hint, ProblemKind, Result, bail};
use clariq_experiment::NeedModels;
use clariq_files::{Target, refuse_input};
use report::need_cell;
use std::path::PathBuf;

#[derive(Subcommand)]
pub(crate) enum NeedCommand {
    /// Train a model, report by cross-validation and on dev, and save it
    Train(NeedTrainArgs),
    /// Write the need file of a split
    Predict(NeedPredictArgs),
    /// Show which features drove the label of a request
    Explain(NeedExplainArgs),
}

#[derive(Args)]
pub(crate) struct NeedTrainArgs {
    /// Built-in system or configuration file with a need model
    #[arg(value_name = "CONFIG")]
    config: String,
    /// Split that the model will be used for: for test, it may learn from dev as well, by the key
    /// `train_on` [default: any, so that it learns from train alone]
    #[arg(long, value_name = "SPLIT")]
    split: Option<String>,
    /// Model file to write, as JSON [default: none, only the report]
    #[arg(long, short, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Folds of the cross-validation over topics
    #[arg(long, value_name = "N", default_value_t = 10)]
    folds: usize,
    /// Number of repetitions of the cross-validation with other folds
    #[arg(long, value_name = "N", default_value_t = 20)]
    repeats: usize,
}

#[derive(Args)]
pub(crate) struct NeedPredictArgs {
    /// Saved need model (.json), built-in system, or configuration file
    #[arg(value_name = "MODEL")]
    model: String,
    /// Split to predict [default: dev, or the only split]
    #[arg(long, value_name = "SPLIT")]
    split: Option<String>,
    /// Need file to write; `-` for standard output
    #[arg(long, short, value_name = "FILE", default_value = "-")]
    output: PathBuf,
}

#[derive(Args)]
pub(crate) struct NeedExplainArgs {
    /// Request of the user
    request: String,
    /// Saved need model (.json), built-in system, or configuration file
    #[arg(long, value_name = "MODEL", default_value = "bm25-tuned")]
    model: String,
    /// Number of features to print, strongest first
    #[arg(long, value_name = "N", default_value_t = 8)]
    top: usize,
}

pub(crate) fn need(settings: &Settings, command: &NeedCommand) -> Result<Outcome> {
    match command {
        NeedCommand::Train(arguments) => train(settings, arguments),
        NeedCommand::Predict(arguments) => predict(settings, arguments),
        NeedCommand::Explain(arguments) => explain(settings, arguments),
    }
}

fn train(settings: &Settings, arguments: &NeedTrainArgs) -> Result<Outcome> {
    let collection = open_collection(settings)?;
    let session = settings.session(&*collection, None)?;
    let mut models = NeedModels::new(session);
    if arguments.split.is_some() {
        models = models.for_split(arguments.split.as_deref())?;
    }
    let training = models.training(&arguments.config).map_err(of_system)?;
    let passes =
        training.cross_validate(arguments.folds, arguments.repeats, settings.options.seed)?;
    let mut sheets = report::cross_validation(&training, &passes, arguments.folds);
    let classifier = training.fit()?;
    let held_out = models.held_out(&classifier)?;
    sheets.extend(held_out.iter().flat_map(|held_out| report::held_out(settings, held_out)));
    if let Some(path) = &arguments.output {
        classifier.write(&Target::new(path))?;
        settings.note(&format!("the model is in {}", path.display()));
    }
    if arguments.output.as_ref().is_some_and(|path| Target::new(path).is_stream()) {
        return Ok(Outcome::Done);
    }
    print(settings, sheets, "cross_validation")
}

/// The error of a system that is not there, such as the name of a need model.
fn of_system(error: Error) -> Error {
    if error.kind() != Some(ProblemKind::UnknownSystem) {
        return error;
    }
    let hint = Hint::from("the need model of a system is trained: ")
        .and(Hint::on_data("need train bm25-tuned"))
        .and(" trains that of `bm25-tuned`");
    error.to_problem().kind(ProblemKind::Other).hint(hint).into()
}

/// Prints tables; as TSV, which is one table, the named one.
fn print(
    settings: &Settings,
    mut sheets: Vec<(&'static str, Sheet)>,
    main: &str,
) -> Result<Outcome> {
    if settings.format.is_some_and(Format::is_one_table) && sheets.len() > 1 {
        sheets.retain(|(name, _)| *name == main);
        settings.note("note: TSV is one table; --format json holds them all");
    }
    print_all(&sheets, settings.format)
}

fn predict(settings: &Settings, arguments: &NeedPredictArgs) -> Result<Outcome> {
    let collection = open_collection(settings)?;
    let session = settings.session(&*collection, None)?;
    refuse_input(&arguments.output)?;
    let models = NeedModels::new(session).for_split(arguments.split.as_deref())?;
    models.write(&models.open(&arguments.model)?, &Target::new(&arguments.output))?;
    Ok(Outcome::Done)
}

fn explain(settings: &Settings, arguments: &NeedExplainArgs) -> Result<Outcome> {
    if arguments.request.trim().is_empty() {
        let hint = "for example: clariq need explain \"tell me about jaguars\"";
        bail!("REQUEST", "a request", "nothing", hint);
    }
    let collection = open_collection(settings)?;
    let models = NeedModels::new(settings.session(&*collection, None)?);
    let model = models.open(&arguments.model)?;
    let (prediction, shares) = model.explain(&arguments.request);
    let mut labels = Sheet::new(&["need", "probability", "label"]);
    for (place, probability) in prediction.probabilities.into_iter().enumerate() {
        let is_label = Cell::Mark(place == prediction.label);
        let need = need_cell(&model.made_of.classes[place]);
        labels.row(vec![need, Cell::Number(probability, 4), is_label]);
    }
    let mut features = Sheet::new(&["feature", "value", "moves the label by"]);
    for feature in shares.iter().take(arguments.top) {
        features.row(vec![
            Cell::text(&feature.feature),
            Cell::Number(feature.value, 4),
            Cell::Number(feature.share, 4),
        ]);
    }
    print(settings, vec![("labels", labels), ("features", features)], "features")
}
