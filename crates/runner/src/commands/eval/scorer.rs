//! The scorer of a file: that of its track, with the options that the track has, or the evaluation of
//! any other collection.

use super::EvalArgs;
use clariq_collections::evaluation::{EvalRequest, EvalResult, Evaluation};
use clariq_collections::{Collection, Split};
use clariq_core::Result;
use clariq_track_clariq::evaluation::{Official, OfficialTask};
use clariq_track_clariq::{ClariQ, ClariqSplit};
use clariq_track_ikat::evaluation::{AssessedBy, IkatEvaluation};
use clariq_track_ikat::{Ikat, IkatSplit};

/// The scorer that has no options of tracks, as messages call it.
pub(super) const BY_NAME: &str = "measures by name";

pub(super) enum FileScorer<'a> {
    Clariq(Box<Official<'a>>, OfficialTask),
    Ikat(Box<IkatEvaluation<'a>>, AssessedBy<'a>),
    Any(Box<dyn Evaluation + 'a>),
}

impl<'a> FileScorer<'a> {
    /// The scorer of a collection for the options that were given.
    ///
    /// # Errors
    ///
    /// An option of another track, or one that does not apply to what is scored; missing labels.
    pub(super) fn open(
        collection: &'a dyn Collection,
        split: Split,
        arguments: &'a EvalArgs,
        seed: u64,
    ) -> Result<Self> {
        if let (Some(clariq), Some(split)) =
            (collection.downcast::<ClariQ>(), ClariqSplit::named(split.name()))
        {
            arguments.refuse_answers("runs of ClariQ")?;
            let official = Box::new(Official::new(clariq, split));
            if arguments.measures.is_empty() {
                return Ok(Self::Clariq(official, arguments.clariq.official_task()?));
            }
            arguments.clariq.refuse_all(BY_NAME)?;
            return Ok(Self::Any(official));
        }
        if let (Some(ikat), Some(split)) =
            (collection.downcast::<Ikat>(), IkatSplit::parse(split.name()))
        {
            arguments.clariq.refuse_all("runs of iKAT")?;
            let evaluation = Box::new(IkatEvaluation::open(ikat, split)?);
            return Ok(Self::Ikat(evaluation, arguments.assessed(seed)));
        }
        arguments.clariq.refuse_all(BY_NAME)?;
        arguments.refuse_answers(BY_NAME)?;
        Ok(Self::Any(collection.evaluation(split)?))
    }

    /// The kind of the file, as records name it.
    pub(super) fn file_kind(&self) -> &'static str {
        match self {
            Self::Clariq(_, OfficialTask::Needs { .. }) => "need",
            _ => "run",
        }
    }

    /// Problems of the labels that do not prevent scoring.
    pub(super) fn warnings(&self) -> &[String] {
        match self {
            Self::Clariq(..) | Self::Ikat(..) => &[],
            Self::Any(evaluation) => evaluation.warnings(),
        }
    }

    pub(super) fn score(&self, request: &EvalRequest) -> Result<EvalResult> {
        match self {
            Self::Clariq(official, task) => official.score_as(task, request),
            Self::Ikat(evaluation, assessed) => evaluation.score_with(request, assessed),
            Self::Any(evaluation) => evaluation.score(request),
        }
    }
}
