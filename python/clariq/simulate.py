"""Conversations with the simulated users of TREC iKAT's interactive task.

``python -m clariq.simulate URL SYSTEM --run-id NAME --description TEXT`` answers the users of a
server until it has no more topics. Each exchange with the server is a line of a transcript, written
when the answer arrives; the same command continues from the transcript.

``continue`` is not idempotent: after a timeout, a cut connection or an error of the server, it is
unknown whether a response was stored. The client then reads the session, whose history shows it.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import time
from collections import Counter
from pathlib import Path
from typing import Any, Dict, Iterator, List, Mapping, Optional, Sequence, Tuple

from ._command import ClariqError
from ._extras import extra
from ._ranker import Ranker

with extra("simulate"):
    import httpx

TOKEN = "CLARIQ_SIMULATE_TOKEN"
"""The environment variable that contains the team's token."""

MAX_CITATIONS = 10
"""The number of citations that are judged."""

MAX_TURNS = 200
"""The maximum number of turns of a conversation. A longer one would not end by itself."""

MAX_BYTES = 16 << 20
"""The maximum size of an answer."""

MAX_PAUSE = 16.0
"""The longest pause before a request is sent again, in seconds."""

Json = Dict[str, Any]


class SimulationError(RuntimeError):
    """The run cannot continue. The transcript contains everything up to this point."""


class Transcript:
    """A file of JSON lines: the arguments of the run, then one line per exchange."""

    def __init__(self, path: Path, head: Json) -> None:
        self.path = path
        self.entries: List[Json] = []
        path.parent.mkdir(parents=True, exist_ok=True)
        text = path.read_bytes() if path.exists() else b""
        # A line without its end was being written when the client was killed.
        complete = text[: text.rfind(b"\n") + 1]
        for number, line in enumerate(complete.splitlines(), start=1):
            try:
                self.entries.append(json.loads(line))
            except ValueError as error:
                raise SimulationError(f"{path}:{number}: not a line of a transcript") from error
        self.is_new = not self.entries
        self._file = path.open("r+b" if path.exists() else "xb")
        self._file.truncate(len(complete))
        self._file.seek(0, os.SEEK_END)
        if self.is_new:
            self.add(head)
        elif self.entries[0] != head:
            raise SimulationError(
                f"{path}: transcript of another run: {json.dumps(self.entries[0])}\n"
                "hint: use the same arguments to continue it, or another --run-id"
            )

    def add(self, entry: Json) -> None:
        """Writes a line and waits until it is on the disk."""
        self._file.write(json.dumps(entry, ensure_ascii=False).encode() + b"\n")
        self._file.flush()
        os.fsync(self._file.fileno())
        self.entries.append(entry)

    def utterances(self) -> List[Json]:
        """The utterances of the users, as the server sent them, without repetitions."""
        found: List[Json] = []
        for entry in self.entries[1:]:
            answer = entry["answer"]
            if is_utterance(answer) and not (found and is_same(answer, found[-1])):
                found.append(answer)
        return found

    def remove(self) -> None:
        """Removes the transcript of a run that the server refused to start."""
        self._file.close()
        self.path.unlink()


class Client:
    """Requests to the server, with the team's token in the header alone."""

    def __init__(self, url: str, timeout: float, retries: int) -> None:
        token = os.environ.get(TOKEN, "").strip()
        if not token or not all(
            char.isascii() and (char.isalnum() or char in "+/=-_.") for char in token
        ):
            raise SimulationError(
                f"{TOKEN}: set it to the team's token, as the organisers mailed it"
            )
        if not url.startswith(("http://", "https://")):
            raise SimulationError(f"URL: expected http://HOST:8888/simulation, found `{url}`")
        self._token = token
        self._base = url.rstrip("/")
        self.retries = retries
        self._first_pause = min(2.0, timeout / 60)
        self.transcript: Optional[Transcript] = None
        # No proxy and no password file of the environment sees or replaces the token.
        self._http = httpx.Client(
            timeout=timeout, trust_env=False, headers={"Authorization": f"Bearer {token}"}
        )

    def exchange(self, path: str, body: Optional[Json] = None) -> Tuple[Optional[int], Any]:
        """Sends a request once. Returns the status, or None for no answer, and the answer."""
        status, answer = self._send(path, body)
        if self.transcript is not None:
            self.transcript.add({"path": path, "body": body, "status": status, "answer": answer})
        return status, answer

    def _send(self, path: str, body: Optional[Json]) -> Tuple[Optional[int], Any]:
        method = "GET" if body is None else "POST"
        try:
            with self._http.stream(method, self._base + path, json=body) as response:
                content = b""
                for block in response.iter_bytes():
                    content += block
                    if len(content) > MAX_BYTES:
                        return None, f"an answer of more than {MAX_BYTES} bytes"
                return response.status_code, self._parse(content)
        except httpx.HTTPError as error:
            return None, f"{type(error).__name__}: {error}".replace(self._token, "…")

    def _parse(self, content: bytes) -> Any:
        """Parses JSON, or returns the text. A token that the server repeats is replaced."""
        text = content.decode(errors="replace")
        try:
            # Without escapes, which would hide the token.
            text = json.dumps(json.loads(text), ensure_ascii=False)
        except ValueError:
            return text.replace(self._token, "…")
        return json.loads(text.replace(self._token, "…"))

    def pause(self, failures: int) -> float:
        """The seconds to wait after this number of failures."""
        return float(min(self._first_pause * 2**failures, MAX_PAUSE))

    def attempts(self) -> Iterator[int]:
        """The numbers of the attempts, with pauses between them."""
        for attempt in range(self.retries + 1):
            if attempt > 0:
                time.sleep(self.pause(attempt - 1))
            yield attempt

    def get(self, path: str) -> Tuple[int, Any]:
        """Sends a request that changes nothing, and repeats it while the server fails."""
        answer: Any = None
        for _ in self.attempts():
            status, answer = self.exchange(path)
            if status is not None and status < 500:
                return status, answer
        raise SimulationError(f"no answer to {path}: {shown(answer)}")

    def get_ok(self, path: str) -> Any:
        """Like ``get``; any status but 200 is an error."""
        status, answer = self.get(path)
        if status != 200:
            raise SimulationError(
                f"{path}: status {status}: {shown(answer)}\n"
                f"hint: check the URL and the environment variable {TOKEN}"
            )
        return answer


class Run:
    """A run: it is started, every user is answered, and the next topic is fetched."""

    def __init__(
        self,
        client: Client,
        transcript: Transcript,
        system: Ranker,
        statements: Mapping[str, List[str]],
    ) -> None:
        head = transcript.entries[0]
        self._client = client
        self._transcript = transcript
        self._system = system
        self._statements = statements
        self._mode = head["mode"]
        self._names = {"run_id": head["run_id"], "description": head["description"]}
        self._query = f"?run_id={head['run_id']}"
        self._known: Optional[Json] = None
        self._topic_ended = False
        self._is_over = False
        self._failures = 0
        for utterance in transcript.utterances()[-1:]:
            self._take(utterance)

    def hold(self) -> None:
        """Talks until the server has no more topics."""
        if self._transcript.is_new:
            self._start()
        elif not self._is_over:
            self._recover(is_certain=True)
        while not self._is_over:
            if self._known is None or self._topic_ended:
                self._send({"response": ""})
            else:
                self._send(respond(self._system, self._known, self._statements))

    def _take(self, utterance: Json) -> None:
        """Takes the next utterance of the user."""
        known = self._known
        if known is not None and not self._topic_ended:
            history = known["history"]
            if utterance["history"][: len(history)] != history or not is_same_topic(
                utterance, known
            ):
                raise SimulationError(
                    "the server has another conversation than the transcript\n"
                    "hint: one client talks in a run; another run needs another --run-id"
                )
        self._known = utterance
        self._is_over = bool(utterance.get("last_response_of_run"))
        self._topic_ended = self._is_over or bool(utterance.get("last_response_of_session"))
        self._failures = 0

    def _fail(self, answer: Any) -> None:
        """Counts a request that the server did not take, and waits before it is sent again."""
        if self._failures >= self._client.retries:
            raise SimulationError(
                f"the server does not take the request: {shown(answer)}\n"
                "hint: the same command continues when the server is back"
            )
        time.sleep(self._client.pause(self._failures))
        self._failures += 1

    def _start(self) -> None:
        status, answer = self._client.exchange(f"/{self._mode}/start", self._names)
        if status == 200 and is_utterance(answer):
            self._take(answer)
        elif status is None or status >= 500 or (status == 412 and not self._transcript.is_new):
            self._fail(answer)
            self._recover(is_certain=status is not None)
        else:
            # Nothing was started, unless an earlier request of this transcript did.
            if self._transcript.is_new:
                self._transcript.remove()
            hints = {
                403: "\nhint: the budget is used up, or the token belongs to another team",
                412: "\nhint: the name is taken, perhaps by another team: choose another --run-id",
            }
            raise SimulationError(
                f"start: status {status}: {shown(answer)}{hints.get(status or 0, '')}"
            )

    def _send(self, body: Json) -> None:
        """Sends a response, and takes the user's reaction."""
        path = f"/{self._mode}/continue"
        body = {"run_id": self._names["run_id"], **body}
        status, answer = self._client.exchange(path, body)
        while status == 422 and "too long" in json.dumps(answer) and " " in body["response"]:
            # The server counts more tokens than the system.
            words = body["response"].split(" ")
            body["response"] = " ".join(words[: len(words) * 9 // 10])
            status, answer = self._client.exchange(path, body)
        if status == 200 and is_utterance(answer):
            self._take(answer)
        elif status is not None and 300 <= status < 500:
            no_more_topics = status == 400 or (self._mode == "debug" and status in (403, 428))
            if body["response"] or not no_more_topics:
                raise SimulationError(f"continue: status {status}: {shown(answer)}")
            self._is_over = True
        else:
            self._fail(answer)
            self._recover(is_certain=status is not None)

    def _recover(self, is_certain: bool) -> None:
        """Reads the session, to learn whether the server took the last request.

        The server may still process a request without an answer: only the last attempt is certain
        that nothing is new. Then the request is sent again.
        """
        answer: Any = None
        for attempt in self._client.attempts():
            is_last = is_certain or attempt == self._client.retries
            status, answer = self._client.exchange(f"/{self._mode}/session{self._query}")
            if status == 200 and isinstance(answer, dict):
                if is_utterance(answer) and not (self._known and is_same(answer, self._known)):
                    return self._take(answer)
                # The conversation as before, or the user failed after the response was stored.
                if is_last:
                    return None
            elif status == 428 and is_last:
                return self._start() if self._known is None else self._take_end_of_topic()
            elif status == 500 and is_last and attempt > 0:  # not a passing fault
                return self._take_end_of_topic()
            elif status is not None and status < 500 and status != 428:
                raise SimulationError(f"session: status {status}: {shown(answer)}")
        raise SimulationError(f"no answer from the server: {shown(answer)}")

    def _take_end_of_topic(self) -> None:
        """No session is open: before a topic, or after a goodbye that did not arrive."""
        if self._known is None or self._topic_ended:
            return
        warn(f"the end of topic {self._known['topic_id']} did not arrive")
        self._topic_ended = True
        if self._mode == "debug":
            return
        status, answer = self._client.get(f"/run/status{self._query}")
        fields = answer if status == 200 and isinstance(answer, dict) else {}
        waiting = fields.get("open_topics", fields.get("open_user_topic_pairs"))
        if fields.get("status") == "inactive" or not isinstance(waiting, list):
            raise SimulationError(
                f"the server lost the conversation: {shown(answer)}\nhint: ask the organisers"
            )
        self._is_over = not waiting

    def differences(self) -> int:
        """Compares the server's dump of a judged run with the transcript: the number of responses
        that only one of them contains."""
        answer = self._client.get_ok(f"/run/dump{self._query}")
        lines = answer.splitlines() if isinstance(answer, str) else [json.dumps(answer)]
        responses = [one for line in lines for one in json.loads(line)["responses"]]
        dumped = Counter(one["assistant_text"] for one in responses if one["assistant_text"])
        histories = [utterance["history"] for utterance in self._transcript.utterances()]
        taken = Counter(history[-2]["content"] for history in histories if len(history) > 1)
        bodies = [entry["body"] for entry in self._transcript.entries[1:] if entry["body"]]
        # A response whose reaction did not arrive was sent, and may have been taken.
        sent = Counter(body.get("response") for body in bodies)
        return sum((taken - dumped).values()) + sum((dumped - sent).values())


def respond(system: Ranker, known: Json, statements: Mapping[str, List[str]]) -> Json:
    """The system's response to the last utterance of the user: text, citations, and the statements
    that it is based on."""
    messages = known["history"]
    # The server stores a response twice that was sent again because the simulated user failed.
    said = [
        {"user" if message["role"] == "user" else "system": message["content"]}
        for before, message in zip([None, *messages], messages)
        if message != before
    ]
    if len(said) > 2 * MAX_TURNS:
        raise SimulationError(
            f"the user of topic {known['topic_id']} does not end: ask the organisers"
        )
    of_user = (known.get("user_meta") or {}).get("ptkb")
    if of_user is None:
        of_user = statements.get(str(known["topic_id"]), [])
    if not of_user and len(said) == 1:
        warn(f"no statements of the user of topic {known['topic_id']}")
    answer = system.rank(
        {"id": "1", "said": said, "statements": [text for text in of_user if text.strip()]}
    )
    if answer.response is None:
        raise SimulationError("SYSTEM: expected a system that answers, such as `ikat-bm25`")
    # For the server, white space beyond one blank is a token.
    text = " ".join(answer.response.text.split())
    if not text:
        warn(f"an empty response in topic {known['topic_id']}")
    used = [hit for hit in answer.ranking if hit.id in answer.response.passages]
    others = [hit for hit in answer.ranking if hit.id not in answer.response.passages]
    cited = sorted([*used, *others][:MAX_CITATIONS], key=lambda hit: -hit.score)
    if answer.response.asks:
        cited = []  # as the guidelines show clarifying questions
    texts = {hit.id: hit.text for hit in answer.rankings.get("statements", [])}
    return {
        "response": text,
        "citations": {hit.id: hit.score for hit in cited},
        "meta": {"ptkb_provenance": [texts[one] for one in answer.response.statements]},
    }


def is_utterance(answer: Any) -> bool:
    """True for a conversation whose last message is the user's."""
    if not isinstance(answer, dict) or "topic_id" not in answer:
        return False
    history = answer.get("history")
    if not isinstance(history, list) or not history:
        return False
    return bool(history[-1]["role"] == "user")


def is_same_topic(one: Json, other: Json) -> bool:
    """True for the same topic and user."""
    return all(one.get(key) == other.get(key) for key in ("topic_id", "user_id"))


def is_same(one: Json, other: Json) -> bool:
    """True if both have the same topic, user and history."""
    return is_same_topic(one, other) and bool(one["history"] == other["history"])


def shown(answer: Any) -> str:
    """The server's explanation of a refusal, shortened."""
    detail = answer.get("detail", answer) if isinstance(answer, dict) else answer
    return (detail if isinstance(detail, str) else json.dumps(detail))[:300]


def warn(text: str) -> None:
    """Prints a warning."""
    print(f"warning: {text}", file=sys.stderr)


def confirm(run_id: str, budget: str) -> None:
    """Asks whether a judged run should begin."""
    if not sys.stdin.isatty():
        raise SimulationError(
            "--run: standard input is not a terminal\nhint: --yes confirms the run"
        )
    print(
        f"Begin the judged run `{run_id}`? Left: {budget}. [y/N] ",
        end="",
        file=sys.stderr,
        flush=True,
    )
    if sys.stdin.readline().strip() not in ("y", "Y", "yes"):
        raise SimulationError("--run: not confirmed\nhint: without --run, nothing is judged")


def run_name(text: str) -> str:
    """A name that is the same in a URL and in a path."""
    if not text or not all(char.isascii() and (char.isalnum() or char in "-_.") for char in text):
        raise argparse.ArgumentTypeError("letters, digits, `-`, `_` and `.`")
    return text


def parse_arguments(arguments: Optional[Sequence[str]]) -> argparse.Namespace:
    """Parses the command line."""
    parser = argparse.ArgumentParser(
        prog="python -m clariq.simulate",
        description="Answer the simulated users of TREC iKAT's interactive task.",
        epilog=f"The environment variable {TOKEN} contains the team's token.",
    )
    parser.add_argument("url", metavar="URL", help="server, such as http://HOST:8888/simulation")
    parser.add_argument("system", metavar="SYSTEM", help="system that answers, such as ikat-bm25")
    parser.add_argument(
        "--run-id",
        type=run_name,
        required=True,
        metavar="NAME",
        help="name of the run, unique among all teams",
    )
    parser.add_argument(
        "--description",
        required=True,
        metavar="TEXT",
        help="description of the run for the organisers",
    )
    parser.add_argument(
        "--run", action="store_true", help="begin a judged run; without it, nothing is judged"
    )
    parser.add_argument("--yes", action="store_true", help="do not ask before a judged run")
    parser.add_argument("--data", metavar="FOLDER", help="collection, as for `clariq rank`")
    parser.add_argument(
        "--set",
        action="append",
        default=[],
        metavar="KEY=VALUE",
        help="parameter of the system, as for `clariq rank`",
    )
    parser.add_argument(
        "--statements",
        type=Path,
        metavar="FILE",
        help="users' statements for a server that sends none: a JSON object of topic ids and lists of texts",
    )
    parser.add_argument(
        "--timeout",
        type=float,
        default=120,
        metavar="SECONDS",
        help="time to wait for an answer [default: 120]",
    )
    parser.add_argument(
        "--retries", type=int, default=5, metavar="N", help="number of retries [default: 5]"
    )
    parser.add_argument(
        "-o",
        "--output",
        type=Path,
        metavar="FILE",
        help="transcript [default: runs/NAME.transcript.jsonl]",
    )
    return parser.parse_args(arguments)


def simulate(options: argparse.Namespace) -> int:
    """Holds a run, and returns the exit status: 1 if the server's dump differs."""
    client = Client(options.url, options.timeout, options.retries)
    statements = json.loads(options.statements.read_text("utf-8")) if options.statements else {}
    team = client.get_ok("/auth/verify")["team_id"]
    left = client.get_ok("/budget/check")["remaining"]
    budget = ", ".join(f"{mode}: {one['remaining']} {one['unit']}" for mode, one in left.items())
    print(f"team {team}; budget left: {budget}", file=sys.stderr)
    path = options.output or Path("runs", f"{options.run_id}.transcript.jsonl")
    if options.run and not options.yes and not path.exists():
        confirm(options.run_id, budget)
    settings = [f"--set={one}" for one in options.set]
    with Ranker(options.system, data=options.data, arguments=settings) as system:
        # The system is opened before the run begins.
        respond(
            system,
            {
                "topic_id": "-",
                "history": [{"role": "user", "content": "hello"}],
                "user_meta": {"ptkb": ["I am here."]},
            },
            {},
        )
        head = {
            "mode": "run" if options.run else "debug",
            "run_id": options.run_id,
            "description": options.description,
            "system": [options.system, *settings],
        }
        client.transcript = Transcript(path, head)
        run = Run(client, client.transcript, system, statements)
        run.hold()
        said = client.transcript.utterances()
        differences = run.differences() if options.run else 0
    topics = len({(one["topic_id"], one.get("user_id")) for one in said})
    print(f"{topics} topics, {len(said)} utterances: {path}")
    if differences:
        warn(f"{differences} responses are not both in the transcript and in the server's dump")
    return 1 if differences else 0


def main(arguments: Optional[Sequence[str]] = None) -> int:
    """Runs the command line."""
    try:
        return simulate(parse_arguments(arguments))
    except (SimulationError, ClariqError, OSError, ValueError, KeyError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 2


if __name__ == "__main__":
    sys.exit(main())
