//! Synthesised conversations: every combination of the questions and answers of one facet.
//!
//! The data set's own multi-turn files were made in this way (Aliannejadi, Zamani, Crestani and
//! Croft, "Asking Clarifying Questions in Open-Domain Information-Seeking Conversations", SIGIR
//! 2019): with one information need in mind, the answer to a question does not depend on
//! earlier questions, so any of the facet's questions can follow any others.
//!
//! Ids are derived from content and not counted, so that they do not depend on other records: a
//! context without turns has the number of its facet, as in the released files; a context with turns
//! has that number × 1,000,000 plus two digits for each turn, which are the question's place among the
//! facet's rows. A record has the id of its context × 100 plus the place of its question.

use super::{ClariqConversation, ClariqTurn, ConversationRecord, put_json_lines};
use crate::NO_QUESTION;
use crate::collection::ClariQ;
use crate::labelled::{Labelled, LabelledRow};
use clariq_collections::{Collection, Split};
use clariq_core::{Error, bail};
use clariq_files::Target;
use itertools::{Either, Itertools};
use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};

/// Two digits for each place, and three turns before the next question.
const PLACES: i64 = 100;
const CONTEXTS_OF_A_FACET: i64 = PLACES * PLACES * PLACES;

/// The most turns of a conversation, the next question included, for which there are ids.
const MOST_TURNS: usize = 4;

const HINT: &str = "the ids of conversations are made from the number of their facet";

/// The orders of past turns.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum TurnOrder {
    /// Each set of questions occurs once, in the order of the file.
    #[default]
    Combinations,
    /// Each set of questions occurs in every order.
    Permutations,
}

/// The conversations to make.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ConversationShape {
    /// The most turns of a conversation, the next question included.
    pub turns: usize,
    /// The orders of past turns.
    pub order: TurnOrder,
    /// True if conversations may contain the empty question.
    pub no_question: bool,
    /// True if there is one record per context, without the next question, as in the challenge's
    /// test file; else one for each question that can follow.
    pub contexts_only: bool,
}

impl Default for ConversationShape {
    /// Up to three turns, as in the released files.
    fn default() -> Self {
        Self { turns: 3, order: TurnOrder::Combinations, no_question: false, contexts_only: false }
    }
}

/// Counts of [`synthesize`].
pub struct Synthesized {
    /// Facets of the split.
    pub facets: usize,
    /// Contexts with no turns, one, two and so on.
    pub contexts: Vec<usize>,
}

/// Makes the conversations of a labelled split and writes them to files as JSON lines. A name that
/// ends in `.gz` is packed.
pub fn synthesize(
    collection: &dyn Collection,
    split: Split,
    shape: ConversationShape,
    outputs: &[PathBuf],
) -> Result<Synthesized, Error> {
    outputs.iter().try_for_each(|path| check_name(path))?;
    let clariq = ClariQ::of(collection)?;
    let labels = clariq.labelled(split)?;
    let synthesis = Synthesis::new(&labels, shape)?;
    for path in outputs {
        Target::new(path).write(|out| put_json_lines(out, synthesis.records()))?;
    }
    Ok(Synthesized { facets: labels.facets.len(), contexts: synthesis.counts() })
}

/// Refuses a name of another format.
fn check_name(path: &Path) -> Result<(), Error> {
    let name = path.to_string_lossy();
    let is_lines = name.ends_with(".jsonl") || name.ends_with(".jsonl.gz");
    if !is_lines && !Target::new(path).is_stream() {
        let expected = "a name that ends in .jsonl or .jsonl.gz";
        let hint = "conversations are written as JSON lines";
        bail!(path, expected, "another ending", hint);
    }
    Ok(())
}

/// The conversations synthesised from the rows of a labelled file.
pub struct Synthesis<'a> {
    labelled: &'a Labelled,
    facets: Vec<FacetRows<'a>>,
    shape: ConversationShape,
}

struct FacetRows<'a> {
    place: usize,
    number: i64,
    /// The distinct questions with their places, from 1.
    rows: Vec<(i64, &'a LabelledRow)>,
}

impl<'a> Synthesis<'a> {
    /// Groups the rows by facet. The id of a facet must be `F` and a number, from which the ids of
    /// contexts are made.
    pub fn new(labelled: &'a Labelled, shape: ConversationShape) -> Result<Self, Error> {
        if !(1..=MOST_TURNS).contains(&shape.turns) {
            let found = shape.turns.to_string();
            let hint = "the released conversations have up to 3 turns";
            bail!("--turns", "1 to {MOST_TURNS}", found, hint);
        }
        let mut rows: Vec<Vec<&LabelledRow>> = vec![Vec::new(); labelled.facets.len()];
        labelled.rows.iter().for_each(|row| rows[row.facet].push(row));
        let mut ids = HashMap::new();
        let mut facets = Vec::with_capacity(rows.len());
        for (place, rows) in rows.into_iter().enumerate() {
            let facet = FacetRows::new(labelled, place, &rows, shape)?;
            let id = labelled.facets[place].id.as_str();
            if let Some(other) = ids.insert(facet.number, id) {
                let at = (&*labelled.name, rows.first().map_or(1, |row| row.line));
                bail!(at, "facet ids with different numbers", "`{id}` beside `{other}`", HINT);
            }
            facets.push(facet);
        }
        Ok(Self { labelled, facets, shape })
    }

    /// The number of contexts with no turns, with one, two and so on.
    pub fn counts(&self) -> Vec<usize> {
        let mut counts = vec![0; self.shape.turns];
        for facet in &self.facets {
            self.contexts(facet).for_each(|context| counts[context.len()] += 1);
        }
        counts
    }

    /// All records, facet by facet, shorter conversations first.
    pub fn records(&self) -> impl Iterator<Item = ConversationRecord> {
        self.facets.iter().flat_map(move |facet| {
            self.contexts(facet).flat_map(move |context| self.records_of(facet, &context))
        })
    }

    fn records_of(&self, facet: &FacetRows, context: &[usize]) -> Vec<ConversationRecord> {
        let conversation = self.conversation(facet, context);
        if self.shape.contexts_only {
            return vec![ConversationRecord {
                id: conversation.id.to_string(),
                conversation,
                next: None,
                again: false,
            }];
        }
        let others = (0..facet.rows.len()).filter(|place| !context.contains(place));
        let record = |(number, place): (usize, usize)| ConversationRecord {
            id: (conversation.id * PLACES + facet.rows[place].0).to_string(),
            conversation: conversation.clone(),
            next: Some(turn(facet.rows[place].1)),
            again: number > 0,
        };
        others.enumerate().map(record).collect()
    }

    fn conversation(&self, facet: &FacetRows, context: &[usize]) -> ClariqConversation {
        let about = &self.labelled.facets[facet.place];
        let topic = &self.labelled.topics[about.topic];
        let places = context.iter().fold(0, |sum, &place| sum * PLACES + facet.rows[place].0);
        let id = if context.is_empty() {
            facet.number
        } else {
            facet.number * CONTEXTS_OF_A_FACET + places
        };
        ClariqConversation {
            id,
            topic: topic.id.clone(),
            facet: about.id.clone(),
            request: topic.request.clone(),
            turns: context.iter().map(|&place| turn(facet.rows[place].1)).collect(),
        }
    }

    /// Every context of a facet, as positions of its rows.
    fn contexts(&self, facet: &FacetRows) -> impl Iterator<Item = Vec<usize>> + use<> {
        let questions = 0..facet.rows.len();
        let order = self.shape.order;
        (0..self.shape.turns).flat_map(move |turns| match order {
            TurnOrder::Combinations => Either::Left(questions.clone().combinations(turns)),
            TurnOrder::Permutations => Either::Right(questions.clone().permutations(turns)),
        })
    }
}

impl<'a> FacetRows<'a> {
    fn new(
        labelled: &Labelled,
        place: usize,
        rows: &[&'a LabelledRow],
        shape: ConversationShape,
    ) -> Result<Self, Error> {
        let id = labelled.facets[place].id.as_str();
        let at = (&*labelled.name, rows.first().map_or(1, |row| row.line));
        let digits =
            id.strip_prefix('F').filter(|digits| digits.bytes().all(|byte| byte.is_ascii_digit()));
        let number = digits
            .and_then(|digits| digits.parse().ok())
            .filter(|&number| number < CONTEXTS_OF_A_FACET);
        let Some(number) = number else {
            bail!(at, "a facet id of `F` and up to 6 digits", "`{id}`", HINT);
        };
        let mut seen = HashSet::new();
        let distinct = rows.iter().filter(|row| seen.insert(&row.question)).copied();
        let mut rows: Vec<(i64, &LabelledRow)> = (1..).zip(distinct).collect();
        if rows.last().is_some_and(|(place, _)| *place >= PLACES) {
            let found = format!("{} for `{id}`", rows.len());
            let hint = "the ids of conversations have two digits for each turn";
            bail!(at, "fewer than {PLACES} questions for a facet", found, hint);
        }
        rows.retain(|(_, row)| shape.no_question || row.question.as_str() != NO_QUESTION);
        Ok(Self { place, number, rows })
    }
}

fn turn(row: &LabelledRow) -> ClariqTurn {
    ClariqTurn { question: row.text.clone(), answer: row.answer.clone() }
}
