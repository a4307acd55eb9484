//! Reproduction: the figures of systems compared with those that their configurations expect.

use crate::record;
use crate::run::{open_split, ranking_path, run as write_run, usual_path};
use crate::session::{Contexts, Session};
use clariq_collections::Split;
use clariq_collections::evaluation::SystemOutput;
use clariq_core::{Checksum, Result, SplitRole, bail};
use clariq_eval::parse_measure;
use clariq_files::{Source, read_run};
use clariq_rank::{ExpectedFigures, Uses};
use clariq_systems::SystemConfig;
use clariq_tracks::TRACKS;
use std::fmt;
use std::path::Path;

/// The maximum difference of equal figures, which are written with six digits.
const EXACT: f64 = 1e-5;

/// The comparison of a figure with the expected one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    /// The figures are equal.
    Equal,
    /// The difference is within the tolerance of the configuration.
    Close,
    /// The difference is larger.
    Fail,
}

/// A figure of a system on a split.
#[derive(Debug, Clone)]
pub struct Figure<'s> {
    /// The system's name.
    pub system: &'s str,
    /// The input of the system beyond one request and the documents.
    pub uses: Vec<Uses>,
    /// The measure, as configurations name it.
    pub measure: String,
    /// The figure published for the same method, if the configuration has one.
    pub published: Option<f64>,
    /// The figure that the configuration expects.
    pub expected: Option<f64>,
    /// The figure of the run; `None` where the data have no labels.
    pub obtained: Option<f64>,
    /// The comparison, if a figure is expected.
    pub verdict: Option<Verdict>,
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Equal => "OK",
            Self::Close => "close",
            Self::Fail => "FAIL",
        })
    }
}

impl fmt::Display for Figure<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.measure)?;
        self.obtained.map_or(Ok(()), |obtained| write!(f, " {obtained:.6}"))?;
        self.verdict.map_or(Ok(()), |verdict| write!(f, " {verdict}"))
    }
}

/// The number of figures that are as expected, as a line.
pub fn summary(verdicts: &[Verdict]) -> String {
    let count = |wanted| verdicts.iter().filter(|verdict| **verdict == wanted).count();
    let close = match count(Verdict::Close) {
        0 => String::new(),
        close => format!(", {close} of them within their tolerance"),
    };
    let expected = verdicts.len() - count(Verdict::Fail);
    format!("{expected} of {} scores as expected{close}", verdicts.len())
}

/// The systems whose configurations expect figures on this split. If none does, as for labels that
/// were released later, all systems.
pub fn expecting<'s>(
    session: &Session,
    systems: &'s [SystemConfig],
    split: Split,
) -> Vec<&'s SystemConfig> {
    let bank = session.documents.checksum();
    let expects = |config: &&SystemConfig| expected(config, bank, split).is_some();
    let expecting: Vec<&SystemConfig> = systems.iter().filter(expects).collect();
    if expecting.is_empty() { systems.iter().collect() } else { expecting }
}

/// Runs systems on a labelled split, writes the runs to the folder `runs`, and compares the figures
/// with the expected ones; `each` gets the figures of a system when it is done. Systems that were
/// made from labels of the split are left out.
pub fn check<'s>(
    session: &Session,
    systems: impl IntoIterator<Item = &'s SystemConfig>,
    split: Split,
    runs: &Path,
    each: &mut dyn FnMut(Figure<'s>),
) -> Result<()> {
    let collection = session.collection;
    if collection.qrels(split, session.task)?.is_none() {
        return Ok(());
    }
    let evaluation = collection.evaluation(split)?;
    let contexts = Contexts::new(session);
    for config in systems {
        if split.role() == SplitRole::Learn && config.uses.contains(&Uses::TrainLabels) {
            continue;
        }
        check_expected(config, session)?;
        let path = usual_path(runs, session, config, split.name());
        let input = open_split(session, config, split, None)?;
        write_run(&contexts, config, &*input, None, &path)?;
        let run = (!config.answers()).then(|| read_run(&Source::new(&path))).transpose()?;
        let expected = expected(config, session.documents.checksum(), split);
        let names = expected.iter().flat_map(|expected| expected.measures.keys());
        let result = evaluation.figures(&SystemOutput {
            path: &path,
            run: run.as_ref(),
            need: config.need.as_ref().map(|_| record::need_path(&path)),
            ranking: &|task| read_run(&Source::new(ranking_path(&path, task))),
            expected: names.map(String::as_str).collect(),
        })?;
        result.notes.iter().for_each(|note| session.observer.note(note));
        let compare = |(measure, value)| compare(config, expected, split, measure, value);
        let figures: Vec<Figure> = result.figures.into_iter().map(compare).collect();
        let verdicts: Vec<Verdict> = figures.iter().filter_map(|figure| figure.verdict).collect();
        let found = if verdicts.is_empty() { "scored".to_owned() } else { summary(&verdicts) };
        figures.into_iter().for_each(&mut *each);
        session.observer.note(&format!("{} on {split}: {found}", config.name));
    }
    Ok(())
}

/// Refuses a system that expects figures of an unknown measure, or on a split that the collection
/// never has.
pub fn check_expected(config: &SystemConfig, session: &Session) -> Result<()> {
    check_measures(&config.expected)?;
    let usual = session.collection.registered().splits;
    let mut splits: Vec<&str> = usual.iter().map(|split| split.name()).collect();
    let others = session.collection.splits().iter().map(|split| split.name());
    splits.extend(others.filter(|name| !usual.iter().any(|usual| usual.name() == *name)));
    let kind = session.collection.kind();
    let mut expected = config.expected_of(session.documents.checksum());
    if let Some(unknown) = expected.find(|expected| !splits.contains(&expected.split.as_str())) {
        let known = splits.join(", ");
        let found = &unknown.split;
        let expected = format!("under [[expected]] a split of {kind}, one of {known}");
        bail!(&*config.file, expected, "`{found}`", "names are case-sensitive");
    }
    Ok(())
}

/// The maximum number of measures that a message lists.
const MOST_NAMED: usize = 9;

/// Refuses expected figures of unknown measures, which would never be compared.
fn check_measures(expected: &[ExpectedFigures]) -> Result<()> {
    let own: Vec<String> = TRACKS.kinds().iter().flat_map(|kind| (kind.figures)()).collect();
    for (name, at) in expected.iter().flat_map(|expected| &expected.lines) {
        if !own.contains(name) && parse_measure(name).is_err() {
            let own = own[..MOST_NAMED.min(own.len())].join(", ");
            let wanted = format!("a measure such as {own}, or one that `clariq eval -m` knows");
            bail!(at, wanted, "`{name}`", "check the spelling, as in nDCG@3")
        }
    }
    Ok(())
}

/// The expected figures for these documents: the sample and the real collection have their own.
fn expected<'a>(
    config: &'a SystemConfig,
    bank: &'a Checksum,
    split: Split,
) -> Option<&'a ExpectedFigures> {
    config.expected_of(bank).find(|expected| expected.split == split.name())
}

fn compare<'s>(
    config: &'s SystemConfig,
    expected: Option<&ExpectedFigures>,
    split: Split,
    measure: String,
    obtained: f64,
) -> Figure<'s> {
    let expected_figure = expected.and_then(|expected| expected.measures.get(&measure)).copied();
    let published = expected.and_then(|expected| expected.published.get(&measure)).copied();
    let tolerance = expected.map_or(0.0, |expected| expected.tolerance);
    let verdict = expected_figure.map(|expected_figure| match (obtained - expected_figure).abs() {
        ..=EXACT => Verdict::Equal,
        difference if difference <= tolerance => Verdict::Close,
        _ => Verdict::Fail,
    });
    Figure {
        system: &config.name,
        uses: config.uses_for(Some(split.role())),
        measure,
        published,
        expected: expected_figure,
        obtained: Some(obtained),
        verdict,
    }
}

/// The figures that were published for a split whose labels the data do not have.
pub fn published<'s>(
    session: &Session,
    systems: &'s [SystemConfig],
    split: Split,
) -> Vec<Figure<'s>> {
    let mut figures = Vec::new();
    for config in systems {
        let Some(expected) = expected(config, session.documents.checksum(), split) else {
            continue;
        };
        for (measure, published) in &expected.published {
            figures.push(Figure {
                system: &config.name,
                uses: config.uses_for(Some(split.role())),
                measure: measure.clone(),
                published: Some(*published),
                expected: expected.measures.get(measure).copied(),
                obtained: None,
                verdict: None,
            });
        }
    }
    figures
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::session::SessionOptions;
    use clariq_rank::SystemFile;

    #[test]
    fn systems_without_figures_are_left_out_beside_those_with_some() {
        let folder = tempfile::tempdir().unwrap();
        let collection = clariq_tracks::TRACKS.open(&clariq_track_clariq::SAMPLE).unwrap();
        let options =
            SessionOptions { cache: folder.path().to_owned(), ..SessionOptions::default() };
        let session = Session::new(&*collection, options).unwrap();
        let systems = ["bm25", "bert-reranker"].map(|name| SystemConfig::open(name, &[]).unwrap());
        let both = &["bm25", "bert-reranker"][..];
        let none = Split::new(0, "none", SplitRole::HeldOut);
        let [dev, test] = ["dev", "test"].map(|name| collection.find_split(name).unwrap());
        for (split, names) in [(dev, both), (test, &both[..1]), (none, both)] {
            let found = expecting(&session, &systems, split);
            let found: Vec<&str> = found.iter().map(|config| config.name.as_str()).collect();
            assert_eq!(found, names, "{split}");
        }
    }

    #[test]
    fn the_summary_counts_failed_and_close_figures() {
        let verdicts = [Verdict::Equal, Verdict::Close, Verdict::Fail];
        let printed = "2 of 3 scores as expected, 1 of them within their tolerance";
        assert_eq!(summary(&verdicts), printed);
        assert_eq!(summary(&verdicts[..1]), "1 of 1 scores as expected");
    }

    #[test]
    fn the_measures_of_built_in_systems_are_known() {
        for name in clariq_systems::built_in::names() {
            let config = SystemConfig::open_any(name, &[]).unwrap();
            check_measures(&config.expected).unwrap();
        }
    }

    #[test]
    fn a_misspelt_measure_is_refused_with_its_line() {
        let check = |expected: &str| {
            let stages = "[[stages]]\nstage = \"no_question\"\nrank = 1\n";
            let of = "collection = \"c\"\nbank = \"b\"\nsplit = \"dev\"\n";
            let text = format!("name = \"x\"\n{stages}[[expected]]\n{of}{expected}\n");
            let system = SystemFile::parse("x.toml", &text, &[]).unwrap();
            check_measures(&system.expected).map_err(|error| error.to_string())
        };
        let error = check("[expected.measures]\n\"R@5\" = 1.0\n\"RX@30\" = 0.5").unwrap_err();
        assert!(error.starts_with("x.toml:11: ") && error.ends_with("`RX@30`"), "{error}");
        assert!(error.contains("need F1, MRR100, P1, NDCG3, NDCG5, or one that"), "{error}");
        check("measures = { \"R@5\" = 1.0, \"R@30\" = 0.5 }").unwrap();
        let error = check("measures = {}\npublished = { \"R@x\" = 0.5 }").unwrap_err();
        assert!(error.starts_with("x.toml:10: "), "{error}");
    }
}
