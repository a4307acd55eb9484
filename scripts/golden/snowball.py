"""The stems of PyStemmer, for words of 17 languages.

  LANGUAGE.tsv   word <TAB> stem; frequent words of at least five letters, by wordfreq

With --words 20000, so many words of each language in place of 60: a longer check, not to be committed.
"""

import Stemmer
from wordfreq import top_n_list

PACKAGES = ["PyStemmer==3.1.0", "wordfreq==3.1.1"]
FOLDER = "crates/index/tests/data/snowball"

CODES = {
    "arabic": "ar", "danish": "da", "dutch": "nl", "finnish": "fi", "french": "fr", "german": "de",
    "greek": "el", "hungarian": "hu", "italian": "it", "norwegian": "nb", "portuguese": "pt",
    "romanian": "ro", "russian": "ru", "spanish": "es", "swedish": "sv", "tamil": "ta", "turkish": "tr",
}


def add_arguments(parser):
    parser.add_argument("--words", type=int, default=60, metavar="N")


def make(folder, arguments):
    count = arguments.words
    for language, code in CODES.items():
        stemmer = Stemmer.Stemmer(language)
        words = [word for word in top_n_list(code, 10 * count) if len(word) >= 5]
        # In Tamil, vowels are marks, which are no letters to Python.
        words = [word for word in words if code == "ta" or word.isalpha()][:count]
        rows = (f"{word}\t{stemmer.stemWord(word)}\n" for word in words)
        (folder / f"{language}.tsv").write_text("".join(rows), encoding="utf-8")
