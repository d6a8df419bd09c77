#!/usr/bin/env python3
"""Makes the golden proofs of tests/vectors/golden with the oracle.

  make_goldens.py CASES_FOLDER OUT_FOLDER

CASES_FOLDER holds NAME/circuit.zkey and NAME/witness.wtns (../shared/cases). One file for each of GOLDEN_CASES and of
the special circuits: the hashes of the inputs, so that a golden is never compared with another key's proof, and one
proof for each blinding pair. The text is stable: a second run on the same inputs writes the same bytes.
"""

import hashlib
import json
import os
import sys
import tempfile

from bn254 import R
from groth16_oracle import blind, proof_to_json, public_to_json, verify, witness_sums
from iden3_files import read_wtns, read_zkey
from special_circuits import draw, write_all

GOLDEN_CASES = ["big1", "mul3", "sj-mul3", "sj-outonly", "nopriv", "unused", "zeros", "fullrange"]
BLINDINGS = [(0, 0), (1, 1), (R - 1, 2), (draw("blinding", 0), draw("blinding", 1))]


def golden(name, key_path, witness_path):
    with open(key_path, "rb") as file:
        key_bytes = file.read()
    with open(witness_path, "rb") as file:
        witness_bytes = file.read()
    key, witness = read_zkey(key_bytes), read_wtns(witness_bytes)
    sums = witness_sums(key, witness)
    proofs = []
    for r, s in BLINDINGS:
        proof = blind(key, sums, r, s)
        if not verify(key, witness, proof):
            raise AssertionError(f"{name}: the oracle's own proof does not verify")
        proofs.append({"r": str(r), "s": str(s), "proof": proof_to_json(proof)})
    return {
        "case": name,
        "made_by": "tests/oracle/make_goldens.py",
        "zkey_sha256": hashlib.sha256(key_bytes).hexdigest(),
        "wtns_sha256": hashlib.sha256(witness_bytes).hexdigest(),
        "domain_size": key.domain_size,
        "n_vars": key.n_vars,
        "public": public_to_json(key, witness),
        "proofs": proofs,
    }


def main(cases_folder, out_folder):
    with tempfile.TemporaryDirectory() as special_folder:
        inputs = [(name, *(os.path.join(cases_folder, name, file) for file in ("circuit.zkey", "witness.wtns")))
                  for name in GOLDEN_CASES]
        inputs += [(name, *(os.path.join(special_folder, name + suffix) for suffix in (".zkey", ".wtns")))
                   for name in write_all(special_folder)]
        for name, key_path, witness_path in inputs:
            with open(os.path.join(out_folder, name + ".json"), "w", encoding="utf-8") as file:
                json.dump(golden(name, key_path, witness_path), file, indent=1)
                file.write("\n")
            print(name, flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
