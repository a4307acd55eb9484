//! `clariq tune`: the best parameters on a labelled split, and what such a choice is worth.

use crate::arguments::{IndexPlace, depths, splits};
use crate::failure::{Failure, Outcome};
use crate::output::{Cell, Sheet};
use crate::settings::Settings;
use clap::Args;
use clariq_collections::clariq::Split;
use clariq_experiment::tune::{Grid, Search};

#[derive(Args)]
pub(crate) struct TuneArgs {
    /// System: a configuration file, or the name of a built-in one
    #[arg(value_name = "CONFIG")]
    pub(crate) config: String,
    /// Labelled split to tune on
    #[arg(long, default_value = "train", value_parser = splits())]
    pub(crate) split: Split,
    /// A parameter and its values, as stage.key=value,value,…; may be given more than once
    #[arg(long = "grid", value_name = "STAGE.KEY=VALUES", required = true)]
    pub(crate) grid: Vec<String>,
    /// Recall depth to tune for
    #[arg(long, value_name = "K", default_value = "30", value_parser = depths())]
    pub(crate) recall: usize,
    /// Folds of the cross-validation over topics
    #[arg(long, value_name = "N", default_value_t = 5)]
    pub(crate) folds: usize,
    /// Rows to print, best first
    #[arg(long, value_name = "N", default_value_t = 10)]
    pub(crate) top: usize,
    #[command(flatten)]
    pub(crate) place: IndexPlace,
}

pub(crate) fn tune(settings: &Settings, arguments: &TuneArgs) -> Result<Outcome, Failure> {
    let grid = Grid::parse(&arguments.grid)?;
    let collection = settings.collection()?;
    let session = settings.session(&*collection, &arguments.place)?;
    let TuneArgs { config: system, split, recall: depth, folds, .. } = arguments;
    let search = Search { system, grid: &grid, split: *split, depth: *depth, folds: *folds };
    let tuned = search.run(&session)?;
    let mut sheet = Sheet::new(&["parameters", "R@5", "R@10", "R@20", "R@30"]);
    for trial in tuned.best_first().into_iter().take(arguments.top) {
        let mut row = vec![Cell::text(trial.to_string())];
        row.extend(trial.scores.means().map(|mean| Cell::Figure(mean, 6)));
        sheet.row(row);
    }
    sheet.print(settings.format)?;
    let held_out = tuned.held_out();
    for (fold, choice) in (1..).zip(&held_out.choices) {
        settings.note(&format!("fold {fold}: the other topics choose {choice}"));
    }
    let recall = held_out.recall;
    settings.note(&format!("R@{depth} of topics that had no say in the choice: {recall:.6}"));
    Ok(Outcome::Done)
}
