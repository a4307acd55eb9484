//! The other program: `clariq-learned`, the same command with an engine for learned models.
//!
//! Loading libtorch takes a quarter of a second, and fails where it is missing. So `clariq` is not
//! linked with it, and becomes the other program as soon as it has read a system that needs a model,
//! before it reads requests or prints anything.

use crate::messages::{NOTES, notes};
use clariq_core::{Error, IoAction, Result};
use clariq_experiment::cache;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::{env, io};

/// The environment variable that names a program instead of the one beside `clariq`; empty for
/// none.
const VARIABLE: &str = "CLARIQ_LEARNED";
/// The environment variable for waiting threads of OpenMP.
const WAITING: &str = "OMP_WAIT_POLICY";
/// Set when wheels are built. A program from a wheel cannot know where the user's cache is, so that
/// the loader gets the folder of libtorch.
const IS_FROM_WHEEL: bool = option_env!("CLARIQ_WHEEL").is_some();
#[cfg(target_os = "macos")]
const LOADER_PATH: &str = "DYLD_LIBRARY_PATH";
#[cfg(not(target_os = "macos"))]
const LOADER_PATH: &str = "LD_LIBRARY_PATH";

/// The program with learned models, if it is installed.
pub(crate) fn program() -> Option<PathBuf> {
    if let Some(named) = env::var_os(VARIABLE) {
        return Some(PathBuf::from(named)).filter(|path| !path.as_os_str().is_empty());
    }
    let beside = env::current_exe().ok()?.parent()?.join("clariq-learned");
    beside.is_file().then_some(beside)
}

/// Continues as the other program with the same arguments. Returns if it is not installed or cannot
/// be started.
pub(crate) fn take_over() -> Result<()> {
    let Some(program) = program() else { return Ok(()) };
    let mut command = command(&program);
    command.args(env::args_os().skip(1)).env(NOTES, notes());
    // A step of training always has two threads. A waiting thread should not occupy a processor.
    if env::var_os(WAITING).is_none() {
        command.env(WAITING, "passive");
    }
    let source = become_process(&mut command);
    Err(Error::Io { action: IoAction::Start, path: program, source })
}

/// The command that starts the program. `clariq setup` links libtorch to `libtorch` in the cache.
fn command(program: &Path) -> Command {
    let mut command = Command::new(program);
    if IS_FROM_WHEEL {
        let mut paths = vec![cache::folder().join("libtorch").join("lib")];
        let others = env::var_os(LOADER_PATH).unwrap_or_default();
        paths.extend(env::split_paths(&others).filter(|path| !path.as_os_str().is_empty()));
        if let Ok(paths) = env::join_paths(paths) {
            command.env(LOADER_PATH, paths);
        }
    }
    command
}

/// Replaces this process: signals and the exit status are the other's. Returns if that is refused.
pub(crate) fn become_process(command: &mut Command) -> io::Error {
    command.exec()
}

/// The reason why the other program does not start, from its output or the loader's.
pub(crate) fn trouble(program: &Path) -> Option<String> {
    let output = command(program).arg("--version").stdin(Stdio::null()).output();
    match output {
        Ok(output) if output.status.success() => None,
        Ok(output) => {
            let text = String::from_utf8_lossy(&output.stderr);
            let first = text.lines().find(|line| !line.trim().is_empty());
            Some(first.map_or_else(|| output.status.to_string(), str::to_owned))
        }
        Err(error) => Some(error.to_string()),
    }
}
