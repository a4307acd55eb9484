//! `clariq doctor`: the state of the installation and the data, with hints for missing parts.

mod gpus;

use crate::failure::Outcome;
use crate::learned;
use crate::messages::say;
use crate::output::{Cell, Sheet};
use crate::settings::Settings;
use clariq_collections::{Collection, DataDir, Split, Task};
use clariq_core::{Documents, Error, ModelKind, ModelOptions, Result, count_of, instruction_set};
use clariq_experiment::installed::{self, BASE_MODEL, DEFAULT_MODEL};
use clariq_experiment::{TextStores, cache};
use clariq_index::{Analyzer, DocumentIndex};
use clariq_tracks::TRACKS;
use std::fs;
use std::io::ErrorKind;

enum State {
    Ok,
    /// It is not there, and most users do not need it.
    Optional,
    /// It is not there; the command that fixes it.
    Missing(String),
    /// It is there, and this program does not use it.
    Refused,
}

/// The item, what was found, and its state.
type CheckedItem = (String, String, State);

fn ok(what: impl Into<String>, found: impl Into<String>) -> CheckedItem {
    (what.into(), found.into(), State::Ok)
}

fn optional(what: impl Into<String>, found: impl Into<String>) -> CheckedItem {
    (what.into(), found.into(), State::Optional)
}

fn missing(
    what: impl Into<String>,
    found: impl Into<String>,
    fix: impl Into<String>,
) -> CheckedItem {
    (what.into(), found.into(), State::Missing(fix.into()))
}

fn refused(what: impl Into<String>, found: impl Into<String>) -> CheckedItem {
    (what.into(), found.into(), State::Refused)
}

/// The problem without the expectation.
fn trouble(error: &Error) -> String {
    let problem = error.to_problem();
    format!("{}: {}", problem.title(), problem.found)
}

pub(crate) fn doctor(settings: &Settings) -> Result<Outcome> {
    // The program with learned models reports more, where it is installed and starts.
    if settings.engine.is_none()
        && learned::program().is_some_and(|program| learned::trouble(&program).is_none())
    {
        settings.take_over()?;
    }
    let mut findings = vec![
        ok("version", format!("clariq {}", env!("CARGO_PKG_VERSION"))),
        ok("threads", settings.options.threads.to_string()),
    ];
    findings.extend(data(settings));
    findings.push(cache_finding());
    findings.extend(learned(settings));
    findings.extend(gpus::findings());
    let mut sheet = Sheet::new(&["what", "state", "found"]);
    for (what, found, state) in &findings {
        let state = match state {
            State::Ok => "ok",
            State::Optional => "optional",
            State::Missing(_) => "missing",
            State::Refused => "refused",
        };
        sheet.row(vec![Cell::text(what), Cell::text(state), Cell::text(found)]);
    }
    sheet.print(settings.format)?;
    let mut outcome = Outcome::Done;
    for (what, _, state) in findings {
        if let State::Missing(fix) = state {
            say(&format!("hint: {what}: {fix}"));
            outcome = Outcome::CheckFailed;
        }
    }
    Ok(outcome)
}

fn data(settings: &Settings) -> Vec<CheckedItem> {
    let place = settings.data.first.to_string();
    let mut findings = vec![match &settings.data.first {
        DataDir::Sample(_) => {
            ok("data", "the built-in sample (`clariq data fetch` gets the real files)")
        }
        DataDir::Folder(_) => ok("data", place.clone()),
    }];
    let collection = match TRACKS.open_keeping(&settings.data.first, &TextStores::default()) {
        Ok(collection) => collection,
        Err(error) => {
            // The usual files belong into a new folder, or into one with some of them.
            let fetches = match (&settings.data.first, TRACKS.kind_of(&settings.data.first)) {
                (DataDir::Folder(folder), Err(_)) => !folder.exists(),
                (_, kind) => kind.is_ok_and(|kind| kind.name == TRACKS.kinds()[0].name),
            };
            let fix = if fetches && matches!(settings.data.first, DataDir::Folder(_)) {
                format!("clariq data fetch --data {place}")
            } else {
                error.to_problem().hint.to_string()
            };
            findings.push(missing("collection", trouble(&error), fix));
            return findings;
        }
    };
    for &task in collection.tasks() {
        findings.extend(task_findings(&*collection, task, &place));
    }
    findings
}

/// Findings about the documents of a task, its requests and its indexes.
fn task_findings(collection: &dyn Collection, task: Task, place: &str) -> Vec<CheckedItem> {
    let documents = match collection.documents(task) {
        Ok(documents) => documents,
        Err(error) => {
            let fix = format!("clariq data check --data {place}");
            return vec![missing(task.name(), error.to_string(), fix)];
        }
    };
    let checksum = documents.checksum().short();
    let found = format!("{} of {}, checksum {checksum}", documents.len(), collection.kind());
    let mut findings = vec![ok(task.name(), found)];
    let splits = collection.available_splits();
    findings.extend(splits.map(|split| split_finding(collection, task, split, place)));
    findings
        .extend(Analyzer::all().iter().filter_map(|analyzer| index_finding(documents, *analyzer)));
    findings
}

fn split_finding(
    collection: &dyn Collection,
    task: Task,
    split: Split,
    place: &str,
) -> CheckedItem {
    match read_split(collection, task, split) {
        Ok((count, labelled)) => {
            let labels = if labelled { "with labels" } else { "without labels" };
            ok(split.name(), format!("{}, {labels}", count_of(count, "request")))
        }
        Err(error) => {
            let fix = format!("clariq data check --data {place}");
            missing(split.name(), error.to_string(), fix)
        }
    }
}

/// The number of requests of a split, and true if it has labels.
fn read_split(collection: &dyn Collection, task: Task, split: Split) -> Result<(usize, bool)> {
    let requests = collection.requests(split, task)?.collect::<Result<Vec<_>, _>>()?;
    Ok((requests.len(), collection.qrels(split, task)?.is_some()))
}

/// The index of an analyser; that of another language than English only if it is there.
fn index_finding(documents: &dyn Documents, analyzer: Analyzer) -> Option<CheckedItem> {
    let what = format!("index {analyzer}");
    let name = format!("{analyzer}-{}", documents.checksum().short());
    let folder = cache::folder().join("index").join(name);
    let is_usual = matches!(analyzer, Analyzer::Nltk | Analyzer::English | Analyzer::Lucene);
    match DocumentIndex::open(&folder) {
        Ok(index) => {
            Some(ok(what, format!("{} documents in {}", index.documents(), folder.display())))
        }
        Err(Error::Io { source, .. }) if source.kind() == ErrorKind::NotFound => {
            is_usual.then(|| ok(what, "not built yet; the first run that needs it builds it"))
        }
        Err(error) => {
            let fix = format!("clariq index build --force --analyzer {analyzer}");
            Some(missing(what, trouble(&error), fix))
        }
    }
}

fn learned(settings: &Settings) -> Vec<CheckedItem> {
    let Some(engine) = settings.engine else { return vec![without_engine()] };
    let models = cache::folder().join("models");
    let weights = match installed::find(&models, DEFAULT_MODEL) {
        Some(folder) => match engine.open(&folder, ModelKind::Encoder, &ModelOptions::default()) {
            Ok(_) => ok("weights", folder.display().to_string()),
            Err(error) => missing("weights", trouble(&error), "clariq setup --force"),
        },
        None => missing(
            "weights",
            format!("no {DEFAULT_MODEL} in {}", models.display()),
            "clariq setup",
        ),
    };
    let mut findings = vec![
        ok("learned models", engine.describe()),
        ok("instruction set", instruction_set().to_owned()),
        weights,
    ];
    let entries = std::fs::read_dir(&models).into_iter().flatten().flatten();
    let mut folders: Vec<_> = entries.map(|entry| entry.path()).collect();
    folders.sort();
    // The folder also contains models that are being made.
    folders.retain(|folder| folder.extension().is_none_or(|ending| ending != "made"));
    for folder in &folders {
        let name = folder.file_name().unwrap_or_default().to_string_lossy();
        if let Some(folder) = installed::find(&models, &folder.to_string_lossy()) {
            let opened = installed::check_model_opens(Some(engine), &name, &folder);
            findings.push(match opened.and_then(|()| engine.describe_model(&folder)) {
                Ok(described) => ok("model", format!("{name}: {described}")),
                Err(error) => refused("model", format!("{name}: {}", error.to_problem())),
            });
        }
    }
    if installed::find(&models, BASE_MODEL).is_none() {
        findings.push(optional(
            "model",
            format!(
                "{BASE_MODEL} is not installed; `clariq setup --model {BASE_MODEL}` installs it for \
                 the systems *-base"
            ),
        ));
    }
    findings
}

/// The reason why there is no engine: the other program is not installed, or it does not start.
fn without_engine() -> CheckedItem {
    let trouble = learned::program().and_then(|program| {
        let trouble = learned::trouble(&program)?;
        Some(format!("{} does not start: {trouble}", program.display()))
    });
    match trouble {
        None => {
            optional("learned models", "not in this build; `scripts/install` in a clone adds them")
        }
        Some(found) => {
            let fix = "clariq setup installs libtorch where it is missing";
            missing("learned models", found, fix)
        }
    }
}

fn cache_finding() -> CheckedItem {
    let folder = cache::folder();
    // Creates the folder, as any command would; a test file shows whether it is writable.
    let probe = folder.join(format!(".doctor-{}.tmp", std::process::id()));
    let result = fs::create_dir_all(&folder).and_then(|()| fs::write(&probe, b""));
    match result.and_then(|()| fs::remove_file(probe)) {
        Ok(()) => ok("cache", folder.display().to_string()),
        Err(error) => {
            let found = format!("{}: {error}", folder.display());
            missing("cache", found, "set CLARIQ_CACHE to a folder of yours")
        }
    }
}
