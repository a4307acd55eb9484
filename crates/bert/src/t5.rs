//! T5, which generates a text from a text or scores a pair. The network is rust-bert's.

mod mono;
mod search;

use crate::inference::on_threads;
use crate::models::device;
use crate::weights::{read_all, values};
use clariq_core::{
    Checksum, CutTexts, Decoding, ModelOptions, Progress, Result, TextCounter, TextGenerator, bail,
    problem,
};
use clariq_folder::guard::{self, MOST_OF_A_TEXT};
use clariq_folder::{OTHER_MODELS, T5Folder, T5Shape, check_vocabulary, count_special_tokens};
pub use mono::MonoT5;
use parking_lot::Mutex;
use rust_bert::t5::{T5Config, T5ForConditionalGeneration, T5ModelOutput};
use search::{DecoderCache, Generator};
use serde_json::json;
use std::collections::BTreeMap;
use std::path::Path;
use tch::nn::VarStore;
use tch::{Device, Kind, Tensor};
use tokenizers::{Tokenizer, TruncationDirection};

/// The default for the longest text. Memory grows with its square; the longest conversation of TREC
/// iKAT has 3,200 tokens.
const DEFAULT_TOKENS: usize = 4096;

/// The layer over the decoder's vectors, if it is not the table of word embeddings.
const HEAD: &str = "lm_head.weight";
/// Tensors that repeat others, or that nothing uses.
const REPEATED: [&str; 3] = [
    "decoder.block.0.layer.1.EncDecAttention.relative_attention_bias.weight",
    "decoder.embed_tokens.weight",
    "encoder.embed_tokens.weight",
];

/// A network with the store of its tensors.
struct T5Network {
    model: T5ForConditionalGeneration,
    device: Device,
    _store: VarStore,
}

/// A T5 with its tokenizer.
pub struct T5 {
    folder: T5Folder,
    config: T5Config,
    /// The tensors that all networks share.
    weights: Mutex<BTreeMap<String, Tensor>>,
    /// Networks that no thread uses.
    idle: Mutex<Vec<T5Network>>,
    tokenizer: Tokenizer,
    device: Device,
    threads: usize,
    /// The longest text, in tokens.
    max_tokens: usize,
    /// True if longer texts are cut at their end.
    cut_at_end: bool,
    read: TextCounter,
    checksum: Checksum,
}

impl T5 {
    /// Reads a T5. A text of more than `max_tokens` tokens is cut at its beginning, because the
    /// utterance is at its end, unless the options want it cut at its end.
    pub fn open(path: &Path, options: &ModelOptions) -> Result<Self> {
        let folder = T5Folder::open(path)?;
        let device = device(options)?;
        let config = config_of(&folder)?;
        let mut weights = read_weights(&folder)?;
        for tensor in weights.values_mut() {
            *tensor = tensor.to_device(device);
        }
        let tokenizer = read_tokenizer(&folder)?;
        let max_tokens = options.reading.max_tokens.unwrap_or(DEFAULT_TOKENS);
        if max_tokens < 2 {
            bail!(&*folder.path, "max_tokens that leaves room for a text", "{max_tokens}");
        }
        let cut_at_end = options.reading.cut_at_end;
        let side = if cut_at_end { "end " } else { "" };
        let digest =
            format!("1 {} {max_tokens} {side}{}", folder.checksum, options.computes_with());
        let model = Self {
            folder,
            config,
            weights: Mutex::new(weights),
            idle: Mutex::default(),
            tokenizer,
            device,
            threads: if device == Device::Cpu { options.threads } else { 1 },
            max_tokens,
            cut_at_end,
            read: TextCounter::default(),
            checksum: Checksum::of(digest.as_bytes()),
        };
        // Tensors of another shape are errors now, and not in the middle of a run.
        let network = model.network()?;
        model.idle.lock().push(network);
        Ok(model)
    }

    /// A network that no other thread uses.
    fn network(&self) -> Result<T5Network> {
        if let Some(idle) = self.idle.lock().pop() {
            return Ok(idle);
        }
        let store = VarStore::new(self.device);
        let model = T5ForConditionalGeneration::new(store.root(), &self.config);
        let weights = self.weights.lock();
        let file = &self.folder.weights[0];
        let mut variables: BTreeMap<String, Tensor> = store.variables().into_iter().collect();
        if let Some(other) = weights.keys().find(|name| !variables.contains_key(*name)) {
            bail!(file, "only the tensors of the T5 of config.json", "`{other}`", OTHER_MODELS);
        }
        for (name, variable) in &mut variables {
            let Some(tensor) = weights.get(name) else {
                bail!(file, "a tensor {name}", "none of that name", OTHER_MODELS);
            };
            let expected = variable.size();
            let found = tensor.size();
            if found != expected {
                bail!(file, "{name} of the shape {expected:?}", "{found:?}", OTHER_MODELS);
            }
            variable.set_data(tensor);
        }
        Ok(T5Network { model, device: self.device, _store: store })
    }

    /// Encodes the end of a text, or its beginning.
    fn encode(&self, text: &str, cut_at_end: bool) -> Result<Vec<i64>> {
        let at = &*self.folder.tokenizer;
        let (read, side) = if cut_at_end {
            (guard::beginning(text, MOST_OF_A_TEXT), TruncationDirection::Right)
        } else {
            let mut start = text.len().saturating_sub(MOST_OF_A_TEXT);
            while !text.is_char_boundary(start) {
                start += 1;
            }
            (&text[start..], TruncationDirection::Left)
        };
        let mut encoding = guard::encode(at, &self.tokenizer, read)?;
        let room = self.max_tokens.saturating_sub(count_special_tokens(&self.tokenizer, false));
        self.read.add(encoding.len() > room || read.len() < text.len());
        let encoding = guard::call(at, || {
            encoding.truncate(room, 0, side);
            self.tokenizer.post_process(encoding, None, true)
        })?;
        Ok(encoding.get_ids().iter().map(|&id| i64::from(id)).collect())
    }

    /// Decodes ids to a text without special tokens.
    fn decode(&self, ids: &[i64]) -> Result<String> {
        let ids: Vec<u32> = ids.iter().map(|&id| id as u32).collect();
        let text = guard::call(&self.folder.tokenizer, || self.tokenizer.decode(&ids, true))?;
        Ok(if self.folder.cleans_up { clean_up(&text) } else { text })
    }

    /// Generates the ids of a text, without the start token.
    fn generate_ids(
        &self,
        network: &T5Network,
        text: &str,
        decoding: &Decoding,
    ) -> Result<Vec<i64>> {
        let ids = Tensor::from_slice(&self.encode(text, self.cut_at_end)?)
            .unsqueeze(0)
            .to_device(self.device);
        let encoded = network.model.encode(&ids, None);
        let T5Shape { start, end, .. } = self.folder.shape;
        Generator { network, encoded: &encoded, start, end }.generate(decoding)
    }

    /// The mean log-probability of a text's tokens after a source, by one pass through the decoder, which
    /// is given the text itself (teacher forcing): minus the loss of transformers.
    fn target_likelihood(&self, network: &T5Network, source: &[i64], text: &str) -> Result<f32> {
        let labels = self.encode(text, true)?;
        let Some((_, all_but_last)) = labels.split_last() else { return Ok(0.0) };
        let given = [&[self.folder.shape.start], all_but_last].concat();
        let tensor = |ids: &[i64]| Tensor::from_slice(ids).unsqueeze(0).to_device(self.device);
        let output = tch::no_grad(|| {
            let encoded = network.model.encode(&tensor(source), None);
            network.decode(&encoded, &tensor(&given), None)
        });
        let log_probabilities = output.decoder_output.log_softmax(-1, Kind::Float);
        let of_labels = log_probabilities.gather(-1, &tensor(&labels).unsqueeze(-1), false);
        Ok(values(&of_labels.mean(Kind::Float).view(1))?[0])
    }

    /// Generates ids for each text, in order.
    pub fn ids(
        &self,
        texts: &[&str],
        decoding: &Decoding,
        progress: Progress,
    ) -> Result<Vec<Vec<i64>>> {
        if decoding.beams.get() as i64 * 2 > self.folder.shape.vocabulary {
            let expected = format!("beams at most half of {} words", self.folder.shape.vocabulary);
            bail!(&*self.folder.path, expected, (decoding.beams.to_string()));
        }
        self.each(texts, |network, text| {
            let ids = self.generate_ids(network, text, decoding)?;
            progress(1);
            Ok(ids)
        })
    }

    /// Computes `work` for all items, in order, each with a network that no other thread uses.
    fn each<I: Sync, T: Send>(
        &self,
        items: &[I],
        work: impl Fn(&T5Network, &I) -> Result<T> + Sync,
    ) -> Result<Vec<T>> {
        let with_network = |(): &mut (), number: usize| {
            let network = self.network()?;
            let result = work(&network, &items[number])?;
            self.idle.lock().push(network);
            Ok(result)
        };
        on_threads(self.threads, items.len(), || Ok(()), with_network)
    }
}

impl TextGenerator for T5 {
    fn generate(
        &self,
        texts: &[&str],
        decoding: &Decoding,
        progress: Progress,
    ) -> Result<Vec<String>> {
        self.ids(texts, decoding, progress)?.iter().map(|ids| self.decode(ids)).collect()
    }

    fn likelihood(&self, source: &str, targets: &[&str]) -> Result<Vec<f32>> {
        let source = self.encode(source, self.cut_at_end)?;
        self.each(targets, |network, target| self.target_likelihood(network, &source, target))
    }

    fn cut(&self) -> CutTexts {
        self.read.cut_at(self.max_tokens)
    }

    fn checksum(&self) -> &Checksum {
        &self.checksum
    }
}

/// The weights of a folder as rust-bert needs them: each tensor once, and the head only if the output
/// is not scaled.
fn read_weights(folder: &T5Folder) -> Result<BTreeMap<String, Tensor>> {
    let file = &folder.weights[0];
    let mut weights = read_all(&folder.weights)?;
    let head = weights.remove(HEAD);
    weights.retain(|name, _| !REPEATED.contains(&&**name));
    let Some(shared) = weights.get("shared.weight") else {
        bail!(file, "a tensor shared.weight", "none of that name", OTHER_MODELS);
    };
    if !folder.shape.scales_output {
        let head = head.unwrap_or_else(|| shared.shallow_clone());
        weights.insert(HEAD.to_owned(), head);
    } else if head.is_some_and(|head| head != *shared) {
        let hint = "config.json ties the two by `tie_word_embeddings`";
        bail!(file, "{HEAD} equal to shared.weight", "another", hint);
    }
    Ok(weights)
}

fn read_tokenizer(folder: &T5Folder) -> Result<Tokenizer> {
    let mut tokenizer = guard::read(&folder.tokenizer)?;
    check_vocabulary(&folder.tokenizer, &tokenizer, folder.shape.vocabulary)?;
    // The file may have the padding and truncation of the program that saved it.
    tokenizer.with_padding(None);
    guard::call(&folder.tokenizer, || tokenizer.with_truncation(None).map(drop))?;
    Ok(tokenizer)
}

/// The configuration of rust-bert.
fn config_of(folder: &T5Folder) -> Result<T5Config> {
    let shape = &folder.shape;
    let config = json!({
        "dropout_rate": 0.0,
        "d_model": shape.hidden,
        "d_ff": shape.intermediate,
        "d_kv": shape.key,
        "initializer_factor": 1.0,
        "layer_norm_epsilon": shape.epsilon,
        "num_heads": shape.heads,
        "num_layers": shape.layers,
        "relative_attention_num_buckets": shape.buckets,
        "relative_attention_max_distance": shape.distance,
        "vocab_size": shape.vocabulary,
        "feed_forward_proj": if shape.is_gated { "gated-gelu" } else { "relu" },
        "tie_word_embeddings": shape.scales_output,
    });
    Ok(serde_json::from_value(config)
        .map_err(|error| problem!(&*folder.path, "the configuration of a T5", "{error}"))?)
}

/// Removes blanks before punctuation, as Hugging Face's `clean_up_tokenization` does, in its order.
fn clean_up(text: &str) -> String {
    let mut text = text.to_owned();
    for mark in [".", "?", "!", ","] {
        text = text.replace(&format!(" {mark}"), mark);
    }
    text = text.replace(" ' ", "'");
    for ending in ["n't", "'m", "'s", "'ve", "'re"] {
        text = text.replace(&format!(" {ending}"), ending);
    }
    text
}

impl T5Network {
    /// The logits of the token after the last one of each beam. The first step puts the keys and
    /// values of the encoded input into `cache`; later steps only need its shape.
    fn step(&self, encoded: &Tensor, last: &[i64], cache: &mut Option<DecoderCache>) -> Tensor {
        let beams = last.len() as i64;
        let encoded = match cache {
            Some(_) => encoded.narrow(1, 0, 1),
            None => encoded.shallow_clone(),
        };
        let encoded = encoded.expand([beams, -1, -1], false);
        let last = Tensor::from_slice(last).unsqueeze(1).to_device(self.device);
        let output = self.decode(&encoded, &last, cache.take());
        *cache = output.next_cache;
        output.decoder_output.select(1, -1).to_kind(Kind::Float)
    }

    /// The decoder's output for given tokens, after those of a cache.
    fn decode(
        &self,
        encoded: &Tensor,
        given: &Tensor,
        past: Option<DecoderCache>,
    ) -> T5ModelOutput {
        let encoded = Some(encoded);
        self.model.forward_t(None, None, encoded, Some(given), None, None, None, past, false)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blanks_before_punctuation_are_removed() {
        assert_eq!(clean_up("It is n't mine , I 'm sure ."), "It isn't mine, I'm sure.");
    }
}
