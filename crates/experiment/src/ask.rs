//! The next move in a conversation: to ask back, to ask nothing more, or to answer.

use crate::needs::NeedScope;
use crate::ranker::{Answer, RankedPart, RankedText, Ranker, RankerOutcome, UserRequest};
use crate::session::Contexts;
use crate::training::open_system;
use clariq_core::{Doc, Hit, Result, bail};
use clariq_rank::{STOPS, StageTrace, shared_words};
use clariq_systems::SystemConfig;
use clariq_systems::plan::PASSAGES;
use std::slice;

/// The number of candidates and sources that are listed.
const SHOWN: usize = 5;
/// The reason to stop where no stage has one.
const NOTHING: &str = "the system asks nothing";

/// A system that holds conversations.
pub struct Asker<'a> {
    /// The open system, with its need model if it has one.
    pub system: Ranker<'a>,
    max_turns: usize,
    /// True if moves contain explanations.
    pub explains: bool,
}

/// The system's next move in a conversation.
pub enum Move {
    /// To ask a question.
    Ask {
        /// The question with its score. A question that a language model wrote has no id, and the score
        /// of the best document.
        question: RankedText,
        /// The explanation, if explanations were requested.
        why: QuestionExplanation,
    },
    /// To ask nothing more.
    Stop {
        /// The reason as a clause, such as `enough questions were asked`.
        reason: String,
        /// The best candidates, if explanations were requested.
        why: QuestionExplanation,
    },
    /// To answer, or to ask what was meant.
    Answer {
        /// The answer, or the clarifying question.
        outcome: RankerOutcome,
        /// The reason why no document fits the utterance, if none does.
        unfit: Option<String>,
    },
}

/// The explanation of a question; empty if none was requested.
#[derive(Default)]
pub struct QuestionExplanation {
    /// The best candidates, best first.
    pub candidates: Vec<RankedText>,
    /// The traces of the best question through the stages.
    pub stages: Vec<StageTrace>,
}

impl Move {
    /// The text for the user: the question, or the answer.
    pub fn text(&self) -> Option<&str> {
        match self {
            Self::Ask { question, .. } => Some(&question.text),
            Self::Answer { outcome, .. } => outcome.answer.as_ref().map(Answer::text),
            Self::Stop { .. } => None,
        }
    }
}

impl<'a> Asker<'a> {
    /// Opens a system that asks at most `max_turns` questions; with `explains`, its moves contain
    /// explanations.
    pub fn open(
        contexts: &'a Contexts<'a>,
        config: &'a SystemConfig,
        max_turns: usize,
        explains: bool,
    ) -> Result<Self> {
        if config.answers() && !config.writes() {
            let expected = "a system that asks or answers";
            let hint = "a key `response` in [answer] makes it answer; `clariq rank` shows rankings";
            bail!(&*config.file, expected, "one that only ranks", hint);
        }
        let system = open_system(contexts, config, NeedScope::Always)?;
        let has_passages =
            system.session().collection.tasks().iter().any(|task| task.name() == PASSAGES);
        if has_passages
            && !config.answers()
            && config.plan.stages().all(|stage| stage.name != "ask")
        {
            let hint = "a table [answer] makes a system answer, and [ask] makes it ask; `clariq rank` shows \
                        rankings";
            bail!(
                &*config.file,
                "a system that asks or answers",
                "one that only ranks passages",
                hint
            );
        }
        Ok(Self { system, max_turns, explains })
    }

    /// True if the system answers instead of asking.
    pub fn answers(&self) -> bool {
        self.system.config.answers()
    }

    /// Opens the documents, indexes and models, so that a later error concerns a request.
    pub fn warm_up(&self) -> Result<()> {
        if !self.system.config.endpoints.is_empty() {
            // Servers are asked for requests alone: every call costs, and a recording has no other.
            return self.system.warm_up();
        }
        self.next(&mut UserRequest::dummy()).map(drop)
    }

    /// Decides on the next move, and predicts the need of the conversation's opening.
    pub fn next(&self, conversation: &mut UserRequest) -> Result<Move> {
        self.system.predict(slice::from_mut(&mut conversation.request))?;
        let conversation = &*conversation;
        let stop = |reason: &str, why| Ok(Move::Stop { reason: reason.to_owned(), why });
        if !self.answers() && conversation.request.turns().count() >= self.max_turns {
            return stop("enough questions were asked", QuestionExplanation::default());
        }
        let mut outcomes = self.system.rank(slice::from_ref(conversation))?;
        let outcome = outcomes.pop().unwrap_or_default();
        if self.answers() {
            let unfit = self.unfit(conversation, &outcome)?;
            return Ok(Move::Answer { outcome, unfit });
        }
        let why = if self.explains {
            self.why(conversation, &outcome.ranking)?
        } else {
            QuestionExplanation::default()
        };
        let empty_question = self.system.session().documents.empty_question();
        let best = outcome.ranking.first().filter(|best| Some(best.doc) != empty_question);
        let mut score = 0.0;
        let mut question = None;
        if let Some(best) = best {
            let listed = self.list(conversation, slice::from_ref(best))?.remove(0);
            score = listed.score;
            question = Some(listed);
        } else {
            let reason = self.reason(conversation, empty_question)?;
            // A question that a model writes needs no document that is like it.
            if reason.is_some() || !outcome.ranking.is_empty() {
                return stop(reason.as_deref().unwrap_or(NOTHING), why);
            }
        }
        if let Some(text) = self.system.written_question(conversation)? {
            question = Some(RankedText { id: String::new(), text, score });
        }
        match question {
            Some(question) => Ok(Move::Ask { question, why }),
            None => stop(NOTHING, why),
        }
    }

    /// The reason why the best passage does not fit the opening of a conversation, if the system
    /// has a rule. Later turns refer to earlier ones, and are always answered.
    fn unfit(&self, conversation: &UserRequest, outcome: &RankerOutcome) -> Result<Option<String>> {
        let config = self.system.config.plan.answer();
        let Some(rule) = config.and_then(|config| config.fits) else { return Ok(None) };
        let asks = outcome.answer.as_ref().is_some_and(|answer| answer.asks.is_some());
        if asks || conversation.request.has_turns() {
            return Ok(None);
        }
        let context = self.system.context(RankedPart::Documents)?;
        let Some(best) = outcome.ranking.first() else {
            return Ok(Some("there are no documents".to_owned()));
        };
        let opening = conversation.request.opening();
        let Some(shared) = shared_words(context, rule.analyzer, opening, best.doc)? else {
            return Ok(Some("the request has only stop words".to_owned()));
        };
        let reason = format!(
            "the best document shares {:.0} % of the request's words, weighted by idf; the minimum \
             is {:.0} %",
            100.0 * shared,
            100.0 * rule.words
        );
        Ok((shared < rule.words).then_some(reason))
    }

    /// The reason of a stage to ask nothing, from the trace of the empty question, or of any document in a
    /// collection without one.
    fn reason(
        &self,
        conversation: &UserRequest,
        empty_question: Option<Doc>,
    ) -> Result<Option<String>> {
        let about = empty_question.unwrap_or(Doc(0));
        let traces = self.system.explain(conversation, RankedPart::Documents, about)?;
        let stages = traces.iter().flat_map(|trace| &trace.stages);
        let parts =
            stages.filter_map(|stage| stage.explanation.as_ref()).flat_map(|why| &why.parts);
        let stops: Vec<&str> = parts.filter_map(|part| part.what.strip_prefix(STOPS)).collect();
        Ok((!stops.is_empty()).then(|| stops.join("; ")))
    }

    /// The best candidates, and the traces of the first one with a text.
    fn why(&self, conversation: &UserRequest, ranking: &[Hit]) -> Result<QuestionExplanation> {
        let empty_question = self.system.session().documents.empty_question();
        let with_text = ranking.iter().find(|hit| Some(hit.doc) != empty_question);
        let Some(about) = with_text.or(ranking.first()) else {
            return Ok(QuestionExplanation::default());
        };
        let traces = self.system.explain(conversation, RankedPart::Documents, about.doc)?;
        let candidates = self.list(conversation, &ranking[..ranking.len().min(SHOWN)])?;
        Ok(QuestionExplanation {
            candidates,
            stages: traces.into_iter().flat_map(|trace| trace.stages).collect(),
        })
    }

    fn list(&self, conversation: &UserRequest, hits: &[Hit]) -> Result<Vec<RankedText>> {
        let mut listed = self.system.list(conversation, RankedPart::Documents, hits)?;
        listed.iter_mut().zip(hits).for_each(|(listed, hit)| listed.score = hit.score);
        Ok(listed)
    }

    /// The best documents of each ranking of an answer.
    pub fn sources(
        &self,
        conversation: &UserRequest,
        outcome: &RankerOutcome,
    ) -> Result<Vec<(RankedPart, Vec<RankedText>)>> {
        let Some(answer) = &outcome.answer else { return Ok(Vec::new()) };
        let list = |part: &RankedPart| {
            let ranking = match part {
                RankedPart::Statements => &answer.statements,
                RankedPart::Documents => &outcome.ranking,
            };
            let best = &ranking[..ranking.len().min(SHOWN)];
            Ok((*part, self.system.list(conversation, *part, best)?))
        };
        self.system.parts().iter().map(list).collect()
    }
}
