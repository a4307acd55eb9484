//! A data folder for one test, and short ways to say what is fetched into it.

use super::server::Server;
use clariq_collections::clariq::fetch::{
    Base, Entry, FetchRequest, Fetched, Group, Limits, Outcome, Progress, Quiet, Unpack, fetch,
};
use clariq_core::{Error, ProblemKind, sha256_hex};
use std::fs;
use std::path::PathBuf;
use std::time::Duration;
use tempfile::TempDir;

/// A table entry; digests are leaked, as the real table is part of the program.
pub(crate) fn entry(
    name: &'static str,
    released: Option<&[u8]>,
    must_have: bool,
    unpack: Unpack,
) -> Entry {
    let sha256 = released.map(|bytes| &*sha256_hex(bytes).leak());
    Entry { name, sha256, must_have, group: Group::Core, unpack }
}

pub(crate) fn known(name: &'static str, bytes: &[u8]) -> Entry {
    entry(name, Some(bytes), true, Unpack::Keep)
}

pub(crate) fn unknown(name: &'static str) -> Entry {
    entry(name, None, false, Unpack::Keep)
}

pub(crate) fn archive(name: &'static str) -> Entry {
    entry(name, None, false, Unpack::TarGz)
}

/// A data folder and a way to fetch into it.
pub(crate) struct Bench {
    pub(crate) folder: TempDir,
    base: Base,
}

impl Bench {
    pub(crate) fn new(base: Base) -> Self {
        Self { folder: tempfile::tempdir().unwrap(), base }
    }

    pub(crate) fn at(server: &Server) -> Self {
        Self::new(Base::parse(&server.url).unwrap())
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub(crate) fn read(&self, name: &str) -> Vec<u8> {
        fs::read(self.path(name)).unwrap()
    }

    pub(crate) fn fetch(&self, entries: &[Entry]) -> Result<Vec<Fetched>, Error> {
        self.watched(entries, &mut Quiet)
    }

    pub(crate) fn watched(
        &self,
        entries: &[Entry],
        progress: &mut dyn Progress,
    ) -> Result<Vec<Fetched>, Error> {
        let mut request = FetchRequest::new(self.folder.path());
        request.base = self.base.clone();
        request.entries = entries.to_vec();
        request.limits =
            Limits { connect: Duration::from_secs(5), stall: Duration::from_millis(400) };
        fetch(&request, progress)
    }

    pub(crate) fn outcomes(&self, entries: &[Entry]) -> Vec<Outcome> {
        self.fetch(entries).unwrap().into_iter().map(|fetched| fetched.outcome).collect()
    }

    /// The names in the folder, sorted.
    pub(crate) fn names(&self) -> Vec<String> {
        let entries = fs::read_dir(self.folder.path()).unwrap();
        let mut names: Vec<String> =
            entries.map(|e| e.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }
}

pub(crate) fn text(len: usize) -> Vec<u8> {
    (0..len).map(|i| b'a' + u8::try_from(i % 23).unwrap()).collect()
}

pub(crate) fn kind(error: &Error) -> Option<ProblemKind> {
    if let Error::Problem(problem) = error { Some(problem.kind) } else { None }
}

pub(crate) fn downloaded(bytes: usize, verified: bool) -> Outcome {
    Outcome::Downloaded { bytes: bytes as u64, verified }
}
