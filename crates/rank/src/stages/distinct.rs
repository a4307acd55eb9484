//! Stage `distinct`: leaves out documents that repeat a better one.

use crate::build::Build;
use crate::space::SpaceConfig;
use crate::stage::{About, Batch, Stage};
use clariq_core::{Doc, Ranking, Result};
use ndarray::Array2;
use serde::{Deserialize, Serialize};

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Distinct {
    /// The similarity above which a document repeats a better one.
    same: f32,
    /// A space for this stage alone.
    #[serde(skip_deserializing)]
    space: SpaceConfig,
}

pub(super) fn build(mut build: Build) -> Result<Box<dyn Stage>> {
    let space = build.space()?;
    let hint = "0.9 leaves out documents with nearly the same words";
    build.table.check_number("same", 0.0..=1.0, "same from 0 to 1", hint)?;
    Ok(Box::new(Distinct { space, ..build.table.read()? }))
}

/// The rows that are kept of a ranking, best first, by the similarities of its documents.
fn keep(likeness: &Array2<f32>, same: f32) -> Vec<usize> {
    let mut rows: Vec<usize> = Vec::new();
    for row in 0..likeness.nrows() {
        if rows.iter().all(|&better| likeness[[row, better]] <= same) {
            rows.push(row);
        }
    }
    rows
}

impl Stage for Distinct {
    fn about(&self) -> About {
        About { models: self.space.models(), ..About::new("distinct", self) }
    }

    fn apply(&self, batch: &Batch, rankings: Vec<Ranking>) -> Result<Vec<Ranking>> {
        let space = batch.context.space(&self.space)?;
        let space = space.of_cosines("distinct")?;
        let distinct = |ranking: Ranking| {
            let docs: Vec<Doc> = ranking.iter().map(|hit| hit.doc).collect();
            let kept = keep(&space.among(&docs), self.same);
            Ok(kept.into_iter().map(|row| ranking[row]).collect())
        };
        rankings.into_iter().map(distinct).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ndarray::array;

    #[test]
    fn a_document_like_a_better_one_is_removed() {
        // The second is similar to the first; the third only to the second, which is left out.
        let likeness = array![[1.0, 0.95, 0.2], [0.95, 1.0, 0.95], [0.2, 0.95, 1.0]];
        assert_eq!(keep(&likeness, 0.9), [0, 2]);
        assert_eq!(keep(&likeness, 0.95), [0, 1, 2]);
    }
}
