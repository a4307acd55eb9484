//! The evaluation of iKAT by the track's figures, for rankings and sets of statements, passages, and
//! responses.

use super::assessed::{Rating, nugget_recall, ratings};
use super::{EvaluatedRun, IkatLabels, RunPart, columns, figures, graded, provenance, sets};
use crate::run::{RankedStatement, Submission};
use crate::{Ikat, IkatSplit, PASSAGES, STATEMENTS};
use clariq_collections::Collection;
use clariq_collections::evaluation::{
    ComparisonOptions, EvalRequest, EvalResult, Evaluation, FileRankings, ONE_SCORE, ScoredTopics,
    ShortMeasures, SystemOutput, ValuesByRequest, counted,
};
use clariq_collections::ranking_path;
use clariq_collections::validation::first_fields;
use clariq_core::{Error, Problem, ProblemKind, RequestId, bail, count_of, problem};
use clariq_eval::{Column, Ties};
use clariq_files::{Run, Source, parse_run, read_run, strictly};
use std::collections::HashSet;
use std::fs;
use std::path::{Path, PathBuf};

/// A split with its labels.
pub struct IkatEvaluation<'a> {
    ikat: &'a Ikat,
    split: IkatSplit,
    /// The labels, as far as the folder has any.
    pub labels: IkatLabels,
    turns: ScoredTopics,
}

/// A submission with its scored parts.
pub struct ReadSubmission {
    pub submission: Submission,
    pub evaluated: EvaluatedRun,
    /// Parts of the submission that the figures ignore.
    pub warnings: Vec<String>,
}

/// A TREC run for one task.
struct ReadRanking {
    part: RunPart,
    evaluated: EvaluatedRun,
    warnings: Vec<String>,
}

impl<'a> IkatEvaluation<'a> {
    /// Reads the labels of a split, if there are any.
    pub fn open(ikat: &'a Ikat, split: IkatSplit) -> Result<Self, Error> {
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
    fn ranking(&self, source: &Source) -> Result<Option<ReadRanking>, Error> {
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
        Ok(Some(ReadRanking { part, evaluated, warnings }))
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
        let mut submission = Submission::read(source, Some(self.split.year()))?;
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

    /// Scores a file, optionally by files beside the labels of the split.
    pub fn score_with(
        &self,
        request: &EvalRequest,
        assessed: &AssessedBy,
    ) -> Result<EvalResult, Error> {
        let AssessedBy { qrels, answers, .. } = *assessed;
        if assessed.matches.is_some() || assessed.ratings.is_some() {
            return self.score_assessed(request, assessed);
        }
        let mut replaced = None;
        if qrels.is_some() || answers.is_some() {
            let labels = replaced.insert(IkatLabels::read(self.ikat, self.split)?);
            labels.replace(qrels, answers, self.ikat.topics(self.split)?)?;
        }
        let labels = replaced.as_ref().map_or_else(|| self.labels(), Ok)?;
        let source = Source::new(&request.file).repeatable()?;
        if let Some(read) = self.ranking(&source)? {
            let ReadRanking { part, evaluated, warnings } = read;
            if answers.is_some() {
                let hint = "leave it out, or score the submission";
                bail!("--answers", "a run with responses beside it", "a TREC run", hint);
            }
            let columns = columns(&evaluated, labels, Some(part), request.measures)?;
            if columns.is_empty() {
                let expected = format!("labels of {} of {}", part.name(), self.split);
                let hint = "the documentation names the files of labels (reference, Formats)";
                bail!(self.ikat.location(), expected, "only other labels", hint);
            }
            return Ok(means(&columns, warnings));
        }
        let ReadSubmission { evaluated, warnings, .. } = self.read(&source)?;
        if !request.measures.is_empty() {
            return Ok(means(&columns(&evaluated, labels, None, request.measures)?, warnings));
        }
        let mut figures = figures(&evaluated, labels)?;
        // Sets are shown in full.
        figures.retain(|(name, _)| !name.starts_with("sets "));
        figures.extend(provenance(&evaluated, labels)?);
        figures.extend(sets(&evaluated, labels));
        figures.extend(graded(&evaluated, labels)?);
        Ok(EvalResult { figures, warnings, ..EvalResult::default() })
    }

    /// Scores the responses of a submission by what people decided, beside ROUGE where the split or
    /// `answers` have reference answers.
    fn score_assessed(
        &self,
        request: &EvalRequest,
        assessed: &AssessedBy,
    ) -> Result<EvalResult, Error> {
        let topics = self.ikat.topics(self.split)?;
        let source = Source::new(&request.file);
        let ReadSubmission { submission, evaluated, warnings } = self.read(&source)?;
        let mut labels = IkatLabels::read(self.ikat, self.split)?;
        labels.replace(None, assessed.answers, topics)?;
        let mut rows = Vec::new();
        if !labels.are_absent() {
            rows = figures(&evaluated, &labels)?;
            rows.retain(|(name, _)| name.starts_with("response "));
        }
        if let Some(file) = assessed.matches {
            let run = assessed.matched_run.unwrap_or(&submission.run_name);
            let recall = nugget_recall(&Source::new(file), run, topics)?;
            rows.push((
                format!("{}, {}", recall.name(), count_of(recall.values.len(), "turn")),
                recall.mean(),
            ));
        }
        if let Some(file) = assessed.ratings {
            for rating in ratings(&Source::new(file), topics, assessed.seed)? {
                let Rating { name, turns, mean, interval: (low, high) } = rating;
                rows.push((format!("rating {name}, {}", count_of(turns, "turn")), mean));
                rows.push((format!("rating {name}, 95 % from"), low));
                rows.push((format!("rating {name}, 95 % to"), high));
            }
        }
        Ok(EvalResult { figures: rows, warnings, ..EvalResult::default() })
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

/// The means of columns.
fn means(columns: &[Column], mut warnings: Vec<String>) -> EvalResult {
    let short = ShortMeasures::of(columns);
    warnings.extend(short.warning());
    EvalResult {
        figures: columns.iter().map(|column| (column.name(), column.mean())).collect(),
        short: short.names,
        warnings,
        ..EvalResult::default()
    }
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
    fn score(&self, request: &EvalRequest) -> Result<EvalResult, Error> {
        self.score_with(request, &AssessedBy::default())
    }

    fn figures(&self, written: &SystemOutput) -> Result<EvalResult, Error> {
        if let Some(run) = written.run {
            let qrels = clariq_collections::evaluation::ByQrels::open(
                self.ikat,
                self.split.as_split(),
                PASSAGES,
            )?;
            let figures = qrels.by_name(run, written.expected.iter().copied())?;
            return Ok(EvalResult { figures, ..EvalResult::default() });
        }
        let submission = Submission::read(&Source::new(written.path), Some(self.split.year()))?;
        let evaluated = EvaluatedRun::of_submission(self.ikat, self.split, &submission);
        // A submission has only the first documents of the rankings.
        let statements = (written.ranking)(STATEMENTS)?;
        let passages = (written.ranking)(PASSAGES)?;
        let evaluated = EvaluatedRun { statements: Some(statements), passages, ..evaluated };
        let figures = figures(&evaluated, self.labels()?)?;
        Ok(EvalResult { figures, ..EvalResult::default() })
    }

    fn columns(&self, source: &Source, by: &ComparisonOptions) -> Result<ValuesByRequest, Error> {
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
        let source = &source.repeatable()?;
        if let Some(ReadRanking { part: ranked, evaluated, warnings }) = self.ranking(source)? {
            if let Some(part) = part.filter(|part| *part != ranked) {
                let expected = format!("--task {}", ranked.name());
                let found = part.name();
                bail!("--task", expected, "`{found}`", "a TREC run ranks for one task");
            }
            let columns = columns(&evaluated, self.labels()?, Some(ranked), by.measures)?;
            return Ok(ValuesByRequest::new(columns, warnings));
        }
        let ReadSubmission { evaluated, warnings, .. } = self.read(source)?;
        if part == Some(RunPart::Statements) && evaluated.statements.is_none() {
            let beside = ranking_path(&PathBuf::from(source.name()), STATEMENTS);
            let found = format!("no {}", beside.display());
            let hint = "--task ptkb_provenance compares the submitted lists";
            bail!(source.name(), "the ranking of statements beside it", found, hint);
        }
        let columns = columns(&evaluated, self.labels()?, part, by.measures)?;
        Ok(ValuesByRequest::new(columns, warnings))
    }

    /// The complete rankings beside a submission come before the passages in it.
    fn rankings(&self, source: &Source, part: Option<&str>) -> Result<FileRankings, Error> {
        let source = &source.repeatable()?;
        let (part, evaluated) = match self.ranking(source)? {
            Some(ranked) => (Some(ranked.part), ranked.evaluated),
            None => (part.map(parse_part).transpose()?, self.read(source)?.evaluated),
        };
        let (task, run) = match part {
            Some(RunPart::Statements) => (STATEMENTS, evaluated.statements),
            Some(RunPart::Provenance) => (STATEMENTS, evaluated.provenance),
            Some(RunPart::Passages) => (PASSAGES, Some(evaluated.passages)),
            Some(RunPart::Sets | RunPart::Responses) | None => {
                let found = part.map_or("a submission with all of its parts", RunPart::name);
                let hint = "--task ptkb_provenance compares its statements";
                bail!("--topic", "--task passages beside it", found, hint);
            }
        };
        Ok(FileRankings { task: Some(task), run: run.unwrap_or_default() })
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
