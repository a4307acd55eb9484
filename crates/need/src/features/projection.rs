//! A phrase's vector along the axes on which the bank's questions differ most.
//!
//! The axes are the principal ones of the bank's vectors without the empty question: nothing is
//! learned from labels. The sign of an axis is arbitrary and has no effect on predictions.

use clariq_collections::clariq::{Bank, NO_QUESTION};
use clariq_core::{
    Documents, Encoder, Error, ModelName, Models, Result, Similarity, bail, problem,
};
use linfa_linalg::eigh::{EigSort, Eigh};
use ndarray::{Array1, Array2, Axis, s};
use rayon::prelude::*;
use std::sync::Arc;

pub(super) const AXES: usize = 12;

/// The number of questions near a phrase whose mean is its feedback vector.
const NEAREST: usize = 10;

/// An encoder, and the axes of a bank in its space.
pub(super) struct Projection {
    encoder: Arc<dyn Encoder>,
    /// The questions' vectors, a row each.
    questions: Array2<f64>,
    mean: Array1<f64>,
    /// A column per axis, the widest first.
    axes: Array2<f64>,
}

impl Projection {
    pub(super) fn new(bank: &Bank, models: &dyn Models, name: &str) -> Result<Self> {
        let model = ModelName::encoder(name);
        let encoder = models.encoder(&model).map_err(|error| without_model(&error))?;
        if encoder.similarity() != Similarity::Cosine {
            let hint = "name a model whose vectors are compared by cosine";
            bail!(format!("model `{name}`"), "vectors compared by cosine", "by dot product", hint);
        }
        let vectors =
            models.embed_documents(&model, bank, &|_| {}).map_err(|error| without_model(&error))?;
        let is_question = |&row: &usize| bank.rows()[row].id.as_str() != NO_QUESTION;
        let chosen: Vec<usize> = (0..bank.len()).filter(is_question).collect();
        let vectors = rows(vectors.vectors.dim, &vectors.vectors.values);
        let questions = vectors.select(Axis(0), &chosen);
        let mean = questions.mean_axis(Axis(0)).filter(|mean| !mean.is_empty());
        let mean = mean.ok_or_else(|| no_axes("no question".to_owned()))?;
        let axes = principal_axes(&(&questions - &mean))?;
        Ok(Self { encoder, questions, mean, axes })
    }

    pub(super) fn checksum(&self) -> &str {
        self.encoder.checksum()
    }

    pub(super) fn encode(&self, phrases: &[&str]) -> Result<Array2<f64>> {
        let vectors = self.encoder.encode(phrases, &|_| {});
        vectors.map(|found| rows(found.dim, &found.values)).map_err(|error| without_model(&error))
    }

    pub(super) fn project(&self, vectors: &Array2<f64>) -> Array2<f64> {
        (vectors - &self.mean).dot(&self.axes)
    }

    /// The mean of the questions nearest to each vector by cosine, the first of equally near ones.
    pub(super) fn feedback(&self, vectors: &Array2<f64>) -> Array2<f64> {
        let means: Vec<Array1<f64>> = (0..vectors.nrows())
            .into_par_iter()
            .map(|row| {
                let near = self.questions.dot(&vectors.row(row));
                let mut order: Vec<usize> = (0..near.len()).collect();
                order.sort_by(|&a, &b| near[b].total_cmp(&near[a]).then(a.cmp(&b)));
                order.truncate(NEAREST);
                let mean = self.questions.select(Axis(0), &order).mean_axis(Axis(0));
                mean.unwrap_or_else(|| self.mean.clone())
            })
            .collect();
        let mut all = Array2::zeros(vectors.raw_dim());
        all.rows_mut().into_iter().zip(means).for_each(|(mut row, mean)| row.assign(&mean));
        all
    }
}

fn rows(width: usize, values: &[f32]) -> Array2<f64> {
    let shape = (values.len().checked_div(width).unwrap_or(0), width);
    Array2::from_shape_fn(shape, |(row, column)| f64::from(values[row * width + column]))
}

/// The axes along which centred rows differ most; where a space has fewer, the rest are 0.
fn principal_axes(centred: &Array2<f64>) -> Result<Array2<f64>> {
    let covariance = centred.t().dot(centred);
    let found = covariance.eigh().map_err(|error| no_axes(error.to_string()))?;
    let (_, vectors) = found.sort_eig_desc();
    let count = AXES.min(vectors.ncols());
    let mut axes = Array2::zeros((centred.ncols(), AXES));
    axes.slice_mut(s![.., ..count]).assign(&vectors.slice(s![.., ..count]));
    Ok(axes)
}

/// A learned model that is not available; the hint names the need model that does without.
fn without_model(error: &Error) -> Error {
    let mut problem = error.to_problem();
    problem.hint.push_str("; or use model = \"lexical\" in [need], which needs no learned model");
    problem.into()
}

fn no_axes(found: String) -> Error {
    let hint = "check the bank with `clariq data check`; model = \"lexical\" needs no vectors";
    problem!("question_bank.tsv", "questions whose vectors differ", found, hint).into()
}

#[cfg(test)]
mod tests {
    use super::*;
    use ndarray::array;

    #[test]
    fn the_first_axis_is_the_widest() {
        let axes =
            principal_axes(&array![[3.0, 0.1], [-3.0, -0.1], [0.0, 0.5], [0.0, -0.5]]).unwrap();
        assert_eq!(axes.dim(), (2, AXES));
        assert!(axes[(0, 0)].abs() > 0.99 && axes[(1, 1)].abs() > 0.99, "{axes}");
        assert!(axes.slice(s![.., 2..]).iter().all(|&value| value == 0.0));
    }
}
