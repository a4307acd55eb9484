//! The figures of the README and of the page of results are those of the configurations, and the README
//! of the leaderboard counts its entries.

use clariq_core::SplitRole;
use clariq_rank::ExpectedScores;
use clariq_systems::{SystemConfig, built_in};
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
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
const IKAT_SYSTEMS: [&str; 6] = [
    "ikat-bm25",
    "ikat-sparse",
    "ikat-dense",
    "ikat-automatic",
    "ikat-manual",
    "ikat-manual-labelled",
];

/// The figures that a system expects on a split of a real collection.
fn expected(system: &str, collection: &str, split: &str) -> ExpectedScores {
    let config = SystemConfig::open_any(system, &[]).unwrap();
    let is_wanted =
        |expected: &ExpectedScores| expected.collection == collection && expected.split == split;
    config.expected.into_iter().find(is_wanted).unwrap()
}

/// What a system uses beyond one request and the documents, as its runs declare it, and the data on which
/// its parameters were chosen.
fn uses(system: &str) -> String {
    let all = SystemConfig::open_any(system, &[]).unwrap().uses_for(Some(SplitRole::HeldOut));
    if all.is_empty() { "–".to_owned() } else { all.join("; ") }
}

/// A row of iKAT's table without the scores of statements, which a system was given with their labels.
fn without_statements(row: &str) -> String {
    let mut cells: Vec<&str> = row.split(" | ").collect();
    cells[2] = "–";
    cells[3] = "–";
    cells.join(" | ")
}

/// A row of figures as they are written: without the zero before the point.
fn row(label: &str, measures: &BTreeMap<String, f64>, names: &[&str], digits: usize) -> String {
    let figures = names.iter().map(|name| format!("{:.digits$}", measures[*name]));
    let figures: Vec<String> =
        figures.map(|figure| figure.trim_start_matches('0').to_owned()).collect();
    format!("| {label} | {} |\n", figures.join(" | "))
}

/// The text between two marks of the page of results.
fn marked(name: &str) -> String {
    let page = fs::read_to_string(root().join("docs/results.md")).unwrap();
    let (_, rest) = page.split_once(&format!("<!-- {name}: begin -->\n")).unwrap();
    rest.split_once(&format!("<!-- {name}: end -->")).unwrap().0.to_owned()
}

#[test]
fn the_table_of_figures_is_that_of_the_configurations() {
    let names = ["R@5", "R@10", "R@20", "R@30"];
    let mut table =
        "| system | uses | R@5 | R@10 | R@20 | R@30 |\n|---|---|--:|--:|--:|--:|\n".to_owned();
    for system in SYSTEMS {
        let label = format!("{system} | {}", uses(system));
        table += &row(&label, &expected(system, "clariq", "dev").measures, &names, 6);
    }
    let published = &expected("bm25", "clariq", "dev").published;
    table += &row("published BM25 | –", published, &names, 6);
    assert_eq!(marked("figures"), table);
}

#[test]
fn the_table_of_ikat_is_that_of_the_configurations() {
    let names = ["statements (organisers) nDCG@3", "statements (NIST) nDCG@3", "passages nDCG@3"];
    let header = "| system | uses | statements | statements, NIST | passages |\n";
    let mut table = format!("{header}|---|---|--:|--:|--:|\n");
    for system in IKAT_SYSTEMS {
        let label = format!("{system} | {}", uses(system));
        let row = row(&label, &expected(system, "ikat", "2023-test").measures, &names, 4);
        table += &if system == "ikat-manual-labelled" { without_statements(&row) } else { row };
    }
    assert_eq!(marked("ikat"), table);
}

/// The built-in systems in their groups, as `clariq systems` lists them, with their class and uses.
fn list_of_systems() -> String {
    let mut list = String::new();
    for (title, names, _) in built_in::groups() {
        writeln!(list, "\n### {title}\n\n| system | description | class, uses |\n|---|---|---|")
            .unwrap();
        for name in names {
            let config = SystemConfig::open_any(name, &[]).unwrap();
            let description = config.description.replace('|', "\\|");
            let class = config.class().map(|class| class.name().to_owned());
            let uses = config.uses.iter().map(ToString::to_string);
            let uses: Vec<String> = class.into_iter().chain(uses).collect();
            writeln!(list, "| `{name}` | {description} | {} |", uses.join("; ")).unwrap();
        }
    }
    list + "\n"
}

#[test]
fn the_list_of_systems_is_that_of_the_configurations() {
    let path = root().join("docs/reference/systems.md");
    let page = fs::read_to_string(&path).unwrap();
    let (before, rest) = page.split_once("<!-- systems: begin -->\n").unwrap();
    let (_, after) = rest.split_once("<!-- systems: end -->").unwrap();
    let list = list_of_systems();
    let made = format!("{before}<!-- systems: begin -->\n{list}<!-- systems: end -->{after}");
    if std::env::var_os("SNAPSHOTS").is_some_and(|mode| mode == "overwrite") {
        fs::write(&path, made).unwrap();
    } else {
        assert_eq!(page, made, "SNAPSHOTS=overwrite writes it");
    }
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
        let measures = &expected(system, "clariq", "dev").measures;
        let row = row(label, measures, &["R@5", "R@10", "R@20", "R@30"], 4);
        assert!(readme.contains(&row), "{row}");
    }
}

#[test]
fn the_leaderboard_readme_counts_its_entries() {
    let folder = root().join("configs/leaderboard");
    let readme = fs::read_to_string(folder.join("README.md")).unwrap();
    for (file, named) in [
        ("question_relevance.dev.tsv", "question relevance | Recall@30, then Recall@20, on test"),
        ("document_relevance.test.tsv", "document relevance, single turn | NDCG@3 on test"),
        ("clarification_need.tsv", "clarification need, dev and test in one table | F1 on test"),
    ] {
        let table = fs::read_to_string(folder.join(file)).unwrap();
        let entries = table.lines().skip(1).filter(|line| !line.starts_with('-')).count();
        assert!(readme.contains(&format!("{named} | {entries} |")), "{file}: {entries}");
    }
}
