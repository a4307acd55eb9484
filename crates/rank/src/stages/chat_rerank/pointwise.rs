//! One document at a time: the probability of "yes", or a grade.
//!
//! The probability of "yes" against "no" is that of Nogueira, Jiang, Pradeep and Lin, "Document
//! Ranking with a Pretrained Sequence-to-Sequence Model", EMNLP Findings 2020, for models that are not
//! trained for it: Qin et al., "Large Language Models are Effective Text Rankers with Pairwise Ranking
//! Prompting", NAACL Findings 2024, section 2.1. Grades are those of Zhuang et al., "Beyond Yes and No:
//! Improving Zero-Shot LLM Rankers via Scoring Fine-Grained Relevance Labels", NAACL 2024.

use super::reader::{Reader, variable};
use crate::chat::{ChatDefaults, ChatUse};
use crate::context::Context;
use clariq_core::{
    Answer, AnswerForm, ChatRequest, Completion, Doc, Explanation, Hit, ProblemKind, Ranking,
    Request, Result, Thinking, problem,
};
use serde::{Deserialize, Serialize};
use std::num::NonZeroU32;

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Pointwise {
    /// `logprobs`: the probability of "yes" against "no" in the first token; `grade`: the grade from 0 to 3 in the answer.
    score: PointwiseScore,
}

/// How a document is scored.
#[derive(Clone, Copy, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
enum PointwiseScore {
    /// The probability that the answer begins with "yes", of "yes" and "no".
    Logprobs,
    /// The grade in the answer, from 0 to 3.
    Grade,
}

const YES_OR_NO: ChatDefaults = ChatDefaults {
    prompt: "rerank-yes-no",
    variables: &["query", "passage"],
    max_tokens: NonZeroU32::MIN,
};
const GRADE: ChatDefaults = ChatDefaults {
    prompt: "rerank-grade",
    variables: &["query", "passage", "form"],
    max_tokens: NonZeroU32::new(32).unwrap(),
};
/// Alternatives of the first token, which may be a longer beginning or another spelling: the most that
/// servers give.
const ALTERNATIVES: u8 = 20;
const BEST_GRADE: u8 = 3;
const UNREAD: &str = "chat_rerank: {count} of {all} answers could not be read; their documents follow \
                      the others";
/// The score of a document whose answer could not be read, below all others.
const UNCLEAR: f64 = -1.0;

impl Pointwise {
    pub(super) fn defaults(&self) -> ChatDefaults {
        match self.score {
            PointwiseScore::Logprobs => YES_OR_NO,
            PointwiseScore::Grade => GRADE,
        }
    }

    pub(super) fn top_logprobs(&self) -> u8 {
        match self.score {
            PointwiseScore::Logprobs => ALTERNATIVES,
            PointwiseScore::Grade => 0,
        }
    }

    /// Orders documents by their scores. Of equal ones, that which was before comes first.
    pub(super) fn reorder(
        &self,
        reader: Reader,
        context: &Context,
        batch: &[(&Request, &[Hit])],
    ) -> Result<Vec<Ranking>> {
        let mut asked = Vec::new();
        for (request, hits) in batch {
            for hit in *hits {
                asked.push(self.score.ask(reader, context, request, hit.doc)?);
            }
        }
        let most = batch.iter().map(|(request, _)| reader.depth(request)).max().unwrap_or(0);
        let completions = self.score.complete(reader, context, &asked, most)?;
        let mut answers = asked.iter().zip(&completions);
        let mut all = Vec::with_capacity(batch.len());
        for (_, hits) in batch {
            let mut docs = Vec::with_capacity(hits.len());
            for (hit, (asked, completion)) in hits.iter().zip(answers.by_ref()) {
                let score = self.score.read(asked, completion)?;
                docs.push(Hit { score: score.unwrap_or(UNCLEAR), ..*hit });
            }
            docs.sort_by(|one, other| other.score.total_cmp(&one.score));
            all.push(docs);
        }
        Ok(all)
    }

    pub(super) fn explain(
        &self,
        reader: Reader,
        context: &Context,
        request: &Request,
        doc: Doc,
    ) -> Result<Explanation> {
        let asked = [self.score.ask(reader, context, request, doc)?];
        let completions = self.score.complete(reader, context, &asked, 1)?;
        let score = self.score.read(&asked[0], &completions[0])?;
        let text = completions[0].text.trim();
        let what = match (self.score, score) {
            (_, None) => format!("the answer \"{text}\" could not be read"),
            (PointwiseScore::Logprobs, _) => "probability of \"yes\" against \"no\"".to_owned(),
            (PointwiseScore::Grade, _) => format!("grade from 0 to {BEST_GRADE} in \"{text}\""),
        };
        Ok(Explanation::value(score.unwrap_or(UNCLEAR), what))
    }
}

impl PointwiseScore {
    fn ask(
        self,
        reader: Reader,
        context: &Context,
        request: &Request,
        doc: Doc,
    ) -> Result<ChatRequest> {
        let form = match self {
            Self::Logprobs => None,
            Self::Grade => Some(AnswerForm::Grade(0..=BEST_GRADE)),
        };
        let passage = variable("passage", &reader.text(context, doc)?);
        reader.ask(context, request, form, passage)
    }

    /// The answers to requests, of which a request of the run has at most so many.
    fn complete(
        self,
        reader: Reader,
        context: &Context,
        asked: &[ChatRequest],
        most: usize,
    ) -> Result<Vec<Completion>> {
        let mut usage = ChatUse { answers: most, ..ChatUse::new(UNREAD) };
        if let Self::Logprobs = self {
            usage.fits = |asked, completion| Ok(Self::Logprobs.read(asked, completion)?.is_some());
        }
        reader.chat.complete(context, usage, asked)
    }

    /// The score that an answer gives; `None` if there is none in it.
    fn read(self, asked: &ChatRequest, completion: &Completion) -> Result<Option<f64>> {
        match self {
            // One token of a model that thinks is none of its answer.
            Self::Logprobs if completion.thinking == Thinking::Unended => Ok(None),
            Self::Logprobs if completion.first_token.is_empty() => {
                let expected = "log-probabilities of the first token from the server";
                let hint = "`score = \"grade\"` reads a grade from the text instead";
                let problem = problem!(&*asked.about, expected, "an answer without them", hint);
                Err(problem.kind(ProblemKind::Server).into())
            }
            Self::Logprobs => Ok(probability_of_yes(&completion.first_token)),
            Self::Grade => Ok(match completion.answer {
                Some(Answer::Grade(grade)) => Some(grade.into()),
                _ => None,
            }),
        }
    }
}

/// The share of "yes" in the probabilities of "yes" and "no", however they are spelt; `None` if
/// neither is among the alternatives.
fn probability_of_yes(first_token: &[(String, f64)]) -> Option<f64> {
    let probability = |word: &str| {
        let alternatives = first_token.iter().filter(|(token, _)| is_word(token, word));
        alternatives.map(|(_, log)| log.exp()).sum::<f64>()
    };
    let yes = probability("yes");
    let no = probability("no");
    (yes + no > 0.0).then(|| yes / (yes + no))
}

/// True for ` Yes` and `yes`. Some tokenizers show the blank as `Ġ` or `▁`.
fn is_word(token: &str, word: &str) -> bool {
    token.trim_matches(|c: char| !c.is_ascii_alphabetic()).eq_ignore_ascii_case(word)
}

#[cfg(test)]
mod tests {
    use super::*;
    use clariq_core::ChatParameters;

    #[test]
    fn yes_counts_against_no_in_every_spelling() {
        let tokens = |tokens: &[(&str, f64)]| {
            let logs: Vec<(String, f64)> =
                tokens.iter().map(|(token, p)| ((*token).to_owned(), p.ln())).collect();
            probability_of_yes(&logs)
        };
        let p = tokens(&[("Yes", 0.4), (" yes", 0.2), ("ĠNo", 0.2), ("The", 0.1)]).unwrap();
        assert!((p - 0.75).abs() < 1e-12, "{p}");
        assert_eq!(tokens(&[("no", 0.4)]), Some(0.0));
        assert_eq!(tokens(&[("yes", 0.4), ("yesterday", 0.1)]), Some(1.0));
        assert_eq!(tokens(&[("The", 0.9), ("not", 0.1)]), None);
    }

    #[test]
    fn a_model_that_only_thinks_gives_no_probability() {
        let asked = ChatRequest {
            about: "a request".to_owned(),
            messages: Vec::new(),
            parameters: ChatParameters::default(),
            form: None,
        };
        let completion = Completion { thinking: Thinking::Unended, ..Completion::default() };
        assert_eq!(PointwiseScore::Logprobs.read(&asked, &completion).unwrap(), None);
        assert!(PointwiseScore::Logprobs.read(&asked, &Completion::default()).is_err());
    }
}
