"""Files in a folder that a URL names, through fsspec."""

from __future__ import annotations

import os
import posixpath
import re
import shutil
import tempfile
import uuid
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, BinaryIO, Container, Iterator, List, Mapping, Tuple

import fsspec
from fsspec.implementations.local import LocalFileSystem

from .._command import ClariqError

_UNFINISHED = re.compile(r"\.(.+)\.[0-9a-f]{32}\.tmp")
"""The name of an unfinished file in a local folder, and of the file that it would become."""

_NOT_RETRIED = (PermissionError, IsADirectoryError, NotADirectoryError, FileExistsError)
"""What another try would meet again."""

_TRIES = 5
"""How often a local file is written where other drivers remove it unfinished."""


class Missing(ClariqError):
    """No file has that name."""


class Unreachable(ClariqError):
    """A place of files did not answer, or answered with an error that may pass."""


@dataclass(frozen=True)
class Folder:
    """A folder: a path, or a URL such as ``s3://bucket/folder``.

    A file that is put is whole or not there: object stores show an object when all of it has
    arrived, and a local file takes its name when it is on the disk.

    Attributes:
        url: The path or URL.
        storage: Options of the file system, for example ``{"endpoint_url": …}``.
    """

    url: str
    storage: Mapping[str, Any] = field(default_factory=dict)

    @classmethod
    def of(cls, url: "os.PathLike[str] | str", storage: Mapping[str, Any]) -> "Folder":
        """The folder; a path is made absolute, because workers run in folders of their own."""
        text = os.fspath(url)
        return cls((text if "://" in text else os.path.abspath(text)).rstrip("/"), storage)

    @classmethod
    def around(
        cls, url: "os.PathLike[str] | str", storage: Mapping[str, Any]
    ) -> Tuple["Folder", str]:
        """The folder that a file is in, and the file's name."""
        text = os.fspath(url)
        folder, name = posixpath.split(cls.of(text, storage).url)
        # A folder that ends in a colon is the start of a URL such as `s3://bucket`.
        if not text or text.endswith("/") or not name or folder.endswith(":"):
            expected = "expected: the path or URL of a file"
            raise ClariqError(2, f"bad file name\n  {expected}\n     found: `{text}`")
        return cls(folder, storage), name

    def below(self, name: str) -> "Folder":
        """A folder in this one."""
        return Folder(f"{self.url}/{name}", self.storage)

    def has_local_folder(self, name: str) -> bool:
        """Whether a local folder has that name, so that no file can take it."""
        with self._opened(name) as (files, path):
            return isinstance(files, LocalFileSystem) and os.path.isdir(path)

    def read(self, name: str) -> bytes:
        """The bytes of a file."""
        with self._opened(name) as (files, path):
            return bytes(files.cat_file(path))

    def fetch(self, name: str, target: Path, *, link: bool = False) -> None:
        """Copies a file to this machine; ``link`` saves the copy of a local one."""
        with self._opened(name) as (files, path):
            if link and isinstance(files, LocalFileSystem):
                os.stat(path)
                target.symlink_to(path)
            else:
                files.get_file(path, str(target))

    def fetch_if_there(self, name: str, target: Path) -> bool:
        """Copies a file to this machine, if there is one of that name."""
        try:
            self.fetch(name, target)
        except Missing:
            # Some file systems create the target before they look.
            target.unlink(missing_ok=True)
            return False
        return True

    def put(self, source: Path, name: str) -> None:
        """Writes a file under that name, in the place of one that is there."""
        with self._opened(name) as (files, path):
            if isinstance(files, LocalFileSystem):
                _put_local(source, Path(path))
            else:
                files.put_file(str(source), path)

    def write(self, content: bytes, name: str) -> None:
        """Writes bytes under that name, in the place of a file that is there."""
        with tempfile.TemporaryDirectory(prefix="clariq-") as folder:
            source = Path(folder) / "content"
            source.write_bytes(content)
            self.put(source, name)

    def names(self) -> List[str]:
        """The names of all files; none of a folder that does not exist."""
        with self._opened("") as (files, path):
            try:
                found = files.ls(path, detail=False)
            except FileNotFoundError:
                return []
        return [posixpath.basename(name.rstrip("/")) for name in found]

    def remove_unfinished(self, names: Container[str]) -> None:
        """Removes what killed workers left of files of these names, in a local folder."""
        for name in self.names():
            unfinished = _UNFINISHED.fullmatch(name)
            if unfinished and unfinished.group(1) in names:
                with self._opened(name) as (files, path), suppress(FileNotFoundError):
                    files.rm_file(path)

    def remove_if_only(self, name: str) -> None:
        """Removes a file if its folder has no other, and the folder if it is a local one."""
        if self.names() != [name]:
            return
        with self._opened(name) as (files, path), suppress(FileNotFoundError):
            files.rm_file(path)
            if isinstance(files, LocalFileSystem):
                # Another driver may have put a file there by now.
                with suppress(OSError):
                    os.rmdir(os.path.dirname(path))

    @contextmanager
    def _opened(self, name: str) -> Iterator[Tuple[Any, str]]:
        url = f"{self.url}/{name}" if name else self.url
        try:
            files, path = fsspec.core.url_to_fs(url, **self.storage)
            # Other machines write to the same folder.
            files.invalidate_cache()
            yield files, path
        except ClariqError:
            raise
        except FileNotFoundError as error:
            raise Missing(2, f"{url}: no such file") from error
        except (*_NOT_RETRIED, ValueError, ImportError) as error:
            raise ClariqError(2, f"{url}: {error}") from error
        except Exception as error:
            # Every file system has exceptions of its own.
            message = f"{url}: {type(error).__name__}: {error}"
            hint = "hint: check the URL, the network and the options in `storage`"
            raise Unreachable(2, f"{message}\n{hint}") from error


def _put_local(source: Path, target: Path) -> None:
    for left in reversed(range(_TRIES)):
        try:
            with open(source, "rb") as read:
                _replace(read, target)
            return
        except FileNotFoundError:
            # A driver that ends takes the temporary file of another's worker for an abandoned one.
            if not left or not source.exists():
                raise


def _replace(read: BinaryIO, target: Path) -> None:
    target.parent.mkdir(parents=True, exist_ok=True)
    temporary = target.with_name(f".{target.name}.{uuid.uuid4().hex}.tmp")
    try:
        with open(temporary, "wb") as written:
            shutil.copyfileobj(read, written, 1 << 20)
            written.flush()
            os.fsync(written.fileno())
        os.replace(temporary, target)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise
