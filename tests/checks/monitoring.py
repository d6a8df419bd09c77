"""Checks rules, runbook and dashboards against each other and against docs/metrics.md.

- every metric in a rule or a query is in docs/metrics.md, is recorded by a rule, or is Prometheus's own `up`;
- every alert has `runbook_url: docs/runbook.md#anchor`, and the runbook has its entry, with what it means, what to look at and what
  to do; it has no entry of anything else;
- promtool found as many rules as were read here.

usage: monitoring.py RULE_COUNT RULES.yml METRICS.md RUNBOOK.md [DASHBOARD.json...]
       monitoring.py --self_test
"""

import json
import pathlib
import re
import sys

from monitoring_rules import BUILT_IN, RUNBOOK, names_in, read_metrics, read_rules

ENTRY = re.compile(r"^## (\w+)\n(.*?)(?=^## |\Z)", re.MULTILINE | re.DOTALL)
PARTS = ("**Means**", "**Look at**", "**Do**")


def wrong_names(what, expr, known):
    names = names_in(expr)
    if not names:
        yield f"{what} names no metric"
    for name in sorted(names - known):
        yield f"{what} names {name}, which nothing exports"


def wrong_runbook(rules, runbook):
    entries = dict(ENTRY.findall(runbook))
    alerts = [rule for rule in rules if rule.kind == "alert"]
    for rule in alerts:
        url = RUNBOOK.search(rule.text)
        expected = f"docs/runbook.md#{rule.name.lower()}"
        if url is None or url[1] != expected:
            yield f"{rule.name} has the runbook_url {url[1] if url else '(none)'}, {expected} expected"
        if rule.name not in entries:
            yield f"{rule.name} has no entry in the runbook"
            continue
        for part in PARTS:
            if part not in entries[rule.name]:
                yield f"the runbook's entry of {rule.name} lacks {part}"
    for name in sorted(entries.keys() - {rule.name for rule in alerts}):
        yield f"the runbook has an entry {name}, but there is no such alert"


def panels_of(dashboard):
    for panel in dashboard.get("panels", []):
        yield panel
        yield from panels_of(panel)


def queries_of(dashboard):
    """(title of the panel or name of the variable, expression) of every query."""
    for panel in panels_of(dashboard):
        for target in panel.get("targets", []):
            yield panel["title"], target["expr"]
    for variable in dashboard.get("templating", {}).get("list", []):
        if variable["type"] == "query":
            values = re.fullmatch(r"label_values\((.+), \w+\)", variable["query"])
            yield variable["name"], values[1] if values else variable["query"]


def wrong_dashboard(dashboard, known):
    queries = list(queries_of(dashboard))
    if not queries:
        yield f"the dashboard {dashboard.get('title')} has no query"
    for title, expr in queries:
        yield from wrong_names(f"the panel \"{title}\"", expr.replace("$__rate_interval", "5m"), known)
    ids = [panel.get("id") for panel in panels_of(dashboard)]
    if len(set(ids)) != len(ids):
        yield f"the dashboard {dashboard.get('title')} has two panels of one id"


def problems_of(rules_text, metrics_page, runbook, dashboards):
    rules = read_rules(rules_text)
    known = read_metrics(metrics_page) | {rule.name for rule in rules if rule.kind == "record"} | BUILT_IN
    for rule in rules:
        yield from wrong_names(rule.name, rule.expr, known)
    yield from wrong_runbook(rules, runbook)
    for dashboard in dashboards:
        yield from wrong_dashboard(dashboard, known)


def self_test():
    page = "| `proofmill_a_total` | counter | | |\n| `proofmill_b` | histogram | | |\n"
    rule = "      - alert: A\n        expr: %s\n        labels:\n          x: y\n        annotations:\n          runbook_url: %s\n"
    entry = "## A\n**Means** **Look at** **Do**\n"
    good, url = 'sum by (le) (rate(proofmill_b_bucket{x="y"}[5m])) > 1 and on (job) up == 0', "docs/runbook.md#a"
    fine = {"id": 1, "title": "P", "targets": [{"expr": "up"}]}
    dashboard = {"title": "D", "panels": [{"title": "P", "targets": [{"expr": "proofmill_planted"}]}]}
    planted = [
        ("proofmill_planted > 1", url, entry, []),
        ("rate(proofmill_b[5m]) > 1", url, entry, []),
        ("profmill_a_total > 1", url, entry, []),
        ("vector(1)", url, entry, []),
        (good, "docs/runbook.md#b", entry, []),
        (good, url, "", []),
        (good, url, entry.replace("**Do**", ""), []),
        (good, url, entry + "## B\n**Means** **Look at** **Do**\n", []),
        (good, url, entry, [dashboard]),
        (good, url, entry, [{"title": "D"}]),
        (good, url, entry, [{"title": "D", "panels": [fine, fine]}]),
    ]
    accepted = [case for case in planted if not list(problems_of(rule % case[:2], page, *case[2:]))]
    refused = list(problems_of(rule % (good, url), page, entry, [{"title": "D", "panels": [fine]}]))
    for case in accepted:
        print(f"accepted: {case}")
    for problem in refused:
        print(f"refused what is right: {problem}")
    return bool(accepted or refused)


def main():
    if sys.argv[1:] == ["--self_test"]:
        sys.exit(self_test())
    if len(sys.argv) < 5:
        sys.exit(__doc__)
    rules_text, metrics_page, runbook, *dashboards = (pathlib.Path(name).read_text(encoding="utf-8") for name in sys.argv[2:])
    problems = list(problems_of(rules_text, metrics_page, runbook, [json.loads(text) for text in dashboards]))
    count = len(read_rules(rules_text))
    if count != int(sys.argv[1]):
        problems.append(f"{count} rules were read, promtool found {sys.argv[1]}")
    for problem in problems:
        print(problem)
    print(f"{count} rules, {len(dashboards)} dashboards, {len(problems)} problems")
    sys.exit(1 if problems else 0)


if __name__ == "__main__":
    main()
