//! `clariq report`: a page that compares runs.

use crate::arguments::{RunArguments, folder, named_measures, refuse_given};
use crate::failure::Outcome;
use crate::output::{Cell, Sheet};
use crate::runs::OpenedRuns;
use crate::settings::Settings;
use crate::several::{SEVERAL, SeveralScores};
use clap::Args;
use clariq_collections::evaluation::ScoreOptions;
use clariq_core::{Result, bail, count_of};
use clariq_experiment::record::{self, RecordedFile, RunRecord};
use clariq_files::{MOST_OF_A_RUN, Source, StagedFile, Target, protect, refuse_input};
use clariq_report::{PageRequest, PageRun, RenderedPage, SeveralRun, several_page};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

#[derive(Args)]
pub(crate) struct ReportArgs {
    #[command(flatten)]
    pub(crate) compared: RunArguments,
    /// Need file whose predictions are also shown; repeatable
    #[arg(long = "need", value_name = "FILE")]
    needs: Vec<PathBuf>,
    /// HTML file to write; `-` for standard output
    #[arg(long, short, value_name = "FILE", default_value = "report.html")]
    output: PathBuf,
    /// Also write the charts of the page to this folder, as SVG, named after measures and runs
    #[arg(long, value_name = "DIR", value_parser = folder())]
    charts: Option<PathBuf>,
    /// Measure, such as nDCG@10, in place of the usual ones; repeatable. The first one decides which
    /// topics come first
    #[arg(short = 'm', long = "measure", value_name = "NAME")]
    measures: Vec<String>,
    /// Title of the page [default: the split, and the run or the number of runs]
    #[arg(long, value_name = "TEXT")]
    title: Option<String>,
}

/// Endings of what is no page, but may be expected of a report.
const OTHER_FORMS: [&str; 8] = ["pdf", "png", "svg", "md", "tex", "csv", "tsv", "json"];

fn check_ending(output: &Path) -> Result<()> {
    let ending = output.extension().unwrap_or_default();
    if OTHER_FORMS.iter().all(|form| !ending.eq_ignore_ascii_case(form)) {
        return Ok(());
    }
    let hint = "a browser prints the page as PDF; --charts writes its charts as SVG, and `clariq compare --format \
                latex` a table";
    let output = output.display();
    bail!("--output", "an HTML file, such as report.html", "`{output}`", hint)
}

pub(crate) fn report(settings: &Settings, arguments: &ReportArgs) -> Result<Outcome> {
    check_ending(&arguments.output)?;
    let OpenedRuns { runs, baseline, labels, needs } =
        OpenedRuns::open(settings, &arguments.compared, &arguments.needs, 1)?;
    refuse_input(&arguments.output)?;
    let (split, collection) = labels.names();
    let records: Vec<_> = runs.iter().map(|run| record_of(settings, &run.file)).collect();
    let mut shown = Vec::new();
    for (index, run) in runs.into_iter().enumerate() {
        if run.kept.is_some() {
            let path = run.file.path().display().to_string();
            bail!(path, "a run", "scores that were kept of one", "`clariq compare` takes them");
        }
        let mut name = run.name;
        let mut differing = differing_parameters(&records, index);
        // The name of a file has the parameters that were set.
        differing.retain(|(_, value)| !name.contains(&format!("-{value}")));
        let differing: Vec<String> =
            differing.into_iter().map(|(key, value)| format!("{key} {value}")).collect();
        if !differing.is_empty() {
            name = format!("{name} ({})", differing.join(", "));
        }
        let uses = uses_with_prompts(&records[index]);
        let depth = run.file.depth();
        shown.push(PageRun { name, file: Source::new(run.file.path()), depth, uses });
    }
    let title = arguments.title.clone().unwrap_or_else(|| match &shown[..] {
        [only] => format!("{collection}, {split}: {}", only.name),
        runs => format!("{collection}, {split}: {} runs compared", runs.len()),
    });
    let title = title.as_str();
    let seed = settings.options.seed;
    let measures = named_measures(&arguments.measures)?;
    let request =
        PageRequest { title, runs: &shown, baseline, needs: &needs, measures: &measures, seed };
    let rendered = labels.page(&request)?;
    settings.warn(&rendered.warnings);
    let target = Target::new(&arguments.output);
    let mut charts = Vec::new();
    if let Some(folder) = &arguments.charts {
        for chart in clariq_report::charts(&rendered.html) {
            let path = folder.join(format!("{}.svg", chart.name));
            refuse_input(&path)?;
            charts.push(StagedFile::new(&path, |out| out.write_all(chart.svg.as_bytes()))?);
        }
    }
    let page = match &target {
        Target::Path(path) if !target.is_stream() => {
            Some(StagedFile::new(path, |out| out.write_all(rendered.html.as_bytes()))?)
        }
        _ => None,
    };
    // The page comes last: where it is, its charts are.
    charts.into_iter().try_for_each(StagedFile::commit)?;
    match page {
        Some(page) => page.commit()?,
        None => target.write(|out| out.write_all(rendered.html.as_bytes()))?,
    }
    if !target.is_stream() {
        summary(arguments, shown.len(), &split, &rendered).print(settings.format)?;
    }
    Ok(Outcome::Done)
}

/// Writes a page over the collections of several folders: a part for each, and the means.
pub(crate) fn report_each(all: &[Settings], arguments: &ReportArgs) -> Result<Outcome> {
    let refused = [
        ("--qrels", arguments.compared.judged.qrels.is_some()),
        ("--baseline", arguments.compared.baseline.is_some()),
        ("--need", !arguments.needs.is_empty()),
        ("--charts", arguments.charts.is_some()),
    ];
    refuse_given(&refused, SEVERAL)?;
    for path in &arguments.compared.runs {
        protect(path);
        protect(&record::path_of(path));
    }
    refuse_input(&arguments.output)?;
    check_ending(&arguments.output)?;
    let by = ScoreOptions::default();
    let split = arguments.compared.split.as_deref();
    let scores = SeveralScores::read(all, &arguments.compared.runs, split, &by)?;
    let measures = scores.measures().len();
    let mut shown = Vec::with_capacity(scores.systems.len());
    for system in &scores.systems {
        let scores = scores.parts(system, measures);
        shown.push(SeveralRun { name: system.name.clone(), scores });
    }
    let title = arguments.title.clone().unwrap_or_else(|| {
        let systems = count_of(shown.len(), "system");
        format!("{}: {systems} compared", count_of(all.len(), "collection"))
    });
    let html = several_page(&title, &scores.remarks(), &shown, all[0].options.seed);
    let target = Target::new(&arguments.output);
    target.write(|out| out.write_all(html.as_bytes()))?;
    if target.is_stream() {
        return Ok(Outcome::Done);
    }
    let cells = [
        ("systems", Cell::count(shown.len())),
        ("collections", Cell::count(all.len())),
        ("bytes", Cell::count(html.len())),
        ("page", Cell::path(&arguments.output)),
    ];
    Sheet::of(cells).print(all[0].format)
}

/// The uses of a run. The use `language-model` lists the prompts by which it wrote texts.
fn uses_with_prompts(record: &RunRecord) -> Vec<String> {
    let mut uses = record.uses.clone();
    let prompts = record.prompts();
    for one in uses.iter_mut().filter(|one| *one == "language-model") {
        if !prompts.is_empty() {
            *one = format!("{one} ({})", prompts.join(", "));
        }
    }
    uses
}

/// The record beside a run, if it is of this run. Warns about a record of another run.
fn record_of(settings: &Settings, run: &RecordedFile) -> RunRecord {
    let content = || Source::new(run.path()).read_bytes(MOST_OF_A_RUN).ok();
    let is_of_run = || content().is_some_and(|content| run.contradicts(&content) == Some(false));
    let found = run.own().filter(|_| is_of_run()).cloned();
    if found.is_none() && run.has_record() {
        let run = run.path().display();
        settings.note(&format!("warning: {run}: the record beside it is of another run"));
    }
    found.unwrap_or_default()
}

/// The parameters of a run that differ from another run of the same system.
fn differing_parameters(records: &[RunRecord], index: usize) -> BTreeSet<(String, String)> {
    let mut own = BTreeMap::new();
    parameters("", &records[index].stages, &mut own);
    let mut differing = BTreeSet::new();
    for other in records.iter().filter(|other| other.system == records[index].system) {
        let mut theirs = BTreeMap::new();
        parameters("", &other.stages, &mut theirs);
        let others = own.iter().filter(|(key, value)| theirs.get(*key) != Some(*value));
        differing.extend(others.map(|(key, value)| (key.clone(), value.clone())));
    }
    differing
}

/// Collects the parameters below a value of a record, each under its stage and key.
fn parameters(key: &str, value: &Value, found: &mut BTreeMap<String, String>) {
    match value {
        Value::Array(all) => all.iter().for_each(|one| parameters(key, one, found)),
        Value::Object(fields) => {
            let key = fields.get("stage").and_then(Value::as_str).unwrap_or(key);
            for (name, value) in fields.iter().filter(|(name, _)| *name != "stage") {
                let dot = if key.is_empty() { "" } else { "." };
                parameters(&format!("{key}{dot}{name}"), value, found);
            }
        }
        leaf => {
            let text = leaf.as_str().map_or_else(|| leaf.to_string(), str::to_owned);
            let all = found.entry(key.to_owned()).or_default();
            if !all.is_empty() {
                all.push(' ');
            }
            all.push_str(&text);
        }
    }
}

fn summary(arguments: &ReportArgs, runs: usize, split: &str, rendered: &RenderedPage) -> Sheet {
    Sheet::of([
        ("runs", Cell::count(runs)),
        ("need files", Cell::count(arguments.needs.len())),
        ("split", Cell::text(split)),
        ("topics", Cell::count(rendered.topics)),
        ("bytes", Cell::count(rendered.html.len())),
        ("page", Cell::path(&arguments.output)),
    ])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_is_not_written_into_a_file_of_another_form() {
        for page in ["report.html", "page", "-", "bm25.k1-0.9", "runs.v2"] {
            assert!(check_ending(Path::new(page)).is_ok(), "{page}");
        }
        for other in ["report.pdf", "a/report.PNG", "scores.tex"] {
            let problem = check_ending(Path::new(other)).unwrap_err().to_problem();
            assert_eq!(problem.found, format!("`{other}`"));
        }
    }
}
