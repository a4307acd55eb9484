//! The evaluation of iKAT by the track's scores, for rankings and sets of statements, passages, and
//! responses.

use super::assessed::{Rating, nugget_recall, ratings};
use super::{EvaluatedRun, IkatLabels, RunPart, scores};
use crate::run::{RankedStatement, Submission};
use crate::{Ikat, PASSAGES, STATEMENTS, splits};
use clariq_collections::evaluation::{
    Answers, ByQrels, Cases, Evaluation, ONE_SCORE, Rankings, ScoreOptions, ScoredTopics,
};
use clariq_collections::validation::first_fields;
use clariq_collections::{Collection, Split, ranking_path};
use clariq_core::{Error, Problem, ProblemKind, RequestId, bail, count_of, counted, problem};
use clariq_eval::{Aggregate, Measure, Score, Ties};
use clariq_files::{Run, Source, parse_run, read_run, strictly};
use std::collections::HashSet;
use std::fs;
use std::path::{Path, PathBuf};

/// A split with its labels.
pub struct IkatEvaluation<'a> {
    ikat: &'a Ikat,
    split: Split,
    /// The labels, as far as the folder has any.
    pub labels: IkatLabels,
    turns: ScoredTopics,
}

/// A submission with its scored parts.
pub struct ReadSubmission {
    pub submission: Submission,
    pub evaluated: EvaluatedRun,
    /// Parts of the submission that the scores ignore.
    pub warnings: Vec<String>,
}

/// The parts of a file: those of a submission, or the one of a TREC run.
struct ReadParts {
    /// The part that a TREC run ranks.
    ranked: Option<RunPart>,
    evaluated: EvaluatedRun,
    /// Parts of the file that the scores ignore.
    warnings: Vec<String>,
}

impl<'a> IkatEvaluation<'a> {
    /// Reads the labels of a split, if there are any.
    pub fn open(ikat: &'a Ikat, split: Split) -> Result<Self, Error> {
        let labels = IkatLabels::read(ikat, split)?;
        let topics = ikat.topics(split)?;
        let turns = ScoredTopics::new(&topics.name, topics.turns().map(|(_, turn)| &turn.id));
        Ok(Self { ikat, split, labels, turns })
    }

    /// The labels; an error if there are none.
    fn labels(&self) -> Result<&IkatLabels, Error> {
        if self.labels.are_absent() {
            let hint = "the documentation names the files of labels (reference, Formats); --qrels and --answers name \
                        others";
            let found = "topics without labels";
            let problem =
                problem!(self.ikat.location(), (format!("labels of {}", self.split)), found, hint);
            return Err(problem.kind(ProblemKind::MissingFile).into());
        }
        Ok(&self.labels)
    }

    /// Reads a TREC run, such as those that `clariq run` writes beside a submission. It ranks
    /// statements if all of its documents are numbers, and passages otherwise. Returns `None` for
    /// other files.
    fn ranking(&self, source: &Source) -> Result<Option<ReadParts>, Error> {
        let input = source.read()?;
        if !is_trec_run(&first_fields(&input)) {
            return Ok(None);
        }
        let run = strictly(|sink| parse_run(&input, sink))?;
        self.turns.check_answered(source, run.lines.iter().map(|line| &line.topic))?;
        let mut warnings = self.turns.warnings(&run, Ties::Id);
        let mut evaluated = EvaluatedRun::default();
        let part = if run.lines.iter().all(|line| line.document.as_str().parse::<u32>().is_ok()) {
            evaluated.statements = Some(run);
            RunPart::Statements
        } else {
            warnings.extend(self.labels.doubts(&run));
            evaluated.passages = run;
            RunPart::Passages
        };
        Ok(Some(ReadParts { ranked: Some(part), evaluated, warnings }))
    }

    /// Refuses a TREC run where the responses of a submission are needed.
    pub fn check_submission(source: &Source) -> Result<(), Error> {
        if !is_trec_run(&first_fields(&source.read()?)) {
            return Ok(());
        }
        let name = source.name();
        let stems = [PASSAGES, STATEMENTS].map(|task| name.strip_suffix(&format!(".{task}.run")));
        let mut beside = stems
            .into_iter()
            .flatten()
            .flat_map(|stem| ["json", "jsonl"].map(|ending| format!("{stem}.{ending}")));
        let hint = match beside.find(|path| Path::new(path).is_file()) {
            Some(submission) => {
                format!("name the submission, `{submission}`")
            }
            None => "TREC runs can be compared, and have no page".to_owned(),
        };
        bail!(&*name, "a submission, with the responses that the page shows", "a TREC run", hint)
    }

    /// Reads a submission and its scored parts. Of a turn that is given twice, the first counts.
    pub fn read(&self, source: &Source) -> Result<ReadSubmission, Error> {
        let mut submission = Submission::read(source, Some(splits::files(self.split).year))?;
        let given = submission.turns.len();
        let mut known = HashSet::new();
        submission.turns.retain(|turn| known.insert(turn.id.clone()));
        let turns = submission.turns.iter();
        let turn_ids: HashSet<RequestId> = turns.map(|turn| turn.id.as_str().into()).collect();
        self.turns.check_answered(source, turn_ids.iter())?;
        let missing = self.turns.ids.difference(&turn_ids).count();
        let mut warnings = counted(&[
            (
                given - submission.turns.len(),
                "turn is given again; the first counts",
                "turns are given again; the first of each counts",
            ),
            (
                repeated(&submission),
                "passage or statement repeats one of the same response",
                "passages and statements repeat one of the same response",
            ),
            (missing, "turn is not answered and counts 0", "turns are not answered and count 0"),
        ]);
        let mut evaluated = EvaluatedRun::of_submission(self.ikat, self.split, &submission);
        warnings.extend(take_rankings(source, &mut evaluated)?);
        if submission.has_one_score() {
            warnings.push(ONE_SCORE.to_owned());
        }
        warnings.extend(self.labels.doubts(&evaluated.passages));
        Ok(ReadSubmission { submission, evaluated, warnings })
    }

    /// Scores a file by measures, or by the track's, and by files beside the labels of the split.
    pub fn score_with(
        &self,
        source: &Source,
        measures: &[Measure],
        assessed: &AssessedBy,
    ) -> Result<Cases, Error> {
        let AssessedBy { qrels, answers, .. } = *assessed;
        if assessed.matches.is_some() || assessed.ratings.is_some() {
            return self.score_assessed(source, assessed);
        }
        let mut replaced = None;
        if qrels.is_some() || answers.is_some() {
            let labels = replaced.insert(IkatLabels::read(self.ikat, self.split)?);
            labels.replace(qrels, answers, self.ikat.topics(self.split)?)?;
        }
        let labels = replaced.as_ref().map_or_else(|| self.labels(), Ok)?;
        let read = self.read_any(source)?;
        if answers.is_some() && read.ranked.is_some() {
            let hint = "leave it out, or score the submission";
            bail!("--answers", "a run with responses beside it", "a TREC run", hint);
        }
        let scores = scores(&read.evaluated, labels, read.ranked, measures)?;
        if let Some(part) = read.ranked
            && scores.is_empty()
        {
            let expected = format!("labels of {} of {}", part.name(), self.split);
            let hint = "the documentation names the files of labels (reference, Formats)";
            bail!(self.ikat.location(), expected, "only other labels", hint);
        }
        Ok(Cases::new(scores, read.warnings))
    }

    /// Reads a TREC run or a submission.
    fn read_any(&self, source: &Source) -> Result<ReadParts, Error> {
        let source = source.repeatable()?;
        if let Some(ranking) = self.ranking(&source)? {
            return Ok(ranking);
        }
        let ReadSubmission { evaluated, warnings, .. } = self.read(&source)?;
        Ok(ReadParts { ranked: None, evaluated, warnings })
    }

    /// Scores the responses of a submission by what people decided, beside ROUGE where the split or
    /// `answers` have reference answers.
    fn score_assessed(&self, source: &Source, assessed: &AssessedBy) -> Result<Cases, Error> {
        let topics = self.ikat.topics(self.split)?;
        let ReadSubmission { submission, evaluated, warnings } = self.read(source)?;
        let mut labels = IkatLabels::read(self.ikat, self.split)?;
        labels.replace(None, assessed.answers, topics)?;
        let mut rows = Vec::new();
        if !labels.are_absent() {
            rows = scores(&evaluated, &labels, None, &[])?;
            rows.retain(|score| score.part == RunPart::Responses.name());
        }
        if let Some(file) = assessed.matches {
            let run = assessed.matched_run.unwrap_or(&submission.run_name);
            let recall = nugget_recall(&Source::new(file), run, topics)?;
            let name = format!("{}, {}", recall.name(), count_of(recall.values.len(), "turn"));
            rows.push(Score { known_as: Some(name), ..recall });
        }
        if let Some(file) = assessed.ratings {
            for rating in ratings(&Source::new(file), topics, assessed.seed)? {
                let Rating { name, score, interval: (low, high) } = rating;
                rows.push(score);
                for (what, bound) in [("from", low), ("to", high)] {
                    let name = format!("{name}, 95 % {what}");
                    rows.push(Score::of_all("", name, Aggregate::Bound(bound)));
                }
            }
        }
        Ok(Cases::new(rows, warnings))
    }
}

/// Files with labels beside those of the split.
#[derive(Debug, Clone, Copy, Default)]
pub struct AssessedBy<'a> {
    /// Grades of passages in place of the split's.
    pub qrels: Option<&'a Path>,
    /// Reference answers in place of the split's.
    pub answers: Option<&'a Path>,
    /// Nuggets that responses of runs hold, as people decided.
    pub matches: Option<&'a Path>,
    /// The name of the run in that file; by default, that of the submission.
    pub matched_run: Option<&'a str>,
    /// Ratings by people, turn by turn.
    pub ratings: Option<&'a Path>,
    /// The seed of intervals.
    pub seed: u64,
}

/// Takes the complete rankings that `clariq run` writes beside a submission, which itself has only the
/// first passages and the chosen statements. Returns warnings about rankings of another run.
fn take_rankings(source: &Source, evaluated: &mut EvaluatedRun) -> Result<Vec<String>, Error> {
    let submission = PathBuf::from(source.name());
    let mut warnings = Vec::new();
    for task in [STATEMENTS, PASSAGES] {
        let path = ranking_path(&submission, task);
        if !path.is_file() {
            continue;
        }
        // A system that ranks nothing, as where no user has statements, writes an empty run.
        let is_empty = fs::metadata(&path).is_ok_and(|file| file.len() == 0);
        let ranking = if is_empty { Run::default() } else { read_run(&Source::new(&path))? };
        let is_of_this_run = match task {
            STATEMENTS => evaluated.matches_statements(&ranking),
            _ => evaluated.matches_passages(&ranking),
        };
        if !is_of_this_run {
            warnings.push(format!("{} belongs to another run and is ignored", path.display()));
        } else if task == STATEMENTS {
            evaluated.statements = Some(ranking);
        } else {
            evaluated.passages = ranking;
        }
    }
    Ok(warnings)
}

/// The number of repeated documents in the rankings of a submission.
fn repeated(submission: &Submission) -> usize {
    fn again<'s>(documents: impl Iterator<Item = &'s str>) -> usize {
        let mut seen = HashSet::new();
        documents.filter(|document| !seen.insert(*document)).count()
    }
    /// 2025 names statements by their text, the other years by their number.
    fn name(statement: &RankedStatement) -> &str {
        if statement.id.is_empty() { &statement.text } else { &statement.id }
    }
    let responses = submission.turns.iter().flat_map(|turn| &turn.responses);
    let of_responses = responses.map(|response| {
        let statements = again(response.statements.iter().map(name));
        let passages = again(response.passages.iter().map(|passage| &*passage.id));
        statements + passages
    });
    let references = submission.turns.iter().map(|turn| turn.references.iter());
    let of_turns = references.map(|references| again(references.map(|passage| &*passage.id)));
    of_responses.chain(of_turns).sum()
}

impl Evaluation for IkatEvaluation<'_> {
    fn cases(&self, answers: Answers, by: &ScoreOptions) -> Result<Cases, Error> {
        let source = match answers {
            Answers::File(source) => source,
            Answers::Run(_) => {
                let task = by
                    .part
                    .map_or(Ok(PASSAGES), |part| (self.ikat as &dyn Collection).find_task(part))?;
                let by_qrels = ByQrels::open(self.ikat, self.split, task)?;
                return by_qrels.cases(answers, by);
            }
        };
        if by.ties.is_some() {
            let hint = "leave it out: equal scores are in the order of ids";
            bail!("--ties", "runs of ClariQ beside it", "runs of iKAT", hint);
        }
        let part = by.part.map(parse_part).transpose()?;
        if let Some(part) = part.filter(|part| !part.is_ranking() && !by.measures.is_empty()) {
            let hint = "sets and responses have measures of their own";
            let part = part.name();
            bail!("-m", "--task statements or --task passages", "--task {part}", hint);
        }
        let ReadParts { ranked, evaluated, warnings } = self.read_any(source)?;
        if let (Some(ranked), Some(part)) = (ranked, part.filter(|part| Some(*part) != ranked)) {
            let expected = format!("--task {}", ranked.name());
            let found = part.name();
            bail!("--task", expected, "`{found}`", "a TREC run ranks for one task");
        }
        let part = ranked.or(part);
        if part == Some(RunPart::Statements) && evaluated.statements.is_none() {
            let beside = ranking_path(&PathBuf::from(source.name()), STATEMENTS);
            let found = format!("no {}", beside.display());
            let hint = "--task ptkb_provenance compares the submitted lists";
            bail!(source.name(), "the ranking of statements beside it", found, hint);
        }
        let scores = scores(&evaluated, self.labels()?, part, by.measures)?;
        if let (Some(part), true) = (part, scores.is_empty()) {
            let expected = format!("labels of {} of {}", part.name(), self.split.name());
            let hint = "the data folder has labels of other parts, or of none";
            bail!(source.name(), expected, "none", hint);
        }
        let rankings = part.and_then(|part| evaluated.into_rankings(part));
        Ok(Cases { rankings, ..Cases::new(scores, warnings) })
    }
}

impl EvaluatedRun {
    /// The rankings of a part, if it is one of rankings. The complete ones beside a submission come
    /// before the passages in it.
    fn into_rankings(self, part: RunPart) -> Option<Rankings> {
        let (task, run) = match part {
            RunPart::Statements => (STATEMENTS, self.statements?),
            RunPart::Provenance => (STATEMENTS, self.provenance?),
            RunPart::Passages => (PASSAGES, self.passages),
            RunPart::Sets | RunPart::Responses => return None,
        };
        Some(Rankings { task: Some(task), run })
    }
}

/// True for the fields of the first line of a TREC run.
fn is_trec_run(fields: &[&[u8]]) -> bool {
    fields.len() == 6 && !fields[0].starts_with(b"{")
}

fn parse_part(name: &str) -> Result<RunPart, Problem> {
    RunPart::named(name).ok_or_else(|| {
        let parts = RunPart::ALL.map(RunPart::name).join(", ");
        let hint = "--task names the part of the runs to score; the default is all parts";
        problem!("--task", "one of {parts}", "`{name}`", hint)
    })
}
