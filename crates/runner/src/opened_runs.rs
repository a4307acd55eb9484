//! The runs of a command, each opened once, with what all of them are scored on.

use crate::arguments::RunArguments;
use crate::kept_scores::KeptScores;
use crate::runs::{LabelSource, check_differ, check_exists, names_on, without_records};
use crate::settings::Settings;
use clariq_core::{Problem, Result, problem};
use clariq_experiment::record::{self, RecordedFile};
use clariq_files::{Source, protect};
use std::path::{Path, PathBuf};

/// A run among others.
pub(crate) struct OpenedRun {
    /// Its name among the others.
    pub(crate) name: String,
    pub(crate) file: RecordedFile,
    /// The file, if it is scores that were kept.
    pub(crate) kept: Option<KeptScores>,
}

pub(crate) struct OpenedRuns {
    pub(crate) runs: Vec<OpenedRun>,
    /// The position of the baseline.
    pub(crate) baseline: usize,
    pub(crate) labels: LabelSource,
}

impl OpenedRuns {
    /// Opens runs that are all there, each named once, and at least so many. No output may replace them.
    pub(crate) fn open(settings: &Settings, named: &RunArguments, least: usize) -> Result<Self> {
        let (paths, baseline) = paths_of(named)?;
        if let [only] = &paths[..]
            && least > 1
        {
            return Err(one_run(only).into());
        }
        for path in &paths {
            protect(path);
            protect(&record::path_of(path));
        }
        let files: Vec<RecordedFile> = paths.iter().map(|path| RecordedFile::open(path)).collect();
        let kept: Vec<Option<KeptScores>> = files
            .iter()
            .map(|file| KeptScores::read(&Source::new(file.path())))
            .collect::<Result<_>>()?;
        // Kept scores have no record that could name their split.
        let names_split = kept.iter().position(Option::is_none).unwrap_or(0);
        let labels = LabelSource::open(settings, named, &files, &files[names_split])?;
        let names = names_on(&paths, &labels.names().0);
        let runs = files.into_iter().zip(kept).zip(names);
        let runs = runs.map(|((file, kept), name)| OpenedRun { name, file, kept }).collect();
        Ok(Self { runs, baseline, labels })
    }
}

/// The files of the runs, and the position of the baseline: one that is not among them comes first.
fn paths_of(named: &RunArguments) -> Result<(Vec<PathBuf>, usize)> {
    let mut paths = without_records(&named.runs)?;
    let mut position = 0;
    if let Some(baseline) = &named.baseline {
        match paths.iter().position(|path| path == baseline) {
            Some(named) => position = named,
            None => paths.insert(0, baseline.clone()),
        }
    }
    paths.iter().try_for_each(|path| check_exists(path))?;
    check_differ(&paths, "RUN")?;
    Ok((paths, position))
}

/// The problem of a run alone.
fn one_run(only: &Path) -> Problem {
    let hint = if only.is_dir() {
        format!("name the runs in it: `{}`", only.join("*.run").display())
    } else {
        "`clariq eval` scores a single run".to_owned()
    };
    problem!("RUN", "two runs or more", (format!("`{}` alone", only.display())), hint)
}
