//! The README and the documentation: their console examples are run, their figures are those of
//! `configs/`, and links hold.

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

/// The systems of the table, in its order.
const SYSTEMS: [&str; 17] = [
    "no-question",
    "bm25",
    "bm25-english",
    "bm25-tuned",
    "bert-reranker",
    "bert-ranker",
    "reranker-base",
    "ranker-base",
    "dense",
    "dense-base",
    "dense-tuned",
    "sparse",
    "sparse-tuned",
    "strict",
    "strict-base",
    "best",
    "best-base",
];

/// The systems of the second table, in its order.
const IKAT_SYSTEMS: [&str; 5] =
    ["ikat-bm25", "ikat-dense", "ikat-automatic", "ikat-manual", "ikat-manual-labelled"];

/// The figures that the configuration of a system expects on a split of a real collection.
fn expected(config: &str, collection: &str, split: &str) -> toml::Table {
    let text = fs::read_to_string(root().join(format!("configs/{config}.toml"))).unwrap();
    let value: toml::Table = text.parse().unwrap();
    let is_wanted = |entry: &&toml::Value| {
        entry["collection"].as_str() == Some(collection) && entry["split"].as_str() == Some(split)
    };
    let expected = value["expected"].as_array().unwrap().iter().find(is_wanted);
    expected.and_then(toml::Value::as_table).unwrap().clone()
}

/// A row of figures as they are written: without the zero before the point.
fn row(label: &str, measures: &toml::Value, names: &[&str], digits: usize) -> String {
    let figures =
        names.iter().map(|name| format!("{:.digits$}", measures[*name].as_float().unwrap()));
    let figures: Vec<String> =
        figures.map(|figure| figure.trim_start_matches('0').to_owned()).collect();
    format!("| {label} | {} |\n", figures.join(" | "))
}

/// The text between two marks of a page of the documentation.
fn marked(page: &str, name: &str) -> String {
    let page = fs::read_to_string(root().join("docs").join(page)).unwrap();
    let (_, rest) = page.split_once(&format!("<!-- {name}: begin -->\n")).unwrap();
    rest.split_once(&format!("<!-- {name}: end -->")).unwrap().0.to_owned()
}

#[test]
fn the_table_of_measures_is_that_of_the_catalogue() {
    assert_eq!(marked("reference/measures.md", "measures"), clariq_eval::measure_table());
}

#[test]
fn the_table_of_figures_is_that_of_the_configurations() {
    let names = ["R@5", "R@10", "R@20", "R@30"];
    let mut table = "| system | R@5 | R@10 | R@20 | R@30 |\n|---|--:|--:|--:|--:|\n".to_owned();
    for system in SYSTEMS {
        table += &row(system, &expected(system, "clariq", "dev")["measures"], &names, 6);
    }
    let published = &expected("bm25", "clariq", "dev")["published"];
    table += &row("published BM25", published, &names, 6);
    assert_eq!(marked("results.md", "figures"), table);
}

#[test]
fn the_table_of_ikat_is_that_of_the_configurations() {
    let names = ["statements (organisers) nDCG@3", "statements (NIST) nDCG@3", "passages nDCG@3"];
    let mut table =
        "| system | statements | statements, NIST | passages |\n|---|--:|--:|--:|\n".to_owned();
    for system in IKAT_SYSTEMS {
        table += &row(system, &expected(system, "ikat", "2023-test")["measures"], &names, 4);
    }
    assert_eq!(marked("results.md", "ikat"), table);
}

/// The rows of the README's table: how a row begins, and its system.
const README_ROWS: [(&str, &str); 5] = [
    ("`bm25`, equal to the published run", "bm25"),
    ("`dense`, all-MiniLM-L6-v2", "dense"),
    ("`strict`, each request by itself", "strict"),
    ("`best`, requests compete", "best"),
    ("`best-base`, 110 million parameters", "best-base"),
];

#[test]
fn the_figures_of_the_readme_are_those_of_the_configurations() {
    let readme = fs::read_to_string(root().join("README.md")).unwrap();
    for (label, system) in README_ROWS {
        let measures = &expected(system, "clariq", "dev")["measures"];
        let row = row(label, measures, &["R@5", "R@10", "R@20", "R@30"], 4);
        assert!(readme.contains(&row), "{row}");
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
