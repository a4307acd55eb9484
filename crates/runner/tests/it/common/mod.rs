//! A folder to run the real binary in, for the tests of this crate.

#![allow(dead_code, reason = "each test file uses its part")]

#[path = "../../../../experiment/tests/it/common/folder.rs"]
mod folder;
#[path = "../../../../report/tests/it/page.rs"]
pub(crate) mod page;
pub(crate) mod refusals;

pub(crate) use folder::{Folder, root};
use std::fs;
use std::ops::Deref;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// The program with learned stages, where the feature `bert` built it.
pub(crate) const LEARNED: Option<&str> = option_env!("CARGO_BIN_EXE_clariq-learned");

/// A temporary folder that commands run in, with a cache of its own below it.
pub(crate) struct Bench {
    folder: Folder,
    learned: &'static str,
}

impl Deref for Bench {
    type Target = Folder;

    fn deref(&self) -> &Folder {
        &self.folder
    }
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
        Self::of(Folder::new())
    }

    /// A bench with a copy of the sample collection in `data`.
    pub(crate) fn with_sample() -> Self {
        Self::of(Folder::with_sample())
    }

    pub(crate) fn of(folder: Folder) -> Self {
        lend_weights(&folder.path("cache"));
        Self { folder, learned: LEARNED.unwrap_or_default() }
    }

    /// The same bench with another program for learned stages; an empty name for none.
    pub(crate) fn with_learned(self, learned: &'static str) -> Self {
        Self { learned, ..self }
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
            .current_dir(self.path(""))
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

    /// The message of a command line that must be refused, with no output.
    pub(crate) fn refused(&self, line: &str) -> String {
        let finished = self.run(&line.split_whitespace().collect::<Vec<_>>());
        let ended = (finished.status, finished.stdout.as_str());
        assert_eq!(ended, (Some(2), ""), "{line}: {}", finished.stderr);
        finished.stderr
    }

    /// Writes `tiny.toml`, a system over an encoder of a few weights.
    pub(crate) fn write_tiny(&self) {
        let tiny = root().join("crates/bert/tests/data/tiny").display().to_string();
        let stage = "[[stages]]\nstage = \"dense\"\ndepth = 5\n";
        let text = format!("name = \"tiny\"\n[space]\nmodels = {{ {tiny:?} = 1.0 }}\n{stage}");
        self.write("tiny.toml", text);
    }
}
