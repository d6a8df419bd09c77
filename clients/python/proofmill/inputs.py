"""The private input of a proof: its bytes, the messages that carry them, and the numbers of WHIR as bytes.

Elements of BabyBear are 4 bytes, little-endian; an element of the extension is its coefficients one after the other.
"""

import array
import pathlib
import sys

import grpc

from proofmill.errors import make_error
from proofmill.v1 import common_pb2, prover_pb2

P = 2013265921  # the order of BabyBear
WORD = 4
WTNS_MAGIC = b"wtns"


class Groth16Input:
    """The content of a .wtns file: its bytes, or its path.

    WitnessError for what is no such file: on a stream the service sees its size first, and would find only that wrong.
    """

    claims = ()

    def __init__(self, wtns):
        self.data = read(wtns)
        if self.data[:4] != WTNS_MAGIC:
            raise make_error(f'witness: not a .wtns file: expected it to begin with "wtns", got {len(self.data)} bytes that do not',
                             grpc.StatusCode.INVALID_ARGUMENT, "WITNESS_MALFORMED")

    def request(self, spec, upload=""):
        """A request with the bytes in it, or with the name of an upload of them."""
        where = {"upload": upload} if upload else {"wtns": self.data.tobytes()}
        return prover_pb2.ProveRequest(spec=spec, groth16=prover_pb2.Groth16Input(**where))


class WhirInput:
    """The values of a polynomial, and the claims that are to be shown of it."""

    def __init__(self, evaluations, claims):
        self.data = evaluation_bytes(evaluations)
        self.claims = [claim_message(claim, f"claims[{i}]") for i, claim in enumerate(claims)]

    def request(self, spec, upload=""):
        where = {"upload": upload} if upload else {"evaluations": self.data.tobytes()}
        return prover_pb2.ProveRequest(spec=spec, whir=prover_pb2.WhirInput(claims=self.claims, **where))


def read(source):
    """Bytes, or those of a file by its path, as a view."""
    if isinstance(source, (bytes, bytearray, memoryview)):
        return memoryview(source).cast("B")
    return memoryview(pathlib.Path(source).read_bytes())


def evaluation_bytes(source):
    """Values as numbers below P (any iterable; arrays of 4-byte words fastest), as bytes, or a file of them by its path.

    TypeError or ValueError, without a value, for what is none of these: values are secret.
    """
    if isinstance(source, (bytes, bytearray, str, pathlib.PurePath)) or (isinstance(source, memoryview) and source.itemsize == 1):
        return read(source)
    try:
        view = memoryview(source)
    except TypeError:
        view = None
    if view is not None and view.ndim == 1 and view.contiguous and view.itemsize == WORD and view.format.lstrip("@=<") in ("I", "L"):
        words = array.array("I", view.tobytes()) if sys.byteorder == "big" else view
    else:
        words = _words(source, "evaluations")
    if sys.byteorder == "big":
        words.byteswap()
    return memoryview(words).cast("B")


def _words(numbers, what):
    try:
        words = array.array("I", numbers)
    except (OverflowError, TypeError):
        raise ValueError(f"{what}: expected integers from 0 to {P - 1}, got something else") from None
    return words


def _element_bytes(element, what):
    words = _words(element, what)
    if len(words) not in (4, 5) or any(word >= P for word in words):
        raise ValueError(f"{what}: expected 4 or 5 integers from 0 to {P - 1}, got something else")
    if sys.byteorder == "big":
        words.byteswap()
    return words.tobytes()


def claim_message(claim, what="claim"):
    """A claim as `{"point": [element, ...], "value": element}`; the value may be left out. An element is a list of its 5 (or 4)
    coefficients, as in the files of `proofmill whir prove`."""
    point = b"".join(_element_bytes(element, f"{what}.point[{j}]") for j, element in enumerate(claim["point"]))
    value = claim.get("value")
    return common_pb2.WhirClaim(point=point, value=b"" if value is None else _element_bytes(value, f"{what}.value"))


def _to_elements(data, degree):
    words = array.array("I", data)
    if sys.byteorder == "big":
        words.byteswap()
    return [list(words[i:i + degree]) for i in range(0, len(words), degree)]


def to_claim(message):
    """The claim of a message, with its value. An error of code INTERNAL if that has none."""
    size = len(message.value)
    if size not in (4 * WORD, 5 * WORD) or len(message.point) % size:
        raise make_error("expected claims with values in the answer of the service, got others", grpc.StatusCode.INTERNAL)
    return {"point": _to_elements(message.point, size // WORD), "value": _to_elements(message.value, size // WORD)[0]}


def answers(claims, asked):
    """Whether these claims, as messages, are those that were asked for."""
    return len(claims) == len(asked) and all(claim.point == wanted.point and wanted.value in (b"", claim.value)
                                             for claim, wanted in zip(claims, asked))
