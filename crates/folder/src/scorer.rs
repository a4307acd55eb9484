//! How a cross-encoder's folder scores pairs: by the layers of its transformer, or, as release 6 of
//! sentence-transformers writes them, by modules after it, such as the logits of words.

use crate::files::{DOCUMENTED, OTHER_MODELS};
use crate::modules::{class_name, read_required};
use crate::sentence::Sentence;
use crate::settings::SentenceTransformersConfig;
use crate::table::{LOGIT_SCORE, SERVED};
use crate::{Family, ModelFolder};
use clariq_core::{Result, Similarity, bail};
use serde::Deserialize;
use serde_json::Value;
use std::path::Path;

/// The name of what the last module gives.
const SCORES: &str = "scores";

/// How pairs are scored.
#[derive(Debug, Clone, PartialEq)]
pub struct PairScoring {
    /// The prompt before a pair, and the modules, whose vector has a score or two.
    pub sentence: Sentence,
    pub by: ScoredBy,
}

/// The layers that score a pair.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ScoredBy {
    /// The layers of the transformer.
    Classifier,
    /// The modules after it.
    Modules,
    /// The logit of a word at the end of the pair, or its difference from that of another.
    Words { yes: i64, no: Option<i64> },
}

/// `config.json` of `LogitScore`.
#[derive(Deserialize)]
struct LogitConfig {
    true_token_id: i64,
    false_token_id: Option<i64>,
    module_input_name: Option<String>,
}

/// True if the settings of a folder say that its model scores pairs.
pub(crate) fn is_cross_encoder(root: &Path) -> bool {
    let settings = SentenceTransformersConfig::read(root).unwrap_or_default();
    settings.model_type.as_deref() == Some("CrossEncoder")
}

impl ModelFolder {
    /// How the folder scores pairs: one score, by an activation that changes no order.
    pub fn pair_scoring(&self) -> Result<PairScoring> {
        let settings = SentenceTransformersConfig::read(&self.root)?;
        settings.expect_model_type("CrossEncoder")?;
        settings.check_default_prompt()?;
        // Older releases of sentence-transformers wrote the activation into config.json.
        let config = self.path.join("config.json");
        let oldest = self.config.get("sbert_ce_default_activation_function");
        let older = self.config.get("sentence_transformers");
        let older = older.and_then(|keys| keys.get("activation_fn"));
        check_activation(&config, oldest.and_then(Value::as_str))?;
        check_activation(&config, older.and_then(Value::as_str))?;
        check_activation(&settings.at, settings.activation_fn.as_deref())?;
        let mut sentence = Sentence::usual(usize::try_from(self.shape.hidden).unwrap_or_default());
        sentence.prompts.query = settings.default_prompt();
        let modules = self.modules.as_ref().filter(|modules| !modules.others().is_empty());
        if let Some(chat) = &self.chat {
            chat.expect_pairs()?;
        }
        let Some(modules) = modules else {
            self.expect_task("sequence-classification")?;
            return Ok(PairScoring { sentence, by: ScoredBy::Classifier });
        };
        if let [entry] = modules.others()
            && entry.class() == Some("LogitScore")
        {
            return Ok(PairScoring { sentence, by: self.words(&self.root.join(&entry.path))? });
        }
        self.expect_task("feature-extraction")?;
        sentence.poolings.clear();
        sentence.read_modules(&self.root, modules, SCORES)?;
        sentence.similarity = Similarity::Dot;
        sentence.dim = sentence.full_dim;
        let last = modules.others().last().filter(|entry| entry.class() != Some("Dense"));
        if let Some(other) = last {
            let found = format!("`{}`", other.r#type);
            bail!(&modules.at, "a Dense for `{SCORES}` as the last module", found, DOCUMENTED);
        }
        if !sentence.prompts.are_counted && !sentence.prompts.query.is_empty() {
            let hint = "prompts of pairs whose tokens do not count are not supported";
            bail!(&modules.at, "include_prompt true beside a prompt", "false", hint);
        }
        Ok(PairScoring { sentence, by: ScoredBy::Modules })
    }

    /// The words whose logits score a pair (Qwen3-Reranker: Zhang et al., arXiv 2506.05176).
    fn words(&self, folder: &Path) -> Result<ScoredBy> {
        self.expect_task("text-generation")?;
        if self.shape.family != Family::Qwen3 {
            let at = self.path.join("config.json");
            let found = format!("a {}", self.shape.family);
            bail!(&at, "a Qwen3 before LogitScore", found, SERVED);
        }
        let at = folder.join("config.json");
        let config: LogitConfig = read_required(&at, &LOGIT_SCORE)?;
        if let Some(other) = config.module_input_name.filter(|name| name != "causal_logits") {
            bail!(&at, "module_input_name `causal_logits`", "`{other}`", DOCUMENTED);
        }
        let ids = [Some(config.true_token_id), config.false_token_id];
        let is_word = |id: &i64| (0..self.shape.vocabulary).contains(id);
        if let Some(other) = ids.into_iter().flatten().find(|id| !is_word(id)) {
            bail!(&at, "ids of words", (other.to_string()), OTHER_MODELS);
        }
        Ok(ScoredBy::Words { yes: config.true_token_id, no: config.false_token_id })
    }
}

fn check_activation(at: &Path, name: Option<&str>) -> Result<()> {
    match name.map(class_name) {
        None | Some("Identity" | "Sigmoid") => Ok(()),
        Some(_) => {
            let found = format!("`{}`", name.unwrap_or_default());
            bail!(at, "an activation Identity or Sigmoid", found, DOCUMENTED)
        }
    }
}
