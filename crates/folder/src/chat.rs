//! Chat templates: sentence-transformers 6 puts texts and pairs into the template of a folder whose settings
//! have the modality `message` (`base/modality.py` and `_process_chat_messages` of `base/modules/transformer.py`).

use crate::files::{DOCUMENTED, read_optional};
use crate::table::SERVED;
use clariq_core::{Problem, Result, bail, problem};
use minijinja::syntax::SyntaxConfig;
use minijinja::value::Serde;
use minijinja::{Environment, ErrorKind};
use minijinja_contrib::pycompat::unknown_method_callback;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// How a message has its text: as it is, or in a list of parts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum MessageFormat {
    Flat,
    Structured,
}

/// A role with its text.
pub(crate) type RoleText<'m> = (&'m str, &'m str);

/// A text is what a user says.
pub(crate) const TEXT: [&str; 1] = ["user"];
/// A pair has a message for each of its texts.
pub(crate) const PAIR: [&str; 2] = ["query", "document"];

/// The template of a folder.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct ChatTemplate {
    /// The file that has it.
    at: PathBuf,
    source: String,
    format: MessageFormat,
    /// The special tokens, which a template may put by their names.
    tokens: BTreeMap<&'static str, String>,
}

/// The most steps of a template for a text.
const MOST_STEPS: u64 = 1_000_000;

/// Templates as Hugging Face's library renders them.
fn environment<'source>() -> Environment<'source> {
    let mut environment = Environment::new();
    environment.set_fuel(Some(MOST_STEPS));
    environment.add_function("raise_exception", raise_exception);
    environment.set_unknown_method_callback(unknown_method_callback);
    let mut syntax = SyntaxConfig::builder();
    syntax.trim_blocks(true).lstrip_blocks(true);
    environment.set_syntax(syntax.build().unwrap_or_default());
    environment
}

/// The function of Hugging Face's library by which a template refuses messages.
fn raise_exception(message: String) -> std::result::Result<(), minijinja::Error> {
    Err(minijinja::Error::new(ErrorKind::InvalidOperation, message))
}

impl ChatTemplate {
    /// Reads the template of a transformer's folder: that of its file, or else that of its settings.
    pub(crate) fn read(
        path: &Path,
        format: MessageFormat,
        template: Option<&Value>,
        tokens: BTreeMap<&'static str, String>,
    ) -> Result<Self> {
        let mut at = path.join("chat_template.jinja");
        let source = if let Some(text) = read_optional(&at)? {
            let unreadable = |_| problem!(&at, "a template in UTF-8", "other bytes", DOCUMENTED);
            String::from_utf8(text).map_err(unreadable)?
        } else {
            at = path.join("tokenizer_config.json");
            match template {
                Some(Value::String(source)) => source.clone(),
                _ => bail!(&at, "one chat_template for messages", "none or several", DOCUMENTED),
            }
        };
        let chat = Self { at, source, format, tokens };
        let environment = environment();
        let template =
            environment.template_from_str(&chat.source).map_err(|error| chat.problem(&error))?;
        if template.undeclared_variables(false).contains("task") {
            let hint = "a template that differs by task is not done";
            bail!(&chat.at, "a chat_template without `task`", "one", hint);
        }
        Ok(chat)
    }

    /// Refuses a template that cannot have a text.
    pub(crate) fn expect_texts(&self) -> Result<()> {
        self.render("", &[(TEXT[0], "a text")]).map(|_| ())
    }

    /// Refuses a template that has not both texts of a pair, as the library does.
    pub(crate) fn expect_pairs(&self) -> Result<()> {
        let of = |query, document| self.render("", &[(PAIR[0], query), (PAIR[1], document)]);
        let base = of("alpha", "bravo")?;
        for (role, other) in
            PAIR.into_iter().zip([of("charlie", "bravo")?, of("alpha", "foxtrot")?])
        {
            if other == base {
                let expected = format!("a chat_template with the role `{role}`");
                bail!(&self.at, expected, "one without", SERVED);
            }
        }
        Ok(())
    }

    /// The text of messages, after a prompt, if there is one, as that of the system.
    pub(crate) fn render(&self, prompt: &str, messages: &[RoleText]) -> Result<String> {
        let content = |text: &str| match self.format {
            MessageFormat::Flat => json!(text),
            MessageFormat::Structured => json!([{ "type": "text", "text": text }]),
        };
        let prompt = Some(("system", prompt)).filter(|(_, prompt)| !prompt.is_empty());
        let messages = prompt.iter().chain(messages);
        let messages: Vec<Value> = messages
            .map(|(role, text)| json!({ "role": role, "content": content(text) }))
            .collect();
        let mut context = json!({ "messages": messages, "add_generation_prompt": false });
        for (key, token) in &self.tokens {
            context[*key] = json!(token);
        }
        Ok(environment()
            .render_str(&self.source, Serde(context))
            .map_err(|error| self.problem(&error))?)
    }

    fn problem(&self, error: &minijinja::Error) -> Problem {
        let message = error.detail().map_or_else(|| error.kind().to_string(), str::to_owned);
        problem!(&self.at, "a chat_template that can be read", message, SERVED)
    }

    /// Everything that the text of messages depends on.
    pub(crate) fn digest(&self) -> String {
        format!(" in {:?} {:?} {:?}", self.format, self.source, self.tokens)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn methods_of_pythons_strings_are_those_of_jinja() {
        // With what Qwen3's own template calls. The text is that of Jinja 3.1.
        let source = r#"{%- if messages[0].role == 'system' %}
    {{- '<|im_start|>system\n' + messages[0].content + '<|im_end|>\n' }}
{%- endif %}
{%- set ns = namespace(is_open=true, last=messages|length - 1) %}
{%- for message in messages[::-1] %}
    {%- set index = (messages|length - 1) - loop.index0 %}
    {%- if ns.is_open and message.role == "user" and message.content is string and not(message.content.startswith('<tool>') and message.content.endswith('</tool>')) %}
        {%- set ns.is_open = false %}
        {%- set ns.last = index %}
    {%- endif %}
{%- endfor %}
{%- for message in messages %}
    {%- set content = message.content %}
    {%- if message.role == "user" or (message.role == "system" and not loop.first) %}
        {{- '<|im_start|>' + message.role + '\n' + content.strip() + '<|im_end|>' + '\n' }}
    {%- elif message.role == "assistant" %}
        {%- set content = content.split('</think>')[-1].lstrip('\n') %}
        {{- '<|im_start|>' + message.role + '\n' + content + ns.last|string }}
    {%- endif %}
{%- endfor %}"#;
        let template = ChatTemplate {
            at: PathBuf::new(),
            source: source.to_owned(),
            format: MessageFormat::Flat,
            tokens: BTreeMap::new(),
        };
        let messages = [("user", " tents\n"), ("assistant", "<think>\nso\n</think>\n\nyes")];
        assert_eq!(
            template.render("Find it.", &messages).unwrap(),
            "<|im_start|>system\nFind it.<|im_end|>\n<|im_start|>user\ntents<|im_end|>\n\
             <|im_start|>assistant\nyes1"
        );
    }
}
