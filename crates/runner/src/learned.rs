//! The other program: `clariq-learned`, the same command with an engine for learned models.
//!
//! Loading libtorch takes a quarter of a second, and fails where it is missing. So `clariq` is not
//! linked with it, and becomes the other program as soon as it has read a system that needs a model,
//! before it reads requests or prints anything.

use clariq_core::{Error, Result};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::{env, io};

/// Names another program instead of the one beside `clariq`; empty for none.
const VARIABLE: &str = "CLARIQ_LEARNED";
/// What threads of OpenMP do that wait for others.
const WAITING: &str = "OMP_WAIT_POLICY";

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
    let mut command = Command::new(&program);
    command.args(env::args_os().skip(1));
    // A step of training has two threads wherever it runs. The one that waits for the other leaves
    // the processor to whoever has work.
    if env::var_os(WAITING).is_none() {
        command.env(WAITING, "passive");
    }
    let source = become_process(&mut command);
    Err(Error::Io { action: "start", path: program, source })
}

/// Replaces this process: signals and the exit status are the other's. Returns if that is refused.
pub(crate) fn become_process(command: &mut Command) -> io::Error {
    command.exec()
}

/// Why the other program does not start, in its own or the loader's words.
pub(crate) fn trouble(program: &Path) -> Option<String> {
    let output = Command::new(program).arg("--version").stdin(Stdio::null()).output();
    match output {
        Ok(output) if output.status.success() => None,
        Ok(output) => {
            let said = String::from_utf8_lossy(&output.stderr);
            let first = said.lines().find(|line| !line.trim().is_empty());
            Some(first.map_or_else(|| output.status.to_string(), str::to_owned))
        }
        Err(error) => Some(error.to_string()),
    }
}
