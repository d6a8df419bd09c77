"""Checks what objects compiled for AVX2 or AVX-512 give to the linker.

An inline function or template is emitted by every object that uses it, as a weak symbol, and the linker keeps any one of the
copies. A copy from an object compiled for AVX-512 would reach CPUs without it. So the objects of *_ifma.cc, *_fma.cc,
*_avx512.cc and *_avx2.cc may define weak functions only in namespace proofmill::kernels::ifma, ::fma, ::avx512 or ::avx2, which
no other object can instantiate.

usage: ifma_objects.py OBJECT...    objects of other sources are passed over
"""

import re
import subprocess
import sys

SETS = ("ifma", "fma", "avx512", "avx2")


def instruction_set(path):
    return next((name for name in SETS if path.endswith(f"_{name}.cc.o")), None)


def foreign_weak_functions(path):
    name = instruction_set(path)
    own = re.compile(rf"^_Z[A-Z]*N[KVrO]*9proofmill7kernels{len(name)}{name}")
    lines = subprocess.run(["nm", "--defined-only", path], check=True, capture_output=True, text=True).stdout.splitlines()
    for line in lines:
        kind, symbol = line.split()[-2:]
        if kind == "W" and not own.match(symbol):  # weak data is V or u, and holds no instructions
            yield symbol


def main():
    objects = [path for path in sys.argv[1:] if instruction_set(path)]
    if not objects:
        sys.exit("no object of a *_ifma.cc, *_fma.cc, *_avx512.cc or *_avx2.cc among the arguments")
    bad = [f"{path}: {symbol}" for path in objects for symbol in foreign_weak_functions(path)]
    for line in bad:
        print(line)
    if bad:
        sys.exit(f"{len(bad)} inline functions of other code are emitted by objects compiled for AVX2 or AVX-512")
    print(f"{len(objects)} objects")


main()
