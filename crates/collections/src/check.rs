//! What a check of a data folder finds.

use clariq_core::{Error, Findings};
use clariq_files::table::Sink;
use clariq_files::{Input, Source};

/// What a check of a folder found.
#[derive(Debug, Clone, Default)]
pub struct CheckReport {
    /// The files that were read.
    pub files: Vec<String>,
    /// The files of a release that the folder does not have.
    pub absent: Vec<String>,
    /// Whatever is wrong, in file and line order: errors, which a reader would refuse, and
    /// warnings.
    pub findings: Findings,
}

impl CheckReport {
    /// Reads the file of that name, whose problems become findings. One that is not there is noted;
    /// one that cannot be opened is a finding, too, and what is wrong with the system an error.
    pub(crate) fn read(
        &mut self,
        name: &str,
        source: Option<Source>,
        parse: impl FnOnce(&Input, Sink),
    ) -> Result<(), Error> {
        let Some(source) = source else {
            self.absent.push(name.to_owned());
            return Ok(());
        };
        self.files.push(source.name());
        match source.read() {
            Ok(input) => parse(&input, &mut |problem| self.findings.add(problem)),
            Err(Error::Problem(problem)) => self.findings.add(*problem),
            Err(error) => return Err(error),
        }
        Ok(())
    }
}
