//! Stage `no_question`: puts silence at a fixed rank, for every request or for those that are
//! predicted to be clear.

use crate::build::Build;
use crate::stage::{About, Batch, Stage};
use crate::stages::silence::{insert_at, silence};
use clariq_core::Error;
use clariq_core::{Doc, Explanation, Need, Ranking};
use serde::{Deserialize, Serialize};
use std::num::NonZeroUsize;

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct NoQuestion {
    /// The rank, from 1; a shorter ranking gets it at the end.
    rank: NonZeroUsize,
    /// Only where the predicted need is at most this; not where none was predicted.
    #[serde(skip_serializing_if = "Option::is_none")]
    when_need: Option<Need>,
}

pub(super) fn build(build: Build) -> Result<Box<dyn Stage>, Error> {
    if build.table.has("when_need") {
        build.require_need_model(build.table.at("when_need"), "when_need")?;
    }
    Ok(Box::new(build.table.read::<NoQuestion>()?))
}

impl NoQuestion {
    fn is_meant(&self, need: Option<Need>) -> bool {
        self.when_need.is_none_or(|clear| need.is_some_and(|need| need <= clear))
    }
}

impl Stage for NoQuestion {
    fn about(&self) -> About {
        About { sees_need: self.when_need.is_some(), ..About::new("no_question", self) }
    }

    fn apply(&self, batch: &Batch, mut rankings: Vec<Ranking>) -> Result<Vec<Ranking>, Error> {
        let silence = silence(batch.context, "no_question")?;
        for (request, ranking) in batch.requests.iter().zip(&mut rankings) {
            if self.is_meant(request.need) {
                insert_at(ranking, silence, self.rank);
            }
        }
        batch.finish();
        Ok(rankings)
    }

    fn explain(
        &self,
        one: &Batch,
        _doc: Doc,
        _before: &Ranking,
    ) -> Result<Option<Explanation>, Error> {
        let need = one.requests.first().and_then(|request| request.need);
        let Some((clear, need)) = self.when_need.zip(need) else { return Ok(None) };
        let what = if self.is_meant(Some(need)) {
            format!(
                "predicted need, at most {clear}: asking nothing is placed at rank {}",
                self.rank
            )
        } else {
            format!("predicted need, above {clear}: nothing is placed")
        };
        Ok(Some(Explanation::value(f64::from(need.get()), what)))
    }
}
