"""Installs a model of the Hugging Face hub.

Usage: clariq setup --model ORGANISATION/NAME[@REVISION] [--check] [--force]

HF_ENDPOINT and HF_TOKEN are those of the package huggingface_hub, which is fetched if this Python has
none. The revision and the SHA-256 of every file are kept beside the model, which is used offline.
"""

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
from fnmatch import fnmatch
from pathlib import Path

from setup import Failure, cache, end, model_folder, pip, say, sha256, write_sums

HUB = "huggingface_hub>=0.30,<1"

# What describes a model, which is little; and what is read of it beside the files that `clariq` names.
DESCRIPTION = ["config.json", "modules.json", "*/config.json", "tokenizer_config.json"]
READ = [*DESCRIPTION, "*.safetensors", "*.safetensors.index.json", "vocab.txt", "README.md"]
# Weights for other programs.
NOT_READ = ["onnx/*", "openvino/*", "*/onnx/*", "*/openvino/*", "coreml/*"]
# The file that says where a model is from.
ORIGIN = "origin.json"


def hub_package():
    """The package huggingface_hub: that of this Python, or one in the cache."""
    try:
        import huggingface_hub
    except ImportError:
        folder = cache() / "huggingface_hub"
        if not (folder / "huggingface_hub").is_dir():
            say("fetching the package huggingface_hub, which is kept in the cache")
            command, _ = pip()
            quiet = ["--quiet", "--disable-pip-version-check", "--no-warn-script-location"]
            words = [*command, "install", *quiet, "--target", str(folder), HUB]
            if subprocess.run(words, stdout=sys.stderr).returncode != 0:
                hint = "check the network, or install it for this Python"
                raise Failure("huggingface_hub could not be installed", hint) from None
        sys.path.insert(0, str(folder))
        import huggingface_hub
    # Its parts are imported when they are named.
    import huggingface_hub.errors

    return huggingface_hub


def is_read(name, files):
    wanted = [*READ, *files, *(f"*/{file}" for file in files)]
    return any(fnmatch(name, one) for one in wanted) and not any(
        fnmatch(name, other) for other in NOT_READ
    )


def check_family(folder, families):
    """Refuses a model whose weights would be of no use."""
    modules = folder / "modules.json"
    if modules.is_file() and "StaticEmbedding" in modules.read_text(encoding="utf-8"):
        return
    configs = [folder / "config.json", folder / "0_Transformer/config.json"]
    config = next((path for path in configs if path.is_file()), None)
    if config is None:
        raise Failure("the model has no config.json", "models of transformers can be read")
    family = json.loads(config.read_text(encoding="utf-8")).get("model_type", "bert")
    if family not in families:
        hint = f"families that can be read: {', '.join(families)}; no weights were downloaded"
        raise Failure(f"the model is a `{family}`", hint)


def files_of(info, files, refused):
    """The names that are read, with the SHA-256 of those that the hub tells it of."""
    digests = {}
    for sibling in info.siblings:
        if sibling.rfilename in refused:
            hint = "the documentation says why (reference, Files of a model); nothing was downloaded"
            raise Failure(f"{info.id} has {sibling.rfilename}, which is not read", hint)
        if is_read(sibling.rfilename, files):
            digests[sibling.rfilename] = sibling.lfs and sibling.lfs["sha256"]
    if not any(name.endswith(".safetensors") for name in digests):
        hint = "weights are read as safetensors; another revision of the model may have them"
        raise Failure(f"{info.id} has no model.safetensors", hint)
    return digests


def install(name, families, files, refused, force):
    """Installs the model of that name, at a revision if one is named."""
    repository, _, revision = name.partition("@")
    folder = model_folder(repository)
    if os.path.lexists(folder) and not force:
        known = origin_of(folder).get("revision", "")
        if revision and not known.startswith(revision):
            hint = "--force installs the other in its place"
            raise Failure(f"{repository} is installed at revision {known}", hint)
        say(f"{repository} is in {folder}, at revision {known}; --force installs it again")
        return 0
    os.environ.setdefault("HF_HUB_DISABLE_PROGRESS_BARS", "1")
    hub = hub_package()
    try:
        info = hub.HfApi().model_info(repository, revision=revision or None, files_metadata=True)
        digests = files_of(info, files, refused)
        downloads = cache() / "downloads" / f"{repository.replace('/', '--')}-{info.sha[:12]}"
        small = [file for file in digests if any(fnmatch(file, one) for one in DESCRIPTION)]
        for file in small:
            hub.hf_hub_download(repository, file, revision=info.sha, local_dir=downloads)
        check_family(downloads, families)
        say(f"downloading {repository} at revision {info.sha}")
        for file in sorted(set(digests) - set(small)):
            hub.hf_hub_download(repository, file, revision=info.sha, local_dir=downloads)
    except Failure:
        raise
    except Exception as error:
        raise failure(hub.errors, repository, revision, error) from None
    for file, wanted in digests.items():
        found = sha256(downloads / file)
        if wanted not in (None, found):
            (downloads / file).unlink()
            hint = "it was removed; run the same command again"
            raise Failure(f"{file} has SHA-256 {found}, wanted {wanted}", hint)
    put(downloads, folder, {"repository": repository, "revision": info.sha})
    say(f"{repository} is in {folder}, at revision {info.sha}; it is used offline from now on")
    return 0


def put(downloads, folder, origin):
    """Gives a complete download its place, from which another is moved away."""
    shutil.rmtree(downloads / ".cache", ignore_errors=True)
    (downloads / ORIGIN).write_text(json.dumps(origin, indent=2) + "\n", encoding="utf-8")
    write_sums(downloads)
    folder.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=".replaced-", dir=folder.parent) as temporary:
        if os.path.lexists(folder):
            os.rename(folder, Path(temporary) / "model")
        os.rename(downloads, folder)


def origin_of(folder):
    path = folder / ORIGIN
    return json.loads(path.read_text(encoding="utf-8")) if path.is_file() else {}


def failure(errors, repository, revision, error):
    """An error of the hub with a hint."""
    if isinstance(error, errors.GatedRepoError):
        hint = "accept its terms on its page at the hub, and set HF_TOKEN to a token of yours"
        return Failure(f"{repository} is gated", hint)
    if isinstance(error, errors.RevisionNotFoundError):
        hint = "leave it out for the newest one"
        return Failure(f"{repository} has no revision `{revision}`", hint)
    if isinstance(error, errors.RepositoryNotFoundError):
        hint = "check the name, as ORGANISATION/NAME; a private one needs HF_TOKEN"
        return Failure(f"the hub has no model {repository}", hint)
    if isinstance(error, errors.HFValidationError):
        return Failure(f"`{repository}` is no name of a model", "names are ORGANISATION/NAME")
    what = (str(error).strip() or type(error).__name__).splitlines()[0]
    hint = "check the network, or HF_ENDPOINT; the same command continues"
    return Failure(f"{repository} could not be downloaded: {what}", hint)


def main():
    kind = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(prog="clariq setup", description=__doc__, formatter_class=kind)
    parser.add_argument("--model", required=True, help=argparse.SUPPRESS)
    parser.add_argument("--check", action="store_true", help=argparse.SUPPRESS)
    parser.add_argument("--force", action="store_true", help=argparse.SUPPRESS)
    parser.add_argument("--families", default="", help=argparse.SUPPRESS)
    parser.add_argument("--files", default="", help=argparse.SUPPRESS)
    parser.add_argument("--refused", default="", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.check:
        folder = model_folder(arguments.model.partition("@")[0])
        is_installed = os.path.lexists(folder)
        print(f"{arguments.model}\t{'ok' if is_installed else 'MISSING'}\t{folder}")
        return 0 if is_installed else 1
    families, files, refused = (
        names.split(",") if names else []
        for names in (arguments.families, arguments.files, arguments.refused)
    )
    return install(arguments.model, families, files, refused, arguments.force)


if __name__ == "__main__":
    end(main)
