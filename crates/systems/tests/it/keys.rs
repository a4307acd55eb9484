//! The tables of keys in the documentation are made of the structs that read them, so that a key is described
//! once, in the code. In a page, a mark names them, each as a file below `crates`, a type (or a variant of one),
//! and, for a table in a table, its key:
//!
//! `<!-- keys: rank/src/stages/rm3.rs Rm3Feedback, rank/src/stages/conversation.rs TextWeights as weights -->`
//!
//! `SNAPSHOTS=overwrite` writes the tables anew.

use crate::pages::{pages, root};
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

const BEGIN: &str = "<!-- keys: ";
const END: &str = "<!-- keys: end -->";

/// A field with what stands before it.
struct Field {
    name: String,
    of_type: String,
    about: String,
    attributes: String,
}

impl Field {
    /// True if serde's attributes have a word.
    fn says(&self, word: &str) -> bool {
        self.attributes.split(['(', ',', ')']).any(|said| said.trim() == word)
    }
}

/// The lines of `Name {` up to its end, without their common indentation. The sources are formatted.
fn body<'s>(source: &'s str, name: &str) -> Option<Vec<&'s str>> {
    let opens = format!("{name} {{");
    let is_opening = |line: &&str| {
        let before = line.strip_suffix(&opens);
        before.is_some_and(|before| before.is_empty() || before.ends_with([' ', ':']))
    };
    let mut lines = source.lines().skip_while(|line| !is_opening(line));
    let depth = lines.next()?.chars().take_while(|&character| character == ' ').count();
    let ends = |line: &&str| line.trim_start().starts_with('}') && line.find('}') == Some(depth);
    let lines = lines.take_while(|line| !ends(line));
    Some(lines.map(|line| line.get(depth + 4..).unwrap_or("")).collect())
}

fn fields(source: &str, name: &str) -> Vec<Field> {
    let lines = body(source, name).unwrap_or_else(|| panic!("there is no `{name} {{`"));
    let (mut about, mut attributes) = (String::new(), String::new());
    let mut fields = Vec::new();
    for line in lines {
        if let Some(text) = line.strip_prefix("///") {
            about += text;
        } else if line.starts_with("#[") {
            attributes += line;
        } else if let Some((name, of_type)) =
            line.strip_suffix(',').and_then(|line| line.split_once(": "))
        {
            let name = name.rsplit(' ').next().unwrap().to_owned();
            let about = std::mem::take(&mut about);
            let attributes = std::mem::take(&mut attributes);
            fields.push(Field { name, of_type: of_type.to_owned(), about, attributes });
        }
    }
    fields
}

/// The text in quotes behind `name = "`.
fn value<'a>(attributes: &'a str, name: &str) -> Option<&'a str> {
    let (_, rest) = attributes.split_once(&format!("{name} = \""))?;
    rest.split('"').next()
}

/// All sources of the crate of a file.
fn sources(file: &Path) -> Vec<String> {
    let in_crate = file.ancestors().find(|folder| folder.ends_with("src")).unwrap();
    let (mut folders, mut sources) = (vec![in_crate.to_owned()], Vec::new());
    while let Some(folder) = folders.pop() {
        let mut paths: Vec<PathBuf> =
            fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
        paths.sort();
        for path in paths {
            if path.is_dir() {
                folders.push(path);
            } else {
                sources.push(fs::read_to_string(path).unwrap());
            }
        }
    }
    sources
}

/// What a key is where it is left out: serde's default, of a function or of a type.
fn default(field: &Field, sources: &[String]) -> String {
    let behind = |mark: &str, ends: char| {
        let (_, rest) = sources.iter().find_map(|source| source.split_once(mark))?;
        Some(rest.split(ends).next().unwrap().trim().trim_end_matches(".to_owned()").to_owned())
    };
    if let Some(function) = value(&field.attributes, "default") {
        let number =
            function.split_once("::<").map(|(_, rest)| rest.split([',', '>']).next().unwrap());
        return match number {
            Some(number) if number.starts_with(char::is_numeric) => number.to_owned(),
            Some(constant) => {
                let named = behind(&format!("const {constant}: "), ';').expect(constant);
                named.split("= ").last().unwrap().to_owned()
            }
            None => {
                let body = behind(&format!("fn {function}() -> "), '}').expect(function);
                body.split("{\n").last().unwrap().trim().to_owned()
            }
        };
    }
    if field.of_type.starts_with("Option<") || field.says("skip_deserializing") {
        return String::new();
    }
    if !field.says("default") {
        return "required".to_owned();
    }
    match field.of_type.as_str() {
        "bool" => "false".to_owned(),
        "f32" | "f64" | "usize" | "u32" | "u64" => "0".to_owned(),
        other => usual_variant(other, sources).map(|name| format!("`{name}`")).unwrap_or_default(),
    }
}

/// The default of an enum whose variants are texts.
fn usual_variant(name: &str, sources: &[String]) -> Option<String> {
    let named = format!("enum {name}");
    let (source, lines) =
        sources.iter().find_map(|source| Some((source, body(source, &named)?)))?;
    let (before, _) = source.split_once(&format!("{named} {{"))?;
    if !before.rsplit("\n\n").next()?.contains("rename_all") {
        return None;
    }
    let mut lines = lines.into_iter().skip_while(|line| *line != "#[default]").skip(1);
    Some(kebab(lines.next()?.trim_end_matches(',')))
}

fn kebab(variant: &str) -> String {
    let mut text = String::new();
    for character in variant.chars() {
        if character.is_uppercase() && !text.is_empty() {
            text.push('-');
        }
        text.extend(character.to_lowercase());
    }
    text
}

/// A comment as the page has it: no links into the code, and no full stop.
fn meaning(about: &str) -> String {
    let text = about.trim().replace("[`", "`").replace("`]", "`").replace('|', "\\|");
    text.strip_suffix('.').unwrap_or(&text).to_owned()
}

fn rows(table: &mut String, named: &str) {
    let words: Vec<&str> = named.split(' ').collect();
    let (file, name) = (root().join("crates").join(words[0]), words[1]);
    let inside = words.get(3).map(|key| format!("{key}.")).unwrap_or_default();
    let (source, all) = (fs::read_to_string(&file).expect(named), sources(&file));
    for field in fields(&source, name) {
        if field.says("skip") || field.says("flatten") {
            continue;
        }
        let key = value(&field.attributes, "rename").unwrap_or(&field.name);
        let (about, default) = (meaning(&field.about), default(&field, &all));
        assert!(!about.is_empty(), "{named}: `{key}` has no comment");
        let default = default.replace('|', "\\|");
        writeln!(table, "| `{inside}{key}` | {about} | {default} |").unwrap();
    }
}

/// The page with its tables made anew.
fn made(page: &str) -> String {
    let mut made = String::new();
    let mut rest = page;
    while let Some((before, after)) = rest.split_once(BEGIN) {
        let (named, after) = after.split_once(" -->\n").unwrap();
        let (_, after) = after.split_once(END).unwrap_or_else(|| panic!("{named}: no {END}"));
        let mut table = "| key | meaning | default |\n|---|---|---|\n".to_owned();
        named.split(", ").for_each(|named| rows(&mut table, named));
        write!(made, "{before}{BEGIN}{named} -->\n{table}{END}").unwrap();
        rest = after;
    }
    made + rest
}

#[test]
fn tables_of_keys_are_those_of_the_code() {
    let mut tables = 0;
    for path in pages() {
        let page = fs::read_to_string(&path).unwrap();
        let made = made(&page);
        tables += page.matches(END).count();
        if std::env::var_os("SNAPSHOTS").is_some_and(|mode| mode == "overwrite") {
            fs::write(&path, &made).unwrap();
        } else {
            assert_eq!(page, made, "{}: SNAPSHOTS=overwrite writes it", path.display());
        }
    }
    assert!(tables > 20, "{tables} tables");
}
