//! Systems by name: configuration files, and the built-in systems.

use clariq_core::{Hint, Problem, ProblemKind, Result, problem, similar};
use clariq_files::Source;
use serde::Deserialize;
use std::path::Path;

/// Systems of `configs/` that rank the same.
struct Group {
    title: &'static str,
    /// Which of them to take: the page of results has the scores.
    advice: &'static str,
    /// The collection that they are for; `None` if they also rank others.
    collection: Option<&'static str>,
    /// Their names and files.
    systems: &'static [(&'static str, &'static str)],
}

/// All built-in systems, in the order in which `reproduce` shows them.
const GROUPS: [Group; 4] = [
    Group {
        title: "ClariQ's questions, and documents of your own",
        advice: "Documents: `bm25-english` without learned models, `hybrid` with them. ClariQ: `bm25-tuned`, or `best`; \
                 `strict` ranks each request by itself.",
        collection: None,
        systems: built_in!("../configs/"
            "no-question" "bm25" "bm25-english" "ql" "rm3" "bm25-tuned" "sparse" "sparse-tuned" "dense"
            "dense-base" "dense-tuned" "hybrid" "bert-reranker" "bert-ranker" "published-bert-reranker"
            "published-bert-ranker" "reranker-base" "ranker-base" "strict" "strict-base" "best"
            "best-base" "rerank-endpoint" "clariq-chat"
        ),
    },
    Group {
        title: "Conversations about ClariQ's topics",
        advice: "`bm25-conversation` without learned models, `dense-conversation` with them.",
        collection: None,
        systems: built_in!("../configs/" "bm25-multi-turn" "bm25-conversation" "dense-conversation"),
    },
    Group {
        title: "TREC iKAT: statements, passages and answers",
        advice: "`ikat-bm25` without learned models, `ikat-automatic` with them.",
        collection: Some("iKAT"),
        systems: built_in!("../configs/"
            "ikat-bm25" "ikat-sparse" "ikat-dense" "ikat-automatic" "ikat-manual"
            "ikat-manual-labelled" "ikat-rewritten" "ikat-reranked" "ikat-only-response"
            "ikat-t5" "ikat-organisers-2025" "ikat-chat"
        ),
    },
    Group {
        title: "MTRAG: passages, answers and questions",
        advice: "`mtrag-bm25` without learned models, `mtrag-hybrid` with them.",
        collection: Some("MTRAG"),
        systems: built_in!("../configs/"
            "mtrag-bm25-last" "mtrag-bm25-questions" "mtrag-bm25-rewritten" "mtrag-bm25"
            "mtrag-dense" "mtrag-hybrid" "mtrag-reranked" "mtrag-chat"
        ),
    },
];

/// The file of a built-in system.
fn built_in(name: &str) -> Option<&'static str> {
    all().find(|(known, _)| *known == name).map(|(_, text)| text)
}

/// The file `name`, or the built-in system of that name.
pub fn source(name: &str) -> Result<Source> {
    if Path::new(name).exists() {
        return Ok(Source::new(name));
    }
    let text = built_in(name).ok_or_else(|| unknown(name))?;
    Ok(Source::memory(file_of(name), text.as_bytes().to_vec()))
}

/// The file of a built-in system, for messages.
fn file_of(name: &str) -> String {
    format!("configs/{name}.toml")
}

fn all() -> impl Iterator<Item = (&'static str, &'static str)> {
    GROUPS.iter().flat_map(|group| group.systems.iter().copied())
}

/// The names of all built-in systems.
pub fn names() -> impl Iterator<Item = &'static str> {
    all().map(|(name, _)| name)
}

/// The titles of the groups of built-in systems, each with the names of its systems, and which of them to take.
pub fn groups() -> impl Iterator<Item = (&'static str, Vec<&'static str>, &'static str)> {
    GROUPS.iter().map(|group| (group.title, group.names().collect(), group.advice))
}

/// The collection that the built-in system in a file is for, if it is for one alone.
pub fn collection_of(file: &str) -> Option<&'static str> {
    let group = GROUPS.iter().find(|group| group.names().any(|name| file_of(name) == file));
    group?.collection
}

impl Group {
    fn names(&self) -> impl Iterator<Item = &'static str> {
        self.systems.iter().map(|(name, _)| *name)
    }
}

/// The keys of a system's file by which it is found.
#[derive(Deserialize)]
struct SystemNames {
    #[serde(default)]
    also: Vec<String>,
}

/// The built-in system that has a word among its other names.
fn system_also(word: &str) -> Option<&'static str> {
    let mut systems = all();
    let found = systems.find(|(_, text)| {
        let names: Option<SystemNames> = toml::from_str(text).ok();
        names.is_some_and(|names| names.also.iter().any(|also| also.eq_ignore_ascii_case(word)))
    });
    found.map(|(name, _)| name)
}

/// The dashes that word processors make of hyphens.
const DASHES: [char; 2] = ['\u{2013}', '\u{2014}'];

/// The problem of an unknown system. Its hint suggests a built-in system or a file with a similar name.
pub fn unknown(name: &str) -> Problem {
    let problem =
        problem!(name, "a built-in system or a configuration file", "nothing of that name");
    let listed: Vec<&str> = name.split(',').map(str::trim).collect();
    if listed.len() > 1 && listed.iter().all(|name| built_in(name).is_some()) {
        return problem.hint(format!("blanks separate systems: `{}`", listed.join(" ")));
    }
    if name.starts_with(DASHES) {
        let option = name.trim_start_matches(DASHES);
        return problem.hint(format!("two hyphens begin an option: `--{option}`"));
    }
    match meant(name) {
        Some(meant) => problem.hint(Hint::meant(meant)),
        None if Path::new(name).extension().is_some_and(|ending| ending == "toml") => {
            problem.kind(ProblemKind::System).hint("check the path")
        }
        None => problem.kind(ProblemKind::UnknownSystem),
    }
}

/// The system or file that may be meant by an unknown name.
pub fn meant(name: &str) -> Option<String> {
    let files = toml_files(Path::new(name).parent().unwrap_or(Path::new("")));
    let mut known: Vec<&str> = names().collect();
    known.extend(files.iter().map(String::as_str));
    let file = format!("{name}.toml");
    // A version may follow the word, as in `splade-v3`.
    let word = name.split('-').next().unwrap_or(name);
    let meant = known.iter().copied().find(|known| *known == file);
    let meant = meant.or_else(|| system_of(name)).or_else(|| system_also(name));
    meant.or_else(|| similar(name, known)).or_else(|| system_also(word)).map(str::to_owned)
}

/// The built-in system that a missing configuration file is named for.
fn system_of(file: &str) -> Option<&str> {
    let name = Path::new(file.strip_suffix(".toml")?).file_name()?.to_str()?;
    built_in(name).map(|_| name)
}

/// The configuration files in a folder.
fn toml_files(folder: &Path) -> Vec<String> {
    let place = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
    let mut files = Vec::new();
    for entry in std::fs::read_dir(place).into_iter().flatten().flatten() {
        let path = folder.join(entry.file_name());
        if path.extension().is_some_and(|ending| ending == "toml") {
            files.push(path.display().to_string());
        }
    }
    files
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn other_words_lead_to_systems() {
        for (word, system) in [
            ("splade", "sparse"),
            ("SPLADE-v3", "sparse"),
            ("bert", "bert-reranker"),
            ("cross-encoder", "bert-reranker"),
            ("bert-rankr", "bert-ranker"),
            ("reranker-bse", "reranker-base"),
        ] {
            assert_eq!(unknown(word).hint, Hint::meant(system));
        }
        assert_eq!(unknown("berthold").kind, ProblemKind::UnknownSystem);
    }

    #[test]
    fn a_word_leads_to_one_system_and_is_the_name_of_none() {
        let mut words = HashSet::new();
        for (name, text) in all() {
            let names: SystemNames = toml::from_str(text).unwrap();
            for word in names.also {
                assert!(built_in(&word).is_none(), "{name}: {word}");
                assert!(words.insert(word.clone()), "{name}: {word}");
            }
        }
        assert!(words.contains("splade"));
    }
}
