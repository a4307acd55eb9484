//! The families of encoders, by the key `model_type` of their `config.json`.

use clariq_core::{Result, bail};
use std::fmt;
use std::path::Path;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Family {
    /// Devlin et al., NAACL 2019.
    #[default]
    Bert,
    /// Liu et al., arXiv 1907.11692; XLM-RoBERTa (Conneau et al., ACL 2020) and CamemBERT have the
    /// same layers over other words.
    Roberta,
    /// Sanh et al., arXiv 1910.01108: a BERT without segments.
    DistilBert,
    /// Clark et al., ICLR 2020: a BERT whose words may have shorter vectors.
    Electra,
    /// Lan et al., ICLR 2020: layers share their weights.
    Albert,
    /// Song et al., NeurIPS 2020: positions relative to each other as well.
    Mpnet,
    /// He et al., ICLR 2021: attention to words and to distances is separate.
    Deberta,
    /// DeBERTa 2 and 3 (He et al., ICLR 2023): distances in buckets.
    DebertaV2,
    /// Warner et al., arXiv 2412.13663: rotary positions, local attention in most layers.
    ModernBert,
    /// Yang et al., arXiv 2505.09388: a decoder, whose tokens attend to earlier ones.
    Qwen3,
    /// Gemma Team, arXiv 2503.19786: a decoder, or, as `EmbeddingGemma`, an encoder.
    Gemma3,
}

/// Every supported `model_type`, the prefix of its classes in Hugging Face's library, the name of its
/// family, and the family.
const FAMILIES: [(&str, &str, &str, Family); 13] = [
    ("bert", "Bert", "BERT", Family::Bert),
    ("roberta", "Roberta", "RoBERTa", Family::Roberta),
    ("xlm-roberta", "XLMRoberta", "RoBERTa", Family::Roberta),
    ("camembert", "Camembert", "RoBERTa", Family::Roberta),
    ("distilbert", "DistilBert", "DistilBERT", Family::DistilBert),
    ("electra", "Electra", "ELECTRA", Family::Electra),
    ("albert", "Albert", "ALBERT", Family::Albert),
    ("mpnet", "MPNet", "MPNet", Family::Mpnet),
    ("deberta", "Deberta", "DeBERTa", Family::Deberta),
    ("deberta-v2", "DebertaV2", "DeBERTa-v2", Family::DebertaV2),
    ("modernbert", "ModernBert", "ModernBERT", Family::ModernBert),
    ("qwen3", "Qwen3", "Qwen3", Family::Qwen3),
    ("gemma3_text", "Gemma3Text", "Gemma 3", Family::Gemma3),
];

impl Family {
    /// The family of a `model_type`; the default is BERT.
    pub fn named(at: &Path, name: Option<&str>) -> Result<Self> {
        let name = name.unwrap_or("bert");
        if let Some((.., family)) = FAMILIES.iter().find(|(known, ..)| *known == name) {
            return Ok(*family);
        }
        let hint = "a server such as text-embeddings-inference, vLLM or llama.cpp may serve it, and a table \
                    [models.NAME] names the server; the documentation lists the families that are read \
                    (reference, Models)";
        let known = FAMILIES.map(|(known, ..)| format!("`{known}`")).join(", ");
        bail!(at, "model_type {known}", "`{name}`", hint);
    }

    /// The supported values of `model_type`.
    pub fn model_types() -> [&'static str; 13] {
        FAMILIES.map(|(name, ..)| name)
    }

    /// The prefix of the classes of a `model_type` in Hugging Face's library.
    pub fn class_of(model_type: &str) -> &'static str {
        let found = FAMILIES.iter().find(|(known, ..)| *known == model_type);
        found.map_or("Bert", |(_, class, ..)| class)
    }

    /// True if positions are rotary: then only distances count, and padding at either side changes nothing.
    pub(crate) fn has_rotary_positions(self) -> bool {
        matches!(self, Self::ModernBert | Self::Qwen3 | Self::Gemma3)
    }

    /// True if distances between tokens are attended to.
    pub(crate) fn is_deberta(self) -> bool {
        matches!(self, Self::Deberta | Self::DebertaV2)
    }
}

impl fmt::Display for Family {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let found = FAMILIES.iter().find(|(.., family)| family == self);
        f.pad(found.map_or("", |(_, _, name, _)| name))
    }
}
