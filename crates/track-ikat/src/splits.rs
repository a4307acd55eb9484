//! The splits of the track, with the names of their files. A new year whose files have the form of an
//! earlier year is one more split and one more row of `FILES`.

use super::qrels::{GRADED_BY_MODEL, GRADED_BY_NIST, LabelKind};
use super::topics::Year;
use clariq_collections::Split;
use clariq_core::SplitRole;

/// The split whose labels were released first; the sample has its form.
pub const TEST_2023: Split = Split::new(1, "2023-test", SplitRole::HeldOut);

/// All splits, in the order of their release.
pub const ALL: [Split; 4] = [
    Split::new(0, "2023-train", SplitRole::Learn),
    TEST_2023,
    Split::new(2, "2024", SplitRole::HeldOut),
    Split::new(3, "2025", SplitRole::HeldOut),
];

/// A file of topics that the track released, and the labels for it.
pub(crate) struct SplitFiles {
    /// The year whose form topics and runs have.
    pub(crate) year: Year,
    pub(crate) topics: &'static str,
    pub(crate) labels: &'static [(&'static str, LabelKind)],
}

/// The files of the splits, in the order of [`ALL`].
const FILES: [SplitFiles; ALL.len()] = [
    SplitFiles { year: Year::Y2023, topics: "2023_train_topics.json", labels: &[] },
    SplitFiles {
        year: Year::Y2023,
        topics: "2023_test_topics.json",
        labels: &[
            ("ptkb_rel_org", LabelKind::Organisers),
            ("ptkb_rel_nist", LabelKind::Nist),
            ("2023-qrels.all-turns.txt", LabelKind::Passages(GRADED_BY_NIST)),
        ],
    },
    SplitFiles {
        year: Year::Y2024,
        topics: "2024_test_topics.json",
        labels: &[
            ("2024_test_qrels.trec", LabelKind::Passages(GRADED_BY_NIST)),
            ("gold_response_and_nuggets_human.json", LabelKind::Answers),
        ],
    },
    SplitFiles {
        year: Year::Y2025,
        topics: "2025_test_topics.json",
        labels: &[
            ("ptkb-relevance-organizers.trec", LabelKind::Organisers),
            ("qrels-ptkb-nist.trec", LabelKind::Nist),
            ("qrels-nist.trec", LabelKind::Passages(GRADED_BY_NIST)),
            ("qrels-llm.txt", LabelKind::Passages(GRADED_BY_MODEL)),
            ("gold-response-nist.json", LabelKind::Answers),
        ],
    },
];

/// The files of a split.
pub(crate) fn files(split: Split) -> &'static SplitFiles {
    &FILES[split.place()]
}
