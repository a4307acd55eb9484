//! Tokens that the settings of a tokenizer add to its file, as Hugging Face's library does it
//! (`_from_pretrained` of `tokenization_utils_base.py` and `__init__` of
//! `tokenization_utils_tokenizers.py`, transformers 5.24).

use crate::files::{COPY_AGAIN, Object, read_at_most, read_keys, read_object};
use crate::table::SPECIAL_TOKENS;
use crate::tokenizer_class::TokenizerClass;
use clariq_core::{Result, bail};
use clariq_files::MOST_OF_A_TABLE;
use serde::Deserialize;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::path::Path;
use tokenizers::{AddedToken, Tokenizer};

/// A token of the settings.
#[expect(clippy::struct_excessive_bools, reason = "the properties of a token in its file")]
#[derive(Debug, Clone, Deserialize)]
pub(crate) struct NamedToken {
    pub(crate) content: String,
    #[serde(default)]
    lstrip: bool,
    #[serde(default)]
    rstrip: bool,
    #[serde(default)]
    single_word: bool,
    // By default the opposite of `special`.
    normalized: Option<bool>,
    #[serde(default)]
    special: bool,
    /// True if the tokenizer's class alone names it.
    #[serde(skip)]
    is_usual: bool,
}

impl PartialEq for NamedToken {
    fn eq(&self, other: &Self) -> bool {
        let parts = |token: &Self| {
            let AddedToken { content, single_word, lstrip, rstrip, normalized, special } =
                token.to_added();
            (content, single_word, lstrip, rstrip, normalized, special)
        };
        parts(self) == parts(other)
    }
}

impl NamedToken {
    fn to_added(&self) -> AddedToken {
        AddedToken {
            content: self.content.clone(),
            single_word: self.single_word,
            lstrip: self.lstrip,
            rstrip: self.rstrip,
            normalized: self.normalized.unwrap_or(!self.special),
            special: self.special,
        }
    }
}

/// The tokens that settings name.
#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) struct AddedTokens {
    /// Special tokens by the key that names them.
    special: Named,
    /// The tokens that the tokenizer's file has not, or has with other properties, in the order in which they
    /// are added.
    missing: Vec<NamedToken>,
    /// A token of the tokenizer's file that the settings have not, where these list all.
    pub(crate) in_file_alone: Option<String>,
    /// The named tokens that are not the usual ones of the tokenizer's class.
    unusual: Vec<String>,
    /// The special tokens, those with and those without a name.
    specials: Vec<String>,
}

/// Special tokens by the key that names them; `None` for a key that names no token.
type Named = BTreeMap<&'static str, Option<NamedToken>>;

/// The tokens of the settings, before they are compared with the tokenizer's file.
#[derive(Default)]
struct TokenSettings {
    by_id: Option<BTreeMap<u32, NamedToken>>,
    special: Named,
    /// Special tokens without a name.
    extra: Vec<NamedToken>,
}

/// The part of `tokenizer.json` that is read here.
#[derive(Default, Deserialize)]
struct TokenizerFile {
    #[serde(default)]
    added_tokens: Vec<NamedToken>,
}

impl AddedTokens {
    /// Reads `tokenizer_config.json`, and the two older files where that has no `added_tokens_decoder`.
    pub(crate) fn read(path: &Path, class: TokenizerClass) -> Result<Self> {
        let mut settings = TokenSettings::read(path)?;
        let unusual = settings.complete(class);
        let own = read_at_most(&path.join("tokenizer.json"), MOST_OF_A_TABLE)?.unwrap_or_default();
        // A damaged file is named where the tokenizer is read.
        let file: TokenizerFile = serde_json::from_slice(&own).unwrap_or_default();
        let by_id = settings.by_id.iter().flat_map(BTreeMap::values);
        let mut missing: Vec<NamedToken> =
            by_id.clone().filter(|token| !file.added_tokens.contains(token)).cloned().collect();
        let in_order = SPECIAL_TOKENS.iter().filter_map(|key| settings.special.get(key));
        let special: Vec<&NamedToken> = in_order.flatten().chain(&settings.extra).collect();
        let known: Vec<&NamedToken> = file.added_tokens.iter().chain(by_id).collect();
        for token in &special {
            if !known.iter().any(|known| known.content == token.content)
                && !missing.iter().any(|known| known.content == token.content)
            {
                missing.push((*token).clone());
            }
        }
        let specials = special.iter().map(|token| token.content.clone()).collect();
        let named = settings.by_id.iter().flat_map(BTreeMap::values).chain(special);
        let named: Vec<&str> = named.map(|token| token.content.as_str()).collect();
        let mut own = file.added_tokens.iter().map(|token| &token.content);
        let alone = own.find(|token| !named.contains(&token.as_str()));
        let in_file_alone = alone.filter(|_| settings.by_id.is_some()).cloned();
        Ok(Self { special: settings.special, missing, in_file_alone, unusual, specials })
    }

    /// The special tokens that have a name, by it.
    pub(crate) fn named(&self) -> impl Iterator<Item = (&'static str, &str)> {
        self.special
            .iter()
            .filter_map(|(key, token)| Some((*key, token.as_ref()?.content.as_str())))
    }

    /// All special tokens, as they are written.
    pub(crate) fn specials(&self) -> impl Iterator<Item = &str> {
        self.specials.iter().map(String::as_str)
    }

    /// The token that a key names.
    pub(crate) fn special(&self, key: &str) -> Option<&str> {
        self.special.get(key)?.as_ref().map(|token| token.content.as_str())
    }

    /// Adds them to a tokenizer of a model of so many words. An id beyond these is refused where the vocabulary
    /// is checked, but for a token that the class alone names: no text has it.
    pub(crate) fn add_to(&self, tokenizer: &mut Tokenizer, words: i64) -> tokenizers::Result<()> {
        for token in &self.missing {
            let is_full = tokenizer.get_vocab_size(true) as i64 >= words;
            if !(token.is_usual && is_full && tokenizer.token_to_id(&token.content).is_none()) {
                tokenizer.add_tokens([token.to_added()])?;
            }
        }
        Ok(())
    }

    /// The differences from the tokenizer's file and its class.
    pub(crate) fn digest(&self) -> String {
        let unusual = self.unusual.concat();
        if self.missing.is_empty() {
            unusual
        } else {
            format!("{unusual} added {:?}", self.missing)
        }
    }
}

impl TokenSettings {
    fn read(path: &Path) -> Result<Self> {
        let at = path.join("tokenizer_config.json");
        let config = read_object(&at)?.unwrap_or_default();
        let mut tokens = Self::default();
        tokens.read_special(&at, &config)?;
        if let Some(Value::Object(by_id)) = config.get("added_tokens_decoder") {
            let mut read = BTreeMap::new();
            for (id, token) in by_id {
                let Ok(number) = id.parse() else {
                    bail!(&at, "ids in added_tokens_decoder", "`{id}`", COPY_AGAIN);
                };
                read.insert(number, token_of(&at, token, false)?);
            }
            tokens.by_id = Some(read);
            return Ok(tokens);
        }
        let at = path.join("special_tokens_map.json");
        tokens.read_special(&at, &read_object(&at)?.unwrap_or_default())?;
        let at = path.join("added_tokens.json");
        if let Some(object) = read_object(&at)? {
            let mut read = BTreeMap::new();
            for (name, id) in &object {
                let number = id.as_u64().and_then(|id| u32::try_from(id).ok());
                let Some(number) = number else {
                    bail!(&at, "an id for `{name}`", "{id}", COPY_AGAIN);
                };
                let mut special = tokens.special.values().flatten().chain(&tokens.extra);
                let is_special = special.any(|token| token.content == *name);
                read.insert(number, token_of(&at, &json!(name), is_special)?);
            }
            // The tokens of the tokenizer's file remain.
            tokens.extra.extend(read.into_values());
        }
        Ok(tokens)
    }

    /// Adds the tokens that a class has without being told; the others are the result.
    fn complete(&mut self, class: TokenizerClass) -> Vec<String> {
        let token = |content: &str| NamedToken {
            content: content.to_owned(),
            lstrip: false,
            rstrip: false,
            single_word: false,
            normalized: None,
            special: true,
            is_usual: true,
        };
        let mut unusual = Vec::new();
        for (key, usual) in class.usual_tokens() {
            let named = self.special.entry(key).or_insert_with(|| {
                let lstrip = key == "mask_token" && class.strips_before_mask();
                Some(NamedToken { lstrip, ..token(usual) })
            });
            let named = named.as_ref().map(|token| token.content.as_str());
            if named != Some(usual) {
                unusual.push(format!(" {key} {named:?}"));
            }
        }
        if self.extra.is_empty() {
            self.extra.extend(class.usual_extra_tokens().iter().map(|usual| token(usual)));
        }
        unusual
    }

    fn read_special(&mut self, at: &Path, object: &Object) -> Result<()> {
        for key in SPECIAL_TOKENS {
            if let Some(token) = object.get(key) {
                let token = (!token.is_null()).then(|| token_of(at, token, true)).transpose()?;
                self.special.insert(key, token);
            }
        }
        // A token of this model alone has a key of its own.
        for (key, token) in object {
            let is_one = key.ends_with("_token") && !SPECIAL_TOKENS.contains(&key.as_str());
            if is_one && (token.is_string() || token.is_object()) {
                self.extra.push(token_of(at, token, true)?);
            }
        }
        let is_given = |key: &&str| match object.get(*key) {
            None | Some(Value::Null) => false,
            Some(Value::Array(tokens)) => !tokens.is_empty(),
            Some(_) => true,
        };
        let keys = ["extra_special_tokens", "additional_special_tokens"];
        let Some(key) = keys.into_iter().find(is_given) else { return Ok(()) };
        let tokens: Vec<&Value> = match &object[key] {
            Value::Array(tokens) => tokens.iter().collect(),
            Value::Object(tokens) => tokens.values().collect(),
            other => bail!(at, "{key} a list", "{other}", COPY_AGAIN),
        };
        for token in tokens {
            self.extra.push(token_of(at, token, true)?);
        }
        Ok(())
    }
}

/// A token as a text, or as an object of its properties.
fn token_of(at: &Path, value: &Value, special: bool) -> Result<NamedToken> {
    let mut token: NamedToken = match value {
        Value::String(content) => {
            read_keys(at, Object::from_iter([("content".to_owned(), json!(content))]))?
        }
        Value::Object(object) => read_keys(at, object.clone())?,
        other => bail!(at, "a token: a text or its properties", "{other}", COPY_AGAIN),
    };
    token.special |= special;
    Ok(token)
}
