//! The lines of an unfinished run, `<run>.partial`, and which of them are whole blocks,
//! `<run>.partial.json`. A run of a single block needs neither. One process at a time has them open:
//! another that makes the same run waits.

use crate::error::Error;
use crate::observer::Observer;
use clariq_core::{Error as CoreError, Sha256Sum};
use clariq_files::{is_open_elsewhere, open_alone, write_atomically};
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
pub(super) struct Partial<'a> {
    path: PathBuf,
    observer: &'a dyn Observer,
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

impl<'a> Partial<'a> {
    /// Begins a run whose lines are few enough for memory. Two commands can make it at a time.
    pub(super) fn in_memory(run: &Path, observer: &'a dyn Observer) -> Self {
        Self { in_memory: true, ..Self::new(run, "", observer) }
    }

    fn new(run: &Path, fingerprint: &str, observer: &'a dyn Observer) -> Self {
        Self {
            path: with_ending(run, ".partial"),
            observer,
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
        observer: &'a dyn Observer,
    ) -> Result<(Self, Progress, Option<String>), Error> {
        let new = Self::new(run, fingerprint, observer);
        if !resume {
            return Ok((new, Progress::default(), None));
        }
        // Read when nobody writes any more. Where there is none, reading says so.
        let file = open_alone(&new.path, false, || new.wait());
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
        let cut = |mut file: File| {
            file.set_len(state.bytes)?;
            file.seek(io::SeekFrom::End(0))?;
            Ok(file)
        };
        let file = file.and_then(cut).map_err(refused(&new.path))?;
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
            None => {
                let file = self.create()?;
                self.file.insert(file)
            }
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
        // Without a file of its own, this run has left nothing there; another may be at work.
        if self.in_memory || (self.file.is_none() && is_open_elsewhere(&self.path)) {
            return;
        }
        for path in [&with_ending(&self.path, ".json"), &self.path] {
            // What stays is reported by `--resume`, and replaced by everything else.
            let _ = fs::remove_file(path);
        }
    }

    /// Creates the partial file, and its folder where there is none.
    fn create(&self) -> Result<File, Error> {
        let folder = self.path.parent().filter(|folder| !folder.as_os_str().is_empty());
        let create = || {
            folder.map_or(Ok(()), fs::create_dir_all)?;
            let file = open_alone(&self.path, true, || self.wait())?;
            file.set_len(0).map(|()| file)
        };
        Ok(create().map_err(refused(&self.path))?)
    }

    fn wait(&self) {
        let path = self.path.display();
        self.observer.note(&format!("note: waiting for another process, which writes {path}"));
    }
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
    use crate::observer::{Silent, Task};
    use std::sync::atomic::{AtomicBool, Ordering};
    use std::thread;

    fn state(requests: u64) -> Progress {
        Progress { requests, lines: requests, silent: 0 }
    }

    #[test]
    fn a_single_block_touches_no_file() {
        let folder = tempfile::tempdir().unwrap();
        let (mut partial, ..) =
            Partial::open(&folder.path().join("a.run"), "f", true, &Silent).unwrap();
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
            let (mut partial, ..) = Partial::open(&run, "f", false, &Silent).unwrap();
            partial.append(b"one\n", state(1), false).unwrap();
            partial.append(b"two\n", state(2), false).unwrap();
            drop(partial);
            damage(&with_ending(&run, ".partial"));
            let (mut partial, progress, note) = Partial::open(&run, "f", true, &Silent).unwrap();
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

    /// Hears that something is waited for.
    struct Waits(AtomicBool);

    impl Observer for Waits {
        fn note(&self, text: &str) {
            assert!(text.starts_with("note: waiting for another process"), "{text}");
            self.0.store(true, Ordering::SeqCst);
        }

        fn detail(&self, _text: &str) {}

        fn begin(&self, _name: &str, _steps: Option<u64>) -> Box<dyn Task> {
            Box::new(Silent)
        }
    }

    #[test]
    fn two_that_make_one_run_do_not_mix_their_lines() {
        let folder = tempfile::tempdir().unwrap();
        let run = folder.path().join("a.run");
        let copied = |partial: &mut Partial| {
            let mut copied = Vec::new();
            partial.copy(&mut copied).unwrap();
            copied
        };
        let waits = Waits(AtomicBool::new(false));
        let (mut first, ..) = Partial::open(&run, "f", false, &Silent).unwrap();
        first.append(b"one\n", state(1), false).unwrap();
        // One that has begun nothing takes nothing away.
        Partial::open(&run, "f", false, &Silent).unwrap().0.remove();
        thread::scope(|scope| {
            let second = scope.spawn(|| {
                let (mut second, ..) = Partial::open(&run, "f", false, &waits).unwrap();
                second.append(b"uno\n", state(1), false).unwrap();
                let all = copied(&mut second);
                second.remove();
                all
            });
            while !waits.0.load(Ordering::SeqCst) {
                thread::yield_now();
            }
            first.append(b"two\n", state(2), false).unwrap();
            assert_eq!(copied(&mut first), b"one\ntwo\n");
            first.remove();
            drop(first);
            assert_eq!(second.join().unwrap(), b"uno\n");
        });
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
    }

    #[test]
    fn lines_of_another_maker_are_not_continued() {
        let folder = tempfile::tempdir().unwrap();
        let run = folder.path().join("a.run");
        let (mut partial, ..) = Partial::open(&run, "f", false, &Silent).unwrap();
        partial.append(b"one\n", state(1), false).unwrap();
        drop(partial);
        let (_, progress, note) = Partial::open(&run, "g", true, &Silent).unwrap();
        assert_eq!(progress, Progress::default());
        assert!(note.unwrap().contains("made from other inputs"));
    }
}
