//! Stage `fuse`: combines the rankings of several pipelines.

use crate::build::Build;
use crate::pipeline::{self, Pipeline};
use crate::stage::{About, Batch, Stage};
use clariq_core::{Doc, Explanation, Hit, Ranking, Result, bail, best_first, number};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::collections::HashMap;
use std::num::NonZeroUsize;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Method {
    /// Σ weight / (k + rank): Cormack, Clarke and Büttcher, "Reciprocal Rank Fusion outperforms
    /// Condorcet and individual Rank Learning Methods", SIGIR 2009, which uses k = 60.
    ReciprocalRank,
    /// Σ weight × score; a document that is missing in a ranking counts 0.
    WeightedSum,
}

/// The normalisation of the scores of a ranking before `weighted-sum`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Normalise {
    #[default]
    None,
    /// The lowest becomes 0, the highest 1; if all are equal, 1.
    MinMax,
    /// The distance from the lowest in standard deviations: z-scores, shifted. If all are equal, 0.
    ZScore,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct FusionParameters {
    method: Method,
    /// A weight per input; the default is 1.
    #[serde(default)]
    weights: Vec<f64>,
    #[serde(default)]
    normalise: Normalise,
    /// The constant of `reciprocal-rank`.
    #[serde(default = "number::<DEFAULT_K, _>")]
    k: f64,
    depth: NonZeroUsize,
}

/// The default constant of `reciprocal-rank`, as in the paper.
const DEFAULT_K: u16 = 60;

/// Fuses rankings by their reciprocal ranks, each with the same weight.
pub(crate) fn reciprocal_ranks(rankings: &[&Ranking], depth: usize) -> Ranking {
    let parameters = FusionParameters {
        method: Method::ReciprocalRank,
        weights: vec![1.0; rankings.len()],
        normalise: Normalise::None,
        k: DEFAULT_K.into(),
        depth: NonZeroUsize::MIN,
    };
    parameters.fuse(rankings, depth)
}

/// The share of a document at this rank, counted from 1, in [`reciprocal_ranks`].
pub(crate) fn reciprocal_rank(rank: usize) -> f64 {
    1.0 / (f64::from(DEFAULT_K) + rank as f64)
}

/// Runs its inputs on the ranking that comes in and combines their rankings.
struct Fuse {
    parameters: FusionParameters,
    inputs: Vec<Pipeline>,
    /// Computed once, with nested inputs: describing these at each level would take exponential
    /// time.
    about: About,
}

pub(super) fn build(mut build: Build) -> Result<Box<dyn Stage>> {
    let hint = "each [[stages.inputs]] table holds the stages of one ranking";
    build.table.check_number("k", 0.0..=f64::INFINITY, "k of at least 0", hint)?;
    let [inputs_at, weights_at] = ["inputs", "weights"].map(|key| build.table.at(key));
    let inputs = build.inner("inputs")?;
    let mut parameters: FusionParameters = build.table.read()?;
    let filled = inputs.iter().filter(|input| !input.stages.is_empty()).count();
    if inputs.len() < 2 || filled < inputs.len() {
        bail!(inputs_at, "at least two inputs, each with stages", "{filled} with stages", hint)
    }
    let weights = &mut parameters.weights;
    if weights.is_empty() {
        *weights = vec![1.0; inputs.len()];
    }
    if weights.len() != inputs.len() || weights.iter().any(|weight| !weight.is_finite()) {
        let expected = format!("{} finite weights, one per input", inputs.len());
        bail!(weights_at, expected, "{weights:?}", hint)
    }
    let about = describe(&parameters, &inputs);
    Ok(Box::new(Fuse { parameters, inputs, about }))
}

fn describe(parameters: &FusionParameters, inputs: &[Pipeline]) -> About {
    let mut about = About::new("fuse", parameters);
    let mut described = Vec::new();
    for input in inputs {
        let stages: Vec<About> = input.about().collect();
        described.push(json!({ "stages": pipeline::parameters(&stages) }));
        for stage in stages {
            about.uses.extend(stage.uses);
            about.models.extend(stage.models);
            about.prompts.extend(stage.prompts);
            about.sees_need |= stage.sees_need;
        }
    }
    about.parameters["inputs"] = Value::Array(described);
    about
}

impl FusionParameters {
    fn contributions(&self, ranking: &Ranking) -> Vec<f64> {
        let scores = ranking.iter().map(|hit| hit.score);
        let least = scores.clone().fold(f64::INFINITY, f64::min);
        match (self.method, self.normalise) {
            (Method::ReciprocalRank, _) => {
                (1..=ranking.len()).map(|rank| 1.0 / (self.k + rank as f64)).collect()
            }
            (Method::WeightedSum, Normalise::None) => scores.collect(),
            (Method::WeightedSum, Normalise::MinMax) => {
                let range = scores.clone().fold(f64::NEG_INFINITY, f64::max) - least;
                if range > 0.0 {
                    scores.map(|score| (score - least) / range).collect()
                } else {
                    vec![1.0; ranking.len()]
                }
            }
            (Method::WeightedSum, Normalise::ZScore) => {
                let deviation = standard_deviation(scores.clone());
                if deviation > 0.0 {
                    scores.map(|score| (score - least) / deviation).collect()
                } else {
                    vec![0.0; ranking.len()]
                }
            }
        }
    }

    fn fuse(&self, rankings: &[&Ranking], depth: usize) -> Ranking {
        let mut sums: HashMap<Doc, f64> = HashMap::new();
        for (ranking, weight) in rankings.iter().zip(&self.weights) {
            for (hit, contribution) in ranking.iter().zip(self.contributions(ranking)) {
                *sums.entry(hit.doc).or_default() += weight * contribution;
            }
        }
        let mut fused: Ranking = sums.into_iter().map(|(doc, score)| Hit { doc, score }).collect();
        fused.sort_unstable_by(best_first);
        fused.truncate(depth);
        fused
    }
}

fn standard_deviation(values: impl Iterator<Item = f64> + Clone) -> f64 {
    let count = values.clone().count() as f64;
    let mean = values.clone().sum::<f64>() / count;
    (values.map(|value| (value - mean).powi(2)).sum::<f64>() / count).sqrt()
}

impl Stage for Fuse {
    fn about(&self) -> About {
        self.about.clone()
    }

    fn apply(&self, batch: &Batch, rankings: Vec<Ranking>) -> Result<Vec<Ranking>> {
        let silent = Batch { progress: &|_| {}, ..*batch };
        let mut inputs = Vec::with_capacity(self.inputs.len());
        for input in &self.inputs {
            inputs.push(input.run(&silent, rankings.clone())?);
        }
        let mut fused = Vec::with_capacity(rankings.len());
        for (index, request) in batch.requests.iter().enumerate() {
            let rankings: Vec<&Ranking> = inputs.iter().map(|input| &input[index]).collect();
            let depth = request.depth(self.parameters.depth.get());
            fused.push(self.parameters.fuse(&rankings, depth));
        }
        Ok(fused)
    }

    fn explain(&self, one: &Batch, doc: Doc, before: &Ranking) -> Result<Option<Explanation>> {
        let mut parts = Vec::new();
        for (input, weight) in self.inputs.iter().zip(&self.parameters.weights) {
            let ranking = input.run(one, vec![before.clone()])?.pop().unwrap_or_default();
            let name = input.about().map(|stage| stage.name).collect::<Vec<_>>().join(" >> ");
            let Some(index) = ranking.iter().position(|hit| hit.doc == doc) else {
                parts.push(Explanation::value(0.0, format!("{name}: not in its ranking")));
                continue;
            };
            let share = self.parameters.contributions(&ranking)[index];
            let what = format!(
                "{name}: {weight} × {share:.6} (rank {}, score {:.6})",
                index + 1,
                ranking[index].score
            );
            let traces = input.explain(one, doc, before)?;
            let inner = traces.into_iter().filter_map(|trace| trace.explanation).collect();
            parts.push(Explanation::of(weight * share, what, inner));
        }
        Ok(Some(Explanation::sum("sum over the inputs", parts)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::system::SystemFile;
    use std::fmt::Write as _;
    use std::time::{Duration, Instant};

    #[test]
    fn nested_inputs_are_described_in_linear_time() {
        let leaf = "{ stages = [{ stage = \"bm25\", analyzer = \"nltk\", depth = 3 }] }";
        let mut nested = leaf.to_owned();
        for _ in 0..12 {
            let fuse = "stage = \"fuse\", method = \"reciprocal-rank\", depth = 3";
            nested = format!("{{ stages = [{{ {fuse}, inputs = [{leaf}, {nested}] }}] }}");
        }
        let mut text = "name = \"s\"\n".to_owned();
        let stages = nested.strip_prefix("{ ").unwrap().strip_suffix(" }").unwrap();
        writeln!(text, "{stages}").unwrap();
        let start = Instant::now();
        let system = SystemFile::parse("s.toml", &text, &[]).unwrap();
        assert_eq!(system.pipeline.about().count(), 1);
        assert!(start.elapsed() < Duration::from_secs(2), "{:?}", start.elapsed());
    }

    fn ranking(hits: &[(u32, f64)]) -> Ranking {
        hits.iter().map(|&(doc, score)| Hit { doc: Doc(doc), score }).collect()
    }

    fn parameters(method: Method, normalise: Normalise) -> FusionParameters {
        FusionParameters {
            method,
            weights: vec![1.0, 2.0],
            normalise,
            k: 60.0,
            depth: 10.try_into().unwrap(),
        }
    }

    #[test]
    fn reciprocal_rank_by_hand() {
        let (a, b) = (ranking(&[(1, 9.0), (2, 8.0)]), ranking(&[(2, 0.5)]));
        let fused = parameters(Method::ReciprocalRank, Normalise::None).fuse(&[&a, &b], 10);
        assert_eq!(fused[0].doc, Doc(2));
        assert!((fused[0].score - (1.0 / 62.0 + 2.0 / 61.0)).abs() < 1e-15);
        assert!((fused[1].score - 1.0 / 61.0).abs() < 1e-15);
    }

    #[test]
    fn weighted_sum_by_hand() {
        let (a, b) = (ranking(&[(1, 9.0), (2, 8.0), (3, 7.0)]), ranking(&[(2, 5.0), (1, 5.0)]));
        let fused = parameters(Method::WeightedSum, Normalise::None).fuse(&[&a, &b], 10);
        assert_eq!(fused, ranking(&[(1, 19.0), (2, 18.0), (3, 7.0)]));
        let fused = parameters(Method::WeightedSum, Normalise::MinMax).fuse(&[&a, &b], 10);
        assert_eq!(fused, ranking(&[(1, 3.0), (2, 2.5), (3, 0.0)]));
    }

    #[test]
    fn z_scores_by_hand() {
        let (a, b) = (ranking(&[(1, 9.0), (2, 7.0)]), ranking(&[(2, 5.0), (3, 5.0)]));
        let fused = parameters(Method::WeightedSum, Normalise::ZScore).fuse(&[&a, &b], 10);
        // 1 is two deviations above 2; nothing of the second ranking tells its documents apart.
        assert_eq!(fused, ranking(&[(1, 2.0), (3, 0.0), (2, 0.0)]));
    }

    #[test]
    fn ties_are_ordered_by_descending_id() {
        let (a, b) = (ranking(&[(1, 1.0), (5, 1.0), (3, 1.0)]), ranking(&[]));
        let fused = parameters(Method::WeightedSum, Normalise::None).fuse(&[&a, &b], 10);
        assert_eq!(fused.iter().map(|hit| hit.doc.0).collect::<Vec<_>>(), [5, 3, 1]);
    }
}
