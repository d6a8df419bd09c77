"""What the case-table tests share: running the real binary under watch, asking snarkjs, and finding the cases.

Every test program here takes the same arguments:
  --binary PATH     the proofmill binary
  --cases FOLDER    the cases, with their manifest.json; where the folder is absent the small committed ones are used
  --sanitizer       the binary is built with sanitizers: no limits on time and memory, and slow cases are left out
"""

import argparse
import dataclasses
import json
import os
import re
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
TESTS = os.path.dirname(os.path.dirname(HERE))
COMMITTED_CASES = os.path.join(TESTS, "vectors", "cases")
ORACLE = os.path.join(TESTS, "oracle")
sys.path.insert(0, ORACLE)

KEY, WITNESS, VKEY, PUBLIC = "circuit.zkey", "witness.wtns", "verification_key.json", "public.json"
SECONDS_MAX = 600
SANITIZER_EXIT = 86  # no exit code of ours
SANITIZER_WORDS = re.compile(r"(Address|Leak|UndefinedBehavior|Thread)Sanitizer|runtime error:")

options = None  # set by main()


@dataclasses.dataclass
class Outcome:
    """How one run of the binary ended. `signal` is 0 unless a signal ended it."""

    exit_code: int
    signal: int
    stdout: str
    stderr: str
    seconds: float
    peak_bytes: int

    def describe(self):
        how = f"signal {self.signal}" if self.signal else f"exit code {self.exit_code}"
        return f"{how} after {self.seconds:.2f} s, stdout {self.stdout[-300:]!r}, stderr {self.stderr[-600:]!r}"


def proofmill(*arguments, seconds_max=SECONDS_MAX):
    """Runs the binary with no input and waits for it."""
    environment = dict(os.environ)
    environment["ASAN_OPTIONS"] = f"exitcode={SANITIZER_EXIT}:max_allocation_size_mb=2048"
    environment["UBSAN_OPTIONS"] = f"exitcode={SANITIZER_EXIT}:print_stacktrace=1"
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        started = time.monotonic()
        process = subprocess.Popen([options.binary, *map(str, arguments)], stdin=subprocess.DEVNULL, stdout=out,
                                   stderr=err, env=environment)
        status, usage = _wait(process, started + seconds_max)
        seconds = time.monotonic() - started
        texts = []
        for file in (out, err):
            file.seek(0)
            texts.append(file.read().decode("utf-8", "replace"))
    ended_by = os.WTERMSIG(status) if os.WIFSIGNALED(status) else 0
    return Outcome(-1 if ended_by else os.WEXITSTATUS(status), ended_by, *texts, seconds, usage.ru_maxrss * 1024)


def _wait(process, deadline):
    """The wait status and the resources of this one child; a child past the deadline is killed (signal 9 shows it)."""
    while True:
        pid, status, usage = os.wait4(process.pid, os.WNOHANG)
        if pid:
            process.returncode = 0  # reaped here: keeps subprocess from waiting for it again
            return status, usage
        if time.monotonic() > deadline:
            process.send_signal(signal.SIGKILL)
            deadline = float("inf")
        time.sleep(0.002)


def own_peak_bytes():
    """Counts in a child's peak too: Linux starts it at what the parent had when it forked."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


class Judge:
    """snarkjs in a process of its own, see snarkjs_judge.cjs."""

    def __init__(self):
        self.process = subprocess.Popen(["node", os.path.join(HERE, "snarkjs_judge.cjs")], stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, text=True)

    def ask(self, operation, **arguments):
        """The answer's value. Raises where snarkjs gave an error or ended."""
        self.process.stdin.write(json.dumps({"op": operation} | arguments) + "\n")
        self.process.stdin.flush()
        line = self.process.stdout.readline()
        if not line:
            raise RuntimeError(f"snarkjs ended while asked to {operation}")
        answer = json.loads(line)
        if "error" in answer:
            raise RuntimeError(f"snarkjs {operation}: {answer['error']}")
        return answer["value"]

    def close(self):
        self.process.stdin.close()
        self.process.stdout.close()
        self.process.wait(timeout=60)


class CaseTest(unittest.TestCase):
    """A test with a folder of its own and the common judgements."""

    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix="proofmill-case-")
        self.addCleanup(shutil.rmtree, self.folder)

    def path(self, name):
        return os.path.join(self.folder, name)

    def write(self, name, content):
        """Writes bytes, text, or another value as JSON; returns the path."""
        if not isinstance(content, (bytes, str)):
            content = json.dumps(content)
        with open(self.path(name), "wb") as file:
            file.write(content if isinstance(content, bytes) else content.encode())
        return self.path(name)

    def assert_no_crash(self, outcome):
        self.assertEqual(outcome.signal, 0, outcome.describe())
        self.assertNotEqual(outcome.exit_code, SANITIZER_EXIT, outcome.describe())
        self.assertIsNone(SANITIZER_WORDS.search(outcome.stderr), outcome.describe())

    def assert_success(self, outcome):
        self.assert_no_crash(outcome)
        self.assertEqual(outcome.exit_code, 0, outcome.describe())
        return outcome

    def assert_refused(self, outcome):
        """Exit code 2 and one line on stderr."""
        self.assert_no_crash(outcome)
        self.assertEqual(outcome.exit_code, 2, outcome.describe())
        self.assertRegex(outcome.stderr, r"\A[^\n]+\n\Z", outcome.describe())
        return outcome

    def assert_invalid(self, outcome):
        """The answer of `verify` is no."""
        self.assert_no_crash(outcome)
        self.assertEqual((outcome.exit_code, outcome.stdout), (1, "INVALID\n"), outcome.describe())

    def assert_valid(self, outcome):
        self.assert_success(outcome)
        self.assertEqual(outcome.stdout, "OK\n", outcome.describe())


def read_bytes(*path):
    with open(os.path.join(*path), "rb") as file:
        return file.read()


def read_json(*path):
    return json.loads(read_bytes(*path))


def cases_folder():
    return options.cases if os.path.isdir(options.cases or "") else COMMITTED_CASES


def case_path(name, file):
    return os.path.join(cases_folder(), name, file)


def manifest():
    """The list of cases. The committed ones have no list and no corrupt cases: theirs is read off their keys."""
    path = os.path.join(cases_folder(), "manifest.json")
    if os.path.exists(path):
        return read_json(path)
    names = sorted(entry.name for entry in os.scandir(cases_folder()) if entry.is_dir())
    return {"cases": [committed_case(name) for name in names], "corrupt": []}


def committed_case(name):
    from iden3_files import read_zkey  # only now: the oracle's folder is on the path since this module was loaded

    data = read_bytes(case_path(name, KEY))
    key = read_zkey(data)
    return {"name": name, "files": True, "expect": "ok", "zkeyBytes": len(data), "nVars": key.n_vars,
            "nPublic": key.n_public, "domainSize": key.domain_size, "nCoefs": len(key.coefficients)}


def good_cases(domain_max=1 << 28):
    """The manifest's cases that have files and must prove."""
    return [case for case in manifest()["cases"]
            if case["files"] and case["expect"] == "ok" and case["domainSize"] <= domain_max]


def add_tests(test_class, names, check, prefix=""):
    """One test method for each name, which calls check(self, name)."""
    for name in names:
        method = lambda self, name=name: check(self, name)
        setattr(test_class, "test_" + prefix + re.sub(r"\W", "_", name), method)


def main(define_tests):
    """Parses the arguments, lets define_tests() add tests to the classes of the program, and runs them."""
    global options
    parser = argparse.ArgumentParser()
    parser.add_argument("--binary", required=True)
    parser.add_argument("--cases", default=os.path.join(TESTS, "..", "..", "shared", "cases"))
    parser.add_argument("--sanitizer", action="store_true")
    options, rest = parser.parse_known_args()
    options.binary = os.path.abspath(options.binary)
    define_tests()
    unittest.main(module="__main__", argv=[sys.argv[0], *rest], verbosity=2)
