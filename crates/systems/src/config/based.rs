//! Systems that are another one with other values of some keys.

use super::{ConfigText, SystemConfig};
use crate::built_in;
use crate::overrides::parse_assignment;
use clariq_core::{Error, Location, Problem, Result, bail};
use clariq_files::MOST_OF_A_CONFIGURATION;
use clariq_rank::{BasedOn, Override};

/// A file with `based_on`.
pub(super) struct Based {
    file: BasedOn,
    /// The text of the system that it is based on.
    pub(super) text: ConfigText,
    /// The values that differ from the other system's.
    pub(super) set: Vec<Override>,
}

impl Based {
    pub(super) fn read(name: &str, text: &str) -> Result<Option<Self>> {
        let Some(file) = BasedOn::read(name, text)? else { return Ok(None) };
        let source = built_in::source(&file.base).map_err(|error| at(&file.at, &error))?;
        // A chain, or a circle, of files would have to be followed to know what a system does.
        let content = source.read_at_most(MOST_OF_A_CONFIGURATION)?;
        let other = String::from_utf8_lossy(&content.bytes);
        if BasedOn::read(&content.name, &other)?.is_some() {
            let found = format!("`{}`, which is based on another itself", file.base);
            bail!(file.at, "a system that is based on no other", found, "name that one");
        }
        let text = ConfigText::read(&source)?;
        let mut set = Vec::new();
        for (key, value) in &file.set {
            let value = parse_assignment(&format!("{key}={value}"), "[set]");
            set.push(value.map_err(|error| at(&file.set_at, &error))?);
        }
        Ok(Some(Self { file, text, set }))
    }

    /// An error about one of its values, with their line.
    pub(super) fn located(&self, error: Error) -> Error {
        match error {
            Error::Problem(problem)
                if self.set.iter().any(|value| value.location() == problem.at) =>
            {
                Problem { at: self.file.set_at.clone(), ..*problem }.into()
            }
            other => other,
        }
    }

    /// The system that it is based on, read with its values, as the system of its own file.
    pub(super) fn named(&self, system: SystemConfig, text: &ConfigText) -> SystemConfig {
        let BasedOn { name, description, chosen_on, expected, .. } = &self.file;
        SystemConfig {
            file: text.name.clone(),
            checksum: text.checksum.clone(),
            name: name.clone(),
            description: description.clone(),
            chosen_on: chosen_on.clone(),
            expected: expected.clone(),
            ..system
        }
    }
}

fn at(place: &Location, error: &Error) -> Problem {
    Problem { at: place.clone(), ..error.to_problem() }
}
