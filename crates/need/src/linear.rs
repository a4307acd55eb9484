//! Softmax regressions over standardised blocks of features, fitted by linfa.
//!
//! linfa minimises Σ −ln p + α/2 ‖W‖² with free intercepts, by L-BFGS; C here is 1/α, as
//! scikit-learn calls it. The problem is convex, so that no seed is needed.

use crate::config::Block;
use crate::features::Features;
use clariq_core::{Error, Result, problem};
use linfa::prelude::*;
use linfa_logistic::MultiLogisticRegression;
use ndarray::{Array1, Array2};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The limits at which the fit stops: the norm of the gradient, and the number of iterations.
const GRADIENT: f64 = 1e-7;
const ITERATIONS: u64 = 2000;

/// The largest number that a model may have. Factors are below 1 / `CONSTANT`.
const LARGEST: f64 = 1e13;

/// A column whose standard deviation is below this is constant.
const CONSTANT: f64 = 1e-12;

/// Standardises columns: mean 0 and deviation 1 over the training topics.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Standardisation {
    blocks: Vec<Block>,
    means: Vec<f64>,
    factors: Vec<f64>,
}

impl Standardisation {
    fn fit(blocks: &[Block], features: &Features, rows: &[usize]) -> Self {
        let mut standard = Self { blocks: blocks.to_vec(), means: Vec::new(), factors: Vec::new() };
        for &block in blocks {
            for column in features.block(block).columns() {
                let values = || rows.iter().map(|&row| column[row]);
                let mean = values().sum::<f64>() / rows.len() as f64;
                let variance =
                    values().map(|value| (value - mean).powi(2)).sum::<f64>() / rows.len() as f64;
                let deviation = if variance.sqrt() > CONSTANT { variance.sqrt() } else { 1.0 };
                standard.means.push(mean);
                standard.factors.push(1.0 / deviation);
            }
        }
        standard
    }

    fn blocks(&self) -> impl Iterator<Item = Block> {
        self.blocks.iter().copied()
    }

    /// The standardised columns of one request.
    pub(crate) fn row(&self, features: &Features, row: usize) -> Vec<f64> {
        let values = self.blocks().flat_map(|block| features.block(block).row(row));
        let scales = self.means.iter().zip(&self.factors);
        values.zip(scales).map(|(value, (mean, factor))| factor * (value - mean)).collect()
    }

    /// The names of the columns with their values for one request, before standardisation.
    pub(crate) fn named(&self, features: &Features, row: usize) -> Vec<(String, f64)> {
        let named = |block: Block| {
            block.features().into_iter().zip(features.block(block).row(row).to_vec())
        };
        self.blocks().flat_map(named).collect()
    }

    fn matrix(&self, features: &Features, rows: &[usize]) -> Array2<f64> {
        let values: Vec<Vec<f64>> = rows.iter().map(|&row| self.row(features, row)).collect();
        Array2::from_shape_fn((rows.len(), self.means.len()), |(row, column)| values[row][column])
    }
}

/// A weight per column, and the intercept.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct LinearWeights {
    intercept: f64,
    columns: Vec<f64>,
}

impl LinearWeights {
    fn score(&self, row: &[f64]) -> f64 {
        let products = self.columns.iter().zip(row).map(|(weight, value)| weight * value);
        self.intercept + products.sum::<f64>()
    }
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Softmax {
    pub(crate) standard: Standardisation,
    /// The labels that the training topics have, by their numbers from 1.
    labels: BTreeMap<usize, LinearWeights>,
}

impl Softmax {
    /// Fits some rows of `features`, whose labels are `labels[row]`.
    pub(crate) fn fit(
        blocks: &[Block],
        c: f64,
        features: &Features,
        labels: &[usize],
        rows: &[usize],
    ) -> Result<Self> {
        let standard = Standardisation::fit(blocks, features, rows);
        let targets: Array1<usize> = rows.iter().map(|&row| labels[row] + 1).collect();
        let dataset = Dataset::new(standard.matrix(features, rows), targets);
        let regression = MultiLogisticRegression::default()
            .alpha(1.0 / c)
            .with_intercept(true)
            .gradient_tolerance(GRADIENT)
            .max_iterations(ITERATIONS);
        let fitted = regression.fit(&dataset).map_err(|error| cannot_fit(error.to_string()))?;
        let weights = |class: usize| LinearWeights {
            intercept: fitted.intercept()[class],
            columns: fitted.params().column(class).to_vec(),
        };
        let classes = fitted.classes().iter().enumerate();
        let labels = classes.map(|(class, &label)| (label, weights(class))).collect();
        Ok(Self { standard, labels })
    }

    /// True if all its blocks are `known`, and every label has a weight for each of their features.
    pub(crate) fn fits(&self, known: &[Block], classes: usize) -> bool {
        let Standardisation { means, factors, .. } = &self.standard;
        let count: usize = self.standard.blocks().map(|block| block.features().len()).sum();
        self.standard.blocks().all(|block| known.contains(&block))
            && [means.len(), factors.len()] == [count; 2]
            && !self.labels.is_empty()
            && self.labels.keys().all(|label| (1..=classes).contains(label))
            && self.labels.values().all(|weights| weights.columns.len() == count)
    }

    /// True if no score can overflow.
    pub(crate) fn is_bounded(&self) -> bool {
        let Standardisation { means, factors, .. } = &self.standard;
        let weights = self.labels.values().flat_map(|weights| &weights.columns);
        let intercepts = self.labels.values().map(|weights| &weights.intercept);
        let mut numbers = means.iter().chain(factors).chain(weights).chain(intercepts);
        numbers.all(|number| number.abs() <= LARGEST)
    }

    /// The probability of each of `classes` labels for standardised columns; 0 if no training topic has it.
    pub(crate) fn probabilities(&self, row: &[f64], classes: usize) -> Vec<f64> {
        let mut probabilities = vec![0.0; classes];
        let scores: Vec<f64> = self.labels.values().map(|weights| weights.score(row)).collect();
        let highest = scores.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let total: f64 = scores.iter().map(|score| (score - highest).exp()).sum();
        for (label, score) in self.labels.keys().zip(&scores) {
            probabilities[label - 1] = (score - highest).exp() / total;
        }
        probabilities
    }

    /// The weight of a column for a label, less the mean over all labels.
    pub(crate) fn weight_against_mean(&self, label: usize, column: usize) -> f64 {
        let sum = self.labels.values().map(|weights| weights.columns[column]).sum::<f64>();
        let own = self.labels.get(&(label + 1)).map_or(0.0, |weights| weights.columns[column]);
        own - sum / self.labels.len() as f64
    }
}

fn cannot_fit(found: String) -> Error {
    let hint = "a smaller `c` makes the problem easier; model = \"majority\" always works";
    problem!("[need]", "a regression that can be fitted", found, hint).into()
}
