//! Rewriting by a T5.

use crate::rewrite::{REWRITE, Rewriter, Rewritten, with_last_utterance};
use crate::stage::{About, Batch};
use crate::table::Table;
use clariq_core::{
    Decoding, ModelKind, ModelName, ReadingOverrides, Request, Result, Speaker, number, positive,
};
use serde::{Deserialize, Serialize};
use std::num::NonZeroUsize;
use std::sync::Arc;

/// The table `rewrite` of a T5. Its defaults are those of the organisers' baseline of TREC iKAT 2023
/// (irlabamsterdam/iKAT, `2023/scripts/baselines/code/baseline_runs.py`).
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct T5Rewrite {
    /// The folder of a T5, such as `castorini/t5-base-canard`.
    model: String,
    /// The number of beams of the search; 1 is greedy search.
    #[serde(default = "positive::<4>")]
    beams: NonZeroUsize,
    /// The power of a text's length by which its log-probability is divided.
    #[serde(default = "number::<2, _>")]
    length_penalty: f64,
    /// The maximum length of a rewrite in tokens, including the start token.
    #[serde(default = "number::<250, _>")]
    max_length: usize,
    /// True if the search ends as soon as there are as many complete texts as beams.
    #[serde(default = "yes")]
    early_stopping: bool,
    /// The number of last tokens of the conversation that are read.
    #[serde(skip_serializing_if = "Option::is_none")]
    max_tokens: Option<usize>,
    /// The separator before every utterance.
    #[serde(default = "default_separator")]
    separator: String,
    /// True if the responses of the system are read.
    #[serde(default = "yes")]
    responses: bool,
}

fn yes() -> bool {
    true
}

fn default_separator() -> String {
    " ||| ".to_owned()
}

pub(super) fn build(table: Table) -> Result<Arc<dyn Rewriter>> {
    for (key, least, most) in
        [("beams", 1, Decoding::MOST_BEAMS), ("max_length", 2, Decoding::MOST_TOKENS)]
    {
        let expected = format!("{key} from {least} to {most}");
        table.check_number(key, f64::from(least)..=most as f64, &expected, "")?;
    }
    let finite = f64::MIN..=f64::MAX;
    table.check_number("length_penalty", finite, "length_penalty as a number", "")?;
    Ok(Arc::new(table.read::<T5Rewrite>()?))
}

impl T5Rewrite {
    fn model_name(&self) -> ModelName {
        let reading = ReadingOverrides::cut_at(self.max_tokens);
        ModelName { reading, ..ModelName::new(&*self.model, ModelKind::TextGenerator) }
    }

    /// The input of the model: everything said up to the user's last utterance.
    fn text(&self, request: &Request) -> String {
        let is_of_user = |speaker| speaker == Speaker::User;
        let end = request.said.iter().rposition(|said| is_of_user(said.speaker));
        let said = request.said[..end.map_or(0, |last| last + 1)].iter();
        let said = said.filter(|said| self.responses || is_of_user(said.speaker));
        said.flat_map(|said| [&*self.separator, &*said.text]).collect()
    }
}

impl Rewriter for T5Rewrite {
    fn about(&self) -> About {
        About { models: vec![self.model_name()], ..About::new(REWRITE, self) }
    }

    /// Where the model writes nothing, the utterance stays.
    fn apply(&self, batch: &Batch) -> Result<Rewritten> {
        let texts: Vec<String> = batch.requests.iter().map(|request| self.text(request)).collect();
        let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
        let decoding = Decoding {
            beams: self.beams,
            length_penalty: self.length_penalty,
            max_length: self.max_length,
            early_stopping: self.early_stopping,
            min_length: 0,
        };
        let models = batch.context.models;
        let written = models.generate(&self.model_name(), &texts, &decoding, batch.progress)?;
        let rewrite = |(request, text): (&Request, String)| {
            if text.trim().is_empty() {
                request.clone()
            } else {
                with_last_utterance(request, text)
            }
        };
        let requests = batch.requests.iter().zip(written).map(rewrite).collect();
        Ok(Rewritten { requests, queries: None })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use clariq_core::{Said, Utterance};

    fn rewrite(keys: &str) -> T5Rewrite {
        toml::from_str(&format!("model = \"t5\"\n{keys}")).unwrap()
    }

    #[test]
    fn the_organisers_form_is_read() {
        let mut request = Request::new("1", "a");
        assert_eq!(rewrite("").text(&request), " ||| a");
        request.said.extend([Utterance::system("b"), Utterance::user("c"), Utterance::system("d")]);
        assert_eq!(rewrite("").text(&request), " ||| a ||| b ||| c");
        let other = rewrite("separator = \"/\"\nresponses = false");
        assert_eq!(other.text(&request), "/a/c");
        request.said = Said::default();
        assert_eq!(rewrite("").text(&request), "");
    }
}
