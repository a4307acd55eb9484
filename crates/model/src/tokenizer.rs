//! What a `tokenizer.json` may hold: the parts that published models of this family have, in sizes
//! that end no process.
//!
//! The crate `tokenizers` believes such a file: a pattern can make a text a thousand times as long
//! with every step, and a template can name what is not there.

mod precompiled;

use clariq_core::{Result, parse_json, problem};
use clariq_files::{MOST_OF_A_TABLE, Source};
use serde::Deserialize;
use serde::de::{Deserializer, Error, IgnoredAny, MapAccess, SeqAccess, Visitor};
use std::collections::HashMap;
use std::fmt;
use std::path::Path;

/// Bytes of a text that are tokenised. The models with the longest texts read 8,192 tokens, which
/// are a third of that.
pub const MOST_OF_A_TEXT: usize = 128 << 10;
/// JSON values that a file may have. A vocabulary of 250,000 pieces takes a fifth.
const MOST_VALUES: usize = 4 << 20;
/// Pieces of a vocabulary, and bytes of all of them.
const MOST_PIECES: usize = 1 << 19;
const MOST_OF_PIECES: usize = 4 << 20;
/// Steps of a normaliser or a pre-tokenizer; pieces of a template.
const MOST_STEPS: usize = 16;
/// Tokens that are added to the vocabulary.
const MOST_ADDED: usize = 10_000;
/// Bytes of a word of the vocabulary. Those of RoBERTa have up to 256; other trainers know no bound.
const MOST_OF_A_PIECE: usize = 4 << 10;
/// Bytes of an added token, a pattern, a prefix.
const MOST_OF_A_TOKEN: usize = 256;
/// Bytes that all steps together may make of one.
const MOST_TIMES: usize = 400;
/// Bytes that Unicode's compatibility forms and canonical ones make of one (UAX #15).
const COMPATIBILITY_TIMES: usize = 11;
const CANONICAL_TIMES: usize = 3;
/// The regular expressions in published normalisers: several blanks, and what transformers 5 has for
/// DeBERTa-v2.
const BLANKS: [&str; 2] = [" {2,}", r"\s{2,}|[\n\r\t]"];

const HINT: &str = "copy the file again from where the model came from; what tokenizers of BERT, \
                    RoBERTa, XLM-R, ALBERT, DeBERTa and MPNet have is read";

/// Reads a tokenizer's file, `tokenizer.json` or a list of words, for a model with so many words.
/// Whatever a `tokenizer.json` holds beyond what published models have is an error.
pub fn read_tokenizer(path: &Path, vocabulary: i64) -> Result<Vec<u8>> {
    let bytes = Source::Path(path.to_owned()).read_at_most(MOST_OF_A_TABLE)?.bytes.into_owned();
    if path.extension().is_some_and(|extension| extension == "json") {
        check_tokenizer(path, &bytes, vocabulary)?;
    }
    Ok(bytes)
}

/// Checks the content of a `tokenizer.json` for a model with so many words; `at` names the file in
/// messages.
pub fn check_tokenizer(at: &Path, text: &[u8], vocabulary: i64) -> Result<()> {
    let wrong =
        |found: String| problem!(at, "a tokenizer as published models have it", found, HINT);
    let tokenizer: Tokenizer =
        parse_json(text, MOST_VALUES).map_err(|error| wrong(error.to_string()))?;
    tokenizer.check(vocabulary).map_err(|found| wrong(found).into())
}

/// What is wrong, if anything is.
type Checked<T = ()> = Result<T, String>;

#[derive(Deserialize)]
#[expect(clippy::struct_field_names, reason = "they are the file's")]
struct Tokenizer {
    #[serde(default)]
    added_tokens: Vec<Added>,
    normalizer: Option<Normalizer>,
    pre_tokenizer: Option<PreTokenizer>,
    post_processor: Option<PostProcessor>,
    /// It is never used, but read by the library.
    #[expect(dead_code, reason = "its type is checked")]
    decoder: Option<Decoder>,
    model: Model,
}

#[derive(Deserialize)]
struct Added {
    content: String,
}

#[derive(Deserialize)]
#[serde(tag = "type", deny_unknown_fields)]
#[expect(dead_code, reason = "some fields are checked by their types alone")]
#[expect(clippy::enum_variant_names, reason = "they are the file's")]
enum Normalizer {
    BertNormalizer {
        clean_text: bool,
        handle_chinese_chars: bool,
        strip_accents: Option<bool>,
        lowercase: bool,
    },
    #[serde(rename = "NFC")]
    Nfc {},
    #[serde(rename = "NFD")]
    Nfd {},
    #[serde(rename = "NFKC")]
    Nfkc {},
    #[serde(rename = "NFKD")]
    Nfkd {},
    Nmt {},
    Lowercase {},
    StripAccents {},
    Strip {
        strip_left: bool,
        strip_right: bool,
    },
    Prepend {
        prepend: String,
    },
    Replace {
        pattern: Pattern,
        content: String,
    },
    Precompiled {
        precompiled_charsmap: String,
    },
    Sequence {
        normalizers: Vec<Normalizer>,
    },
}

#[derive(Deserialize)]
enum Pattern {
    String(String),
    Regex(String),
}

#[derive(Deserialize)]
#[serde(tag = "type", deny_unknown_fields)]
#[expect(dead_code, reason = "some fields are checked by their types alone")]
#[expect(clippy::enum_variant_names, reason = "they are the file's")]
enum PreTokenizer {
    BertPreTokenizer {},
    ByteLevel {
        add_prefix_space: bool,
        trim_offsets: bool,
        use_regex: Option<bool>,
    },
    Metaspace {
        replacement: char,
        add_prefix_space: Option<bool>,
        prepend_scheme: Option<String>,
        split: Option<bool>,
        str_rep: Option<String>,
    },
    Punctuation {
        behavior: Option<String>,
    },
    Whitespace {},
    WhitespaceSplit {},
    Sequence {
        pretokenizers: Vec<PreTokenizer>,
    },
}

#[derive(Deserialize)]
#[serde(tag = "type", deny_unknown_fields)]
#[expect(dead_code, reason = "some fields are checked by their types alone")]
enum PostProcessor {
    BertProcessing {
        sep: (String, i64),
        cls: (String, i64),
    },
    RobertaProcessing {
        sep: (String, i64),
        cls: (String, i64),
        trim_offsets: bool,
        add_prefix_space: bool,
    },
    ByteLevel {
        add_prefix_space: bool,
        trim_offsets: bool,
        use_regex: Option<bool>,
    },
    TemplateProcessing {
        single: Vec<Piece>,
        pair: Vec<Piece>,
        special_tokens: HashMap<String, Special>,
    },
    Sequence {
        processors: Vec<PostProcessor>,
    },
}

#[derive(Deserialize)]
enum Piece {
    Sequence { id: Text, type_id: u32 },
    SpecialToken { id: String, type_id: u32 },
}

/// One of the two texts.
#[derive(Deserialize, Clone, Copy, PartialEq, Eq)]
enum Text {
    A,
    B,
}

#[derive(Deserialize)]
struct Special {
    ids: Vec<i64>,
    tokens: Vec<String>,
}

#[derive(Deserialize)]
#[serde(tag = "type")]
enum Decoder {
    WordPiece,
    ByteLevel,
    Metaspace,
    #[serde(rename = "BPEDecoder")]
    Bpe,
}

/// A model. Earlier versions of the library did not write its type, and find it by what is there.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Model {
    r#type: Option<ModelType>,
    vocab: Vocabulary,
    merges: Option<Vec<IgnoredAny>>,
    continuing_subword_prefix: Option<String>,
    end_of_word_suffix: Option<String>,
    max_input_chars_per_word: Option<u64>,
    dropout: Option<f64>,
    #[serde(rename = "unk_token")]
    _unk_token: Option<String>,
    #[serde(rename = "unk_id")]
    _unk_id: Option<usize>,
    #[serde(rename = "fuse_unk")]
    _fuse_unk: Option<bool>,
    #[serde(rename = "byte_fallback")]
    _byte_fallback: Option<bool>,
    #[serde(rename = "ignore_merges")]
    _ignore_merges: Option<bool>,
}

#[derive(Deserialize, Clone, Copy, PartialEq, Eq)]
enum ModelType {
    WordPiece,
    #[serde(rename = "BPE")]
    Bpe,
    Unigram,
}

/// The sizes of a vocabulary: words with their ids, or pieces with their scores.
#[derive(Default)]
struct Vocabulary {
    has_scores: bool,
    pieces: usize,
    bytes: usize,
}

impl Tokenizer {
    fn check(&self, vocabulary: i64) -> Checked {
        if self.added_tokens.len() > MOST_ADDED {
            return Err(format!("{} added tokens", self.added_tokens.len()));
        }
        self.added_tokens.iter().try_for_each(|token| check_token(&token.content))?;
        let mut steps = 0;
        let normalised =
            self.normalizer.as_ref().map_or(Ok(1), |normalizer| normalizer.times(&mut steps))?;
        let split = self.pre_tokenizer.as_ref().map_or(Ok(1), |split| split.times(&mut steps))?;
        let times = normalised.saturating_mul(split);
        if times > MOST_TIMES {
            return Err(format!("steps that make {times} bytes of one"));
        }
        if let Some(processor) = &self.post_processor {
            processor.check(vocabulary, true)?;
        }
        self.model.check()
    }
}

fn check_token(text: &str) -> Checked {
    let length = text.len();
    if length > MOST_OF_A_TOKEN { Err(format!("a token of {length} bytes")) } else { Ok(()) }
}

/// Counts a step.
fn count(steps: &mut usize) -> Checked {
    *steps += 1;
    if *steps > MOST_STEPS { Err(format!("more than {MOST_STEPS} steps")) } else { Ok(()) }
}

impl Normalizer {
    /// How many bytes it makes of one at most.
    fn times(&self, steps: &mut usize) -> Checked<usize> {
        count(steps)?;
        Ok(match self {
            Self::Nfkc {} | Self::Nfkd {} => COMPATIBILITY_TIMES,
            Self::BertNormalizer { .. } | Self::Nfc {} | Self::Nfd {} => CANONICAL_TIMES,
            Self::Nmt {} | Self::Lowercase {} | Self::StripAccents {} | Self::Strip { .. } => 1,
            Self::Prepend { prepend } => check_token(prepend).map(|()| 1)?,
            Self::Replace { pattern, content } => {
                let (Pattern::String(found) | Pattern::Regex(found)) = pattern;
                if matches!(pattern, Pattern::Regex(_)) && !BLANKS.contains(&&**found) {
                    return Err("a regular expression that no published model has".to_owned());
                }
                if found.is_empty() {
                    return Err("an empty pattern that is replaced".to_owned());
                }
                check_token(found)?;
                let shortest = match pattern {
                    Pattern::Regex(_) => 1,
                    Pattern::String(_) => found.len(),
                };
                content.len().div_ceil(shortest).max(1)
            }
            Self::Precompiled { precompiled_charsmap } => precompiled::times(precompiled_charsmap)?,
            Self::Sequence { normalizers } => {
                normalizers.iter().try_fold(1_usize, |all, step| {
                    step.times(steps).map(|times| all.saturating_mul(times))
                })?
            }
        })
    }
}

impl PreTokenizer {
    /// How many bytes it makes of one at most.
    fn times(&self, steps: &mut usize) -> Checked<usize> {
        count(steps)?;
        Ok(match self {
            Self::ByteLevel { .. } => 2,
            Self::Metaspace { replacement, .. } => replacement.len_utf8(),
            Self::Sequence { pretokenizers } => {
                pretokenizers.iter().try_fold(1_usize, |all, step| {
                    step.times(steps).map(|times| all.saturating_mul(times))
                })?
            }
            _ => 1,
        })
    }
}

impl PostProcessor {
    fn check(&self, vocabulary: i64, is_whole: bool) -> Checked {
        let known = |id: &i64| {
            let is_known = (0..vocabulary).contains(id);
            if is_known { Ok(()) } else { Err(format!("a mark with the id {id}")) }
        };
        match self {
            Self::BertProcessing { sep, cls } | Self::RobertaProcessing { sep, cls, .. } => {
                known(&sep.1)?;
                known(&cls.1)
            }
            Self::ByteLevel { .. } => Ok(()),
            Self::TemplateProcessing { single, pair, special_tokens } => {
                for Special { ids, tokens } in special_tokens.values() {
                    ids.iter().try_for_each(known)?;
                    if ids.is_empty() || ids.len() > MOST_STEPS || ids.len() != tokens.len() {
                        return Err("a mark without an id for each token".to_owned());
                    }
                }
                check_template(single, &[Text::A], special_tokens)?;
                check_template(pair, &[Text::A, Text::B], special_tokens)
            }
            // One that puts marks around a text is enough.
            Self::Sequence { processors } => {
                let marks = processors.iter().filter(|it| !matches!(it, Self::ByteLevel { .. }));
                if !is_whole || processors.len() > MOST_STEPS || marks.count() > 1 {
                    return Err("several post-processors that put marks around a text".to_owned());
                }
                processors.iter().try_for_each(|it| it.check(vocabulary, false))
            }
        }
    }
}

/// A template has each text once, in order, and marks that are known.
fn check_template(
    template: &[Piece],
    texts: &[Text],
    special_tokens: &HashMap<String, Special>,
) -> Checked {
    let mut found = Vec::new();
    for piece in template {
        let (Piece::Sequence { type_id, .. } | Piece::SpecialToken { type_id, .. }) = piece;
        if *type_id > 1 {
            return Err(format!("a template with the segment {type_id}"));
        }
        match piece {
            Piece::Sequence { id, .. } => found.push(*id),
            Piece::SpecialToken { id, .. } if special_tokens.contains_key(id) => {}
            Piece::SpecialToken { .. } => {
                return Err("a template with a mark that is none of its special_tokens".to_owned());
            }
        }
    }
    if found != texts || template.len() > MOST_STEPS {
        return Err("a template that has not each text once, in order".to_owned());
    }
    Ok(())
}

impl Model {
    fn check(&self) -> Checked {
        let Vocabulary { has_scores, pieces, bytes } = self.vocab;
        let parts = (has_scores, self.merges.is_some(), self.max_input_chars_per_word.is_some());
        let usual = match parts {
            (true, false, false) => ModelType::Unigram,
            (false, true, false) => ModelType::Bpe,
            (false, false, true) => ModelType::WordPiece,
            _ => return Err("a model that is neither WordPiece, BPE nor Unigram".to_owned()),
        };
        if self.r#type.is_some_and(|found| found != usual) {
            return Err("a model without the parts of its type".to_owned());
        }
        let merges = self.merges.as_ref().map_or(0, Vec::len);
        if pieces > MOST_PIECES || bytes > MOST_OF_PIECES || merges > 2 * MOST_PIECES {
            return Err(format!("{pieces} words of {bytes} bytes, and {merges} merges"));
        }
        // The library cuts words behind its length, wherever that is.
        let prefix = self.continuing_subword_prefix.as_ref();
        if usual == ModelType::Bpe && prefix.is_some_and(|prefix| !prefix.is_empty()) {
            return Err("a BPE model with a prefix of continuing_subword_prefix".to_owned());
        }
        let affixes = [&self.continuing_subword_prefix, &self.end_of_word_suffix];
        affixes.into_iter().flatten().try_for_each(|text| check_token(text))?;
        if self.max_input_chars_per_word.is_some_and(|most| most > MOST_OF_A_TOKEN as u64) {
            return Err("words of more than 256 characters".to_owned());
        }
        if self.dropout.is_some_and(|dropout| dropout != 0.0) {
            return Err("a dropout, by which no two runs are alike".to_owned());
        }
        Ok(())
    }
}

impl Vocabulary {
    fn add<E: Error>(&mut self, piece: &str) -> Result<(), E> {
        if piece.len() > MOST_OF_A_PIECE {
            return Err(E::custom(format_args!("a word of {} bytes", piece.len())));
        }
        self.pieces += 1;
        self.bytes += piece.len();
        Ok(())
    }
}

impl<'de> Deserialize<'de> for Vocabulary {
    fn deserialize<D: Deserializer<'de>>(values: D) -> Result<Self, D::Error> {
        struct Sizes;

        impl<'de> Visitor<'de> for Sizes {
            type Value = Vocabulary;

            fn expecting(&self, out: &mut fmt::Formatter) -> fmt::Result {
                out.write_str("words with ids or pieces with scores")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut words: A) -> Result<Vocabulary, A::Error> {
                let mut sizes = Vocabulary::default();
                while let Some((word, _)) = words.next_entry::<String, u32>()? {
                    sizes.add(&word)?;
                }
                Ok(sizes)
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut pieces: A) -> Result<Vocabulary, A::Error> {
                let mut sizes = Vocabulary { has_scores: true, ..Vocabulary::default() };
                while let Some((piece, _)) = pieces.next_element::<(String, f64)>()? {
                    sizes.add(&piece)?;
                }
                Ok(sizes)
            }
        }

        values.deserialize_any(Sizes)
    }
}

#[cfg(test)]
mod tests {
    use super::precompiled::tests::map;
    use super::*;
    use serde_json::{Value, json};

    /// A tokenizer with one part replaced.
    fn with(part: &str, value: Value) -> Value {
        let mut tokenizer = json!({
            "version": "1.0", "truncation": null, "padding": null,
            "added_tokens": [{"id": 0, "content": "[PAD]", "special": true}],
            "normalizer": {"type": "BertNormalizer", "clean_text": true,
                "handle_chinese_chars": true, "strip_accents": null, "lowercase": true},
            "pre_tokenizer": {"type": "BertPreTokenizer"},
            "post_processor": {"type": "BertProcessing", "sep": ["[SEP]", 2], "cls": ["[CLS]", 1]},
            "decoder": {"type": "WordPiece", "prefix": "##", "cleanup": true},
            "model": {"type": "WordPiece", "unk_token": "[UNK]", "continuing_subword_prefix": "##",
                "max_input_chars_per_word": 100,
                "vocab": {"[PAD]": 0, "[CLS]": 1, "[SEP]": 2, "[UNK]": 3}},
        });
        tokenizer[part] = value;
        tokenizer
    }

    fn check(part: &str, value: Value) -> Result<()> {
        check_tokenizer(Path::new("tokenizer.json"), with(part, value).to_string().as_bytes(), 4)
    }

    fn refusal(part: &str, value: &Value) -> String {
        let error = check(part, value.clone()).map_err(|error| error.to_problem()).err();
        let problem = error.unwrap_or_else(|| panic!("{value} is accepted"));
        assert_eq!(problem.at.file, "tokenizer.json");
        problem.found
    }

    fn precompiled(map: &str) -> Value {
        json!({"type": "Precompiled", "precompiled_charsmap": map})
    }

    #[test]
    fn what_published_models_have_is_accepted() {
        let sequence = |normalizers: Value| json!({"type": "Sequence", "normalizers": normalizers});
        let blanks = json!({"type": "Replace", "pattern": {"Regex": " {2,}"}, "content": " "});
        let quotes = json!({"type": "Replace", "pattern": {"String": "``"}, "content": "\""});
        let metaspace = json!({"type": "Metaspace", "replacement": "▁", "add_prefix_space": true,
            "prepend_scheme": "always", "split": true});
        for (part, value) in [
            ("normalizer", Value::Null),
            ("normalizer", json!({"type": "NFC"})),
            // ALBERT's.
            (
                "normalizer",
                sequence(json!([quotes, {"type": "NFKD"}, {"type": "StripAccents"},
                    {"type": "Lowercase"}, precompiled(&map("0123456789a")), blanks])),
            ),
            // DeBERTa's, as it was published and as transformers 5 writes it.
            (
                "normalizer",
                sequence(json!([{"type": "Replace", "pattern": {"Regex": "\\s{2,}|[\\n\\r\\t]"},
                    "content": " "}, {"type": "NFC"},
                    {"type": "Strip", "strip_left": false, "strip_right": true}])),
            ),
            (
                "normalizer",
                sequence(json!([{"type": "Strip", "strip_left": true, "strip_right": true},
                    precompiled(&map("b")), blanks])),
            ),
            ("pre_tokenizer", metaspace.clone()),
            (
                "pre_tokenizer",
                json!({"type": "Sequence", "pretokenizers": [{"type": "WhitespaceSplit"}, metaspace]}),
            ),
            (
                "pre_tokenizer",
                json!({"type": "ByteLevel", "add_prefix_space": false, "trim_offsets": true}),
            ),
            (
                "post_processor",
                json!({"type": "RobertaProcessing", "sep": ["</s>", 2], "cls": ["<s>", 0],
                    "trim_offsets": true, "add_prefix_space": false}),
            ),
            (
                "post_processor",
                json!({"type": "TemplateProcessing",
                    "single": [{"SpecialToken": {"id": "<s>", "type_id": 0}},
                        {"Sequence": {"id": "A", "type_id": 0}}],
                    "pair": [{"Sequence": {"id": "A", "type_id": 0}},
                        {"Sequence": {"id": "B", "type_id": 1}}],
                    "special_tokens": {"<s>": {"id": "<s>", "ids": [0], "tokens": ["<s>"]}}}),
            ),
            (
                "model",
                json!({"dropout": null, "unk_token": null, "continuing_subword_prefix": "",
                    "end_of_word_suffix": "", "fuse_unk": false, "vocab": {"a": 0, "b": 1, "ab": 2},
                    "merges": ["a b"]}),
            ),
            ("model", json!({"type": "BPE", "vocab": {"a": 0}, "merges": [["a", "a"]]})),
            ("model", json!({"unk_id": 0, "vocab": [["<unk>", 0.0], ["▁a", -1.5]]})),
        ] {
            check(part, value.clone()).unwrap_or_else(|error| panic!("{value}: {error}"));
        }
    }

    #[test]
    fn a_tokenizer_that_ends_its_library_is_refused() {
        let replace = |from: &str, to: &str| json!({"type": "Replace", "pattern": {"String": from}, "content": to});
        let template = |single: Value| json!({"type": "TemplateProcessing", "single": single, "pair": [], "special_tokens": {}});
        let text_b = json!([{"Sequence": {"id": "B", "type_id": 0}}]);
        let ten = vec![replace("a", "aaaaaaaaaa"); 10];
        for (part, value, found) in [
            ("normalizer", json!({"type": "Sequence", "normalizers": ten}), "steps that make"),
            ("normalizer", replace("", "a"), "an empty pattern"),
            ("normalizer", replace("a", &"a".repeat(1000)), "steps that make"),
            (
                "normalizer",
                json!({"type": "Prepend", "prepend": "a".repeat(1 << 20)}),
                "a token of",
            ),
            (
                "normalizer",
                json!({"type": "Replace", "pattern": {"Regex": "(a+)+b"}, "content": ""}),
                "a regular expression",
            ),
            ("normalizer", precompiled(""), "a precompiled map"),
            ("normalizer", precompiled("AAAA"), "a precompiled map"),
            ("normalizer", precompiled("?"), "a precompiled map"),
            ("normalizer", precompiled(&map(&"b".repeat(500))), "steps that make"),
            (
                "normalizer",
                json!({"strip_left": true, "strip_right": true}),
                "missing field `type`",
            ),
            ("pre_tokenizer", json!({"type": "FixedLength", "length": 0}), "unknown variant"),
            (
                "pre_tokenizer",
                json!({"type": "Split", "pattern": {"Regex": "(a+)+b"}, "behavior": "Isolated",
                    "invert": false}),
                "unknown variant",
            ),
            ("post_processor", template(text_b.clone()), "a template that has not"),
            (
                "post_processor",
                json!({"type": "ByteLevel", "single": text_b, "pair": [], "special_tokens": {}}),
                "unknown field",
            ),
            (
                "post_processor",
                template(json!([{"SpecialToken": {"id": "x", "type_id": 0}}])),
                "a template with a mark",
            ),
            (
                "post_processor",
                json!({"type": "BertProcessing", "sep": ["[SEP]", 4], "cls": ["[CLS]", 1]}),
                "a mark with the id 4",
            ),
            ("decoder", json!({"type": "CTC"}), "unknown variant"),
            (
                "model",
                json!({"type": "WordLevel", "vocab": {"a": 0}, "unk_token": "a"}),
                "unknown variant",
            ),
            ("model", json!({"vocab": {"a": 0}, "unk_token": "a"}), "a model that"),
            (
                "model",
                json!({"type": "Unigram", "vocab": {"a": 0}, "merges": []}),
                "a model without",
            ),
            ("model", json!({"vocab": {"a": 0}, "merges": [], "dropout": 0.5}), "a dropout"),
            (
                "model",
                json!({"vocab": {"a": 0}, "merges": ["a a"], "continuing_subword_prefix": "##"}),
                "a BPE model with a prefix",
            ),
            (
                "model",
                json!({"vocab": {"a": 0}, "max_input_chars_per_word": 1_000_000_000}),
                "words of more",
            ),
            ("added_tokens", json!([{"content": "a".repeat(300)}]), "a token of"),
        ] {
            let shown = refusal(part, &value);
            assert!(shown.contains(found), "{value}: {shown}");
        }
        let many = format!("{{\"model\": [{}0]}}", "0,".repeat(MOST_VALUES));
        assert!(check_tokenizer(Path::new("x"), many.as_bytes(), 4).is_err());
    }
}
