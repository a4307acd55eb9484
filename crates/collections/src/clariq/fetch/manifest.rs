//! Which files were released, what must they be, and what is to be done with them?
//!
//! The table belongs to one commit of the public repository. A digest stands where the released bytes are known;
//! a file without one is taken as it comes and reported as unverified.

/// The commit of the public repository that the digests belong to.
pub const COMMIT: &str = "46885a544581a0af8aff0681d29e4971807e2912";

/// Where the files come from unless the user names another place: the folder `data/` at [`COMMIT`].
pub const DEFAULT_BASE: &str = "https://raw.githubusercontent.com/aliannejadi/ClariQ/46885a544581a0af8aff0681d29e4971807e2912/data/";

/// One released file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Entry {
    /// The name, at the base and in the data folder: one path component.
    pub name: &'static str,
    /// The SHA-256 in lower-case hexadecimal; `None` where the released bytes are not known.
    pub sha256: Option<&'static str>,
    /// Whether the data folder is of no use without it, so that its absence at the base is an error.
    pub must_have: bool,
    /// Which selections it belongs to.
    pub group: Group,
    /// What happens to it once it is here.
    pub unpack: Unpack,
}

/// Files that are wanted together.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Group {
    /// Topics, questions, labels and the single-turn evaluation table.
    Core,
    /// The multi-turn conversations and evaluation tables, packed.
    Archives,
    /// Document ids per topic: large, and nothing here reads them.
    Documents,
}

/// What happens to a file once it is here.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unpack {
    /// It is used as it is.
    Keep,
    /// It is a `tar.gz` of its own.
    TarGz,
    /// It is a piece of the `tar.gz` of that name; the pieces follow each other in the order of the table.
    PieceOf(&'static str),
}

/// What a user can ask for at once.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Selection {
    /// [`Group::Core`]: all that single-turn systems need.
    #[default]
    Core,
    /// [`Group::Core`] and [`Group::Archives`].
    All,
}

impl Selection {
    /// The files of the selection, in the order of [`FILES`].
    pub fn entries(self) -> Vec<Entry> {
        FILES.iter().copied().filter(|entry| self.has(entry.group)).collect()
    }

    fn has(self, group: Group) -> bool {
        match group {
            Group::Core => true,
            Group::Archives => self == Self::All,
            Group::Documents => false,
        }
    }
}

/// The released file of that name, whatever its group.
pub fn released(name: &str) -> Option<Entry> {
    FILES.iter().copied().find(|entry| entry.name == name)
}

const MULTI_TURN_TRAIN: Unpack = Unpack::PieceOf("multi_turn_train_eval.pkl.tar.gz");

/// All released files.
pub const FILES: &[Entry] = &[
    must("question_bank.tsv", "266f501bdc31afbc8a763685ea0de82949137a2779241b325f5ee03026f42f1b"),
    must("train.tsv", "65d3da13b2d6ea77e7eaa45290894ffc162a5bd000e7640decd1b0a272a6e9d1"),
    must("dev.tsv", "68d2a5f87eab73721979b5f45f64099a9b2f080db1d0ce4b979d9daa4249906e"),
    must("test.tsv", "58f83a6fb1f50a2ccf7cb52e37b4a5b335ddd5905ddb80fc219b436513b85c85"),
    core("test_with_labels.tsv", None),
    core(
        "multi_turn_human_generated_data.tsv",
        Some("632a7c92dfedcc294e35bea6b2185df222d5705bf97a229d42b1186117cf203c"),
    ),
    core("train.qrel", None),
    core("dev.qrel", Some("39ff433c7f580a20476ac40468422d222079beb8d088aeb0f6cf4051625b75e6")),
    core("test.qrel", None),
    core("single_turn_train_eval.pkl", None),
    packed("dev_synthetic.pkl.tar.gz", Group::Archives, Unpack::TarGz),
    packed("train_synthetic.pkl.tar.gz", Group::Archives, Unpack::TarGz),
    packed("multi_turn_dev_eval.pkl.tar.gz", Group::Archives, Unpack::TarGz),
    packed("multi_turn_test_eval.pkl.tar.gz", Group::Archives, Unpack::TarGz),
    packed("multi_turn_train_eval.pkl.tar.gz.aa", Group::Archives, MULTI_TURN_TRAIN),
    packed("multi_turn_train_eval.pkl.tar.gz.ab", Group::Archives, MULTI_TURN_TRAIN),
    packed("top10k_docs_dict.pkl.tar.gz", Group::Documents, Unpack::TarGz),
];

const fn must(name: &'static str, sha256: &'static str) -> Entry {
    Entry { name, sha256: Some(sha256), must_have: true, group: Group::Core, unpack: Unpack::Keep }
}

const fn core(name: &'static str, sha256: Option<&'static str>) -> Entry {
    Entry { name, sha256, must_have: false, group: Group::Core, unpack: Unpack::Keep }
}

const fn packed(name: &'static str, group: Group, unpack: Unpack) -> Entry {
    Entry { name, sha256: None, must_have: false, group, unpack }
}

/// A `tar.gz` and the files that it is made of.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Archive {
    pub(super) name: &'static str,
    pub(super) pieces: Vec<&'static str>,
}

/// The archives among some files, each with its pieces in the given order.
pub(super) fn archives(entries: &[Entry]) -> Vec<Archive> {
    let mut archives: Vec<Archive> = Vec::new();
    for entry in entries {
        let name = match entry.unpack {
            Unpack::Keep => continue,
            Unpack::TarGz => entry.name,
            Unpack::PieceOf(name) => name,
        };
        match archives.iter_mut().find(|archive| archive.name == name) {
            Some(archive) => archive.pieces.push(entry.name),
            None => archives.push(Archive { name, pieces: vec![entry.name] }),
        }
    }
    archives
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_plain_and_digests_are_whole() {
        for entry in FILES {
            assert!(
                !entry.name.contains(['/', '\\']) && !entry.name.starts_with('.'),
                "{}",
                entry.name
            );
            let whole = |digest: &str| {
                digest.len() == 64 && digest.bytes().all(|b| b"0123456789abcdef".contains(&b))
            };
            assert!(entry.sha256.is_none_or(whole), "{}", entry.name);
        }
        assert!(DEFAULT_BASE.contains(COMMIT));
    }

    #[test]
    fn the_halves_of_an_archive_stay_in_order() {
        let archives = archives(&Selection::All.entries());
        let split = archives.last().unwrap();
        assert_eq!(split.name, "multi_turn_train_eval.pkl.tar.gz");
        assert_eq!(
            split.pieces,
            ["multi_turn_train_eval.pkl.tar.gz.aa", "multi_turn_train_eval.pkl.tar.gz.ab"]
        );
        assert_eq!(archives.len(), 5);
    }

    #[test]
    fn nobody_downloads_the_document_ids_by_accident() {
        assert!(Selection::All.entries().iter().all(|entry| entry.group != Group::Documents));
        assert!(released("top10k_docs_dict.pkl.tar.gz").is_some());
        assert!(Selection::Core.entries().iter().all(|entry| entry.unpack == Unpack::Keep));
    }
}
