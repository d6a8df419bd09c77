"""Checks what objects compiled for AVX-512 give to the linker.

An inline function or template is emitted by every object that uses it, as a weak symbol, and the linker keeps any one of the
copies. A copy from an object compiled for AVX-512 would reach CPUs without it. So the objects of *_ifma.cc may define weak
functions only in namespace proofmill::kernels::ifma, which no other object can instantiate.

usage: ifma_objects.py OBJECT...    objects of other sources are passed over
"""

import re
import subprocess
import sys

OWN = re.compile(r"^_Z[A-Z]*N[KVrO]*9proofmill7kernels4ifma")


def foreign_weak_functions(path):
    lines = subprocess.run(["nm", "--defined-only", path], check=True, capture_output=True, text=True).stdout.splitlines()
    for line in lines:
        kind, name = line.split()[-2:]
        if kind == "W" and not OWN.match(name):  # weak data is V or u, and holds no instructions
            yield name


def main():
    objects = [path for path in sys.argv[1:] if path.endswith("_ifma.cc.o")]
    if not objects:
        sys.exit("no object of a *_ifma.cc among the arguments")
    bad = [f"{path}: {name}" for path in objects for name in foreign_weak_functions(path)]
    for line in bad:
        print(line)
    if bad:
        sys.exit(f"{len(bad)} inline functions of other code are emitted by objects compiled for AVX-512")
    print(f"{len(objects)} objects")


main()
