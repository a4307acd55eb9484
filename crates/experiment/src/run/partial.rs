//! The lines of an unfinished run, `<run>.partial`, and which of them are whole blocks,
//! `<run>.partial.json`. A run of a single block needs neither. One process at a time has them open:
//! another that makes the same run waits.

use crate::observer::Observer;
use clariq_core::{Error, Sha256Sum};
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

/// The lines of a run that is not finished, file by file.
pub(super) struct Partial<'a> {
    observer: &'a dyn Observer,
    parts: Vec<Part>,
    /// Whether every block stays in memory.
    in_memory: bool,
    fingerprint: String,
}

/// The lines of one of its files.
struct Part {
    path: PathBuf,
    /// Where there is more than one block.
    file: Option<File>,
    /// The blocks that stay in memory.
    memory: Vec<u8>,
    bytes: u64,
    sum: Sha256Sum,
}

#[derive(Serialize, Deserialize)]
struct State {
    /// What the lines are made by.
    made_by_sha256: String,
    /// The whole blocks of each file.
    files: Vec<Whole>,
    progress: Progress,
}

/// The whole blocks of a file.
#[derive(Serialize, Deserialize)]
struct Whole {
    bytes: u64,
    sha256: String,
}

impl<'a> Partial<'a> {
    /// Begins a run whose lines are few enough for memory. Two commands can make it at a time.
    pub(super) fn in_memory(files: &[PathBuf], observer: &'a dyn Observer) -> Self {
        Self { in_memory: true, ..Self::new(files, "", observer) }
    }

    fn new(files: &[PathBuf], fingerprint: &str, observer: &'a dyn Observer) -> Self {
        let part = |file: &PathBuf| Part {
            path: with_ending(file, ".partial"),
            file: None,
            memory: Vec::new(),
            bytes: 0,
            sum: Sha256Sum::default(),
        };
        let parts = files.iter().map(part).collect();
        Self { observer, parts, in_memory: false, fingerprint: fingerprint.to_owned() }
    }

    /// Begins anew, or continues where a killed command was; then with how far that is. The text is
    /// for the user.
    pub(super) fn open(
        files: &[PathBuf],
        fingerprint: &str,
        resume: bool,
        observer: &'a dyn Observer,
    ) -> Result<(Self, Progress, Option<String>), Error> {
        let mut partial = Self::new(files, fingerprint, observer);
        if !resume {
            return Ok((partial, Progress::default(), None));
        }
        // Read when nobody writes any more. Where there is none, reading says so.
        let opened: Vec<io::Result<File>> = partial
            .parts
            .iter()
            .map(|part| open_alone(&part.path, false, || part.wait(observer)))
            .collect();
        let (state, sums) = match partial.read_state() {
            Ok(found) => found,
            Err(why) => {
                let note = format!("note: beginning anew: {why}");
                return Ok((partial, Progress::default(), Some(note)));
            }
        };
        let wholes = state.files.into_iter().zip(sums);
        for ((part, file), (whole, sum)) in partial.parts.iter_mut().zip(opened).zip(wholes) {
            let cut = |mut file: File| {
                file.set_len(whole.bytes)?;
                file.seek(io::SeekFrom::End(0))?;
                Ok(file)
            };
            part.file = Some(file.and_then(cut).map_err(Error::io("write", &part.path))?);
            (part.bytes, part.sum) = (whole.bytes, sum);
        }
        let note = format!("note: continuing after {} requests", state.progress.requests);
        Ok((partial, state.progress, Some(note)))
    }

    /// Appends a whole block to every file. The state speaks of it once it is on the disk. The
    /// only block of a run stays in memory.
    pub(super) fn append(
        &mut self,
        lines: &[Vec<u8>],
        progress: Progress,
        only: bool,
    ) -> Result<(), Error> {
        let stays = only || self.in_memory;
        for (part, lines) in self.parts.iter_mut().zip(lines) {
            part.append(lines, stays, self.observer)?;
        }
        if self.parts.iter().all(|part| part.file.is_none()) {
            return Ok(());
        }
        let whole =
            |part: &Part| Whole { bytes: part.bytes, sha256: part.sum.checksum().to_string() };
        let state = State {
            made_by_sha256: self.fingerprint.clone(),
            files: self.parts.iter().map(whole).collect(),
            progress,
        };
        let path = self.state_path();
        write_atomically(&path, |out| Ok(serde_json::to_writer(out, &state)?))
    }

    /// Everything that was written to the file number `file`, from the beginning.
    pub(super) fn copy(&mut self, file: usize, out: &mut dyn Write) -> io::Result<()> {
        let part = &mut self.parts[file];
        match &mut part.file {
            None => out.write_all(&part.memory),
            Some(file) => {
                file.rewind()?;
                io::copy(file, out).map(drop)
            }
        }
    }

    /// Removes what is no longer needed, that of an earlier command included.
    pub(super) fn remove(&self) {
        // Without files of its own, this run has left nothing there; another may be at work.
        let has_files = self.parts.iter().any(|part| part.file.is_some());
        if self.in_memory || (!has_files && is_open_elsewhere(&self.parts[0].path)) {
            return;
        }
        // What stays is reported by `--resume`, and replaced by everything else.
        let _ = fs::remove_file(self.state_path());
        for part in &self.parts {
            let _ = fs::remove_file(&part.path);
        }
    }

    fn state_path(&self) -> PathBuf {
        with_ending(&self.parts[0].path, ".json")
    }

    /// The state of the partial files with the sums of their whole blocks, or why there is none to
    /// continue from.
    fn read_state(&self) -> Result<(State, Vec<Sha256Sum>), String> {
        let path = self.state_path();
        let Ok(text) = fs::read(&path) else {
            return Err(format!("there is no {}", path.display()));
        };
        let state: State =
            serde_json::from_slice(&text).map_err(|_| format!("{} is damaged", path.display()))?;
        if state.made_by_sha256 != self.fingerprint || state.files.len() != self.parts.len() {
            return Err("the interrupted run was made from other inputs or parameters".to_owned());
        }
        let mut sums = Vec::with_capacity(self.parts.len());
        for (part, whole) in self.parts.iter().zip(&state.files) {
            sums.push(part.check(whole)?);
        }
        Ok((state, sums))
    }
}

impl Part {
    fn append(&mut self, lines: &[u8], stays: bool, observer: &dyn Observer) -> Result<(), Error> {
        let file = match &mut self.file {
            Some(file) => file,
            None if stays => {
                self.memory.extend_from_slice(lines);
                return Ok(());
            }
            None => {
                let file = self.create(observer)?;
                self.file.insert(file)
            }
        };
        let written = file.write_all(lines).and_then(|()| file.sync_data());
        written.map_err(Error::io("write", &self.path))?;
        self.bytes += lines.len() as u64;
        self.sum.update(lines);
        Ok(())
    }

    /// The sum of the whole blocks, or why they are not as they were.
    fn check(&self, whole: &Whole) -> Result<Sha256Sum, String> {
        let path = self.path.display();
        let (sum, bytes) = sum(&self.path, whole.bytes)
            .map_err(|error| format!("{path} cannot be read: {error}"))?;
        if bytes < whole.bytes {
            return Err(format!("{path} is shorter than it was"));
        }
        if sum.checksum().as_str() != whole.sha256 {
            return Err(format!("{path} is not as it was written"));
        }
        Ok(sum)
    }

    /// Creates the partial file, and its folder where there is none.
    fn create(&self, observer: &dyn Observer) -> Result<File, Error> {
        let folder = self.path.parent().filter(|folder| !folder.as_os_str().is_empty());
        let create = || {
            folder.map_or(Ok(()), fs::create_dir_all)?;
            let file = open_alone(&self.path, true, || self.wait(observer))?;
            file.set_len(0).map(|()| file)
        };
        create().map_err(Error::io("write", &self.path))
    }

    fn wait(&self, observer: &dyn Observer) {
        let path = self.path.display();
        observer.note(&format!("note: waiting for another process, which writes {path}"));
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::observer::{Silent, Task};
    use std::sync::atomic::{AtomicBool, Ordering};
    use std::{slice, thread};

    fn state(requests: u64) -> Progress {
        Progress { requests, lines: requests, silent: 0 }
    }

    fn append(
        partial: &mut Partial,
        lines: &[u8],
        progress: Progress,
        only: bool,
    ) -> Result<(), Error> {
        partial.append(&[lines.to_vec()], progress, only)
    }

    #[test]
    fn a_single_block_touches_no_file() {
        let folder = tempfile::tempdir().unwrap();
        let (mut partial, ..) =
            Partial::open(&[folder.path().join("a.run")], "f", true, &Silent).unwrap();
        append(&mut partial, b"one\n", state(1), true).unwrap();
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
        let mut copied = Vec::new();
        partial.copy(0, &mut copied).unwrap();
        assert_eq!(copied, b"one\n");
    }

    #[test]
    fn whole_blocks_are_continued_and_damaged_ones_are_not() {
        type Damage = fn(&Path);
        let damages: [(&str, Damage); 5] = [
            ("continuing after 2 requests", |path| {
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
            let (mut partial, ..) =
                Partial::open(slice::from_ref(&run), "f", false, &Silent).unwrap();
            append(&mut partial, b"one\n", state(1), false).unwrap();
            append(&mut partial, b"two\n", state(2), false).unwrap();
            drop(partial);
            damage(&with_ending(&run, ".partial"));
            let (mut partial, progress, note) =
                Partial::open(slice::from_ref(&run), "f", true, &Silent).unwrap();
            assert!(note.as_ref().is_some_and(|note| note.contains(says)), "{says}: {note:?}");
            let continued = progress.requests == 2;
            assert_eq!(continued, says.starts_with("continuing"), "{says}");
            if !continued {
                append(&mut partial, b"one\ntwo\n", state(2), false).unwrap();
            }
            append(&mut partial, b"three\n", state(3), true).unwrap();
            let mut copied = Vec::new();
            partial.copy(0, &mut copied).unwrap();
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
            partial.copy(0, &mut copied).unwrap();
            copied
        };
        let waits = Waits(AtomicBool::new(false));
        let (mut first, ..) = Partial::open(slice::from_ref(&run), "f", false, &Silent).unwrap();
        append(&mut first, b"one\n", state(1), false).unwrap();
        // One that has begun nothing takes nothing away.
        Partial::open(slice::from_ref(&run), "f", false, &Silent).unwrap().0.remove();
        thread::scope(|scope| {
            let second = scope.spawn(|| {
                let (mut second, ..) =
                    Partial::open(slice::from_ref(&run), "f", false, &waits).unwrap();
                append(&mut second, b"uno\n", state(1), false).unwrap();
                let all = copied(&mut second);
                second.remove();
                all
            });
            while !waits.0.load(Ordering::SeqCst) {
                thread::yield_now();
            }
            append(&mut first, b"two\n", state(2), false).unwrap();
            assert_eq!(copied(&mut first), b"one\ntwo\n");
            first.remove();
            drop(first);
            assert_eq!(second.join().unwrap(), b"uno\n");
        });
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
    }

    #[test]
    fn every_file_of_a_run_is_continued_or_none() {
        let folder = tempfile::tempdir().unwrap();
        let files = ["a.json", "a.passages.run"].map(|name| folder.path().join(name));
        let two = |lines: [&str; 2]| lines.map(|lines| lines.as_bytes().to_vec());
        let (mut partial, ..) = Partial::open(&files, "f", false, &Silent).unwrap();
        partial.append(&two(["one\n", "1\n"]), state(1), false).unwrap();
        drop(partial);
        let (mut partial, progress, _) = Partial::open(&files, "f", true, &Silent).unwrap();
        assert_eq!(progress, state(1));
        partial.append(&two(["two\n", "2\n"]), state(2), true).unwrap();
        for (file, expected) in ["one\ntwo\n", "1\n2\n"].iter().enumerate() {
            let mut copied = Vec::new();
            partial.copy(file, &mut copied).unwrap();
            assert_eq!(copied, expected.as_bytes());
        }
        drop(partial);
        fs::write(with_ending(&files[1], ".partial"), "1\n3\n").unwrap();
        let (_, progress, note) = Partial::open(&files, "f", true, &Silent).unwrap();
        assert_eq!(progress, Progress::default());
        assert!(note.unwrap().contains("a.passages.run.partial is not as it was written"));
    }

    #[test]
    fn lines_of_another_maker_are_not_continued() {
        let folder = tempfile::tempdir().unwrap();
        let run = folder.path().join("a.run");
        let (mut partial, ..) = Partial::open(slice::from_ref(&run), "f", false, &Silent).unwrap();
        append(&mut partial, b"one\n", state(1), false).unwrap();
        drop(partial);
        let (_, progress, note) = Partial::open(slice::from_ref(&run), "g", true, &Silent).unwrap();
        assert_eq!(progress, Progress::default());
        assert!(note.unwrap().contains("made from other inputs"));
    }
}
