//! The modules of a folder: those that `modules.json` lists, and those that a router among them lists for
//! requests and for documents.

use crate::modules::{Modules, class_name};
use crate::table::ROUTER;
use clariq_core::Result;
use serde::Deserialize;
use serde_json::{Map, Value};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

pub(crate) const ROUTER_SETTINGS: &str = "router_config.json";

/// `router_config.json`.
#[derive(Deserialize)]
pub(crate) struct RouterConfig {
    pub(crate) types: BTreeMap<String, String>,
    pub(crate) structure: BTreeMap<String, Vec<String>>,
    pub(crate) parameters: RouterParameters,
}

impl RouterConfig {
    pub(crate) fn read(at: &Path) -> Result<Option<Self>> {
        ROUTER.read_file(at)
    }
}

// Other keys are about texts that are neither requests nor documents.
#[derive(Deserialize)]
pub(crate) struct RouterParameters {
    pub(crate) route_mappings: Option<Map<String, Value>>,
}

/// The classes and folders of all modules, those of a router included.
pub(crate) fn modules(root: &Path) -> Result<Vec<(String, PathBuf)>> {
    let Some(modules) = Modules::read(root)? else {
        return Ok(vec![("Transformer".to_owned(), root.to_owned())]);
    };
    let mut all = Vec::new();
    for entry in modules.entries {
        let folder = root.join(&entry.path);
        let class = class_name(&entry.r#type).to_owned();
        if let Some(router) = RouterConfig::read(&folder.join(ROUTER_SETTINGS))? {
            for (name, class) in router.types {
                all.push((class_name(&class).to_owned(), folder.join(name)));
            }
        }
        all.push((class, folder));
    }
    Ok(all)
}
