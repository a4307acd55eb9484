//! Signals that end the command: what is temporary goes first.

/// Removes temporary files and then ends the process by the signal, which a shell reports as status
/// 130 (or 143). What later commands continue from stays: parts of downloads, partial runs and
/// checkpoints.
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
