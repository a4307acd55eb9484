//! Python pickles, read by Python: `pickle.py` writes their dictionaries as JSON lines.
//!
//! Containers, numbers, texts, and numpy's numbers are allowed. Any other class is an error that names
//! it; nothing of a pickle is executed, and memory is limited in proportion to its size.
//! [`convert`] keeps the lines in a file beside the pickle, which is read from then on. It begins
//! with the checksums of the pickle, so that the lines of another one are never read.

use crate::candidates;
use crate::check::{CONVERSATIONS, EVAL_TABLES};
use crate::conversation::{self, dictionary};
use crate::eval_table::{self, locate};
use clariq_collections::DataDir;
use clariq_core::{Checksum, Error, IoAction, bail, find_python, problem};
use clariq_files::archive::Archive;
use clariq_files::{Source, StagedWriter};
use serde::{Deserialize, Serialize};
use std::io::{self, BufRead, BufReader, Read, Write};
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

/// The most bytes of a pickle, unpacked: several times those of the released ones.
pub(crate) const MOST_OF_A_PICKLE: u64 = 4 << 30;

const UNPICKLER: &str = include_str!("pickle.py");

/// Takes a line; breaks if it wants no more.
type LineSink<'e> = &'e mut dyn FnMut(&[u8]) -> Result<ControlFlow<()>, Error>;

/// The first line of converted pickles.
#[derive(PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct PickleHeader {
    /// The SHA-256 of each file of the pickle, as it is packed.
    sha256: Vec<Checksum>,
}

impl PickleHeader {
    fn of(pickle: &Archive) -> Result<Self, Error> {
        let sha256 = pickle.pieces().iter().map(Source::checksum).collect::<Result<_, _>>()?;
        Ok(Self { sha256 })
    }
}

/// Calls `each` with JSON lines: the keys of `depth` nested dictionaries, and the value below them.
pub(super) fn read_dictionaries(
    pickle: &Archive,
    depth: usize,
    each: LineSink,
) -> Result<(), Error> {
    let converted = converted_path(pickle).filter(|path| path.is_file());
    if let Some(path) = converted
        && read_converted(pickle, &Source::Path(path), each)?
    {
        return Ok(());
    }
    unpickle(pickle, depth, each)
}

/// Converts the released pickles of a data folder that are not converted yet. Returns the files that
/// it writes.
pub fn convert_archives(data: &DataDir) -> Result<Vec<PathBuf>, Error> {
    let tables = EVAL_TABLES.iter().map(|stem| (stem, &eval_table::FORM, eval_table::DEPTH));
    let conversations =
        CONVERSATIONS.iter().map(|stem| (stem, &conversation::FORM, dictionary::DEPTH));
    let candidates = (&"top10k_docs_dict", &candidates::FORM, candidates::DEPTH);
    let mut files = Vec::new();
    for (stem, form, depth) in tables.chain(conversations).chain([candidates]) {
        if let Some(sources) = locate(data, stem) {
            files.extend(convert(&Archive::of_at_most(MOST_OF_A_PICKLE, &sources, form)?, depth)?);
        }
    }
    Ok(files)
}

/// Writes the lines of a pickle to a file beside it, and returns the file; `None` if it is up to date.
fn convert(pickle: &Archive, depth: usize) -> Result<Option<PathBuf>, Error> {
    let Some(path) = converted_path(pickle) else { return Ok(None) };
    let header = PickleHeader::of(pickle)?;
    if path.is_file() {
        let converted = Source::Path(path.clone());
        if read_header(&mut *converted.stream()?).as_ref() == Some(&header) {
            return Ok(None);
        }
    }
    let mut out = StagedWriter::create(&path)?;
    out.put(|out| {
        serde_json::to_writer(&mut *out, &header)?;
        out.write_all(b"\n")
    })?;
    unpickle(pickle, depth, &mut |line| {
        out.put(|out| out.write_all(line))?;
        Ok(ControlFlow::Continue(()))
    })?;
    out.finish()?.commit()?;
    Ok(Some(path))
}

/// The file with the lines of a pickle: `dev_synthetic.pkl.jsonl.gz` beside
/// `dev_synthetic.pkl.tar.gz`.
fn converted_path(pickle: &Archive) -> Option<PathBuf> {
    let Some(Source::Path(path)) = pickle.pieces().first() else { return None };
    let name = path.file_name()?.to_str()?;
    let stem = &name[..name.find(".pkl")?];
    Some(path.with_file_name(format!("{stem}.pkl.jsonl.gz")))
}

fn read_header(lines: &mut dyn BufRead) -> Option<PickleHeader> {
    let mut first = Vec::new();
    lines.take(1 << 16).read_until(b'\n', &mut first).ok()?;
    serde_json::from_slice(&first).ok()
}

/// Reads the lines of a converted pickle. Returns false if they belong to another pickle.
fn read_converted(pickle: &Archive, converted: &Source, each: LineSink) -> Result<bool, Error> {
    let mut lines = converted.stream()?;
    if read_header(&mut *lines) != Some(PickleHeader::of(pickle)?) {
        return Ok(false);
    }
    for_each_line(&mut *lines, &converted.name(), each)?;
    Ok(true)
}

/// Returns false if `each` stopped early.
fn for_each_line(lines: &mut dyn BufRead, name: &str, each: LineSink) -> Result<bool, Error> {
    let mut line = Vec::new();
    while lines.read_until(b'\n', &mut line).map_err(Error::io(IoAction::Read, name))? > 0 {
        if each(&line)?.is_break() {
            return Ok(false);
        }
        line.clear();
    }
    Ok(true)
}

/// A process that is killed if it is dropped before its end.
struct Process(Child);

impl Drop for Process {
    fn drop(&mut self) {
        // Best effort.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn unpickle(pickle: &Archive, depth: usize, each: LineSink) -> Result<(), Error> {
    let mut python = start(depth)?;
    // The script reads its input to the end before it writes, so that neither waits for the other.
    let mut stdin = python.0.stdin.take().expect("a pipe");
    pickle.with_content(|content| {
        let mut buffer = vec![0; 1 << 16];
        loop {
            let count = content.read(&mut buffer).map_err(|error| pickle.broken(error))?;
            // If the script has ended, its message contains the reason.
            if count == 0 || stdin.write_all(buffer.get(..count).unwrap_or_default()).is_err() {
                return Ok(());
            }
        }
    })?;
    drop(stdin);
    let mut lines = BufReader::with_capacity(1 << 17, python.0.stdout.take().expect("a pipe"));
    if !for_each_line(&mut lines, pickle.name(), each)? {
        return Ok(());
    }
    let mut message = String::new();
    let mut stderr = python.0.stderr.take().expect("a pipe");
    stderr.read_to_string(&mut message).map_err(Error::io(IoAction::Read, pickle.name()))?;
    let status = python.0.wait().map_err(Error::io(IoAction::Read, pickle.name()))?;
    if status.success() {
        return Ok(());
    }
    let found = match message.trim() {
        "" => format!("Python ended with {status}"),
        message => message.to_owned(),
    };
    if found.starts_with("a reference to") {
        let hint = "nothing in the file was run; if you trust it, save it again from Python with \
                    plain numbers and texts";
        bail!(pickle.name(), "text, numbers and dictionaries only", found, hint);
    }
    Err(pickle.problem(pickle.form().what, found))
}

fn start(depth: usize) -> Result<Process, Error> {
    let program = find_python();
    let mut command = Command::new(&program);
    command.args(["-I", "-S", "-c", UNPICKLER, &depth.to_string()]);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command.spawn().map(Process).map_err(|error| no_python(&program, error))
}

fn no_python(program: &Path, error: io::Error) -> Error {
    if error.kind() != io::ErrorKind::NotFound {
        return Error::io(IoAction::Start, program)(error);
    }
    let hint = "install Python, or fetch the file where it is installed, and copy the .pkl.jsonl.gz file that \
                this writes beside it";
    problem!("python3", "Python 3.9 or later, which reads pickles", "no such program", hint).into()
}
