//! Missing and changed files of an index, and folders with other files, lead to an error that names
//! them, or to the results of the intact index: never to a panic, a wrong score or a lost file.

use crate::common::{
    ANALYZER, Built, Numbers, bank, build, is_foreign, open_or_build, rankings, zipf_texts,
};
use clariq_collections::documents::Bank;
use clariq_core::{Error, Hit, ProblemKind};
use clariq_index::{BuildOptions, DocumentIndex, OpenedIndex};
use std::collections::BTreeMap;
use std::fs;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use tempfile::TempDir;

/// A folder's files and their bytes.
type Files = BTreeMap<String, Vec<u8>>;

fn files(folder: &Path) -> Files {
    let entries = fs::read_dir(folder).expect("a folder").map(|entry| entry.expect("an entry"));
    let file = |entry: fs::DirEntry| {
        (entry.file_name().into_string().expect("a name"), fs::read(entry.path()).expect("a file"))
    };
    entries.map(file).collect()
}

fn rebuild(folder: &Path, bank: &Bank) -> Result<DocumentIndex, Error> {
    DocumentIndex::rebuild(folder, bank, ANALYZER, &BuildOptions::default())
}

/// A small index whose files are to be damaged.
struct Intact {
    bank: Bank,
    built: Built,
    files: Files,
    rankings: Vec<Vec<Hit>>,
}

fn intact() -> Intact {
    let bank = bank(
        zipf_texts(11, 120, 12, 60).into_iter().chain(["river lamp".to_owned(), "lamp".to_owned()]),
    );
    let built = build(&bank);
    let files = files(built.folder.path());
    let rankings = rankings(&built.index);
    assert!(files.len() >= 8, "meta.json, our list, and the segment: {:?}", files.keys());
    Intact { bank, built, files, rankings }
}

/// The outcome of opening a damaged index.
#[derive(Debug, PartialEq)]
enum Outcome {
    Damaged,
    Foreign,
    SameResults(OpenedIndex),
}

impl Intact {
    /// A copy in which `name` holds `bytes`, or is missing.
    fn copy_with(&self, name: &str, bytes: Option<Vec<u8>>) -> TempDir {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let mut files = self.files.clone();
        files.remove(name);
        files.extend(bytes.map(|bytes| (name.to_owned(), bytes)));
        for (name, bytes) in files {
            fs::write(folder.path().join(name), bytes).expect("written");
        }
        folder
    }

    fn assert_reused(&self, folder: &Path) {
        let (index, opened) = open_or_build(folder, &self.bank).expect("the index");
        assert_eq!(opened, OpenedIndex::Reused);
        assert_eq!(rankings(&index), self.rankings);
    }

    /// Opens a copy in which `name` holds `bytes`, or is missing.
    fn outcome(&self, name: &str, bytes: Option<Vec<u8>>, what: &str) -> Outcome {
        let folder = self.copy_with(name, bytes);
        let opened = catch_unwind(AssertUnwindSafe(|| {
            open_or_build(folder.path(), &self.bank)
                .map(|(index, opened)| (rankings(&index), opened))
        }));
        match opened.unwrap_or_else(|_| panic!("a panic over `{name}` {what}")) {
            Ok((rankings, opened)) => {
                assert!(rankings == self.rankings, "wrong results over `{name}` {what}");
                Outcome::SameResults(opened)
            }
            Err(error) if error.kind() == Some(ProblemKind::Damaged) => Outcome::Damaged,
            Err(error) if is_foreign(&error) => Outcome::Foreign,
            Err(error) => panic!("`{name}` {what}: {error}"),
        }
    }

    /// Damages each file in turn. Files that no reader needs may be in any state. Damage to any
    /// other file must be reported, except if `meta.json` now names another bank: that index is
    /// rebuilt.
    fn check(&self, what: &str, damage: impl Fn(&[u8]) -> Option<Vec<u8>>) {
        for (name, bytes) in &self.files {
            let damaged = damage(bytes);
            if damaged.as_ref() == Some(bytes) {
                continue;
            }
            let outcome = self.outcome(name, damaged, what);
            let right = match &outcome {
                Outcome::Damaged => !name.starts_with('.'),
                Outcome::SameResults(OpenedIndex::Reused) => name.starts_with('.'),
                Outcome::SameResults(OpenedIndex::Rebuilt { .. }) => name == "meta.json",
                _ => false,
            };
            assert!(right, "`{name}` {what}: {outcome:?}");
        }
    }
}

#[test]
fn a_missing_index_file_is_an_error() {
    intact().check("missing", |_| None);
}

#[test]
fn a_truncated_index_file_is_an_error() {
    let intact = intact();
    intact.check("cut to half", |bytes| Some(bytes[..bytes.len() / 2].to_vec()));
    intact.check("cut by a byte and a line feed", |bytes| {
        Some(bytes[..bytes.len().saturating_sub(2)].to_vec())
    });
    // tantivy 0.27 itself panics over files of four to seven bytes.
    for length in 0..12 {
        intact.check(&format!("cut to {length}"), |bytes| {
            Some(bytes[..length.min(bytes.len())].to_vec())
        });
    }
}

#[test]
fn a_flipped_bit_in_an_index_is_an_error() {
    let intact = intact();
    let mut numbers = Numbers(5);
    for place in (0..40).map(|_| numbers.below(1 << 20)) {
        let bit = 1_u8 << (place % 8);
        intact.check(&format!("with bit {bit} flipped at {place}"), |bytes| {
            let mut bytes = bytes.to_vec();
            let length = bytes.len();
            if length > 0 {
                bytes[place % length] ^= bit;
            }
            Some(bytes)
        });
    }
}

#[test]
fn garbage_and_appended_bytes_in_an_index_are_an_error() {
    let intact = intact();
    intact.check("of zeros", |bytes| Some(vec![0; bytes.len()]));
    intact.check("of letters", |_| Some(b"garbage".repeat(30)));
    intact.check("of an empty JSON object", |_| Some(b"{}".to_vec()));
    intact.check("with a line more", |bytes| Some([bytes, b"garbage\n"].concat()));
    intact.check("reversed", |bytes| Some(bytes.iter().rev().copied().collect()));
}

#[test]
fn swapped_index_files_are_an_error() {
    // Both files are whole, and tantivy's checksums are right.
    let intact = intact();
    let of = |extension: &str| {
        intact.files.keys().find(|name| name.ends_with(extension)).expect("a file")
    };
    assert_eq!(
        intact.outcome(of(".term"), Some(intact.files[of(".idx")].clone()), "as .idx"),
        Outcome::Damaged
    );
}

#[test]
fn a_copy_without_hidden_files_is_whole() {
    let intact = intact();
    let folder = intact.built.folder.path();
    for name in intact.files.keys().filter(|name| name.starts_with('.')) {
        fs::remove_file(folder.join(name)).expect("removed");
    }
    intact.assert_reused(folder);
}

#[test]
fn rebuilding_repairs_an_index_with_any_damaged_file() {
    let intact = intact();
    for name in intact.files.keys() {
        for damage in [None, Some("garbage")] {
            let folder = intact.copy_with(name, damage.map(Into::into));
            let index = rebuild(folder.path(), &intact.bank).expect("repaired").into();
            assert_eq!(rankings(&index), intact.rankings, "`{name}` {damage:?}");
            intact.assert_reused(folder.path());
        }
    }
}

/// Both ways of building must refuse the folder and leave it as it is.
fn assert_refused(folder: &Path, bank: &Bank, found: &str) {
    let before = files(folder);
    let opened = open_or_build(folder, bank).map(|_| ());
    for result in [opened, rebuild(folder, bank).map(|_| ())] {
        let error = result.expect_err(found);
        assert!(is_foreign(&error) && error.to_problem().found.contains(found), "{error}");
    }
    assert_eq!(files(folder), before, "nothing may be touched");
}

#[test]
fn a_folder_that_is_no_index_is_refused_and_kept() {
    let bank = bank(["", "river"]);
    let cases = [
        ("notes.txt", "my notes"),
        (".hidden", "settings"),
        ("clariq-index.sha256.txt", "a name near ours"),
        ("0123456789abcdef0123456789abcdef", "a digest without an extension"),
    ];
    for (name, text) in cases {
        let folder = tempfile::tempdir().expect("a temporary folder");
        fs::write(folder.path().join(name), text).expect("written");
        assert_refused(folder.path(), &bank, name);
    }
    // A website's or another program's file of that name, parsable or not.
    for text in ["{}", "not JSON", r#"{"payload": 7}"#, r#"{"payload": "theirs"}"#] {
        let folder = tempfile::tempdir().expect("a temporary folder");
        fs::write(folder.path().join("meta.json"), text).expect("written");
        assert_refused(folder.path(), &bank, "an index that another program wrote");
    }
}

#[test]
fn another_programs_tantivy_index_is_refused_and_kept() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let mut schema = tantivy::schema::Schema::builder();
    let body = schema.add_text_field("body", tantivy::schema::TEXT);
    let index = tantivy::Index::create_in_dir(folder.path(), schema.build()).expect("an index");
    let mut writer: tantivy::IndexWriter =
        index.writer_with_num_threads(1, 15_000_000).expect("a writer");
    writer.add_document(tantivy::doc!(body => "theirs")).expect("added");
    writer.commit().expect("committed");
    writer.wait_merging_threads().expect("finished");
    assert_refused(folder.path(), &bank(["", "river"]), "an index that another program wrote");
}

#[test]
fn a_file_put_into_an_index_folder_is_kept() {
    let intact = intact();
    let folder = intact.built.folder.path();
    fs::write(folder.join("notes.txt"), "mine").expect("written");
    intact.assert_reused(folder);
    // Replacing would take the file along.
    assert_refused(folder, &bank(["", "another bank"]), "`notes.txt`");
    fs::remove_file(folder.join("notes.txt")).expect("removed");
    fs::create_dir(folder.join(".git")).expect("created");
    let error = open_or_build(folder, &bank(["", "another bank"])).err().expect("an error");
    assert!(is_foreign(&error), "{error}");
}

#[test]
fn a_path_that_is_a_file_is_refused_and_kept() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = folder.path().join("index");
    fs::write(&path, "a file").expect("written");
    let error = open_or_build(&path, &bank(["", "river"])).err().expect("an error");
    assert!(is_foreign(&error), "{error}");
    let inside = open_or_build(&path.join("deeper"), &bank(["", "river"])).err().expect("an error");
    assert!(matches!(inside, Error::Io { .. }), "{inside}");
    assert_eq!(fs::read(&path).expect("kept"), b"a file");
}

/// Sets the mode of a folder. True if this process can then not write to it: root can.
fn is_refused_under(folder: &Path, mode: u32) -> bool {
    use std::os::unix::fs::PermissionsExt as _;
    fs::set_permissions(folder, fs::Permissions::from_mode(mode)).expect("set");
    fs::write(folder.join("probe"), "").is_err()
}

#[test]
fn an_index_that_cannot_be_written_is_still_read() {
    let intact = intact();
    let folder = intact.built.folder.path();
    if is_refused_under(folder, 0o555) {
        intact.assert_reused(folder);
        let error = open_or_build(&folder.join("new"), &intact.bank).err().expect("an error");
        assert!(matches!(error, Error::Io { .. }), "{error}");
    }
    is_refused_under(folder, 0o755);
}

#[test]
fn an_index_that_cannot_be_read_is_an_error_of_the_system() {
    let intact = intact();
    let folder = intact.built.folder.path();
    for mode in [0o000, 0o444] {
        if is_refused_under(folder, mode) {
            let error = open_or_build(folder, &intact.bank).err().expect("an error");
            assert!(matches!(error, Error::Io { .. }), "{error}");
        }
    }
    is_refused_under(folder, 0o755);
}
