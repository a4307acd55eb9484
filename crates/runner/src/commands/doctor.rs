//! `clariq doctor`: what was found, what is missing, and how to fix it.

use crate::failure::{Failure, Outcome};
use crate::learned;
use crate::output::{Cell, Sheet};
use crate::settings::Settings;
use clariq_collections::{Collection, DataDir};
use clariq_core::{Documents, Engine, Isa, ModelKind, ModelOptions};
use clariq_experiment::{KeptTexts, cache, recipes};
use clariq_index::{Analyzer, DocumentIndex};
use std::fs;
use std::path::Path;

struct Finding {
    what: &'static str,
    found: String,
    /// The command that fixes it; `None` where nothing is missing.
    fix: Option<String>,
}

impl Finding {
    fn ok(what: &'static str, found: impl Into<String>) -> Self {
        Self { what, found: found.into(), fix: None }
    }

    fn missing(what: &'static str, found: impl Into<String>, fix: impl Into<String>) -> Self {
        Self { what, found: found.into(), fix: Some(fix.into()) }
    }
}

/// Whether the program with learned models is installed and starts: it reports more.
pub(crate) fn needs_models() -> bool {
    learned::program().is_some_and(|program| learned::trouble(&program).is_none())
}

pub(crate) fn doctor(settings: &Settings) -> Result<Outcome, Failure> {
    let mut findings = vec![
        Finding::ok("version", format!("clariq {}", env!("CARGO_PKG_VERSION"))),
        Finding::ok("threads", settings.threads.to_string()),
    ];
    findings.extend(data(settings));
    findings.push(cache_finding());
    findings.extend(learned(settings));
    let mut sheet = Sheet::new(&["what", "state", "found"]);
    for finding in &findings {
        let state = if finding.fix.is_none() { "ok" } else { "missing" };
        sheet.row(vec![Cell::text(finding.what), Cell::text(state), Cell::text(&finding.found)]);
    }
    sheet.print(settings.format)?;
    let sound = findings.iter().all(|finding| finding.fix.is_none());
    for (what, fix) in
        findings.iter().filter_map(|finding| Some((finding.what, finding.fix.as_ref()?)))
    {
        eprintln!("hint: {what}: {fix}");
    }
    Ok(if sound { Outcome::Done } else { Outcome::CheckFailed })
}

fn data(settings: &Settings) -> Vec<Finding> {
    let place = settings.data.to_string();
    let mut findings = match &settings.data {
        DataDir::Sample => vec![Finding::ok(
            "data",
            "the built-in sample (`clariq data fetch` gets the real files)",
        )],
        DataDir::Folder(_) => vec![Finding::ok("data", place.clone())],
    };
    let opened = clariq_collections::open_keeping(&settings.data, &KeptTexts::default());
    let collection = match opened {
        Ok(collection) => collection,
        Err(error) => {
            let report = error.to_problem();
            let fix = if settings.data == DataDir::Sample {
                report.hint.clone()
            } else {
                format!("clariq data fetch --data {place}")
            };
            findings.push(Finding::missing(
                "collection",
                format!("{}: {}", report.title(), report.found),
                fix,
            ));
            return findings;
        }
    };
    for task in collection.tasks() {
        findings.extend(task_findings(&*collection, task, &place));
    }
    findings
}

/// What is ranked in a task, the requests for it, and its indexes.
fn task_findings(collection: &dyn Collection, task: &'static str, place: &str) -> Vec<Finding> {
    let documents = match collection.documents(task) {
        Ok(documents) => documents,
        Err(error) => {
            let fix = format!("clariq data check --data {place}");
            return vec![Finding::missing(task, error.to_string(), fix)];
        }
    };
    let checksum = documents.checksum().short();
    let found = format!("{} of {}, checksum {checksum}", documents.len(), collection.kind());
    let mut findings = vec![Finding::ok(task, found)];
    let splits = collection.splits().iter();
    findings.extend(splits.map(|split| split_finding(collection, task, split, place)));
    findings.extend(Analyzer::ALL.map(|analyzer| index_finding(documents, analyzer)));
    findings
}

fn split_finding(
    collection: &dyn Collection,
    task: &str,
    split: &'static str,
    place: &str,
) -> Finding {
    if !collection.has(split) {
        return Finding::ok(split, "not in the folder");
    }
    let read = || -> Result<(usize, bool), clariq_core::Error> {
        let requests = collection.requests(split, task)?.collect::<Result<Vec<_>, _>>()?;
        Ok((requests.len(), collection.qrels(split, task)?.is_some()))
    };
    match read() {
        Ok((count, labelled)) => {
            let labels = if labelled { "with labels" } else { "without labels" };
            Finding::ok(split, format!("{count} requests, {labels}"))
        }
        Err(error) => {
            let fix = format!("clariq data check --data {place}");
            Finding::missing(split, error.to_string(), fix)
        }
    }
}

fn index_finding(documents: &dyn Documents, analyzer: Analyzer) -> Finding {
    let what = match analyzer {
        Analyzer::Nltk => "index nltk",
        Analyzer::English => "index english",
        Analyzer::Lucene => "index lucene",
    };
    let name = format!("{analyzer}-{}", documents.checksum().short());
    let folder = cache::folder().join("index").join(name);
    if !folder.exists() {
        return Finding::ok(what, "not built yet; the first run that needs it builds it");
    }
    match DocumentIndex::open(&folder) {
        Ok(index) => {
            Finding::ok(what, format!("{} documents in {}", index.documents(), folder.display()))
        }
        Err(error) => {
            let report = error.to_problem();
            let fix = format!("clariq index build --force --analyzer {analyzer}");
            Finding::missing(what, format!("{}: {}", report.title(), report.found), fix)
        }
    }
}

/// Learned models in this build, and the weights that they begin with.
fn learned(settings: &Settings) -> Vec<Finding> {
    let Some(engine) = settings.engine else { return vec![without_engine()] };
    let models = cache::folder().join("models");
    let weights = match recipes::installed(&models, "all-MiniLM-L6-v2") {
        Some(folder) => weights(engine, &folder),
        None => Finding::missing(
            "weights",
            format!("no all-MiniLM-L6-v2 in {}", models.display()),
            "clariq setup",
        ),
    };
    let isa = match settings.isa {
        Some(held) => format!("{held}, as on every x86 processor that has it"),
        None => {
            format!("{}; with `--isa avx2`, all x86 processors compute the same", Isa::effective())
        }
    };
    vec![
        Finding::ok("learned models", engine.describe()),
        Finding::ok("instruction set", isa),
        weights,
    ]
}

/// Why there is no engine: the other program is not installed, or it does not start.
fn without_engine() -> Finding {
    let trouble = learned::program().and_then(|program| {
        let trouble = learned::trouble(&program)?;
        Some(format!("{} does not start: {trouble}", program.display()))
    });
    match trouble {
        None => {
            let found =
                "not in this build; `pip install clariq-learned` or `scripts/install` adds them";
            Finding::ok("learned models", found)
        }
        Some(found) => {
            let fix = "clariq setup installs libtorch where it is missing";
            Finding::missing("learned models", found, fix)
        }
    }
}

fn weights(engine: &dyn Engine, folder: &Path) -> Finding {
    match engine.open(folder, ModelKind::Encoder, &ModelOptions::default()) {
        Ok(_) => Finding::ok("weights", folder.display().to_string()),
        Err(error) => {
            let report = error.to_problem();
            let found = format!("{}: {}", report.title(), report.found);
            Finding::missing("weights", found, "clariq setup --force")
        }
    }
}

fn cache_finding() -> Finding {
    let folder = cache::folder();
    // Created here if need be, as any command would; a test file shows whether it can be written.
    let writable = fs::create_dir_all(&folder).and_then(|()| probe(&folder));
    match writable {
        Ok(()) => Finding::ok("cache", folder.display().to_string()),
        Err(error) => Finding::missing(
            "cache",
            format!("{}: {error}", folder.display()),
            "set CLARIQ_CACHE to a folder of yours",
        ),
    }
}

fn probe(folder: &Path) -> std::io::Result<()> {
    let path = folder.join(format!(".doctor-{}.tmp", std::process::id()));
    fs::write(&path, b"")?;
    fs::remove_file(path)
}
