//! `clariq eval -m`: measures of the literature, against the labels of a collection or any TREC qrels.

use super::arguments::{EvalArgs, TieRule};
use super::{origin, say, write_per_topic};
use crate::failure::Failure;
use crate::output::{Cell, Sheet};
use crate::runs;
use crate::settings::Settings;
use clariq_eval::{Favour, Measure, Qrels, RankedRun, Scores, evaluate};
use clariq_files::{Run, Source, read_qrels, read_run, write_atomically};
use std::path::Path;

pub(super) fn measures(
    settings: &Settings,
    arguments: &EvalArgs,
    path: &Path,
) -> Result<(), Failure> {
    let measures = runs::measures_or_usual(&arguments.measures)?;
    let qrels = if let Some(file) = &arguments.qrels {
        let source = Source::new(file);
        Qrels::from_judgements(&source.name(), &read_qrels(&source)?)?
    } else {
        let collection = settings.collection()?;
        let split = collection.find_split(arguments.split_or_usual(path))?;
        let task = collection.tasks()[0];
        let documents = collection.documents(task)?;
        origin::check(settings, &*collection, documents, path, &[path.to_owned()])?;
        runs::qrels(&*collection, split, task)?
    };
    let run = read_run(&Source::new(path))?;
    if arguments.ties == Some(TieRule::Interval) {
        return interval(settings, &measures, &run, &qrels);
    }
    let ranked = match arguments.ties {
        Some(TieRule::Official) => RankedRun::official(&run),
        _ => RankedRun::new(&run).map_err(runs::or_official_ties)?,
    };
    let scores = evaluate(&measures, &ranked, &qrels);
    warn(settings, &scores);
    if let Some(out) = &arguments.out_file {
        write_atomically(out, |file| write_per_topic(&per_topic(&scores), file))?;
    }
    Ok(sheet(&scores, arguments.per_topic || settings.short_q).print(settings.format)?)
}

fn interval(
    settings: &Settings,
    measures: &[Box<dyn Measure>],
    run: &Run,
    qrels: &Qrels,
) -> Result<(), Failure> {
    let [lowest, highest] = [Favour::Against, Favour::For]
        .map(|favour| {
            RankedRun::with_ties(run, qrels, favour)
                .map(|ranked| evaluate(measures, &ranked, qrels))
        })
        .map(|scores| scores.map_err(runs::or_official_ties));
    let (lowest, highest) = (lowest?, highest?);
    warn(settings, &lowest);
    let mut sheet = Sheet::new(&["measure", "lowest", "highest"]);
    for (index, name) in lowest.measures.iter().enumerate() {
        let figures =
            [lowest.means[index], highest.means[index]].map(|figure| Cell::Figure(figure, 6));
        sheet.row([vec![Cell::text(name)], figures.to_vec()].concat());
    }
    Ok(sheet.print(settings.format)?)
}

/// The values of each measure, topic by topic.
fn per_topic(scores: &Scores) -> Vec<(&str, Vec<(String, f64)>)> {
    let mut all = Vec::with_capacity(scores.measures.len());
    for (measure, name) in scores.measures.iter().enumerate() {
        let values =
            scores.topics.iter().map(|(topic, values)| (topic.to_string(), values[measure]));
        all.push((name.as_str(), values.collect()));
    }
    all
}

/// One row per measure, after one per topic and measure if those are wanted, as `trec_eval -q`
/// prints them.
fn sheet(scores: &Scores, per_topic: bool) -> Sheet {
    let mut sheet = Sheet::new(&["measure", "topic", "value"]);
    let mut add = |topic: &str, values: &[f64]| {
        for (name, value) in scores.measures.iter().zip(values) {
            sheet.row(vec![Cell::text(name), Cell::text(topic), Cell::Figure(*value, 6)]);
        }
    };
    if per_topic {
        scores.topics.iter().for_each(|(topic, values)| add(topic.as_str(), values));
    }
    add("all", &scores.means);
    sheet
}

fn warn(settings: &Settings, scores: &Scores) {
    let counts = [
        (scores.missing, "judged topics are not answered and count 0"),
        (scores.unknown, "topics are not judged and are not looked at"),
    ];
    say(settings, &counts);
}
