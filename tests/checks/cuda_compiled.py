"""Fails where a CUDA toolkit is present and a build has nothing compiled for sm_90. Passes where there is no toolkit.

The fat binaries that nvcc embeds are read here, since a toolkit may come without cuobjdump. A fat binary is a header (magic
0xba55ed50, u16 version, u16 header length, u64 length of what follows) and entries (u16 kind, 2 being machine code; u32 header
length at 4, u64 payload length at 8, u32 architecture at 28).

usage: cuda_compiled.py BUILD_FOLDER | --self_test
"""

import os
import pathlib
import shutil
import struct
import sys

MAGIC = struct.pack("<I", 0xBA55ED50)
MACHINE_CODE = 2
ARCHITECTURE = 90


def toolkit():
    """The folder of nvcc, or None."""
    for name in ("CUDA_HOME", "CUDA_PATH"):
        if os.access(os.path.join(os.environ.get(name, ""), "bin", "nvcc"), os.X_OK):
            return os.path.join(os.environ[name], "bin")
    if os.access("/usr/local/cuda/bin/nvcc", os.X_OK):
        return "/usr/local/cuda/bin"
    found = shutil.which("nvcc")
    return os.path.dirname(found) if found else None


def machine_codes(data):
    """The architectures of the machine codes in all fat binaries of a file."""
    start = data.find(MAGIC)
    while start >= 0:
        header_bytes, body_bytes = struct.unpack_from("<HQ", data, start + 6)
        entry, end = start + header_bytes, start + header_bytes + body_bytes
        while header_bytes >= 16 and entry + 64 <= min(end, len(data)):
            kind, entry_header_bytes, payload_bytes = struct.unpack_from("<H2xIQ", data, entry)
            if entry_header_bytes < 32:
                break
            if kind == MACHINE_CODE and payload_bytes > 0:
                yield struct.unpack_from("<I", data, entry + 28)[0]
            entry += entry_header_bytes + payload_bytes
        start = data.find(MAGIC, start + 4)


def count(data):
    return sum(1 for architecture in machine_codes(data) if architecture == ARCHITECTURE)


def self_test():
    def fat_binary(kind, architecture):
        entry = struct.pack("<HHIQ12xI32x", kind, 0x0101, 64, 8, architecture) + bytes(8)
        return b"before" + MAGIC + struct.pack("<HHQ", 1, 16, len(entry)) + entry + b"after"

    wanted = [(fat_binary(2, 90), 1), (fat_binary(2, 80), 0), (fat_binary(1, 90), 0), (b"nothing at all", 0), (MAGIC, 0)]
    return all(count(data + bytes(64)) == number for data, number in wanted)


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    if sys.argv[1] == "--self_test":
        sys.exit(0 if self_test() else "cuda_compiled.py misjudges its own samples")
    folder = toolkit()
    if folder is None:
        print("no CUDA toolkit here: nothing to compile for a GPU")
        return
    build, total = pathlib.Path(sys.argv[1]), 0
    for file in [*sorted(build.rglob("*cuda*.a")), build / "cli" / "proofmill"]:
        found = count(file.read_bytes()) if file.is_file() else 0
        print(f"{file.relative_to(build)}: {found} machine codes for sm_{ARCHITECTURE}")
        total += found
    if total == 0:
        sys.exit(f"a CUDA toolkit is in {folder}, but nothing in {build} was compiled for sm_{ARCHITECTURE}")


if __name__ == "__main__":
    main()
