//! The systems of a run, at the depth that was asked for.

use super::RunArgs;
use crate::depth::{at_depth, no_single_depth, sets_depth};
use crate::settings::Settings;
use clariq_collections::OWN;
use clariq_core::Result;
use clariq_rank::Override;
use clariq_systems::{SystemConfig, check_names_differ};
use clariq_tracks::TRACKS;
use std::num::NonZeroUsize;

pub(super) fn load_systems(settings: &Settings, arguments: &RunArgs) -> Result<Vec<SystemConfig>> {
    let overrides = arguments.parameters.overrides()?;
    let rewrites = arguments.rewritten.read()?;
    let mut systems = Vec::with_capacity(arguments.configs.len());
    for name in &arguments.configs {
        let system = load_as_run(settings, name, arguments.depth, &overrides)?;
        systems.push(system.with_rewrites(rewrites.as_ref())?);
    }
    check_names_differ(&systems)?;
    Ok(systems)
}

/// The depth of runs over documents of one's own: pools and measures go that far.
const DEPTH_OF_OWN: usize = 1000;

/// Loads a system with the depth that was named, or else with the usual one of the collection.
pub(in crate::commands) fn load_as_run(
    settings: &Settings,
    name: &str,
    depth: Option<NonZeroUsize>,
    overrides: &[Override],
) -> Result<SystemConfig> {
    let system = settings.load(name, overrides)?;
    let depths = system.plan.depths();
    if let Some(depth) = depth {
        return match &*depths {
            [only] => at_depth(name, overrides, only, depth.get()),
            depths => {
                let expected = "a system with one stage that has a depth";
                Err(no_single_depth(expected, depths, depth.get()).into())
            }
        };
    }
    let is_own = TRACKS.kind_of(&settings.data.first).is_ok_and(|kind| kind.name == OWN.name);
    match &*depths {
        [only]
            if is_own
                && !sets_depth(overrides)
                && !system.answers()
                && only.depth < DEPTH_OF_OWN as u64 =>
        {
            let deep = at_depth(name, overrides, only, DEPTH_OF_OWN)?;
            Ok(deep.with_variant_of(&system))
        }
        _ => Ok(system),
    }
}
