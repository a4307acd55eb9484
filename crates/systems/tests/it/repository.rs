//! What the README and the documentation say of this repository.

use crate::pages::{pages, root};
use std::fs;
use std::process::Command;

#[test]
fn the_readme_has_at_most_450_words() {
    let readme = fs::read_to_string(root().join("README.md")).unwrap();
    let words = readme.split_whitespace().count();
    assert!(words <= 450, "{words} words");
}

#[test]
fn the_readme_names_the_gate() {
    let readme = fs::read_to_string(root().join("README.md")).unwrap();
    assert!(readme.contains("`scripts/test` is the gate"));
    assert!(fs::read_to_string(root().join(".ci/run")).unwrap().contains("exec scripts/test"));
}

#[test]
fn the_repository_has_one_address() {
    let address = env!("CARGO_PKG_REPOSITORY");
    let mut named = 0;
    let others = ["CITATION.cff", "SECURITY.md"].map(|name| root().join(name));
    for page in pages().into_iter().chain(others) {
        let text = fs::read_to_string(&page).unwrap();
        for (start, _) in text.match_indices("https://github.com/") {
            let rest = &text[start..];
            let end = rest.find([' ', '\n', ')', '>']).unwrap_or(rest.len());
            let mut parts = rest[..end].splitn(6, '/');
            if parts.nth(4) == Some("clariq") {
                assert!(rest.starts_with(address), "{}: {}", page.display(), &rest[..end]);
                named += 1;
            }
        }
    }
    assert!(named >= 5, "{named} addresses");
}

/// Scripts that would end with an error, and not begin to work, if they did not know the option.
#[test]
fn scripts_print_their_usage() {
    for name in ["check-tutorials", "check-wheels", "docs", "install", "pack-programs"] {
        let script = root().join("scripts").join(name);
        let shown = Command::new(&script).arg("--help").output().expect("it starts");
        let text = String::from_utf8(shown.stdout).unwrap();
        let usage = format!("\nUsage: scripts/{name} ");
        assert!(shown.status.success() && text.contains(&usage), "{name}: {text}");
    }
}

#[test]
fn every_linked_file_exists() {
    let mut followed = 0;
    let others = [
        "CONTRIBUTING.md",
        "ARCHITECTURE.md",
        "configs/README.md",
        "configs/EXPERIMENTS.md",
        "crates/tracks/tests/CHALLENGES.md",
        "data/README.md",
    ];
    for page in pages().into_iter().chain(others.map(|name| root().join(name))) {
        let text = fs::read_to_string(&page).unwrap();
        let links = text.split("](").skip(1).filter_map(|rest| rest.split(')').next());
        for link in links.filter(|link| !link.starts_with("http") && !link.starts_with('#')) {
            let file = link.split('#').next().unwrap();
            assert!(page.with_file_name(file).exists(), "{}: {link}", page.display());
            followed += 1;
        }
    }
    assert!(followed > 50, "{followed} links");
}
