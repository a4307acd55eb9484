//! A ranking as a person reads it: a table with the beginning of each text, in which the words of the
//! request are bold.

use crate::failure::Outcome;
use crate::output::{print_styled, terminal};
use clariq_core::{Result, fit, fixed, printable};
use clariq_experiment::RankedText;
use clariq_index::Analyzer;
use console::style;
use std::collections::HashSet;

/// Prints the request, its documents, and the response to it, if there is one.
pub(super) fn print(
    request: &str,
    documents: &[RankedText],
    response: Option<&str>,
) -> Result<Outcome> {
    let words = stems(request);
    let rows: Vec<[String; 3]> = (1..)
        .zip(documents)
        .map(|(rank, document): (usize, _)| {
            let id = printable(&document.id, usize::MAX).into_owned();
            [rank.to_string(), id, fixed(document.score, 4)]
        })
        .collect();
    let width =
        |column: usize| rows.iter().map(|row| row[column].chars().count()).max().unwrap_or(0);
    let [ranks, ids, scores] = [width(0), width(1), width(2)];
    let room = terminal::width().saturating_sub(ranks + ids + scores + 6).max(terminal::LEAST_ROOM);
    print_styled(|out| {
        writeln!(out, "{}", style(printable(request, usize::MAX)).bold())?;
        if rows.is_empty() {
            writeln!(out, "no document")?;
        }
        for ([rank, id, score], document) in rows.iter().zip(documents) {
            let text = beginning(&document.text, room);
            write!(out, "{rank:>ranks$}  {id:<ids$}  {score:>scores$}  ")?;
            for (piece, is_matched) in pieces(&text, &words) {
                if is_matched {
                    write!(out, "{}", style(piece).bold())?;
                } else {
                    write!(out, "{piece}")?;
                }
            }
            writeln!(out)?;
        }
        if let Some(response) = response {
            writeln!(out, "\n{}", printable(response, usize::MAX))?;
        }
        writeln!(out)
    })
}

/// The stems of a text.
fn stems(text: &str) -> HashSet<String> {
    Analyzer::English.tokens(text).into_iter().collect()
}

/// At most `room` characters of a text, on one line.
fn beginning(text: &str, room: usize) -> String {
    let words: Vec<&str> = text.split_whitespace().collect();
    fit(&printable(&words.join(" "), usize::MAX), room).into_owned()
}

/// The pieces of a text, each with true if it is a word with a stem of the request.
fn pieces<'t>(text: &'t str, wanted: &HashSet<String>) -> Vec<(&'t str, bool)> {
    let mut pieces = Vec::new();
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let is_word = first.is_alphanumeric();
        let end = rest.find(|c: char| c.is_alphanumeric() != is_word).unwrap_or(rest.len());
        let (piece, after) = rest.split_at(end);
        let is_matched = is_word && stems(piece).iter().any(|stem| wanted.contains(stem));
        pieces.push((piece, is_matched));
        rest = after;
    }
    pieces
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_of_the_request_are_found_by_their_stems() {
        let text = "Repairing a tyre: the bike's tyres";
        let found = pieces(text, &stems("how do i repair my tyres"));
        let bold: Vec<&str> =
            found.iter().filter(|(_, is_matched)| *is_matched).map(|(piece, _)| *piece).collect();
        assert_eq!(bold, ["Repairing", "tyre", "tyres"]);
        assert_eq!(found.iter().map(|(piece, _)| *piece).collect::<String>(), text);
    }

    #[test]
    fn the_beginning_of_a_text_is_one_line() {
        assert_eq!(beginning("one\ntwo  three", 20), "one two three");
        assert_eq!(beginning("one\ntwo  three", 8), "one two…");
    }
}
