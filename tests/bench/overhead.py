"""What the real service adds to a proof, from the first byte of the witness to the reply: for sizes and ways of witnesses.

usage: overhead.py PROGRAM [--requests 200] [--large] [--check] [--backend auto|cpu|cuda]

One request at a time, from a client on the same machine: the overhead is what the client waits less the time that the device
had the proof (`run_time` of the result), so it has the way of the witness through gRPC, its checks, queue, hand-over and reply
in it. --large adds a witness of 64 MiB, whose key takes minutes to make, 4 GiB of memory and 2 GiB of disk. Says nothing on a
machine that does something else meanwhile.

--check fails where the median is above 3 ms for witnesses of up to 1 MiB, or a stream of 64 MiB is below 0.6 GB/s: the bar for
two cores that client and service share. --bar_ms and --bar_gbs set others.
"""

import argparse
import sys

import service

# (name, log2 of the domain, ways). A witness has 32 bytes for each of 2^log2 + 2 wires.
SMALL = [("1 KiB", 5, ("unary", "stream", "upload")),
         ("64 KiB", 11, ("unary", "stream", "upload")),
         ("1 MiB", 15, ("unary", "stream", "upload"))]
LARGE = [("64 MiB", 21, ("stream",))]
SMALL_BYTES_MAX = (1 << 20) + 200  # 1 MiB of values, and the rest of the file
WARMUP = 5
LARGE_REQUESTS = 9


def measure(place, running, circuit, witness, way, requests):
    """The overhead of each request, as percentiles in seconds, of those after the warm-up."""
    warm_up = service.Load(place, running.data, circuit=circuit, witness=witness, transfer=way, requests=WARMUP, verify="false")
    warm_up.steps()
    load = service.Load(place, running.data, circuit=circuit, witness=witness, transfer=way, requests=requests, deadline="10m",
                        verify="false")
    (step,) = load.steps()
    if step["proved"] != requests:
        sys.exit(f"{circuit} over {way}: {requests} proofs expected, got {step['proved']}: {step['failures']}")
    return step


def rows_of(place, running, sizes, requests):
    for name, log2_domain, ways in sizes:
        circuit = f"d{log2_domain}"
        witness = place.folder / f"{circuit}.wtns"
        size = witness.stat().st_size
        for way in ways:
            step = measure(place, running, circuit, witness, way, requests)
            yield name, size, way, step


def misses_of(rows, options):
    for name, size, way, step in rows:
        median = step["overhead_seconds"]["p50"]
        if size <= SMALL_BYTES_MAX and way == "unary" and median * 1e3 > options.bar_ms:
            yield f"{name} {way}: {median * 1e3:.2f} ms, at most {options.bar_ms:g} ms expected"
        if size > SMALL_BYTES_MAX and size / median < options.bar_gbs * 1e9:
            yield f"{name} {way}: {size / median / 1e9:.2f} GB/s, at least {options.bar_gbs:g} GB/s expected"


def print_table(rows):
    head = ("witness", "way", "overhead p50", "p90", "p99", "of it queue p50", "GB/s at p50", "proof p50", "requests")
    table = [head]
    for name, size, way, step in rows:
        overhead = step["overhead_seconds"]
        milliseconds = [overhead["p50"], overhead["p90"], overhead["p99"], step["server"]["queue_wait_seconds"]["p50"]]
        table.append((name, way, *(f"{value * 1e3:.2f} ms" for value in milliseconds), f"{size / overhead['p50'] / 1e9:.2f}",
                      f"{step['server']['run_seconds']['p50'] * 1e3:.1f} ms", str(step["proved"])))
    widths = [max(len(row[i]) for row in table) for i in range(len(head))]
    for row in table:
        print("  ".join(cell.ljust(width) for cell, width in zip(row, widths)).rstrip())


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program")
    parser.add_argument("--requests", type=int, default=200)
    parser.add_argument("--backend", default="auto")
    parser.add_argument("--large", action="store_true")
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--bar_ms", type=float, default=3)
    parser.add_argument("--bar_gbs", type=float, default=0.6)
    options = parser.parse_args()
    with service.workplace(options.program) as place:
        for _, log2_domain, _ in SMALL + (LARGE if options.large else []):
            place.add_circuit(f"d{log2_domain}", log2_domain=log2_domain, profile="bits")
        with service.service(place, backend=options.backend) as running:
            rows = list(rows_of(place, running, SMALL, options.requests))
            if options.large:
                rows += rows_of(place, running, LARGE, LARGE_REQUESTS)
    print_table(rows)
    if not options.check:
        return 0
    misses = list(misses_of(rows, options))
    for miss in misses:
        print(f"FAILED: {miss}", file=sys.stderr)
    return 1 if misses else 0


if __name__ == "__main__":
    sys.exit(main())
