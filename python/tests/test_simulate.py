"""`clariq simulate --run` asks at a terminal before it begins a judged run."""

import json
import os
import pty
import shutil
import subprocess
import threading
from http.server import BaseHTTPRequestHandler, HTTPServer

import pytest


@pytest.fixture
def server():
    """A server whose budget is not used up until a run begins."""
    asked = []

    class Handler(BaseHTTPRequestHandler):
        def answer(self, status, body):
            asked.append(self.path)
            text = json.dumps(body).encode()
            self.send_response(status)
            self.send_header("Content-Length", str(len(text)))
            self.end_headers()
            self.wfile.write(text)

        def do_GET(self):
            left = {"debug": {"remaining": 99, "unit": "sessions"}, "run": {"remaining": 6, "unit": "runs"}}
            self.answer(200, {"team_id": "team", "remaining": left})

        def do_POST(self):
            self.rfile.read(int(self.headers["Content-Length"]))
            self.answer(403, {"detail": "Budget exceeded."})

        def log_message(self, *_):
            pass

    server = HTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}/simulation", asked
    server.shutdown()
    server.server_close()


def simulate(url, folder, reply, question=b"[y/N] "):
    """What is shown at a terminal where this is typed, and the exit status."""
    clariq = os.environ.get("CLARIQ") or shutil.which("clariq")
    command = [clariq, "simulate", url, "ikat-bm25", "--run-id", "a", "--description", "d", "--run"]
    env = {**os.environ, "CLARIQ_SIMULATE_TOKEN": "MDEyMzQ1Njc4OWFiY2RlZg=="}
    ours, theirs = pty.openpty()
    with subprocess.Popen(
        command, stdin=theirs, stdout=theirs, stderr=theirs, cwd=folder, env=env
    ) as process:
        os.close(theirs)
        shown = b""
        try:
            while more := os.read(ours, 4096):
                shown += more
                if question and shown.endswith(question):
                    os.write(ours, reply)
                    question = None
        except OSError:
            pass  # On Linux, the end of what is shown.
        os.close(ours)
    return shown.decode(), process.returncode


@pytest.mark.parametrize("reply", [b"no\n", b"\n", b"\x04"], ids=["no", "nothing", "end"])
def test_nothing_is_sent_without_a_confirmation(server, tmp_path, reply):
    url, asked = server
    shown, status = simulate(url, tmp_path, reply)
    assert status == 2
    assert "Begin the judged run `a`? Left: debug: 99 sessions, run: 6 runs. [y/N]" in shown
    assert "expected: a confirmation of the judged run" in shown
    assert asked == ["/simulation/auth/verify", "/simulation/budget/check"]
    assert not list(tmp_path.rglob("*")), "no journal of a run that never began"


def test_a_confirmed_run_begins(server, tmp_path):
    url, asked = server
    shown, status = simulate(url, tmp_path, b"yes\n")
    assert status == 2
    assert "status 403: Budget exceeded." in shown
    assert asked[2:] == ["/simulation/run/start"]
