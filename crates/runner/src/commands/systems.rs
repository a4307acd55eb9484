//! `clariq systems`: the built-in systems, and what each needs.

use crate::failure::Outcome;
use crate::output::{Cell, Sheet};
use crate::settings::Settings;
use clariq_core::Result;
use clariq_experiment::{Loaded, recipes, systems};

pub(crate) fn systems(settings: &Settings) -> Result<Outcome> {
    let mut sheet = Sheet::new(&["system", "ranks", "needs", "description"]);
    for name in systems::names() {
        let loaded = Loaded::open_any(name, &[])?;
        let ranks = if loaded.answers() { "statements, passages" } else { "documents" };
        let needs = needs(&loaded)?;
        let needs = if needs.is_empty() { Cell::Nothing } else { Cell::text(needs.join(", ")) };
        sheet.row(vec![
            Cell::text(name),
            Cell::text(ranks),
            needs,
            Cell::text(&loaded.description),
        ]);
    }
    sheet.print(settings.format)
}

/// What there must be beside documents and requests.
fn needs(loaded: &Loaded) -> Result<Vec<String>> {
    let mut needs = Vec::new();
    let models = loaded.plan.models();
    if loaded.needs_models() {
        needs.push("learned models".to_owned());
    }
    // `clariq setup` installs the one, and the others are trained.
    let is_own = |name: &str| name != "all-MiniLM-L6-v2" && !recipes::is_recipe(name);
    let names = models.iter().map(|model| model.name.clone()).chain(loaded.bases()?);
    needs.extend(names.filter(|name| is_own(name)));
    if models.iter().any(|model| recipes::is_recipe(&model.name)) {
        needs.push("judgements of train".to_owned());
    }
    if loaded.uses.iter().any(|uses| uses.to_string() == "batch") {
        needs.push("all requests at once".to_owned());
    }
    Ok(needs)
}
