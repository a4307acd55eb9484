//! The Python that this program starts.

use std::env;
use std::path::PathBuf;

/// The program `python3`: beside this program, as in a virtual environment, or on the PATH.
pub fn find_python() -> PathBuf {
    let beside = env::current_exe().ok().map(|program| program.with_file_name("python3"));
    beside.filter(|path| path.is_file()).unwrap_or_else(|| "python3".into())
}
