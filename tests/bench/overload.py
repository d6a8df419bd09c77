"""How the real service bears five times what it can do, from two tenants of which one is greedy.

usage: overload.py PROGRAM [--seconds 60] [--log2_domain 16] [--goodput_min 0.9] [--times 5]

Measures in a closed loop what the service can do (its capacity) on this machine with this load generator beside it. Then two
tenants with API keys send in an open loop for --seconds: `modest` 0.4 of the capacity, `greedy` the rest of --times as much;
once with good witnesses, and once more with a greedy one whose witnesses satisfy nothing. Prints a table, and fails unless

- every request is answered: with a proof that verifies, or with a refusal that says when to come back;
- proofs are made at --goodput_min of the capacity or more, by both together, while all witnesses are good;
- the modest tenant gets at least nine of ten proofs that it asks for, though the greedy one sends nothing but bad witnesses;
- the memory of the service stays as it is;
- the service has counted what the clients have counted.
"""

import argparse
import dataclasses
import sys
import time

import service

TENANTS = ("greedy", "modest")
MODEST_SHARE = 0.4  # of the capacity: less than the half that is its fair share, so it should get all of it
MODEST_PROVED_MIN = 0.9
QUEUE_JOBS_MAX = 32
CLOSED_LOOP = 8  # requests at a time: the device never waits
REFUSALS = {"QUEUE_FULL", "QUOTA_EXCEEDED", "DEADLINE_UNREACHABLE"}
BLAME = "WITNESS_UNSATISFIED"
# What a service may take more in the second half of a phase than in the first: fragments of its heap.
GROWTH_MAX_SHARE, GROWTH_MAX_BYTES = 0.05, 16 << 20
MIB = 1 << 20


@dataclasses.dataclass
class Phase:
    """What the tenants asked for and got at a time, and the memory of the service meanwhile."""

    name: str
    bad: bool  # the witnesses of the greedy one
    seconds: float
    steps: dict  # of each tenant, as `proofmill load` tells
    offered: float  # requests a second
    samples: list

    def proofs_per_second(self, tenant):
        return sum(self.steps[tenant]["proved_by_second"][: int(self.seconds)]) / int(self.seconds)

    def goodput(self):
        return sum(map(self.proofs_per_second, self.steps))

    def total(self, what):
        return sum(step[what] for step in self.steps.values())

    def refused(self):
        return sum(count for step in self.steps.values() for why, count in step["failures"].items() if why in REFUSALS)

    def most_memory(self):
        """In the first and in the second half."""
        middle = len(self.samples) // 2
        return max(self.samples[:middle]), max(self.samples[middle:])

    def problems(self):
        for tenant, step in self.steps.items():
            if step["sent"] != step["proved"] + step["failed"]:
                yield f"{tenant}: {step['sent']} sent, but {step['proved']} proved and {step['failed']} failed"
            if step["bad"] != 0 or step["verified"] != step["proved"]:
                yield f"{tenant}: of {step['proved']} proofs {step['verified']} verify and {step['bad']} do not"
            may = REFUSALS | ({BLAME} if self.bad and tenant == "greedy" else set())
            if strange := {why: count for why, count in step["failures"].items() if why not in may}:
                yield f"{tenant}: answers that are neither proofs nor refusals: {strange}"
        if self.total("failed_with_delay") != self.refused():
            yield f"{self.refused()} refusals, but {self.total('failed_with_delay')} say when to come back"
        before, after = self.most_memory()
        if after > before * (1 + GROWTH_MAX_SHARE) + GROWTH_MAX_BYTES:
            yield f"memory grew from {before / MIB:.0f} to {after / MIB:.0f} MiB"
        modest = self.steps["modest"]
        if modest["proved"] < MODEST_PROVED_MIN * modest["sent"]:
            yield f"the modest tenant got {modest['proved']} proofs of the {modest['sent']} that it asked for"


class Measurement:
    def __init__(self, options, place):
        self.options, self.place = options, place
        witness = place.add_circuit("heavy", log2_domain=options.log2_domain, profile="dense")
        bad = bytearray(witness.read_bytes())
        bad[-32] ^= 1  # the last wire
        self.bad_witness = place.folder / "bad.wtns"
        self.bad_witness.write_bytes(bad)
        self.good_witness = witness
        self.keys = place.folder / "keys"
        self.keys.write_text("".join(place.run("api-key", tenant, "--key_file", self.key_of(tenant)) for tenant in TENANTS))
        self.sent = 0

    def key_of(self, tenant):
        return self.place.folder / f"{tenant}.key"

    def load(self, running, tenant, seconds, **flags):
        flags = {"witness": self.good_witness, "duration": f"{seconds}s", "deadline": "2m", **flags}
        return service.Load(self.place, running.data, circuit="heavy", api_key_file=self.key_of(tenant), **flags)

    def only_step(self, load):
        (step,) = load.steps()
        self.sent += step["sent"]
        return step

    def capacity(self, running):
        """Proofs a second."""
        seconds = max(2, self.options.seconds // 3)
        step = self.only_step(self.load(running, "modest", seconds, concurrency=CLOSED_LOOP))
        return step["proofs_per_second"]

    def overload(self, running, capacity, bad):
        rates = {"modest": MODEST_SHARE * capacity, "greedy": (self.options.times - MODEST_SHARE) * capacity}
        witnesses = {"modest": self.good_witness, "greedy": self.bad_witness if bad else self.good_witness}
        begin = time.monotonic()
        loads = {
            tenant: self.load(running, tenant, self.options.seconds, rate=rates[tenant], witness=witnesses[tenant],
                              arrivals="even")
            for tenant in TENANTS
        }
        steps = {tenant: self.only_step(load) for tenant, load in loads.items()}
        samples = [size for when, size in running.samples if begin <= when <= begin + self.options.seconds]
        return Phase("greedy sends bad ones" if bad else "all are good", bad, self.options.seconds, steps,
                     sum(rates.values()), samples)


def print_table(capacity, phases):
    head = ("overload", "offered/s", "x capacity", "proofs/s", "of capacity", "refused", "with estimate", "blamed",
            "modest proved", "greedy proofs/s", "modest p50", "RSS start", "end", "most")
    rows = [head]
    for phase in phases:
        modest = phase.steps["modest"]
        sizes = (phase.samples[0], phase.samples[-1], max(phase.samples))
        rows.append((
            phase.name, f"{phase.offered:.1f}", f"{phase.offered / capacity:.1f}", f"{phase.goodput():.2f}",
            f"{phase.goodput() / capacity:.0%}", str(phase.refused()), str(phase.total("failed_with_delay")),
            str(phase.steps["greedy"]["failures"].get(BLAME, 0)), f"{modest['proved']} of {modest['sent']}",
            f"{phase.proofs_per_second('greedy'):.2f}",
            f"{modest['latency_seconds']['p50']:.2f} s" if modest["proved"] else "-",
            *(f"{size / MIB:.0f} MiB" for size in sizes)))
    widths = [max(len(row[i]) for row in rows) for i in range(len(head))]
    for row in rows:
        print("  ".join(cell.ljust(width) for cell, width in zip(row, widths)).rstrip())


def problems_of(running, measurement, capacity, phases):
    for phase in phases:
        yield from (f"{phase.name}: {problem}" for problem in phase.problems())
    good = phases[0].goodput()
    if good < measurement.options.goodput_min * capacity:
        yield f"{good:.2f} proofs a second under overload, {measurement.options.goodput_min:g} of {capacity:.2f} expected"
    counted = running.metric("proofmill_requests_total", r'method="ProverService/Prove(Stream)?"')
    if counted != measurement.sent:
        yield f"the service counted {counted:.0f} requests, its clients {measurement.sent}"
    for gauge in ("proofmill_queue_depth", "proofmill_queue_witness_bytes", "proofmill_proofs_in_flight", "proofmill_streams"):
        if (left := running.metric(gauge)) != 0:
            yield f"{gauge} is {left:g} when all is over"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program")
    parser.add_argument("--seconds", type=int, default=60)
    parser.add_argument("--log2_domain", type=int, default=16)
    parser.add_argument("--goodput_min", type=float, default=0.9)
    parser.add_argument("--times", type=float, default=5)
    options = parser.parse_args()
    with service.workplace(options.program) as place:
        measurement = Measurement(options, place)
        with service.service(place, api_key_file=measurement.keys, queue_jobs_max=QUEUE_JOBS_MAX) as running:
            capacity = measurement.capacity(running)
            print(f"capacity: {capacity:.2f} proofs a second, {CLOSED_LOOP} requests at a time", flush=True)
            phases = [measurement.overload(running, capacity, bad) for bad in (False, True)]
            problems = list(problems_of(running, measurement, capacity, phases))
    print_table(capacity, phases)
    for problem in problems:
        print(f"FAILED: {problem}", file=sys.stderr)
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
