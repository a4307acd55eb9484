//! T5, which writes a text for a text or scores a pair, by rust-bert's network: greedily or by beam search.
//!
//! The search is that of Hugging Face's library (transformers 5, `_beam_search`), step by step, for one
//! text at a time: without padding, what is written for a text does not depend on the others.

mod folder;
mod mono;

use crate::folder::OTHER_MODELS;
use crate::guard::{self, MOST_OF_A_TEXT};
use crate::inference::on_threads;
use crate::models::device;
use crate::tokens::check_words;
use crate::weights::{read_all, torch, values};
use clariq_core::{Decoding, ModelOptions, Progress, Result, Rewriter, bail, problem, sha256_hex};
pub(crate) use folder::T5Folder;
use folder::{HEAD, REPEATED};
pub use mono::MonoT5;
use rust_bert::t5::{LayerState, T5Config, T5ForConditionalGeneration};
use serde_json::json;
use std::collections::BTreeMap;
use std::iter;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use tch::nn::VarStore;
use tch::{Device, Kind, Tensor};
use tokenizers::{PostProcessor as _, Tokenizer, TruncationDirection};

/// Tokens of a text that are read, where nothing else is said. Attention takes memory by the square
/// of them; the longest conversation of TREC iKAT has 3,200.
const USUAL_TOKENS: usize = 4096;
/// The score of what does not count, as in Hugging Face's library.
const NEVER: f32 = -1e9;

/// The decoder's cache of earlier tokens, per layer.
type DecoderCache = Vec<(Option<LayerState>, Option<LayerState>)>;

/// A network, and the store that its tensors are in.
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
    most: usize,
    cut: AtomicUsize,
    checksum: String,
}

impl T5 {
    /// Reads a T5. Of a text of more than `max_tokens` tokens, the beginning is left out: the utterance
    /// is at its end.
    pub fn open(path: &Path, options: &ModelOptions) -> Result<Self> {
        let folder = T5Folder::open(path)?;
        let device = device(options)?;
        let config = config_of(&folder)?;
        let mut weights = read_all(&folder.weights)?;
        let head = weights.remove(HEAD);
        weights.retain(|name, _| !REPEATED.contains(&&**name));
        let Some(shared) = weights.get("shared.weight") else {
            bail!(&folder.weights[0], "a tensor shared.weight", "none of that name", OTHER_MODELS);
        };
        if folder.shape.scales_output {
            if head.is_some_and(|head| head != *shared) {
                let hint = "config.json ties the two by `tie_word_embeddings`";
                bail!(&folder.weights[0], "{HEAD} equal to shared.weight", "another", hint);
            }
        } else {
            let head = head.unwrap_or_else(|| shared.shallow_clone());
            weights.insert(HEAD.to_owned(), head);
        }
        for tensor in weights.values_mut() {
            *tensor = tensor.to_device(device);
        }
        let mut tokenizer = guard::read(&folder.tokenizer)?;
        check_words(&folder.tokenizer, &tokenizer, folder.shape.vocabulary)?;
        // The file's own padding and truncation are habits of one program.
        tokenizer.with_padding(None);
        guard::call(&folder.tokenizer, || tokenizer.with_truncation(None).map(drop))?;
        let most = options.reading.max_tokens.unwrap_or(USUAL_TOKENS);
        if most < 2 {
            bail!(&*folder.path, "max_tokens that leaves room for a text", "{most}");
        }
        let made_of = format!("1 {} {most} {}", folder.checksum, options.computes_with());
        let weights = Mutex::new(weights);
        let idle = Mutex::default();
        let cut = AtomicUsize::new(0);
        let threads = if device == Device::Cpu { options.threads } else { 1 };
        let checksum = sha256_hex(made_of.as_bytes());
        let model =
            Self { folder, config, weights, idle, tokenizer, device, threads, most, cut, checksum };
        // Tensors that do not fit are errors now.
        let network = model.network()?;
        lock(&model.idle).push(network);
        Ok(model)
    }

    /// A network that no other thread uses.
    fn network(&self) -> Result<T5Network> {
        if let Some(idle) = lock(&self.idle).pop() {
            return Ok(idle);
        }
        let store = VarStore::new(self.device);
        let model = T5ForConditionalGeneration::new(store.root(), &self.config);
        let weights = lock(&self.weights);
        let file = &self.folder.weights[0];
        let mut variables: BTreeMap<String, Tensor> = store.variables().into_iter().collect();
        if let Some(other) = weights.keys().find(|name| !variables.contains_key(*name)) {
            bail!(file, "the tensors of a T5 as config.json has it", "`{other}`", OTHER_MODELS);
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

    /// The ids of a text, as the tokenizer ends it.
    fn read(&self, text: &str) -> Result<Vec<i64>> {
        let at = &*self.folder.tokenizer;
        let from = text.len().saturating_sub(MOST_OF_A_TEXT);
        let from = (from..=text.len()).find(|&from| text.is_char_boundary(from));
        let mut encoding = guard::encode(at, &self.tokenizer, &text[from.unwrap_or_default()..])?;
        let ends = self.tokenizer.get_post_processor();
        let ends = ends.map_or(0, |processor| processor.added_tokens(false));
        let room = self.most.saturating_sub(ends);
        if encoding.len() > room || from != Some(0) {
            self.cut.fetch_add(1, Ordering::Relaxed);
        }
        guard::call(at, || {
            encoding.truncate(room, 0, TruncationDirection::Left);
            Ok(())
        })?;
        let whole = guard::call(at, || self.tokenizer.post_process(encoding, None, true))?;
        Ok(whole.get_ids().iter().map(|&id| i64::from(id)).collect())
    }

    /// The text of ids, without marks.
    fn write(&self, ids: &[i64]) -> Result<String> {
        let ids: Vec<u32> = ids.iter().map(|&id| id as u32).collect();
        let text = guard::call(&self.folder.tokenizer, || self.tokenizer.decode(&ids, true))?;
        Ok(if self.folder.cleans_up { clean_up(&text) } else { text })
    }

    /// The ids written for one text, without the start token.
    fn generate(&self, network: &T5Network, text: &str, decoding: &Decoding) -> Result<Vec<i64>> {
        let shape = &self.folder.shape;
        let ids = Tensor::from_slice(&self.read(text)?).unsqueeze(0).to_device(self.device);
        let encoded = network.model.encode(&ids, None);
        let marks = (shape.start, shape.end);
        match decoding.beams.get() {
            1 => greedy(network, &encoded, marks, decoding.max_length),
            _ => beam_search(network, &encoded, marks, decoding),
        }
    }

    /// The ids that are written for each text, in order.
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
        let write = |(): &mut (), number: usize| {
            let network = self.network()?;
            let written = self.generate(&network, texts[number], decoding)?;
            lock(&self.idle).push(network);
            progress(1);
            Ok(written)
        };
        on_threads(self.threads, texts.len(), || Ok(()), write)
    }
}

impl Rewriter for T5 {
    fn rewrite(
        &self,
        texts: &[&str],
        decoding: &Decoding,
        progress: Progress,
    ) -> Result<Vec<String>> {
        self.ids(texts, decoding, progress)?.iter().map(|ids| self.write(ids)).collect()
    }

    fn cut(&self) -> usize {
        self.cut.load(Ordering::Relaxed)
    }

    fn checksum(&self) -> &str {
        &self.checksum
    }
}

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// rust-bert's configuration of a folder that was checked.
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

/// Without blanks in front of punctuation, as Hugging Face's `clean_up_tokenization` has it.
fn clean_up(text: &str) -> String {
    const SHORT: [&str; 10] = [".", "?", "!", ",", " ' ", "n't", "'m", "'s", "'ve", "'re"];
    SHORT.iter().fold(text.to_owned(), |text, short| match *short {
        " ' " => text.replace(short, "'"),
        short => text.replace(&format!(" {short}"), short),
    })
}

impl T5Network {
    /// The logits of the token behind the last one of each beam. The keys of what was read are kept in
    /// `past` from the first step on: later ones need no more of it than that there is something.
    fn step(&self, encoded: &Tensor, last: &[i64], past: &mut Option<DecoderCache>) -> Tensor {
        let beams = last.len() as i64;
        let read = if past.is_some() { encoded.narrow(1, 0, 1) } else { encoded.shallow_clone() };
        let read = read.expand([beams, -1, -1], false);
        let last = Tensor::from_slice(last).unsqueeze(1).to_device(self.device);
        let read = Some(&read);
        let last = Some(&last);
        let before = past.take();
        let out = self.model.forward_t(None, None, read, last, None, None, None, before, false);
        *past = out.next_cache;
        out.decoder_output.select(1, -1).to_kind(Kind::Float)
    }
}

/// The best token at every step, up to the end of a text or `most` tokens, the first mark included.
fn greedy(
    network: &T5Network,
    encoded: &Tensor,
    (start, end): (i64, i64),
    most: usize,
) -> Result<Vec<i64>> {
    let mut written = Vec::new();
    let mut last = start;
    let mut past = None;
    while written.len() + 1 < most && last != end {
        let logits = network.step(encoded, &[last], &mut past);
        last = i64::try_from(logits.argmax(-1, false).view(1).get(0))
            .map_err(torch("reading a token"))?;
        written.push(last);
    }
    Ok(written)
}

/// A text, as far as it is written.
#[derive(Clone, Default)]
struct Beam {
    ids: Vec<i64>,
    score: f32,
    is_finished: bool,
}

/// The best `count` by score; of equals, the first.
fn best(mut beams: Vec<Beam>, count: usize) -> Vec<Beam> {
    beams.sort_by(|a, b| b.score.total_cmp(&a.score));
    beams.truncate(count);
    beams
}

fn beam_search(
    network: &T5Network,
    encoded: &Tensor,
    (start, end): (i64, i64),
    decoding: &Decoding,
) -> Result<Vec<i64>> {
    let Decoding { beams: count, length_penalty, max_length, early_stopping } = *decoding;
    let count = count.get();
    // All beams begin alike: the first alone counts.
    let first = iter::once(0.0).chain(iter::repeat(NEVER));
    let mut running: Vec<Beam> =
        first.take(count).map(|score| Beam { score, ..Beam::default() }).collect();
    let mut finished = vec![Beam { score: NEVER, ..Beam::default() }; count];
    let mut past = None;
    let mut can_improve = true;
    for length in 1..max_length {
        let last: Vec<i64> =
            running.iter().map(|beam| beam.ids.last().copied().unwrap_or(start)).collect();
        let logits = network.step(encoded, &last, &mut past);
        let scores: Vec<f32> = running.iter().map(|beam| beam.score).collect();
        let scores = Tensor::from_slice(&scores).unsqueeze(1).to_device(network.device);
        let words = logits.size()[1];
        let all = (logits.log_softmax(-1, Kind::Float) + scores).view(-1);
        let (scores, places) = all.topk(2 * count as i64, 0, true, true);
        let places = Vec::<i64>::try_from(places.to_device(Device::Cpu));
        let places = places.map_err(torch("reading tokens"))?;
        let is_last = length + 1 >= max_length;
        let mut next = Vec::with_capacity(2 * count);
        let mut ends = true;
        // The end of a text must be among the best to be taken; the others are there so that enough
        // beams go on.
        let full = early_stopping && finished.iter().all(|beam| beam.is_finished);
        let penalty = (length as f64).powf(length_penalty) as f32;
        for (rank, (score, place)) in values(&scores)?.into_iter().zip(places).enumerate() {
            let parent = (place / words) as usize;
            let id = place % words;
            let mut ids = running[parent].ids.clone();
            ids.push(id);
            let hits = is_last || id == end;
            ends &= hits;
            let is_finished = hits && rank < count;
            let mut at_end = score / penalty;
            for is_out in [full, !can_improve, !is_finished] {
                at_end += if is_out { NEVER } else { 0.0 };
            }
            finished.push(Beam { ids: ids.clone(), score: at_end, is_finished });
            let score = if hits { score + NEVER } else { score };
            next.push((parent as i64, Beam { ids, score, is_finished: false }));
        }
        finished = best(finished, count);
        next.sort_by(|(_, a), (_, b)| b.score.total_cmp(&a.score));
        next.truncate(count);
        let parents: Vec<i64> = next.iter().map(|(parent, _)| *parent).collect();
        running = next.into_iter().map(|(_, beam)| beam).collect();
        reorder(&mut past, &Tensor::from_slice(&parents).to_device(network.device));
        let worst = finished.iter().map(|beam| beam.score).fold(f32::INFINITY, f32::min);
        let hope = running[0].score / penalty;
        can_improve &=
            finished.iter().any(|beam| hope > if beam.is_finished { worst } else { NEVER });
        let all_finished = early_stopping && finished.iter().all(|beam| beam.is_finished);
        if !can_improve || all_finished || ends {
            break;
        }
    }
    Ok(finished.swap_remove(0).ids)
}

/// Gives every beam what was kept of the one that it continues. What was read is the same for all.
fn reorder(past: &mut Option<DecoderCache>, parents: &Tensor) {
    for state in past.iter_mut().flatten().filter_map(|(own, _)| own.as_mut()) {
        state.prev_key = state.prev_key.index_select(0, parents);
        state.prev_value = state.prev_value.index_select(0, parents);
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
