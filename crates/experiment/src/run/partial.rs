//! The blocks of an unfinished run, `<run>.partial`: a line that says what makes the run, and for
//! every block a line with its sizes and its checksum, and behind it what the block adds to each
//! file of the run. A run of a single block needs none. One process at a time has it open: another
//! that makes the same run waits.
//!
//! A file of that name is replaced or removed only if it is what an interrupted run left: it begins
//! with such a line, and every block is as it was written. The last one need not be whole.

use crate::record::MOST_OF_A_RECORD;
use clariq_core::{
    Error, Observer, Problem, Result, open_regular, problem, sha256, sha256_of_stream,
};
use clariq_files::{is_open_elsewhere, open_alone, refuse_input, with_ending};
use serde::{Deserialize, Serialize};
use std::fs::{self, File};
use std::io::{self, BufRead, BufReader, Read, Seek, SeekFrom, Write};
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

/// The blocks of a run that is not finished.
pub(super) struct Partial<'a> {
    observer: &'a dyn Observer,
    path: PathBuf,
    fingerprint: String,
    /// Where there is more than one block.
    file: Option<File>,
    blocks: Vec<Block>,
    /// By file of the run, the blocks that stay in memory.
    memory: Vec<Vec<u8>>,
}

/// How the first line begins.
const HEAD: &[u8] = b"{\"made_by_sha256\":\"";

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Head {
    made_by_sha256: String,
}

/// A block in the file.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Block {
    progress: Progress,
    /// By file of the run.
    bytes: Vec<u64>,
    sha256: String,
    /// Where it begins, behind its line.
    #[serde(skip)]
    start: u64,
}

/// What made an interrupted run, its whole blocks, and where they end.
type Found = (String, Vec<Block>, u64);

impl<'a> Partial<'a> {
    /// Begins a run of which nothing is there; two commands can, if all of its blocks stay in
    /// memory.
    pub(super) fn new(files: &[PathBuf], fingerprint: &str, observer: &'a dyn Observer) -> Self {
        let (path, fingerprint) = (path_of(&files[0]), fingerprint.to_owned());
        let memory = vec![Vec::new(); files.len()];
        Self { observer, path, fingerprint, file: None, blocks: Vec::new(), memory }
    }

    /// Begins anew, or continues where a killed command was, with how far that is and a note.
    ///
    /// # Errors
    ///
    /// A file of that name that is no part of an interrupted run, or an input.
    pub(super) fn open(
        files: &[PathBuf],
        fingerprint: &str,
        resume: bool,
        observer: &'a dyn Observer,
    ) -> Result<(Self, Progress, Option<String>)> {
        let mut partial = Self::new(files, fingerprint, observer);
        if !resume {
            // What another process is writing is looked at when it has finished.
            if !is_open_elsewhere(&partial.path) {
                partial.find()?;
            }
            return Ok((partial, Progress::default(), None));
        }
        // Read when nobody writes any more.
        let file = partial.open_file(false)?;
        let anew = |partial, why: &str| {
            Ok((partial, Progress::default(), Some(format!("note: beginning anew: {why}"))))
        };
        let Some((mut file, (made_by, blocks, end))) = file.zip(partial.find()?) else {
            let why = format!("there is no {}", partial.path.display());
            return anew(partial, &why);
        };
        if made_by != fingerprint || blocks.iter().any(|block| block.bytes.len() != files.len()) {
            let why = "the interrupted run was made from other inputs or parameters";
            return anew(partial, why);
        }
        let cut = file.set_len(end).and_then(|()| file.seek(SeekFrom::End(0)));
        cut.map_err(Error::io("write", &partial.path))?;
        let progress = blocks.last().map_or_else(Progress::default, |block| block.progress);
        (partial.file, partial.blocks) = (Some(file), blocks);
        let note = format!("note: continuing after {} requests", progress.requests);
        Ok((partial, progress, Some(note)))
    }

    /// Appends what a block adds to each file. The only block of a run stays in memory, and so does
    /// every block that is said to be one.
    pub(super) fn append(
        &mut self,
        lines: &[Vec<u8>],
        progress: Progress,
        only: bool,
    ) -> Result<()> {
        if self.file.is_none() {
            if only {
                let all = self.memory.iter_mut().zip(lines);
                all.for_each(|(memory, lines)| memory.extend_from_slice(lines));
                return Ok(());
            }
            self.create()?;
        }
        let Some(file) = &mut self.file else { return Ok(()) };
        let bytes = lines.iter().map(|lines| lines.len() as u64).collect();
        let sha256 = sha256(lines.iter().map(Vec::as_slice)).to_string();
        let mut block = Block { progress, bytes, sha256, start: 0 };
        let mut write = || {
            put_line(file, &block)?;
            block.start = file.stream_position()?;
            lines.iter().try_for_each(|lines| file.write_all(lines))?;
            file.sync_data()
        };
        write().map_err(Error::io("write", &self.path))?;
        self.blocks.push(block);
        Ok(())
    }

    /// Everything that was added to the file number `file`, from the beginning.
    pub(super) fn copy(&mut self, file: usize, out: &mut dyn Write) -> io::Result<()> {
        out.write_all(&self.memory[file])?;
        let Some(partial) = &mut self.file else { return Ok(()) };
        for Block { bytes, start, .. } in &self.blocks {
            partial.seek(SeekFrom::Start(start + bytes[..file].iter().sum::<u64>()))?;
            io::copy(&mut partial.take(bytes[file]), out)?;
        }
        Ok(())
    }

    /// Removes what is no longer needed, that of an earlier command included.
    pub(super) fn remove(&mut self) {
        if self.file.is_none() {
            // Without a file of its own, this run has left nothing there; another may be at work.
            let is_left = !is_open_elsewhere(&self.path) && matches!(self.find(), Ok(Some(_)));
            if !is_left || self.create().is_err() {
                return;
            }
        }
        // What stays is reported by `--resume`, and replaced by everything else.
        let _ = fs::remove_file(&self.path);
    }

    /// Opens the file, without a block, and its folder where there is none.
    fn create(&mut self) -> Result<()> {
        let folder = self.path.parent().filter(|folder| !folder.as_os_str().is_empty());
        folder.map_or(Ok(()), fs::create_dir_all).map_err(Error::io("write", &self.path))?;
        let file = self.open_file(true)?;
        // Now nobody else changes it.
        self.find()?;
        if let Some(file) = &file {
            let made_by_sha256 = self.fingerprint.clone();
            let begun = file.set_len(0).and_then(|()| put_line(file, &Head { made_by_sha256 }));
            begun.map_err(Error::io("write", &self.path))?;
        }
        self.file = file;
        Ok(())
    }

    /// The file, where there is one or `create` makes it, when no other process has it open.
    fn open_file(&self, create: bool) -> Result<Option<File>> {
        let path = &self.path;
        check_kind(path)?;
        let wait = || {
            let path = path.display();
            self.observer.note(&format!("note: waiting for another process, which writes {path}"));
        };
        match open_alone(path, create, wait) {
            Err(error) if error.kind() == io::ErrorKind::NotFound && !create => Ok(None),
            file => file.map(Some).map_err(Error::io("write", path)),
        }
    }

    /// What an interrupted run left, if it left anything. Whatever else has the name is an error.
    fn find(&self) -> Result<Option<Found>> {
        let path = &self.path;
        let Some(length) = check_kind(path)? else { return Ok(None) };
        let io = Error::io("read", path);
        let mut file = BufReader::new(open_regular(path).map_err(&io)?);
        let line = read_line(&mut file).map_err(&io)?;
        let is_whole = line.last() == Some(&b'\n');
        let head = is_whole.then(|| serde_json::from_slice(&line).ok()).flatten();
        let Some(Head { made_by_sha256 }) = head else {
            // Killed before the first line was whole: no file is as good as an empty one.
            if !is_whole && HEAD.starts_with(&line[..line.len().min(HEAD.len())]) {
                return Ok(Some((String::new(), Vec::new(), 0)));
            }
            return Err(stranger(path, "a file that no run begins with").into());
        };
        let (mut end, mut blocks) = (line.len() as u64, Vec::new());
        loop {
            let line = read_line(&mut file).map_err(&io)?;
            if line.last() != Some(&b'\n') {
                return Ok(Some((made_by_sha256, blocks, end)));
            }
            let changed = || stranger(path, "a file that is not as it was written");
            let block: Block = serde_json::from_slice(&line).map_err(|_| changed())?;
            let start = end + line.len() as u64;
            let bytes = block.bytes.iter().fold(0_u64, |sum, bytes| sum.saturating_add(*bytes));
            if bytes > length.saturating_sub(start) {
                return Ok(Some((made_by_sha256, blocks, end)));
            }
            if sha256_of_stream(file.by_ref().take(bytes)).map_err(&io)? != block.sha256 {
                return Err(changed().into());
            }
            end = start + bytes;
            blocks.push(Block { start, ..block });
        }
    }
}

fn put_line(mut file: &File, line: &impl Serialize) -> io::Result<()> {
    let mut line = serde_json::to_vec(line)?;
    line.push(b'\n');
    file.write_all(&line)
}

fn read_line(file: &mut impl BufRead) -> io::Result<Vec<u8>> {
    let mut line = Vec::new();
    file.take(MOST_OF_A_RECORD).read_until(b'\n', &mut line)?;
    Ok(line)
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

/// Where the blocks of a run at this path are.
pub(super) fn path_of(run: &Path) -> PathBuf {
    with_ending(run, ".partial")
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

    fn append(partial: &mut Partial, lines: &[u8], progress: Progress, only: bool) -> Result<()> {
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
                let last = bytes.len() - 1;
                bytes[last] ^= 1;
                fs::write(path, bytes).unwrap();
            }),
            ("that no run begins with", |path| fs::write(path, "on").unwrap()),
            ("gone", |path| fs::remove_file(path).unwrap()),
            ("", |path| {
                let mut partial = Partial::new(&[path.with_extension("")], "f", &Silent);
                partial.file = Some(File::options().append(true).open(path).unwrap());
                append(&mut partial, b"three\n", state(3), false).unwrap();
                let file = partial.file.unwrap();
                file.set_len(file.metadata().unwrap().len() - 2).unwrap();
            }),
        ];
        for (says, damage) in damages {
            let folder = tempfile::tempdir().unwrap();
            let run = folder.path().join("new/a.run");
            let open = |resume| Partial::open(slice::from_ref(&run), "f", resume, &Silent);
            let (mut partial, ..) = open(false).unwrap();
            append(&mut partial, b"one\n", state(1), false).unwrap();
            append(&mut partial, b"two\n", state(2), false).unwrap();
            drop(partial);
            damage(&path_of(&run));
            if says == "gone" {
                let (_, progress, note) = open(true).unwrap();
                assert!(note.is_some_and(|note| note.contains("anew: there is no ")));
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
        for is_link in [false, true] {
            let path = path_of(&run);
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
                assert!(error.hint.contains("a.run.partial"), "{error}");
            }
            append(&mut late, b"one\n", state(1), false).unwrap_err();
            late.remove();
            for path in [&path, &mine] {
                assert_eq!(fs::read_to_string(path).unwrap(), "mine", "{is_link}");
            }
            fs::remove_file(&path).unwrap();
        }
    }

    #[test]
    fn what_a_killed_run_left_is_replaced_wherever_it_was_killed() {
        let folder = tempfile::tempdir().unwrap();
        let run = folder.path().join("a.run");
        let open = || Partial::open(slice::from_ref(&run), "f", false, &Silent).unwrap().0;
        let killed: [fn(&mut Partial); 5] = [
            |partial| drop(partial.open_file(true).unwrap()),
            |partial| fs::write(&partial.path, &HEAD[..5]).unwrap(),
            |partial| partial.create().unwrap(),
            |partial| append(partial, b"one\n", state(1), false).unwrap(),
            |partial| {
                append(partial, b"one\n", state(1), false).unwrap();
                partial.file.as_mut().unwrap().write_all(b"{\"progr").unwrap();
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
