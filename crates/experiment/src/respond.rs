//! The texts of a system that answers: responses and clarifying questions, both composed of sentences
//! of the best passages, or written by a language model.

mod generated;
mod summarised;

use crate::session::Contexts;
use clariq_collections::documents::{Bank, BankRow};
use clariq_collections::{WrittenResponse, sentences, tokens};
use clariq_core::{Doc, Documents, Hit, Progress, Ranking, Request, Result};
use clariq_rank::{Batch, Context, Pipeline, write_questions};
use clariq_systems::plan::{AnswerPlan, AskConfig, ResponseRule};

/// The request and the passages that a text is written from.
pub(crate) struct Material<'m> {
    pub(crate) request: &'m Request,
    /// The passages to write from, best first.
    pub(crate) passages: &'m [Hit],
}

/// Writes the texts of a system that answers.
pub(crate) struct ResponseWriter<'w, 'a> {
    pub(crate) contexts: &'w Contexts<'a>,
    /// The context of the passages.
    pub(crate) context: &'w Context<'a>,
    pub(crate) plan: &'w AnswerPlan,
    pub(crate) progress: Progress<'w>,
}

impl ResponseWriter<'_, '_> {
    /// Writes the responses to requests or, where there is a reason to ask, a clarifying question.
    /// The calls to a language model are sent together.
    pub(crate) fn write(
        &self,
        materials: &[Material],
        asks: &[Option<String>],
    ) -> Result<Vec<Vec<WrittenResponse>>> {
        let Self { context, plan, .. } = *self;
        let mut all = vec![Vec::new(); materials.len()];
        let (asking, answering): (Vec<usize>, Vec<usize>) =
            (0..materials.len()).partition(|&index| asks[index].is_some());
        if let Some(rule) = &plan.config.response {
            let answered: Vec<&Material> =
                answering.iter().map(|&index| &materials[index]).collect();
            let responses = if let Some(writer) = &plan.config.writer {
                self.generated(writer, rule, &answered)?
            } else if let Some(summary) = &plan.config.summary {
                self.summarised(summary, rule, &answered)?
            } else {
                self.extracts(rule, &answered)?
            };
            for (index, responses) in answering.into_iter().zip(responses) {
                all[index] = responses;
            }
        }
        let Some(ask) = &plan.ask else { return Ok(all) };
        if let Some(writer) = &ask.writer {
            let requests: Vec<Request> =
                asking.iter().map(|&index| materials[index].request.clone()).collect();
            let questions = write_questions(writer, context, &requests)?;
            for (index, text) in asking.into_iter().zip(questions) {
                all[index] = vec![WrittenResponse { text, used: Vec::new() }];
            }
        } else {
            for index in asking {
                all[index] = vec![self.question(ask, &materials[index])?];
            }
        }
        Ok(all)
    }

    /// The responses to requests: each is an extract of passages of its own, the first of the best.
    fn extracts(
        &self,
        rule: &ResponseRule,
        materials: &[&Material],
    ) -> Result<Vec<Vec<WrittenResponse>>> {
        let mut all = Vec::with_capacity(materials.len());
        for material in materials {
            let mut responses = Vec::with_capacity(self.plan.config.responses);
            for passages in shares(self.plan, rule, material.passages) {
                responses.push(self.respond(&Material { passages, ..**material })?);
            }
            all.push(responses);
        }
        Ok(all)
    }

    /// Writes a response from all the passages of `material`.
    fn respond(&self, material: &Material) -> Result<WrittenResponse> {
        let Some((pipeline, rule)) = self.plan.extract() else {
            return Ok(WrittenResponse::default());
        };
        let (sentences, ranking) = self.rank_sentences(pipeline, rule, material)?;
        let (text, used) = sentences.extract(&ranking, rule);
        Ok(WrittenResponse { text, used })
    }

    /// Writes a clarifying question that offers the best sentence of each of the best passages.
    fn question(&self, ask: &AskConfig, material: &Material) -> Result<WrittenResponse> {
        let Some((pipeline, rule)) = self.plan.extract() else {
            return Ok(WrittenResponse::default());
        };
        let passages = &material.passages[..material.passages.len().min(ask.choices)];
        let material = Material { passages, ..*material };
        let (sentences, ranking) = self.rank_sentences(pipeline, rule, &material)?;
        let text = sentences.question(&ranking, passages, rule);
        Ok(WrittenResponse { text, used: Vec::new() })
    }

    /// Ranks the sentences of the passages of `material`.
    fn rank_sentences(
        &self,
        pipeline: &Pipeline,
        rule: &ResponseRule,
        material: &Material,
    ) -> Result<(Sentences, Ranking)> {
        // Each request has a bank of its own: document frequencies of words must not depend on other
        // requests, some of which are later turns of the conversation.
        let sentences = Sentences::new(material.passages, self.context.documents, rule)?;
        let requests = [sentences.request(material.request)];
        let mut rankings = {
            let context = self.contexts.over(&sentences.bank);
            let batch = Batch { progress: self.progress, ..Batch::new(&context, &requests) };
            pipeline.run(&batch, batch.unranked())?
        };
        Ok((sentences, rankings.remove(0)))
    }
}

/// The passages of each response: the best for the first one, the next for the second, and so on.
/// Fewer responses, if there are not enough passages.
fn shares<'m>(plan: &AnswerPlan, rule: &ResponseRule, all: &'m [Hit]) -> Vec<&'m [Hit]> {
    let mut shares = Vec::with_capacity(plan.config.responses);
    for number in 0..plan.config.responses {
        let begin = number * rule.sources;
        if number > 0 && begin >= all.len() {
            break;
        }
        shares.push(&all[begin..all.len().min(begin + rule.sources)]);
    }
    shares
}

/// The maximum number of tokens of a question beside its sentences.
const TOKENS_OF_QUESTION: usize = 20;

/// The sentences of passages.
struct Sentences {
    bank: Bank,
    /// The passage of each sentence.
    passages: Vec<Doc>,
}

impl Sentences {
    /// Cuts the passages of a ranking into sentences.
    fn new(ranking: &[Hit], passages: &dyn Documents, rule: &ResponseRule) -> Result<Self> {
        let mut cut: Vec<Doc> = ranking.iter().map(|hit| hit.doc).collect();
        cut.sort_unstable();
        let mut rows = Vec::new();
        let mut passage_of = Vec::new();
        for passage in cut {
            for sentence in suitable_sentences(rule, &passages.text(passage)?) {
                // Ids of equal length, so that the order of the bank is the order of the sentences.
                let id = format!("{:08}", rows.len()).as_str().into();
                rows.push(BankRow { id, text: sentence.to_owned() });
                passage_of.push(passage);
            }
        }
        Ok(Self { bank: Bank::new(rows, ""), passages: passage_of })
    }

    /// The request with all sentences as candidates, so that no stage cuts them off.
    fn request(&self, request: &Request) -> Request {
        let candidates = Some(Doc::all(self.passages.len()).collect());
        Request { candidates, ..request.clone() }
    }

    /// The best sentences that fit, in the order of their ranking, and their passages, in the order of
    /// their first sentences.
    fn extract(&self, ranking: &[Hit], rule: &ResponseRule) -> (String, Vec<Doc>) {
        let mut text = String::new();
        let mut count = 0;
        let mut used = Vec::new();
        for hit in ranking {
            let sentence = self.bank.text(hit.doc);
            let longer = count + tokens::count_added(sentence);
            if longer <= rule.tokens {
                let space = if text.is_empty() { "" } else { " " };
                text.extend([space, sentence]);
                count = longer;
                self.note_passage(hit.doc, &mut used);
            }
        }
        if let (true, Some(best)) = (text.is_empty(), ranking.first()) {
            tokens::first(self.bank.text(best.doc), rule.tokens).clone_into(&mut text);
            self.note_passage(best.doc, &mut used);
        }
        (text, used)
    }

    /// A question that offers the best sentence of each passage.
    fn question(&self, ranking: &[Hit], passages: &[Hit], rule: &ResponseRule) -> String {
        let tokens = rule.tokens.saturating_sub(TOKENS_OF_QUESTION) / passages.len().max(1);
        let mut choices = Vec::with_capacity(passages.len());
        for passage in passages {
            let best = ranking.iter().find(|hit| self.passages[hit.doc.index()] == passage.doc);
            let Some(best) = best else { continue };
            let sentence = tokens::first(self.bank.text(best.doc), tokens);
            choices.push(format!("\"{}\"", sentence.trim_end_matches('.')));
        }
        format!("Do you mean {}?", choices.join(" or "))
    }

    fn note_passage(&self, sentence: Doc, used: &mut Vec<Doc>) {
        let passage = self.passages[sentence.index()];
        if !used.contains(&passage) {
            used.push(passage);
        }
    }
}

/// The sentences of a passage with a suitable length; all sentences, if none is suitable.
fn suitable_sentences<'p>(rule: &ResponseRule, passage: &'p str) -> Vec<&'p str> {
    let all: Vec<&str> = sentences::split(passage)
        .into_iter()
        .map(str::trim)
        .filter(|sentence| !sentence.is_empty())
        .collect();
    let fits = |sentence: &&&str| {
        let words = sentence.split_whitespace().count();
        (rule.fewest_words..=rule.most_words).contains(&words)
    };
    let usual: Vec<&str> = all.iter().filter(fits).copied().collect();
    if usual.is_empty() { all } else { usual }
}

#[cfg(test)]
mod tests {
    use super::*;

    const RULE: ResponseRule =
        ResponseRule { sources: 1, tokens: 12, fewest_words: 3, most_words: 8 };

    fn extracted(passage: &str, order: &[usize]) -> (String, Vec<Doc>) {
        let row = BankRow { id: "p:0".into(), text: passage.to_owned() };
        let bank = Bank::new(vec![row], "");
        let sentences = Sentences::new(&[Hit { doc: Doc(0), score: 1.0 }], &bank, &RULE).unwrap();
        let hit = |&index: &usize| Hit { doc: Doc(index as u32), score: 1.0 };
        let hits: Vec<Hit> = order.iter().map(hit).collect();
        sentences.extract(&hits, &RULE)
    }

    #[test]
    fn an_answer_is_made_of_the_sentences_that_fit() {
        let passage =
            "Right. The tent is small and green. The tent is quite heavy. It is dry inside.";
        // 7 and 6 tokens do not fit together, 7 and 5 do; the first sentence is too short.
        let (text, used) = extracted(passage, &[0, 1, 2]);
        assert_eq!(text, "The tent is small and green. It is dry inside.");
        assert_eq!(used, [Doc(0)]);
    }

    #[test]
    fn a_sentence_that_is_too_long_by_itself_is_cut() {
        let (text, used) = extracted(&"word ".repeat(40), &[0]);
        assert_eq!(tokens::count(&text), 12);
        assert_eq!(used, [Doc(0)]);
        assert_eq!(
            extracted("Yes. No.", &[0]).0,
            "Yes.",
            "all sentences, if every one is too short"
        );
    }
}
