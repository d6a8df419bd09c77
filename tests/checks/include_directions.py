"""Checks that includes follow the arrows between the folders, and that some headers come in by one door only.

    cli -> server, clients, engine      server -> engine, proto      clients -> proto, engine/formats
    engine -> kernels                   tests -> everything

usage: include_directions.py ROOT | --self_test
Prints one line a breach and exits 1 if there is any.
"""

import pathlib
import re
import subprocess
import sys

INCLUDE = re.compile(r'^\s*#\s*include\s+[<"]([^">]+)[">]')

# For each folder, the prefixes of our own headers that its files may include.
MAY_INCLUDE = {
    "kernels/": ["kernels/"],
    "engine/": ["engine/", "kernels/"],
    "server/": ["server/", "engine/", "kernels/", "proto/"],
    "clients/": ["clients/", "proto/", "engine/base/", "engine/formats/", "engine/groth16/types.h", "kernels/field/", "kernels/curve/"],
    "cli/": ["cli/", "server/", "clients/", "engine/", "kernels/", "proto/"],
}
OURS = ("kernels/", "engine/", "server/", "clients/", "cli/", "tests/", "proto/")
GENERATED = re.compile(r"^(proofmill/|google/rpc/).*\.pb\.h$")

GRPC = re.compile(r"^(grpc|grpcpp|google/protobuf|google/rpc)/|\.pb\.h$")
PROMETHEUS = re.compile(r"^prometheus/")
LOG_AND_CONFIG = re.compile(r"^(spdlog|yaml-cpp)/")
ABSEIL = re.compile(r"^absl/")
TBB = re.compile(r"^(tbb|oneapi)/")
CUDA = re.compile(r"^(cuda|cuda_runtime|cuda_runtime_api|driver_types|cub|thrust|nvml)(\.h|/)")
# (folder, headers, what is wrong): library headers that a folder must not see.
BANNED_IN = [
    ("kernels/", re.compile(f"{GRPC.pattern}|{PROMETHEUS.pattern}|{LOG_AND_CONFIG.pattern}|{ABSEIL.pattern}"),
     "kernels are plain C++: no Abseil, gRPC, protobuf, Prometheus or spdlog"),
    ("engine/", re.compile(f"{GRPC.pattern}|{PROMETHEUS.pattern}|{LOG_AND_CONFIG.pattern}"),
     "the engine knows no gRPC, protobuf, Prometheus, spdlog or yaml-cpp"),
    ("", re.compile(r"^absl/(synchronization|log)/"),
     "absl::Mutex is invisible to the thread sanitizer and absl::log is not in Debian 12: use engine/base/mutex.h and spdlog"),
]
# (headers, the only files that may include them, what is wrong)
ONE_DOOR = [
    (TBB, ("kernels/cpu/parallel",), "oneTBB comes in by kernels/cpu/parallel.h only"),
    (CUDA, ("kernels/cuda/", "engine/backend/cuda/", "tests/kernels/cuda/", "tests/engine/backend/cuda/"),
     "CUDA comes in by kernels/cuda and engine/backend/cuda only"),
]


def breaches_of_include(path, header):
    """Yields what is wrong with `path` (from the root) including `header`."""
    allowed = next((prefixes for folder, prefixes in MAY_INCLUDE.items() if path.startswith(folder)), None)
    generated = GENERATED.match(header)
    if allowed is not None and (generated or header.startswith(OURS)):
        name = "proto/" + header if generated else header
        if not name.startswith(tuple(allowed)):
            yield f"{path.split('/')[0]} may include only {', '.join(allowed)}"
    for folder, pattern, why in BANNED_IN:
        if path.startswith(folder) and pattern.search(header):
            yield why
    for pattern, doors, why in ONE_DOOR:
        if pattern.search(header) and not path.startswith(doors):
            yield why


def breaches_of_text(path, text):
    for number, line in enumerate(text.splitlines(), start=1):
        match = INCLUDE.match(line)
        if not match:
            continue
        if ".." in match[1].split("/"):
            yield f"{path}:{number}: {match[1]}: includes are rooted at the project, without \"..\""
        for why in breaches_of_include(path, match[1]):
            yield f"{path}:{number}: {match[1]}: {why}"


def check_tree(root):
    names = subprocess.run(["git", "-C", root, "ls-files", "--", "*.cc", "*.h", "*.cu", "*.cuh"],
                           check=True, capture_output=True, text=True).stdout.split()
    breaches = []
    for name in names:
        file = pathlib.Path(root, name)
        if file.exists():
            breaches.extend(breaches_of_text(name, file.read_text(encoding="utf-8")))
    print(f"{len(names)} files, {len(breaches)} breaches")
    return breaches


def self_test():
    """Every rule rejects a breach of it, and none rejects what is right."""
    wrong = [
        ("kernels/cpu/ntt.cc", "engine/base/status_macros.h"),
        ("kernels/cpu/ntt.h", "absl/types/span.h"),
        ("kernels/cpu/ntt.cc", "tbb/parallel_for.h"),
        ("kernels/field/limbs.h", "cuda_runtime.h"),
        ("engine/formats/zkey.cc", "server/config.h"),
        ("engine/dispatch/engine.cc", "grpcpp/grpcpp.h"),
        ("engine/dispatch/engine.cc", "google/protobuf/message.h"),
        ("engine/dispatch/observer.h", "prometheus/counter.h"),
        ("engine/dispatch/engine.cc", "spdlog/spdlog.h"),
        ("engine/dispatch/job.h", "proofmill/v1/prover.pb.h"),
        ("engine/dispatch/job.h", "tests/engine/dispatch/fake_backend.h"),
        ("engine/base/mutex.h", "absl/synchronization/mutex.h"),
        ("server/rpc/prover.cc", "cli/commands.h"),
        ("server/rpc/prover.cc", "clients/cpp/channel.h"),
        ("clients/cpp/channel.cc", "server/config.h"),
        ("clients/cpp/channel.cc", "engine/dispatch/engine.h"),
        ("server/log.cc", "../engine/base/mutex.h"),
    ]
    right = [
        ("kernels/cpu/parallel.h", "tbb/parallel_for.h"),
        ("kernels/cuda/gather.cu", "cuda_runtime.h"),
        ("engine/formats/zkey.cc", "kernels/curve/bn254.h"),
        ("engine/formats/zkey.cc", "absl/status/status.h"),
        ("server/rpc/prover.cc", "proofmill/v1/prover.grpc.pb.h"),
        ("server/rpc/prover.cc", "grpcpp/grpcpp.h"),
        ("clients/cpp/channel.cc", "proofmill/v1/prover.grpc.pb.h"),
        ("cli/serve.cc", "server/lifecycle.h"),
        ("tests/server/rpc_test.cc", "server/lifecycle.h"),
    ]
    failures = []
    for path, header in wrong:
        if not list(breaches_of_text(path, f'#include "{header}"')):
            failures.append(f"{path} including {header} was not rejected")
    for path, header in right:
        failures.extend(breaches_of_text(path, f'#include "{header}"'))
    return failures


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    problems = self_test() if sys.argv[1] == "--self_test" else check_tree(sys.argv[1])
    for problem in problems:
        print(problem)
    sys.exit(1 if problems else 0)


if __name__ == "__main__":
    main()
