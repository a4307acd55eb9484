//! Refusals of systems whose parts do not fit together, or that do not declare what they use.

use super::SystemConfig;
use crate::need::NeedTable;
use crate::recipes;
use clariq_collections::SystemClass;
use clariq_core::{ModelKind, Result, TrainOn, bail, similar};
use clariq_rank::Uses;

/// Refuses a system whose parts do not fit together.
pub(super) fn check(config: &SystemConfig) -> Result<()> {
    if config.need.is_none() && config.plan.ask().is_some_and(|ask| ask.need.is_some()) {
        let expected = "a table [need], whose predictions `ask.need` uses";
        let hint = "add `[need]` with `model = \"lexical\"`; the documentation lists the need models (reference, Models)";
        bail!(&*config.file, expected, "a system without one", hint);
    }
    for model in config.plan.models() {
        if !config.endpoints.contains_key(&model.name) {
            recipes::find_kind(&model.name, model.kind)?;
        }
    }
    check_uses_of_answers(config)?;
    check_endpoints(config)?;
    check_uses_declared(config)?;
    check_training_declared(config)
}

/// Refuses uses that the class of the system does not allow.
fn check_uses_of_answers(config: &SystemConfig) -> Result<()> {
    if config.uses.contains(&Uses::EarlierConversations) && !config.answers() {
        let expected = "a system with a table [answer]";
        let found = "one that only ranks";
        let hint = "only iKAT's requests have earlier conversations";
        bail!(&*config.file, "{expected}, for uses = [\"earlier-conversations\"]", found, hint);
    }
    if config.uses.contains(&Uses::RelevantStatements)
        && config.class() != Some(SystemClass::Manual)
    {
        let expected = "a system with class = \"manual\", for uses = [\"relevant-statements\"]";
        let found = config.class().map_or("one that only ranks", SystemClass::name);
        let hint = "the track only allows these labels to manual runs";
        bail!(&*config.file, expected, found, hint);
    }
    Ok(())
}

/// Refuses a chat model without a table `[models.NAME]`, which names its endpoint.
fn check_endpoints(config: &SystemConfig) -> Result<()> {
    let models = config.models().into_iter();
    for model in models.filter(|model| model.kind == ModelKind::Chat) {
        let name = &model.name;
        if !config.is_behind_endpoint(name) {
            let expected = format!("a table [models.{name}] with kind = \"chat\"");
            let hint = match similar(name, config.endpoints.keys().map(String::as_str)) {
                Some(known) => format!("did you mean `{known}`?"),
                None => "the documentation lists its keys (reference, Models)".to_owned(),
            };
            bail!(&*config.file, expected, "none", hint);
        }
    }
    let samples = config.endpoints.iter().find(|(_, endpoint)| endpoint.samples());
    if let Some((name, _)) = samples.filter(|_| !config.uses.contains(&Uses::Sampling)) {
        let expected = "uses = [\"sampling\"] in a system without a temperature";
        let found = format!("`temperature` in the `parameters` of [models.{name}]");
        let hint = "a server that is sent none, or knows it by no other name, chooses it itself, usually \
                    above 0";
        bail!(&*config.file, expected, found, hint);
    }
    Ok(())
}

/// Refuses undeclared labels that models are trained on.
fn check_training_declared(config: &SystemConfig) -> Result<()> {
    for model in config.plan.models() {
        if recipes::is_recipe(&model.name) {
            check_declared(config, Uses::TrainLabels, &model.name, "is trained on them")?;
        }
        // A file that is no recipe is reported when the model is opened.
        let recipe = recipes::find(&model.name).ok().flatten();
        if recipe.is_some_and(|recipe| recipe.train_on == TrainOn::TrainAndDev) {
            check_declared(config, Uses::DevLabels, &model.name, "is trained on them")?;
        }
    }
    match &config.need {
        Some(NeedTable::Trained(need)) if need.train_on() == TrainOn::TrainAndDev => {
            check_declared(config, Uses::DevLabels, need.name(), "is trained on them")
        }
        _ => Ok(()),
    }
}

/// Refuses undeclared uses of stages and of the models of tables.
fn check_uses_declared(config: &SystemConfig) -> Result<()> {
    for uses in config.about().flat_map(|about| about.uses) {
        if !config.uses.contains(&uses) {
            let hint = "the input of a system is shown beside its scores and must be declared";
            let found = declared(config);
            bail!(&*config.file, "uses = [\"{uses}\"]", found, hint);
        }
    }
    Ok(())
}

/// Refuses a model whose input or output the system does not declare.
fn check_declared(config: &SystemConfig, uses: Uses, model: &str, does: &str) -> Result<()> {
    if config.uses.contains(&uses) {
        return Ok(());
    }
    let found = format!("{}, and the model `{model}`, which {does}", declared(config));
    let hint = "the input of a system is shown beside its scores and must be declared";
    bail!(&*config.file, "uses = [\"{uses}\"]", found, hint)
}

/// The declared uses, as a configuration writes them.
fn declared(config: &SystemConfig) -> String {
    let names: Vec<String> = config.uses.iter().map(|uses| format!("\"{uses}\"")).collect();
    format!("uses = [{}]", names.join(", "))
}
