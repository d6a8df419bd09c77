"""Has a real Prometheus scrape a running server with the example configuration, and asks it what the rules and dashboards ask.

- every rule is evaluated without an error, every recorded one has a value, and no alert is pending or fires;
- every selector of ours in a rule or a query, with its labels, finds a series; every query of a dashboard has an answer.
The server must have made a proof and refused a request before.

usage: monitoring_live.py PROMETHEUS METRICS_ADDRESS WORK CONFIG.yml RULES.yml [DASHBOARD.json...]
"""

import json
import pathlib
import shutil
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.parse
import urllib.request

from monitoring import queries_of
from monitoring_rules import read_rules, selectors_in

SETTLED_SECONDS_MAX = 60
PLANTED = ("proofmill_planted", 'proofmill_jobs_dropped_total{reason="planted"}', "proofmill_device_up{device=")


def free_port():
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


class Prometheus:
    """One that scrapes `target` each second, as the example configuration says, but for times and address."""

    def __init__(self, program, target, work, config, rules):
        shutil.rmtree(work, ignore_errors=True)
        work.mkdir(parents=True)
        text = config.read_text(encoding="utf-8")
        for old, new in (("interval: 15s", "interval: 1s"), ("127.0.0.1:9464", target)):
            if old not in text:
                sys.exit(f"{config} lacks \"{old}\"")
            text = text.replace(old, new)
        (work / "prometheus.yml").write_text(text, encoding="utf-8")
        shutil.copy(rules, work)
        address = f"127.0.0.1:{free_port()}"
        self.base = f"http://{address}/api/v1/"
        with open(work / "prometheus.log", "wb") as log:
            flags = {"config.file": work / "prometheus.yml", "storage.tsdb.path": work / "data", "web.listen-address": address}
            command = [program, *(f"--{name}={value}" for name, value in flags.items())]
            self.process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=log, stderr=log)

    def get(self, path, **parameters):
        with urllib.request.urlopen(self.base + path + "?" + urllib.parse.urlencode(parameters), timeout=20) as answer:
            return json.load(answer)["data"]

    def query(self, expr):
        """The series of the answer, or what is wrong with the query."""
        try:
            return self.get("query", query=expr)["result"]
        except urllib.error.HTTPError as error:
            return str(json.load(error).get("error"))

    def stop(self):
        self.process.terminate()
        self.process.wait(timeout=60)


def wrong_rules(prometheus, names):
    """What is not yet, or not, as it should be with the rules."""
    rules = [rule for group in prometheus.get("rules")["groups"] for rule in group["rules"]]
    if sorted(rule["name"] for rule in rules) != sorted(names):
        yield f"Prometheus has the rules {sorted(rule['name'] for rule in rules)}, {sorted(names)} expected"
    for rule in rules:
        if rule["health"] != "ok":
            yield f"the rule {rule['name']} is {rule['health']}: {rule.get('lastError', 'not evaluated yet')}"
        elif rule["type"] == "alerting" and rule["state"] != "inactive":
            yield f"the alert {rule['name']} is {rule['state']}"
        elif rule["type"] == "recording" and not prometheus.query(rule["name"]):
            yield f"{rule['name']} has no value"


def wrong_queries(prometheus, exprs):
    for expr in sorted(exprs):
        result = prometheus.query(expr)
        if isinstance(result, str) or not result:
            yield f"{expr} finds {result or 'nothing'}"


def concrete(expr):
    """A dashboard's query with its variables replaced by what Grafana would choose."""
    return expr.replace("$__rate_interval", "5m").replace("$job", ".+")


def wait_until_settled(prometheus, find_problems):
    deadline = time.monotonic() + SETTLED_SECONDS_MAX
    while True:
        try:
            problems = list(find_problems())
        except (urllib.error.URLError, ConnectionError) as error:
            problems = [f"Prometheus does not answer: {error}"]
        if not problems or prometheus.process.poll() is not None or time.monotonic() > deadline:
            return problems
        time.sleep(0.5)


def main():
    if len(sys.argv) < 6:
        sys.exit(__doc__)
    program, target = sys.argv[1:3]
    work, config, rules_path, *dashboards = map(pathlib.Path, sys.argv[3:])
    rules = read_rules(rules_path.read_text(encoding="utf-8"))
    queries = [expr for path in dashboards for _, expr in queries_of(json.loads(path.read_text(encoding="utf-8")))]
    exprs = {concrete(expr) for expr in queries}
    asked = exprs.union(*(selectors_in(expr) for expr in [*exprs, *(rule.expr for rule in rules)]))
    prometheus = Prometheus(program, target, work, config, rules_path)
    try:
        problems = wait_until_settled(prometheus, lambda: wrong_rules(prometheus, [rule.name for rule in rules]))
        problems = problems or wait_until_settled(prometheus, lambda: wrong_queries(prometheus, asked))
        # The control: what does not exist is not found.
        accepted = set(PLANTED) - {line.split(" finds ")[0] for line in wrong_queries(prometheus, PLANTED)}
        problems += [f"{expr} was planted, and is accepted" for expr in sorted(accepted)]
    finally:
        prometheus.stop()
    for problem in problems:
        print(problem)
    print(f"{len(rules)} rules, {len(asked)} queries, {len(problems)} problems")
    sys.exit(1 if problems else 0)


if __name__ == "__main__":
    main()
