//! Readers of `crates/files` and `crates/collections`, one check per target.
//! `crates/tracks/tests/it/fuzz_corpora.rs` runs them on the committed corpora.

mod ikat;
mod lines;
mod requests;
mod tsv;

pub use ikat::ikat;
pub use lines::{qrels, run};
pub use requests::requests;
pub use tsv::tsv;

use clariq_core::{Error, Problem, ProblemKind, Severity};
use clariq_files::{FileContent, Source};

/// A check of one reader.
pub type Check = fn(&[u8]);

/// All targets of readers, by the names of their folders in `fuzz/corpus`.
pub const TARGETS: [(&str, Check); 5] =
    [("ikat", ikat), ("qrels", qrels), ("requests", requests), ("run", run), ("tsv", tsv)];

const NAME: &str = "fuzzed";

/// Reads leniently and strictly, compares both, and returns the result of the strict reader.
fn both<T>(
    bytes: &[u8],
    parse: impl Fn(&FileContent, &mut dyn FnMut(Problem)) -> T,
    read: impl Fn(&Source) -> Result<T, Error>,
) -> Option<T> {
    let source = Source::memory(NAME, bytes);
    let strict = read(&source);
    // Damaged gzip is refused by both.
    let Ok(input) = source.read() else {
        assert!(strict.is_err());
        return None;
    };
    let mut problems = Vec::new();
    parse(&input, &mut |problem| problems.push(problem));
    let lines = input.bytes.split(|&byte| byte == b'\n').count();
    for problem in &problems {
        is_in_the_file(problem, lines as u64);
    }
    let first = problems.iter().find(|problem| problem.severity == Severity::Error);
    match (strict, first) {
        (Ok(value), None) => Some(value),
        (Err(Error::Problem(problem)), Some(first)) if *problem == *first => None,
        (strict, first) => {
            panic!("the strict reader says {:?}, the lenient one {first:?}", strict.err())
        }
    }
}

fn is_in_the_file(problem: &Problem, last: u64) {
    // Something missing at the end of a file is reported for the line after it.
    let last = last + u64::from(problem.kind == ProblemKind::Empty);
    assert_eq!(problem.at.file, NAME);
    assert!(
        problem.at.line.is_some_and(|line| (1..=last).contains(&line)),
        "{problem:?} of {last} lines"
    );
    assert!(!problem.hint.is_empty(), "no hint: {problem}");
}

/// Reads what was just written, which must be well-formed.
fn read_back<T>(written: Vec<u8>, read: impl Fn(&Source) -> Result<T, Error>) -> T {
    let shown = String::from_utf8_lossy(&written).into_owned();
    read(&Source::memory("written", written)).unwrap_or_else(|error| panic!("{error} in\n{shown}"))
}

/// A field in double quotes, which may hold anything.
fn quoted(field: &str) -> String {
    format!("\"{}\"", field.replace('"', "\"\""))
}
