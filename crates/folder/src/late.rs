//! Folders of `MultiVectorEncoder` (sentence-transformers 6) and of `PyLate`, which give each token of a text
//! a vector: lengths of both sides, expansion of requests, and the tokens that do not count.
//!
//! `PyLate` has these settings in `config_sentence_transformers.json`, release 6 in those of its modules,
//! which win. What `PyLate` does without a module is done as release 6 loads its folders.

use crate::files::DOCUMENTED;
use crate::late_interaction::{Expansion, LateInteraction, Strategy};
use crate::modules::{Module, Modules, read_required};
use crate::sentence::Sentence;
use crate::settings::{SentenceTransformersConfig, TransformerConfig};
use crate::table::{LATE, MULTI_VECTOR_MASK};
use clariq_core::{Result, Similarity, bail};
use serde::Deserialize;
use std::path::Path;

const MULTI_VECTOR: &str = "MultiVectorEncoder";
/// The name of `PyLate` up to release 3.
const COLBERT: &str = "ColBERT";

/// The keys of `config_sentence_transformers.json` that only these folders have.
#[derive(Default, PartialEq, Deserialize)]
#[serde(default)]
struct PyLateSettings {
    query_prefix: Option<String>,
    document_prefix: Option<String>,
    query_length: Option<usize>,
    document_length: Option<usize>,
    do_query_expansion: Option<bool>,
    attend_to_expansion_tokens: Option<bool>,
    attend_to_mask_tokens: Option<bool>,
    skiplist_words: Option<Vec<String>>,
}

/// `config.json` of `MultiVectorMask`.
#[derive(Deserialize)]
struct Mask {
    skiplist_words: Option<Vec<String>>,
    skiplist_tasks: Option<Vec<String>>,
    keep_only_token_ids: Option<Vec<i64>>,
}

/// True if a folder gives each token a vector.
pub(crate) fn is_late(root: &Path) -> Result<bool> {
    let name = SentenceTransformersConfig::read(root)?.model_type;
    Ok(name.is_some_and(|name| [MULTI_VECTOR, COLBERT].contains(&name.as_str())))
}

/// The words that `PyLate` skips by default: Python's `string.punctuation`.
fn punctuation() -> Vec<String> {
    let marks = ('!'..='~').filter(char::is_ascii_punctuation);
    marks.map(String::from).collect()
}

/// The settings of such a folder, with the modules on the vectors of tokens.
pub(crate) fn read(
    root: &Path,
    transformer: &TransformerConfig,
    hidden: usize,
    modules: &Modules,
) -> Result<Sentence> {
    let settings = SentenceTransformersConfig::read(root)?;
    let own: PyLateSettings = LATE.read_file(&settings.at)?.unwrap_or_default();
    let mut late = LateInteraction::default();
    let mut sentence = Sentence { poolings: Vec::new(), ..Sentence::usual(hidden) };
    // Vectors of tokens are compared as the modules leave them.
    sentence.similarity = Similarity::Dot;
    for entry in modules.others() {
        let folder = root.join(&entry.path);
        match entry.class() {
            Some("Dense") => {
                sentence.push(Module::dense(&folder, sentence.full_dim, [OF_TOKENS; 2])?);
            }
            Some("Normalize") => sentence.push(Module::normalize(&folder, OF_TOKENS)?),
            Some("MultiVectorMask") => late.read_mask(&folder)?,
            Some("Dropout") => {}
            _ => {
                let expected = "Dense, MultiVectorMask or Normalize after Transformer";
                bail!(&modules.at, expected, (format!("`{}`", entry.r#type)), DOCUMENTED)
            }
        }
    }
    if settings.model_type.as_deref() == Some(COLBERT) {
        late.has_mask = true;
        late.skips = vec!["document".to_owned()];
        late.skipped = own.skiplist_words.clone().unwrap_or_else(punctuation);
        sentence.push(Module::Normalize);
    }
    sentence.dim = sentence.full_dim;
    late.read_lengths(transformer, &own)?;
    let mut prompts = settings.prompts();
    for (prompt, prefix) in prompts.iter_mut().zip([&own.query_prefix, &own.document_prefix]) {
        let Some(prefix) = prefix else { continue };
        *prompt = format!("{prefix}{}", prompt.strip_prefix(prefix.as_str()).unwrap_or(prompt));
        late.marks.push(prefix.clone());
    }
    [sentence.prompts.query, sentence.prompts.document] = prompts;
    sentence.late = Some(late);
    Ok(sentence)
}

/// The keys of the modules of such a folder.
const OF_TOKENS: &str = "token_embeddings";

impl LateInteraction {
    fn read_mask(&mut self, folder: &Path) -> Result<()> {
        let at = folder.join("config.json");
        let mask: Mask = read_required(&at, &MULTI_VECTOR_MASK)?;
        let tasks = mask.skiplist_tasks.unwrap_or_else(|| vec!["document".to_owned()]);
        if let Some(other) = tasks.iter().find(|task| !["query", "document"].contains(&&***task)) {
            bail!(&at, "skiplist_tasks `query` and `document`", "`{other}`", DOCUMENTED);
        }
        self.has_mask = true;
        self.skips = tasks;
        self.skipped = mask.skiplist_words.unwrap_or_default();
        self.kept = mask.keep_only_token_ids.filter(|kept| !kept.is_empty());
        Ok(())
    }

    /// Reads lengths and expansion: those of the transformer's settings win over `PyLate`'s.
    fn read_lengths(&mut self, own: &TransformerConfig, pylate: &PyLateSettings) -> Result<()> {
        let is_pylate = *pylate != PyLateSettings::default();
        let mut query_length = pylate.query_length;
        self.expansion.clone_from(&own.query_expansion);
        if is_pylate && !own.has_expansion && pylate.do_query_expansion != Some(false) {
            let attend = pylate.attend_to_expansion_tokens.or(pylate.attend_to_mask_tokens);
            self.expansion = Some(Expansion {
                strategy: Strategy::Fixed,
                attend: attend.unwrap_or(false),
                token: None,
                length: query_length.take().unwrap_or(32),
            });
        }
        let document_length = own.document_length.or(pylate.document_length);
        query_length = own.query_length.or(query_length);
        if let Some(expansion) = &self.expansion {
            if let Some(most) = query_length.filter(|most| *most < expansion.length) {
                let expected =
                    format!("query_length of at least {}, as expanded", expansion.length);
                bail!(&own.at, expected, "{most}", DOCUMENTED);
            }
            query_length = match expansion.strategy {
                Strategy::Fixed => Some(expansion.length),
                Strategy::Min => query_length,
            };
        }
        self.lengths = [query_length, document_length];
        if let Some(most) = self.lengths.iter().flatten().find(|most| **most < 3) {
            bail!(&own.at, "query_length and document_length of at least 3", "{most}", DOCUMENTED);
        }
        Ok(())
    }
}
