//! The cards that NVIDIA's driver knows, and whether libtorch 2.4 has kernels for them.

use super::{CheckedItem, ok, refused};
use std::process::Command;

/// The highest compute capability that the wheels of libtorch 2.4 are built for (`sm_50` to `sm_90`).
const HIGHEST: (u32, u32) = (9, 0);
const LOWEST: (u32, u32) = (5, 0);

/// A finding for each card; none where the driver's `nvidia-smi` is not installed.
pub(super) fn findings() -> Vec<CheckedItem> {
    let query = ["--query-gpu=name,compute_cap", "--format=csv,noheader"];
    let Ok(output) = Command::new("nvidia-smi").args(query).output() else { return Vec::new() };
    if !output.status.success() {
        return Vec::new();
    }
    String::from_utf8_lossy(&output.stdout).lines().filter_map(finding).collect()
}

/// The finding of a line such as `NVIDIA H100, 9.0`.
fn finding(line: &str) -> Option<CheckedItem> {
    let (name, capability) = line.rsplit_once(',')?;
    let (major, minor) = capability.trim().split_once('.')?;
    let version = (major.parse().ok()?, minor.parse().ok()?);
    let found = format!("{}, compute capability {major}.{minor}", name.trim());
    Some(if version > HIGHEST {
        let why = "libtorch 2.4 has kernels up to 9.0, and none for Blackwell: use --device cpu";
        refused("gpu", format!("{found}: {why}"))
    } else if version < LOWEST {
        refused("gpu", format!("{found}: libtorch 2.4 has kernels from 5.0: use --device cpu"))
    } else {
        ok("gpu", found)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::commands::doctor::State;

    #[test]
    fn cards_without_kernels_are_refused() {
        let found =
            |line| finding(line).map(|(_, found, state)| (found, matches!(state, State::Ok)));
        let h200 = ("NVIDIA H200, compute capability 9.0".to_owned(), true);
        assert_eq!(found("NVIDIA H200, 9.0"), Some(h200));
        for line in ["NVIDIA RTX PRO 6000, 12.0", "NVIDIA B200, 10.0", "Tesla K80, 3.7"] {
            assert!(found(line).is_some_and(|(_, is_used)| !is_used), "{line}");
        }
        assert_eq!(found("NVIDIA-SMI has failed"), None);
        assert_eq!(found("Old card, [N/A]"), None);
    }
}
