"""The real service on a synthetic circuit, and `proofmill load` against it, for programs that measure."""

import contextlib
import json
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import threading
import time
import urllib.request

START_SECONDS_MAX = 600  # a large key is read and checked
STOP_SECONDS_MAX = 120
PAGE_BYTES = 4096
SAMPLE_SECONDS = 0.25


def flag_words(flags):
    """{"name": value} as words; a value may be a list, for a flag that is repeated."""
    for name, values in flags.items():
        for value in values if isinstance(values, list) else [values]:
            yield f"--{name}={value}"


class Workplace:
    """A folder for one run, with circuits and witnesses, and the program."""

    def __init__(self, program, folder):
        self.program = str(pathlib.Path(program).resolve())
        self.folder = pathlib.Path(folder)
        self.circuits = self.folder / "circuits"
        self.circuits.mkdir()

    def run(self, *words):
        """What a command prints."""
        done = subprocess.run([self.program, *map(str, words)], capture_output=True, text=True, check=False)
        if done.returncode != 0:
            sys.exit(f"proofmill {words[0]} ended with {done.returncode}: {done.stderr.strip()}")
        return done.stdout

    def add_circuit(self, name, **flags):
        """Makes a circuit; the path of a witness of it, which is its canary too."""
        folder = self.circuits / name
        folder.mkdir()
        witness = self.folder / f"{name}.wtns"
        self.run("synth", *flag_words(flags), folder / "circuit.zkey", witness)
        shutil.copy(witness, folder / "canary.wtns")
        return witness


@contextlib.contextmanager
def workplace(program):
    with tempfile.TemporaryDirectory(prefix="proofmill-bench-") as folder:
        yield Workplace(program, folder)


class Service:
    """`proofmill serve` in a process of its own. Watches how much memory that has resident."""

    def __init__(self, place, **flags):
        listeners = {name: "127.0.0.1:0" for name in ("listen", "admin_listen", "metrics_listen")}
        flags = {"circuits": place.circuits, "drain_delay": "0s", **listeners, **flags}
        self.log_path = place.folder / "service.log"
        self.out_path = place.folder / "service.out"
        with open(self.log_path, "wb") as log, open(self.out_path, "wb") as out:
            command = [place.program, "serve", "--allow_insecure_keys", *flag_words(flags)]
            self.process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=out, stderr=log)
        ready = self._await_ready()
        self.data, self.metrics = (re.search(rf"\b{name}=(\S+)", ready).group(1) for name in ("data", "metrics"))
        self.samples = []  # (time, bytes)
        self._stopping = threading.Event()
        self._sampler = threading.Thread(target=self._sample)
        self._sampler.start()

    def _await_ready(self):
        deadline = time.monotonic() + START_SECONDS_MAX
        while self.process.poll() is None and time.monotonic() < deadline:
            if found := re.search(r"^proofmill ready .*$", self.out_path.read_text(), re.MULTILINE):
                return found.group(0)
            time.sleep(0.05)
        self.process.kill()
        sys.exit(f"the service did not become ready:\n{self.log_path.read_text()}")

    def resident_bytes(self):
        statm = pathlib.Path(f"/proc/{self.process.pid}/statm").read_text(encoding="ascii")
        return int(statm.split()[1]) * PAGE_BYTES

    def _sample(self):
        while not self._stopping.wait(SAMPLE_SECONDS):
            with contextlib.suppress(OSError, IndexError):
                self.samples.append((time.monotonic(), self.resident_bytes()))

    def metric(self, name, labels=""):
        """The sum over the series of a metric whose labels match the pattern `labels`."""
        with urllib.request.urlopen(f"http://{self.metrics}/metrics", timeout=20) as answer:
            text = answer.read().decode()
        lines = re.findall(rf"^{name}(?:{{(.*)}})? (\S+)$", text, re.MULTILINE)
        return sum(float(value) for found, value in lines if re.search(labels, found))

    def stop(self):
        """Ends it as an operator would; its exit status."""
        self._stopping.set()
        self._sampler.join()
        self.process.terminate()
        return self.process.wait(timeout=STOP_SECONDS_MAX)


@contextlib.contextmanager
def service(place, **flags):
    one = Service(place, **flags)
    try:
        yield one
        if (status := one.stop()) != 0:
            sys.exit(f"the service ended with {status}:\n{one.log_path.read_text()[-2000:]}")
    finally:
        one._stopping.set()
        if one.process.poll() is None:
            one.process.kill()


class Load:
    """`proofmill load` in the background."""

    def __init__(self, place, target, **flags):
        command = [place.program, "load", "--target", target, "--json", *flag_words(flags)]
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)

    def steps(self):
        """Waits for the end; what it says of each step. That an objective was missed is for the caller to judge."""
        out, err = self.process.communicate()
        if self.process.returncode not in (0, 1):
            sys.exit(f"proofmill load ended with {self.process.returncode}: {err.strip()}")
        return json.loads(out)["steps"]
