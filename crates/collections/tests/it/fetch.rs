//! Do downloads arrive whole, resume where they broke, and leave the data folder alone when they are wrong?
//!
//! Everything runs against a server on this machine.

mod archives;
mod bench;
mod server;

use bench::{Bench, downloaded, kind, known, text, unknown};
use clariq_collections::clariq::fetch::{Base, Entry, Outcome, Progress};
use clariq_core::{Error, ProblemKind, Report, sha256_hex};
use server::{Behaviour, Server};
use std::fs;
use std::net::TcpListener;
use std::time::Duration;

const OLD: &[u8] = b"an older version";

#[derive(Default)]
struct Log(Vec<String>);

impl Progress for Log {
    fn start(&mut self, name: &str, done: u64, total: Option<u64>) {
        self.0.push(format!("{name} {done} of {total:?}"));
    }
    fn advance(&mut self, bytes: u64) {
        self.0.push(bytes.to_string());
    }
    fn finish(&mut self, outcome: &Outcome) {
        self.0.push(format!("{outcome:?}"));
    }
}

#[test]
fn a_fresh_download_is_verified_and_told_and_not_repeated() {
    let body = text(300_000);
    let server = Server::with(&[("train.tsv", &body), ("dev.qrel", b"x")]);
    let bench = Bench::at(&server);
    let entries = [known("train.tsv", &body), unknown("dev.qrel")];
    let mut log = Log::default();
    bench.watched(&entries, &mut log).unwrap();
    assert_eq!(bench.read("train.tsv"), body);
    assert_eq!(bench.names(), ["dev.qrel", "train.tsv"]);
    assert_eq!(log.0[0], "train.tsv 0 of Some(300000)");
    let moved: u64 = log.0.iter().filter_map(|line| line.parse::<u64>().ok()).sum();
    assert_eq!(moved, 300_001);
    assert_eq!(log.0.last().unwrap(), "Downloaded { bytes: 1, verified: false }");
    let agent = server.seen()[0].user_agent.clone().unwrap();
    assert!(agent.starts_with("clariq/"), "{agent}");

    let again = bench.outcomes(&entries);
    assert_eq!(again, [Outcome::Present { verified: true }, Outcome::Present { verified: false }]);
    assert_eq!(server.seen(), []);
}

#[test]
fn a_cut_download_resumes_with_only_the_rest() {
    let body = text(200_000);
    let server = Server::with(&[("train.tsv", &body)]);
    let bench = Bench::at(&server);
    // Without a checksum the ETag alone decides, so both ways are walked.
    for entry in [known("train.tsv", &body), unknown("train.tsv")] {
        let _ = fs::remove_file(bench.path("train.tsv"));
        server.change(|b| b.cut_after = Some(70_000));
        let error = bench.fetch(&[entry]).unwrap_err();
        let report = Report::from(&error);
        assert!(report.found.contains("70000 of 200000"), "{report:?}");
        assert!(
            report.hint.contains("train.tsv.part") && report.hint.contains("resumes"),
            "{report:?}"
        );
        assert_eq!(bench.read("train.tsv.part"), &body[..70_000]);
        assert!(!bench.path("train.tsv").exists());

        server.change(|b| b.cut_after = None);
        server.seen();
        assert_eq!(bench.outcomes(&[entry]), [downloaded(130_000, entry.sha256.is_some())]);
        let seen = server.seen();
        assert_eq!(seen.len(), 1);
        assert_eq!(seen[0].range.as_deref(), Some("bytes=70000-"));
        assert_eq!(seen[0].if_range.as_deref(), Some("\"v1\""));
        assert_eq!((seen[0].status, seen[0].sent), (206, 130_000));
        assert_eq!(bench.read("train.tsv"), body);
        assert_eq!(bench.names(), ["train.tsv"]);
    }
}

#[test]
fn a_silent_server_is_given_up_and_resumed() {
    let body = text(5_000);
    let server = Server::with(&[("train.tsv", &body)]);
    server.change(|b| (b.cut_after, b.stall) = (Some(1_000), Some(Duration::from_millis(1_500))));
    let bench = Bench::at(&server);
    let error = bench.fetch(&[known("train.tsv", &body)]).unwrap_err();
    assert!(error.to_string().contains("fell silent"), "{error}");
    assert_eq!(bench.read("train.tsv.part").len(), 1_000);
}

/// Leaves a part of `kept` bytes of `before` and then serves `after`; returns what the second call saw.
fn resumed(
    before: &[u8],
    after: &[u8],
    entry: Entry,
    change: impl Fn(&mut Behaviour),
) -> Vec<(u16, usize)> {
    let server = Server::with(&[(entry.name, before)]);
    let bench = Bench::at(&server);
    server.change(|b| b.cut_after = Some(1_000));
    bench.fetch(&[entry]).unwrap_err();
    server.seen();
    server.change(|b| {
        b.cut_after = None;
        b.files.insert(entry.name.to_owned(), after.to_vec());
        change(b);
    });
    bench.fetch(&[entry]).unwrap();
    assert_eq!(bench.read(entry.name), after);
    assert_eq!(bench.names(), [entry.name]);
    server.seen().iter().map(|seen| (seen.status, seen.sent)).collect()
}

#[test]
fn a_server_without_ranges_starts_over() {
    let body = text(3_000);
    assert_eq!(resumed(&body, &body, known("a", &body), |b| b.ignore_range = true), [(200, 3_000)]);
}

#[test]
fn a_changed_file_is_never_mixed_with_its_old_beginning() {
    let (old, new) = (text(3_000), vec![b'!'; 3_000]);
    let changed = |b: &mut Behaviour| b.etag = Some("\"v2\"".to_owned());
    assert_eq!(resumed(&old, &new, unknown("a"), changed), [(200, 3_000)]);
    let stubborn =
        |b: &mut Behaviour| (b.etag, b.ignore_if_range) = (Some("\"v2\"".to_owned()), true);
    assert_eq!(resumed(&old, &new, unknown("a"), stubborn), [(206, 2_000), (200, 3_000)]);
    let longer = vec![b'!'; 4_000];
    let silent = |b: &mut Behaviour| (b.etag, b.ignore_if_range) = (None, true);
    assert_eq!(resumed(&old, &longer, unknown("a"), silent), [(206, 3_000), (200, 4_000)]);
}

#[test]
fn a_range_that_the_server_cannot_give_starts_over() {
    let (old, new) = (text(3_000), text(500));
    assert_eq!(
        resumed(&old, &new, known("a", &new), |b| b.ignore_if_range = true),
        [(416, 0), (200, 500)]
    );
}

#[test]
fn without_etag_and_checksum_nothing_is_resumed() {
    let server = Server::with(&[("a", &text(3_000))]);
    server.change(|b| (b.cut_after, b.etag) = (Some(1_000), Some("W/\"weak\"".to_owned())));
    let bench = Bench::at(&server);
    let error = bench.fetch(&[unknown("a")]).unwrap_err();
    assert!(Report::from(&error).hint.contains("from its beginning"), "{error}");
    server.change(|b| b.cut_after = None);
    assert_eq!(bench.outcomes(&[unknown("a")]), [downloaded(3_000, false)]);
    assert!(server.seen().iter().all(|seen| seen.range.is_none()));
}

#[test]
fn a_wrong_checksum_leaves_the_old_file_and_no_part() {
    let server = Server::with(&[("train.tsv", b"tampered")]);
    let bench = Bench::at(&server);
    fs::write(bench.path("train.tsv"), OLD).unwrap();
    let error = bench.fetch(&[known("train.tsv", b"released")]).unwrap_err();
    assert_eq!(kind(&error), Some(ProblemKind::Checksum));
    let report = Report::from(&error);
    assert!(
        report.expected.contains(&sha256_hex(b"released"))
            && report.found.contains(&sha256_hex(b"tampered"))
    );
    assert!(!report.hint.is_empty());
    assert_eq!(bench.read("train.tsv"), OLD);
    assert_eq!(bench.names(), ["train.tsv"]);

    server.change(|b| drop(b.files.insert("train.tsv".to_owned(), b"released".to_vec())));
    assert_eq!(bench.outcomes(&[known("train.tsv", b"released")]), [downloaded(8, true)]);
    assert_eq!(bench.read("train.tsv"), b"released");
}

#[test]
fn a_file_that_the_server_lacks_is_an_error_only_if_it_is_needed() {
    let server = Server::with(&[]);
    let bench = Bench::at(&server);
    assert_eq!(bench.outcomes(&[unknown("test.qrel")]), [Outcome::NotThere]);
    let error = bench.fetch(&[known("train.tsv", b"")]).unwrap_err();
    assert!(
        matches!(&error, Error::Download { url, .. } if url.ends_with("/data/train.tsv")),
        "{error}"
    );
    assert_eq!(bench.names(), Vec::<String>::new());
}

#[test]
fn a_refusal_is_told_with_its_status() {
    let server = Server::with(&[("a", b"x")]);
    let bench = Bench::at(&server);
    for (status, hint) in [(503, "later"), (403, "--from")] {
        server.change(|b| b.refuse = Some(status));
        let error = bench.fetch(&[unknown("a")]).unwrap_err();
        assert!(error.to_string().contains(&status.to_string()), "{error}");
        assert!(Report::from(&error).hint.contains(hint), "{error}");
    }
}

#[test]
fn without_a_server_the_hint_names_the_way_by_hand() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/", listener.local_addr().unwrap());
    drop(listener);
    let bench = Bench::new(Base::parse(&url).unwrap());
    let error = bench.fetch(&[unknown("a")]).unwrap_err();
    let report = Report::from(&error);
    assert!(report.found.contains("connection refused"), "{report:?}");
    assert!(report.hint.contains("--from DIR"), "{report:?}");
}

#[test]
fn an_https_address_that_speaks_no_tls_is_an_error_like_any_other() {
    let server = Server::with(&[("a", b"x")]);
    let bench = Bench::new(Base::parse(&server.url.replace("http:", "https:")).unwrap());
    let error = bench.fetch(&[unknown("a")]).unwrap_err();
    assert!(
        matches!(&error, Error::Download { hint, .. } if hint.contains("--from DIR")),
        "{error}"
    );
}

#[test]
fn stand_ins_for_a_file_are_recognised_wherever_they_come_from() {
    let pointer = b"version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 5\n";
    let server =
        Server::with(&[("a.pkl", pointer), ("b.pkl", b"\n<!DOCTYPE html><html>log in</html>")]);
    let bench = Bench::at(&server);
    let error = bench.fetch(&[unknown("a.pkl")]).unwrap_err();
    assert!(
        error.to_string().contains("Git LFS pointer") && error.to_string().contains("a.pkl"),
        "{error}"
    );
    let error = bench.fetch(&[unknown("b.pkl")]).unwrap_err();
    assert!(error.to_string().contains("web page"), "{error}");
    assert_eq!(bench.names(), Vec::<String>::new());

    // A clone without Git LFS is no data folder yet: the pointer is replaced.
    fs::write(bench.path("a.pkl"), pointer).unwrap();
    server.change(|b| drop(b.files.insert("a.pkl".to_owned(), b"table".to_vec())));
    assert_eq!(bench.outcomes(&[unknown("a.pkl")]), [downloaded(5, false)]);
}

#[test]
fn a_folder_is_as_good_as_a_server() {
    let source = tempfile::tempdir().unwrap();
    fs::write(source.path().join("train.tsv"), b"released").unwrap();
    fs::write(source.path().join("dev.tsv"), b"tampered").unwrap();
    let bench = Bench::new(Base::parse(source.path().to_str().unwrap()).unwrap());
    let entries = [known("train.tsv", b"released"), unknown("test.qrel")];
    assert_eq!(bench.outcomes(&entries), [downloaded(8, true), Outcome::NotThere]);
    assert_eq!(bench.read("train.tsv"), b"released");
    assert_eq!(
        kind(&bench.fetch(&[known("dev.tsv", b"released")]).unwrap_err()),
        Some(ProblemKind::Checksum)
    );
    assert_eq!(
        kind(&bench.fetch(&[known("test.tsv", b"x")]).unwrap_err()),
        Some(ProblemKind::MissingFile)
    );
    assert_eq!(bench.names(), ["train.tsv"]);
    assert_eq!(fs::read_dir(source.path()).unwrap().count(), 2);
}
