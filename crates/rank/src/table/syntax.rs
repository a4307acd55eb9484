//! Hints for lines that are no TOML.

/// The hint where a table is in the place of a list, or the other way round.
pub(super) const BRACKETS: &str =
    "a table begins with `[name]`, and an entry of a list of tables with `[[name]]`";

/// The hint for a line, by what people often write in it.
pub(super) fn hint_of(line: &str, message: &str) -> &'static str {
    let line = line.trim();
    let (key, value) = line.split_once('=').unwrap_or((line, ""));
    let value = value.trim();
    if line.contains(['“', '”', '‘', '’', '„']) {
        "quotation marks are straight: `\"`"
    } else if line.starts_with('{') || line.starts_with('"') && key.contains("\":") {
        "a configuration is TOML and no JSON: `key = value`, each on a line of its own"
    } else if line.starts_with('[') {
        BRACKETS
    } else if key == line && line.contains(':') {
        "TOML has `key = value`, and not `key: value`"
    } else if key == line {
        "a line is `key = value`, `[table]`, `[[stages]]`, or a comment behind `#`"
    } else if message.contains("duplicate") {
        "a key is there once: leave one of the two out"
    } else if matches!(value, "True" | "False") {
        "`true` and `false` are written with small letters"
    } else if value.starts_with(['"', '\'']) {
        "a text ends with the quotation mark that it begins with, and has `\\\\` for `\\`"
    } else if value.starts_with('[') {
        "a list ends with `]`, and has commas between its values"
    } else if value.starts_with('{') {
        "a table within a line ends with `}`, and has commas between its keys"
    } else if value.starts_with(|c: char| c.is_alphabetic() || matches!(c, '.' | '/' | '~')) {
        "a text stands in quotation marks: `key = \"text\"`"
    } else {
        "a value is a text in quotation marks, a number such as 0.5, `true`, `false`, a list or a table"
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_line_has_the_hint_of_its_fault() {
        for (line, hint) in [
            ("[[stages", "a table begins with"),
            ("stage: bm25", "TOML has `key = value`"),
            ("- stage", "a line is"),
            ("{\"name\": \"a\"}", "a configuration is TOML and no JSON"),
            ("  \"name\": \"a\",", "a configuration is TOML and no JSON"),
            ("name = “a”", "quotation marks are straight"),
            ("name = \"a", "a text ends with"),
            ("model = all-MiniLM-L6-v2", "a text stands in quotation marks"),
            ("model = ./models/a", "a text stands in quotation marks"),
            ("pad = True", "`true` and `false`"),
            ("weights = [1, 2", "a list ends with"),
            ("models = { a = 1", "a table within a line"),
            ("k1 = 0,9", "a value is"),
            ("k1 =", "a value is"),
        ] {
            assert!(hint_of(line, "").starts_with(hint), "{line}: {}", hint_of(line, ""));
        }
        assert!(hint_of("k1 = 1", "duplicate key").starts_with("a key is there once"));
    }
}
