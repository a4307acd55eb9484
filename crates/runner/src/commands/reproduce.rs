//! `clariq reproduce`: does every system still reach the figures that are written in its configuration?

use crate::cli::ReproduceArgs;
use crate::commands::{Outcome, run};
use crate::configs::{self, Loaded};
use crate::failure::Failure;
use crate::output::{Cell, Sheet};
use crate::settings::Settings;
use clariq_collections::clariq::{
    Collection, EvalTable, Labelled, NeedLine, QuestionBank, Split, SplitData,
};
use clariq_core::{Error, ProblemKind};
use clariq_eval::{
    CUTOFFS, Ties, clarification_need, document_relevance, question_relevance, table_stem,
};
use clariq_files::Run;
use clariq_rank::{Expected, Uses};

/// A figure as near as this is the expected one: figures are written with six digits.
const EXACT: f64 = 1e-5;

pub(crate) fn reproduce(
    settings: &Settings,
    arguments: &ReproduceArgs,
) -> Result<Outcome, Failure> {
    let names: Vec<&str> = match &arguments.names[..] {
        [] => configs::names().collect(),
        names => names.iter().map(String::as_str).collect(),
    };
    let mut systems: Vec<Loaded> =
        names.into_iter().map(|name| configs::load(name, &[])).collect::<Result<_, _>>()?;
    if arguments.names.is_empty() {
        // A system for conversations has no figures on a split.
        systems.retain(|loaded| !loaded.system.expected.is_empty());
    }
    run::names_differ(&systems)?;
    let systems = possible(settings, arguments.names.is_empty(), systems);
    let collection = settings.collection()?;
    let models = crate::models::of(settings, &collection);
    let mut table = Verdicts::default();
    for split in
        Split::ALL.into_iter().filter(|&split| arguments.split.is_none_or(|only| only == split))
    {
        if !collection.has(split, true) {
            settings.note(&format!(
                "note: {split} has no labels in {} and is left out",
                collection.data
            ));
            continue;
        }
        let data = collection.split(split)?;
        let Some(labels) = &data.labels else { continue };
        let context = settings
            .context(&collection.bank, &arguments.place)
            .with_models(models.as_ref())
            .within(&collection, split);
        for loaded in systems.iter().filter(|loaded| says_something(loaded, split)) {
            let answers = run::answer(settings, &collection, &context, loaded, &data)?;
            let path = run::usual_path(&arguments.runs, loaded, split);
            answers.write(settings, &collection, loaded, &data, &path, &loaded.system.name)?;
            let expected = expected(loaded, &collection.bank, split);
            let mut figures = score(&answers, &collection.bank, &data, labels);
            if let Some(expected) = expected.filter(|expected| expects_documents(expected)) {
                let run = run::as_run(&collection.bank, &data.topics, &answers.rankings);
                figures.extend(score_documents(settings, &collection, &run, labels, expected)?);
            }
            table.add(loaded, expected, split, &figures);
        }
    }
    table.sheet.print(settings.format)?;
    settings.note(&format!("run files are in {}", arguments.runs.display()));
    Ok(if table.failed { Outcome::CheckFailed } else { Outcome::Done })
}

/// Of all systems, those that this build can run; those that were named are all meant.
fn possible(settings: &Settings, all: bool, mut systems: Vec<Loaded>) -> Vec<Loaded> {
    if !all || cfg!(feature = "bert") {
        return systems;
    }
    let (learned, other): (Vec<_>, Vec<_>) =
        systems.drain(..).partition(|loaded| !loaded.system.models().is_empty());
    let names: Vec<_> = learned.iter().map(|loaded| loaded.system.name.as_str()).collect();
    if !names.is_empty() {
        settings.note(&format!(
            "note: this build has no learned stages; {} left out: scripts/clariq has them",
            names.join(", ")
        ));
    }
    other
}

/// On the labels that it was made from, a system reaches anything.
fn says_something(loaded: &Loaded, split: Split) -> bool {
    split != Split::Train || !loaded.system.uses.contains(&Uses::TrainLabels)
}

/// The figures hold for one bank, so that the sample and the real collection have their own.
fn expected<'a>(loaded: &'a Loaded, bank: &QuestionBank, split: Split) -> Option<&'a Expected> {
    let of_bank = |expected: &&Expected| bank.checksum().as_str().starts_with(&expected.bank);
    loaded.system.expected.iter().find(|expected| of_bank(expected) && expected.split == split)
}

/// Scores what was written: the strictly decreasing scores of the run file.
fn score(
    answers: &run::Answers,
    bank: &QuestionBank,
    data: &SplitData,
    labels: &Labelled,
) -> Vec<(String, f64)> {
    let run = run::as_run(bank, &data.topics, &answers.rankings);
    let recalls = question_relevance(&run, labels, Ties::Official).means();
    let mut figures: Vec<_> =
        CUTOFFS.iter().zip(recalls).map(|(cutoff, mean)| (format!("R@{cutoff}"), mean)).collect();
    if let Some(needs) = &answers.needs {
        let line = |(topic, need): (&clariq_collections::clariq::Topic, &clariq_core::Need)| {
            NeedLine { topic: topic.id.clone(), label: i64::from(need.get()), line: 0 }
        };
        let lines: Vec<NeedLine> = data.topics.iter().zip(needs).map(line).collect();
        figures.push(("need F1".to_owned(), clarification_need(&lines, labels).f1));
    }
    figures
}

/// The measures of the challenge's leaderboard of document relevance.
const DOCUMENT_MEASURES: [&str; 4] = ["MRR100", "P1", "NDCG3", "NDCG5"];

fn expects_documents(expected: &Expected) -> bool {
    DOCUMENT_MEASURES.iter().any(|name| expected.measures.contains_key(*name))
}

/// Document relevance by the expected measures, where the data folder has the table.
fn score_documents(
    settings: &Settings,
    collection: &Collection,
    run: &Run,
    labels: &Labelled,
    expected: &Expected,
) -> Result<Vec<(String, f64)>, Failure> {
    let stem = table_stem(expected.split, false);
    let table = match EvalTable::open(&collection.data, &stem) {
        Err(Error::Problem(problem)) if problem.kind == ProblemKind::MissingFile => {
            settings.note(&format!(
                "note: {} has no table `{stem}`: document relevance on {} is not checked",
                collection.data, expected.split
            ));
            return Ok(Vec::new());
        }
        table => table?,
    };
    let scores = document_relevance(run, &table, labels);
    let metrics = scores.metrics.into_iter().filter_map(|metric| {
        let mean = metric.mean()?;
        expected.measures.contains_key(&metric.name).then_some((metric.name, mean))
    });
    Ok(metrics.collect())
}

/// A difference that is shown as zero has no sign.
fn without_sign_of_zero(difference: f64) -> f64 {
    if difference.abs() < 5e-7 { 0.0 } else { difference }
}

struct Verdicts {
    sheet: Sheet,
    failed: bool,
}

impl Default for Verdicts {
    fn default() -> Self {
        let header = [
            "system",
            "split",
            "measure",
            "published",
            "expected",
            "obtained",
            "difference",
            "verdict",
        ];
        Self { sheet: Sheet::new(&header), failed: false }
    }
}

impl Verdicts {
    fn add(
        &mut self,
        loaded: &Loaded,
        expected: Option<&Expected>,
        split: Split,
        figures: &[(String, f64)],
    ) {
        for (measure, obtained) in figures {
            let wanted = expected.and_then(|expected| expected.measures.get(measure)).copied();
            let published = expected.and_then(|expected| expected.published.get(measure)).copied();
            let figure =
                |value: Option<f64>| value.map_or(Cell::Nothing, |value| Cell::Figure(value, 6));
            let verdict = wanted.map_or("-", |wanted| {
                self.verdict(
                    (obtained - wanted).abs(),
                    expected.map_or(0.0, |expected| expected.tolerance),
                )
            });
            self.sheet.row(vec![
                Cell::text(&loaded.system.name),
                Cell::text(split.name()),
                Cell::text(measure),
                figure(published),
                figure(wanted),
                Cell::Figure(*obtained, 6),
                figure(wanted.map(|wanted| without_sign_of_zero(obtained - wanted))),
                Cell::text(verdict),
            ]);
        }
    }

    fn verdict(&mut self, difference: f64, tolerance: f64) -> &'static str {
        if difference <= EXACT {
            "OK"
        } else if difference <= tolerance {
            "close"
        } else {
            self.failed = true;
            "FAIL"
        }
    }
}
