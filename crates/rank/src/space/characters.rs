//! Cosines of character n-grams, weighted by how rare they are in the documents.
//!
//! Words that an encoder's tokenizer splits into many pieces, above all names, keep most of their
//! n-grams when they are misspelt. Salton and Buckley, "Term-weighting approaches in automatic text
//! retrieval", 1988 (logarithmic term frequency, smoothed inverse document frequency, cosine), over
//! the n-grams of McNamee and Mayfield, "Character N-Gram Tokenization for European Language Text
//! Retrieval", 2004.

use clariq_core::Doc;
use ndarray::Array2;
use std::collections::HashMap;

/// Lengths of n-grams; a word has a space on both sides.
const LENGTHS: [usize; 3] = [3, 4, 5];
/// N-grams in more than this share of the documents, and in more than one, are ignored.
const COMMON: f64 = 0.05;

type Vector = Vec<(u32, f32)>;

/// The vectors of documents.
pub(crate) struct Characters {
    /// The number and the weight of every n-gram that is rare enough.
    grams: HashMap<String, (u32, f32)>,
    documents: Vec<Vector>,
    /// The documents that have an n-gram, by its number, with its value in their vectors.
    postings: Vec<Vec<(Doc, f32)>>,
}

impl Characters {
    pub(crate) fn new(texts: &[&str]) -> Self {
        let counted: Vec<_> = texts.iter().map(|text| count(text)).collect();
        let mut frequencies: HashMap<&str, usize> = HashMap::new();
        for gram in counted.iter().flat_map(HashMap::keys) {
            *frequencies.entry(gram).or_default() += 1;
        }
        let count = texts.len() as f64;
        let mut kept: Vec<(&str, usize)> = frequencies
            .into_iter()
            .filter(|&(_, frequency)| frequency as f64 <= (COMMON * count).max(1.0))
            .collect();
        // In a fixed order: numbers determine the order in which products are summed.
        kept.sort_unstable();
        let weight =
            |frequency: usize| (((1.0 + count) / (1.0 + frequency as f64)).ln() + 1.0) as f32;
        let grams: HashMap<String, (u32, f32)> = kept
            .iter()
            .zip(0..)
            .map(|(&(gram, frequency), number)| (gram.to_owned(), (number, weight(frequency))))
            .collect();
        let mut characters =
            Self { postings: vec![Vec::new(); grams.len()], grams, documents: Vec::new() };
        characters.documents = counted.iter().map(|counts| characters.vector(counts)).collect();
        for (doc, vector) in Doc::all(texts.len()).zip(&characters.documents) {
            for &(gram, value) in vector {
                characters.postings[gram as usize].push((doc, value));
            }
        }
        characters
    }

    fn vector(&self, counts: &HashMap<String, usize>) -> Vector {
        let value = |(gram, &count): (&String, &usize)| {
            self.grams
                .get(gram)
                .map(|&(number, weight)| (number, (1.0 + (count as f32).ln()) * weight))
        };
        let mut vector: Vector = counts.iter().filter_map(value).collect();
        vector.sort_unstable_by_key(|&(number, _)| number);
        let length = vector.iter().map(|(_, value)| value * value).sum::<f32>().sqrt();
        if length > 0.0 {
            for (_, value) in &mut vector {
                *value /= length;
            }
        }
        vector
    }

    /// Adds weighted cosines of texts (rows) and documents (columns) to a matrix.
    pub(crate) fn add_texts(
        &self,
        texts: &[&str],
        docs: &[Doc],
        weight: f32,
        sum: &mut Array2<f32>,
    ) {
        let vectors: Vec<Vector> = texts.iter().map(|text| self.vector(&count(text))).collect();
        self.add(&vectors.iter().collect::<Vec<_>>(), docs, weight, sum);
    }

    /// Adds weighted cosines of documents with each other to a matrix.
    pub(crate) fn add_documents(&self, docs: &[Doc], weight: f32, sum: &mut Array2<f32>) {
        let vectors: Vec<&Vector> = docs.iter().map(|doc| &self.documents[doc.index()]).collect();
        self.add(&vectors, docs, weight, sum);
    }

    fn add(&self, vectors: &[&Vector], docs: &[Doc], weight: f32, sum: &mut Array2<f32>) {
        let (Some(first), Some(last)) = (docs.iter().min(), docs.iter().max()) else { return };
        let mut columns = vec![usize::MAX; last.index() - first.index() + 1];
        for (column, doc) in docs.iter().enumerate() {
            columns[doc.index() - first.index()] = column;
        }
        for (mut row, vector) in sum.rows_mut().into_iter().zip(vectors) {
            for &(gram, value) in *vector {
                let postings = &self.postings[gram as usize];
                let before = postings.partition_point(|(doc, _)| doc < first);
                for &(doc, other) in postings[before..].iter().take_while(|(doc, _)| doc <= last) {
                    if let Some(cell) = row.get_mut(columns[doc.index() - first.index()]) {
                        *cell += weight * value * other;
                    }
                }
            }
        }
    }
}

/// The counts of n-grams in the words of a text, in lower case and without punctuation.
fn count(text: &str) -> HashMap<String, usize> {
    let mut counts = HashMap::new();
    for word in text.to_lowercase().split_whitespace() {
        let mut letters: Vec<char> = vec![' '];
        letters.extend(word.chars().filter(|letter| letter.is_alphanumeric()));
        if letters.len() == 1 {
            continue;
        }
        letters.push(' ');
        for gram in LENGTHS.iter().flat_map(|&length| letters.windows(length)) {
            *counts.entry(gram.iter().collect()).or_default() += 1;
        }
    }
    counts
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cosine(characters: &Characters, text: &str, doc: u32) -> f32 {
        let mut sum = Array2::zeros((1, 1));
        characters.add_texts(&[text], &[Doc(doc)], 1.0, &mut sum);
        sum[[0, 0]]
    }

    #[test]
    fn a_misspelt_name_is_near_its_spelling() {
        let mut bank: Vec<String> =
            (0..60).map(|place| format!("which of the {place} things do you mean")).collect();
        bank.push("do you mean dieting".to_owned());
        bank.push("do you mean scooters".to_owned());
        let texts: Vec<&str> = bank.iter().map(String::as_str).collect();
        let characters = Characters::new(&texts);
        assert!(cosine(&characters, "tell me about dieeting", 60) > 0.3);
        assert!(cosine(&characters, "tell me about dieeting", 61) < 0.05);
    }

    #[test]
    fn few_documents_are_told_apart() {
        let characters = Characters::new(&["I eat no meat.", "I live in Oslo."]);
        assert!(cosine(&characters, "meat", 0) > 0.3);
        assert_eq!(cosine(&characters, "meat", 1), 0.0);
    }

    #[test]
    fn a_text_is_similar_to_itself_and_empty_texts_are_not() {
        let mut bank: Vec<String> = (0..60).map(|place| format!("number {place} of all")).collect();
        bank[7] = "jaguars?".to_owned();
        bank[8] = String::new();
        let texts: Vec<&str> = bank.iter().map(String::as_str).collect();
        let characters = Characters::new(&texts);
        assert!((cosine(&characters, "Jaguars", 7) - 1.0).abs() < 1e-6);
        assert_eq!(cosine(&characters, "Jaguars", 8), 0.0);
        assert_eq!(cosine(&characters, "", 7), 0.0);
    }

    #[test]
    fn a_short_word_has_n_grams() {
        let counts = count("A");
        assert_eq!(counts.into_iter().collect::<Vec<_>>(), [(" a ".to_owned(), 1)]);
    }
}
