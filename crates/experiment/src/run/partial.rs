//! The lines of an unfinished run, `<run>.partial`, and which of them are whole blocks,
//! `<run>.partial.json`. A run of a single block needs neither.

use crate::error::Error;
use clariq_core::{Error as CoreError, Sha256Sum};
use clariq_files::write_atomically;
use serde::{Deserialize, Serialize};
use std::fs::{self, File};
use std::io::{self, Read, Seek, Write};
use std::path::{Path, PathBuf};

/// How far a run is.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Progress {
    /// Requests that are done.
    pub(super) requests: u64,
    /// Lines that were written for them.
    pub(super) lines: u64,
    /// Requests for which nothing was left to rank.
    pub(super) silent: u64,
}

/// The lines of a run that is not finished.
pub(super) struct Partial {
    path: PathBuf,
    /// Where there is more than one block.
    file: Option<File>,
    /// Whether every block stays in memory.
    in_memory: bool,
    /// The blocks that do.
    memory: Vec<u8>,
    bytes: u64,
    sum: Sha256Sum,
    fingerprint: String,
}

#[derive(Serialize, Deserialize)]
struct State {
    /// What the lines are made by.
    made_by_sha256: String,
    /// How many bytes of the partial file are whole blocks.
    bytes: u64,
    /// The SHA-256 of these bytes.
    sha256: String,
    progress: Progress,
}

impl Partial {
    /// Begins a run whose lines are few enough for memory. Two commands can make it at a time.
    pub(super) fn in_memory(run: &Path) -> Self {
        Self { in_memory: true, ..Self::new(run, "") }
    }

    fn new(run: &Path, fingerprint: &str) -> Self {
        Self {
            path: with_ending(run, ".partial"),
            file: None,
            in_memory: false,
            memory: Vec::new(),
            bytes: 0,
            sum: Sha256Sum::default(),
            fingerprint: fingerprint.to_owned(),
        }
    }

    /// Begins anew, or continues where a killed command was; then with how far that is. The text is
    /// for the user.
    pub(super) fn open(
        run: &Path,
        fingerprint: &str,
        resume: bool,
    ) -> Result<(Self, Progress, Option<String>), Error> {
        let new = Self::new(run, fingerprint);
        if !resume {
            return Ok((new, Progress::default(), None));
        }
        let (state, sum) = match State::read(&new.path, fingerprint) {
            Ok(found) => found,
            Err(why) => {
                return Ok((
                    new,
                    Progress::default(),
                    Some(format!("note: beginning anew: {why}")),
                ));
            }
        };
        let open = || {
            let mut file = File::options().read(true).write(true).open(&new.path)?;
            file.set_len(state.bytes)?;
            file.seek(io::SeekFrom::End(0))?;
            Ok(file)
        };
        let file = open().map_err(refused(&new.path))?;
        let note = format!("note: going on after {} requests", state.progress.requests);
        let partial = Self { file: Some(file), bytes: state.bytes, sum, ..new };
        Ok((partial, state.progress, Some(note)))
    }

    /// Appends a whole block. The state speaks of it once it is on the disk. The only
    /// block of a run stays in memory.
    pub(super) fn append(
        &mut self,
        lines: &[u8],
        progress: Progress,
        only: bool,
    ) -> Result<(), Error> {
        let file = match &mut self.file {
            Some(file) => file,
            None if only || self.in_memory => {
                self.memory.extend_from_slice(lines);
                return Ok(());
            }
            None => self.file.insert(create(&self.path)?),
        };
        let written = file.write_all(lines).and_then(|()| file.sync_data());
        written.map_err(refused(&self.path))?;
        self.bytes += lines.len() as u64;
        self.sum.update(lines);
        let state = State {
            made_by_sha256: self.fingerprint.clone(),
            bytes: self.bytes,
            sha256: self.sum.checksum().to_string(),
            progress,
        };
        let path = with_ending(&self.path, ".json");
        Ok(write_atomically(&path, |out| Ok(serde_json::to_writer(out, &state)?))?)
    }

    /// Everything that was written, from the beginning.
    pub(super) fn copy(&mut self, out: &mut dyn Write) -> io::Result<()> {
        match &mut self.file {
            None => out.write_all(&self.memory),
            Some(file) => {
                file.rewind()?;
                io::copy(file, out).map(drop)
            }
        }
    }

    /// Removes what is no longer needed, that of an earlier command included.
    pub(super) fn remove(&self) {
        if self.in_memory {
            return;
        }
        for path in [&with_ending(&self.path, ".json"), &self.path] {
            // What stays is reported by `--resume`, and replaced by everything else.
            let _ = fs::remove_file(path);
        }
    }
}

/// Creates the partial file, and its folder where there is none.
fn create(path: &Path) -> Result<File, Error> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    let create = || {
        folder.map_or(Ok(()), fs::create_dir_all)?;
        File::options().create(true).truncate(true).read(true).write(true).open(path)
    };
    Ok(create().map_err(refused(path))?)
}

impl State {
    /// The state of a partial file with the sum of its whole blocks, or why there is none to
    /// continue from.
    fn read(partial: &Path, fingerprint: &str) -> Result<(Self, Sha256Sum), String> {
        let path = with_ending(partial, ".json");
        let Ok(text) = fs::read(&path) else {
            return Err(format!("there is no {}", path.display()));
        };
        let state: Self =
            serde_json::from_slice(&text).map_err(|_| format!("{} is damaged", path.display()))?;
        if state.made_by_sha256 != fingerprint {
            return Err("the interrupted run was made from other inputs or parameters".to_owned());
        }
        let (sum, bytes) = sum(partial, state.bytes)
            .map_err(|error| format!("{} cannot be read: {error}", partial.display()))?;
        if bytes < state.bytes {
            return Err(format!("{} is shorter than it was", partial.display()));
        }
        if sum.checksum().as_str() != state.sha256 {
            return Err(format!("{} is not as it was written", partial.display()));
        }
        Ok((state, sum))
    }
}

/// The sum of the first `bytes` of a file, and how many of them there are.
fn sum(path: &Path, bytes: u64) -> io::Result<(Sha256Sum, u64)> {
    let mut file = File::open(path)?.take(bytes);
    let (mut sum, mut buffer, mut read) = (Sha256Sum::default(), vec![0; 1 << 16], 0);
    loop {
        match file.read(&mut buffer)? {
            0 => return Ok((sum, read)),
            count => {
                sum.update(&buffer[..count]);
                read += count as u64;
            }
        }
    }
}

fn with_ending(path: &Path, ending: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(ending);
    PathBuf::from(name)
}

fn refused(path: &Path) -> impl Fn(io::Error) -> CoreError {
    move |source| CoreError::Io { action: "write", path: path.to_owned(), source }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn state(requests: u64) -> Progress {
        Progress { requests, lines: requests, silent: 0 }
    }

    #[test]
    fn a_single_block_touches_no_file() {
        let folder = tempfile::tempdir().unwrap();
        let (mut partial, ..) = Partial::open(&folder.path().join("a.run"), "f", true).unwrap();
        partial.append(b"one\n", state(1), true).unwrap();
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
        let mut copied = Vec::new();
        partial.copy(&mut copied).unwrap();
        assert_eq!(copied, b"one\n");
    }

    #[test]
    fn whole_blocks_are_continued_and_damaged_ones_are_not() {
        type Damage = fn(&Path);
        let damages: [(&str, Damage); 5] = [
            ("going on after 2 requests", |path| {
                let mut file = File::options().append(true).open(path).unwrap();
                file.write_all(b"half a li").unwrap();
            }),
            ("is not as it was written", |path| {
                let mut bytes = fs::read(path).unwrap();
                bytes[2] ^= 1;
                fs::write(path, bytes).unwrap();
            }),
            ("is shorter than it was", |path| fs::write(path, "on").unwrap()),
            ("cannot be read", |path| fs::remove_file(path).unwrap()),
            ("is damaged", |path| fs::write(with_ending(path, ".json"), "{").unwrap()),
        ];
        for (says, damage) in damages {
            let folder = tempfile::tempdir().unwrap();
            let run = folder.path().join("new/a.run");
            let (mut partial, ..) = Partial::open(&run, "f", false).unwrap();
            partial.append(b"one\n", state(1), false).unwrap();
            partial.append(b"two\n", state(2), false).unwrap();
            damage(&with_ending(&run, ".partial"));
            let (mut partial, progress, note) = Partial::open(&run, "f", true).unwrap();
            assert!(note.as_ref().is_some_and(|note| note.contains(says)), "{says}: {note:?}");
            let continued = progress.requests == 2;
            assert_eq!(continued, says.starts_with("going on"), "{says}");
            if !continued {
                partial.append(b"one\ntwo\n", state(2), false).unwrap();
            }
            partial.append(b"three\n", state(3), true).unwrap();
            let mut copied = Vec::new();
            partial.copy(&mut copied).unwrap();
            assert_eq!(copied, b"one\ntwo\nthree\n", "{says}");
            partial.remove();
            assert_eq!(fs::read_dir(folder.path().join("new")).unwrap().count(), 0);
        }
    }

    #[test]
    fn lines_of_another_maker_are_not_continued() {
        let folder = tempfile::tempdir().unwrap();
        let run = folder.path().join("a.run");
        let (mut partial, ..) = Partial::open(&run, "f", false).unwrap();
        partial.append(b"one\n", state(1), false).unwrap();
        let (_, progress, note) = Partial::open(&run, "g", true).unwrap();
        assert_eq!(progress, Progress::default());
        assert!(note.unwrap().contains("made from other inputs"));
    }
}
