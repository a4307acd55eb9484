//! Stage `fuse`: combines the rankings of several pipelines.

use crate::build::Build;
use crate::fusion::{DEFAULT_K, Fusion, Normalise};
use crate::pipeline::{self, Pipeline};
use crate::stage::{About, Batch, Stage};
use clariq_core::{Doc, Explanation, Ranking, Result, bail, number};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::num::NonZeroUsize;

/// The names of the methods in configurations.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum FusionMethod {
    ReciprocalRank,
    WeightedSum,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct FusionParameters {
    method: FusionMethod,
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
    fn fusion(&self) -> Fusion {
        match self.method {
            FusionMethod::ReciprocalRank => Fusion::ReciprocalRank { k: self.k },
            FusionMethod::WeightedSum => Fusion::WeightedSum(self.normalise),
        }
    }
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
        let fusion = self.parameters.fusion();
        let mut fused = Vec::with_capacity(rankings.len());
        for (index, request) in batch.requests.iter().enumerate() {
            let rankings: Vec<&Ranking> = inputs.iter().map(|input| &input[index]).collect();
            let depth = request.depth(self.parameters.depth.get());
            fused.push(fusion.fuse(&rankings, &self.parameters.weights, depth));
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
            let share = self.parameters.fusion().contributions(&ranking)[index];
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
    use crate::system::SystemFile;
    use std::fmt::Write as _;

    #[test]
    fn nested_inputs_are_described_in_linear_time() {
        let leaf = "{ stages = [{ stage = \"bm25\", analyzer = \"nltk\", depth = 3 }] }";
        let mut nested = leaf.to_owned();
        // Exponential time would be minutes; the TOML parser refuses a little more depth.
        for _ in 0..18 {
            let fuse = "stage = \"fuse\", method = \"reciprocal-rank\", depth = 3";
            nested = format!("{{ stages = [{{ {fuse}, inputs = [{leaf}, {nested}] }}] }}");
        }
        let mut text = "name = \"s\"\n".to_owned();
        let stages = nested.strip_prefix("{ ").unwrap().strip_suffix(" }").unwrap();
        writeln!(text, "{stages}").unwrap();
        let system = SystemFile::parse("s.toml", &text, &[]).unwrap();
        assert_eq!(system.pipeline.about().count(), 1);
    }
}
