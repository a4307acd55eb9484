"""The token pipeline of NLTK 3.5, whose results later releases do not repeat.

Two files whose first column is the input and whose other columns are written anew:

  nltk_stems.tsv   word <TAB> stem
  nltk_tokens.tsv  text <TAB> words <TAB> tokens (JSON: a string, two arrays)

To add a case, add a line with the first column alone, then run the script.
Stems are those of PorterStemmer(), words those of word_tokenize(text,
preserve_line=True), and tokens the stems of the words that are not stop words.
The stop words are read from src/analysis/nltk.rs, as NLTK has its list
in a corpus that is installed separately.
"""

import json
import re
import sys

from nltk.stem import PorterStemmer
from nltk.tokenize import word_tokenize

from environment import ROOT

PACKAGES = ["nltk==3.5", "regex", "joblib", "tqdm", "click"]
FOLDER = "crates/index/tests/data"


def stop_words():
    source = (ROOT / "crates/index/src/analysis/nltk.rs").read_text("utf-8")
    array = re.search(r"STOP_WORDS: \[&str; (\d+)\] = \[(.*?)\];", source, re.DOTALL)
    words = set(re.findall(r'"([^"]+)"', array[2]))
    if len(words) != int(array[1]):
        sys.exit("make-golden: the stop word list was misread")
    return words


def rewrite(path, columns):
    lines = path.read_text("utf-8").split("\n")
    first = [line.split("\t")[0] for line in lines if line]
    text = "".join(f"{cell}\t{columns(cell)}\n" for cell in first)
    path.write_bytes(text.encode("utf-8"))
    print(f"{path}: {len(first)} lines")


def make(folder, _):
    stops = stop_words()
    stem = PorterStemmer().stem

    def words_and_tokens(cell):
        words = word_tokenize(json.loads(cell), preserve_line=True)
        tokens = [stem(word) for word in words if word not in stops]
        return json.dumps(words) + "\t" + json.dumps(tokens)

    rewrite(folder / "nltk_stems.tsv", stem)
    rewrite(folder / "nltk_tokens.tsv", words_and_tokens)
