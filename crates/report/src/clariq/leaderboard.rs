//! The runs among the published entries of the challenge.

use super::ClariqPage;
use super::judged::{JudgedRuns, OfficialRun};
use crate::page::scroll;
use crate::words::figure;
use clariq_core::Documents;
use clariq_eval::Score;
use clariq_track_clariq::evaluation::RELEASED_BANK;
use clariq_track_clariq::evaluation::{Leaderboard, Placement, ScorerTask, clarification_need};
use maud::{Markup, html};
use std::cmp::Reverse;

/// A run or need file with its rank among the entries.
struct RankedEntry {
    name: String,
    scores: Vec<f64>,
    placement: Placement,
}

/// The leaderboards with the runs and need files among their entries; `None` for other collections
/// than the released one, and for splits without published entries.
pub(crate) fn section(comparison: &ClariqPage, judged: &JudgedRuns) -> Option<Markup> {
    if !is_released(comparison) {
        return None;
    }
    let board = Leaderboard::published(ScorerTask::Ranking, false, comparison.split)?;
    let recalls = |run: &OfficialRun| run.scores.iter().map(Score::value).collect();
    let runs = judged.runs.iter().map(|run| (run.shown.name.clone(), recalls(run))).collect();
    Some(html! {
        section id="leaderboard" {
            h2 { "Among the published entries" }
            p {
                "The published entries of the challenge in the order of their scores on "
                (comparison.split) ", with these runs among them. Rank: one more than the published "
                "entries that are better; oracles are not ranked."
            }
            (part("Question relevance", "runs", &board, runs))
            (needs(comparison).unwrap_or_default())
        }
    })
}

/// True for the released bank, on which the published entries were measured.
pub(super) fn is_released(comparison: &ClariqPage) -> bool {
    comparison.bank.checksum().starts_with(RELEASED_BANK)
}

fn needs(comparison: &ClariqPage) -> Option<Markup> {
    let board = Leaderboard::published(ScorerTask::Need, false, comparison.split)?;
    let scores = |lines| {
        let scores = clarification_need(lines, comparison.labels);
        vec![scores.precision, scores.recall, scores.f1]
    };
    let files = comparison.named_needs().map(|(name, lines)| (name.to_owned(), scores(lines)));
    let files = files.collect();
    (!comparison.needs.is_empty()).then(|| part("Clarification need", "need files", &board, files))
}

pub(super) fn part(
    title: &str,
    what: &str,
    board: &Leaderboard,
    entries: Vec<(String, Vec<f64>)>,
) -> Markup {
    let mut placed: Vec<RankedEntry> = entries
        .into_iter()
        .map(|(name, scores)| RankedEntry { name, placement: board.place(&scores), scores })
        .collect();
    // The sort is stable: equal runs keep their given order.
    placed.sort_by_key(|run| (run.placement.before, Reverse(board.key(&run.scores))));
    let order = board.place(&vec![0.0; board.measures.len()]).order;
    html! {
        h3 { (title) }
        ul {
            @for run in &placed {
                li {
                    b { (run.name) } " would rank " (run.placement.rank) " of "
                    (run.placement.ranked) "."
                }
            }
        }
        (scroll(&format!("Leaderboard: {title}"), &table(what, board, &order, &placed)))
    }
}

fn table(what: &str, board: &Leaderboard, order: &[usize], placed: &[RankedEntry]) -> Markup {
    html! {
        table {
            caption { "Published entries and these " (what) }
            thead {
                tr {
                    th scope="col" { "rank" } th.text scope="col" { "entry" }
                    @for measure in board.measures {
                        th scope="col" { (shorten_measure(measure)) }
                    }
                }
            }
            tbody {
                @for before in 0..=order.len() {
                    @for run in placed.iter().filter(|run| run.placement.before == before) {
                        (own_row(run))
                    }
                    @if let Some(&entry) = order.get(before) { (published_row(board, entry)) }
                }
            }
        }
    }
}

/// Shortens `Recall30` to `R@30`, as everywhere on the page; `Recall` of need labels has no depth.
fn shorten_measure(measure: &str) -> String {
    measure
        .strip_prefix("Recall")
        .filter(|depth| !depth.is_empty())
        .map_or(measure.to_owned(), |depth| format!("R@{depth}"))
}

fn own_row(run: &RankedEntry) -> Markup {
    html! {
        tr.mine {
            td { (run.placement.rank) }
            th.text.entry scope="row" { (run.name) " " span.team { "this page" } }
            @for value in &run.scores { td { (figure(*value)) } }
        }
    }
}

fn published_row(board: &Leaderboard, entry: usize) -> Markup {
    let entry = &board.entries[entry];
    html! {
        tr {
            td { @if entry.rank.is_some() { (board.place(&entry.scores).rank) } @else { "–" } }
            th.text.entry scope="row" { (entry.model) " " span.team { (entry.team) } }
            @for value in &entry.scores { td { (figure(*value)) } }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clariq::tests::Small;
    use clariq_track_clariq::splits;

    #[test]
    fn other_collections_are_not_ranked() {
        let small = Small::new(&[("run", &[])]);
        assert!(section(&small.comparison(), &JudgedRuns::new(&small.comparison())).is_none());
    }

    #[test]
    fn runs_are_in_the_order_of_their_scores() {
        let board = Leaderboard::published(ScorerTask::Ranking, false, splits::DEV).unwrap();
        let entry = |name: &str, deepest| (name.to_owned(), vec![0.3, 0.5, 0.6, deepest]);
        let page = part(
            "t",
            "runs",
            &board,
            vec![entry("low", 0.6), entry("first", 0.99), entry("higher", 0.61)],
        )
        .into_string();
        let at = |what: &str| page.find(&format!(">{what} <")).unwrap();
        assert!(
            at("first") < at("Reranker-v4")
                && at("Reranker-v4") < at("higher")
                && at("higher") < at("low")
        );
        assert_eq!(page.matches("<tr class=\"mine\">").count(), 3);
        let ranks = page.split("<tr").skip(2).map(|row| {
            let (_, rest) = row.split_once("<td>").unwrap();
            rest.split_once("</td>").unwrap().0.parse::<usize>().unwrap()
        });
        assert!(ranks.is_sorted(), "one kind of rank: {page}");
    }
}
