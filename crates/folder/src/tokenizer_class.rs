//! Classes of tokenizers in Hugging Face's library, and the special tokens that they have without being told
//! (`models/*/tokenization_*.py` of transformers 5.24).

use clariq_core::{Result, bail};
use std::path::Path;

/// A class of tokenizers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum TokenizerClass {
    /// The file as it is.
    #[default]
    File,
    Bert,
    DistilBert,
    Mpnet,
    Roberta,
    XlmRoberta,
    Camembert,
    Albert,
    Deberta,
    DebertaV2,
    Qwen2,
    Gemma,
}

use TokenizerClass::{
    Albert, Bert, Camembert, Deberta, DebertaV2, DistilBert, File, Gemma, Mpnet, Qwen2, Roberta,
    XlmRoberta,
};

/// The names of the classes without their endings, and those of models whose tokenizers have them.
const CLASSES: [(&str, TokenizerClass); 17] = [
    ("PreTrained", File),
    ("TokenizersBackend", File),
    ("ModernBert", File),
    ("Bert", Bert),
    ("DistilBert", DistilBert),
    ("Electra", Bert),
    ("MPNet", Mpnet),
    ("Roberta", Roberta),
    ("XLMRoberta", XlmRoberta),
    ("Camembert", Camembert),
    ("Albert", Albert),
    ("Deberta", Deberta),
    ("DebertaV2", DebertaV2),
    ("Qwen2", Qwen2),
    ("Qwen3", Qwen2),
    ("Gemma", Gemma),
    ("Gemma3Text", Gemma),
];

/// The special tokens of BERT's kind, and of RoBERTa's.
const OF_BERT: [(&str, &str); 7] = [
    ("bos_token", "[CLS]"),
    ("eos_token", "[SEP]"),
    ("unk_token", "[UNK]"),
    ("sep_token", "[SEP]"),
    ("pad_token", "[PAD]"),
    ("cls_token", "[CLS]"),
    ("mask_token", "[MASK]"),
];
const OF_ROBERTA: [(&str, &str); 7] = [
    ("bos_token", "<s>"),
    ("eos_token", "</s>"),
    ("unk_token", "<unk>"),
    ("sep_token", "</s>"),
    ("pad_token", "<pad>"),
    ("cls_token", "<s>"),
    ("mask_token", "<mask>"),
];

impl TokenizerClass {
    /// The class that a model's tokenizer gets: the one that the settings name, or that of its `model_type`,
    /// whose class in the library begins with `model`.
    pub(crate) fn of(at: &Path, named: Option<&str>, model: Option<&str>) -> Result<Self> {
        let find = |name: &str| CLASSES.iter().find(|(known, _)| *known == name);
        // The library passes over the class that the settings of these name.
        if model == Some("ModernBert") {
            return Ok(File);
        }
        let Some(named) = named else {
            return Ok(model.and_then(find).map_or(File, |(_, class)| *class));
        };
        let name = named.strip_suffix("Fast").unwrap_or(named);
        let Some((_, class)) = find(name.strip_suffix("Tokenizer").unwrap_or(name)) else {
            let expected = "a tokenizer_class of a model that is read, or TokenizersBackend";
            let hint = "the library makes such a tokenizer anew in a way of its own; save what it makes in \
                        Python: `PreTrainedTokenizerFast(tokenizer_object=AutoTokenizer.from_pretrained(DIR)\
                        ._tokenizer).save_pretrained(DIR)`, with the special tokens by name";
            bail!(at, expected, "`{named}`", hint);
        };
        Ok(*class)
    }

    /// The special tokens that the class has where the settings name no others, by their keys.
    pub(crate) fn usual_tokens(self) -> Vec<(&'static str, &'static str)> {
        match self {
            File => Vec::new(),
            // Without beginning and end.
            Bert | DistilBert => OF_BERT[2..].to_vec(),
            Deberta | DebertaV2 => OF_BERT.to_vec(),
            Albert => {
                let own = |&(key, token)| match key {
                    "unk_token" => (key, "<unk>"),
                    "pad_token" => (key, "<pad>"),
                    _ => (key, token),
                };
                OF_BERT.iter().map(own).collect()
            }
            Mpnet => {
                let own = |&(key, token)| (key, if key == "unk_token" { "[UNK]" } else { token });
                OF_ROBERTA.iter().map(own).collect()
            }
            Roberta | XlmRoberta | Camembert => OF_ROBERTA.to_vec(),
            Qwen2 => {
                ["eos_token", "unk_token", "pad_token"].map(|key| (key, "<|endoftext|>")).into()
            }
            Gemma => vec![
                ("bos_token", "<bos>"),
                ("eos_token", "<eos>"),
                ("unk_token", "<unk>"),
                ("pad_token", "<pad>"),
                ("mask_token", "<mask>"),
            ],
        }
    }

    /// Special tokens without a name that the class has where the settings list none.
    pub(crate) fn usual_extra_tokens(self) -> &'static [&'static str] {
        if self == Camembert { &["<s>NOTUSED", "</s>NOTUSED", "<unk>NOTUSED"] } else { &[] }
    }

    /// True if a mask that is only named takes the blank before it.
    pub(crate) fn strips_before_mask(self) -> bool {
        matches!(self, Mpnet | Camembert | Deberta)
    }

    /// True if its words may be in a `vocab.txt`.
    pub(crate) fn is_of_words(self) -> bool {
        matches!(self, Bert | DistilBert)
    }

    /// True if such a tokenizer numbers the two texts of a pair.
    pub(crate) fn has_segments(self) -> bool {
        matches!(self, Bert | Deberta | DebertaV2)
    }
}
