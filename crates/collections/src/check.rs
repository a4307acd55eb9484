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
    /// Texts of documents, to tell their language.
    pub texts: TextSample,
    /// The problems in the order of files and lines: errors, which a reader would refuse, and warnings.
    pub findings: Findings,
}

/// Texts from among those that were read, spread evenly over all of them.
#[derive(Debug, Clone, Default)]
pub struct TextSample {
    texts: Vec<String>,
    read: usize,
    /// The binary logarithm of the distance of one text to the next.
    sparsity: u32,
}

impl TextSample {
    /// The most texts that are kept; an even number.
    const MOST: usize = 400;

    /// The texts that were kept, evenly spread over all.
    pub fn texts(&self) -> &[String] {
        &self.texts
    }

    pub(crate) fn add(&mut self, text: &str) {
        if self.read.trailing_zeros() >= self.sparsity {
            if self.texts.len() == Self::MOST {
                let mut is_kept = false;
                self.texts.retain(|_| {
                    is_kept = !is_kept;
                    is_kept
                });
                self.sparsity += 1;
            }
            self.texts.push(text.to_owned());
        }
        self.read += 1;
    }
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sample_is_spread_evenly_over_all_texts() {
        for all in [0, 1, 399, 400, 401, 1000, 5000] {
            let mut sample = TextSample::default();
            for number in 0..all {
                sample.add(&number.to_string());
            }
            let step = 1 << sample.sparsity;
            let expected: Vec<String> = (0..all).step_by(step).map(|it| it.to_string()).collect();
            assert_eq!(sample.texts(), expected, "{all}");
            assert!(
                all / step <= TextSample::MOST && (step == 1 || all / step >= TextSample::MOST / 2)
            );
        }
    }
}
