//! Standard output that is closed. Rust opens `/dev/null` in its place before `main`, so that everything
//! that is printed would vanish at status 0.

use clariq_core::{Problem, problem};
use std::fs;
use std::sync::atomic::{AtomicBool, Ordering};

static IS_CLOSED: AtomicBool = AtomicBool::new(false);

/// Looks before the standard library does.
#[ctor::ctor(unsafe)]
fn look() {
    let is_closed = fs::metadata("/dev/fd").is_ok() && fs::symlink_metadata("/dev/fd/1").is_err();
    IS_CLOSED.store(is_closed, Ordering::Relaxed);
}

/// True if this process was started without standard output.
pub(crate) fn is_closed() -> bool {
    IS_CLOSED.load(Ordering::Relaxed)
}

pub(crate) fn problem() -> Problem {
    let hint = "`> /dev/null` discards what is printed";
    problem!("<stdout>", "standard output that is open", "it is closed (`>&-`)", hint)
}
