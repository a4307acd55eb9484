//! The file of a system with other values of its parameters.

use super::variant::parameters;
use super::{ConfigText, SystemConfig};
use crate::built_in;
use clariq_core::{Name, Result, bail};
use clariq_files::Source;
use clariq_rank::{Override, with_parameters};

impl SystemConfig {
    /// The text of a file for the system `name` with these parameters, under another name. The scores
    /// that the system should reach are not those of the new one, and are left out.
    ///
    /// # Errors
    ///
    /// A parameter whose value a file would have in another place, and a name that files cannot have.
    pub fn write_with(
        name: &str,
        overrides: &[Override],
        new_name: &str,
        description: &str,
    ) -> Result<String> {
        if Name::new(new_name).is_err() {
            let hint = "the system is named after its file, and so are its runs";
            let expected = "a file name of letters, digits, `-`, `_` and `.`";
            bail!("--output", expected, "`{new_name}`", hint);
        }
        let text = ConfigText::read(&built_in::source(name)?)?;
        let (keys, all) = text.with_keys(overrides);
        let mut file = with_parameters(&keys.name, &keys.text, &all)?;
        file.remove("expected");
        file.remove("also");
        file.insert("name".to_owned(), new_name.into());
        file.insert("description".to_owned(), description.into());
        let written = toml::to_string(&file).unwrap_or_default();
        let source = Source::memory(format!("{new_name}.toml"), written.clone().into_bytes());
        let meant = Self::parse(&text, overrides)?;
        if !Self::read(&source, &[]).is_ok_and(|read| parameters(&read) == parameters(&meant)) {
            let found = "parameters that are set elsewhere";
            let hint = "write the values into a copy of the file";
            bail!(text.name, "a system that a file with these parameters describes", found, hint);
        }
        Ok(written)
    }
}
