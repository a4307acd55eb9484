//! Do archives unpack to what they hold, once, and never to anything outside the data folder?

use super::bench::{Bench, archive, downloaded, entry, kind, text};
use super::server::Server;
use clariq_collections::clariq::fetch::{Base, FetchRequest, Outcome, Quiet, Unpack, fetch};
use clariq_core::ProblemKind;
use flate2::Compression;
use flate2::write::GzEncoder;
use std::fs;
use std::io::Write;
use std::path::Path;

/// A gzipped tar of raw entries: the `tar` crate itself refuses to write most of the bad ones.
fn tar_gz(entries: &[(&str, tar::EntryType, &[u8])]) -> Vec<u8> {
    let mut tar = tar::Builder::new(GzEncoder::new(Vec::new(), Compression::fast()));
    for (name, kind, bytes) in entries {
        let mut header = tar::Header::new_gnu();
        header.as_old_mut().name[..name.len()].copy_from_slice(name.as_bytes());
        header.set_entry_type(*kind);
        header.set_mode(0o644);
        header.set_size(bytes.len() as u64);
        if !kind.is_file() {
            header.as_old_mut().linkname[..6].copy_from_slice(b"/tmp/x");
        }
        header.set_cksum();
        tar.append(&header, *bytes).unwrap();
    }
    let mut gz = tar.into_inner().unwrap();
    gz.flush().unwrap();
    gz.finish().unwrap()
}

const FILE: tar::EntryType = tar::EntryType::Regular;

#[test]
fn archives_are_unpacked_once_until_they_change() {
    let packed = tar_gz(&[
        ("./", tar::EntryType::Directory, b""),
        ("./in/a.pkl", FILE, b"A"),
        ("b.pkl", FILE, b"B"),
    ]);
    let server = Server::with(&[("x.tar.gz", &packed)]);
    let bench = Bench::at(&server);
    let files = || vec!["in/a.pkl".to_owned(), "b.pkl".to_owned()];
    let first = bench.outcomes(&[archive("x.tar.gz")]);
    assert_eq!(first, [downloaded(packed.len(), false), Outcome::Unpacked { files: files() }]);
    assert_eq!((bench.read("in/a.pkl"), bench.read("b.pkl")), (b"A".to_vec(), b"B".to_vec()));
    assert_eq!(bench.names(), [".x.tar.gz.unpacked", "b.pkl", "in", "x.tar.gz"]);

    assert_eq!(
        bench.outcomes(&[archive("x.tar.gz")])[1],
        Outcome::UnpackedBefore { files: files() }
    );
    fs::remove_file(bench.path("b.pkl")).unwrap();
    assert_eq!(bench.outcomes(&[archive("x.tar.gz")])[1], Outcome::Unpacked { files: files() });
    fs::write(bench.path("b.pkl"), "cut or edited").unwrap();
    assert_eq!(bench.outcomes(&[archive("x.tar.gz")])[1], Outcome::Unpacked { files: files() });
    fs::write(bench.path("x.tar.gz"), tar_gz(&[("b.pkl", FILE, b"C")])).unwrap();
    assert_eq!(
        bench.outcomes(&[archive("x.tar.gz")])[1],
        Outcome::Unpacked { files: vec!["b.pkl".to_owned()] }
    );
    assert_eq!(bench.read("b.pkl"), b"C");
}

#[test]
fn a_split_archive_is_read_as_one() {
    let packed = tar_gz(&[("big.pkl", FILE, &text(100_000))]);
    let (aa, ab) = packed.split_at(packed.len() / 2);
    let server = Server::with(&[("x.tar.gz.aa", aa)]);
    let bench = Bench::at(&server);
    let piece = |name| entry(name, None, false, Unpack::PieceOf("x.tar.gz"));
    let entries = [piece("x.tar.gz.aa"), piece("x.tar.gz.ab")];
    assert_eq!(bench.outcomes(&entries)[1..], [Outcome::NotThere, Outcome::NotThere]);
    server.change(|b| drop(b.files.insert("x.tar.gz.ab".to_owned(), ab.to_vec())));
    let fetched = bench.fetch(&entries).unwrap();
    assert_eq!(fetched[2].name, "x.tar.gz");
    assert_eq!(fetched[2].outcome, Outcome::Unpacked { files: vec!["big.pkl".to_owned()] });
    assert_eq!(bench.read("big.pkl"), text(100_000));
}

/// Unpacks an archive that must be refused and returns the message; the folder holds only the archive afterwards.
fn refused(packed: &[u8]) -> String {
    let outer = tempfile::tempdir().unwrap();
    let source = outer.path().join("source");
    fs::create_dir(&source).unwrap();
    fs::write(source.join("x.tar.gz"), packed).unwrap();
    let mut request = FetchRequest::new(outer.path().join("data"));
    (request.base, request.entries) = (Base::Folder(source), vec![archive("x.tar.gz")]);
    let error = fetch(&request, &mut Quiet).unwrap_err();
    assert_eq!(kind(&error), Some(ProblemKind::Archive), "{error}");
    let count = |path: &Path| fs::read_dir(path).unwrap().count();
    assert_eq!((count(outer.path()), count(&request.folder)), (2, 1), "{error}");
    error.to_string()
}

#[test]
fn entries_that_are_not_files_inside_the_folder_are_refused_by_name() {
    use tar::EntryType as Kind;
    for (name, kind) in [
        ("../evil", FILE),
        ("in/../../evil", FILE),
        ("/tmp/clariq-evil", FILE),
        ("../evil/", Kind::Directory),
        ("link", Kind::Symlink),
        ("hard", Kind::Link),
        ("pipe", Kind::Fifo),
        ("train.tsv", FILE),
    ] {
        let message = refused(&tar_gz(&[("good.pkl", FILE, b"good"), (name, kind, b"")]));
        assert!(message.contains(&format!("`{name}`")), "{message}");
    }
    assert!(!Path::new("/tmp/clariq-evil").exists());
    let message = refused(&tar_gz(&[("link", Kind::Symlink, b""), ("link/evil", FILE, b"evil")]));
    assert!(message.contains("`link`"), "{message}");
}

#[test]
fn damaged_archives_unpack_to_nothing() {
    let whole = tar_gz(&[("a.pkl", FILE, &text(100_000))]);
    refused(&whole[..whole.len() / 2]);
    refused(&whole[..whole.len() - 4]);
    refused(b"not an archive");
    refused(&tar_gz(&[]));
}

#[cfg(unix)]
#[test]
fn a_link_in_the_data_folder_leads_no_entry_out_of_it() {
    let elsewhere = tempfile::tempdir().unwrap();
    let packed = tar_gz(&[("a.pkl", FILE, b"a"), ("out/evil", FILE, b"evil")]);
    let bench = Bench::at(&Server::with(&[("x.tar.gz", &packed)]));
    std::os::unix::fs::symlink(elsewhere.path(), bench.path("out")).unwrap();
    let error = bench.fetch(&[archive("x.tar.gz")]).unwrap_err();
    assert_eq!(kind(&error), Some(ProblemKind::Archive), "{error}");
    assert_eq!(fs::read_dir(elsewhere.path()).unwrap().count(), 0);
    assert_eq!(bench.names(), ["out", "x.tar.gz"]);
}
