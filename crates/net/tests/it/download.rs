//! Downloads arrive whole, or leave the folder as it was.
//!
//! Everything runs against a local server.

mod server;

use clariq_core::{Checksum, Error, Job, Observer, Problem, Silent};
use clariq_net::Timeouts;
use clariq_net::download::{Downloader, LocalCopy, Origin, Published};
use server::Server;
use std::fs;
use std::net::TcpListener;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tempfile::TempDir;

/// A folder to download into, and an origin.
struct Bench {
    folder: TempDir,
    origin: Origin,
}

impl Bench {
    fn new(origin: &str) -> Self {
        let origin = Origin::parse(origin).unwrap();
        Self { folder: tempfile::tempdir().unwrap(), origin }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn read(&self, name: &str) -> Vec<u8> {
        fs::read(self.path(name)).unwrap()
    }

    fn names(&self) -> Vec<String> {
        let entries = fs::read_dir(self.folder.path()).unwrap();
        let mut names: Vec<_> =
            entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }

    /// Downloads a file of at most `most_bytes` whose published bytes are known or not.
    fn fetch_at_most(
        &self,
        name: &str,
        published: Option<&[u8]>,
        most_bytes: u64,
        observer: &dyn Observer,
    ) -> Result<Option<u64>, Error> {
        let sha256 = published.map(Checksum::of);
        let file = Published { name, sha256: sha256.as_ref().map(Checksum::as_str), most_bytes };
        let timeouts = Timeouts {
            connect: Duration::from_secs(5),
            stall: Duration::from_millis(400),
            whole: None,
        };
        Downloader::new(&self.origin, timeouts).fetch(&file, &self.path(name), observer)
    }

    fn fetch(&self, name: &str, published: Option<&[u8]>) -> Result<Option<u64>, Error> {
        self.fetch_at_most(name, published, 1 << 20, &Silent)
    }

    /// The report of a download that must fail.
    fn refused(&self, name: &str, published: Option<&[u8]>) -> Problem {
        self.fetch(name, published).unwrap_err().to_problem()
    }
}

fn text(len: usize) -> Vec<u8> {
    (0..len).map(|i| b'a' + u8::try_from(i % 23).unwrap()).collect()
}

#[derive(Clone, Default)]
struct Log(Arc<Mutex<Vec<String>>>);

impl Observer for Log {
    fn begin(&self, name: &str, total: Option<u64>) -> Box<dyn Job> {
        self.0.lock().unwrap().push(format!("{name} of {total:?}"));
        Box::new(self.clone())
    }
}

impl Job for Log {
    fn advance(&self, bytes: u64) {
        self.0.lock().unwrap().push(bytes.to_string());
    }
}

#[test]
fn a_download_is_verified_and_observed() {
    let body = text(300_000);
    let server = Server::with(&[("a", &body)]);
    let bench = Bench::new(&server.url);
    let log = Log::default();
    let came = bench.fetch_at_most("a", Some(&body), 300_000, &log).unwrap();
    assert_eq!((came, bench.read("a")), (Some(300_000), body));
    assert_eq!(bench.names(), ["a"]);
    let log = log.0.lock().unwrap();
    assert_eq!(log[0], "a of Some(300000)");
    assert_eq!(log.iter().filter_map(|line| line.parse::<u64>().ok()).sum::<u64>(), 300_000);
    let agent = server.seen()[0].user_agent.clone().unwrap();
    assert!(agent.starts_with("clariq/"), "{agent}");
}

#[test]
fn a_cut_download_leaves_nothing_and_begins_again() {
    let body = text(200_000);
    let server = Server::with(&[("a", &body)]);
    let bench = Bench::new(&server.url);
    for published in [None, Some(&*body)] {
        server.change(|behaviour| behaviour.cut_after = Some(70_000));
        let report = bench.refused("a", published);
        assert!(report.found.contains("70000 of 200000"), "{report:?}");
        assert!(report.hint.contains("from its beginning"), "{report:?}");
        assert_eq!(bench.names(), Vec::<String>::new());
    }
    server.change(|behaviour| behaviour.cut_after = None);
    assert_eq!(bench.fetch("a", Some(&body)).unwrap(), Some(200_000));
    assert_eq!((bench.read("a"), bench.names()), (body, vec!["a".to_owned()]));
}

#[test]
fn a_silent_server_is_given_up() {
    let body = text(5_000);
    let server = Server::with(&[("a", &body)]);
    server.change(|behaviour| {
        behaviour.cut_after = Some(1_000);
        behaviour.stall = Some(Duration::from_millis(1_500));
    });
    let report = Bench::new(&server.url).refused("a", Some(&body));
    assert!(report.found.contains("fell silent"), "{report:?}");
}

#[test]
fn an_endless_body_stops_at_the_published_size() {
    let server = Server::with(&[("a", &text(50_000))]);
    let bench = Bench::new(&server.url);
    fs::write(bench.path("a"), "old").unwrap();
    for (endless, found) in [(false, "50000 bytes are announced"), (true, "more came")] {
        server.change(|behaviour| behaviour.endless = endless);
        for published in [None, Some(&b"x"[..])] {
            let error = bench.fetch_at_most("a", published, 1_000, &Silent).unwrap_err();
            let report = error.to_problem();
            assert!(
                report.found.contains(found) && report.found.contains("at most 1000"),
                "{report:?}"
            );
            assert_eq!((bench.read("a"), bench.names()), (b"old".to_vec(), vec!["a".to_owned()]));
        }
    }
    let sent = server.seen().iter().map(|seen| seen.sent).max().unwrap();
    assert!(sent < 100_000_000, "{sent} bytes were taken from an endless body");
}

#[test]
fn a_wrong_digest_leaves_the_old_file_and_no_part() {
    let server = Server::with(&[("a", b"tampered")]);
    let bench = Bench::new(&server.url);
    fs::write(bench.path("a"), "old").unwrap();
    let error = bench.fetch("a", Some(b"released")).unwrap_err();
    let report = error.to_problem();
    assert!(report.expected.contains(Checksum::of(b"released").as_str()), "{report:?}");
    assert!(
        report.found.contains(Checksum::of(b"tampered").as_str()) && !report.hint.is_empty(),
        "{report:?}"
    );
    assert_eq!((bench.read("a"), bench.names()), (b"old".to_vec(), vec!["a".to_owned()]));

    server.change(|behaviour| drop(behaviour.files.insert("a".to_owned(), b"released".to_vec())));
    assert_eq!(bench.fetch("a", Some(b"released")).unwrap(), Some(8));
    assert_eq!(bench.read("a"), b"released");
}

#[test]
fn servers_that_refuse_or_lack_the_file_are_reported() {
    let server = Server::with(&[("a", b"x")]);
    let bench = Bench::new(&server.url);
    assert_eq!(bench.fetch("b", None).unwrap(), None);
    for (status, hint) in [(503, "later"), (403, "--from")] {
        server.change(|behaviour| behaviour.refuse = Some(status));
        let report = bench.refused("a", None);
        assert!(report.found.contains(&status.to_string()), "{report:?}");
        assert!(report.hint.contains(hint), "{report:?}");
    }
}

#[test]
fn the_hint_for_an_unreachable_server_names_a_download_by_hand() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/", listener.local_addr().unwrap());
    drop(listener);
    let report = Bench::new(&url).refused("a", None);
    assert!(report.found.contains("connection refused"), "{report:?}");
    assert!(report.hint.contains("--from DIR"), "{report:?}");

    let server = Server::with(&[("a", b"x")]);
    let report = Bench::new(&server.url.replace("http:", "https:")).refused("a", None);
    assert!(report.hint.contains("--from DIR"), "{report:?}");
}

#[test]
fn stand_ins_for_a_file_are_recognised() {
    let pointer = b"version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 5\n";
    let page = b"\n<!DOCTYPE html><html>log in</html>";
    let server = Server::with(&[("pointer", pointer), ("page", page), ("empty", b"")]);
    let bench = Bench::new(&server.url);
    for (name, what) in
        [("pointer", "a Git LFS pointer"), ("page", "a web page"), ("empty", "an empty file")]
    {
        let report = bench.refused(name, None);
        assert!(report.found.contains(what), "{report:?}");
    }
    assert_eq!(bench.names(), Vec::<String>::new());
    fs::write(bench.path("a"), pointer).unwrap();
    let file = Published { name: "a", sha256: None, most_bytes: 1 };
    let found = file.compare(&bench.path("a")).unwrap();
    assert_eq!(found, LocalCopy::Different("a Git LFS pointer".to_owned()));
}

#[test]
fn a_folder_is_as_good_as_a_server() {
    let source = tempfile::tempdir().unwrap();
    let origin = source.path().to_str().unwrap();
    fs::write(source.path().join("a"), b"released").unwrap();
    fs::create_dir(source.path().join("folder")).unwrap();
    let bench = Bench::new(origin);
    assert_eq!(bench.fetch("a", Some(b"released")).unwrap(), Some(8));
    assert_eq!(bench.fetch("absent", None).unwrap(), None);
    assert!(bench.fetch("folder", None).is_err());
    assert!(bench.fetch_at_most("a", None, 7, &Silent).is_err());
    assert_eq!((bench.read("a"), bench.names()), (b"released".to_vec(), vec!["a".to_owned()]));
    assert_eq!(fs::read_dir(source.path()).unwrap().count(), 2);
}
