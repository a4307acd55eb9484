//! Tables of weights for the words of requests, which need no network (Geng et al., "Towards
//! Competitive Search Relevance For Inference-Free Learned Sparse Retrievers", 2024).

use crate::files::{
    COPY_AGAIN, DOCUMENTED, OTHER_MODELS, missing, parse_object, read_optional, weights_in,
};
use crate::modules::read_required;
use crate::prompts::Prompts;
use crate::settings::TokenizerConfig;
use crate::table::LOOKUP;
use crate::tokens::Tokenize;
use crate::{Family, find_tokenizer, guard};
use clariq_core::{
    Checksum, CutTexts, NoModels, Progress, Result, SparseEncoder, SparseVectors, TextSide, bail,
    problem, read_regular,
};
use clariq_files::MOST_OF_A_TABLE;
use safetensors::{Dtype, SafeTensors};
use serde::Deserialize;
use serde_json::Value;
use std::borrow::Cow;
use std::path::{Path, PathBuf};

/// `config.json` of `SparseStaticEmbedding` and, in older releases, `IDF`.
#[derive(Deserialize)]
struct LookupConfig {
    /// The file with the weights by word, in place of a tensor.
    path: Option<String>,
}

/// The folder of a table, with its weights.
#[derive(Debug, Clone)]
pub struct LookupFolder {
    tokenizer: PathBuf,
    tokenizer_config: TokenizerConfig,
    family: Family,
    /// The weight of each word.
    pub weights: Vec<f32>,
    /// Digest over tokenizer, settings and weights.
    pub checksum: Checksum,
}

impl LookupFolder {
    /// Reads a table for a vocabulary of so many words.
    pub(crate) fn open(path: &Path, family: Family, vocabulary: i64) -> Result<Self> {
        let config: LookupConfig = read_required(&path.join("config.json"), &LOOKUP)?;
        let tokenizer_config = TokenizerConfig::read(path, None)?;
        let tokenizer = find_tokenizer(path, tokenizer_config.class)?;
        let (file, weights) = match &config.path {
            None => {
                let file = weights_in(path)?;
                let weights = read_tensor(&file, vocabulary)?;
                (file, weights)
            }
            Some(name) if Path::new(name).extension().is_some_and(|end| end == "json") => {
                let file = path.join(Path::new(name).file_name().unwrap_or_default());
                let words = guard::read(&tokenizer)?;
                let id_of = |word: &str| words.token_to_id(word);
                let weights = read_words(&file, vocabulary, id_of)?;
                (file, weights)
            }
            Some(other) => {
                bail!(&path.join("config.json"), "path of an idf.json", "`{other}`", DOCUMENTED)
            }
        };
        if let Some(word) = weights.iter().position(|weight| !weight.is_finite()) {
            let found = format!("{} for the word {word}", weights[word]);
            bail!(&file, "weights that are numbers", found, COPY_AGAIN);
        }
        let digest = format!(
            "{} {} {} {:?}",
            Checksum::of_file(&tokenizer)?,
            tokenizer_config.digest(),
            Checksum::of_file(&file)?,
            tokenizer_config.max_tokens(),
        );
        let checksum = Checksum::of(digest.as_bytes());
        Ok(Self { tokenizer, tokenizer_config, family, weights, checksum })
    }

    /// The model of a folder of that name.
    pub(crate) fn to_model(
        &self,
        prompts: &Prompts,
        checksum: Checksum,
        name: String,
    ) -> Result<Lookup> {
        let Self { tokenizer, tokenizer_config, family, weights, .. } = self;
        let vocabulary = weights.len() as i64;
        let tokenize =
            Tokenize::without_special_tokens(tokenizer, tokenizer_config, *family, vocabulary)?;
        let tokenize = tokenize.with_prompts(prompts);
        Ok(Lookup { tokenize, weights: weights.clone(), checksum, name })
    }
}

/// A model whose requests are a table of weights. Documents need its network, which this has not.
pub struct Lookup {
    tokenize: Tokenize,
    weights: Vec<f32>,
    checksum: Checksum,
    name: String,
}

impl SparseEncoder for Lookup {
    /// Each token once, whatever its count.
    fn encode(&self, texts: &[&str], progress: Progress) -> Result<SparseVectors> {
        let mut vectors = SparseVectors::default();
        for tokens in self.tokenize.texts(texts, TextSide::Request)? {
            let mut ids = tokens.ids;
            ids.sort_unstable();
            ids.dedup();
            let weight = |id: i64| self.weights.get(usize::try_from(id).unwrap_or(usize::MAX));
            let words = ids.iter().filter_map(|&id| Some((id as u32, *weight(id)?)));
            vectors.push(words.filter(|(_, weight)| *weight != 0.0));
        }
        progress(texts.len() as u64);
        Ok(vectors)
    }

    fn encode_documents(&self, _: &[&str], _: Progress) -> Result<SparseVectors> {
        Err(NoModels::refusal(&self.name))
    }

    fn word(&self, number: u32) -> Cow<'_, str> {
        self.tokenize.word_or_number(number)
    }

    fn cut(&self) -> CutTexts {
        self.tokenize.cut()
    }

    fn checksum(&self) -> &Checksum {
        &self.checksum
    }
}

/// The tensor `weight` of a file, as long as the vocabulary.
fn read_tensor(file: &Path, vocabulary: i64) -> Result<Vec<f32>> {
    let bytes = read_regular(file, MOST_OF_A_TABLE)
        .map_err(|error| problem!(file, "weights that can be read", "{error}", COPY_AGAIN))?;
    let tensors = SafeTensors::deserialize(&bytes)
        .map_err(|error| problem!(file, "weights that can be read", "{error:?}", COPY_AGAIN))?;
    let Ok(weight) = tensors.tensor("weight") else {
        bail!(file, "a tensor weight", "none of that name", OTHER_MODELS);
    };
    let shape = weight.shape();
    if shape != [usize::try_from(vocabulary).unwrap_or_default()] {
        let expected = format!("weight of the shape [{vocabulary}], vocab_size of the model");
        bail!(file, expected, "{shape:?}", OTHER_MODELS);
    }
    let kind = weight.dtype();
    if kind != Dtype::F32 {
        bail!(file, "32-bit floats", "{kind:?}", "save the table again with 32-bit floats");
    }
    let (numbers, _) = weight.data().as_chunks::<4>();
    Ok(numbers.iter().map(|number| f32::from_le_bytes(*number)).collect())
}

/// The weights of an `idf.json`, by word; 0 for other words.
fn read_words(
    file: &Path,
    vocabulary: i64,
    id_of: impl Fn(&str) -> Option<u32>,
) -> Result<Vec<f32>> {
    let Some(text) = read_optional(file)? else {
        return Err(missing(file, "the weights that config.json names").into());
    };
    let mut weights = vec![0.0; usize::try_from(vocabulary).unwrap_or_default()];
    for (word, weight) in parse_object(file, &text)? {
        let id = id_of(&word).map(|id| id as usize).filter(|&id| id < weights.len());
        let Some(id) = id else {
            bail!(file, "words of the tokenizer", "`{word}`", OTHER_MODELS);
        };
        let Some(number) = weight.as_f64() else {
            let found = Value::to_string(&weight);
            bail!(file, "a number for `{word}`", found, COPY_AGAIN);
        };
        weights[id] = number as f32;
    }
    Ok(weights)
}
