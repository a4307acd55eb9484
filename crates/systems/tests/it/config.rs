//! Configurations of systems: what they need, and what they may claim.

use clariq_core::SplitRole;
use clariq_files::Source;
use clariq_rank::Override;
use clariq_systems::{SystemConfig, parse_assignment};

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
    assert_eq!(answers.uses_for(Some(SplitRole::HeldOut))[0], "earlier-conversations");
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
fn a_name_shows_a_parameter_by_what_tells_it_apart() {
    for (system, set, name) in [
        ("ikat-bm25", "passages.bm25.k1=1.5", "ikat-bm25-passages.k1-1.5"),
        ("ikat-bm25", "statements.bm25.k1=1.5", "ikat-bm25-statements.k1-1.5"),
        ("ikat-bm25", "bm25.k1=1.5", "ikat-bm25-k1-1.5"),
        ("clariq-chat", "models.chat.model=\"a\"", "clariq-chat-model-a"),
        // It has two models.
        ("ikat-organisers-2025", "models.chat.model=\"a\"", "ikat-organisers-2025-chat.model-a"),
    ] {
        let set = [parse_assignment(set, "--set").unwrap()];
        assert_eq!(SystemConfig::open_any(system, &set).unwrap().full_name(), name);
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

#[test]
fn a_depth_that_another_stage_cuts_gives_a_warning() {
    let cut = "name = \"mine\"\n[[stages]]\nstage = \"bm25\"\nanalyzer = \"english\"\ndepth = 30\n\
               [[stages]]\nstage = \"cutoff\"\ndepth = 20\n";
    let warnings = |text: &str, set: &[&str]| {
        let source = Source::memory("mine.toml", text.as_bytes().to_vec());
        let set: Vec<Override> =
            set.iter().map(|text| parse_assignment(text, "--set").unwrap()).collect();
        SystemConfig::read(&source, &set).unwrap().plan.cut_warnings(&set)
    };
    assert_eq!(warnings(cut, &[]), [] as [&str; 0]);
    let cutting = "`bm25.depth` is 40, and `cutoff` keeps 20 documents: --set cutoff.depth=40";
    assert_eq!(warnings(cut, &["bm25.depth=40"]), [cutting]);
    assert_eq!(warnings(cut, &["bm25.depth=40", "cutoff.depth=40"]), [] as [&str; 0]);
    assert_eq!(warnings(cut, &["bm25.depth=40", "cutoff.depth=10"]), [] as [&str; 0], "chosen");
    // Depths of a task concern the stages of that task alone.
    let ikat = include_str!("../../../../configs/ikat-bm25.toml");
    assert_eq!(warnings(ikat, &["passages.bm25.depth=2000"]), [] as [&str; 0]);
}
