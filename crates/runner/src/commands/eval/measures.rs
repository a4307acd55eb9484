//! `clariq eval -m`: how good is a run by measures of the literature, against ClariQ's labels or any TREC qrels?

use super::arguments::{EvalArgs, TieRule};
use super::say;
use crate::failure::Failure;
use crate::output::{Cell, Sheet};
use crate::runs;
use crate::settings::Settings;
use clariq_eval::{Favour, Measure, Qrels, RankedRun, Scores, evaluate, parse_measures};
use clariq_files::{Run, Source, read_qrels, read_run};
use std::path::Path;

pub(super) fn measures(
    settings: &Settings,
    arguments: &EvalArgs,
    path: &Path,
) -> Result<(), Failure> {
    let measures = parse(arguments)?;
    let qrels = match &arguments.qrels {
        Some(file) => {
            let source = Source::new(file);
            Qrels::from_judgements(&source.name(), &read_qrels(&source)?)?
        }
        None => Qrels::from(&settings.collection()?.labelled(arguments.split)?),
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
    Ok(sheet(&scores, arguments.per_topic || settings.short_q).print(settings.format)?)
}

/// The measures asked for; with `--qrels` alone, those that `trec_eval` users look at first.
fn parse(arguments: &EvalArgs) -> Result<Vec<Box<dyn Measure>>, Failure> {
    let names = match &arguments.measures[..] {
        [] => "nDCG@10 AP RR P@10 R@30".to_owned(),
        names => names.join(" "),
    };
    Ok(parse_measures(&names)?)
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
    for (place, name) in lowest.measures.iter().enumerate() {
        let figures =
            [lowest.means[place], highest.means[place]].map(|figure| Cell::Figure(figure, 6));
        sheet.row([vec![Cell::text(name)], figures.to_vec()].concat());
    }
    Ok(sheet.print(settings.format)?)
}

/// One row per measure, after one per topic and measure if those are wanted, as `trec_eval -q` prints them.
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
