#!/usr/bin/env python3
"""Drive `clariq ask --json` from Python, as a live experiment does.

    from clariq_ask import Session

    with Session() as session:
        move = session.request("Tell me about Saturn.")
        while move["action"] == "ask":
            move = session.answer(input(move["question"] + "\n> "))

Usage: scripts/clariq_ask.py [OPTION ...] REQUEST

holds a conversation at the terminal; options are passed to `clariq ask`. The command is
$CLARIQ, or clariq on the PATH. Only Python's standard library is used.
"""

import json
import os
import subprocess
import sys


class ClariqError(RuntimeError):
    """An error about a bad line, after which the session continues, or the end of the command."""


class Session:
    """A running `clariq ask --json`. One conversation at a time; every request begins a new one."""

    def __init__(self, *options, system=None, command=None):
        words = [command or os.environ.get("CLARIQ", "clariq"), "ask", "--json", *options]
        if system:
            words += ["--system", system]
        self.process = subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        stderr=subprocess.PIPE, text=True, encoding="utf-8")

    def request(self, text, turns=(), **more):
        """Begins a conversation, or enters one after turns of (question, answer).

        Returns the next move, as a dictionary.
        """
        context = [{"question": question, "answer": answer} for question, answer in turns]
        return self._exchange({"request": text, "conversation_context": context, **more})

    def answer(self, text, **more):
        """Replies to the question that was asked last. The next move."""
        return self._exchange({"answer": text, **more})

    def _exchange(self, message):
        try:
            self.process.stdin.write(json.dumps(message) + "\n")
            self.process.stdin.flush()
        except BrokenPipeError:
            pass
        line = self.process.stdout.readline()
        if not line:
            raise ClariqError(self.process.stderr.read().strip())
        move = json.loads(line)
        if "error" in move:
            error = move["error"]
            expected, found, hint = error["expected"], error["found"], error["hint"]
            raise ClariqError(f"expected {expected}, found {found}\nhint: {hint}")
        return move

    def close(self):
        self.process.stdin.close()
        self.process.stdout.close()
        self.process.stderr.close()
        return self.process.wait()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()


def main():
    if sys.argv[1:2] in (["-h"], ["--help"]):
        sys.exit(print(__doc__.strip()))
    if len(sys.argv) < 2:
        print(__doc__.strip(), file=sys.stderr)
        sys.exit(2)
    with Session(*sys.argv[1:-1]) as session:
        move = session.request(sys.argv[-1])
        while move["action"] == "ask":
            print(move["question"], flush=True)
            reply = sys.stdin.readline().strip()
            if not reply:
                return
            move = session.answer(reply)
        print(f"stopped: {move.get('reason', 'the system has answered')}", file=sys.stderr)


if __name__ == "__main__":
    main()
