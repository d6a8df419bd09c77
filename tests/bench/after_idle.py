"""What the first proof after a pause costs: its latency beside that of proofs that follow each other.

usage: after_idle.py PROGRAM [--idle 60] [--rounds 10] [--burst 20] [--circuit KEY.zkey WITNESS.wtns] [--log2_domain 16]
                     [--backend auto|cpu|cuda] [--canary_interval 0s] [--json]

A device that does nothing saves power, and caches and page tables are given to others: the first proof may take longer than the
next. Each round leaves the service alone for --idle seconds, asks for one proof, and then for --burst more, one at a time. Each
comes from a client of its own, which has connected and asked for the circuit before it is measured. Prints for the first ones and for the others p50, p99 (by nearest rank, so of fewer than 100
values the largest) and the most, of the latency at the client and of the time on the device, and how much longer the first ones take.

The service proves nothing by itself meanwhile, as --canary_interval is 0s; another value shows what canaries of idle devices are
good for. --circuit measures a circuit of your own, whose key must be one that the service takes; else a dense synthetic one is made.
"""

import argparse
import json
import math
import pathlib
import shutil
import sys
import time

import service

CIRCUIT = "measured"
WARMUP = 5
KINDS = {"after_idle": "first after idle", "back_to_back": "back to back"}


def percentiles(values):
    """By nearest rank: each is a value that was measured."""
    ordered = sorted(values)
    at = {"p50": 0.50, "p99": 0.99}
    found = {name: ordered[max(1, math.ceil(share * len(ordered))) - 1] for name, share in at.items()}
    return {**found, "max": ordered[-1]}


def add_circuit(place, options):
    """Puts the circuit where the service looks; the path of its witness."""
    if options.circuit is None:
        return place.add_circuit(CIRCUIT, log2_domain=options.log2_domain, profile="dense")
    key, witness = map(pathlib.Path, options.circuit)
    folder = place.circuits / CIRCUIT
    folder.mkdir()
    shutil.copy(key, folder / "circuit.zkey")
    return witness


class Prober:
    """Proofs one at a time, each by a `proofmill load` of its own, so that latency is what that means by it."""

    def __init__(self, place, running, witness):
        self.place, self.running, self.witness = place, running, witness

    def prove(self):
        """(latency, time on the device) in seconds."""
        load = service.Load(self.place, self.running.data, circuit=CIRCUIT, witness=self.witness, requests=1, deadline="10m",
                            verify="false")
        (step,) = load.steps()
        if step["proved"] != 1:
            sys.exit(f"a proof expected, got none: {step['failures']}")
        return step["latency_seconds"]["max"], step["server"]["run_seconds"]["max"]


def measure(prober, options):
    """Of each kind, the pairs (latency, time on the device)."""
    pairs = {kind: [] for kind in KINDS}
    for _ in range(WARMUP):
        prober.prove()
    for _ in range(options.rounds):
        time.sleep(options.idle)
        pairs["after_idle"].append(prober.prove())
        pairs["back_to_back"] += [prober.prove() for _ in range(options.burst)]
    return pairs


def report_of(pairs, options):
    report = {"idle_seconds": options.idle, "rounds": options.rounds, "burst": options.burst}
    for kind, values in pairs.items():
        latency, run = zip(*values)
        report[kind] = {"proofs": len(values), "latency_seconds": percentiles(latency), "run_seconds": percentiles(run)}
    first, others = (report[kind]["latency_seconds"] for kind in KINDS)
    report["added_seconds"] = {name: first[name] - others[name] for name in ("p50", "p99")}
    return report


def print_table(report):
    table = [(f"proofs, idle {report['idle_seconds']:g} s", "number", "latency p50", "p99", "max", "on device p50", "p99", "max")]
    for kind, title in KINDS.items():
        row = report[kind]
        values = [row[what][name] for what in ("latency_seconds", "run_seconds") for name in ("p50", "p99", "max")]
        table.append((title, str(row["proofs"]), *(f"{value * 1e3:.2f} ms" for value in values)))
    widths = [max(len(row[i]) for row in table) for i in range(len(table[0]))]
    for row in table:
        print("  ".join(cell.ljust(width) for cell, width in zip(row, widths)).rstrip())
    added = report["added_seconds"]
    print(f"the first proof after idle takes {added['p50'] * 1e3:+.2f} ms at p50, {added['p99'] * 1e3:+.2f} ms at p99")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program")
    parser.add_argument("--idle", type=float, default=60)
    parser.add_argument("--rounds", type=int, default=10)
    parser.add_argument("--burst", type=int, default=20)
    parser.add_argument("--circuit", nargs=2, metavar=("KEY.zkey", "WITNESS.wtns"))
    parser.add_argument("--log2_domain", type=int, default=16)
    parser.add_argument("--backend", default="auto")
    parser.add_argument("--canary_interval", default="0s")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    if options.rounds < 1 or options.burst < 1 or options.idle < 0:
        parser.error("expected --rounds and --burst of 1 or more and --idle of 0 or more")
    with service.workplace(options.program) as place:
        witness = add_circuit(place, options)
        with service.service(place, backend=options.backend, canary_interval=options.canary_interval) as running:
            report = report_of(measure(Prober(place, running, witness), options), options)
    if options.json:
        print(json.dumps(report, indent=2))
    else:
        print_table(report)
    return 0


if __name__ == "__main__":
    sys.exit(main())
