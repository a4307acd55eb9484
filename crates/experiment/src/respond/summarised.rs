//! Responses that a T5 writes as summaries of passages, as the organisers' baseline of TREC iKAT 2023 does.

use super::generated::{cut, one_line};
use super::{Material, ResponseWriter, shares};
use clariq_collections::{WrittenResponse, tokens};
use clariq_core::Result;
use clariq_systems::plan::{ResponseRule, SummaryRule};

impl ResponseWriter<'_, '_> {
    /// The responses to the requests of some materials: each summarises passages of its own, and uses all of
    /// them. A response without passages is empty.
    pub(super) fn summarised(
        &self,
        summary: &SummaryRule,
        rule: &ResponseRule,
        materials: &[&Material],
    ) -> Result<Vec<Vec<WrittenResponse>>> {
        let mut all = Vec::new();
        let mut texts = Vec::new();
        for material in materials {
            let mut responses = Vec::new();
            for passages in shares(self.plan, rule, material.passages) {
                let mut joined = Vec::with_capacity(passages.len());
                for hit in passages {
                    joined.push(self.context.documents.text(hit.doc)?);
                }
                if !passages.is_empty() {
                    texts.push(format!("{}{}", summary.prefix, joined.join(" ")));
                }
                let used = passages.iter().map(|hit| hit.doc).collect();
                responses.push(WrittenResponse { text: String::new(), used });
            }
            all.push(responses);
        }
        let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
        let models = self.context.models;
        let written =
            models.generate(&summary.model_name(), &texts, &summary.decoding(), self.progress)?;
        let with_passages = all.iter_mut().flatten().filter(|response| !response.used.is_empty());
        for (response, text) in with_passages.zip(written) {
            let line = one_line(&text);
            let fits = tokens::count(&line) <= rule.tokens;
            response.text = if fits { line } else { cut(&line, rule.tokens) };
        }
        Ok(all)
    }
}
