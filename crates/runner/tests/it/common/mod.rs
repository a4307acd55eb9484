//! A folder to run the real binary in, for the tests of this crate.

#![allow(dead_code, reason = "each test file uses its part")]

#[cfg(feature = "bert")]
pub(crate) mod here;
pub(crate) mod page;
pub(crate) mod refusals;

use serde_json::Value;
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use tempfile::TempDir;

/// The program with learned stages, where the feature `bert` built it.
pub(crate) const LEARNED: Option<&str> = option_env!("CARGO_BIN_EXE_clariq-learned");

/// A temporary folder that commands run in, with a cache of its own below it.
pub(crate) struct Bench {
    folder: TempDir,
    learned: &'static str,
}

/// The exit status and the output of a command.
#[derive(Debug)]
pub(crate) struct Finished {
    pub(crate) status: Option<i32>,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl From<Output> for Finished {
    fn from(output: Output) -> Self {
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        Self {
            status: output.status.code(),
            stdout: text(&output.stdout),
            stderr: text(&output.stderr),
        }
    }
}

/// Links the weights that the set-up installed into the cache of a test.
pub(crate) fn lend_weights(cache: &Path) {
    let set =
        |name: &str| std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    let installed = set("CLARIQ_CACHE")
        .or_else(|| set("XDG_CACHE_HOME").map(|folder| folder.join("clariq")))
        .or_else(|| std::env::home_dir().map(|home| home.join(".cache/clariq")));
    let Some(weights) = installed
        .map(|folder| folder.join("models/all-MiniLM-L6-v2"))
        .filter(|folder| folder.exists())
    else {
        return;
    };
    fs::create_dir_all(cache.join("models")).expect("created");
    std::os::unix::fs::symlink(weights, cache.join("models/all-MiniLM-L6-v2")).expect("linked");
}

/// Takes vectors from the folder that the gate names in `CLARIQ_TEST_VECTORS`, and leaves new ones
/// there, so that the sample's questions are encoded once in all tests.
pub(crate) fn share_vectors(cache: &Path) {
    if let Some(vectors) = std::env::var_os("CLARIQ_TEST_VECTORS") {
        fs::create_dir_all(&vectors).expect("created");
        std::os::unix::fs::symlink(vectors, cache.join("embeddings")).expect("linked");
    }
}

impl Bench {
    pub(crate) fn new() -> Self {
        let learned = LEARNED.unwrap_or_default();
        let bench = Self { folder: tempfile::tempdir().expect("a temporary folder"), learned };
        lend_weights(&bench.path("cache"));
        bench
    }

    /// The same bench with another program for learned stages; an empty name for none.
    pub(crate) fn with_learned(self, learned: &'static str) -> Self {
        Self { learned, ..self }
    }

    /// A bench with a copy of the sample collection in `data`.
    pub(crate) fn with_sample() -> Self {
        let bench = Self::new();
        for entry in fs::read_dir(root().join("data/sample")).expect("the sample") {
            let path = entry.expect("an entry").path();
            let name = path.file_name().expect("a name").to_string_lossy().into_owned();
            bench.write(&format!("data/{name}"), fs::read(&path).expect("a file"));
        }
        bench
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub(crate) fn write(&self, name: &str, content: impl AsRef<[u8]>) {
        let path = self.path(name);
        fs::create_dir_all(path.parent().expect("a folder")).expect("created");
        fs::write(path, content).expect("written");
    }

    pub(crate) fn read(&self, name: &str) -> Vec<u8> {
        fs::read(self.path(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
    }

    pub(crate) fn text(&self, name: &str) -> String {
        String::from_utf8(self.read(name)).expect("UTF-8")
    }

    /// Rewrites a text file.
    pub(crate) fn edit(&self, name: &str, change: impl FnOnce(String) -> String) {
        let changed = change(self.text(name));
        self.write(name, changed);
    }

    pub(crate) fn remove(&self, name: &str) {
        fs::remove_file(self.path(name)).expect("removed");
    }

    /// The command, in this folder and with its own cache.
    pub(crate) fn command(&self, arguments: &[&str]) -> Command {
        self.at_home(Command::new(env!("CARGO_BIN_EXE_clariq")), arguments)
    }

    /// Runs a shell script in the bench, with the command as `$0`.
    pub(crate) fn shell(&self, wrapper: &[&str], script: &str) -> Finished {
        let (program, before) = wrapper.split_first().expect("a program");
        let arguments = [before, &["-c", script, env!("CARGO_BIN_EXE_clariq")]].concat();
        Finished::from(
            self.at_home(Command::new(program), &arguments).output().expect("the shell starts"),
        )
    }

    fn at_home(&self, mut command: Command, arguments: &[&str]) -> Command {
        command
            .args(arguments)
            .current_dir(self.folder.path())
            .env_remove("CLARIQ_DATA")
            .env("CLARIQ_CACHE", self.path("cache"))
            .env("CLARIQ_LEARNED", self.learned);
        command
    }

    pub(crate) fn run(&self, arguments: &[&str]) -> Finished {
        Finished::from(self.command(arguments).output().expect("the command starts"))
    }

    /// Runs a command line that must succeed; words are separated by spaces.
    pub(crate) fn succeed(&self, line: &str) -> Finished {
        let finished = self.run(&line.split_whitespace().collect::<Vec<_>>());
        assert_eq!(finished.status, Some(0), "{line}: {}", finished.stderr);
        finished
    }

    /// Writes `tiny.toml`, a system over an encoder of a few weights.
    pub(crate) fn write_tiny(&self) {
        let tiny = root().join("crates/bert/tests/data/tiny").display().to_string();
        let stage = "[[stages]]\nstage = \"dense\"\ndepth = 5\n";
        let text = format!("name = \"tiny\"\n[space]\nmodels = {{ {tiny:?} = 1.0 }}\n{stage}");
        self.write("tiny.toml", text);
    }

    /// Writes the topics of 2023's test and the passages of iKAT's sample into a folder, after a change
    /// of the topics.
    pub(crate) fn write_ikat(&self, folder: &str, change: impl FnOnce(&mut Vec<Value>)) {
        let read = |name: &str| {
            fs::read(root().join("data/sample-ikat").join(name)).expect("a file of the sample")
        };
        let topics = "2023_test_topics.json";
        let mut all: Vec<Value> = serde_json::from_slice(&read(topics)).expect("topics");
        change(&mut all);
        self.write(&format!("{folder}/{topics}"), Value::from(all).to_string());
        self.write(&format!("{folder}/passages.jsonl"), read("passages.jsonl"));
    }

    /// Every file of the bench outside the cache, by its path, and every other entry with empty
    /// content.
    pub(crate) fn snapshot(&self) -> BTreeMap<PathBuf, Vec<u8>> {
        let mut all = BTreeMap::new();
        let mut folders = vec![self.folder.path().to_owned()];
        while let Some(folder) = folders.pop() {
            for entry in fs::read_dir(folder).expect("a folder") {
                let path = entry.expect("an entry").path();
                if path.is_dir() && path != self.path("cache") {
                    folders.push(path.clone());
                }
                let content =
                    if path.is_file() { fs::read(&path).expect("a file") } else { Vec::new() };
                all.insert(path, content);
            }
        }
        all.remove(&self.path("cache"));
        all
    }
}

/// An evaluation table of one context as a pickle of protocol 0, in which the context is written as
/// `VF0012` (a facet) or `I1` (a conversation).
pub(crate) fn eval_table(metrics: &[&str], context: &str, figures: &[(&str, f64)]) -> String {
    let question = |(id, figure): &(&str, f64)| format!("V{id}\n(dVwith_answer\nF{figure}\nss");
    let questions: String = figures.iter().map(question).collect();
    let metric = |name: &&str| format!("V{name}\n(d{context}\n(d{questions}ss");
    format!("(d{}.", metrics.iter().map(metric).collect::<String>())
}

/// The root of the workspace.
pub(crate) fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}
