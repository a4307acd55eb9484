//! Generation of a text, greedily or by beam search, step by step as in Hugging Face's library
//! (transformers 5, `_beam_search`), for one text at a time: without padding, a generated text does
//! not depend on other texts.

use super::T5Network;
use crate::weights::{torch, values};
use clariq_core::{Decoding, Result};
use rust_bert::t5::LayerState;
use tch::{Device, Kind, Tensor};

/// A penalty that excludes a beam, as in Hugging Face's library.
const EXCLUDED: f32 = -1e9;

/// The decoder's cache of earlier tokens, per layer.
pub(super) type DecoderCache = Vec<(Option<LayerState>, Option<LayerState>)>;

/// Generates the text for one encoded input.
pub(super) struct Generator<'t> {
    pub(super) network: &'t T5Network,
    /// The input after the encoder.
    pub(super) encoded: &'t Tensor,
    /// The id of the token before the text.
    pub(super) start: i64,
    /// The id of the token after the text.
    pub(super) end: i64,
}

/// The tokens of a text so far.
#[derive(Clone, Default)]
struct Beam {
    ids: Vec<i64>,
    score: f32,
    is_finished: bool,
}

/// A beam with one more token.
struct Candidate {
    /// The number of the beam.
    parent: usize,
    id: i64,
    score: f32,
}

/// The best `count` by score; of equals, the first.
fn best(mut beams: Vec<Beam>, count: usize) -> Vec<Beam> {
    beams.sort_by(|a, b| b.score.total_cmp(&a.score));
    beams.truncate(count);
    beams
}

impl Generator<'_> {
    /// Generates the ids of a text, without the start token.
    pub(super) fn generate(&self, decoding: &Decoding) -> Result<Vec<i64>> {
        match decoding.beams.get() {
            1 => self.greedy(decoding),
            _ => self.beam_search(decoding),
        }
    }

    /// Takes the best token at every step, up to `max_length` tokens including the start token.
    fn greedy(&self, decoding: &Decoding) -> Result<Vec<i64>> {
        let Decoding { max_length, min_length, .. } = *decoding;
        let mut ids = Vec::new();
        let mut last = self.start;
        let mut cache = None;
        while ids.len() + 1 < max_length && last != self.end {
            let mut logits = self.network.step(self.encoded, &[last], &mut cache);
            self.forbid_end(&mut logits, ids.len() + 1 < min_length);
            let id = i64::try_from(logits.argmax(-1, false).view(1).get(0));
            last = id.map_err(torch("reading a token"))?;
            ids.push(last);
        }
        Ok(ids)
    }

    /// Makes the end of the text impossible, as Hugging Face's `MinLengthLogitsProcessor` does.
    fn forbid_end(&self, scores: &mut Tensor, is_short: bool) {
        if is_short {
            let _ = scores.narrow(-1, self.end, 1).fill_(f64::NEG_INFINITY);
        }
    }

    fn beam_search(&self, decoding: &Decoding) -> Result<Vec<i64>> {
        let Decoding { length_penalty, max_length, early_stopping, min_length, .. } = *decoding;
        let count = decoding.beams.get();
        let excluded = Beam { score: EXCLUDED, ..Beam::default() };
        // All beams are the same at the start, so that only the first counts.
        let mut running = vec![excluded.clone(); count];
        running[0].score = 0.0;
        let mut finished = vec![excluded; count];
        let mut cache = None;
        let mut can_improve = true;
        for length in 1..max_length {
            let is_last = length + 1 >= max_length;
            let is_full = early_stopping && finished.iter().all(|beam| beam.is_finished);
            let penalty = (length as f64).powf(length_penalty) as f32;
            let mut all_end = true;
            let mut next = Vec::with_capacity(2 * count);
            for (rank, candidate) in
                self.candidates(&running, length < min_length, &mut cache)?.iter().enumerate()
            {
                let mut ids = running[candidate.parent].ids.clone();
                ids.push(candidate.id);
                let ends = is_last || candidate.id == self.end;
                all_end &= ends;
                // A text must end among the best `count` candidates. The others ensure that enough
                // beams continue.
                let is_finished = ends && rank < count;
                let mut score = candidate.score / penalty;
                for is_excluded in [is_full, !can_improve, !is_finished] {
                    score += if is_excluded { EXCLUDED } else { 0.0 };
                }
                finished.push(Beam { ids: ids.clone(), score, is_finished });
                let score = candidate.score + if ends { EXCLUDED } else { 0.0 };
                next.push((candidate.parent, Beam { ids, score, is_finished: false }));
            }
            finished = best(finished, count);
            next.sort_by(|(_, a), (_, b)| b.score.total_cmp(&a.score));
            next.truncate(count);
            let parents: Vec<i64> = next.iter().map(|(parent, _)| *parent as i64).collect();
            running = next.into_iter().map(|(_, beam)| beam).collect();
            reorder(&mut cache, &Tensor::from_slice(&parents).to_device(self.network.device));

            let worst = finished.iter().map(|beam| beam.score).fold(f32::INFINITY, f32::min);
            let best_running = running[0].score / penalty;
            can_improve &= finished
                .iter()
                .any(|beam| best_running > if beam.is_finished { worst } else { EXCLUDED });
            let is_full = early_stopping && finished.iter().all(|beam| beam.is_finished);
            if !can_improve || is_full || all_end {
                break;
            }
        }
        Ok(finished.swap_remove(0).ids)
    }

    /// The best continuations of all beams, two for each beam on average.
    fn candidates(
        &self,
        beams: &[Beam],
        is_short: bool,
        cache: &mut Option<DecoderCache>,
    ) -> Result<Vec<Candidate>> {
        let last = beams.iter().map(|beam| beam.ids.last().copied().unwrap_or(self.start));
        let logits = self.network.step(self.encoded, &last.collect::<Vec<_>>(), cache);
        let vocabulary = logits.size()[1];
        let beam_scores: Vec<f32> = beams.iter().map(|beam| beam.score).collect();
        let beam_scores = Tensor::from_slice(&beam_scores).unsqueeze(1);
        let beam_scores = beam_scores.to_device(self.network.device);
        let mut scores = logits.log_softmax(-1, Kind::Float);
        self.forbid_end(&mut scores, is_short);
        let scores = (scores + beam_scores).view(-1);
        let (scores, places) = scores.topk(2 * beams.len() as i64, 0, true, true);
        let places = Vec::<i64>::try_from(places.to_device(Device::Cpu));
        let places = places.map_err(torch("reading tokens"))?;
        let mut candidates = Vec::with_capacity(places.len());
        for (score, place) in values(&scores)?.into_iter().zip(places) {
            let parent = (place / vocabulary) as usize;
            candidates.push(Candidate { parent, id: place % vocabulary, score });
        }
        Ok(candidates)
    }
}

/// Gives every beam the cache of its parent. The cache of the input is the same for all.
fn reorder(cache: &mut Option<DecoderCache>, parents: &Tensor) {
    for (of_text, _of_input) in cache.iter_mut().flatten() {
        if let Some(state) = of_text {
            state.prev_key = state.prev_key.index_select(0, parents);
            state.prev_value = state.prev_value.index_select(0, parents);
        }
    }
}
