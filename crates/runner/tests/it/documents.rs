//! The README and the documentation: their console examples are run, and links hold.

use std::fs;
use std::path::{Path, PathBuf};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().unwrap()
}

/// The README and all pages of the documentation.
fn pages() -> Vec<PathBuf> {
    let mut pages = vec![root().join("README.md")];
    let mut folders = vec![root().join("docs")];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|extension| extension == "md") {
                pages.push(path);
            }
        }
    }
    pages.sort();
    assert!(pages.len() > 20, "{} pages", pages.len());
    pages
}

#[test]
fn console_examples_print_what_the_pages_show() {
    let folder = tempfile::tempdir().unwrap();
    let system = "name = \"my-system\"\n\n[[stages]]\nstage = \"bm25\"\nanalyzer = \"english\"\n\
                  variant = \"bm25plus\"\ndepth = 30\n";
    fs::write(folder.path().join("my-system.toml"), system).unwrap();
    let cache = folder.path().join("cache");
    crate::common::lend_weights(&cache);
    crate::common::share_vectors(&cache);
    for (from, to) in [("data/sample-own", "mine"), ("data/recorded", "data/recorded")] {
        let to = folder.path().join(to);
        fs::create_dir_all(&to).unwrap();
        for file in fs::read_dir(root().join(from)).unwrap() {
            let file = file.unwrap();
            fs::copy(file.path(), to.join(file.file_name())).unwrap();
        }
    }
    // The examples write below the folder they run in; the other tests of this file do not depend
    // on it.
    std::env::set_current_dir(folder.path()).unwrap();
    for page in pages() {
        trycmd::TestCases::new()
            .register_bin("cat", Path::new("/bin/cat"))
            .env("CLARIQ_CACHE", cache.to_str().unwrap())
            .case(&page);
    }
}

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

#[test]
fn every_linked_file_exists() {
    let mut followed = 0;
    let others = ["CONTRIBUTING.md", "ARCHITECTURE.md", "configs/README.md", "data/README.md"];
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
