//! `clariq eval`: a run scored as its collection scores runs, or by measures of the literature.

mod arguments;
mod clariq;
mod official;
mod printed;
mod shown;
mod task;

use crate::arguments::named_measures;
use crate::failure::Outcome;
use crate::labels::{check_record, note_remark};
use crate::output::{Cell, Sheet};
use crate::runs::check_exists;
use crate::settings::Settings;
use crate::several::SeveralScores;
use crate::target::Target;
use clariq_core::Result;
use clariq_experiment::record;
use clariq_files::{Source, protect, refuse_input};

pub(crate) use arguments::EvalArgs;
use task::EvalTask;

pub(crate) fn eval(settings: &Settings, arguments: &EvalArgs) -> Result<Outcome> {
    let measures = named_measures(&arguments.measures)?;
    let request = arguments.request(&measures, settings.format)?;
    let file = request.file.path();
    check_exists(file)?;
    protect(file);
    protect(&record::path_of(file));
    for run in record::runs_of_need(file) {
        protect(&record::path_of(&run));
    }
    for out in arguments.shown.options.out_file.iter().chain(&arguments.output) {
        refuse_input(out)?;
    }
    if let Some(qrels) = arguments.judgements(file) {
        let task = EvalTask::of_judgements(arguments, qrels)?;
        settings.warn(task.warnings());
        return task.print(settings, &request, &[Source::new(qrels)]);
    }
    let Target { collection, split } =
        Target::of(settings, arguments.split.as_deref(), &request.file)?;
    let seed = settings.options.seed;
    let task = EvalTask::of(&*collection, split, arguments, &measures, seed)?;
    check_record(settings, &*collection, &request.file)?;
    settings.warn(task.warnings());
    note_remark(settings, &*collection, split);
    task.print(settings, &request, &collection.labels_of(split)?)
}

/// Scores runs over the collections of several folders: a column for each, and the means.
pub(crate) fn eval_each(all: &[Settings], arguments: &EvalArgs) -> Result<Outcome> {
    let measures = named_measures(&arguments.measures)?;
    let (runs, by) = arguments.over_several(&measures)?;
    let scores = SeveralScores::read(all, runs, arguments.split.as_deref(), &by)?;
    let mut header = vec!["measure".to_owned(), "run".to_owned()];
    header.extend(scores.columns());
    let mut sheet = Sheet::new(&header);
    for (measure, name) in scores.measures().into_iter().enumerate() {
        for system in &scores.systems {
            let mut row = vec![Cell::text(&name), Cell::text(&system.name)];
            row.extend(system.means(measure).into_iter().map(|mean| Cell::Number(mean, 4)));
            sheet.row(row);
        }
    }
    sheet.print(all[0].format)
}
