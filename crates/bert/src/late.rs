//! The vectors of the tokens of texts, for late interaction: those of a folder that is made for it, or of
//! any encoder.

use crate::batch::TokenBatch;
use crate::inference::{ALONE, Parallel};
use crate::network::Network;
use crate::weights::{torch, values};
use clariq_core::{Progress, Result, TextSide};
use clariq_folder::{LateInteraction, Tokenize, Tokens};
use std::collections::BTreeSet;

/// Chooses the tokens of texts, and which of them count.
#[derive(Debug, Default)]
pub(crate) struct TokenChoice {
    late: LateInteraction,
    /// The id of the token that expands requests.
    expansion: Option<i64>,
    /// The ids of words that do not count.
    skipped: BTreeSet<i64>,
}

impl TokenChoice {
    pub(crate) fn new(late: LateInteraction, tokenize: &Tokenize) -> Result<Self> {
        let mut expansion = None;
        if let Some(settings) = &late.expansion {
            expansion = Some(tokenize.expansion(settings.token.as_deref())?);
        }
        let ids = late.skipped.iter().filter_map(|word| tokenize.id_of(word));
        let skipped = ids.collect();
        Ok(Self { late, expansion, skipped })
    }

    /// The tokens of texts, each request with its expansion.
    fn tokens(&self, tokenize: &Tokenize, texts: &[&str], side: TextSide) -> Result<Vec<Tokens>> {
        let mut all = tokenize.texts(texts, side)?;
        let (Some(settings), Some(id)) = (&self.late.expansion, self.expansion) else {
            return Ok(all);
        };
        if side == TextSide::Request {
            for tokens in &mut all {
                let missing = settings.length.saturating_sub(tokens.ids.len());
                tokens.ids.extend(std::iter::repeat_n(id, missing));
                tokens.segments.extend(std::iter::repeat_n(0, missing));
                tokens.unattended = if settings.attend { 0 } else { missing };
            }
        }
        Ok(all)
    }

    /// True if the vector of a token counts.
    fn counts(&self, id: i64, is_unattended: bool, side: TextSide) -> bool {
        let is_skipped = self.late.skips(side) && self.skipped.contains(&id);
        let is_kept = side == TextSide::Request
            || self.late.kept.as_ref().is_none_or(|kept| kept.contains(&id));
        !is_skipped && is_kept && (!is_unattended || self.late.counts_expansion())
    }

    /// The tokens that count with their vectors, in texts that are computed one by one. `make` takes the
    /// ids and the rows of a text.
    pub(crate) fn vectors<T: Send>(
        &self,
        (network, tokenize): (&Parallel, &Tokenize),
        (texts, side): (&[&str], TextSide),
        make: impl Fn(Vec<u32>, Vec<f32>) -> T + Sync,
        progress: Progress,
    ) -> Result<Vec<T>> {
        let tokens = self.tokens(tokenize, texts, side)?;
        let work = |network: &Network, batch: &TokenBatch| {
            let states = network.token_vectors(batch)?;
            let ids =
                Vec::<i64>::try_from(batch.ids.view([-1])).map_err(torch("reading tokens"))?;
            let rows = values(&states)?;
            let dim = rows.len().checked_div(ids.len()).unwrap_or(0);
            let attended = ids.len() - batch.unattended;
            let mut counting = Vec::new();
            let mut vectors = Vec::new();
            for (place, (&id, row)) in ids.iter().zip(rows.chunks_exact(dim.max(1))).enumerate() {
                if self.counts(id, place >= attended, side) {
                    counting.push(u32::try_from(id).unwrap_or_default());
                    vectors.extend_from_slice(row);
                }
            }
            Ok(vec![make(counting, vectors)])
        };
        network.each(&tokens, ALONE, work, progress)
    }
}
