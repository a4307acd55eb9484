//! The suffix of a system's name for overridden parameters.

use super::{ConfigText, SystemConfig};
use crate::overrides::suffix;
use clariq_core::Checksum;
use clariq_rank::Override;
use serde_json::{Value, json};
use std::slice;

/// The suffix of a name for overrides that change a parameter: `-k1-0.9-b-0.4`, or a checksum if it
/// is too long or ambiguous.
pub(super) fn variant_of(
    declared: &SystemConfig,
    text: &ConfigText,
    overrides: &[Override],
) -> String {
    let mut name = String::new();
    let mut all = String::new();
    for parameter in overrides {
        let Override { stage, key, value } = parameter;
        let changed = SystemConfig::parse(text, slice::from_ref(parameter));
        if changed.is_ok_and(|changed| parameters(&changed) == parameters(declared)) {
            continue;
        }
        name.extend(["-", key, "-", value.trim_matches('"')]);
        all.extend([stage, ".", key, "=", value, "\n"]);
    }
    suffix(&name, &Checksum::of(all.as_bytes()))
}

/// The settings of a system that parameters of the command line can change.
pub(super) fn parameters(system: &SystemConfig) -> Value {
    let stages: Vec<_> = system.plan.stages().map(|stage| (stage.name, stage.parameters)).collect();
    let endpoints: Vec<_> = system.endpoints.values().map(|config| json!(config)).collect();
    json!([stages, endpoints, system.plan.answer(), system.plan.ask(), system.need])
}
