//! Tokenizers that Hugging Face's library makes anew. For most classes it takes the words of
//! `tokenizer.json` alone, and the rest from the class and the settings
//! (`convert_to_native_format` and `models/*/tokenization_*.py` of transformers 5.24).

use crate::files::Object;
use crate::settings::TokenizerConfig;
use crate::tokenizer_class::TokenizerClass;
use crate::tokenizer_class::TokenizerClass::{
    Albert, Bert, Camembert, Deberta, DebertaV2, DistilBert, File, Gemma, Mpnet, Qwen2, Roberta,
    XlmRoberta,
};
use serde_json::{Value, json};
use tokenizers::Tokenizer;
use tokenizers::processors::template::TemplateProcessing;

/// The pieces of words before which Qwen2's tokenizer cuts a text.
const WORDS_OF_QWEN: &str = r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+";

/// A `tokenizer.json` with the class's own parts in place of those of the file.
pub(crate) fn rebuild(mut file: Object, config: &TokenizerConfig) -> Value {
    let parts = model(&file, config);
    if let (Some(Value::Object(model)), Some(Value::Object(parts))) = (file.get_mut("model"), parts)
    {
        model.extend(parts);
        model.entry("merges").or_insert_with(|| json!([]));
    }
    if let Some((normalizer, words)) = normalizer_and_words(&file, config) {
        file.insert("normalizer".to_owned(), normalizer);
        file.insert("pre_tokenizer".to_owned(), words);
    }
    if config.class != Albert && marks(config.class).is_some() {
        file.remove("post_processor");
    }
    Value::Object(file)
}

/// The parts of the model beside its words.
fn model(file: &Object, config: &TokenizerConfig) -> Option<Value> {
    let unknown = config.special("unk_token");
    let bpe = |unknown: Option<&str>, is_fallback: bool| {
        let affix = if is_fallback { Value::Null } else { json!("") };
        json!({
            "type": "BPE", "dropout": null, "unk_token": unknown, "fuse_unk": is_fallback,
            "continuing_subword_prefix": affix, "end_of_word_suffix": affix,
            "byte_fallback": is_fallback, "ignore_merges": false,
        })
    };
    let unigram =
        |unk_id: usize| json!({ "type": "Unigram", "unk_id": unk_id, "byte_fallback": false });
    let pieces = || file.get("model")?.get("vocab")?.as_array();
    let position = |is_wanted: &dyn Fn(&Value) -> bool| {
        pieces().and_then(|pieces| pieces.iter().position(is_wanted))
    };
    Some(match config.class {
        File => return None,
        Bert | DistilBert | Mpnet => json!({
            "type": "WordPiece", "unk_token": unknown, "continuing_subword_prefix": "##",
            "max_input_chars_per_word": 100,
        }),
        Roberta | Deberta | Qwen2 => bpe(None, false),
        Gemma => bpe(unknown, true),
        XlmRoberta => unigram(3),
        Albert => unigram(1),
        Camembert => unigram(position(&|piece| piece[0].as_str() == unknown).unwrap_or(0)),
        DebertaV2 => {
            let without_score =
                |piece: &Value| piece[0].as_str() == unknown && piece[1].as_f64() == Some(0.0);
            unigram(position(&without_score).or(config.unk_id).unwrap_or(1))
        }
    })
}

fn normalizer_and_words(file: &Object, config: &TokenizerConfig) -> Option<(Value, Value)> {
    let normalizers = |steps: Vec<Value>| json!({ "type": "Sequence", "normalizers": steps });
    let words = |steps: Value| json!({ "type": "Sequence", "pretokenizers": steps });
    let of = |kind: &str| json!({ "type": kind });
    let lower_case = |usual: bool| config.do_lower_case.unwrap_or(usual).then(|| of("Lowercase"));
    let replace = |pattern: Value, content: &str| json!({ "type": "Replace", "pattern": pattern, "content": content });
    let bytes = |is_whole: bool| {
        json!({
            "type": "ByteLevel", "add_prefix_space": config.add_prefix_space.unwrap_or(false),
            "trim_offsets": true, "use_regex": is_whole,
        })
    };
    let blanks = |otherwise: &str| {
        let scheme = if config.add_prefix_space.unwrap_or(true) { "always" } else { otherwise };
        json!({ "type": "Metaspace", "replacement": "▁", "prepend_scheme": scheme, "split": true })
    };
    let split = |pattern: Value, behavior: &str| json!({ "type": "Split", "pattern": pattern, "behavior": behavior, "invert": false });
    Some(match config.class {
        File => return None,
        Bert | DistilBert | Mpnet => {
            let normalizer = json!({
                "type": "BertNormalizer", "clean_text": true,
                "handle_chinese_chars": config.tokenize_chinese_chars.unwrap_or(true),
                "strip_accents": config.strip_accents,
                "lowercase": config.do_lower_case.unwrap_or(true),
            });
            (normalizer, of("BertPreTokenizer"))
        }
        Roberta | Deberta => (Value::Null, bytes(true)),
        XlmRoberta | Camembert => {
            let normalizer = precompiled(file).cloned().unwrap_or_default();
            (normalizer, words(json!([of("WhitespaceSplit"), blanks("never")])))
        }
        Albert => {
            let quote = |pattern: &str| replace(json!({ "String": pattern }), "\"");
            let mut steps = vec![quote("``"), quote("''")];
            if !config.keep_accents {
                steps.extend(["NFKD", "StripAccents"].map(of));
            }
            steps.extend(lower_case(true));
            steps.extend(precompiled(file).cloned());
            (normalizers(steps), words(json!([of("WhitespaceSplit"), blanks("never")])))
        }
        DebertaV2 => {
            let mut steps: Vec<Value> = lower_case(false).into_iter().collect();
            steps.push(replace(json!({ "Regex": r"\s{2,}|[\n\r\t]" }), " "));
            steps.push(of("NFC"));
            steps.push(json!({ "type": "Strip", "strip_left": false, "strip_right": true }));
            let mark = json!({ "type": "Punctuation", "behavior": "Isolated" });
            let mut parts: Vec<Value> = config.split_by_punct.then_some(mark).into_iter().collect();
            parts.push(blanks("first"));
            (normalizers(steps), words(parts.into()))
        }
        Qwen2 => {
            let parts = [split(json!({ "Regex": WORDS_OF_QWEN }), "Isolated"), bytes(false)];
            (of("NFC"), words(json!(parts)))
        }
        Gemma => {
            let blank = json!({ "String": " " });
            (replace(blank.clone(), "▁"), split(blank, "MergedWithPrevious"))
        }
    })
}

/// The keys of the tokens around a text, and true if they number the texts of a pair; `None` if the
/// file's own are put.
fn marks(class: TokenizerClass) -> Option<(&'static str, &'static str, bool)> {
    match class {
        File | Qwen2 | Gemma => None,
        Bert | DistilBert | Albert | DebertaV2 => Some(("cls_token", "sep_token", true)),
        Mpnet | Roberta | Deberta => Some(("cls_token", "sep_token", false)),
        XlmRoberta | Camembert => Some(("bos_token", "eos_token", false)),
    }
}

/// Puts the class's marks around texts, those that the settings name, where the file has none that are kept.
pub(crate) fn put_marks(
    tokenizer: &mut Tokenizer,
    config: &TokenizerConfig,
) -> tokenizers::Result<()> {
    let marks = marks(config.class).filter(|_| tokenizer.get_post_processor().is_none());
    let Some((first, last, is_numbered)) = marks else { return Ok(()) };
    let mark = |key: &str| config.special(key).ok_or_else(|| format!("no {key}"));
    let first = mark(first)?;
    let last = mark(last)?;
    let mut marks = Vec::new();
    for token in [first, last] {
        let id = tokenizer.token_to_id(token).ok_or_else(|| format!("no word `{token}`"))?;
        marks.push((token.to_owned(), id));
    }
    let piece = |token: &str, text: u8| format!("{token}:{}", u8::from(is_numbered) * text);
    let single = vec![piece(first, 0), piece("$A", 0), piece(last, 0)];
    let mut pair = single.clone();
    if !is_numbered {
        pair.push(piece(last, 0));
    }
    pair.extend([piece("$B", 1), piece(last, 1)]);
    let template = TemplateProcessing::builder()
        .try_single(single)?
        .try_pair(pair)?
        .special_tokens(marks)
        .build()?;
    tokenizer.with_post_processor(Some(template));
    Ok(())
}

/// The table of characters of a `tokenizer.json`, which the library keeps.
fn precompiled(file: &Object) -> Option<&Value> {
    let normalizer = file.get("normalizer")?;
    let steps = normalizer.get("normalizers").and_then(Value::as_array);
    let mut steps = steps.map_or(std::slice::from_ref(normalizer), Vec::as_slice).iter();
    steps.find(|step| step["type"] == "Precompiled")
}
