//! Scores that are kept in place of a run: small enough to commit, and refused beside other labels.

use crate::run_names::stem;
use clariq_collections::evaluation::{Answers, Cases, Evaluation, Rankings, ScoreOptions};
use clariq_core::{Checksum, RequestId, Result, bail, problem};
use clariq_eval::{Measure, Score, Ties, parse_measure};
use clariq_files::{MOST_OF_A_TABLE, Source, Target};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, HashSet};
use std::io::Read as _;
use std::path::Path;

/// The key that such files begin with.
const KEY: &str = "kept_scores_of";

/// The cut-off of `Judged@k` beside measures without one.
pub(crate) const USUAL_JUDGED: usize = 10;

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct KeptScores {
    /// The name of the run.
    #[serde(rename = "kept_scores_of")]
    run: String,
    /// The checksums of the files of labels.
    labels: Vec<Checksum>,
    /// The order of equal scores.
    ties: Ties,
    /// The number of topics that the run lacks.
    pub(crate) unanswered: usize,
    scores: Vec<KeptScore>,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct KeptScore {
    #[serde(default, skip_serializing_if = "String::is_empty")]
    part: String,
    measure: String,
    /// The share of judged documents among those that count; none for what is no ranking.
    judged: Option<f64>,
    values: BTreeMap<RequestId, f64>,
}

/// Writes the scores of a run by the labels of these files, as `clariq compare` has them.
///
/// # Errors
///
/// Scores of facets, which are looked up in a table and come from no judgements; a file without scores of
/// topics, such as predicted needs.
pub(crate) fn keep(
    target: &Target,
    run: &Source,
    labels: &[Source],
    evaluation: &dyn Evaluation,
    by: &ScoreOptions,
) -> Result<()> {
    let cases = evaluation.cases(Answers::File(run), by)?.compared();
    if let Some(score) = cases.scores.iter().find(|score| score.unit == "facet") {
        let hint = "keep the run: its scores are looked up in a table";
        bail!("--output", "measures of rankings", (score.name()), hint);
    }
    if cases.scores.is_empty() {
        bail!("--output", "a file with scores of topics", (run.name()), "keep the file itself");
    }
    let judged = judged(&cases.scores, run, evaluation, by);
    let scores = cases.scores.iter().zip(judged).map(|(score, judged)| KeptScore {
        part: score.part.clone(),
        measure: score.measure.clone(),
        judged,
        values: score.values.iter().cloned().collect(),
    });
    let kept = KeptScores {
        run: stem(Path::new(&run.name())),
        labels: labels.iter().map(Source::checksum).collect::<Result<_>>()?,
        ties: ties(by, evaluation),
        unanswered: unanswered(&cases.scores, cases.rankings.as_ref(), evaluation),
        scores: scores.collect(),
    };
    target.write(|out| {
        serde_json::to_writer_pretty(&mut *out, &kept)?;
        writeln!(out)
    })
}

impl KeptScores {
    /// Reads kept scores; `None` for another file.
    ///
    /// # Errors
    ///
    /// Kept scores that cannot be read.
    pub(crate) fn read(file: &Source) -> Result<Option<Self>> {
        // A pipe can be read once.
        if !matches!(file, Source::Path(path) if path.is_file()) {
            return Ok(None);
        }
        let mut beginning = String::new();
        let most = KEY.len() as u64 + 16;
        let is_text = file.stream()?.take(most).read_to_string(&mut beginning).is_ok();
        let first = beginning.trim_start_matches(|c: char| c == '{' || c.is_whitespace());
        if !is_text || !first.starts_with(&format!("\"{KEY}\"")) {
            return Ok(None);
        }
        let input = file.read_at_most(MOST_OF_A_TABLE)?;
        let kept = serde_json::from_slice(&input.bytes).map_err(|error| {
            let hint = "`clariq eval RUN -o FILE` writes them";
            let at = (&*input.name, error.line().max(1) as u64);
            problem!(at, "kept scores", (error.to_string()), hint)
        })?;
        Ok(Some(kept))
    }

    /// The scores by the measures that were named, or all.
    ///
    /// # Errors
    ///
    /// Scores by other labels, of another order of equal scores, or without a measure that was named.
    pub(crate) fn cases(
        &self,
        file: &str,
        labels: &[Source],
        evaluation: &dyn Evaluation,
        by: &ScoreOptions,
    ) -> Result<Cases> {
        let again = "score the baseline again, as the other runs, and keep the result";
        let known: HashSet<&Checksum> = self.labels.iter().collect();
        for source in labels {
            let now = source.checksum()?;
            if !known.contains(&now) || labels.len() != self.labels.len() {
                let expected = format!("scores by {} ({})", source.name(), now.short());
                let of: Vec<&str> = self.labels.iter().map(Checksum::short).collect();
                bail!(file, expected, (format!("by other labels ({})", of.join(", "))), again);
            }
        }
        let ties = ties(by, evaluation);
        if self.ties != ties {
            let found = self.ties;
            bail!(file, "equal scores in the order {ties:?}", "{found:?}", again);
        }
        let named: Vec<String> = by.measures.iter().map(Measure::name).collect();
        let known: Vec<&str> = self.scores.iter().map(|kept| &*kept.measure).collect();
        if let Some(lacking) = named.iter().find(|name| !known.contains(&name.as_str())) {
            bail!(file, "values of {lacking}", (known.join(", ")), again);
        }
        let mut scores = Vec::with_capacity(self.scores.len());
        for kept in &self.scores {
            if named.is_empty() || named.contains(&kept.measure) {
                let values = kept.values.iter().map(|(topic, value)| (topic.clone(), *value));
                scores.push(Score::new(&kept.part, &kept.measure, values.collect()));
            }
        }
        Ok(Cases::new(scores, Vec::new()))
    }

    /// The share of judged documents beside a score.
    pub(crate) fn judged(&self, score: &Score) -> Option<f64> {
        let mut kept = self.scores.iter();
        kept.find(|kept| kept.part == score.part && kept.measure == score.measure)?.judged
    }
}

/// The order of equal scores.
fn ties(by: &ScoreOptions, evaluation: &dyn Evaluation) -> Ties {
    by.order(if by.measures.is_empty() { evaluation.usual_ties() } else { Ties::Id })
}

/// The number of topics of a run's scores that its rankings lack; 0 for files without rankings.
pub(crate) fn unanswered(
    scores: &[Score],
    rankings: Option<&Rankings>,
    evaluation: &dyn Evaluation,
) -> usize {
    let (Some(score), Some(rankings)) = (scores.first(), rankings) else { return 0 };
    let answered: HashSet<&RequestId> = rankings.run.lines.iter().map(|line| &line.topic).collect();
    let requests = score.values.iter().map(|(case, _)| evaluation.request_of(case).unwrap_or(case));
    requests.filter(|request| !answered.contains(request)).count()
}

/// The share of judged documents beside each score of a run; none for what is no ranking.
pub(crate) fn judged(
    scores: &[Score],
    run: &Source,
    evaluation: &dyn Evaluation,
    by: &ScoreOptions,
) -> Vec<Option<f64>> {
    let names: Vec<Option<String>> = scores.iter().map(name_of_judged).collect();
    let mut measures = Vec::new();
    for measure in names.iter().flatten().filter_map(|name| parse_measure(name).ok()) {
        if !measures.contains(&measure) {
            measures.push(measure);
        }
    }
    let by = ScoreOptions { measures: &measures, ties: None, ..*by };
    let Ok(found) = evaluation.cases(Answers::File(run), &by) else {
        return vec![None; names.len()];
    };
    let mut shares = Vec::with_capacity(names.len());
    for (score, name) in scores.iter().zip(names) {
        let mut judged = found.scores.iter().filter(|judged| judged.part == score.part);
        let share = judged.find(|judged| name.as_deref() == Some(&*judged.measure));
        shares.push(share.map(Score::value));
    }
    shares
}

/// The measure of judged documents beside a score.
fn name_of_judged(score: &Score) -> Option<String> {
    let measure = parse_measure(&score.measure).ok()?;
    Some(format!("Judged@{}", measure.cutoff().unwrap_or(USUAL_JUDGED)))
}
