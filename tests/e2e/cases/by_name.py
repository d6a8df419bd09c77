#!/usr/bin/env python3
"""The cases that are kept by name: fetch the package, compute the witness with its own program, prove and verify.

  by_name.py --binary PATH [--cases FOLDER] [--work FOLDER] [--only NAME,NAME]

For each case of the manifest without files: with an npm package, `npm pack` gives its key and its witness program;
without one, the circuit is compiled by circom2 and its key made by `proofmill setup`. snarkjs computes the witness and
verifies the proof that proofmill makes. Prints a line for each case: ok, skipped (the package does not install) or
FAILED; exits 1 where one failed. Not part of CI: the packages are large and not ours to depend on.
"""

import argparse
import glob
import hashlib
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time

import harness
from harness import Judge, proofmill, read_json

COMPILER = ["circom2@0.2.23", "circomlib@2.0.5"]
RUN_SECONDS_MAX = 3600


class Skipped(Exception):
    """The case cannot be had here; the text says why."""


def run(arguments, folder):
    """Runs a command of the packages' world; its failure skips the case."""
    result = subprocess.run(arguments, cwd=folder, stdin=subprocess.DEVNULL, capture_output=True, text=True,
                            timeout=RUN_SECONDS_MAX, check=False)
    if result.returncode != 0:
        lines = (result.stderr or result.stdout).strip().splitlines() or ["no message"]
        raise Skipped(f"{' '.join(arguments[:3])}: {lines[-1][:200]}")
    return result.stdout


def unpacked(package, work):
    """The folder of an npm package's files, fetched once; none of its scripts is run."""
    folder = os.path.join(work, package.replace("/", "_"))
    if not os.path.isdir(os.path.join(folder, "package")):
        os.makedirs(folder, exist_ok=True)
        run(["npm", "pack", package, "--silent"], folder)
        run(["tar", "-xzf", glob.glob(os.path.join(folder, "*.tgz"))[0]], folder)
    return os.path.join(folder, "package")


def from_package(case, work):
    """Key and witness program out of the case's package."""
    folder = unpacked(case["npm"]["package"], work)
    key, program = (os.path.join(folder, case["npm"][part]) for part in ("path", "wasm"))
    with open(key, "rb") as file:
        digest = hashlib.sha256(file.read()).hexdigest()
    if digest != case["zkeySha256"]:
        raise AssertionError(f"the package's key has SHA-256 {digest}, the manifest says {case['zkeySha256']}")
    return key, program


def from_circuit(case, work):
    """Compiles the circuit and makes a key with our own set-up."""
    name = case["name"]
    tools = os.path.join(work, "circom")
    if not os.path.isdir(os.path.join(tools, "node_modules", "circom2")):
        os.makedirs(tools, exist_ok=True)
        run(["npm", "install", "--no-audit", "--no-fund", "--ignore-scripts", "--prefix", tools, *COMPILER], tools)
        os.symlink(os.path.join(tools, "node_modules", "circomlib", "circuits"), os.path.join(tools, "circuits"))
    shutil.copy(os.path.join(harness.cases_folder(), "tools", "circuits", name + ".circom"), tools)
    run(["node", "node_modules/circom2/cli.js", name + ".circom", "--r1cs", "--wasm", "-l", "circuits"], tools)
    key = os.path.join(tools, name + ".zkey")
    check(proofmill("setup", os.path.join(tools, name + ".r1cs"), key, "--insecure_test_setup",
                    seconds_max=RUN_SECONDS_MAX), "setup")
    return key, os.path.join(tools, name + "_js", name + ".wasm")


def check(outcome, step):
    if outcome.exit_code != 0:
        raise AssertionError(f"{step}: {outcome.describe()}")
    return outcome


def prove_case(case, work, judge):
    """Proves one case; returns how long the proof took, key reading included."""
    key, program = (from_package if "npm" in case else from_circuit)(case, work)
    with tempfile.TemporaryDirectory() as folder:
        path = lambda name: os.path.join(folder, name)
        judge.ask("calculateWitness", wasm=program, wtns=path("w.wtns"),
                  input=os.path.join(harness.cases_folder(), case["name"], "input.json"))
        outcome = check(proofmill("prove", key, path("w.wtns"), path("proof.json"), path("public.json")), "prove")
        check(proofmill("vkey", key, path("vkey.json")), "vkey")
        check(proofmill("verify", path("vkey.json"), path("public.json"), path("proof.json")), "verify")
        if read_json(path("vkey.json")) != judge.ask("vkey", zkey=key):
            raise AssertionError("vkey: not equal to the export of snarkjs")
        if not judge.ask("verify", vkey=path("vkey.json"), publicSignals=path("public.json"), proof=path("proof.json")):
            raise AssertionError("snarkjs calls the proof invalid")
        line = check(proofmill("calldata", path("public.json"), path("proof.json")), "calldata").stdout
        if line != judge.ask("calldata", publicSignals=path("public.json"), proof=path("proof.json")) + "\n":
            raise AssertionError("calldata: not equal to that of snarkjs")
        return outcome.seconds


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n", maxsplit=1)[0])
    parser.add_argument("--binary", required=True)
    parser.add_argument("--cases", default=os.path.join(harness.TESTS, "..", "..", "shared", "cases"))
    parser.add_argument("--work", default=os.path.join(tempfile.gettempdir(), "proofmill-by-name"))
    parser.add_argument("--only", default="")
    harness.options = options = parser.parse_args()
    options.binary = os.path.abspath(options.binary)
    os.makedirs(options.work, exist_ok=True)
    only = set(filter(None, options.only.split(",")))
    cases = [case for case in harness.manifest()["cases"]
             if not case["files"] and (not only or case["name"] in only)]

    judge, counts = Judge(), {"ok": 0, "skipped": 0, "FAILED": 0}
    for case in cases:
        started = time.monotonic()
        try:
            word, note = "ok", f"proved in {prove_case(case, options.work, judge):.2f} s"
        except Skipped as error:
            word, note = "skipped", str(error)
        except (AssertionError, RuntimeError, OSError) as error:
            word, note = "FAILED", str(error)
        counts[word] += 1
        print(f"{word:8} {case['name']:28} {time.monotonic() - started:6.1f} s  {note}", flush=True)
    judge.close()
    print(json.dumps(counts))
    sys.exit(1 if counts["FAILED"] else 0)


if __name__ == "__main__":
    main()
