//! Runs without a fault, in parallel. Whatever is not sound is left to the reader that names what is wrong.

use super::{Run, RunLine, score};
use crate::source::Input;
use rayon::prelude::*;
use std::str;

/// Below this many bytes, starting threads takes longer than reading.
const WORTH_A_THREAD: usize = 1 << 20;

/// The run, or `None` if anything in it is not sound.
pub(super) fn parse(input: &Input) -> Option<Run> {
    // The number of threads is asked for only where it matters: asking starts them. There are more pieces than threads,
    // because some threads may have other work to end first.
    let worth = input.bytes.len() / WORTH_A_THREAD;
    parse_in(if worth > 1 { worth.min(8 * rayon::current_num_threads()) } else { 1 }, input)
}

/// The same in so many pieces, which make no difference.
pub(super) fn parse_in(pieces: usize, input: &Input) -> Option<Run> {
    let text = str::from_utf8(&input.bytes).ok()?;
    let mut starts = 1;
    let pieces: Vec<(u64, &str)> = split_lines(text, pieces)
        .into_iter()
        .map(|piece| {
            let start = starts;
            starts += memchr::memchr_iter(b'\n', piece.as_bytes()).count() as u64;
            (start, piece)
        })
        .collect();
    let total = starts as usize;
    let mut parsed = match pieces[..] {
        [(_, piece)] => vec![parse_lines(piece, 1, total)?],
        _ => pieces
            .par_iter()
            .map(|&(start, piece)| parse_lines(piece, start, if start == 1 { total } else { 0 }))
            .collect::<Option<Vec<_>>>()?,
    }
    .into_iter();
    let mut lines = parsed.next()?;
    parsed.for_each(|more| lines.extend(more));
    let first = lines.first()?;
    let tag = text.split('\n').nth(first.line as usize - 1)?.split_ascii_whitespace().nth(5);
    Some(Run { name: input.name.clone(), tag: tag.unwrap_or_default().to_owned(), lines })
}

/// A text in so many pieces of about equal length, each of whole lines.
fn split_lines(text: &str, pieces: usize) -> Vec<&str> {
    let mut all = Vec::with_capacity(pieces);
    let mut rest = text;
    for left in (2..=pieces).rev() {
        let middle = rest.len() / left;
        let Some(feed) = memchr::memchr(b'\n', &rest.as_bytes()[middle..]) else { break };
        let (piece, after) = rest.split_at(middle + feed + 1);
        all.push(piece);
        rest = after;
    }
    all.push(rest);
    all
}

/// The lines of a piece that starts on line `start`, with room for so many.
fn parse_lines(piece: &str, start: u64, room: usize) -> Option<Vec<RunLine>> {
    let mut lines: Vec<RunLine> = Vec::with_capacity(room.max(piece.len() / 64));
    let mut rest = piece;
    for line in start.. {
        let end = memchr::memchr(b'\n', rest.as_bytes());
        let text = &rest[..end.unwrap_or(rest.len())];
        let mut fields = text.split_ascii_whitespace();
        if let Some(topic) = fields.next() {
            let (question, score) = (fields.nth(1)?, score(fields.nth(1)?)?);
            if fields.nth(1).is_some() || topic.starts_with('\u{feff}') {
                return None;
            }
            // A topic's lines mostly follow each other.
            let topic = match lines.last() {
                Some(last) if last.topic.as_str() == topic => last.topic.clone(),
                _ => topic.into(),
            };
            lines.push(RunLine { topic, question: question.into(), score, line });
        }
        match end {
            Some(end) => rest = &rest[end + 1..],
            None => break,
        }
    }
    Some(lines)
}
