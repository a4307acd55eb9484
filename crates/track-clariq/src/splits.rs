//! The splits of the challenge.

use clariq_collections::Split;
use clariq_core::SplitRole;

/// `train.tsv`: everything is learned and tuned here.
pub const TRAIN: Split = Split::new(0, "train", SplitRole::Learn);
/// `dev.tsv`: systems are compared here.
pub const DEV: Split = Split::new(1, "dev", SplitRole::Tune);
/// `test_with_labels.tsv` if the user has it, else the requests of `test.tsv`, without labels.
pub const TEST: Split = Split::new(2, "test", SplitRole::HeldOut);

/// All splits in their usual order.
pub const ALL: [Split; 3] = [TRAIN, DEV, TEST];

/// The file that holds the labels of a split.
pub(crate) fn labelled_file(split: Split) -> &'static str {
    match split {
        TRAIN => "train.tsv",
        DEV => "dev.tsv",
        _ => "test_with_labels.tsv",
    }
}
