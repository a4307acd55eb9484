//! The end of the command: by a signal, before which what is temporary goes, or by itself.

use std::io::Write as _;

/// Removes temporary files and ends the process by the signal (for a shell, status 130 or 143).
/// What later commands continue from stays: parts of downloads, partial runs, checkpoints.
#[cfg(unix)]
pub(crate) fn clean_up_on_signals() {
    use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
    use signal_hook::iterator::Signals;

    // Where no handler can be installed, a signal merely leaves what a later command clears away.
    let Ok(mut signals) = Signals::new([SIGINT, SIGTERM, SIGHUP]) else { return };
    std::thread::spawn(move || {
        if let Some(signal) = signals.forever().next() {
            let _no_more = clariq_files::temporary::remove_temporaries();
            let _ = signal_hook::low_level::emulate_default_handler(signal);
        }
    });
}

#[cfg(not(unix))]
pub(crate) fn clean_up_on_signals() {}

/// Ends the process with a status, without the destructors of the libraries that it is linked with:
/// those of libtorch take a tenth of a second.
pub(crate) fn exit(status: u8) -> ! {
    // Whoever prints results has flushed them and knows of errors.
    let _ = std::io::stdout().flush();
    #[cfg(unix)]
    signal_hook::low_level::exit(status.into());
    #[cfg(not(unix))]
    std::process::exit(status.into())
}
