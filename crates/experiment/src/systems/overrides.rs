//! Overridden parameters of a system, and the suffix that they give its name.

use super::SystemConfig;
use clariq_core::{Result, bail, sha256_hex};
use clariq_files::Source;
use clariq_net::EndpointConfig;
use clariq_rank::Override;
use serde_json::{Value, json};
use std::slice;

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
    let hint = "the documentation lists all stages and their keys (reference, Stages)";
    bail!(flag, expected, "`{text}`", hint)
}

/// The maximum length of a name's suffix for overridden parameters.
const LONGEST_VARIANT: usize = 60;

/// The suffix of a name for overrides that change a parameter: `-k1-0.9-b-0.4`, or a checksum if it
/// is too long or ambiguous.
pub(super) fn variant_of(
    declared: &SystemConfig,
    source: &Source,
    overrides: &[Override],
) -> String {
    let mut name = String::new();
    let mut all = String::new();
    for parameter in overrides {
        let Override { stage, key, value } = parameter;
        let changed = SystemConfig::read(source, slice::from_ref(parameter));
        if changed.is_ok_and(|changed| parameters(&changed) == parameters(declared)) {
            continue;
        }
        name.extend(["-", key, "-", value.trim_matches('"')]);
        all.extend([stage, ".", key, "=", value, "\n"]);
    }
    suffix(&name, &sha256_hex(all.as_bytes()))
}

/// The settings of a system that parameters of the command line can change.
fn parameters(system: &SystemConfig) -> Value {
    let stages: Vec<_> = system.plan.stages().map(|stage| (stage.name, stage.parameters)).collect();
    let endpoints: Vec<_> = system.endpoints.values().map(EndpointConfig::identity).collect();
    json!([stages, endpoints, system.plan.answer(), system.plan.ask(), system.need])
}

/// A text as a part of a file name, or the first digits of its checksum if it cannot be one.
pub(crate) fn suffix(name: &str, checksum: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
    if name.len() <= LONGEST_VARIANT && name.chars().all(is_plain) {
        return name.to_owned();
    }
    format!("-{}", &checksum[..12])
}
