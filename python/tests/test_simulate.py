"""`python -m clariq.simulate` against servers on this machine: the recorded session of the published
server, and one that fails on demand."""

import json
import os
import pty
import subprocess
import sys
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

pytest.importorskip("httpx")
from clariq import Answer, Hit, Response, simulate

TOKEN = "MDEyMzQ1Njc4OWFiY2RlZg=="
RECORDED = Path(__file__).parents[3] / "shared" / "ikat" / "simulation" / "session.jsonl"
TOPICS = {
    "1-1": ["Which saddle?", "And which pedals?", "Bye!"],
    "1-2": ["Where to ride?", "Thank you."],
}
ALL_RESPONSES = ["To Which saddle? (1)", "To And which pedals? (3)", "To Where to ride? (1)"]


class Server:
    """Serves `answer(path, body)` to clients with the token."""

    def __init__(self, answer):
        self.requests = []

        class Handler(BaseHTTPRequestHandler):
            def do_GET(handler):
                path = handler.path.removeprefix("/simulation")
                length = int(handler.headers.get("Content-Length", 0))
                body = json.loads(handler.rfile.read(length)) if length else None
                self.requests.append((path, body))
                if handler.headers["Authorization"] != f"Bearer {TOKEN}":
                    # A server that repeats what it was sent.
                    status, found = 401, {"detail": f"invalid: {handler.headers['Authorization']}"}
                else:
                    status, found = answer(path, body)
                if status is None:  # the connection ends without an answer
                    handler.connection.close()
                    return
                text = (found if isinstance(found, str) else json.dumps(found)).encode()
                handler.send_response(status)
                handler.send_header("Content-Length", str(len(text)))
                handler.end_headers()
                handler.wfile.write(text)

            do_POST = do_GET

            def log_message(handler, *_):
                pass

        self._http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._http.daemon_threads = True
        self.url = f"http://127.0.0.1:{self._http.server_port}/simulation"
        serve = self._http.serve_forever
        threading.Thread(target=serve, args=(0.01,), daemon=True).start()

    def paths(self):
        return [path.split("?")[0] for path, _ in self.requests[2:]]

    def close(self):
        self._http.shutdown()
        self._http.server_close()


class Users:
    """The scripted users of TOPICS. `faults[n]` happens at the n-th request that continues."""

    def __init__(self, faults=None, longest=250):
        self.faults = faults or {}
        self.longest = longest
        self.topics = list(TOPICS)
        self.history = []
        self.run_id = None
        self.dump = []
        self.continued = 0

    def utterance(self):
        said = sum(message["role"] == "user" for message in self.history)
        ends = said == len(TOPICS[self.topics[0]])
        return {
            "run_id": self.run_id,
            "topic_id": self.topics[0],
            "user_id": "u1",
            "utterance": self.history[-1]["content"],
            "history": self.history,
            "last_response_of_session": ends,
            "last_response_of_run": ends and len(self.topics) == 1,
            "user_meta": {"ptkb": ["My bicycle is red."]},
        }

    def is_open(self):
        return bool(self.history) and not self.utterance()["last_response_of_session"]

    def say(self, text):
        self.history.append({"role": "user", "content": text})
        return 200, self.utterance()

    def answer(self, path, body):
        name = path.split("?")[0].rsplit("/", 1)[1]
        if name == "verify":
            return 200, {"team_id": "team"}
        if name == "check":
            return 200, {"remaining": {"run": {"remaining": 6, "unit": "runs"}}}
        if name == "status":
            return 200, {"status": "active", "open_topics": self.topics[1:]}
        if name == "dump":
            return 200, "\n".join(json.dumps(line) for line in self.dump)
        if name == "start" and self.run_id:
            return 412, {"detail": "already exists"}
        if name == "start":
            self.run_id = body["run_id"]
            return self.say(TOPICS[self.topics[0]][0])
        if name == "session" and self.run_id is None:
            return 428, {"detail": "does not exist"}
        if name == "session":
            return (200, self.utterance()) if self.is_open() else (500, "Internal Server Error")
        self.continued += 1
        fault = self.faults.get(self.continued)
        if fault == "refuse":
            return 503, "busy"
        if len(body["response"].split()) > self.longest:
            return 422, {"detail": [{"msg": "Response is too long"}]}
        if not self.is_open():
            if len(self.topics) == 1:
                return 400, {"detail": "Run was finished!"}
            self.topics.pop(0)
            self.history = []
            reaction = self.say(TOPICS[self.topics[0]][0])
            if fault == "stall":
                time.sleep(60)
            return reaction
        assert body["response"], "an empty response to a question"
        said = sum(message["role"] == "user" for message in self.history)
        self.history.append({"role": "assistant", "content": body["response"]})
        if fault == "the user fails":
            return 500, "Internal Server Error"
        self.dump.append({"responses": [{"assistant_text": body["response"]}]})
        reaction = self.say(TOPICS[self.topics[0]][said])
        if fault == "stall":
            time.sleep(60)
        return (None, None) if fault == "cut" else reaction


class Echo:
    """A session whose response is made of the request, or recorded."""

    words = 0
    recorded = []

    def __init__(self, *_, **__):
        pass

    def __enter__(self):
        return self

    def __exit__(self, *_):
        pass

    def rank(self, request):
        said = request["said"]
        if Echo.recorded and said != [{"user": "hello"}]:
            return Answer("1", None, [], {}, Response(Echo.recorded.pop(0), [], []))
        text = f"To {said[-1]['user']}\n({len(said)})" + " word" * Echo.words
        statements = [Hit(str(n), text, 1.0) for n, text in enumerate(request["statements"])]
        passages = [Hit(f"clueweb22-en0000-00-00000:{n}", "", 20.0 - n) for n in range(20)]
        response = Response(text, ["0"] if statements else [], [passages[15].id])
        return Answer(
            request["id"],
            None,
            passages,
            {"statements": statements, "passages": passages},
            response,
        )


@pytest.fixture
def serve(monkeypatch, tmp_path):
    """Starts servers, and works in an empty folder with the token in the environment."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv(simulate.TOKEN, TOKEN)
    monkeypatch.setattr(simulate, "Ranker", Echo)
    servers = []

    def start(answer):
        servers.append(Server(answer))
        return servers[-1]

    yield start
    for server in servers:
        server.close()


def words(server, *more, run_id="mine"):
    usual = [server.url, "ikat-bm25", "--run-id", run_id, "--description", "d", "--timeout=10"]
    return [*usual, *more]


def transcript(run_id="mine"):
    lines = Path(f"runs/{run_id}.transcript.jsonl").read_text().splitlines()
    return [json.loads(line) for line in lines]


def check_token(folder, *shown):
    """The token is in no file and in no output."""
    files = [path.read_text() for path in Path(folder).rglob("*") if path.is_file()]
    assert not any(TOKEN in text for text in [*files, *shown])


def test_every_user_is_answered(serve, capsys):
    users = Users()
    server = serve(users.answer)
    assert simulate.main(words(server, "--run", "--yes")) == 0
    kinds = ["start", "continue", "continue", "continue", "continue", "dump"]
    assert server.paths() == [f"/run/{kind}" for kind in kinds]
    first = server.requests[3][1]
    assert first["response"] == ALL_RESPONSES[0]
    assert list(first["citations"].values()) == [*(20.0 - n for n in range(9)), 5.0]
    assert first["meta"] == {"ptkb_provenance": ["My bicycle is red."]}
    assert server.requests[5][1] == {"run_id": "mine", "response": ""}, "to a goodbye"
    lines = transcript()
    assert len(lines) == 1 + len(kinds)
    assert lines[0] == {
        "mode": "run",
        "run_id": "mine",
        "description": "d",
        "system": ["ikat-bm25"],
    }
    shown = capsys.readouterr()
    assert "budget left: run: 6 runs" in shown.err
    assert "2 topics, 5 utterances" in shown.out
    check_token(".", *shown)
    # A complete run is not continued.
    assert simulate.main(words(server, "--run", "--yes")) == 0
    assert server.paths()[6:] == ["/auth/verify", "/budget/check", "/run/dump"]


@pytest.mark.skipif(not RECORDED.exists(), reason="no recorded session")
@pytest.mark.parametrize(
    ("scenario", "run_id", "utterances"),
    [("dummy", "teamA-bm25", 4), ("scripted", "teamA-two-topics", 6)],
)
def test_the_published_server(serve, capsys, scenario, run_id, utterances):
    recorded = {}
    for line in RECORDED.read_text().splitlines():
        exchange = json.loads(line)
        path = exchange["path"].removeprefix("/simulation")
        if exchange["status"] != 200:
            continue
        if exchange["scenario"] == scenario or path.startswith(("/auth", "/budget")):
            recorded.setdefault(path, []).append((200, exchange["response"]))
        if exchange["scenario"] == scenario and path == "/run/continue":
            Echo.recorded += filter(None, [exchange["request"]["response"]])
    server = serve(lambda path, body: recorded[path].pop(0))
    assert simulate.main(words(server, "--run", "--yes", run_id=run_id)) == 0
    assert f"{utterances} utterances" in capsys.readouterr().out
    assert not recorded["/run/continue"] and not Echo.recorded, "every exchange was used"


@pytest.mark.parametrize("number", [1, 2, 3, 4])
@pytest.mark.parametrize("fault", ["cut", "refuse", "the user fails"])
def test_a_failed_request_is_sent_again_only_if_it_was_not_taken(serve, number, fault):
    users = Users({number: fault})
    server = serve(users.answer)
    assert simulate.main(words(server, "--run", "--yes", "--timeout=1")) == 0
    assert [line["responses"][0]["assistant_text"] for line in users.dump] == ALL_RESPONSES


def test_a_start_without_answer_is_not_repeated(serve):
    users = Users()
    lost = []

    def answer(path, body):
        found = users.answer(path, body)
        if path.endswith("start") and not lost:
            lost.append(path)
            return None, None
        return found

    server = serve(answer)
    assert simulate.main(words(server, "--timeout=1")) == 0
    assert server.paths().count("/debug/start") == 1


def test_a_long_response_is_shortened(serve):
    Echo.words = 20
    try:
        server = serve(Users(longest=12).answer)
        assert simulate.main(words(server)) == 0
    finally:
        Echo.words = 0
    first = [body["response"] for path, body in server.requests if path.endswith("continue")]
    assert first[0].startswith("To Which saddle? (1) word") and len(first[0].split()) == 24
    taken = next(text for text in first if len(text.split()) <= 12)
    assert taken == ALL_RESPONSES[0] + 8 * " word"


@pytest.mark.parametrize(
    ("status", "detail", "expected"),
    [
        (401, "Token is invalid.", "status 401: Token is invalid."),
        (403, "Budget exceeded.", "hint: the budget is used up"),
        (412, "exists", "choose another --run-id"),
        (422, [{"msg": "Field required"}], "Field required"),
    ],
)
def test_a_refused_start_leaves_no_transcript(serve, capsys, status, detail, expected):
    users = Users()
    refused = lambda path, body: (status, {"detail": detail})
    server = serve(lambda path, body: (refused if "start" in path else users.answer)(path, body))
    assert simulate.main(words(server)) == 2
    assert expected in capsys.readouterr().err
    assert not list(Path("runs").iterdir())


def test_a_wrong_token_is_refused_and_not_repeated(serve, capsys, monkeypatch):
    server = serve(Users().answer)
    other = "b3RoZXI="
    monkeypatch.setenv(simulate.TOKEN, other)
    assert simulate.main(words(server)) == 2
    shown = capsys.readouterr()
    assert "status 401" in shown.err and other not in shown.err
    monkeypatch.delenv(simulate.TOKEN)
    assert simulate.main(words(server)) == 2
    assert simulate.TOKEN in capsys.readouterr().err
    assert not Path("runs").exists()


def test_a_server_that_stays_down_ends_the_run(serve, capsys):
    users = Users({number: "refuse" for number in range(1, 100)})
    server = serve(users.answer)
    assert simulate.main(words(server, "--timeout=1", "--retries=2")) == 2
    assert "the same command continues" in capsys.readouterr().err
    users.faults = {}
    assert simulate.main(words(server)) == 0
    assert [line["responses"][0]["assistant_text"] for line in users.dump] == ALL_RESPONSES


def test_a_transcript_of_other_arguments_or_of_something_else_is_refused(serve, capsys):
    server = serve(Users().answer)
    assert simulate.main(words(server)) == 0
    assert simulate.main(words(server, "--set", "bm25.k1=1")) == 2
    assert "transcript of another run" in capsys.readouterr().err
    Path("notes").write_text("hello\n")
    assert simulate.main(words(server, "-o", "notes")) == 2
    assert "notes:1: not a line of a transcript" in capsys.readouterr().err
    assert Path("notes").read_text() == "hello\n"


def start_command(server, *more, **options):
    """The real command, with the sample of iKAT."""
    command = [sys.executable, "-m", "clariq.simulate", *words(server, *more)]
    return subprocess.Popen(command, env={**os.environ, simulate.TOKEN: TOKEN}, **options)


@pytest.mark.parametrize("number", [1, 3])
def test_a_killed_client_continues(serve, tmp_path, number):
    users = Users({number: "stall"})
    server = serve(users.answer)
    process = start_command(server, stderr=subprocess.PIPE)
    while users.continued < number:
        assert process.poll() is None, process.stderr.read()
        time.sleep(0.01)
    process.kill()
    process.communicate()
    assert start_command(server).wait() == 0
    assert len(users.dump) == 3, "every response was given once"
    sent = [body["response"] for path, body in server.requests if path.endswith("continue")]
    assert len(sent) == 4 and len([text for text in sent if text]) == 3
    check_token(tmp_path)


@pytest.mark.parametrize("reply", [b"no\n", b"yes\n"])
def test_a_judged_run_is_confirmed(serve, tmp_path, capfd, reply):
    server = serve(Users().answer)
    assert simulate.main(words(server, "--run")) == 2, "standard input is not a terminal"
    ours, theirs = pty.openpty()
    process = start_command(server, "--run", stdin=theirs, stderr=subprocess.PIPE)
    os.write(ours, reply)
    _, shown = process.communicate()
    os.close(ours)
    os.close(theirs)
    assert b"Begin the judged run `mine`? Left: run: 6 runs. [y/N]" in shown
    assert process.returncode == (0 if reply == b"yes\n" else 2)
    assert Path("runs").exists() == (reply == b"yes\n")
