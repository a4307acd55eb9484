//! Overridden parameters of a system, and the suffixes that they give its name.

use clariq_core::{Checksum, Result, bail};
use clariq_rank::Override;

/// Parses `stage.key=value`, or `task.stage.key=value`; `flag` is for messages.
pub fn parse_assignment(text: &str, flag: &str) -> Result<Override> {
    if let Some((path, value)) = text.split_once('=')
        && let Some((stage, key)) = path.split_once('.')
        && ![stage, key, value].contains(&"")
    {
        let [stage, key, value] = [stage, key, value].map(str::to_owned);
        return Ok(Override { stage, key, value });
    }
    let expected = "stage.key=value, for example bm25.k1=0.9";
    let hint = if !text.contains('=') && text.contains('.') {
        "the value follows the sign `=`, without blanks"
    } else {
        "the stage stands before the key: the documentation lists all (reference, Stages)"
    };
    bail!(flag, expected, "`{text}`", hint)
}

/// The maximum length of a name's suffix for overridden parameters.
const LONGEST_VARIANT: usize = 60;

/// A text as a part of a file name, or the first digits of its checksum if it cannot be one.
pub(crate) fn suffix(name: &str, checksum: &Checksum) -> String {
    if name.len() <= LONGEST_VARIANT
        && name.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.'))
    {
        return name.to_owned();
    }
    format!("-{}", checksum.short())
}
