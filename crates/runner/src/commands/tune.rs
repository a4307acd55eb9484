//! `clariq tune`: which parameters are best on a labelled split, and is that more than luck?

use crate::cli::TuneArgs;
use crate::commands::Outcome;
use crate::commands::run::{as_run, predict_needs};
use crate::configs::{self, split_assignment};
use crate::failure::Failure;
use crate::output::{Cell, Sheet};
use crate::progress::Task;
use crate::settings::Settings;
use clariq_core::{Location, Need, Problem, ProblemKind};
use clariq_eval::{CUTOFFS, QuestionRelevance, Ties, exact_mean, question_relevance};
use clariq_rank::Override;

/// A point of the grid: its values, and what they reach per topic.
struct Trial {
    values: Vec<Override>,
    scores: QuestionRelevance,
}

pub(crate) fn tune(settings: &Settings, arguments: &TuneArgs) -> Result<Outcome, Failure> {
    let grid = grid(&arguments.grid)?;
    let collection = settings.collection()?;
    let data = collection.split(arguments.split)?;
    let labels = collection.labelled(arguments.split)?;
    if !(2..=data.topics.len()).contains(&arguments.folds) {
        let expected = format!("from 2 to {} folds, one topic at least in each", data.topics.len());
        let found = arguments.folds.to_string();
        let problem =
            Problem::new(Location::file("--folds"), ProblemKind::Argument, expected, found);
        return Err(problem.hint("5 and 10 folds are usual").into());
    }
    let models = crate::models::of(settings, &collection);
    let context = settings
        .context(&collection.bank, &arguments.place)
        .with_models(models.as_ref())
        .within(&collection, arguments.split);
    let task = Task::start("tune", grid.len() as u64, settings.progress);
    let mut trials = Vec::with_capacity(grid.len());
    let mut needs: Option<Vec<Need>> = None;
    for values in grid {
        let system = configs::load(&arguments.config, &values)?.system;
        if needs.is_none() && system.pipeline.looks_at_need() {
            // No parameter of a stage changes them: one prediction is enough for the whole grid.
            needs = predict_needs(settings, &collection, &context, &system, &data)?
                .map(|predicted| predicted.needs);
        }
        let rankings =
            system.pipeline.run_with_needs(&context, &data.topics, needs.as_deref(), &|_| {})?;
        let run = as_run(&collection.bank, &data.topics, &rankings);
        trials.push(Trial { values, scores: question_relevance(&run, &labels, Ties::Official) });
        task.advance(1);
    }
    task.finish(&format!("{} points", trials.len()));
    let cutoff =
        CUTOFFS.iter().position(|cutoff| cutoff.to_string() == arguments.recall).unwrap_or(3);
    report(settings, arguments, &trials, cutoff)?;
    Ok(Outcome::Done)
}

/// Every combination of the values, the last parameter varying fastest.
fn grid(texts: &[String]) -> Result<Vec<Vec<Override>>, Failure> {
    let mut points: Vec<Vec<Override>> = vec![Vec::new()];
    for text in texts {
        let (target, values) = split_assignment(text, "--grid")?;
        let values: Vec<&str> = values.split(',').map(str::trim).collect();
        points = points
            .into_iter()
            .flat_map(|point| {
                values.iter().map({
                    let target = &target;
                    move |value| {
                        let mut point = point.clone();
                        point.push(Override { value: (*value).to_owned(), ..target.clone() });
                        point
                    }
                })
            })
            .collect();
    }
    Ok(points)
}

fn report(
    settings: &Settings,
    arguments: &TuneArgs,
    trials: &[Trial],
    cutoff: usize,
) -> Result<(), Failure> {
    let mut order: Vec<usize> = (0..trials.len()).collect();
    // Stable: of equally good points the first of the grid comes first.
    order.sort_by(|&a, &b| {
        trials[b].scores.means()[cutoff].total_cmp(&trials[a].scores.means()[cutoff])
    });
    let mut sheet = Sheet::new(&["parameters", "R@5", "R@10", "R@20", "R@30"]);
    for trial in order.iter().take(arguments.top).map(|&place| &trials[place]) {
        let mut row = vec![Cell::text(named(trial))];
        row.extend(trial.scores.means().map(|mean| Cell::Figure(mean, 6)));
        sheet.row(row);
    }
    sheet.print(settings.format)?;
    let topics = trials.first().map_or(0, |trial| trial.scores.topics.len());
    let mut held_out = Vec::with_capacity(topics);
    for fold in 0..arguments.folds {
        let best = best_without(trials, cutoff, |topic| topic % arguments.folds == fold);
        settings.note(&format!(
            "fold {}: the other topics choose {}",
            fold + 1,
            named(&trials[best])
        ));
        let topics = trials[best].scores.topics.iter().enumerate();
        held_out.extend(
            topics
                .filter(|(topic, _)| topic % arguments.folds == fold)
                .map(|(_, row)| row.1[cutoff]),
        );
    }
    let (depth, mean) = (&arguments.recall, exact_mean(held_out));
    settings.note(&format!("R@{depth} of topics that had no say in the choice: {mean:.6}"));
    Ok(())
}

/// The best point on the topics that are not held out.
fn best_without(trials: &[Trial], cutoff: usize, held_out: impl Fn(usize) -> bool) -> usize {
    let mean = |trial: &Trial| {
        let topics = trial.scores.topics.iter().enumerate().filter(|(topic, _)| !held_out(*topic));
        exact_mean(topics.map(|(_, (_, recalls))| recalls[cutoff]))
    };
    let means: Vec<f64> = trials.iter().map(mean).collect();
    (0..trials.len()).fold(0, |best, place| if means[place] > means[best] { place } else { best })
}

fn named(trial: &Trial) -> String {
    let values =
        trial.values.iter().map(|value| format!("{}.{}={}", value.stage, value.key, value.value));
    values.collect::<Vec<_>>().join(" ")
}
