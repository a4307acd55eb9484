//! The small iKAT collection that is part of the program.

use clariq_files::Source;

/// A file of the sample collection, as it is in `data/sample-ikat`. Conversations, statements,
/// passages and labels were written for this project.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sample {
    /// Conversations in the form of 2023, with labels.
    Topics,
    /// The passages, as JSON lines.
    Passages,
    /// Labels of statements of every turn that has a relevant one, made by who wrote the turns.
    OrganisersLabels,
    /// Labels of statements for whole conversations, made by a second reading as NIST does it.
    NistLabels,
    /// Graded labels of passages.
    PassageLabels,
}

/// The files of the sample collection, as they are in `data/sample-ikat`.
macro_rules! sample {
    ($name:literal) => {
        Source::Embedded {
            name: concat!("<sample-ikat>/", $name),
            bytes: include_bytes!(concat!("../../sample-ikat/", $name)),
        }
    };
}

impl Sample {
    /// All files.
    pub const ALL: [Self; 5] = [
        Self::Topics,
        Self::Passages,
        Self::OrganisersLabels,
        Self::NistLabels,
        Self::PassageLabels,
    ];

    /// The file's name, which is that of the track's file of that kind.
    pub fn file_name(self) -> &'static str {
        match self {
            Self::Topics => "2023_test_topics.json",
            Self::Passages => "passages.jsonl",
            Self::OrganisersLabels => "ptkb_rel_org",
            Self::NistLabels => "ptkb_rel_nist",
            Self::PassageLabels => "2023-qrels.all-turns.txt",
        }
    }

    /// The file's content.
    pub fn source(self) -> Source {
        match self {
            Self::Topics => sample!("2023_test_topics.json"),
            Self::Passages => sample!("passages.jsonl"),
            Self::OrganisersLabels => sample!("ptkb_rel_org"),
            Self::NistLabels => sample!("ptkb_rel_nist"),
            Self::PassageLabels => sample!("2023-qrels.all-turns.txt"),
        }
    }
}
