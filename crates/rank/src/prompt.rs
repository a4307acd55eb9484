//! Prompts: Jinja templates that become the messages to a chat model.
//!
//! A prompt becomes one user message. Text above a line `---` becomes a system message before it.
//! An unknown variable is an error, never an empty text.

use clariq_core::{ChatMessage, ChatRole, Checksum, Error, Location, Problem, Result, problem};
use clariq_files::{MOST_OF_A_CONFIGURATION, Source};
use minijinja::syntax::SyntaxConfig;
use minijinja::value::Serde;
use minijinja::{Environment, UndefinedBehavior, Value};
use serde::Serialize;
use serde::ser::SerializeMap;
use std::io::{self, Write};
use std::path::Path;

macro_rules! built_in {
    ($($name:literal)*) => {
        &[$(($name, include_str!(concat!("../configs/prompts/", $name, ".jinja")))),*]
    };
}

/// The prompts of `configs/prompts/`.
const BUILT_IN: &[(&str, &str)] = built_in!(
    "answer" "ask" "need" "rewrite" "rerank-grade" "rerank-list" "rerank-yes-no"
);

/// The extension of prompt files; a name without it is that of a built-in prompt.
const EXTENSION: &str = ".jinja";

/// The line between the system message and the user message.
const SEPARATOR: &str = "---";

/// Steps that a template may take: a thousand times those of the built-in prompts.
const MOST_STEPS: u64 = 5_000_000;
/// Bytes of a message: more than any server reads.
const MOST_OF_A_MESSAGE: usize = 16 << 20;

/// The variable with the form of the answer.
const FORM: &str = "form";

const HINT: &str =
    "the documentation lists the variables of each prompt (how-to, Use a language model)";

/// A template of messages.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Prompt {
    /// The file as the configuration names it, or the name of a built-in prompt.
    pub name: String,
    /// The content of the file.
    pub text: String,
    /// The file, for messages.
    path: String,
}

/// The template of one message.
struct Template<'p> {
    role: ChatRole,
    text: &'p str,
    /// The line of the file where it begins.
    first_line: usize,
}

impl Prompt {
    /// Reads a prompt: a file `….jinja` in `folder`, or else a built-in prompt of that name. A
    /// variable that is not in `variables` is an error.
    pub(crate) fn open(
        at: Location,
        folder: &Path,
        name: &str,
        variables: &[&str],
    ) -> Result<Self> {
        let (path, text) = if name.ends_with(EXTENSION) {
            let source = Source::new(folder.join(name));
            let input = source.read_at_most(MOST_OF_A_CONFIGURATION)?;
            let text = String::from_utf8(input.bytes.to_vec()).map_err(|_| -> Error {
                let hint = "convert the file, for example with `iconv -f latin1 -t utf-8`";
                problem!(&*input.name, "a prompt in UTF-8", "another encoding", hint).into()
            })?;
            (input.name, text)
        } else {
            let Some((_, text)) = BUILT_IN.iter().find(|(known, _)| *known == name) else {
                return Err(unknown(at, name).into());
            };
            (format!("configs/prompts/{name}{EXTENSION}"), (*text).to_owned())
        };
        let prompt = Self { name: name.to_owned(), text, path };
        prompt.check(variables)?;
        Ok(prompt)
    }

    /// Refuses syntax errors and unknown variables.
    fn check(&self, variables: &[&str]) -> Result<()> {
        let environment = environment();
        let mut has_form = !variables.contains(&FORM);
        for template in self.templates() {
            let parsed = environment.template_from_str(template.text);
            let parsed = parsed.map_err(|error| self.problem(&template, &error))?;
            let mut undeclared: Vec<String> =
                parsed.undeclared_variables(false).into_iter().collect();
            has_form |= undeclared.iter().any(|name| name == FORM);
            undeclared.retain(|name| {
                let is_function = environment.globals().any(|(known, _)| known == name);
                !is_function && !variables.contains(&name.as_str())
            });
            undeclared.sort();
            if let Some(name) = undeclared.first() {
                let lines = template.text.lines();
                let index = lines.into_iter().position(|line| has_word(line, name)).unwrap_or(0);
                let line = (template.first_line + index) as u64;
                let at = Location::line(&*self.path, line);
                let expected = format!("one of the variables {}", variables.join(", "));
                return Err(problem!(at, expected, "`{name}`", HINT).into());
            }
        }
        if !has_form {
            let expected = "`{{ form }}` in the prompt: it tells the model how to write its answer";
            let hint = "put it where the prompt says what to write, mostly into its last line";
            return Err(problem!(&*self.path, expected, "a prompt without it", hint).into());
        }
        Ok(())
    }

    /// Renders the messages with the values of the variables.
    pub(crate) fn messages(&self, values: &impl Serialize) -> Result<Vec<ChatMessage>> {
        let environment = environment();
        let values = Value::from(Serde(values));
        let mut messages = Vec::new();
        for template in self.templates() {
            let mut text = Bounded::default();
            let rendered = environment
                .template_from_str(template.text)
                .and_then(|parsed| parsed.render_captured_to(values.clone(), &mut text).map(drop));
            rendered.map_err(|error| self.problem(&template, &error))?;
            let text = String::from_utf8_lossy(&text.0);
            messages.push(ChatMessage::new(template.role, text.trim()));
        }
        Ok(messages)
    }

    fn templates(&self) -> Vec<Template<'_>> {
        let mut start = 0;
        for (index, line) in self.text.split_inclusive('\n').enumerate() {
            let end = start + line.len();
            if line.trim_end() == SEPARATOR {
                let system = &self.text[..start];
                let user = &self.text[end..];
                return vec![
                    Template { role: ChatRole::System, text: system, first_line: 1 },
                    Template { role: ChatRole::User, text: user, first_line: index + 2 },
                ];
            }
            start = end;
        }
        vec![Template { role: ChatRole::User, text: &self.text, first_line: 1 }]
    }

    fn problem(&self, template: &Template, error: &minijinja::Error) -> Problem {
        let line = error.line().unwrap_or(1);
        let at = Location::line(&*self.path, (template.first_line + line - 1) as u64);
        let text = template.text.lines().nth(line - 1).unwrap_or_default().trim();
        let why = error.detail().map_or_else(|| error.kind().to_string(), str::to_owned);
        problem!(at, "a template in Jinja with known variables", "`{text}`: {why}", HINT)
    }
}

/// A message while it is written, which has an end.
#[derive(Default)]
struct Bounded(Vec<u8>);

impl Write for Bounded {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.0.len() + bytes.len() > MOST_OF_A_MESSAGE {
            return Err(io::ErrorKind::FileTooLarge.into());
        }
        self.0.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// The name and the checksum, for the record of a run.
impl Serialize for Prompt {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(2))?;
        map.serialize_entry("file", &self.name)?;
        map.serialize_entry("sha256", &Checksum::of(self.text.as_bytes()))?;
        map.end()
    }
}

/// Jinja with strict variables, in which a block tag on a line of its own leaves no blank line.
fn environment<'e>() -> Environment<'e> {
    let mut environment = Environment::new();
    environment.set_undefined_behavior(UndefinedBehavior::Strict);
    environment.set_fuel(Some(MOST_STEPS));
    let mut syntax = SyntaxConfig::builder();
    syntax.trim_blocks(true).lstrip_blocks(true);
    environment.set_syntax(syntax.build().unwrap_or_default());
    environment
}

fn has_word(line: &str, word: &str) -> bool {
    line.split(|c: char| !c.is_alphanumeric() && c != '_').any(|found| found == word)
}

fn unknown(at: Location, name: &str) -> Problem {
    let names: Vec<&str> = BUILT_IN.iter().map(|(name, _)| *name).collect();
    let expected = format!("a file `….jinja` or a built-in prompt, one of {}", names.join(", "));
    problem!(
        at,
        expected,
        "`{name}`",
        "the path of a prompt file is relative to the file that names it"
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;
    use std::fs;

    const VARIABLES: &[&str] = &["utterance", "utterances"];

    fn open(text: &str) -> Result<Prompt> {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("p.jinja"), text).unwrap();
        let prompt = Prompt::open(Location::file("x.toml"), folder.path(), "p.jinja", VARIABLES);
        prompt.map_err(|error| {
            let mut problem = error.to_problem();
            problem.at.file = problem.at.file.rsplit('/').next().unwrap().to_owned();
            problem.into()
        })
    }

    #[test]
    fn text_above_the_separator_is_the_system_message() {
        let text = "Be brief.\n---\n{% for one in utterances %}\n- {{ one }}\n{% endfor %}\nNow: {{ utterance }}\n";
        let prompt = open(text).unwrap();
        // Values are never read as templates or separators.
        let values = json!({ "utterance": "a\n---\n{{ b }}", "utterances": ["c", "d"] });
        let messages = prompt.messages(&values).unwrap();
        let expected = [
            ChatMessage::new(ChatRole::System, "Be brief."),
            ChatMessage::new(ChatRole::User, "- c\n- d\nNow: a\n---\n{{ b }}"),
        ];
        assert_eq!(messages, expected);
        let alone = open("{{ utterance }}").unwrap().messages(&values).unwrap();
        assert_eq!(alone.len(), 1);
    }

    #[test]
    fn unknown_variables_and_broken_templates_are_refused_with_their_line() {
        let error = open("a\n---\nb\n{{ utterence }}").unwrap_err().to_string();
        assert!(error.starts_with("p.jinja:4: expected one of the variables utterance"), "{error}");
        assert!(error.ends_with("found `utterence`"), "{error}");
        let error = open("a\n{% for x in %}").unwrap_err().to_string();
        assert!(error.starts_with("p.jinja:2: "), "{error}");
        let prompt =
            open("a\n---\n{% for one in utterances %}{{ one.texxt }}{% endfor %}").unwrap();
        let values = json!({ "utterance": "", "utterances": [{ "text": "b" }] });
        let error = prompt.messages(&values).unwrap_err().to_string();
        assert!(error.contains("p.jinja:3: ") && error.contains("one.texxt"), "{error}");
    }

    #[test]
    fn a_prompt_without_an_end_is_refused() {
        let values = json!({ "utterance": "a".repeat(1 << 20), "utterances": [] });
        let nested = "{% for a in range(9999) %}{% for b in range(9999) %}{% for c in range(9999) %}\
                      {{ loop.index }}{% endfor %}{% endfor %}{% endfor %}";
        let error = open(nested).unwrap().messages(&values).unwrap_err().to_string();
        assert!(
            error.contains("p.jinja:1: ") && error.ends_with("engine ran out of fuel"),
            "{error}"
        );
        let long = "{% for a in range(17) %}{{ utterance }}{% endfor %}";
        let error = open(long).unwrap().messages(&values).unwrap_err().to_string();
        assert!(error.contains("p.jinja:1: "), "{error}");
        let set = "{% set a = 1 %}{{ [a, 2] | batch(1) | list | length }}";
        assert_eq!(open(set).unwrap().messages(&values).unwrap()[0].content, "2");
    }

    #[test]
    fn a_prompt_must_say_how_the_answer_is_written() {
        let at = || Location::file("x.toml");
        let folder = tempfile::tempdir().unwrap();
        let open = |text: &str| {
            fs::write(folder.path().join("p.jinja"), text).unwrap();
            Prompt::open(at(), folder.path(), "p.jinja", &["utterance", FORM])
        };
        for text in ["{{ utterance }} {{ form }}", "{{ form }}\n---\n{{ utterance }}"] {
            assert!(open(text).is_ok(), "{text}");
        }
        let refused = open("{{ utterance }}").unwrap_err().to_problem();
        assert!(refused.expected.starts_with("`{{ form }}` in the prompt"), "{refused}");
    }

    #[test]
    fn a_name_without_the_extension_is_that_of_a_built_in_prompt() {
        let at = || Location::line("x.toml", 7);
        for (name, text) in BUILT_IN {
            assert!(!text.is_empty(), "{name}");
        }
        let error = Prompt::open(at(), Path::new(""), "rewrit", VARIABLES).unwrap_err().to_string();
        assert!(error.starts_with("x.toml:7: ") && error.contains("rewrite"), "{error}");
        let error = Prompt::open(at(), Path::new("/none"), "a.jinja", VARIABLES).unwrap_err();
        assert!(error.to_string().contains("/none/a.jinja"), "{error}");
    }
}
