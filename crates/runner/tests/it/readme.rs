//! The documents: their console examples are run, the README's figures are those of `configs/`,
//! links hold.

use std::fs;
use std::path::{Path, PathBuf};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().unwrap()
}

#[test]
fn console_examples_print_what_the_documents_show() {
    let folder = tempfile::tempdir().unwrap();
    let system = "name = \"my-system\"\n\n[[stages]]\nstage = \"bm25\"\nanalyzer = \"english\"\n\
                  variant = \"bm25plus\"\ndepth = 30\n";
    fs::write(folder.path().join("my-system.toml"), system).unwrap();
    let pages: String = [12, 4].into_iter().enumerate().map(page).collect();
    fs::write(folder.path().join("pages.jsonl"), pages).unwrap();
    crate::common::lend_weights(&folder.path().join("cache"));
    fs::create_dir(folder.path().join("mine")).unwrap();
    for file in fs::read_dir(root().join("data/sample-own")).unwrap() {
        let file = file.unwrap();
        fs::copy(file.path(), folder.path().join("mine").join(file.file_name())).unwrap();
    }
    let documents = ["README.md", "docs/GUIDE.md"].map(|name| root().join(name));
    // The examples write below the folder they run in; the other tests of this file do not depend
    // on it.
    std::env::set_current_dir(folder.path()).unwrap();
    // One after the other: the guide compares runs that the README makes.
    for document in documents {
        trycmd::TestCases::new()
            .register_bin("cat", Path::new("/bin/cat"))
            .env("CLARIQ_CACHE", folder.path().join("cache").to_str().unwrap())
            .case(&document);
    }
}

/// A web page with so many sentences, as `ClueWeb22` releases them.
fn page((number, sentences): (usize, usize)) -> String {
    let text = "Tea is hot. ".repeat(sentences);
    format!(
        "{{\"ClueWeb22-ID\": \"clueweb22-en0000-00-0000{number}\", \"URL\": \"u\", \
         \"Clean-Text\": \"{text}\"}}\n"
    )
}

/// The systems of the table, in its order.
const SYSTEMS: [&str; 10] = [
    "no-question",
    "bm25",
    "bm25-english",
    "bm25-tuned",
    "bert-reranker",
    "bert-ranker",
    "dense",
    "dense-tuned",
    "strict",
    "best",
];

/// The systems of the second table, in its order.
const OF_IKAT: [&str; 5] =
    ["ikat-bm25", "ikat-dense", "ikat-automatic", "ikat-encoder", "ikat-manual"];

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

/// What is between two marks of the README.
fn marked(name: &str) -> String {
    let readme = fs::read_to_string(root().join("README.md")).unwrap();
    let (_, rest) = readme.split_once(&format!("<!-- {name}: begin -->\n")).unwrap();
    rest.split_once(&format!("<!-- {name}: end -->")).unwrap().0.to_owned()
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
    assert_eq!(marked("figures"), table);
}

#[test]
fn the_table_of_ikat_is_that_of_the_configurations() {
    let names = ["statements (organisers) nDCG@3", "statements (NIST) nDCG@3", "passages nDCG@3"];
    let mut table =
        "| system | statements | statements, NIST | passages |\n|---|--:|--:|--:|\n".to_owned();
    for system in OF_IKAT {
        table += &row(system, &expected(system, "ikat", "2023-test")["measures"], &names, 4);
    }
    assert_eq!(marked("ikat"), table);
}

#[test]
fn the_commands_of_the_readme_are_the_ones_that_the_gate_runs() {
    let readme = fs::read_to_string(root().join("README.md")).unwrap();
    let gate = fs::read_to_string(root().join("scripts/test")).unwrap();
    assert!(readme.contains("\nscripts/install\nclariq reproduce\n"));
    assert!(gate.contains("target/debug/clariq reproduce"));
    assert!(readme.contains("`scripts/test` is the gate"));
    assert!(fs::read_to_string(root().join(".ci/run")).unwrap().contains("exec scripts/test"));
}

/// The documents whose links are followed, and the least number of files that each links to.
const DOCUMENTS: [(&str, usize); 5] = [
    ("README.md", 5),
    ("CONTRIBUTING.md", 5),
    ("configs/README.md", 1),
    ("docs/EXPERIMENTS.md", 1),
    ("docs/GUIDE.md", 1),
];

#[test]
fn every_file_that_a_document_links_to_is_there() {
    for (document, least) in DOCUMENTS {
        let path = root().join(document);
        let text = fs::read_to_string(&path).unwrap();
        let links = text.split("](").skip(1).filter_map(|rest| rest.split(')').next());
        let files: Vec<&str> =
            links.filter(|link| !link.starts_with("http") && !link.starts_with('#')).collect();
        assert!(files.len() >= least, "{document} links to its neighbours");
        for file in files {
            assert!(path.with_file_name(file).exists(), "{document}: {file}");
        }
    }
}
