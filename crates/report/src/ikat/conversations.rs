//! The conversations: the user's statements, and for each turn the utterance, the organisers' answer
//! and the answers of the runs.

use super::{IkatPage, PageEntry, first_of, text_of};
use crate::scores::ComparedRuns;
use crate::words::{count, figure};
use clariq_eval::Qrels;
use clariq_track_ikat::run::Response;
use clariq_track_ikat::{IkatConversation, IkatTurn};
use maud::{Markup, html};
use std::collections::{HashMap, HashSet};

/// Statements and passages shown of each ranking. Below them are the relevant ones of lower ranks.
const SHOWN: usize = 5;
/// The lowest grade by NIST that counts as relevant.
const RELEVANT: i32 = 2;

/// The id of a turn on the page.
pub(super) fn anchor(conversation: usize, turn: u32) -> String {
    format!("turn-{conversation}-{turn}")
}

/// A run's results for a turn.
#[derive(Default)]
struct TurnResult<'a> {
    /// The numbers of the statements, best first.
    statements: Vec<&'a str>,
    /// The ids of the passages, best first.
    passages: Vec<&'a str>,
    response: Option<&'a Response>,
    /// The scores of the turn, by the name of the measure.
    scores: Vec<(String, f64)>,
}

/// A run, turn by turn.
struct RunByTurn<'a> {
    name: &'a str,
    by_turn: HashMap<&'a str, TurnResult<'a>>,
}

impl<'a> RunByTurn<'a> {
    fn new(entry: &'a PageEntry<'a>) -> Self {
        let mut by_turn: HashMap<&str, TurnResult> = HashMap::new();
        let evaluated = &entry.evaluated;
        let statements = evaluated.statements.as_ref().or(evaluated.provenance.as_ref());
        for line in statements.into_iter().flat_map(|run| &run.lines) {
            by_turn.entry(line.topic.as_str()).or_default().statements.push(line.document.as_str());
        }
        for line in &evaluated.passages.lines {
            by_turn.entry(line.topic.as_str()).or_default().passages.push(line.document.as_str());
        }
        for turn in &entry.submission.turns {
            by_turn.entry(&turn.id).or_default().response = turn.best_response();
        }
        for column in &entry.scores {
            for (turn, value) in &column.values {
                by_turn.entry(turn.as_str()).or_default().scores.push((column.name(), *value));
            }
        }
        Self { name: &entry.shown.name, by_turn }
    }
}

/// A line of a list.
struct ListItem<'a> {
    /// From 1; `None` for a relevant document that is not in the ranking.
    rank: Option<usize>,
    id: &'a str,
    text: String,
    label: DocumentLabel,
    is_used: bool,
}

/// The label of a document of a turn.
struct DocumentLabel {
    is_relevant: bool,
    /// The judge, and the grade if there is one: `organisers`, `NIST 3`.
    words: Vec<String>,
}

/// The first measure of a part of the runs, turn by turn, for the summaries of turns.
struct SummaryMeasure<'a> {
    part: &'static str,
    column: usize,
    /// The positions of turns in the column, by their ids.
    turns: HashMap<&'a str, usize>,
}

impl<'a> SummaryMeasure<'a> {
    fn new(compared: &'a ComparedRuns, part: &'static str) -> Option<Self> {
        let column = first_of(compared, part)?;
        let values = &compared.baseline().scores[column].values;
        let turns = values.iter().zip(0..).map(|((turn, _), index)| (turn.as_str(), index));
        Some(Self { part, column, turns: turns.collect() })
    }
}

/// The scores of a turn, with a mark if runs differ from the baseline.
fn scores(compared: &ComparedRuns, measures: &[SummaryMeasure], turn: &IkatTurn) -> Markup {
    html! {
        @for measure in measures {
            @if let Some(&index) = measure.turns.get(turn.id.as_str()) {
                " "
                span.part.differs[compared.difference(measure.column, index) > 0.0] {
                    (measure.part) " " (compared.change(measure.column, index))
                }
            }
        }
    }
}

/// The number of turns of a conversation on which a run differs from the baseline.
fn count_differing(
    compared: &ComparedRuns,
    measures: &[SummaryMeasure],
    conversation: &IkatConversation,
) -> usize {
    let differs = |turn: &&IkatTurn| {
        measures.iter().any(|measure| {
            let index = measure.turns.get(turn.id.as_str());
            index.is_some_and(|&index| compared.difference(measure.column, index) > 0.0)
        })
    };
    conversation.turns.iter().filter(differs).count()
}

/// The sum of the largest differences from the baseline over the turns of a conversation.
fn difference(
    compared: &ComparedRuns,
    measures: &[SummaryMeasure],
    conversation: &IkatConversation,
) -> f64 {
    let mut sum = 0.0;
    for turn in &conversation.turns {
        let of_turn = measures.iter().filter_map(|measure| {
            let index = *measure.turns.get(turn.id.as_str())?;
            Some(compared.difference(measure.column, index))
        });
        sum += of_turn.sum::<f64>();
    }
    sum
}

/// The section of all conversations. The summary of a turn has the scores of `parts`.
pub(super) fn section(
    comparison: &IkatPage,
    compared: &ComparedRuns,
    parts: [&'static str; 2],
) -> Markup {
    let runs: Vec<RunByTurn> = comparison.runs.iter().map(RunByTurn::new).collect();
    let measures = parts.map(|part| SummaryMeasure::new(compared, part));
    let measures: Vec<SummaryMeasure> = measures.into_iter().flatten().collect();
    let mut conversations: Vec<_> = comparison.topics.conversations.iter().enumerate().collect();
    conversations.sort_by(|(_, a), (_, b)| {
        let [a, b] = [a, b].map(|one| difference(compared, &measures, one));
        b.total_cmp(&a)
    });
    html! {
        section id="conversations" {
            h2 { "Conversations" }
            p {
                "Open a conversation and a turn to compare the results of each run with the labels and "
                "the organisers' response. " span.mark { "✓" } " marks relevant statements and passages "
                "(a passage that the organisers cite, or that NIST grades 2 or higher), "
                span.cross { "✗" } " relevant ones that a run does not have."
                @if runs.len() > 1 && !measures.is_empty() {
                    " A turn has the score of the baseline, and, " span.differs { "marked" } ", that of the "
                    "run that differs most from it. Conversations with the largest differences come first."
                }
            }
            @for (index, conversation) in conversations {
                details.topic id={ "conversation-" (index) } {
                    summary {
                        span.number { (conversation.number) } " "
                        span.request { (conversation.title) } " "
                        @let differing = count_differing(compared, &measures, conversation);
                        span.range {
                            (count(conversation.turns.len(), "turn"))
                            @if differing > 0 { ", " (differing) " with a difference" }
                        }
                    }
                    div.inside {
                        details {
                            summary {
                                "The user's statements: "
                                (count(conversation.statements.len(), "statement"))
                            }
                            ol { @for text in &conversation.statements { li { (text) } } }
                        }
                        @for turn in &conversation.turns {
                            details.topic.turn id=(anchor(index, turn.number)) {
                                summary {
                                    span.number { (turn.number) } " "
                                    span.request { (turn.utterance) }
                                    (scores(compared, &measures, turn))
                                }
                                (details(comparison, &runs, conversation, turn))
                            }
                        }
                    }
                }
            }
        }
    }
}

fn details(
    comparison: &IkatPage,
    runs: &[RunByTurn],
    conversation: &IkatConversation,
    turn: &IkatTurn,
) -> Markup {
    html! {
        div.inside {
            @if !turn.resolved.is_empty() && turn.resolved != turn.utterance {
                p.note { "Resolved: " (turn.resolved) }
            }
            (answer(comparison, conversation, turn, None))
            @for run in runs { (answer(comparison, conversation, turn, Some(run))) }
        }
    }
}

/// Shows a run's results for a turn, or without a run the organisers' labels and response.
fn answer(
    comparison: &IkatPage,
    conversation: &IkatConversation,
    turn: &IkatTurn,
    run: Option<&RunByTurn>,
) -> Markup {
    let nothing = TurnResult::default();
    let found = run.and_then(|run| run.by_turn.get(turn.id.as_str())).unwrap_or(&nothing);
    let response = found.response;
    let labels = comparison.labels;
    let label_statement = |number: &str| {
        let judges = [("organisers", &labels.organisers), ("NIST", &labels.nist)];
        let judges =
            judges.iter().filter(|(_, qrels)| grade(qrels.as_ref(), turn, number) > Some(0));
        let words: Vec<String> = judges.map(|(judge, _)| (*judge).to_owned()).collect();
        DocumentLabel { is_relevant: !words.is_empty(), words }
    };
    let label_passage = |id: &str| {
        let cited = grade(labels.cited.as_ref(), turn, id).filter(|grade| *grade > 0);
        let graded = grade(labels.graded_by_people(), turn, id);
        let words = cited.map(|_| "cited".to_owned()).into_iter();
        let words = words.chain(graded.map(|grade| format!("NIST {grade}"))).collect();
        DocumentLabel { is_relevant: cited.is_some() || graded >= Some(RELEVANT), words }
    };
    let numbers: Vec<String> =
        (1..=conversation.statements.len()).map(|number| number.to_string()).collect();
    let numbers = numbers.iter().map(String::as_str);
    let relevant = numbers.filter(|number| label_statement(number).is_relevant);
    let statement = |(rank, id): (Option<usize>, _)| {
        let index = str::parse::<usize>(id).ok().and_then(|number| number.checked_sub(1));
        let text = index.and_then(|index| conversation.statements.get(index));
        let text = text.map_or("(not one of the user's)", String::as_str).to_owned();
        ListItem { rank, id, text, label: label_statement(id), is_used: false }
    };
    let passage = |(rank, id): (Option<usize>, _)| {
        let used = response.into_iter().flat_map(|response| &response.passages);
        let is_used = used.filter(|passage| passage.used).any(|passage| passage.id == id);
        ListItem { rank, id, text: text_of(comparison.ikat, id), label: label_passage(id), is_used }
    };
    let statements = select(&found.statements, relevant).into_iter().map(statement);
    let cited = turn.citations.iter().flatten().map(String::as_str);
    let passages = select(&found.passages, cited).into_iter().map(passage);
    let statements = statements.collect::<Vec<_>>();
    let passages = passages.collect::<Vec<_>>();
    let (sign, text) = match run {
        None => ("✓", turn.response.as_str()),
        Some(_) => ("✗", response.map_or("", |response| response.text.as_str())),
    };
    html! {
        div.answer {
            h3 { (run.map_or("Labels and the organisers' response", |run| run.name)) }
            @if run.is_some() {
                p.note {
                    @for (index, (name, value)) in found.scores.iter().enumerate() {
                        @if index > 0 { " · " } (name) " " (figure(*value))
                    }
                }
            }
            div.lists {
                div.list { h4 { "Statements" } (list(&statements, sign, "No statement.")) }
                div.list { h4 { "Passages" } (list(&passages, sign, "No passage.")) }
                div.list {
                    h4 { "Response" }
                    @if text.trim().is_empty() { p.note { "No response." } }
                    @else { p.response { (text) } }
                }
            }
        }
    }
}

fn grade(qrels: Option<&Qrels>, turn: &IkatTurn, document: &str) -> Option<i32> {
    qrels?.topic(&turn.id)?.grade(&document.into())
}

/// The first documents of a ranking, then the other wanted documents with their ranks; missing ones
/// have no rank.
fn select<'a>(
    ranked: &[&'a str],
    wanted: impl Iterator<Item = &'a str>,
) -> Vec<(Option<usize>, &'a str)> {
    let first = ranked.iter().take(SHOWN).enumerate();
    let mut selected: Vec<_> = first.map(|(index, id)| (Some(index + 1), *id)).collect();
    let mut seen: HashSet<&str> = selected.iter().map(|(_, id)| *id).collect();
    let mut further: Vec<_> = wanted
        .filter(|id| seen.insert(*id))
        .map(|id| (ranked.iter().position(|known| *known == id).map(|index| index + 1), id))
        .collect();
    further.sort_by_key(|(rank, _)| rank.unwrap_or(usize::MAX));
    selected.extend(further);
    selected
}

/// A ranked list, and below it unranked items: relevant ones that a run lacks (`✗`), or those that
/// labels name (`✓`).
fn list(items: &[ListItem], sign: &str, nothing: &str) -> Markup {
    let (ranked, others): (Vec<&ListItem>, Vec<&ListItem>) =
        items.iter().partition(|item| item.rank.is_some());
    html! {
        @if items.is_empty() { p.note { (nothing) } }
        @if !ranked.is_empty() {
            ol {
                @for item in ranked {
                    li.hit[item.label.is_relevant] value=[item.rank] { (line(item, "✓")) }
                }
            }
        }
        @if !others.is_empty() {
            ul class=[(sign == "✗").then_some("missed")] { @for item in others { li { (line(item, sign)) } } }
        }
    }
}

fn line(item: &ListItem, sign: &str) -> Markup {
    let (class, words) = if sign == "✗" { ("cross", "missed") } else { ("mark", "relevant") };
    html! {
        @if item.label.is_relevant {
            span class=(class) aria-hidden="true" { (sign) " " }
            span.unseen { (words) ": " }
        }
        (item.text) " " span.id { (item.id) }
        @for word in &item.label.words { " " span.tag { (word) } }
        @if item.is_used { " " span.tag { "used" } }
    }
}
