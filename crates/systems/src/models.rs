//! The tables `[models.NAME]`: models behind endpoints.

use crate::recipes;
use clariq_core::{Result, bail};
use clariq_net::EndpointConfig;
use clariq_rank::{ConfigSection, hint_of_table};
use std::collections::BTreeMap;

/// The models of a system that are behind an endpoint, by name.
pub type Endpoints = BTreeMap<String, EndpointConfig>;

/// Reads the tables `[models.NAME]`.
pub(crate) fn read(section: ConfigSection) -> Result<Endpoints> {
    let mut endpoints = Endpoints::new();
    for (name, section) in section.tables()? {
        let at = section.at.clone();
        if recipes::is_recipe(&name) {
            let hint = "the name is that of a recipe; give the model another";
            bail!(at, "a name that no recipe has", "`{name}`", hint);
        }
        let hint = "the documentation lists the keys of each kind (reference, Models)";
        let config: EndpointConfig =
            section.read_tagged("kind").map_err(|error| hint_of_table(&error, hint))?;
        config.check(&at)?;
        endpoints.insert(name, config);
    }
    Ok(endpoints)
}
