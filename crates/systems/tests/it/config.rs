//! Configurations of systems: what they need, and what they may claim.

use clariq_core::SplitRole;
use clariq_files::Source;
use clariq_systems::SystemConfig;

#[test]
fn only_systems_that_answer_use_earlier_conversations() {
    let using = |text: &str| {
        let text = format!("uses = [\"earlier-conversations\"]\n{text}");
        SystemConfig::read(&Source::memory("x.toml", text.into_bytes()), &[])
    };
    let ranks =
        using(include_str!("../../../../configs/no-question.toml")).err().unwrap().to_string();
    assert!(ranks.contains("x.toml: expected a system with a table [answer]"), "{ranks}");
    let answers = using(include_str!("../../../../configs/ikat-bm25.toml")).unwrap();
    assert_eq!(answers.uses_for(Some(SplitRole::HeldOut))[0].to_string(), "earlier-conversations");
}

#[test]
fn a_system_names_the_installed_models_that_it_needs() {
    for (name, expected) in [
        ("bm25", &[][..]),
        ("best", &["all-MiniLM-L6-v2"]),
        ("best-base", &["all-mpnet-base-v2"]),
        ("reranker-base", &["all-mpnet-base-v2"]),
        ("ranker-base", &["all-mpnet-base-v2"]),
        ("published-bert-reranker", &["bert-base-uncased"]),
    ] {
        assert_eq!(SystemConfig::open(name, &[]).unwrap().bases().unwrap(), expected, "{name}");
    }
}

#[test]
fn only_published_models_have_published_figures() {
    let stages = |name: &str| {
        let config = SystemConfig::open_any(name, &[]).unwrap();
        let stages = config.plan.stages().map(|stage| (stage.name, stage.parameters));
        stages.collect::<Vec<_>>()
    };
    for name in clariq_systems::built_in::names() {
        let config = SystemConfig::open_any(name, &[]).unwrap();
        let claims = config.expected.iter().any(|expected| !expected.published.is_empty());
        let models = config.plan.models();
        let trained_otherwise = models.iter().any(|model| !model.name.starts_with("published-"));
        assert!(!claims || !trained_otherwise, "{name}");
    }
    // The rerankers retrieve as the published baseline does, and nothing asks the empty question.
    for name in ["bert-reranker", "published-bert-reranker", "reranker-base"] {
        assert_eq!(stages(name)[0], stages("bm25")[0], "{name}");
        assert_eq!(stages(name)[1].0, "rerank", "{name}");
        assert_eq!(stages(name).len(), 2, "{name}");
    }
    assert_eq!(stages("bert-ranker").len(), 1);
}
