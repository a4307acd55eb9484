//! What a `tokenizer.json` may hold: the parts that published models of this family have, in sizes
//! that end no process.
//!
//! The crate `tokenizers` believes such a file: a pattern can make a text a thousand times as long
//! with every step, and a template can name what is not there.

mod precompiled;

use crate::files::Keys;
use clariq_core::{Error, Result, problem};
use clariq_files::{MOST_OF_A_TABLE, Source};
use serde::Deserialize;
use serde::de::{Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Value};
use std::collections::HashMap;
use std::fmt;
use std::path::Path;

/// Bytes of a text that are tokenised. The models with the longest texts read 8,192 tokens, which
/// are a third of that.
pub const MOST_OF_A_TEXT: usize = 128 << 10;
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
    let wrong = |found: String| wrong(at, found);
    let Tokenizer { added_tokens, normalizer, pre_tokenizer, post_processor, decoder, model } =
        serde_json::from_slice(text).map_err(|error| wrong(error.to_string()))?;
    if added_tokens.len() > MOST_ADDED {
        return Err(wrong(format!("{} added tokens", added_tokens.len())));
    }
    added_tokens.iter().try_for_each(|token| check_token(&token.content)).map_err(wrong)?;
    let keys = |part: Part| Keys::new(at, HINT, part);
    let mut steps = 0;
    let mut times =
        normalizer.map_or(Ok(1), |part| times_of_normalizer(&keys(part), &mut steps))?;
    if let Some(part) = pre_tokenizer {
        times = times.saturating_mul(times_of_pre_tokenizer(&keys(part), &mut steps)?);
    }
    if times > MOST_TIMES {
        return Err(wrong(format!("steps that make {times} bytes of one")));
    }
    if let Some(part) = post_processor {
        check_post_processor(&keys(part), vocabulary, true)?;
    }
    // It is never used, but read by the library.
    if let Some(part) = decoder {
        let keys = keys(part);
        let known = ["WordPiece", "ByteLevel", "Metaspace", "BPEDecoder"];
        if !known.contains(&&*keys.need::<String>("type")?) {
            return Err(unknown(&keys));
        }
    }
    model.check().map_err(wrong)
}

fn wrong(at: &Path, found: String) -> Error {
    problem!(at, "a tokenizer as published models have it", found, HINT).into()
}

/// A part of a type that no published model has.
fn unknown(keys: &Keys) -> Error {
    keys.wrong("type", "of a part that published models have").into()
}

/// What is wrong, if anything is.
type Checked<T = ()> = Result<T, String>;

/// A step or another part, by its keys, one of which is its `type`.
type Part = Map<String, Value>;

#[derive(Deserialize)]
#[expect(clippy::struct_field_names, reason = "they are the file's")]
struct Tokenizer {
    #[serde(default)]
    added_tokens: Vec<Added>,
    normalizer: Option<Part>,
    pre_tokenizer: Option<Part>,
    post_processor: Option<Part>,
    decoder: Option<Part>,
    model: Model,
}

#[derive(Deserialize)]
struct Added {
    content: String,
}

#[derive(Deserialize)]
enum Pattern {
    String(String),
    Regex(String),
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

fn check_token(text: &str) -> Checked {
    let length = text.len();
    if length > MOST_OF_A_TOKEN { Err(format!("a token of {length} bytes")) } else { Ok(()) }
}

/// The type of one more step.
fn next_step(keys: &Keys, steps: &mut usize) -> Result<String> {
    *steps += 1;
    if *steps > MOST_STEPS {
        return Err(wrong(keys.at, format!("more than {MOST_STEPS} steps")));
    }
    keys.need("type")
}

/// How many bytes all steps of a sequence make of one.
fn times_of_all(
    keys: &Keys,
    key: &str,
    mut times: impl FnMut(&Keys) -> Result<usize>,
) -> Result<usize> {
    let steps = keys.need::<Vec<Part>>(key)?.into_iter();
    let mut steps = steps.map(|step| times(&Keys::new(keys.at, HINT, step)));
    steps.try_fold(1_usize, |all, times| Ok(all.saturating_mul(times?)))
}

/// How many bytes a normaliser makes of one at most.
fn times_of_normalizer(keys: &Keys, steps: &mut usize) -> Result<usize> {
    let wrong = |found: String| wrong(keys.at, found);
    let times = match &*next_step(keys, steps)? {
        "BertNormalizer" => {
            keys.need_flags(&["clean_text", "handle_chinese_chars", "lowercase"])?;
            keys.get_or_null::<bool>("strip_accents")?;
            CANONICAL_TIMES
        }
        "NFC" | "NFD" => CANONICAL_TIMES,
        "NFKC" | "NFKD" => COMPATIBILITY_TIMES,
        "Nmt" | "Lowercase" | "StripAccents" => 1,
        "Strip" => keys.need_flags(&["strip_left", "strip_right"]).map(|()| 1)?,
        "Prepend" => {
            check_token(&keys.need::<String>("prepend")?).map_err(wrong)?;
            1
        }
        "Replace" => {
            let content: String = keys.need("content")?;
            times_of_replacing(&keys.need("pattern")?, &content).map_err(wrong)?
        }
        "Precompiled" => {
            let map: String = keys.need("precompiled_charsmap")?;
            precompiled::times(&map).map_err(wrong)?
        }
        "Sequence" => times_of_all(keys, "normalizers", |step| times_of_normalizer(step, steps))?,
        _ => return Err(unknown(keys)),
    };
    keys.no_others(&[], HINT)?;
    Ok(times)
}

fn times_of_replacing(pattern: &Pattern, content: &str) -> Checked<usize> {
    let shortest = match pattern {
        Pattern::Regex(found) if BLANKS.contains(&&**found) => 1,
        Pattern::Regex(_) => {
            return Err("a regular expression that no published model has".to_owned());
        }
        Pattern::String(found) if found.is_empty() => {
            return Err("an empty pattern that is replaced".to_owned());
        }
        Pattern::String(found) => check_token(found).map(|()| found.len())?,
    };
    Ok(content.len().div_ceil(shortest).max(1))
}

/// How many bytes a pre-tokenizer makes of one at most.
fn times_of_pre_tokenizer(keys: &Keys, steps: &mut usize) -> Result<usize> {
    let times = match &*next_step(keys, steps)? {
        "BertPreTokenizer" | "Whitespace" | "WhitespaceSplit" => 1,
        "ByteLevel" => byte_level(keys).map(|()| 2)?,
        "Metaspace" => {
            for key in ["add_prefix_space", "split"] {
                keys.get_or_null::<bool>(key)?;
            }
            for key in ["prepend_scheme", "str_rep"] {
                keys.get_or_null::<String>(key)?;
            }
            keys.need::<char>("replacement")?.len_utf8()
        }
        "Punctuation" => keys.get_or_null::<String>("behavior").map(|_| 1)?,
        "Sequence" => {
            times_of_all(keys, "pretokenizers", |step| times_of_pre_tokenizer(step, steps))?
        }
        _ => return Err(unknown(keys)),
    };
    keys.no_others(&[], HINT)?;
    Ok(times)
}

/// What GPT-2's steps say of blanks and offsets.
fn byte_level(keys: &Keys) -> Result<()> {
    keys.get_or_null::<bool>("use_regex")?;
    keys.need_flags(&["add_prefix_space", "trim_offsets"])
}

fn check_post_processor(keys: &Keys, vocabulary: i64, is_whole: bool) -> Result<()> {
    let wrong = |found: String| wrong(keys.at, found);
    let known = |id: &i64| {
        let is_known = (0..vocabulary).contains(id);
        if is_known { Ok(()) } else { Err(format!("a mark with the id {id}")) }
    };
    match &*keys.need::<String>("type")? {
        kind @ ("BertProcessing" | "RobertaProcessing") => {
            for key in ["sep", "cls"] {
                known(&keys.need::<(String, i64)>(key)?.1).map_err(wrong)?;
            }
            if kind == "RobertaProcessing" {
                keys.need_flags(&["trim_offsets", "add_prefix_space"])?;
            }
        }
        "ByteLevel" => byte_level(keys)?,
        "TemplateProcessing" => {
            let special_tokens: HashMap<String, Special> = keys.need("special_tokens")?;
            for Special { ids, tokens } in special_tokens.values() {
                ids.iter().try_for_each(known).map_err(wrong)?;
                if ids.is_empty() || ids.len() > MOST_STEPS || ids.len() != tokens.len() {
                    return Err(wrong("a mark without an id for each token".to_owned()));
                }
            }
            for (key, texts) in [("single", &[Text::A][..]), ("pair", &[Text::A, Text::B])] {
                check_template(&keys.need::<Vec<Piece>>(key)?, texts, &special_tokens)
                    .map_err(wrong)?;
            }
        }
        // One that puts marks around a text is enough.
        "Sequence" => {
            let all: Vec<Part> = keys.need("processors")?;
            let marks =
                all.iter().filter(|part| part.get("type").is_none_or(|kind| kind != "ByteLevel"));
            if !is_whole || all.len() > MOST_STEPS || marks.count() > 1 {
                let found = "several post-processors that put marks around a text";
                return Err(wrong(found.to_owned()));
            }
            for part in all {
                check_post_processor(&Keys::new(keys.at, HINT, part), vocabulary, false)?;
            }
        }
        _ => return Err(unknown(keys)),
    }
    keys.no_others(&[], HINT)
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
    fn add<E: serde::de::Error>(&mut self, piece: &str) -> Result<(), E> {
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
    use serde_json::json;

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
        format!("{}, found {}", problem.expected, problem.found)
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
                "type in the file, found `none`",
            ),
            ("pre_tokenizer", json!({"type": "FixedLength", "length": 0}), "type of a part that"),
            (
                "pre_tokenizer",
                json!({"type": "Split", "pattern": {"Regex": "(a+)+b"}, "behavior": "Isolated",
                    "invert": false}),
                "type of a part that",
            ),
            ("post_processor", template(text_b.clone()), "a template that has not"),
            (
                "post_processor",
                json!({"type": "ByteLevel", "add_prefix_space": true, "trim_offsets": true,
                    "single": text_b}),
                "keys that are known, found `single`",
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
            ("decoder", json!({"type": "CTC"}), "type of a part that"),
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
    }
}
