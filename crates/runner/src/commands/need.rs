//! `clariq need`: how much clarification does each request need, and why? Training with its report, predicting, explaining.

mod arguments;
mod report;

use crate::arguments::IndexPlace;
use crate::failure::{Failure, Outcome};
use crate::output::{Cell, Sheet, print_all};
use crate::settings::Settings;
use arguments::{NeedExplainArgs, NeedPredictArgs, NeedTrainArgs};
use clariq_collections::clariq::{Collection, Split, write_need_file};
use clariq_core::{Location, Problem, ProblemKind};
use clariq_experiment::{Loaded, Registry};
use clariq_files::{Source, Target};
use clariq_need::{Classifier, Spec, Training};
use clariq_rank::Models;
use std::path::Path;

pub(crate) use arguments::NeedCommand;

pub(crate) fn need(settings: &Settings, command: &NeedCommand) -> Result<Outcome, Failure> {
    match command {
        NeedCommand::Train(arguments) => train(settings, arguments),
        NeedCommand::Predict(arguments) => predict(settings, arguments),
        NeedCommand::Explain(arguments) => explain(settings, arguments),
    }
}

/// The need model that a configuration declares.
fn spec(name: &str) -> Result<Spec, Failure> {
    let system = Loaded::open(name, &[])?.system;
    let Some(config) = &system.need else {
        let at = system.need_at;
        let problem =
            Problem::new(at, ProblemKind::Configuration, "a table [need]", "a system without one");
        return Err(problem
            .hint("`bm25-tuned` has one; configs/README.md lists the need models")
            .into());
    };
    Ok(Spec::new(config, &system.need_at)?)
}

fn training<'m>(
    collection: &Collection,
    models: &'m dyn Models,
    name: &str,
) -> Result<Training<'m>, Failure> {
    let spec = spec(name)?;
    Ok(Training::new(spec, &collection.bank, models, &collection.labelled(Split::Train)?)?)
}

/// A saved model, or the one that a configuration declares, trained now.
fn classifier(
    settings: &Settings,
    collection: &Collection,
    models: &dyn Models,
    name: &str,
) -> Result<Classifier, Failure> {
    let path = Path::new(name);
    if path.extension().is_some_and(|extension| extension == "json") {
        return Ok(Classifier::read(&Source::new(path), &collection.bank, models)?);
    }
    Ok(training(collection, models, name)?.fit(settings.seed)?)
}

fn train(settings: &Settings, arguments: &NeedTrainArgs) -> Result<Outcome, Failure> {
    for (flag, given, least) in
        [("--folds", arguments.folds, 2), ("--repeats", arguments.repeats, 1)]
    {
        if given < least {
            let at = Location::file(flag);
            let problem = Problem::new(
                at,
                ProblemKind::Argument,
                format!("at least {least}"),
                given.to_string(),
            );
            return Err(problem.hint("leave the option out for 10 folds and 20 repeats").into());
        }
    }
    let collection = settings.collection()?;
    let session = settings.session(&collection, &IndexPlace::default());
    let models = Registry::new(&session);
    let training = training(&collection, &models, &arguments.config)?;
    if arguments.folds > training.labels.len() {
        let expected =
            format!("from 2 to {} folds, one topic at least in each", training.labels.len());
        let problem = Problem::new(
            Location::file("--folds"),
            ProblemKind::Argument,
            expected,
            arguments.folds.to_string(),
        );
        return Err(problem.hint("5 and 10 folds are usual").into());
    }
    let mut sheets =
        report::cross_validation(settings, &training, arguments.folds, arguments.repeats)?;
    let classifier = training.fit(settings.seed)?;
    if collection.has(Split::Dev, true) {
        let labels = collection.labelled(Split::Dev)?;
        let predictions = classifier.predict(&labels.topics)?;
        sheets.extend(report::held_out(settings, &labels, &predictions));
    }
    if let Some(path) = &arguments.output {
        classifier.write(&Target::new(path))?;
        settings.note(&format!("the model is in {}", path.display()));
    }
    if !arguments.output.as_ref().is_some_and(|path| Target::new(path).is_stream()) {
        print_all(&sheets, settings.format)?;
    }
    Ok(Outcome::Done)
}

fn predict(settings: &Settings, arguments: &NeedPredictArgs) -> Result<Outcome, Failure> {
    let collection = settings.collection()?;
    let session = settings.session(&collection, &IndexPlace::default());
    let models = Registry::new(&session);
    let classifier = classifier(settings, &collection, &models, &arguments.model)?;
    let topics = collection.split(arguments.split)?.topics;
    let predictions = classifier.predict(&topics)?;
    let labels = topics
        .iter()
        .map(|topic| &topic.id)
        .zip(predictions.iter().map(|prediction| prediction.need));
    write_need_file(&Target::new(&arguments.output), labels)?;
    Ok(Outcome::Done)
}

fn explain(settings: &Settings, arguments: &NeedExplainArgs) -> Result<Outcome, Failure> {
    if arguments.request.trim().is_empty() {
        let problem =
            Problem::new(Location::file("REQUEST"), ProblemKind::Argument, "a request", "nothing");
        return Err(problem
            .hint("for example: clariq need explain \"tell me about jaguars\"")
            .into());
    }
    let collection = settings.collection()?;
    let session = settings.session(&collection, &IndexPlace::default());
    let models = Registry::new(&session);
    let classifier = classifier(settings, &collection, &models, &arguments.model)?;
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
    print_all(&[("labels", labels), ("features", features)], settings.format)?;
    Ok(Outcome::Done)
}
