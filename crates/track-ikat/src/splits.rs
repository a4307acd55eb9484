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
    name: &'static str,
    role: SplitRole,
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
            name: "2023-train",
            role: SplitRole::Learn,
            year: Year::Y2023,
            topics_file: "2023_train_topics.json",
            labels: &[],
        },
        Self {
            name: "2023-test",
            role: SplitRole::HeldOut,
            year: Year::Y2023,
            topics_file: "2023_test_topics.json",
            labels: &[
                ("ptkb_rel_org", LabelKind::Organisers),
                ("ptkb_rel_nist", LabelKind::Nist),
                ("2023-qrels.all-turns.txt", LabelKind::Passages(GRADED_BY_NIST)),
            ],
        },
        Self {
            name: "2024",
            role: SplitRole::HeldOut,
            year: Year::Y2024,
            topics_file: "2024_test_topics.json",
            labels: &[
                ("2024_test_qrels.trec", LabelKind::Passages(GRADED_BY_NIST)),
                ("gold_response_and_nuggets_human.json", LabelKind::Answers),
            ],
        },
        Self {
            name: "2025",
            role: SplitRole::HeldOut,
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
        Split::new(self.name, self.role)
    }

    /// The name on the command line and in file names.
    pub const fn name(self) -> &'static str {
        self.name
    }

    /// The split of this name.
    ///
    /// ```
    /// use clariq_track_ikat::IkatSplit;
    ///
    /// assert_eq!(IkatSplit::parse("2023-test"), Some(IkatSplit::TEST_2023));
    /// assert_eq!(IkatSplit::parse("dev"), None);
    /// ```
    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|split| split.name == name)
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
        f.pad(self.name)
    }
}
