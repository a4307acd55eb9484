//! The arguments of `clariq reproduce`.

use crate::arguments::IndexPlace;
use crate::learned;
use clap::Args;
use std::path::PathBuf;

#[derive(Args)]
pub(crate) struct ReproduceArgs {
    /// Systems: names of built-in ones, or configuration files [default: for each split, the
    /// built-in ones with expected figures, or all if none has any]
    #[arg(value_name = "NAME")]
    pub(crate) names: Vec<String>,
    /// Folder for the run files
    #[arg(long, value_name = "DIR", default_value = "runs")]
    pub(crate) runs: PathBuf,
    /// Only this split [default: every split with labels]
    #[arg(long, value_name = "SPLIT")]
    pub(crate) split: Option<String>,
    #[command(flatten)]
    pub(crate) place: IndexPlace,
}

impl ReproduceArgs {
    /// Whether a system asks for a learned model; some built-in ones do.
    pub(crate) fn needs_models(&self) -> bool {
        match &self.names[..] {
            [] => learned::program().is_some(),
            names => names.iter().any(|name| learned::is_needed_by(name, &[])),
        }
    }
}
