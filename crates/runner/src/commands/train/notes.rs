//! Notes below the table of trained models: how good they are, and how to use them.

use clariq_core::{Hint, ModelKind, Result, TrainingSummary};
use clariq_experiment::training::{PIPELINE, PipelineScores};
use clariq_systems::{SystemConfig, built_in};
use std::path::Path;

/// The first built-in system with the model of a recipe, which it finds by the name.
pub(super) fn system_with(recipe: &str) -> Result<Option<&'static str>> {
    for name in built_in::names() {
        let models = SystemConfig::open_any(name, &[])?.models();
        if models.iter().any(|model| model.name == recipe) {
            return Ok(Some(name));
        }
    }
    Ok(None)
}

/// A note that shows how to use a trained model on the split that was named for it: by the system that
/// finds it, or by its folder.
pub(super) fn use_of(
    system: Option<&str>,
    kind: ModelKind,
    folder: &Path,
    first_stage: &str,
    split: Option<&str>,
) -> Hint {
    // A model for another split than the usual one is another model.
    let of_split = split.map(|name| format!(" --split {name}")).unwrap_or_default();
    let folder = folder.display();
    if let Some(system) = system {
        let run = Hint::on_all_data(format!("run {system}{of_split}"));
        return Hint::from("run it: ").and(run).and(" (it finds the model)");
    }
    match kind {
        // `bert-reranker` has another first stage than the one that the model was measured with.
        ModelKind::CrossEncoder if first_stage != "bm25" => Hint::from("use it in a file: ")
            .and(Hint::command(format!("systems show {first_stage}")))
            .and(format!(
                " prints the stages, behind which belongs a stage `rerank` with model = \"{folder}\""
            )),
        ModelKind::CrossEncoder => Hint::from("run it: ")
            .and(Hint::on_all_data(format!(
                "run bert-reranker{of_split} --set rerank.model={folder}"
            )))
            .and(format!(" (or model = \"{folder}\" in a stage `rerank`)")),
        ModelKind::Sparse => Hint::from("run it: ").and(Hint::on_all_data(format!(
            "run sparse{of_split} --set sparse.model={folder}"
        ))),
        _ => format!("use it in a file of a system: models = {{ \"{folder}\" = 1.0 }} under [space]")
            .into(),
    }
}

/// The score of the pipeline beside that of its first stage, on held-out topics.
pub(super) fn beside_first_stage(name: &str, trained: &TrainingSummary, system: &str) -> String {
    let Some(([reranked, ..], [first, ..])) = trained.recall.zip(trained.first_stage) else {
        return format!(
            "note: no topics were held out, so that nothing shows whether `{name}` is better than \
             `{system}`: --set held_out=0.2 compares them"
        );
    };
    let scores = format!("R@5 {reranked:.4}, and {first:.4} for `{system}` alone");
    if reranked > first {
        return format!("held-out topics: {scores}");
    }
    format!(
        "warning: `{name}` is no better than `{system}` on the held-out topics: {scores}; more \
         labels, more `epochs` or another `base` may help"
    )
}

/// The figure of the pipeline that an encoder of documents is for, beside the same pipeline with its base and
/// BM25, on held-out topics.
pub(super) fn beside_base(name: &str, base: &str, figures: PipelineScores, bm25: &str) -> String {
    let PipelineScores { trained, untrained, bm25: lexical } = figures;
    let scores = format!(
        "nDCG@10 {trained:.4} for `{PIPELINE}` with `{name}`, {untrained:.4} with `{base}`, and \
         {lexical:.4} for `{bm25}` alone"
    );
    if trained > untrained.max(lexical) {
        return format!("held-out topics: {scores}");
    }
    let better = if untrained >= lexical {
        format!("`{PIPELINE}` with `{base}`")
    } else {
        format!("`{bm25}`")
    };
    format!(
        "warning: `{name}` is no better than {better} on the held-out topics: {scores}; use that, or train \
         on more labels"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_model_is_run_on_the_split_that_it_was_trained_for() {
        let told =
            |system, split| use_of(system, ModelKind::CrossEncoder, Path::new("m"), "bm25", split);
        for (system, split, command) in [
            (Some("best"), None, "`clariq run best`"),
            (Some("best"), Some("test"), "`clariq run best --split test`"),
            (None, None, "`clariq run bert-reranker --set rerank.model=m`"),
            (None, Some("test"), "`clariq run bert-reranker --split test --set rerank.model=m`"),
        ] {
            let text = told(system, split);
            assert!(text.starts_with(&format!("run it: {command} (")), "{text}");
        }
    }

    #[test]
    fn a_reranker_that_is_no_better_than_its_first_stage_is_warned_of() {
        let told = |recall: Option<f64>, first_stage: f64| {
            let trained = TrainingSummary {
                steps: 1,
                first_loss: 1.0,
                last_loss: 1.0,
                recall: recall.map(|recall| [recall; 4]),
                first_stage: recall.map(|_| [first_stage; 4]),
            };
            beside_first_stage("mine", &trained, "bm25-english")
        };
        assert_eq!(
            told(Some(0.5), 0.25),
            "held-out topics: R@5 0.5000, and 0.2500 for `bm25-english` alone"
        );
        for no_better in [0.5, 0.75] {
            let text = told(Some(0.5), no_better);
            assert!(text.starts_with("warning: `mine` is no better than `bm25-english`"), "{text}");
        }
        assert!(told(None, 0.0).contains("--set held_out=0.2"));
    }
    #[test]
    fn an_encoder_that_is_no_better_than_its_base_or_bm25_is_warned_of() {
        let told = |trained: f64, untrained: f64, bm25: f64| {
            beside_base("mine", "tiny", PipelineScores { trained, untrained, bm25 }, "bm25-english")
        };
        assert_eq!(
            told(0.5, 0.25, 0.125),
            "held-out topics: nDCG@10 0.5000 for `hybrid` with `mine`, 0.2500 with `tiny`, and 0.1250 for \
             `bm25-english` alone"
        );
        for (untrained, bm25, better) in
            [(0.5, 0.25, "`hybrid` with `tiny`"), (0.25, 0.75, "`bm25-english`")]
        {
            let text = told(0.5, untrained, bm25);
            let warning =
                format!("warning: `mine` is no better than {better} on the held-out topics: ");
            assert!(text.starts_with(&warning), "{text}");
        }
    }
}
