//! `clariq need`: training need models with their report, predicting needs, explaining a label.

mod arguments;
mod report;

use crate::arguments::IndexPlace;
use crate::failure::{Failure, Outcome};
use crate::output::{Cell, Format, Sheet, print_all};
use crate::settings::Settings;
use arguments::{NeedExplainArgs, NeedPredictArgs, NeedTrainArgs};
use clariq_collections::clariq::{ClariQ, Split, Topic, write_need_file};
use clariq_core::{Models, bail};
use clariq_experiment::Loaded;
use clariq_files::{Source, Target};
use clariq_need::{Classifier, NeedConfig, Training};
use std::path::Path;

pub(crate) use arguments::NeedCommand;

pub(crate) fn need(settings: &Settings, command: &NeedCommand) -> Result<Outcome, Failure> {
    match command {
        NeedCommand::Train(arguments) => train(settings, arguments),
        NeedCommand::Predict(arguments) => predict(settings, arguments),
        NeedCommand::Explain(arguments) => explain(settings, arguments),
    }
}

/// Reads the need model that a system declares.
fn read_config(name: &str) -> Result<NeedConfig, Failure> {
    let Some(need) = Loaded::open(name, &[])?.need else {
        let hint = "`bm25-tuned` has one; configs/README.md lists the need models";
        bail!(name, "a system with a table [need]", "a system without one", hint);
    };
    Ok(need)
}

/// The labels and features that a configuration trains on to answer a split, or requests of none.
fn open_training(
    collection: &ClariQ,
    models: &dyn Models,
    name: &str,
    split: Option<Split>,
) -> Result<Training, Failure> {
    let config = read_config(name)?.to_answer(split.map(Split::name));
    let labels = collection.training_labels(config.train_on())?;
    Ok(Training::new(config, &collection.bank, models, &labels)?)
}

/// A saved model, or the model that a configuration declares, trained now.
fn open_classifier(
    collection: &ClariQ,
    models: &dyn Models,
    name: &str,
    split: Option<Split>,
) -> Result<Classifier, Failure> {
    let path = Path::new(name);
    if path.extension().is_none_or(|extension| extension != "json") {
        return Ok(open_training(collection, models, name, split)?.fit()?);
    }
    let classifier = Classifier::read(&Source::new(path), &collection.bank, models)?;
    let trained_on = classifier.made_of.config.train_on();
    if trained_on != trained_on.to_answer(split.or(Some(Split::Test)).map(Split::name)) {
        let expected = "a model that was not trained on labels of dev";
        let splits = trained_on.splits().join(" and ");
        let hint = "train one for dev: `clariq need train CONFIG -o FILE`, without --split test";
        bail!(name, expected, "one trained on {splits}", hint);
    }
    Ok(classifier)
}

fn train(settings: &Settings, arguments: &NeedTrainArgs) -> Result<Outcome, Failure> {
    let collection = settings.clariq()?;
    let session = settings.session(&collection, &IndexPlace::default())?;
    let split = Some(arguments.split);
    let training = open_training(&collection, &session, &arguments.config, split)?;
    let passes = training.cross_validate(arguments.folds, arguments.repeats, settings.seed)?;
    let mut sheets = report::cross_validation(&training, &passes, arguments.folds);
    let classifier = training.fit()?;
    // A model that was trained on dev has no figures there.
    if collection.has(Split::Dev, true) && classifier.made_of.config.train_on().is_default() {
        let labels = collection.labelled(Split::Dev)?;
        let predictions = classifier.predict(&texts(&labels.topics))?;
        sheets.extend(report::held_out(settings, &labels, &predictions));
    }
    if let Some(path) = &arguments.output {
        classifier.write(&Target::new(path))?;
        settings.note(&format!("the model is in {}", path.display()));
    }
    if !arguments.output.as_ref().is_some_and(|path| Target::new(path).is_stream()) {
        print(settings, sheets, "cross_validation")?;
    }
    Ok(Outcome::Done)
}

/// Prints tables; as TSV, which is one table, the named one.
fn print(
    settings: &Settings,
    mut sheets: Vec<(&'static str, Sheet)>,
    main: &str,
) -> Result<(), Failure> {
    if settings.format.is_some_and(Format::is_one_table) && sheets.len() > 1 {
        sheets.retain(|(name, _)| *name == main);
        settings.note("note: TSV is one table; --format json holds them all");
    }
    Ok(print_all(&sheets, settings.format)?)
}

fn texts(topics: &[Topic]) -> Vec<&str> {
    topics.iter().map(|topic| topic.request.as_str()).collect()
}

fn predict(settings: &Settings, arguments: &NeedPredictArgs) -> Result<Outcome, Failure> {
    let collection = settings.clariq()?;
    let session = settings.session(&collection, &IndexPlace::default())?;
    let classifier =
        open_classifier(&collection, &session, &arguments.model, Some(arguments.split))?;
    let topics = collection.split(arguments.split)?.topics;
    let predictions = classifier.predict(&texts(&topics))?;
    let needs = predictions.iter().map(|prediction| prediction.need);
    let labels = topics.iter().map(|topic| &topic.id).zip(needs);
    write_need_file(&Target::new(&arguments.output), labels)?;
    Ok(Outcome::Done)
}

fn explain(settings: &Settings, arguments: &NeedExplainArgs) -> Result<Outcome, Failure> {
    if arguments.request.trim().is_empty() {
        let hint = "for example: clariq need explain \"tell me about jaguars\"";
        bail!("REQUEST", "a request", "nothing", hint);
    }
    let collection = settings.clariq()?;
    let session = settings.session(&collection, &IndexPlace::default())?;
    let classifier = open_classifier(&collection, &session, &arguments.model, None)?;
    let (prediction, drove) = classifier.explain(&arguments.request)?;
    let mut labels = Sheet::new(&["need", "probability", "label"]);
    for (need, probability) in (1..).zip(prediction.probabilities) {
        let is_label = Cell::Mark(prediction.need.get() == need);
        labels.row(vec![Cell::count(usize::from(need)), Cell::Figure(probability, 4), is_label]);
    }
    let mut features = Sheet::new(&["feature", "value", "moves the label by"]);
    for feature in drove.iter().take(arguments.top) {
        features.row(vec![
            Cell::text(&feature.feature),
            Cell::Figure(feature.value, 4),
            Cell::Figure(feature.share, 4),
        ]);
    }
    print(settings, vec![("labels", labels), ("features", features)], "features")?;
    Ok(Outcome::Done)
}
