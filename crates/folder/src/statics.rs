//! Tables of vectors: a text's vector is the mean of its tokens' vectors. They need no network.
//!
//! The folders are those of sentence-transformers with `StaticEmbedding` as the first module, and those
//! that model2vec writes.

use crate::files::{COPY_AGAIN, DOCUMENTED, OTHER_MODELS, WEIGHTS, missing, weights_in};
use crate::guard;
use crate::modules::{Module, Modules};
use crate::recognise::{check, header_of, not_finite};
use crate::sentence::Sentence;
use crate::table::STATIC_EMBEDDING;
use crate::tokens::check_vocabulary;
use clariq_core::{
    Checksum, CutTexts, Embeddings, Encoder, ModelOptions, Progress, Result, Similarity, bail,
    problem, read_regular,
};
use clariq_files::MOST_OF_A_TABLE;
use half::{bf16, f16};
use rayon::prelude::*;
use safetensors::tensor::TensorView;
use safetensors::{Dtype, SafeTensors};
use serde::Deserialize;
use std::path::{Path, PathBuf};
use tokenizers::{Tokenizer, TruncationParams};

/// The tensor of model2vec.
const EMBEDDINGS: &str = "embeddings";

/// The version of the arithmetic. It is raised when the last bits of vectors change.
const ARITHMETIC: u32 = 1;

/// True if the model in a folder is a table of vectors.
pub fn is_static(root: &Path) -> bool {
    layout_of(root).is_some()
}

/// The two layouts of tables, which differ in what becomes of a text.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Layout {
    /// `StaticEmbedding` in this folder: the tokenizer's file says where a text is cut.
    SentenceTransformers(PathBuf),
    /// A folder without `modules.json`: unknown words do not count, and `config.json` says where a text
    /// is cut (`StaticModel.encode` of model2vec 0.10).
    Model2Vec,
}

fn layout_of(root: &Path) -> Option<Layout> {
    match Modules::read(root).ok()? {
        Some(modules) if modules.first_class() == Some("StaticEmbedding") => {
            Some(Layout::SentenceTransformers(root.join(&modules.entries[0].path)))
        }
        Some(_) => None,
        None => {
            let header = header_of(&root.join(WEIGHTS)).ok()?;
            header.contains_key(EMBEDDINGS).then_some(Layout::Model2Vec)
        }
    }
}

/// The folder of a table of vectors.
#[derive(Debug, Clone)]
pub struct StaticFolder {
    tokenizer: PathBuf,
    weights: PathBuf,
    sentence: Sentence,
    /// How a text is cut, in a folder of model2vec.
    cut: Option<Model2VecConfig>,
    /// Digest over everything that vectors depend on.
    pub checksum: Checksum,
}

/// `config.json` of model2vec.
#[derive(Debug, Clone, Deserialize)]
struct Model2VecConfig {
    #[serde(default)]
    normalize: bool,
    /// The longest text in tokens; `null` for no limit.
    #[serde(default = "usual_length")]
    max_length: Option<usize>,
}

#[expect(clippy::unnecessary_wraps, reason = "the key may be null")]
fn usual_length() -> Option<usize> {
    Some(512)
}

impl StaticFolder {
    /// Reads the settings, and takes the checksum of all files.
    pub fn open(root: &Path) -> Result<Self> {
        check(root)?;
        let Some(layout) = layout_of(root) else {
            let expected = "a table of vectors: StaticEmbedding, or a folder of model2vec";
            bail!(root, expected, "another model", DOCUMENTED);
        };
        let path: &Path = match &layout {
            Layout::SentenceTransformers(path) => path,
            Layout::Model2Vec => root,
        };
        let tokenizer = path.join("tokenizer.json");
        if !tokenizer.is_file() {
            return Err(missing(&tokenizer, "the tokenizer of a table").into());
        }
        let weights = weights_in(path)?;
        let dim = VectorTable::read(&weights)?.dim;
        let (sentence, cut) = match layout {
            Layout::SentenceTransformers(_) => (Sentence::read_after_table(root, dim)?, None),
            Layout::Model2Vec => {
                let config =
                    STATIC_EMBEDDING.read_file::<Model2VecConfig>(&root.join("config.json"))?;
                let Some(config) = config else {
                    return Err(missing(&root.join("config.json"), "that of model2vec").into());
                };
                let modules = vec![Module::Normalize; usize::from(config.normalize)];
                (Sentence { modules, ..Sentence::usual(dim) }, Some(config))
            }
        };
        let files = [Checksum::of_file(&tokenizer)?, Checksum::of_file(&weights)?];
        let digest = format!("static {ARITHMETIC} {files:?} {} {cut:?}", sentence.digest());
        let checksum = Checksum::of(digest.as_bytes());
        Ok(Self { tokenizer, weights, sentence, cut, checksum })
    }

    /// A description: what becomes of a text.
    pub fn describe(&self) -> String {
        let Sentence { dim, similarity, .. } = &self.sentence;
        let similarity = format!("{similarity:?}").to_lowercase();
        let prompts = self.sentence.prompts.describe();
        format!("a table of vectors, Mean, {dim} dimensions, {similarity}{prompts}")
    }
}

/// An encoder that looks up the vectors of tokens.
pub struct StaticEncoder {
    tokenizer: Tokenizer,
    /// The file of the tokenizer, for messages.
    path: PathBuf,
    /// The longest text in characters.
    most_characters: usize,
    /// The word that does not count.
    unknown: Option<u32>,
    table: VectorTable,
    sentence: Sentence,
    checksum: Checksum,
}

impl StaticEncoder {
    /// Reads a table.
    pub fn open(root: &Path, options: &ModelOptions) -> Result<Self> {
        let folder = StaticFolder::open(root)?;
        let reading = &options.reading;
        if reading.pooling.is_some() || reading.max_tokens.is_some() {
            let hint = "a table has the mean of all tokens alone";
            bail!(root, "no `pooling` and no `max_tokens`", "one of them", hint);
        }
        let sentence = folder.sentence.with_overrides(root, reading)?;
        let path = folder.tokenizer;
        let mut tokenizer = guard::read(&path)?;
        tokenizer.with_padding(None);
        let table = VectorTable::read(&folder.weights)?;
        check_vocabulary(&path, &tokenizer, i64::try_from(table.rows()).unwrap_or(i64::MAX))?;
        let mut most_characters = usize::MAX;
        let mut unknown = None;
        if let Some(config) = folder.cut {
            let length = config.max_length;
            let cut =
                length.map(|max_length| TruncationParams { max_length, ..Default::default() });
            guard::call(&path, || tokenizer.with_truncation(cut).map(|_| ()))?;
            most_characters = length
                .map_or(usize::MAX, |length| length.saturating_mul(median_length(&tokenizer)));
            unknown = unknown_word(&tokenizer);
        }
        let digest = format!("{} {}", folder.checksum, sentence.digest());
        let checksum = Checksum::of(digest.as_bytes());
        Ok(Self { tokenizer, path, most_characters, unknown, table, sentence, checksum })
    }

    /// The vectors of texts with a prompt before each.
    fn vectors(&self, texts: &[&str], prompt: &str, progress: Progress) -> Result<Embeddings> {
        let vector = |text: &&str| {
            let text: String =
                prompt.chars().chain(text.chars()).take(self.most_characters).collect();
            let encode = || self.tokenizer.encode(text, false);
            let tokens = guard::call(&self.path, encode)?;
            let known = tokens.get_ids().iter().copied().filter(|id| Some(*id) != self.unknown);
            Ok(self.vector(&known.collect::<Vec<_>>()))
        };
        let rows = texts.par_iter().map(vector).collect::<Result<Vec<_>>>()?;
        progress(texts.len() as u64);
        Ok(Embeddings { dim: self.sentence.dim, values: rows.concat() })
    }

    /// The mean of tokens; zeros without tokens.
    fn vector(&self, ids: &[u32]) -> Vec<f32> {
        let mut sum = vec![0.0_f64; self.table.dim];
        for &id in ids {
            for (sum, value) in sum.iter_mut().zip(self.table.row(id as usize)) {
                *sum += f64::from(*value);
            }
        }
        let count = ids.len().max(1) as f64;
        let mut vector: Vec<f32> = sum.iter().map(|sum| (sum / count) as f32).collect();
        if !self.sentence.modules.is_empty() {
            normalize(&mut vector);
        }
        vector.truncate(self.sentence.dim);
        if self.sentence.similarity == Similarity::Cosine {
            normalize(&mut vector);
        }
        vector
    }
}

/// The median of the lengths of all words, in characters, as numpy has it.
fn median_length(tokenizer: &Tokenizer) -> usize {
    let words = tokenizer.get_vocab(true);
    let mut lengths: Vec<usize> = words.keys().map(|word| word.chars().count()).collect();
    lengths.sort_unstable();
    let middle = lengths.len() / 2;
    match lengths.len() {
        0 => 0,
        count if count % 2 == 1 => lengths[middle],
        _ => usize::midpoint(lengths[middle - 1], lengths[middle]),
    }
}

/// The number of the word that stands for unknown ones.
fn unknown_word(tokenizer: &Tokenizer) -> Option<u32> {
    let model = serde_json::to_value(tokenizer.get_model()).ok()?;
    match model.get("unk_token") {
        Some(token) => tokenizer.token_to_id(token.as_str()?),
        None => u32::try_from(model.get("unk_id")?.as_u64()?).ok(),
    }
}

/// Scales to length 1; zeros remain.
fn normalize(vector: &mut [f32]) {
    let square: f64 = vector.iter().map(|value| f64::from(*value).powi(2)).sum();
    let length = square.sqrt().max(1e-12);
    for value in vector {
        *value = (f64::from(*value) / length) as f32;
    }
}

impl Encoder for StaticEncoder {
    fn encode(&self, texts: &[&str], progress: Progress) -> Result<Embeddings> {
        self.vectors(texts, &self.sentence.prompts.query, progress)
    }

    fn encode_documents(&self, texts: &[&str], progress: Progress) -> Result<Embeddings> {
        self.vectors(texts, &self.sentence.prompts.document, progress)
    }

    fn encode_documents_alone(&self, texts: &[&str], progress: Progress) -> Result<Embeddings> {
        self.encode_documents(texts, progress)
    }

    fn similarity(&self) -> Similarity {
        self.sentence.similarity
    }

    /// A table has no longest text that it could not read.
    fn cut(&self) -> CutTexts {
        CutTexts::default()
    }

    fn checksum(&self) -> &Checksum {
        &self.checksum
    }
}

/// A vector for each token.
struct VectorTable {
    dim: usize,
    values: Vec<f32>,
}

impl VectorTable {
    /// Reads `embedding.weight`, or model2vec's `embeddings` with its `mapping` of tokens to rows and its
    /// `weights` of tokens, where it has these.
    fn read(file: &Path) -> Result<Self> {
        let unreadable =
            |error: String| problem!(file, "weights that can be read", error, COPY_AGAIN);
        let bytes =
            read_regular(file, MOST_OF_A_TABLE).map_err(|error| unreadable(error.to_string()))?;
        let tensors =
            SafeTensors::deserialize(&bytes).map_err(|error| unreadable(format!("{error:?}")))?;
        let find = |name: &str| tensors.tensor(name).ok();
        let name = if find("embedding.weight").is_some() { "embedding.weight" } else { EMBEDDINGS };
        let Some(vectors) = find(name) else {
            let hint = OTHER_MODELS;
            bail!(file, "a tensor embedding.weight or embeddings", "none of these names", hint);
        };
        let &[rows, dim] = vectors.shape() else {
            let shape = vectors.shape();
            bail!(file, "{name} with a row per token", "{shape:?}", OTHER_MODELS);
        };
        let mut table = Self { dim, values: floats(file, name, &vectors)? };
        if name == "embedding.weight" {
            return Ok(table);
        }
        if let Some(mapping) = find("mapping") {
            let mut values = Vec::new();
            for row in whole_numbers(file, "mapping", &mapping)? {
                let Some(row) = usize::try_from(row).ok().filter(|row| *row < rows) else {
                    bail!(file, "rows below {rows} in mapping", "{row}", OTHER_MODELS);
                };
                values.extend_from_slice(table.row(row));
            }
            table.values = values;
        }
        if let Some(weights) = find("weights") {
            let weights = floats(file, "weights", &weights)?;
            if weights.len() != table.rows() {
                let rows = table.rows();
                let found = weights.len();
                bail!(file, "{rows} weights, one per token", "{found}", OTHER_MODELS);
            }
            for (row, weight) in table.values.chunks_mut(dim).zip(weights) {
                for value in row {
                    *value *= weight;
                }
            }
        }
        Ok(table)
    }

    fn rows(&self) -> usize {
        self.values.len() / self.dim.max(1)
    }

    fn row(&self, number: usize) -> &[f32] {
        &self.values[number * self.dim..(number + 1) * self.dim]
    }
}

/// The numbers of a tensor of 16, 32 or 64 bits.
fn floats(file: &Path, name: &str, tensor: &TensorView) -> Result<Vec<f32>> {
    let data = tensor.data();
    let values: Vec<f32> = match tensor.dtype() {
        Dtype::F32 => data.as_chunks().0.iter().map(|bytes| f32::from_le_bytes(*bytes)).collect(),
        Dtype::F64 => {
            data.as_chunks().0.iter().map(|bytes| f64::from_le_bytes(*bytes) as f32).collect()
        }
        Dtype::F16 => {
            data.as_chunks().0.iter().map(|bytes| f16::from_le_bytes(*bytes).to_f32()).collect()
        }
        Dtype::BF16 => {
            data.as_chunks().0.iter().map(|bytes| bf16::from_le_bytes(*bytes).to_f32()).collect()
        }
        Dtype::I8 => data.iter().map(|byte| f32::from(byte.cast_signed())).collect(),
        other => {
            let hint = "save the table again with numbers of 16 or 32 bits";
            bail!(file, "{name} of 16, 32 or 64 bits", "{other:?}", hint)
        }
    };
    if values.iter().all(|value| value.is_finite()) {
        Ok(values)
    } else {
        Err(not_finite(file, name))
    }
}

fn whole_numbers(file: &Path, name: &str, tensor: &TensorView) -> Result<Vec<i64>> {
    let data = tensor.data();
    Ok(match tensor.dtype() {
        Dtype::I64 => data.as_chunks().0.iter().map(|bytes| i64::from_le_bytes(*bytes)).collect(),
        Dtype::I32 => {
            data.as_chunks().0.iter().map(|bytes| i32::from_le_bytes(*bytes).into()).collect()
        }
        other => bail!(file, "{name} of whole numbers", "{other:?}", COPY_AGAIN),
    })
}
