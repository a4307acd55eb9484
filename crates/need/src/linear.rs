//! How are labels read off features? Softmax and logistic regressions over standardised blocks, fitted by linfa.
//!
//! linfa minimises Σ −ln p + α/2 ‖W‖² with free intercepts, by L-BFGS; C here is 1/α, as scikit-learn calls it. The problem
//! is convex: there is no seed.

use crate::error::Error;
use crate::features::{Block, Features};
use clariq_core::{Location, Need, Problem, ProblemKind};
use linfa::prelude::*;
use linfa_logistic::{LogisticRegression, MultiLogisticRegression};
use ndarray::{Array1, Array2};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

const GRADIENT: f64 = 1e-7;
const ITERATIONS: u64 = 2000;

/// A column that varies less than this is constant.
const CONSTANT: f64 = 1e-12;

/// Which blocks are looked at, and what each is multiplied by after it is standardised.
pub type Weighted = BTreeMap<Block, f64>;

/// Makes the columns of blocks comparable: mean 0 and standard deviation 1 over the training topics, times the block's weight.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Standard {
    blocks: Weighted,
    means: Vec<f64>,
    factors: Vec<f64>,
}

impl Standard {
    fn fit(blocks: &Weighted, features: &Features, rows: &[usize]) -> Self {
        let mut standard = Self { blocks: blocks.clone(), means: Vec::new(), factors: Vec::new() };
        for (&block, &weight) in blocks {
            for column in features.block(block).columns() {
                let values = || rows.iter().map(|&row| column[row]);
                let mean = values().sum::<f64>() / rows.len() as f64;
                let variance =
                    values().map(|value| (value - mean).powi(2)).sum::<f64>() / rows.len() as f64;
                let deviation = if variance.sqrt() > CONSTANT { variance.sqrt() } else { 1.0 };
                standard.means.push(mean);
                standard.factors.push(weight / deviation);
            }
        }
        standard
    }

    pub(crate) fn blocks(&self) -> impl Iterator<Item = Block> {
        self.blocks.keys().copied()
    }

    /// Whether weights and columns are as many as the blocks have features.
    pub(crate) fn fits(&self, weights: &Weights) -> bool {
        let count: usize = self.blocks().map(|block| block.features().len()).sum();
        [self.means.len(), self.factors.len(), weights.columns.len()] == [count; 3]
    }

    /// The columns of one request.
    pub(crate) fn row(&self, features: &Features, row: usize) -> Vec<f64> {
        let values = self.blocks.keys().flat_map(|&block| features.block(block).row(row));
        values
            .zip(&self.means)
            .zip(&self.factors)
            .map(|((value, mean), factor)| factor * (value - mean))
            .collect()
    }

    /// The names of the columns, and what stands in them for one request.
    pub(crate) fn named(&self, features: &Features, row: usize) -> Vec<(String, f64)> {
        let values = |block: &Block| features.block(*block).row(row).to_vec();
        self.blocks
            .keys()
            .flat_map(|block| block.features().into_iter().zip(values(block)))
            .collect()
    }

    fn matrix(&self, features: &Features, rows: &[usize]) -> Array2<f64> {
        let values: Vec<Vec<f64>> = rows.iter().map(|&row| self.row(features, row)).collect();
        Array2::from_shape_fn((rows.len(), self.means.len()), |(row, column)| values[row][column])
    }
}

/// A weight per column, and the intercept.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Weights {
    pub(crate) intercept: f64,
    pub(crate) columns: Vec<f64>,
}

impl Weights {
    pub(crate) fn of(&self, row: &[f64]) -> f64 {
        self.intercept
            + self.columns.iter().zip(row).map(|(weight, value)| weight * value).sum::<f64>()
    }
}

/// One softmax regression.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Softmax {
    pub(crate) standard: Standard,
    /// The labels that were in the training topics.
    pub(crate) labels: BTreeMap<Need, Weights>,
}

impl Softmax {
    /// Fits the given rows, whose labels are `labels[row]`.
    pub(crate) fn fit(
        blocks: &Weighted,
        c: f64,
        features: &Features,
        labels: &[Need],
        rows: &[usize],
    ) -> Result<Self, Error> {
        let standard = Standard::fit(blocks, features, rows);
        let targets: Array1<Need> = rows.iter().map(|&row| labels[row]).collect();
        let dataset = Dataset::new(standard.matrix(features, rows), targets);
        let regression = MultiLogisticRegression::default()
            .alpha(1.0 / c)
            .with_intercept(true)
            .gradient_tolerance(GRADIENT)
            .max_iterations(ITERATIONS);
        let fitted = regression.fit(&dataset).map_err(|error| cannot_fit(&error.to_string()))?;
        let weights = |place: usize| Weights {
            intercept: fitted.intercept()[place],
            columns: fitted.params().column(place).to_vec(),
        };
        let labels = fitted
            .classes()
            .iter()
            .enumerate()
            .map(|(place, &label)| (label, weights(place)))
            .collect();
        Ok(Self { standard, labels })
    }

    /// The probability of every label for standardised columns; 0 for labels that were never seen.
    pub(crate) fn probabilities(&self, row: &[f64]) -> [f64; 4] {
        let mut probabilities = [0.0; 4];
        let scores: Vec<f64> = self.labels.values().map(|weights| weights.of(row)).collect();
        let highest = scores.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let total: f64 = scores.iter().map(|score| (score - highest).exp()).sum();
        for (label, score) in self.labels.keys().zip(&scores) {
            probabilities[usize::from(label.get()) - 1] = (score - highest).exp() / total;
        }
        probabilities
    }
}

/// A regression that tells two sides apart.
pub(crate) fn fit_two_sides(
    standard: &Standard,
    c: f64,
    features: &Features,
    rows: &[usize],
    above: &[bool],
) -> Result<Weights, Error> {
    let targets: Array1<bool> = above.iter().copied().collect();
    let dataset = Dataset::new(standard.matrix(features, rows), targets);
    let regression = LogisticRegression::default()
        .alpha(1.0 / c)
        .with_intercept(true)
        .gradient_tolerance(GRADIENT)
        .max_iterations(ITERATIONS);
    let fitted = regression.fit(&dataset).map_err(|error| cannot_fit(&error.to_string()))?;
    // linfa calls the more frequent side positive.
    let sign = if fitted.labels().pos.class { 1.0 } else { -1.0 };
    Ok(Weights {
        intercept: sign * fitted.intercept(),
        columns: fitted.params().iter().map(|weight| sign * weight).collect(),
    })
}

pub(crate) fn standardise(blocks: &Weighted, features: &Features, rows: &[usize]) -> Standard {
    Standard::fit(blocks, features, rows)
}

fn cannot_fit(found: &str) -> Error {
    Problem::new(
        Location::file("[need]"),
        ProblemKind::Model,
        "a regression that can be fitted",
        found,
    )
    .hint("a smaller `c` makes the problem easier; model = \"majority\" always works")
    .into()
}
