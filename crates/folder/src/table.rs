//! The files and keys of a model's folder that transformers 5.24, sentence-transformers 6.2 and peft 0.21
//! read, with their effect here. The loaders consult this table, and the page "Files of a model" is made of it.
//!
//! One rule holds for all files: a key is *done* as in the library, *without effect* on a vector or score
//! here, or *refused* unless it has a value that changes nothing. A key that is not in the table is passed
//! over, and reported. A file that a library reads and that is not done is refused by name.

mod config;
mod page;
mod rotary;
mod sentence;
mod text_generator;
mod tokenizer;

use crate::files::{CONVERT, Object, PICKLED, expect_usual, read_keys, read_object};
use clariq_core::Result;
pub use config::CONFIG;
pub use page::page;
pub(crate) use rotary::{GEMMA3, MODERNBERT, QWEN3};
pub(crate) use sentence::{
    DENSE, LATE, LAYER_NORM, LOGIT_SCORE, LOOKUP, MODULE_LIST, MULTI_VECTOR_MASK, NORMALIZE,
    POOLING, ROUTER, SENTENCE, SPLADE, STATIC_EMBEDDING, TRANSFORMER,
};
use serde::de::DeserializeOwned;
use std::path::Path;
pub(crate) use text_generator::{MAY_CHANGE_A_TEXT, TEXT_GENERATOR};
pub(crate) use tokenizer::{SPECIAL_TOKENS, TOKENIZER};

/// A key that would change a result, with the values that do not, the usual one first, and a hint
/// about others.
pub type OnlyUsual = (&'static str, &'static [&'static str], &'static str);

/// The keys of a file that the libraries read.
pub struct Keys {
    /// The file, and what it is about.
    pub file: &'static str,
    /// Keys that it shares with other files.
    pub base: Option<&'static Self>,
    /// Keys that count here as in the library; `*` stands for the beginning of a name.
    pub done: &'static [&'static str],
    /// Keys that change no vector and no score: they concern training, other tasks and other programs.
    pub without_effect: &'static [&'static str],
    /// Keys that are refused unless they have their usual value.
    pub refused: &'static [OnlyUsual],
}

impl Keys {
    const fn of(file: &'static str) -> Self {
        Self { file, base: None, done: &[], without_effect: &[], refused: &[] }
    }

    /// The keys of the file and those that it shares.
    fn parts(&self) -> impl Iterator<Item = &Self> {
        std::iter::successors(Some(self), |keys| keys.base)
    }

    /// The keys that count.
    pub(crate) fn done(&self) -> impl Iterator<Item = &'static str> {
        self.parts().flat_map(|keys| keys.done).copied()
    }

    fn without_effect(&self) -> impl Iterator<Item = &'static str> {
        self.parts().flat_map(|keys| keys.without_effect).copied()
    }

    fn refused(&self) -> impl Iterator<Item = &'static OnlyUsual> {
        self.parts().flat_map(|keys| keys.refused)
    }

    /// Refuses unusual values.
    pub fn check(&self, at: &Path, object: &Object) -> Result<()> {
        let mut refused = self.refused();
        refused.try_for_each(|(key, usual, hint)| expect_usual(at, object, key, usual, hint))
    }

    /// Checks an object, and reads the keys that count into a struct; errors name the key.
    pub(crate) fn read<T: DeserializeOwned>(&self, at: &Path, mut object: Object) -> Result<T> {
        self.check(at, &object)?;
        object.retain(|key, _| self.done().any(|known| known == key));
        read_keys(at, object)
    }

    /// Reads a file, if it exists.
    pub(crate) fn read_file<T: DeserializeOwned>(&self, at: &Path) -> Result<Option<T>> {
        read_object(at)?.map(|object| self.read(at, object)).transpose()
    }

    /// The keys of an object that the table does not have, in order.
    pub fn unknown(&self, object: &Object) -> Vec<String> {
        let is_done = |key: &str, known: &str| match known.strip_prefix('*') {
            Some(end) => key.ends_with(end),
            None => key == known,
        };
        let is_known = |key: &str| {
            self.done().any(|known| is_done(key, known))
                || self.without_effect().any(|known| known == key)
                || self.refused().any(|(known, ..)| *known == key)
        };
        object.keys().filter(|key| !is_known(key)).cloned().collect()
    }
}

/// The use of a file beside a model's weights.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FileUse {
    /// It counts as in the library.
    Done,
    /// It changes no vector and no score here.
    WithoutEffect,
    /// Weights of another kind. They change nothing beside those that are read; alone, they are refused
    /// with this name and this hint.
    OtherWeights(&'static str, &'static str),
    /// It would change a result, or is no model: refused with this name and this hint.
    Refused(&'static str, &'static str),
}

/// A file of a model's folder: the end of its name, the library that reads it, and what is done with it.
pub struct KnownFile {
    /// The name; with `*` in front, its end; with `/` behind it, that of a folder.
    pub name: &'static str,
    /// The library that reads it.
    pub reader: &'static str,
    pub is: FileUse,
}

impl KnownFile {
    /// True if the row is about an entry of a folder.
    fn is_of(&self, name: &str, is_folder: bool) -> bool {
        match (self.name.strip_suffix('/'), self.name.strip_prefix('*')) {
            (Some(folder), _) => is_folder && folder == name,
            (None, Some(end)) => !is_folder && name.ends_with(end),
            (None, None) => !is_folder && self.name == name,
        }
    }

    /// The row of an entry of a folder.
    pub fn find(name: &str, is_folder: bool) -> Option<&'static Self> {
        FILES.iter().find(|file| file.is_of(name, is_folder))
    }
}

const TRANSFORMERS: &str = "transformers";
const SENTENCE_TRANSFORMERS: &str = "sentence-transformers";
const PEFT: &str = "peft";

const fn file(name: &'static str, reader: &'static str, is: FileUse) -> KnownFile {
    KnownFile { name, reader, is }
}

const fn done(name: &'static str, reader: &'static str) -> KnownFile {
    file(name, reader, FileUse::Done)
}

const fn without_effect(name: &'static str, reader: &'static str) -> KnownFile {
    file(name, reader, FileUse::WithoutEffect)
}

const fn other(
    name: &'static str,
    reader: &'static str,
    what: &'static str,
    hint: &'static str,
) -> KnownFile {
    file(name, reader, FileUse::OtherWeights(what, hint))
}

const MERGE: FileUse = FileUse::Refused(
    "a LoRA adapter of peft, which is a change of another model's weights",
    "merge it into that model in Python: `AutoPeftModel.from_pretrained(DIR).merge_and_unload()\
     .save_pretrained(NEW)`, and save its tokenizer to NEW; for a model of sentence-transformers, \
     `SentenceTransformer(DIR)[0].auto_model.merge_and_unload()` comes before `save`",
);
const PROCESSOR: FileUse = FileUse::Refused(
    "the settings of a processor of images or sounds",
    "a model of texts alone is read; remove the file if its model is one",
);
const OTHER_FRAMEWORK: &str = "save it in Python by `AutoModel.from_pretrained(DIR).save_pretrained(NEW)` of a release that \
     reads it";
pub(crate) const SERVED: &str = "a server such as llama.cpp, vLLM or text-embeddings-inference serves it, and a table \
     [models.NAME] names the server";
pub(crate) const FROM_STANFORD: &str = "save it in Python by `MultiVectorEncoder(DIR).save_pretrained(NEW)` of \
     sentence-transformers 6; the stage `maxsim` takes that folder";

/// Every file that the libraries read, apart from those below the folders of modules.
pub const FILES: &[KnownFile] = &[
    done("config.json", TRANSFORMERS),
    done("generation_config.json", TRANSFORMERS),
    done("model.safetensors", TRANSFORMERS),
    done("model.safetensors.index.json", TRANSFORMERS),
    done("tokenizer.json", TRANSFORMERS),
    done("tokenizer_config.json", TRANSFORMERS),
    done("special_tokens_map.json", TRANSFORMERS),
    done("added_tokens.json", TRANSFORMERS),
    done("vocab.txt", TRANSFORMERS),
    // Read where there is no tokenizer.json, without which only vocab.txt is read here.
    without_effect("vocab.json", TRANSFORMERS),
    without_effect("merges.txt", TRANSFORMERS),
    without_effect("*.model", TRANSFORMERS),
    without_effect("tekken.json", TRANSFORMERS),
    done("chat_template.jinja", TRANSFORMERS),
    without_effect("*.jinja", TRANSFORMERS),
    done("chat_templates/", TRANSFORMERS),
    without_effect("chat_template.json", TRANSFORMERS),
    without_effect("custom_generate/", TRANSFORMERS),
    file("preprocessor_config.json", TRANSFORMERS, PROCESSOR),
    file("processor_config.json", TRANSFORMERS, PROCESSOR),
    file("video_preprocessor_config.json", TRANSFORMERS, PROCESSOR),
    file("audio_tokenizer_config.json", TRANSFORMERS, PROCESSOR),
    file("adapter_config.json", PEFT, MERGE),
    file("adapter_model.safetensors", PEFT, MERGE),
    file("adapter_model.bin", PEFT, MERGE),
    done("modules.json", SENTENCE_TRANSFORMERS),
    done("config_sentence_transformers.json", SENTENCE_TRANSFORMERS),
    done("sentence_bert_config.json", SENTENCE_TRANSFORMERS),
    done("sentence_roberta_config.json", SENTENCE_TRANSFORMERS),
    done("sentence_distilbert_config.json", SENTENCE_TRANSFORMERS),
    done("sentence_camembert_config.json", SENTENCE_TRANSFORMERS),
    done("sentence_albert_config.json", SENTENCE_TRANSFORMERS),
    done("sentence_xlm-roberta_config.json", SENTENCE_TRANSFORMERS),
    done("sentence_xlnet_config.json", SENTENCE_TRANSFORMERS),
    done("router_config.json", SENTENCE_TRANSFORMERS),
    file(
        "artifact.metadata",
        SENTENCE_TRANSFORMERS,
        FileUse::Refused("the settings of a checkpoint of Stanford's ColBERT", FROM_STANFORD),
    ),
    without_effect("README.md", SENTENCE_TRANSFORMERS),
    other("onnx/", SENTENCE_TRANSFORMERS, "weights for ONNX alone", OTHER_FRAMEWORK),
    other("*.onnx", SENTENCE_TRANSFORMERS, "weights for ONNX alone", OTHER_FRAMEWORK),
    other("openvino/", SENTENCE_TRANSFORMERS, "weights for OpenVINO alone", OTHER_FRAMEWORK),
    other("*.gguf", TRANSFORMERS, "weights in GGUF alone", SERVED),
    other("*.h5", TRANSFORMERS, "weights for TensorFlow alone", OTHER_FRAMEWORK),
    other("*.ckpt.index", TRANSFORMERS, "a checkpoint of TensorFlow alone", OTHER_FRAMEWORK),
    other("*.msgpack", TRANSFORMERS, "weights for Flax alone", OTHER_FRAMEWORK),
    other("pytorch_model.bin", TRANSFORMERS, PICKLED, CONVERT),
    other(
        "pytorch_model.bin.index.json",
        TRANSFORMERS,
        "files of PyTorch, which may run any program when they are read",
        CONVERT,
    ),
];

/// The names of a transformer's settings in sentence-transformers, the usual one first.
pub fn transformer_settings() -> impl Iterator<Item = &'static str> {
    FILES.iter().map(|file| file.name).filter(|name| name.starts_with("sentence_"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    const SOME: Keys = Keys {
        done: &["hidden_size"],
        without_effect: &["use_cache"],
        refused: &[("is_decoder", &["false", "null"], "a decoder's tokens attend to earlier ones")],
        ..Keys::of("some.json")
    };

    #[test]
    fn a_key_is_unknown_if_no_list_has_it() {
        let object = json!({ "use_cache": true, "hidden_size": 4, "shuffles": true, "a": 1 });
        assert_eq!(SOME.unknown(object.as_object().unwrap()), ["shuffles", "a"]);
    }

    #[test]
    fn a_key_has_one_treatment() {
        for keys in page::KEYS {
            let refused = keys.refused().map(|(key, ..)| *key);
            let mut all: Vec<_> = keys.done().chain(keys.without_effect()).chain(refused).collect();
            let count = all.len();
            all.sort_unstable();
            all.dedup();
            assert_eq!(all.len(), count, "{}", keys.file);
        }
    }
}
