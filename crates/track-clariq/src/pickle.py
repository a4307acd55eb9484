"""Writes the dictionaries of a pickle as JSON lines, without executing anything in it.

Usage: python3 -I -S -c SCRIPT DEPTH < PICKLE

A line is a list: the keys of DEPTH nested dictionaries, and the value below them. Any class or
function that is not in ALLOWED is refused by name. An error is a line on standard error.
"""

import io
import json
import pickle
import resource
import struct
import sys

MOST_BYTES = 4 << 30
FORMATS = {"b1": "?", "i1": "b", "i2": "h", "i4": "i", "i8": "q", "u1": "B", "u2": "H", "u4": "I", "u8": "Q",
           "f4": "f", "f8": "d"}


class Dtype:
    """A numpy type, such as `f8`, with the byte order that numpy restores as its state."""

    def __init__(self, name, align=False, copy=False):
        if name not in FORMATS:
            raise pickle.UnpicklingError(f"the numpy type `{name}`")
        self.format = FORMATS[name]
        self.order = "<"

    def __setstate__(self, state):
        self.order = ">" if state[1] == ">" else "<"


def scalar(dtype, data):
    return struct.unpack(dtype.order + dtype.format, data)[0]


def encode(text, codec):
    """Makes bytes in protocols 0 to 2, which have no type for bytes."""
    if codec != "latin1":
        raise pickle.UnpicklingError(f"bytes encoded as `{codec}`")
    return text.encode("latin1")


ALLOWED = {
    ("numpy.core.multiarray", "scalar"): scalar,
    ("numpy._core.multiarray", "scalar"): scalar,
    ("numpy", "dtype"): Dtype,
    ("_codecs", "encode"): encode,
    ("collections", "OrderedDict"): dict,
}


class Unpickler(pickle.Unpickler):
    def find_class(self, module, name):
        if (module, name) not in ALLOWED:
            raise pickle.UnpicklingError(f"a reference to `{module}.{name}`")
        return ALLOWED[module, name]


def lines(value, depth, keys=()):
    if depth == 0:
        yield [*keys, value]
    elif not isinstance(value, dict):
        raise pickle.UnpicklingError(f"`{type(value).__name__}` in place of a dictionary")
    else:
        for key, inner in value.items():
            yield from lines(inner, depth - 1, (*keys, key))


def fault(value):
    """Names what JSON cannot hold in a value; None if there is nothing."""
    if isinstance(value, dict):
        for key, inner in value.items():
            if not isinstance(key, (str, int, float, type(None))):
                return f"a key of the type `{type(key).__name__}`"
            found = fault(key) or fault(inner)
            if found:
                return f"{found} under `{key!a:.40}`"
    elif isinstance(value, (list, tuple)):
        return next(filter(None, map(fault, value)), None)
    elif isinstance(value, float) and value - value != 0:
        return f"the number `{value}`"
    elif isinstance(value, str) and any("\ud800" <= c <= "\udfff" for c in value):
        return "half of a character (a lone surrogate)"
    elif not isinstance(value, (str, int, float, type(None))):
        return f"a value of the type `{type(value).__name__}`"
    return None


def json_line(value):
    try:
        return json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode() + b"\n"
    except (TypeError, ValueError):
        found = fault(value)
        if not found:
            raise
        raise pickle.UnpicklingError(found) from None


def main():
    data = sys.stdin.buffer.read(MOST_BYTES + 1)
    if len(data) > MOST_BYTES:
        raise pickle.UnpicklingError(f"more than {MOST_BYTES >> 30} GiB")
    # Real files take about ten times their size, and about six times as text.
    most = (256 << 20) + 32 * len(data)
    resource.setrlimit(resource.RLIMIT_AS, (most, resource.getrlimit(resource.RLIMIT_AS)[1]))
    stream = io.BytesIO(data)
    value = Unpickler(stream).load()
    if stream.read(1):
        raise pickle.UnpicklingError("more behind the end of the dictionary")
    left = (64 << 20) + 32 * len(data)
    for line in lines(value, int(sys.argv[1])):
        text = json_line(line)
        left -= len(text)
        if left < 0:
            raise pickle.UnpicklingError("references that unfold to far more than the size of the file")
        sys.stdout.buffer.write(text)


try:
    main()
except MemoryError:
    sys.exit("far more memory than the size of the file justifies")
except Exception as error:
    sys.exit(" ".join(str(error).split()) or type(error).__name__)
