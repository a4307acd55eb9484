//! The lines of an unfinished run, `<run>.partial`, and which of them are whole blocks,
//! `<run>.partial.json`. A run of a single block needs neither. One process at a time has them open:
//! another that makes the same run waits.
//!
//! A file of such a name is replaced or removed only if it is what an interrupted run left: the
//! state is one, and every file begins with the blocks that it names. So the state is there before
//! the first line, and forgets the lines before they are removed.

use crate::record::MOST_OF_A_RECORD;
use clariq_core::{
    Error, Observer, Problem, Result, Sha256Sum, open_regular, problem, read_regular,
};
use clariq_files::{is_open_elsewhere, open_alone, refuse_input, with_ending, write_atomically};
use serde::{Deserialize, Serialize};
use std::fs::{self, File};
use std::io::{self, Read, Seek, Write};
use std::path::{Path, PathBuf};

/// How far a run is.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Progress {
    /// Requests that were ranked.
    pub requests: u64,
    /// Lines that were written for them.
    pub lines: u64,
    /// Requests for which nothing was left to rank.
    pub silent: u64,
}

/// The lines of a run that is not finished, file by file.
pub(super) struct Partial<'a> {
    observer: &'a dyn Observer,
    parts: Vec<Part>,
    fingerprint: String,
}

/// The lines of one of its files.
#[derive(Default)]
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
#[serde(deny_unknown_fields)]
struct State {
    made_by_sha256: String,
    files: Vec<Whole>,
    progress: Progress,
}

/// A state, with the sums of its whole blocks where no file is gone.
type Found = (State, Option<Vec<Sha256Sum>>);

#[derive(Serialize, Deserialize)]
struct Whole {
    bytes: u64,
    sha256: String,
}

impl<'a> Partial<'a> {
    /// Begins a run of which nothing is there; two commands can, if all of its blocks stay in
    /// memory.
    pub(super) fn new(files: &[PathBuf], fingerprint: &str, observer: &'a dyn Observer) -> Self {
        let part = |file: &PathBuf| Part { path: with_ending(file, ".partial"), ..Part::default() };
        let parts = files.iter().map(part).collect();
        Self { observer, parts, fingerprint: fingerprint.to_owned() }
    }

    /// Begins anew, or continues where a killed command was, with how far that is and a note.
    ///
    /// # Errors
    ///
    /// A file of one of the names that is no part of an interrupted run, or an input.
    pub(super) fn open(
        files: &[PathBuf],
        fingerprint: &str,
        resume: bool,
        observer: &'a dyn Observer,
    ) -> Result<(Self, Progress, Option<String>)> {
        let mut partial = Self::new(files, fingerprint, observer);
        if !resume {
            // What another process is writing is looked at when it has finished.
            if !is_open_elsewhere(&partial.parts[0].path) {
                partial.find()?;
            }
            return Ok((partial, Progress::default(), None));
        }
        // Read when nobody writes any more.
        let opened = partial.open_files(false)?;
        let anew = |partial, why: &str| {
            Ok((partial, Progress::default(), Some(format!("note: beginning anew: {why}"))))
        };
        let Some((state, sums)) = partial.find()? else {
            let why = format!("there is no {}", partial.state_path().display());
            return anew(partial, &why);
        };
        if state.made_by_sha256 != fingerprint || state.files.len() != files.len() {
            let why = "the interrupted run was made from other inputs or parameters";
            return anew(partial, why);
        }
        let Some(sums) = sums.filter(|_| opened.iter().all(Option::is_some)) else {
            return anew(partial, "its lines are gone");
        };
        let files = opened.into_iter().flatten();
        for ((part, mut file), (whole, sum)) in
            partial.parts.iter_mut().zip(files).zip(state.files.iter().zip(sums))
        {
            let cut = file.set_len(whole.bytes).and_then(|()| file.seek(io::SeekFrom::End(0)));
            cut.map_err(Error::io("write", &part.path))?;
            (part.file, part.bytes, part.sum) = (Some(file), whole.bytes, sum);
        }
        let note = format!("note: continuing after {} requests", state.progress.requests);
        Ok((partial, state.progress, Some(note)))
    }

    /// Appends a whole block to every file. The state speaks of it once it is on the disk. The
    /// only block of a run stays in memory, and so does every block that is said to be one.
    pub(super) fn append(
        &mut self,
        lines: &[Vec<u8>],
        progress: Progress,
        only: bool,
    ) -> Result<()> {
        if !self.has_files() {
            if only {
                let parts = self.parts.iter_mut().zip(lines);
                parts.for_each(|(part, lines)| part.memory.extend_from_slice(lines));
                return Ok(());
            }
            self.create()?;
        }
        for (part, lines) in self.parts.iter_mut().zip(lines) {
            part.append(lines)?;
        }
        self.write_state(progress)
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
    pub(super) fn remove(&mut self) {
        if !self.has_files() {
            // Without files of its own, this run has left nothing there; another may be at work.
            if is_open_elsewhere(&self.parts[0].path) {
                return;
            }
            if !matches!(self.find(), Ok(Some(_))) || self.create().is_err() {
                return;
            }
        }
        // What stays is reported by `--resume`, and replaced by everything else.
        let _ = self.clear();
        let _ = fs::remove_file(self.state_path());
        for part in &self.parts {
            let _ = fs::remove_file(&part.path);
        }
    }

    fn has_files(&self) -> bool {
        self.parts.iter().all(|part| part.file.is_some())
    }

    /// Opens the files, empty, and their folder where there is none.
    fn create(&mut self) -> Result<()> {
        let path = &self.parts[0].path;
        let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
        folder.map_or(Ok(()), fs::create_dir_all).map_err(Error::io("write", path))?;
        let files = self.open_files(true)?;
        // Now nobody else changes them.
        self.find()?;
        self.parts.iter_mut().zip(files).for_each(|(part, file)| part.file = file);
        self.clear()
    }

    /// Each file, where there is one or `create` makes it, when no other process has it open.
    fn open_files(&self, create: bool) -> Result<Vec<Option<File>>> {
        let open = |part: &Part| {
            check_kind(&part.path)?;
            let wait = || {
                let path = part.path.display();
                let text = format!("note: waiting for another process, which writes {path}");
                self.observer.note(&text);
            };
            match open_alone(&part.path, create, wait) {
                Err(error) if error.kind() == io::ErrorKind::NotFound && !create => Ok(None),
                file => file.map(Some).map_err(Error::io("write", &part.path)),
            }
        };
        self.parts.iter().map(open).collect()
    }

    /// Forgets every line: first the state, then the files.
    fn clear(&mut self) -> Result<()> {
        for part in &mut self.parts {
            (part.bytes, part.sum) = (0, Sha256Sum::default());
        }
        self.write_state(Progress::default())?;
        for Part { path, file, .. } in &self.parts {
            let cleared = file.as_ref().map_or(Ok(()), |file| file.set_len(0));
            cleared.map_err(Error::io("write", path))?;
        }
        Ok(())
    }

    fn write_state(&self, progress: Progress) -> Result<()> {
        let whole =
            |part: &Part| Whole { bytes: part.bytes, sha256: part.sum.checksum().to_string() };
        let files = self.parts.iter().map(whole).collect();
        let state = State { made_by_sha256: self.fingerprint.clone(), files, progress };
        write_atomically(&self.state_path(), |out| Ok(serde_json::to_writer(out, &state)?))
    }

    fn state_path(&self) -> PathBuf {
        with_ending(&self.parts[0].path, ".json")
    }

    /// What an interrupted run left, with the sums of its whole blocks where no file is gone, if it
    /// left anything. Whatever else has one of the names is an error.
    fn find(&self) -> Result<Option<Found>> {
        let path = self.state_path();
        let mut state: Option<State> = None;
        if check_kind(&path)?.is_some() {
            let text = read_regular(&path, MOST_OF_A_RECORD).unwrap_or_default();
            state =
                Some(serde_json::from_slice(&text).map_err(|_| stranger(&path, "no such state"))?);
        }
        let wholes = state.iter().flat_map(|state| &state.files).map(Some);
        let wholes = wholes.chain(std::iter::repeat(None));
        let sums = self.parts.iter().zip(wholes).map(|(part, whole)| part.check(whole));
        let sums = sums.collect::<Result<Vec<_>, _>>()?.into_iter().collect();
        Ok(state.map(|state| (state, sums)))
    }
}

impl Part {
    fn append(&mut self, lines: &[u8]) -> Result<()> {
        if let Some(file) = &mut self.file {
            let written = file.write_all(lines).and_then(|()| file.sync_data());
            written.map_err(Error::io("write", &self.path))?;
        }
        self.bytes += lines.len() as u64;
        self.sum.update(lines);
        Ok(())
    }

    /// The sum of the whole blocks, where the file is not gone. Without any, it may have no lines.
    fn check(&self, whole: Option<&Whole>) -> Result<Option<Sha256Sum>> {
        // No file is as good as an empty one.
        let (path, length) = (&self.path, check_kind(&self.path)?.unwrap_or_default());
        let Some(whole) = whole.filter(|whole| whole.bytes > 0) else {
            // Behind a state of no blocks are the lines of one that was not complete.
            if whole.is_none() && length > 0 {
                return Err(stranger(path, "a file without a state beside it").into());
            }
            return Ok(Some(Sha256Sum::default()));
        };
        if length == 0 {
            return Ok(None);
        }
        let sum = sum(path, whole.bytes).map_err(Error::io("read", path))?;
        if length < whole.bytes {
            return Err(stranger(path, "a file that is shorter than it was").into());
        }
        if sum.checksum().as_str() != whole.sha256 {
            return Err(stranger(path, "a file that is not as it was written").into());
        }
        Ok(Some(sum))
    }
}

/// How long a file is, where there is one, which must be a regular one and no input.
fn check_kind(path: &Path) -> Result<Option<u64>> {
    match fs::symlink_metadata(path) {
        Ok(found) if !found.is_file() => {
            Err(stranger(path, "a link, a folder or another special file").into())
        }
        Ok(found) => refuse_input(path).map(|()| Some(found.len())),
        Err(_) => Ok(None),
    }
}

/// A file that no run left there, or that was changed since.
fn stranger(path: &Path, found: &str) -> Problem {
    let expected = "nothing, or what an interrupted run left";
    let hint = format!(
        "move {} away or remove it, if nobody needs it, or write the run to another file",
        path.display()
    );
    problem!(path, expected, found, hint)
}

fn sum(path: &Path, bytes: u64) -> io::Result<Sha256Sum> {
    let mut file = open_regular(path)?.take(bytes);
    let (mut sum, mut buffer) = (Sha256Sum::default(), vec![0; 1 << 16]);
    loop {
        match file.read(&mut buffer)? {
            0 => return Ok(sum),
            count => sum.update(&buffer[..count]),
        }
    }
}

/// Every file that [`Partial`] may write for these files of a run.
pub(super) fn paths_of(files: &[PathBuf]) -> Vec<PathBuf> {
    let parts = files.iter().map(|file| with_ending(file, ".partial"));
    parts.chain(files.first().map(|file| with_ending(file, ".partial.json"))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use clariq_core::{Silent, Task};
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
            ("", |path| {
                let mut file = File::options().append(true).open(path).unwrap();
                file.write_all(b"half a li").unwrap();
            }),
            ("is not as it was written", |path| {
                let mut bytes = fs::read(path).unwrap();
                bytes[2] ^= 1;
                fs::write(path, bytes).unwrap();
            }),
            ("is shorter than it was", |path| fs::write(path, "on").unwrap()),
            ("gone", |path| fs::remove_file(path).unwrap()),
            ("no such state", |path| fs::write(with_ending(path, ".json"), "{").unwrap()),
        ];
        for (says, damage) in damages {
            let folder = tempfile::tempdir().unwrap();
            let run = folder.path().join("new/a.run");
            let open = |resume| Partial::open(slice::from_ref(&run), "f", resume, &Silent);
            let (mut partial, ..) = open(false).unwrap();
            append(&mut partial, b"one\n", state(1), false).unwrap();
            append(&mut partial, b"two\n", state(2), false).unwrap();
            drop(partial);
            damage(&with_ending(&run, ".partial"));
            if says == "gone" {
                let (_, progress, note) = open(true).unwrap();
                assert!(note.is_some_and(|note| note.contains("anew: its lines are gone")));
                assert_eq!(progress, Progress::default());
                append(&mut open(false).unwrap().0, b"one\n", state(1), false).unwrap();
                continue;
            }
            if !says.is_empty() {
                for resume in [false, true] {
                    let error = open(resume).map(drop).unwrap_err().to_string();
                    assert!(error.contains(says) && error.contains("a.run.partial"), "{error}");
                }
                continue;
            }
            let (mut partial, progress, note) = open(true).unwrap();
            assert!(note.is_some_and(|note| note.contains("continuing after 2 requests")));
            assert_eq!(progress.requests, 2);
            append(&mut partial, b"three\n", state(3), true).unwrap();
            let mut copied = Vec::new();
            partial.copy(0, &mut copied).unwrap();
            assert_eq!(copied, b"one\ntwo\nthree\n");
            partial.remove();
            assert_eq!(fs::read_dir(folder.path().join("new")).unwrap().count(), 0);
        }
    }

    #[cfg(unix)]
    #[test]
    fn inputs_destroyed_by_names_of_partial_files_no_more() {
        let folder = tempfile::tempdir().unwrap();
        let (run, mine) = (folder.path().join("a.run"), folder.path().join("mine"));
        fs::write(&mine, "mine").unwrap();
        for (ending, is_link) in [
            (".partial", false),
            (".partial", true),
            (".partial.json", false),
            (".partial.json", true),
        ] {
            let path = with_ending(&run, ending);
            let open = |resume| Partial::open(slice::from_ref(&run), "f", resume, &Silent);
            // There when the run begins, or made while it ranks its first block.
            let (mut late, ..) = open(false).unwrap();
            if is_link {
                std::os::unix::fs::symlink(&mine, &path).unwrap();
            } else {
                fs::write(&path, "mine").unwrap();
            }
            for resume in [false, true] {
                let error = open(resume).map(drop).unwrap_err().to_problem();
                assert!(error.hint.contains(ending), "{ending}");
            }
            append(&mut late, b"one\n", state(1), false).unwrap_err();
            late.remove();
            for path in [&path, &mine] {
                assert_eq!(fs::read_to_string(path).unwrap(), "mine", "{ending} {is_link}");
            }
            fs::remove_file(&path).unwrap();
            let _ = fs::remove_file(with_ending(&run, ".partial"));
        }
    }

    #[test]
    fn a_run_whose_empty_file_is_gone_begins_anew() {
        let folder = tempfile::tempdir().unwrap();
        let files = ["a.json", "a.passages.run"].map(|name| folder.path().join(name));
        let open = |resume| Partial::open(&files, "f", resume, &Silent).unwrap();
        let lines = |first: &str| [first.as_bytes().to_vec(), Vec::new()];
        open(false).0.append(&lines("one\n"), state(1), false).unwrap();
        fs::remove_file(with_ending(&files[1], ".partial")).unwrap();
        let (mut partial, progress, note) = open(true);
        assert!(note.is_some_and(|note| note.contains("anew: its lines are gone")));
        assert_eq!(progress, Progress::default());
        partial.append(&lines("one\n"), state(1), false).unwrap();
        let mut copied = Vec::new();
        partial.copy(0, &mut copied).unwrap();
        assert_eq!(copied, b"one\n");
    }

    #[test]
    fn what_a_killed_run_left_is_replaced_wherever_it_was_killed() {
        let folder = tempfile::tempdir().unwrap();
        let run = folder.path().join("a.run");
        let open = || Partial::open(slice::from_ref(&run), "f", false, &Silent).unwrap().0;
        let killed: [fn(&mut Partial); 4] = [
            |partial| drop(partial.open_files(true).unwrap()),
            |partial| partial.create().unwrap(),
            |partial| append(partial, b"one\n", state(1), false).unwrap(),
            |partial| {
                append(partial, b"one\n", state(1), false).unwrap();
                partial.parts[0].append(b"two").unwrap();
            },
        ];
        for kill in killed {
            kill(&mut open());
            let mut again = open();
            append(&mut again, b"uno\n", state(1), false).unwrap();
            let mut copied = Vec::new();
            again.copy(0, &mut copied).unwrap();
            assert_eq!(copied, b"uno\n");
            drop(again);
            // A run of a single block removes what another left.
            let mut single = open();
            append(&mut single, b"one\n", state(1), true).unwrap();
            single.remove();
            assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
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
        let error = Partial::open(&files, "f", true, &Silent).map(drop).unwrap_err().to_string();
        assert!(error.contains("a.passages.run.partial"), "{error}");
        assert!(error.contains("is not as it was written"), "{error}");
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
