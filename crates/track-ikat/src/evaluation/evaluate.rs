//! The figures of a run: rankings and sets of statements, passages, and responses.

use crate::folder::track_file;
use crate::qrels::{
    GRADED_BY_MODEL, LabelKind, check_judged, check_judged_statements, check_turns, read_answers,
    to_qrels,
};
use crate::run::{Submission, SubmittedTurn};
use crate::splits;
use crate::{
    Ikat, STATEMENTS, TopicFile, Year, citation_judgements, read_statement_qrels,
    statement_judgements,
};
use clariq_collections::Split;
use clariq_collections::evaluation::spelled_otherwise;
use clariq_core::{DocId, Error, RequestId, bail};
use clariq_eval::lines_by_topic;
use clariq_files::{Judgement, Qrels, Run, RunLine, Source, read_qrels};
use std::collections::{HashMap, HashSet};
use std::path::Path;

/// The scored parts of a run.
#[derive(Default)]
pub struct EvaluatedRun {
    /// The rankings of statements by their numbers, if there are any.
    pub statements: Option<Run>,
    /// The lists of statements in a submission, `ptkb_provenance`, as rankings.
    pub provenance: Option<Run>,
    /// The statements that responses use.
    pub chosen: Vec<(RequestId, Vec<DocId>)>,
    /// The rankings of passages.
    pub passages: Run,
    /// The best response to every turn.
    pub responses: HashMap<String, String>,
}

/// The labels of a split, as far as its folder has them.
#[derive(Default)]
pub struct IkatLabels {
    /// The organisers' labels of statements.
    pub organisers: Option<Qrels>,
    /// NIST's labels of statements.
    pub nist: Option<Qrels>,
    /// The passages that the organisers' responses cite.
    pub cited: Option<Qrels>,
    /// Graded labels of passages by their assessors; NIST's first.
    pub graded: Vec<(&'static str, Qrels)>,
    /// The answers that people wrote, or else the organisers' responses that cite a passage.
    pub responses: HashMap<String, String>,
}

const NOTHING_JUDGED: &str =
    "no passage of the run is judged: are its ids those of the judgements?";

/// The name in figures of passages graded by a file of the user.
const GRADED_BY_FILE: &str = "passages (graded by --qrels)";

impl IkatLabels {
    /// Reads the labels of a split: those in the topics, and the files that the folder has.
    pub fn read(ikat: &Ikat, split: Split) -> Result<Self, Error> {
        let topics = ikat.topics(split)?;
        let turns = topics.turns().filter(|(_, turn)| {
            turn.citations.as_ref().is_some_and(|citations| !citations.is_empty())
        });
        let file = splits::files(split).topics;
        let mut labels = Self {
            organisers: to_qrels(file, &statement_judgements(topics))?,
            cited: to_qrels(file, &citation_judgements(topics))?,
            responses: turns
                .map(|(_, turn)| (turn.id.as_str().to_owned(), turn.response.clone()))
                .collect(),
            ..Self::default()
        };
        for &(name, kind) in splits::files(split).labels {
            let Some(file) = track_file(&ikat.data, name) else { continue };
            match kind {
                LabelKind::Organisers if labels.organisers.is_some() => {}
                LabelKind::Organisers => {
                    let mut judgements = read_statement_qrels(&file)?;
                    // As in 2023, where turns without a relevant statement are left out.
                    let relevant = judgements.iter().filter(|label| label.relevance > 0);
                    let turns: HashSet<_> = relevant.map(|label| label.topic.clone()).collect();
                    judgements.retain(|label| turns.contains(&label.topic));
                    labels.organisers = Some(statement_qrels(&file, &judgements, topics)?);
                }
                LabelKind::Nist => {
                    let judgements = read_statement_qrels(&file)?;
                    labels.nist = Some(statement_qrels(&file, &judgements, topics)?);
                }
                LabelKind::Passages(part) => {
                    labels.graded.push((part, qrels(&file, &read_qrels(&file)?, topics)?));
                }
                LabelKind::Answers => labels.replace_answers(&file, topics)?,
            }
        }
        Ok(labels)
    }

    /// Replaces labels of the folder by those of files that the user names.
    pub(super) fn replace(
        &mut self,
        graded: Option<&Path>,
        answers: Option<&Path>,
        topics: &TopicFile,
    ) -> Result<(), Error> {
        if let Some(file) = graded {
            let file = Source::new(file);
            let judgements = read_qrels(&file)?;
            if let Some(label) = judgements.iter().find(|label| !label.document.contains(':')) {
                let found = format!("`{}` of `{}`", label.document, label.topic);
                let hint =
                    "labels of statements are read from the data folder under their released names";
                bail!(file.name(), "grades of passages, page:number", found, hint);
            }
            self.graded = vec![(GRADED_BY_FILE, qrels(&file, &judgements, topics)?)];
        }
        answers.map_or(Ok(()), |file| self.replace_answers(&Source::new(file), topics))
    }

    fn replace_answers(&mut self, file: &Source, topics: &TopicFile) -> Result<(), Error> {
        let answers = read_answers(file)?;
        check_turns(&file.name(), answers.iter().map(|(turn, _)| turn.as_str()), topics)?;
        self.responses = answers.into_iter().collect();
        Ok(())
    }

    /// The labels of passages by NIST, or by the file that a user named.
    pub fn graded_by_people(&self) -> Option<&Qrels> {
        self.graded.iter().find(|(part, _)| *part != GRADED_BY_MODEL).map(|(_, qrels)| qrels)
    }

    /// Warns of passages that no label judges, and of those that it judges under another spelling.
    pub(super) fn doubts(&self, passages: &Run) -> Vec<String> {
        let labels: Vec<&Qrels> =
            self.cited.iter().chain(self.graded.iter().map(|(_, qrels)| qrels)).collect();
        let mut doubts: Vec<String> =
            labels.iter().filter_map(|labels| spelled_otherwise(passages, labels)).collect();
        let is_judged = |line: &RunLine, labels: &Qrels| {
            labels.topic(&line.topic).is_some_and(|turn| turn.grade(&line.document).is_some())
        };
        let judges = |labels: &&Qrels| passages.lines.iter().any(|line| is_judged(line, labels));
        if !passages.lines.is_empty() && !labels.is_empty() && !labels.iter().any(judges) {
            doubts.push(NOTHING_JUDGED.to_owned());
        }
        doubts
    }

    /// True if there is nothing to score by.
    pub fn are_absent(&self) -> bool {
        let statements_and_citations = [&self.organisers, &self.nist, &self.cited];
        statements_and_citations.iter().all(|one| one.is_none())
            && self.graded.is_empty()
            && self.responses.is_empty()
    }
}

/// The labels of passages in a file.
fn qrels(file: &Source, judgements: &[Judgement], topics: &TopicFile) -> Result<Qrels, Error> {
    check_judged(&file.name(), judgements, topics)?;
    Qrels::from_judgements(&file.name(), judgements)
}

/// The labels of statements in a file.
fn statement_qrels(
    file: &Source,
    judgements: &[Judgement],
    topics: &TopicFile,
) -> Result<Qrels, Error> {
    check_judged_statements(&file.name(), judgements, topics)?;
    Qrels::from_judgements(&file.name(), judgements)
}

impl EvaluatedRun {
    /// The parts of a submission: of several responses to a turn, the statements and the text of the
    /// best one, and the passages of all, each once.
    pub(crate) fn of_submission(ikat: &Ikat, split: Split, submission: &Submission) -> Self {
        let mut evaluated = Self::default();
        let mut provenance = Run::default();
        for turn in &submission.turns {
            let statements = statements_of(ikat, split, turn);
            push(&mut provenance, &turn.id, statements.iter().map(String::as_str));
            let chosen = statements.iter().map(|number| number.as_str().into()).collect();
            evaluated.chosen.push((turn.id.as_str().into(), chosen));
            push(&mut evaluated.passages, &turn.id, passages_of(submission.year, turn).into_iter());
            if let Some(best) = turn.best_response() {
                evaluated.responses.insert(turn.id.clone(), best.text.clone());
            }
        }
        evaluated.provenance = Some(provenance);
        evaluated
    }

    /// True if a complete ranking of statements belongs to these responses: it has all statements that
    /// they use.
    pub(super) fn matches_statements(&self, ranking: &Run) -> bool {
        let lines = ranking.lines.iter().map(|line| (&line.topic, &line.document));
        let ranked: HashSet<(&RequestId, &DocId)> = lines.collect();
        self.chosen
            .iter()
            .all(|(turn, chosen)| chosen.iter().all(|one| ranked.contains(&(turn, one))))
    }

    /// True if a complete ranking of passages begins with the submitted ones, turn by turn.
    pub(super) fn matches_passages(&self, ranking: &Run) -> bool {
        let whole = lines_by_topic(ranking);
        lines_by_topic(&self.passages).iter().all(|(turn, submitted)| {
            let all = whole.get(turn).map_or(&[][..], Vec::as_slice);
            let same = all.iter().zip(submitted).all(|(one, other)| one.document == other.document);
            same && all.len() >= submitted.len()
        })
    }
}

/// Adds a ranking. A repeated document counts where it comes first.
fn push<'a>(run: &mut Run, turn: &str, documents: impl Iterator<Item = &'a str>) {
    let mut seen = HashSet::new();
    for (index, document) in documents.filter(|document| seen.insert(*document)).enumerate() {
        run.lines.push(RunLine {
            topic: turn.into(),
            document: document.into(),
            score: -(index as f64),
            line: 0,
        });
    }
}

/// The statements of the best response, by their numbers as in rankings. 2025 names statements by
/// their text: one that is no statement of the user counts as not relevant, under its text in quotes,
/// which is never a number.
fn statements_of(ikat: &Ikat, split: Split, turn: &SubmittedTurn) -> Vec<String> {
    let Some(best) = turn.best_response() else { return Vec::new() };
    if !splits::files(split).year.has_line_runs() {
        return best.statements.iter().map(|statement| statement.id.clone()).collect();
    }
    let known = ikat.topics(split).ok().and_then(|topics| {
        let (conversation, _) = topics.turn(&turn.id)?;
        Some(ikat.statements_of(split, conversation, topics.before(&conversation.number)))
    });
    let known = known.unwrap_or_default();
    let bank = ikat.ranked_in(STATEMENTS);
    let name = |text: &str| {
        let index = known.iter().position(|&doc| bank.text(doc).is_ok_and(|known| known == text));
        index.map_or_else(|| format!("\"{text}\""), |index| (index + 1).to_string())
    };
    best.statements.iter().map(|statement| name(&statement.text)).collect()
}

/// The passages of a turn, best first, as the conversion to a TREC run orders them.
fn passages_of(year: Year, turn: &SubmittedTurn) -> Vec<&str> {
    let mut scored: Vec<(&str, f64)> = if year.has_line_runs() {
        turn.references.iter().map(|passage| (passage.id.as_str(), passage.score)).collect()
    } else {
        let of_response = turn.responses.iter().flat_map(|response| {
            let weight = 1.0 / (f64::from(response.rank.max(0)) + 1.0);
            let passages = response.passages.iter();
            passages.map(move |passage| (passage.id.as_str(), weight * passage.score))
        });
        of_response.collect()
    };
    let mut seen = HashSet::new();
    scored.retain(|(id, _)| seen.insert(*id));
    // Equal scores by descending id, as everywhere.
    scored.sort_by(|a, b| b.1.total_cmp(&a.1).then_with(|| b.0.cmp(a.0)));
    scored.into_iter().map(|(id, _)| id).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn passages_that_nothing_judges_are_doubted() {
        let judged = |document: &str| {
            let judgement =
                Judgement { topic: "1_1".into(), document: document.into(), relevance: 1 };
            Qrels::from_judgements("q", &[judgement]).unwrap()
        };
        let labels = IkatLabels {
            cited: Some(judged("P:1")),
            graded: vec![("passages", judged("p:2"))],
            ..IkatLabels::default()
        };
        let doubts = |document: &str| {
            let mut run = Run::default();
            push(&mut run, "1_1", [document].into_iter());
            labels.doubts(&run)
        };
        assert_eq!(doubts("p:2"), [""; 0]);
        assert_eq!(doubts("p:3"), [NOTHING_JUDGED]);
        let spelled = "1 document of the run is spelled otherwise in the judgements, such as `p:1` for `P:1`: \
                       ids are compared letter by letter";
        assert_eq!(doubts("p:1"), [spelled, NOTHING_JUDGED]);
        assert_eq!(labels.doubts(&Run::default()), [""; 0]);
    }
}
