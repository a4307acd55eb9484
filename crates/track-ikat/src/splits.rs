//! The splits of the track, with the names of their files. A new year whose files have the form of an
//! earlier year is one more row of [`IkatSplit::ALL`].

use super::qrels::{GRADED_BY_MODEL, GRADED_BY_NIST, LabelKind};
use super::topics::Year;
use clariq_collections::Split;
use clariq_core::SplitRole;
use std::fmt;

/// A file of topics that the track released, and the labels for it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct IkatSplit {
    split: Split,
    year: Year,
    topics_file: &'static str,
    pub(super) labels: &'static [(&'static str, LabelKind)],
}

impl IkatSplit {
    /// The split whose labels were released first; the sample has its form.
    pub const TEST_2023: Self = Self::ALL[1];

    /// All splits, in the order of their release.
    pub const ALL: &[Self] = &[
        Self {
            split: Split::new(0, "2023-train", SplitRole::Learn),
            year: Year::Y2023,
            topics_file: "2023_train_topics.json",
            labels: &[],
        },
        Self {
            split: Split::new(1, "2023-test", SplitRole::HeldOut),
            year: Year::Y2023,
            topics_file: "2023_test_topics.json",
            labels: &[
                ("ptkb_rel_org", LabelKind::Organisers),
                ("ptkb_rel_nist", LabelKind::Nist),
                ("2023-qrels.all-turns.txt", LabelKind::Passages(GRADED_BY_NIST)),
            ],
        },
        Self {
            split: Split::new(2, "2024", SplitRole::HeldOut),
            year: Year::Y2024,
            topics_file: "2024_test_topics.json",
            labels: &[
                ("2024_test_qrels.trec", LabelKind::Passages(GRADED_BY_NIST)),
                ("gold_response_and_nuggets_human.json", LabelKind::Answers),
            ],
        },
        Self {
            split: Split::new(3, "2025", SplitRole::HeldOut),
            year: Year::Y2025,
            topics_file: "2025_test_topics.json",
            labels: &[
                ("ptkb-relevance-organizers.trec", LabelKind::Organisers),
                ("qrels-ptkb-nist.trec", LabelKind::Nist),
                ("qrels-nist.trec", LabelKind::Passages(GRADED_BY_NIST)),
                ("qrels-llm.txt", LabelKind::Passages(GRADED_BY_MODEL)),
                ("gold-response-nist.json", LabelKind::Answers),
            ],
        },
    ];

    /// All splits, for the collection.
    pub(super) const SPLITS: [Split; Self::ALL.len()] = {
        let mut splits = [Self::TEST_2023.as_split(); Self::ALL.len()];
        let mut index = 0;
        while index < splits.len() {
            splits[index] = Self::ALL[index].as_split();
            index += 1;
        }
        splits
    };

    /// It as a split of the collection.
    pub const fn as_split(self) -> Split {
        self.split
    }

    /// The name on the command line and in file names.
    pub const fn name(self) -> &'static str {
        self.split.name()
    }

    /// The year whose form topics and runs of this split have.
    pub fn year(self) -> Year {
        self.year
    }

    /// The name under which the track releases the topics.
    pub(crate) fn topics_file(self) -> &'static str {
        self.topics_file
    }
}

impl fmt::Display for IkatSplit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl From<Split> for IkatSplit {
    #[allow(clippy::indexing_slicing, reason = "the collection has these splits and no others")]
    fn from(split: Split) -> Self {
        Self::ALL[split.place()]
    }
}
