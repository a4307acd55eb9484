//! Reproduction: the scores of systems compared with those that their configurations expect.

use crate::record;
use crate::run::{open_split, run as write_run, usual_path};
use crate::session::{Contexts, Session};
use clariq_collections::Split;
use clariq_collections::evaluation::{Answers, Evaluation, ScoreOptions};
use clariq_core::{Checksum, Result, SplitRole, bail};
use clariq_eval::parse_measure;
use clariq_files::Source;
use clariq_rank::{ExpectedScores, Uses};
use clariq_systems::SystemConfig;
use clariq_tracks::TRACKS;
use std::fmt;
use std::path::{Path, PathBuf};

/// The maximum difference of equal scores, which are written with six digits.
const EXACT: f64 = 1e-5;

/// The comparison of a score with the expected one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    /// The scores are equal.
    Equal,
    /// The difference is within the tolerance of the configuration.
    Close,
    /// The difference is larger.
    Fail,
}

/// A score of a system on a split.
#[derive(Debug, Clone)]
pub struct ReproducedScore<'s> {
    /// The system's name.
    pub system: &'s str,
    /// The input of the system beyond one request and the documents.
    pub uses: Vec<String>,
    /// The measure, as configurations name it.
    pub measure: String,
    /// The score published for the same method, if the configuration has one.
    pub published: Option<f64>,
    /// The score that the configuration expects.
    pub expected: Option<f64>,
    /// The score of the run; `None` where the data have no labels.
    pub obtained: Option<f64>,
    /// The comparison, if a score is expected.
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

impl fmt::Display for ReproducedScore<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.measure)?;
        self.obtained.map_or(Ok(()), |obtained| write!(f, " {obtained:.6}"))?;
        self.verdict.map_or(Ok(()), |verdict| write!(f, " {verdict}"))
    }
}

/// The number of scores that are as expected, as a line.
pub fn summary(verdicts: &[Verdict]) -> String {
    let count = |wanted| verdicts.iter().filter(|verdict| **verdict == wanted).count();
    let close = match count(Verdict::Close) {
        0 => String::new(),
        close => format!(", {close} of them within their tolerance"),
    };
    let expected = verdicts.len() - count(Verdict::Fail);
    format!("{expected} of {} scores as expected{close}", verdicts.len())
}

/// The systems whose configurations expect scores on this split. If none does, as for labels that
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

/// Runs systems on a labelled split, writes the runs to the folder `runs`, and compares the scores
/// with the expected ones; `each` gets the scores of a system when it is done. Systems that were
/// made from labels of the split are left out.
pub fn check<'s>(
    session: &Session,
    systems: impl IntoIterator<Item = &'s SystemConfig>,
    split: Split,
    runs: &Path,
    each: &mut dyn FnMut(ReproducedScore<'s>),
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
        let expected = expected(config, session.documents.checksum(), split);
        let names = expected.iter().flat_map(|expected| expected.measures.keys());
        let names: Vec<&str> = names.map(String::as_str).collect();
        let need = config.need.as_ref().map(|_| record::need_path(&path));
        let files: Vec<PathBuf> = [path].into_iter().chain(need).collect();
        let compare = |(measure, value)| compare(config, expected, split, measure, value);
        let scores = scores_of(session, &*evaluation, &files, &names)?;
        let scores: Vec<ReproducedScore> = scores.into_iter().map(compare).collect();
        let verdicts: Vec<Verdict> = scores.iter().filter_map(|score| score.verdict).collect();
        let found = if verdicts.is_empty() { "scored".to_owned() } else { summary(&verdicts) };
        scores.into_iter().for_each(&mut *each);
        session.observer.note(&format!("{} on {split}: {found}", config.name));
    }
    Ok(())
}

/// The scores of a run under the names that configurations give them: those that are expected, or else
/// the collection's own.
fn scores_of(
    session: &Session,
    evaluation: &dyn Evaluation,
    files: &[PathBuf],
    expected: &[&str],
) -> Result<Vec<(String, f64)>> {
    let own = (session.collection.registered().scores)();
    let is_shown = |name: &str| match expected {
        [] => own.is_empty() || own.iter().any(|known| known == name),
        expected => expected.contains(&name),
    };
    let mut found: Vec<(String, f64)> = Vec::new();
    for file in files {
        let cases =
            evaluation.cases(Answers::File(&Source::new(file)), &ScoreOptions::default())?;
        let named = cases.scores.iter().map(|score| (score.known_as(), score.value()));
        found.extend(named.filter(|(name, _)| is_shown(name)));
    }
    let mut not_checked: Option<(String, Vec<&str>)> = None;
    for name in expected {
        let is_new = found.iter().all(|(known, _)| known != name);
        let Some(measure) = parse_measure(name).ok().filter(|_| is_new) else { continue };
        let by = ScoreOptions { measures: &[measure], ..ScoreOptions::default() };
        match evaluation.cases(Answers::File(&Source::new(&files[0])), &by) {
            Ok(cases) => {
                let score = cases.scores.first();
                found.extend(score.map(|score| ((*name).to_owned(), score.value())));
            }
            Err(error) if error.to_problem().kind.is_missing() => {
                let at = error.to_problem().at.file.clone();
                not_checked.get_or_insert((at, Vec::new())).1.push(name);
            }
            Err(error) => return Err(error),
        }
    }
    if let Some((at, names)) = not_checked {
        let names = names.join(", ");
        session.observer.note(&format!("note: {at} has no table with {names}: not checked"));
    }
    Ok(found)
}

/// Refuses a system that expects scores of an unknown measure, or on a split that the collection
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

/// Refuses expected scores of unknown measures, which would never be compared.
fn check_measures(expected: &[ExpectedScores]) -> Result<()> {
    let own: Vec<String> = TRACKS.kinds().iter().flat_map(|kind| (kind.scores)()).collect();
    for (name, at) in expected.iter().flat_map(|expected| &expected.lines) {
        if !own.contains(name) && parse_measure(name).is_err() {
            let own = own[..MOST_NAMED.min(own.len())].join(", ");
            let wanted = format!("a measure such as {own}, or one that `clariq eval -m` knows");
            bail!(at, wanted, "`{name}`", "check the spelling, as in nDCG@3")
        }
    }
    Ok(())
}

/// The expected scores for these documents: the sample and the real collection have their own.
fn expected<'a>(
    config: &'a SystemConfig,
    bank: &'a Checksum,
    split: Split,
) -> Option<&'a ExpectedScores> {
    config.expected_of(bank).find(|expected| expected.split == split.name())
}

fn compare<'s>(
    config: &'s SystemConfig,
    expected: Option<&ExpectedScores>,
    split: Split,
    measure: String,
    obtained: f64,
) -> ReproducedScore<'s> {
    let expected_score = expected.and_then(|expected| expected.measures.get(&measure)).copied();
    let published = expected.and_then(|expected| expected.published.get(&measure)).copied();
    let tolerance = expected.map_or(0.0, |expected| expected.tolerance);
    let verdict = expected_score.map(|expected_score| match (obtained - expected_score).abs() {
        ..=EXACT => Verdict::Equal,
        difference if difference <= tolerance => Verdict::Close,
        _ => Verdict::Fail,
    });
    ReproducedScore {
        system: &config.name,
        uses: config.uses_for(Some(split.role())),
        measure,
        published,
        expected: expected_score,
        obtained: Some(obtained),
        verdict,
    }
}

/// The scores that were published for a split whose labels the data do not have.
pub fn published<'s>(
    session: &Session,
    systems: &'s [SystemConfig],
    split: Split,
) -> Vec<ReproducedScore<'s>> {
    let mut scores = Vec::new();
    for config in systems {
        let Some(expected) = expected(config, session.documents.checksum(), split) else {
            continue;
        };
        for (measure, published) in &expected.published {
            scores.push(ReproducedScore {
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
    scores
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::session::SessionOptions;
    use clariq_rank::SystemFile;

    #[test]
    fn systems_without_scores_are_left_out_beside_those_with_some() {
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
    fn the_summary_counts_failed_and_close_scores() {
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
