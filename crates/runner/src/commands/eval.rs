//! `clariq eval`: a run scored as its collection scores runs, or by measures of the literature.

mod arguments;
mod clariq;
mod printed;
mod scorer;

use crate::arguments::named_measures;
use crate::failure::Outcome;
use crate::output::{Cell, Sheet};
use crate::runs::{check_exists, check_record, note_remark};
use crate::settings::Settings;
use crate::several::SeveralScores;
use clariq_collections::evaluation::{ByQrels, EvalRequest, Evaluation};
use clariq_core::Result;
use clariq_experiment::record;
use clariq_files::{Source, protect, refuse_input};

pub(crate) use arguments::EvalArgs;
use printed::print;
use scorer::{BY_NAME, FileScorer};

pub(crate) fn eval(settings: &Settings, arguments: &EvalArgs) -> Result<Outcome> {
    let measures = named_measures(&arguments.measures)?;
    let request = arguments.request(&measures, settings.format)?;
    check_exists(&request.file)?;
    let judgements = arguments.judgements(&request);
    protect(&request.file);
    protect(&record::path_of(&request.file));
    for run in record::runs_of_need(&request.file) {
        protect(&record::path_of(&run));
    }
    if let Some(out) = &arguments.out_file {
        refuse_input(out)?;
    }
    let per_topic = request.per_topic;
    let (kind, result) = if let Some(file) = judgements {
        arguments.clariq.refuse_all(BY_NAME)?;
        arguments.refuse_answers(BY_NAME)?;
        let judged = ByQrels::read(&Source::new(file))?;
        settings.warn(judged.warnings());
        ("run", judged.score(&EvalRequest { qrels: None, ..request })?)
    } else {
        let (collection, split) = settings.scored_on(arguments.split.as_deref(), &request.file)?;
        let scorer = FileScorer::open(&*collection, split, arguments, settings.options.seed)?;
        let kind = scorer.file_kind();
        check_record(settings, &*collection, kind, &request.file)?;
        settings.warn(scorer.warnings());
        note_remark(settings, &*collection, split);
        (kind, scorer.score(&request)?)
    };
    print(settings, arguments, kind, per_topic, &result)
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
            row.extend(system.means(measure).into_iter().map(|mean| Cell::Figure(mean, 4)));
            sheet.row(row);
        }
    }
    sheet.print(all[0].format)
}
