//! Stage `fuse`: combines the rankings of several pipelines.

use crate::build::Build;
use crate::fusion::{DEFAULT_K, Fusion, Normalise};
use crate::pipeline::{self, Pipeline};
use crate::stage::{About, Batch, Stage};
use clariq_core::{Doc, Explanation, Location, Ranking, Result, bail, number};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::collections::BTreeMap;
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
    /// `reciprocal-rank` (Cormack, Clarke and Büttcher, SIGIR 2009) or `weighted-sum`.
    method: FusionMethod,
    /// One per input, or by the name of a stage that one input has, as in `{ dense = 2.0 }`; 1 each if left out.
    #[serde(default)]
    weights: InputWeights,
    /// Before `weighted-sum`: `none` (default), `min-max`, or `z-score`, the distance from the lowest score in standard
    /// deviations.
    #[serde(default)]
    normalise: Normalise,
    /// The constant of `reciprocal-rank`.
    #[serde(default = "number::<DEFAULT_K, _>")]
    k: f64,
    /// The maximum number of documents.
    depth: NonZeroUsize,
}

/// The weights of the inputs; the default is 1.
#[derive(Serialize, Deserialize)]
#[serde(untagged)]
enum InputWeights {
    /// One for each.
    Each(Vec<f64>),
    /// By the name of a stage that one of the inputs has, so that one weight has a name of its own.
    Named(BTreeMap<String, f64>),
}

impl Default for InputWeights {
    fn default() -> Self {
        Self::Named(BTreeMap::new())
    }
}

impl InputWeights {
    /// The weight of each input.
    fn each(&self, inputs: &[Pipeline], at: Location) -> Result<Vec<f64>> {
        let hint = "`weights = [1.0, 2.0]` has one for each input, `weights = { dense = 2.0 }` one for \
                    the input with that stage";
        let weights = match self {
            Self::Each(weights) if weights.is_empty() => vec![1.0; inputs.len()],
            Self::Each(weights) => weights.clone(),
            Self::Named(named) => {
                let mut weights = vec![1.0; inputs.len()];
                for (name, weight) in named {
                    let has = |input: &Pipeline| input.about().any(|stage| stage.name == name);
                    let own: Vec<usize> =
                        (0..inputs.len()).filter(|&input| has(&inputs[input])).collect();
                    let [own] = own[..] else {
                        bail!(at, "names of stages that one input has", "`{name}`", hint)
                    };
                    weights[own] = *weight;
                }
                weights
            }
        };
        if weights.len() != inputs.len() || weights.iter().any(|weight| !weight.is_finite()) {
            let expected = format!("{} finite weights, one per input", inputs.len());
            bail!(at, expected, "{weights:?}", hint)
        }
        Ok(weights)
    }
}

/// Runs its inputs on the ranking that comes in and combines their rankings.
struct Fuse {
    parameters: FusionParameters,
    /// The weight of each input.
    weights: Vec<f64>,
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
    let weights = parameters.weights.each(&inputs, weights_at)?;
    parameters.weights = InputWeights::Each(weights.clone());
    let about = describe(&parameters, &inputs);
    Ok(Box::new(Fuse { parameters, weights, inputs, about }))
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
            fused.push(fusion.fuse(&rankings, &self.weights, depth));
        }
        Ok(fused)
    }

    fn explain(&self, one: &Batch, doc: Doc, before: &Ranking) -> Result<Option<Explanation>> {
        let mut parts = Vec::new();
        for (input, weight) in self.inputs.iter().zip(&self.weights) {
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
    fn an_input_is_weighted_by_the_name_of_a_stage() {
        let with = |weights: &str| {
            let input = |stage: &str| format!("{{ stages = [{stage}] }}");
            let bm25 = input("{ stage = \"bm25\", analyzer = \"nltk\", depth = 3 }");
            let sparse = "{ stage = \"sparse\", model = \"m\", depth = 3 }, { stage = \"cutoff\", depth = 2 }";
            let inputs = format!("[{bm25}, {}]", input(sparse));
            let text = format!(
                "name = \"s\"\n[[stages]]\nstage = \"fuse\"\nmethod = \"weighted-sum\"\n\
                 depth = 3\ninputs = {inputs}\nweights = {weights}"
            );
            let system = SystemFile::parse("s.toml", &text, &[]);
            system
                .map(|system| system.pipeline.about().next().unwrap().parameters["weights"].clone())
        };
        assert_eq!(with("{ sparse = 2.0 }").unwrap(), serde_json::json!([1.0, 2.0]));
        assert_eq!(with("{ cutoff = 0.5, bm25 = 3.0 }").unwrap(), serde_json::json!([3.0, 0.5]));
        assert_eq!(with("[1.0, 2.0]").unwrap(), serde_json::json!([1.0, 2.0]));
        for refused in ["{ dense = 2.0 }", "[1.0]", "{ bm25 = nan }"] {
            assert!(with(refused).is_err(), "{refused}");
        }
    }

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
