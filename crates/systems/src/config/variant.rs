//! The suffix of a system's name for overridden parameters.

use super::{ConfigText, SystemConfig};
use crate::overrides::suffix;
use crate::plan::Plan;
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
        let shown = shown_key(declared, text, parameter);
        name.extend(["-", &shown, "-", value.trim_matches('"')]);
        all.extend([stage, ".", key, "=", value, "\n"]);
    }
    suffix(&name, &Checksum::of(all.as_bytes()))
}

/// The key of a parameter as a name shows it. One of a task, `passages.bm25.k1`, or of a model,
/// `models.chat.url`, is shown by its last part, and by the others only where the system has a parameter
/// that differs in them.
fn shown_key(declared: &SystemConfig, text: &ConfigText, parameter: &Override) -> String {
    let Override { stage: group, key, value } = parameter;
    let Some((inner, last)) = key.split_once('.') else { return key.clone() };
    let takes = |group: &str, key: String| {
        let other = Override { stage: group.to_owned(), key, value: value.clone() };
        SystemConfig::parse(text, slice::from_ref(&other)).is_ok()
    };
    let mut tasks: Vec<&str> = Vec::new();
    let mut inners: Vec<String> = Vec::new();
    match &declared.plan {
        _ if group == "models" => {
            inners.extend(declared.endpoints.keys().cloned());
        }
        Plan::Answer(plan) => {
            tasks.extend(plan.tasks().map(|(task, _)| task));
            inners.extend(declared.plan.stages().map(|stage| stage.name.to_owned()));
        }
        Plan::Rank(_) => {}
    }
    if !inners.iter().any(|known| known == inner) {
        return key.clone();
    }
    let mut shown = last.to_owned();
    if inners.iter().any(|other| other != inner && takes(group, format!("{other}.{last}"))) {
        shown.clone_from(key);
    }
    if tasks.iter().any(|task| task != group && takes(task, key.clone())) {
        shown = format!("{group}.{shown}");
    }
    shown
}

/// The settings of a system that parameters of the command line can change.
pub(super) fn parameters(system: &SystemConfig) -> Value {
    let stages: Vec<_> = system.plan.stages().map(|stage| (stage.name, stage.parameters)).collect();
    let endpoints: Vec<_> = system.endpoints.values().map(|config| json!(config)).collect();
    json!([stages, endpoints, system.plan.answer(), system.plan.ask(), system.need])
}
