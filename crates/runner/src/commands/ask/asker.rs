//! The next move in a conversation: to ask, to ask nothing more, or to answer.

use crate::commands::explain::{place, trace_json};
use crate::commands::rank::{documents_json, response_json};
use crate::failure::Failure;
use clariq_core::{Doc, Documents, Error, Hit, Ranking, Request, fixed, printable};
use clariq_experiment::needs::need_model;
use clariq_experiment::requests::Incoming;
use clariq_experiment::{Contexts, Loaded, Ranked, RankedDocument, Ranker};
use clariq_need::Classifier;
use clariq_rank::{Batch, Context, StageTrace};
use serde_json::{Value, json};
use std::fmt::Write as _;

/// How many candidates `--why` shows.
const SHOWN: usize = 5;
/// How deep explanations go: parts of the conversation, and what each is made of.
const LEVELS: usize = 2;

/// A system, ready to ask, or to answer where that is what it does.
pub(super) struct Asker<'a> {
    documents: &'a dyn Documents,
    context: &'a Context<'a>,
    loaded: &'a Loaded,
    need: Option<Classifier>,
    /// What answers.
    ranker: Option<Ranker<'a>>,
    max_turns: usize,
    explain: bool,
}

/// The next move; on request also the best candidates and what each stage made of the first
/// question.
pub(super) enum Move {
    Ask { question: Asked, score: f64, why: Why },
    Stop { reason: &'static str, why: Why },
    Answer(Box<Ranked>),
}

/// A question by id and text.
pub(super) struct Asked {
    id: String,
    pub(super) text: String,
}

#[derive(Default)]
pub(super) struct Why {
    candidates: Vec<(Asked, f64)>,
    stages: Vec<StageTrace>,
}

/// Nothing is left to ask.
fn nothing_left() -> Move {
    Move::Stop { reason: "no question is left", why: Why::default() }
}

impl Move {
    /// What is said to the user: the question that is asked, or the answer.
    pub(super) fn says(&self) -> Option<&str> {
        match self {
            Self::Ask { question, .. } => Some(&question.text),
            Self::Answer(ranked) => ranked.answer.as_ref().map(|answer| answer.text.as_str()),
            Self::Stop { .. } => None,
        }
    }
}

impl<'a> Asker<'a> {
    pub(super) fn new(
        contexts: &'a Contexts<'a>,
        loaded: &'a Loaded,
        max_turns: usize,
        explain: bool,
    ) -> Result<Self, Failure> {
        let session = contexts.session();
        let need = need_model(session, contexts.models(), loaded)?;
        let answers = !loaded.system.tasks.is_empty();
        let ranker = answers.then(|| Ranker::new(contexts, loaded, SHOWN, false)).transpose()?;
        let (documents, context) = (session.documents, contexts.of(session.task)?);
        Ok(Self { documents, context, loaded, need, ranker, max_turns, explain })
    }

    /// Whether it answers.
    pub(super) fn answers(&self) -> bool {
        self.ranker.is_some()
    }

    /// A conversation with the need of its opening.
    pub(super) fn begin(&self, mut conversation: Incoming) -> Result<Incoming, Failure> {
        if let Some(model) = &self.need {
            let predictions = model.predict(&[conversation.request.opening()])?;
            conversation.request.need = predictions.first().map(|prediction| prediction.need);
        }
        Ok(conversation)
    }

    /// Opens everything that the system looks at, so that what fails later is about a request.
    pub(super) fn warm_up(&self) -> Result<(), Failure> {
        self.next(&self.begin(Request::new("0", "hello").into())?).map(drop)
    }

    fn read(&self, question: Doc) -> Result<Asked, Error> {
        let id = self.documents.id(question).into_owned();
        Ok(Asked { id, text: self.documents.text(question)?.into_owned() })
    }

    /// Decides what comes next.
    pub(super) fn next(&self, conversation: &Incoming) -> Result<Move, Failure> {
        if let Some(ranker) = &self.ranker {
            let ranked = ranker.rank(vec![conversation.clone()])?;
            return Ok(ranked
                .into_iter()
                .next()
                .map_or_else(nothing_left, |ranked| Move::Answer(Box::new(ranked))));
        }
        let conversation = &conversation.request;
        if conversation.turns().count() >= self.max_turns {
            return Ok(Move::Stop { reason: "enough questions were asked", why: Why::default() });
        }
        let pipeline = &self.loaded.system.pipeline;
        let one = Batch::new(self.context, std::slice::from_ref(conversation));
        let ranking = pipeline.run(&one, one.unranked())?.pop().unwrap_or_default();
        let Some(&Hit { doc: question, score }) = ranking.first() else {
            return Ok(nothing_left());
        };
        let mut why = Why::default();
        if self.explain {
            // What it would ask, if it asks nothing.
            let real = ranking.iter().find(|hit| Some(hit.doc) != self.documents.silence());
            let about = real.map_or(question, |hit| hit.doc);
            why.stages = pipeline.explain(&one, about, &Ranking::new())?;
            for hit in ranking.iter().take(SHOWN) {
                why.candidates.push((self.read(hit.doc)?, hit.score));
            }
        }
        if Some(question) == self.documents.silence() {
            return Ok(Move::Stop { reason: "the system asks nothing", why });
        }
        Ok(Move::Ask { question: self.read(question)?, score, why })
    }

    /// Why, for a person: nothing unless it was asked for.
    pub(super) fn reasons(&self, next: &Move) -> String {
        let mut text = String::new();
        if !self.explain {
            return text;
        }
        let why = match next {
            Move::Ask { why, .. } | Move::Stop { why, .. } => why,
            Move::Answer(ranked) => return self.sources(ranked),
        };
        if let Move::Stop { reason, .. } = next {
            let _ = writeln!(text, "  stops: {reason}");
        }
        for trace in &why.stages {
            let _ = writeln!(text, "  {}: {}", trace.stage, place(trace));
            let told = trace.explanation.as_ref().map(|why| why.cut(LEVELS).to_string());
            for line in told.iter().flat_map(|told| told.lines()) {
                let _ = writeln!(text, "    {}", printable(line, usize::MAX));
            }
        }
        for (Asked { id, text: question }, score) in &why.candidates {
            let _ = writeln!(text, "  {}  {id} {question:?}", fixed(*score, 6));
        }
        text
    }

    /// What an answer rests on, and what else ranks high, for a person.
    fn sources(&self, ranked: &Ranked) -> String {
        let mut text = String::new();
        let Some(answer) = &ranked.answer else { return text };
        for (task, (ranking, used)) in
            self.tasks().iter().zip(ranked.rankings.iter().zip([&answer.statements, &answer.used]))
        {
            let _ = writeln!(text, "  {task}:");
            for RankedDocument { id, text: document, score } in ranking {
                let mark = if used.contains(id) { '*' } else { ' ' };
                let _ = writeln!(text, "  {mark} {}  {id} {document:?}", fixed(*score, 6));
            }
        }
        text
    }

    fn tasks(&self) -> Vec<&'static str> {
        self.ranker.as_ref().map_or(Vec::new(), |ranker| ranker.pipelines().tasks())
    }

    fn answer_object(&self, conversation: &Request, ranked: &Ranked) -> Value {
        let mut object = json!({ "turn": conversation.turns().count() + 1, "action": "answer" });
        if let Some(answer) = &ranked.answer {
            object["response"] = response_json(answer);
        }
        if self.explain {
            for (task, ranking) in self.tasks().iter().zip(&ranked.rankings) {
                object[*task] = documents_json(ranking);
            }
        }
        object
    }

    /// The same for a program.
    pub(super) fn object(&self, conversation: &Request, next: &Move) -> Value {
        let mut object =
            json!({ "turn": conversation.turns().count() + 1, "need": conversation.need });
        let why = match next {
            Move::Ask { why, .. } | Move::Stop { why, .. } => why,
            Move::Answer(ranked) => return self.answer_object(conversation, ranked),
        };
        match next {
            Move::Answer(_) => {}
            Move::Ask { question, score, .. } => {
                object["action"] = "ask".into();
                object["question_id"] = question.id.as_str().into();
                object["question"] = question.text.as_str().into();
                object["score"] = (*score).into();
            }
            Move::Stop { reason, .. } => {
                object["action"] = "stop".into();
                let nothing = self.documents.silence();
                object["question_id"] = nothing.map(|doc| self.documents.id(doc)).into();
                object["question"] = "".into();
                object["reason"] = (*reason).into();
            }
        }
        if self.explain {
            let candidate = |(question, score): &(Asked, f64)| json!({ "question_id": question.id, "question": question.text, "score": score });
            object["candidates"] = why.candidates.iter().map(candidate).collect();
            object["stages"] = why.stages.iter().map(trace_json).collect();
        }
        object
    }
}
