//! The small iKAT collection that is part of the program.

use clariq_files::Source;

/// Declares the files of the sample by their names, which are those of the track's files.
macro_rules! sample {
    ($($(#[$doc:meta])* $file:ident: $name:literal),* $(,)?) => {
        /// A file of the sample collection, as it is in `data/sample-ikat`. Conversations,
        /// statements, passages and labels were written for this project.
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub enum Sample {
            $($(#[$doc])* $file),*
        }

        impl Sample {
            /// All files.
            pub const ALL: &[Self] = &[$(Self::$file),*];

            /// The file's name, which is that of the track's file of that kind.
            pub fn file_name(self) -> &'static str {
                match self {
                    $(Self::$file => $name),*
                }
            }

            /// The file's content.
            pub fn source(self) -> Source {
                match self {
                    $(Self::$file => Source::Embedded {
                        name: concat!("<sample-ikat>/", $name),
                        bytes: include_bytes!(concat!("../../sample-ikat/", $name)),
                    }),*
                }
            }
        }
    };
}

sample! {
    /// Conversations in the form of 2023, with labels.
    Topics: "2023_test_topics.json",
    /// The passages, as JSON lines.
    Passages: "passages.jsonl",
    /// Labels of statements of every turn that has a relevant one, made by who wrote the turns.
    OrganisersLabels: "ptkb_rel_org",
    /// Labels of statements for whole conversations, made by a second reading as NIST does it.
    NistLabels: "ptkb_rel_nist",
    /// Graded labels of passages.
    PassageLabels: "2023-qrels.all-turns.txt",
}
