//! The report of a check of a data folder.

use clariq_core::{Error, Findings, problem};
use clariq_files::{FileContent, MOST_OF_A_TABLE, Sink, Source};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// The findings of a check of a data folder.
#[derive(Debug, Clone, Default)]
pub struct CheckReport {
    /// The files that were read.
    pub files: Vec<String>,
    /// The files of a release that the folder does not have.
    pub absent: Vec<String>,
    /// Remarks on how files were read.
    pub notes: Vec<String>,
    /// The problems in the order of files and lines: errors, which a reader would refuse, and warnings.
    pub findings: Findings,
}

impl CheckReport {
    /// Reads a file and turns its problems into findings. A missing file is listed as absent.
    ///
    /// # Errors
    ///
    /// Errors of the file system.
    pub fn read<T>(
        &mut self,
        name: &str,
        source: Option<Source>,
        parse: impl FnOnce(&FileContent, Sink) -> T,
    ) -> Result<Option<T>, Error> {
        let Some(source) = source else {
            self.absent.push(name.to_owned());
            return Ok(None);
        };
        self.files.push(source.name());
        let input = self.note(source.read_at_most(MOST_OF_A_TABLE))?;
        Ok(input.map(|input| parse(&input, &mut |problem| self.findings.add(problem))))
    }

    /// Lists files of the folder that no command reads: several in one folder as that folder.
    pub fn add_unread(&mut self, files: &[PathBuf]) {
        let mut of_folders: BTreeMap<Option<&Path>, (&Path, usize)> = BTreeMap::new();
        for file in files {
            of_folders.entry(file.parent()).or_insert((file, 0)).1 += 1;
        }
        for (folder, (first, count)) in of_folders {
            let shown = first.file_name().unwrap_or_default().to_string_lossy();
            let (path, found) = match (count, folder) {
                (2.., Some(folder)) => {
                    (folder, format!("{count} that are not read, such as `{shown}`"))
                }
                _ => (first, "a file that is not read".to_owned()),
            };
            let name = Source::new(path).name();
            let hint = "the documentation lists the names that are read (reference, Formats)";
            let problem = problem!(&*name, "files with names that are read", found, hint);
            self.files.push(name);
            self.findings.add(problem.warning());
        }
    }

    /// Turns a problem of a file into a finding.
    pub fn note<T>(&mut self, result: Result<T, Error>) -> Result<Option<T>, Error> {
        match result {
            Ok(value) => Ok(Some(value)),
            Err(Error::Problem(problem)) => {
                self.findings.add(*problem);
                Ok(None)
            }
            Err(error) => Err(error),
        }
    }
}
