//! Which passages exist: the ids of the whole collection in a file that is built once and looked up
//! exactly.
//!
//! The collection of the track has 116,838,987 passages. Their ids share most of their characters,
//! so the set is kept as a minimal automaton (the `fst` crate): about a byte per id, and no false
//! positives. Building one needs the ids in byte order; as many as fit into memory are sorted and
//! become a set, and the sets are merged.

mod build;

pub use build::{BuildReport, MEMORY, build};

use clariq_core::{Error, problem};
use clariq_files::Source;
use fst::Set;
use std::path::Path;

/// More bytes than a file of passage ids may have: ten times what those of the track's collection
/// take.
const LARGEST: u64 = 2 << 30;

const HINT: &str =
    "`clariq data passage-ids LIST -o FILE` builds one of the lists that the track releases";

/// Opens a file of ids that [`build`] made, and checks that it is whole. It is held in memory as it
/// is on the disk.
pub fn open(path: &Path) -> Result<Set<Vec<u8>>, Error> {
    let bytes = Source::Path(path.to_owned()).read_at_most(LARGEST)?.bytes.into_owned();
    let refused = |error: fst::Error| {
        problem!(path, "a whole file of passage ids", (error.to_string()), HINT)
    };
    let ids = Set::new(bytes).map_err(refused)?;
    ids.as_fst().verify().map_err(refused)?;
    Ok(ids)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeSet;
    use std::fs;

    fn built(text: &str, memory: usize) -> (BuildReport, Set<Vec<u8>>) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("passages.ids");
        let source = Source::memory("ids", text.as_bytes());
        let report = build(&[source], &path, memory).unwrap();
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1, "nothing else is left");
        (report, open(&path).unwrap())
    }

    #[test]
    fn the_forms_of_the_track_are_read() {
        let text = "a\t0\tfec6\r\na\t1\tdf5e\n\nb:0\n{\"id\": \"c:0\", \"contents\": \"x\"}\n";
        let (report, ids) = built(text, 1 << 20);
        assert_eq!((report.ids, report.repeated, ids.len()), (4, 0, 4));
        assert!(["a:0", "a:1", "b:0", "c:0"].iter().all(|id| ids.contains(id)));
        assert!(!["a", "a:2", "a:00", "", "b:0 "].iter().any(|id| ids.contains(id)));
    }

    #[test]
    fn a_damaged_file_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("passages.ids");
        build(&[Source::memory("ids", *b"a:0\na:1\n")], &path, 1 << 20).unwrap();
        let mut bytes = fs::read(&path).unwrap();
        bytes[20] ^= 1;
        fs::write(&path, &bytes).unwrap();
        assert!(open(&path).is_err());
        fs::write(&path, b"a:0\n").unwrap();
        assert!(open(&path).is_err());
    }

    #[test]
    fn lines_of_another_form_are_problems_and_write_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("passages.ids");
        for text in ["a:0\na b c d\n", "a\tx\tfec6\n", "a:0\n{\"id\": 3}\n", "", "\u{0}\n\n:\n"] {
            assert!(
                build(&[Source::memory("ids", text.as_bytes())], &path, 1 << 20).is_err(),
                "{text}"
            );
            assert!(!path.exists());
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]

        #[test]
        fn the_file_holds_the_ids_in_any_order_and_no_other(
            names in prop::collection::vec((0..40_u32, 0..12_u32), 1..300),
            memory in prop_oneof![Just(64_usize), Just(1 << 20)],
        ) {
            let id = |(page, number): &(u32, u32)| format!("clueweb22-en{page:04}-00-00000:{number}");
            let text: String = names.iter().map(|name| id(name) + "\n").collect();
            let expected: BTreeSet<String> = names.iter().map(id).collect();
            let (report, ids) = built(&text, memory);
            prop_assert_eq!(report.ids, expected.len() as u64);
            prop_assert_eq!(report.repeated, (names.len() - expected.len()) as u64);
            for page in 0..40 {
                for number in 0..12 {
                    let id = id(&(page, number));
                    prop_assert_eq!(ids.contains(&id), expected.contains(&id));
                }
            }
        }
    }
}
