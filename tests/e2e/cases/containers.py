"""Files of sections that can be damaged on purpose: the tools of the mutation tables.

An entry of a table is a Mutation: a name, what must happen, and a function from the bytes of a good file to those of
the damaged one. The expectations are those of the manifest: "ok" proves, "reject" and "no-valid-proof" give an error,
"reject-or-ok" one of the two. `says` holds words that the error must have in it.
"""

import dataclasses
import struct
import typing

import harness  # noqa: F401, first: it puts the oracle on the path

from iden3_files import write_sections


@dataclasses.dataclass
class Mutation:
    name: str
    expect: str
    make: typing.Callable[[bytes], bytes]
    says: tuple = ()


class Container:
    """The sections of a file, to be changed and written again with lengths that fit."""

    def __init__(self, data):
        self.magic, self.version = data[:4], struct.unpack_from("<I", data, 4)[0]
        self.sections, offset = [], 12
        while offset < len(data):
            identifier, length = struct.unpack_from("<IQ", data, offset)
            self.sections.append((identifier, bytearray(data[offset + 12 : offset + 12 + length])))
            offset += 12 + length

    def __getitem__(self, identifier):
        return next(payload for found, payload in self.sections if found == identifier)

    def patch(self, identifier, offset, data):
        self[identifier][offset : offset + len(data)] = data
        return self

    def replace(self, identifier, payload):
        self.sections = [(found, payload if found == identifier else old) for found, old in self.sections]
        return self

    def drop(self, identifier):
        self.sections = [entry for entry in self.sections if entry[0] != identifier]
        return self

    def append(self, identifier, payload):
        self.sections.append((identifier, payload))
        return self

    def order(self, identifiers):
        """Keeps the sections with these ids, in this order."""
        self.sections = [(identifier, self[identifier]) for identifier in identifiers]
        return self

    def bytes(self):
        return write_sections(self.magic, self.version, self.sections)

    def length_offset(self, identifier):
        """Where in the file the length of a section stands."""
        offset = 12
        for found, payload in self.sections:
            if found == identifier:
                return offset + 4
            offset += 12 + len(payload)
        raise KeyError(identifier)


def u32(value):
    return struct.pack("<I", value)


def le32(value):
    return value.to_bytes(32, "little")


def patched(identifier, offset, data):
    return lambda base: Container(base).patch(identifier, offset, data).bytes()


def changed(change):
    """`change` gets a Container and changes it in place."""

    def make(base):
        container = Container(base)
        change(container)
        return container.bytes()

    return make


def with_length(identifier, length):
    """The length field alone, so that it lies."""

    def make(base):
        offset = Container(base).length_offset(identifier)
        return base[:offset] + struct.pack("<Q", length) + base[offset + 8 :]

    return make
