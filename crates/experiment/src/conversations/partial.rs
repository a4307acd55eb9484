//! The lines of an unfinished run, `<run>.partial`, and which of them are whole blocks,
//! `<run>.partial.json`.

use clariq_core::Error;
use clariq_files::{refuse_input, write_atomically};
use serde::{Deserialize, Serialize};
use std::fs::{self, File};
use std::io::{self, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

/// How far a run is.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Progress {
    /// Contexts of the file that are done.
    pub(super) contexts: u64,
    /// Lines that were written for them.
    pub(super) lines: u64,
    /// Contexts for which no question was left.
    pub(super) silent: u64,
}

/// The lines of a run that is not finished.
pub(super) struct Partial {
    path: PathBuf,
    file: File,
    bytes: u64,
    fingerprint: String,
}

#[derive(Serialize, Deserialize)]
struct State {
    /// What the lines are made by.
    made_by_sha256: String,
    /// How many bytes of the partial file are whole blocks.
    bytes: u64,
    progress: Progress,
}

impl Partial {
    /// Begins anew, or goes on where a killed command was; then with how far that is. The text is for the user.
    pub(super) fn open(
        run: &Path,
        fingerprint: &str,
        resume: bool,
    ) -> Result<(Self, Progress, Option<String>), Error> {
        // Before any work is done and anything is left beside the run.
        refuse_input(run)?;
        let path = with_ending(run, ".partial");
        if let Some(folder) = path.parent().filter(|folder| !folder.as_os_str().is_empty()) {
            fs::create_dir_all(folder).map_err(refused(&path))?;
        }
        let found = if resume { State::read(&path, fingerprint) } else { Err(None) };
        let (state, said) = match found {
            Ok(state) => {
                let said = format!("note: going on after {} contexts", state.progress.contexts);
                (state, Some(said))
            }
            Err(why) => {
                let state = State {
                    made_by_sha256: String::new(),
                    bytes: 0,
                    progress: Progress::default(),
                };
                (state, why.map(|why| format!("note: beginning anew: {why}")))
            }
        };
        let mut options = File::options();
        let mut file = options
            .create(true)
            .truncate(false)
            .read(true)
            .write(true)
            .open(&path)
            .map_err(refused(&path))?;
        file.set_len(state.bytes).map_err(refused(&path))?;
        file.seek(SeekFrom::Start(state.bytes)).map_err(refused(&path))?;
        Ok((
            Self { path, file, bytes: state.bytes, fingerprint: fingerprint.to_owned() },
            state.progress,
            said,
        ))
    }

    /// Appends a whole block. The state speaks of it once it is on the disk.
    pub(super) fn append(&mut self, lines: &[u8], progress: Progress) -> Result<(), Error> {
        self.file
            .write_all(lines)
            .and_then(|()| self.file.sync_data())
            .map_err(refused(&self.path))?;
        self.bytes += lines.len() as u64;
        let state = State { made_by_sha256: self.fingerprint.clone(), bytes: self.bytes, progress };
        let path = with_ending(&self.path, ".json");
        write_atomically(&path, |out| Ok(serde_json::to_writer(out, &state)?))
    }

    /// Everything that was written, from the beginning.
    pub(super) fn copy(&mut self, out: &mut dyn Write) -> io::Result<()> {
        self.file.rewind()?;
        io::copy(&mut self.file, out).map(drop)
    }

    /// Nobody needs it any more.
    pub(super) fn remove(&self) {
        for path in [&with_ending(&self.path, ".json"), &self.path] {
            // A file that stays is told of by `--resume`, and written over by everything else.
            let _ = fs::remove_file(path);
        }
    }
}

impl State {
    /// The state of a partial file, or why there is none to go on from.
    fn read(partial: &Path, fingerprint: &str) -> Result<Self, Option<String>> {
        let path = with_ending(partial, ".json");
        let Ok(text) = fs::read(&path) else {
            return Err(Some(format!("there is no {}", path.display())));
        };
        let state: Self = serde_json::from_slice(&text)
            .map_err(|_| Some(format!("{} is damaged", path.display())))?;
        if state.made_by_sha256 != fingerprint {
            return Err(Some(
                "the interrupted run was made from other inputs or parameters".to_owned(),
            ));
        }
        match fs::metadata(partial) {
            Ok(found) if found.len() >= state.bytes => Ok(state),
            _ => Err(Some(format!("{} is shorter than it was", partial.display()))),
        }
    }
}

fn with_ending(path: &Path, ending: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(ending);
    PathBuf::from(name)
}

fn refused(path: &Path) -> impl Fn(io::Error) -> Error {
    move |source| Error::Io { action: "write", path: path.to_owned(), source }
}
