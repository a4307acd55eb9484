"""The tokens of Lucene's StandardTokenizer, and its table of character classes.

JAR contains Lucene's StandardTokenizer, such as Anserini's fat jar in the Python package pyserini
(pyserini/resources/jars; the committed files are of anserini-1.7.1-fatjar.jar, which needs Java 21
or later; JAVAC may be older, because the program calls Lucene by reflection).

Writes, in crates/index/src/analysis/lucene/:

* classes.txt: ranges of code points with the character class that the grammar of StandardTokenizer
  gives them: first, last (hexadecimal), class. Class 0, characters of no rule, is left out.

and in crates/index/tests/data/:

* lucene_characters.txt: the tokens of every code point alone, between two letters and between two
  digits, as ranges of code points with equal tokens: first, last (hexadecimal), then the tokens of
  the three texts, `|` between tokens and `-` for none, with `.` for the code point.
* lucene_texts.txt: random texts of characters of all classes (hexadecimal code points) and the
  positions of their tokens.
"""

import subprocess
import tempfile
from pathlib import Path

PACKAGES = []
FOLDER = "crates/index"

PROGRAM = r"""
import java.io.*;
import java.lang.reflect.*;
import java.nio.file.*;
import java.util.*;

public class Golden {
  static final String PACKAGE = "org.apache.lucene.analysis.";
  static Object tokenizer, offsets;
  static Method setReader, reset, increment, end, close, start, stop;

  public static void main(String[] args) throws Exception {
    Class<?> type = Class.forName(PACKAGE + "standard.StandardTokenizer");
    tokenizer = type.getConstructor().newInstance();
    setReader = type.getMethod("setReader", Reader.class);
    reset = type.getMethod("reset");
    increment = type.getMethod("incrementToken");
    end = type.getMethod("end");
    close = type.getMethod("close");
    Class<?> attribute = Class.forName(PACKAGE + "tokenattributes.OffsetAttribute");
    offsets = type.getMethod("addAttribute", Class.class).invoke(tokenizer, attribute);
    start = attribute.getMethod("startOffset");
    stop = attribute.getMethod("endOffset");
    Method classOf = Class.forName(PACKAGE + "standard.StandardTokenizerImpl").getDeclaredMethod("zzCMap", int.class);
    classOf.setAccessible(true);

    var classes = new ArrayList<List<Integer>>();
    var ranges = new Ranges();
    for (int code = 0; code <= Character.MAX_CODE_POINT; code++) {
      int found = (Integer) classOf.invoke(null, code);
      while (classes.size() <= found) classes.add(new ArrayList<>());
      classes.get(found).add(code);
      ranges.add(code, found == 0 ? null : "" + found);
    }
    Files.writeString(Path.of(args[0]), ranges.text());

    ranges = new Ranges();
    for (int code = 0; code <= Character.MAX_CODE_POINT; code++) {
      if (Character.MIN_SURROGATE <= code && code <= Character.MAX_SURROGATE) continue;
      String alone = Character.toString(code);
      var cells = new StringJoiner(" ");
      for (String text : List.of(alone, "a" + alone + "b", "1" + alone + "2")) {
        var tokens = new StringJoiner("|").setEmptyValue("-");
        // By position: the code point may be one of the letters.
        for (int[] token : tokens(text)) {
          String before = text.length() == alone.length() ? "" : text.substring(0, 1);
          var shown = new StringBuilder();
          for (int at = token[0]; at < token[1]; at++) {
            if (before.isEmpty()) { if (at == 0) shown.append('.'); }
            else if (at == 0 || at == text.length() - 1) shown.append(text.charAt(at));
            else if (at == 1) shown.append('.');
          }
          tokens.add(shown);
        }
        cells.add(tokens.toString());
      }
      ranges.add(code, cells.toString());
    }
    Files.writeString(Path.of(args[1]), ranges.text());

    var random = new Random(1);
    var lines = new StringBuilder();
    for (int line = 0; line < 1500; line++) {
      var text = new StringBuilder();
      var codes = new StringJoiner(" ");
      // Few classes in a text, so that each meets itself and the others often.
      int[] some = random.ints(1 + random.nextInt(4), 0, classes.size()).toArray();
      for (int length = 2 + random.nextInt(10); length > 0; length--) {
        var members = classes.get(some[random.nextInt(some.length)]);
        int code = members.get(random.nextInt(members.size()));
        if (Character.MIN_SURROGATE <= code && code <= Character.MAX_SURROGATE) code = ' ';
        text.appendCodePoint(code);
        codes.add(Integer.toHexString(code));
      }
      lines.append(codes).append('\t').append(positions(text.toString())).append('\n');
    }
    // Longer than Lucene's bound of 255.
    for (String text : List.of("x".repeat(255), "x".repeat(256), "x".repeat(600), "x".repeat(254) + "'y z",
        "x".repeat(253) + "'yz", "x".repeat(254) + "\ud835\udc00y", "1" + "_".repeat(300) + "2")) {
      var codes = new StringJoiner(" ");
      text.codePoints().forEach(code -> codes.add(Integer.toHexString(code)));
      lines.append(codes).append('\t').append(positions(text)).append('\n');
    }
    Files.writeString(Path.of(args[2]), lines);
  }

  static List<int[]> tokens(String text) throws Exception {
    setReader.invoke(tokenizer, new StringReader(text));
    reset.invoke(tokenizer);
    var found = new ArrayList<int[]>();
    while ((Boolean) increment.invoke(tokenizer))
      found.add(new int[] {(Integer) start.invoke(offsets), (Integer) stop.invoke(offsets)});
    end.invoke(tokenizer);
    close.invoke(tokenizer);
    return found;
  }

  /** Positions in code points. */
  static String positions(String text) throws Exception {
    var shown = new StringJoiner(" ");
    for (int[] token : tokens(text))
      shown.add(text.codePointCount(0, token[0]) + "-" + text.codePointCount(0, token[1]));
    return shown.toString();
  }

  static class Ranges {
    StringBuilder lines = new StringBuilder();
    int first, last = -2;
    String value;

    void add(int code, String found) {
      if (last + 1 != code || !Objects.equals(found, value)) {
        flush();
        first = code;
      }
      last = code;
      value = found;
    }

    void flush() {
      if (value != null) lines.append(String.format("%x %x %s\n", first, last, value));
    }

    String text() {
      flush();
      return lines.toString();
    }
  }
}
"""


def add_arguments(parser):
    parser.add_argument("jar", type=Path)
    parser.add_argument("--java", default="java")
    parser.add_argument("--javac", default="javac")


def make(folder, arguments):
    data = folder / "tests" / "data"
    outputs = [folder / "src/analysis/lucene/classes.txt", data / "lucene_characters.txt", data / "lucene_texts.txt"]
    with tempfile.TemporaryDirectory() as classes:
        source = Path(classes) / "Golden.java"
        source.write_text(PROGRAM, "utf-8")
        subprocess.run([arguments.javac, "-d", classes, source], check=True)
        class_path = f"{arguments.jar}:{classes}"
        subprocess.run([arguments.java, "-cp", class_path, "Golden", *outputs], check=True)
