#!/usr/bin/env python3
"""Make a question bank of any size with the words of a real one.

Usage: generate.py BANK.tsv COUNT OUT.tsv [SEED]

A text is a walk over the bigrams of the given bank: each word is drawn as
often as it follows the one before it, so single words, pairs and their
frequencies are the bank's. So are the lengths: a length is drawn from the
bank's questions, and a walk that ends earlier starts anew, one that would go
on is cut. One word in twenty is drawn by itself, by its frequency, so that a
large bank is more than the small one repeated; and one in a hundred gets a
number appended, drawn on a logarithmic scale up to COUNT, so that the
vocabulary grows with the bank, as vocabularies do. The first question is
empty, as in the bank. Ids are Q0000001 and so on, in order. The same arguments
give the same bytes.
"""

import csv
import random
import sys
from collections import defaultdict


def read(path):
    with open(path, encoding="utf-8", newline="") as file:
        rows = csv.DictReader(file, delimiter="\t")
        return [text.split() for row in rows if (text := row["question"])]


class Generator:
    def __init__(self, questions, count, seed):
        self.random = random.Random(seed)
        self.count = count
        self.lengths = [len(words) for words in questions]
        self.words = [word for words in questions for word in words]
        # None stands before the first word.
        self.after = defaultdict(list)
        for words in questions:
            for pair in zip([None, *words], words):
                self.after[pair[0]].append(pair[1])

    def text(self):
        length, word, words = self.random.choice(self.lengths), None, []
        while len(words) < length:
            chance = self.random.random()
            source = self.words if chance < 0.05 else self.after.get(word) or self.after[None]
            word = self.random.choice(source)
            rare = chance > 0.99
            words.append(f"{word}{int(self.count ** self.random.random())}" if rare else word)
        return " ".join(words)


def main():
    bank, count, out = sys.argv[1], int(sys.argv[2]), sys.argv[3]
    seed = int(sys.argv[4]) if len(sys.argv) > 4 else 42
    generator = Generator(read(bank), count, seed)
    with open(out, "w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, delimiter="\t", lineterminator="\n")
        writer.writerow(["question_id", "question"])
        for number in range(1, count + 1):
            writer.writerow([f"Q{number:07}", generator.text() if number > 1 else ""])


if __name__ == "__main__":
    main()
