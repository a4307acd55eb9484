//! The sets of requests that were released together. No labels of MTRAG are for training.

use clariq_collections::Split;
use clariq_core::SplitRole;

/// The benchmark of 2025.
pub const MTRAG: Split = Split::new(0, "mtrag", SplitRole::HeldOut);
/// The benchmark of 2026, with requests that cannot be answered as they are.
pub const MTRAG_UN: Split = Split::new(1, "mtrag-un", SplitRole::HeldOut);

/// All splits, in the order of their release.
pub const ALL: [Split; 2] = [MTRAG, MTRAG_UN];

/// The folder of a split in the repository, and the one that it had before.
pub(crate) fn folders(split: Split) -> &'static [&'static str] {
    if split == MTRAG { &["mtrag-human", "human"] } else { &["mtragun-human"] }
}
