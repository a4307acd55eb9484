//! `Cargo.lock` beside a copy of the advisories about its packages, without a network.

use semver::{Version, VersionReq};
use serde::Deserialize;
use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

#[derive(Deserialize)]
struct Advisories {
    advisory: Vec<Advisory>,
}

#[derive(Deserialize)]
struct Advisory {
    id: String,
    package: String,
    patched: Vec<VersionReq>,
    #[serde(default)]
    unaffected: Vec<VersionReq>,
}

#[derive(Deserialize)]
struct LockFile {
    package: Vec<LockedPackage>,
}

#[derive(Deserialize)]
struct LockedPackage {
    name: String,
    version: Version,
}

#[derive(Deserialize)]
struct Deny {
    advisories: Exceptions,
}

#[derive(Deserialize)]
struct Exceptions {
    ignore: BTreeSet<String>,
}

fn read<T: for<'de> Deserialize<'de>>(file: &str) -> T {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(file);
    toml::from_str(&fs::read_to_string(path).unwrap()).unwrap()
}

/// No package has a known defect but those that `deny.toml` excepts, and it excepts no others.
#[test]
fn the_exceptions_of_deny_are_the_known_defects() {
    let Advisories { advisory } = read("crates/runner/tests/advisories.toml");
    let LockFile { package } = read("Cargo.lock");
    let Deny { advisories } = read("deny.toml");
    let is_affected = |advisory: &Advisory| {
        let is_good = |version: &Version| {
            let mut good = advisory.patched.iter().chain(&advisory.unaffected);
            good.any(|versions| versions.matches(version))
        };
        let mut locked = package.iter().filter(|locked| locked.name == advisory.package);
        locked.any(|locked| !is_good(&locked.version))
    };
    let affected: BTreeSet<String> =
        advisory.iter().filter(|one| is_affected(one)).map(|one| one.id.clone()).collect();
    assert_eq!(affected, advisories.ignore);
}

/// The reason of the exception for protobuf: no source names the crate that parses with it.
#[test]
fn nothing_here_calls_the_crate_that_parses_protobufs() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let mut folders: Vec<_> =
        fs::read_dir(root).unwrap().map(|entry| entry.unwrap().path().join("src")).collect();
    let mut files = 0;
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).into_iter().flatten() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|ending| ending == "rs") {
                let text = fs::read_to_string(&path).unwrap();
                assert!(!text.contains("rust_tokenizers"), "{}", path.display());
                files += 1;
            }
        }
    }
    assert!(files > 100, "the sources of all crates");
}
