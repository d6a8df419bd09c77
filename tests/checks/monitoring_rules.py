"""Reads the rules of deploy/prometheus, the metrics of docs/metrics.md and what a query asks for. For the checks of monitoring."""

import re

EXPR_END = r"(?=\n +(?:for|labels):|\n\n|\n +- |\n +#|\s*\Z)"
RULE = re.compile(r"^ +- (alert|record): (\S+)\n +expr: (.*?)" + EXPR_END, re.MULTILINE | re.DOTALL)
RUNBOOK = re.compile(r"^ +runbook_url: (\S+)$", re.MULTILINE)
ROW = re.compile(r"^\| `(proofmill_[a-z0-9_]+)` \| (\w+) \|", re.MULTILINE)
SELECTOR = re.compile(r"\b((?:job:)?proofmill_[a-z0-9_:]+)(\{[^}]*\})?")
KEYWORDS = {"and", "or", "unless", "by", "without", "on", "ignoring", "group_left", "group_right", "bool", "offset"}
# Prometheus's own, about each target.
BUILT_IN = {"up"}


class Rule:
    def __init__(self, kind, name, expr, text):
        self.kind, self.name, self.text = kind, name, text
        self.expr = re.sub(r"^\|\n", "", expr)
        self.raw_expr = expr


def read_rules(text):
    """Every rule of a file of rules, in the form that ours are written in; whoever calls compares the number with promtool's."""
    found = list(RULE.finditer(text))
    ends = [match.start() for match in found[1:]] + [len(text)]
    return [Rule(*match.groups(), text[match.start() : end]) for match, end in zip(found, ends)]


def read_metrics(page):
    """The names of series that docs/metrics.md gives rise to: those of a histogram have suffixes."""
    names = set()
    for name, kind in ROW.findall(page):
        names |= {name + suffix for suffix in ("_bucket", "_sum", "_count")} if kind == "histogram" else {name}
    return names


def names_in(expr):
    """The names of metrics in an expression: what is left when labels, durations, strings, functions and keywords are gone."""
    expr = re.sub(r'"[^"]*"|\'[^\']*\'', "", expr)
    expr = re.sub(r"\{[^}]*\}|\[[^\]]*\]", "", expr)
    expr = re.sub(r"\b(by|without|on|ignoring|group_left|group_right)\s*\([^)]*\)", "", expr)
    words = re.findall(r"(?<![\w.:])([a-zA-Z_:][\w:]*)(?!\s*\(|[\w:])", expr)
    return {word for word in words if word not in KEYWORDS}


def selectors_in(expr):
    """Each selector of ours in an expression, with its matchers."""
    return {name + matchers for name, matchers in SELECTOR.findall(expr)}
