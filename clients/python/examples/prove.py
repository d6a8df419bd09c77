"""Proves a witness and verifies the proof: prove.py CIRCUIT WITNESS.wtns"""
import sys

import proofmill

circuit, witness = sys.argv[1:]
with proofmill.Client() as client:  # where PROOFMILL_TARGET says, else 127.0.0.1:50051
    result = client.prove(circuit, witness, on_progress=lambda progress: print(progress.phase, progress.stage))
    print("OK" if client.verify(circuit, result.public_signals, result.proof) else "INVALID")
