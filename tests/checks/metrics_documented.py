"""Compares the metrics of a scrape with the table in docs/metrics.md: names, types and labels must be the same.

usage: metrics_documented.py SCRAPE.txt METRICS.md
"""

import re
import sys

TYPE = re.compile(r"^# TYPE (\S+) (\S+)$", re.MULTILINE)
SAMPLE = re.compile(r"^([a-zA-Z_:][a-zA-Z0-9_:]*)(?:\{([^}]*)\})? ", re.MULTILINE)
ROW = re.compile(r"^\| `(proofmill_[a-z0-9_]+)` \| (\w+) \|([^|]*)\|", re.MULTILINE)
LABEL = re.compile(r'([a-zA-Z_][a-zA-Z0-9_]*)="')
HISTOGRAM_SUFFIX = re.compile(r"_(bucket|sum|count)$")


def scraped(text):
    """Type and labels of each metric of ours. A family without samples has no labels to be known: None."""
    types = {name: kind for name, kind in TYPE.findall(text) if name.startswith("proofmill_")}
    labels = dict.fromkeys(types)
    for name, body in SAMPLE.findall(text):
        family = name if name in types else HISTOGRAM_SUFFIX.sub("", name)
        if family in types:
            labels[family] = (labels[family] or set()) | (set(LABEL.findall(body)) - {"le"})
    return {name: (kind, labels[name]) for name, kind in types.items()}


def documented(text):
    return {name: (kind, set(re.findall(r"`(\w+)`", labels))) for name, kind, labels in ROW.findall(text)}


def differences(real, page):
    for name in sorted(real.keys() | page.keys()):
        if name not in real:
            yield f"{name} is documented, but the service does not have it"
        elif name not in page:
            yield f"{name} is not documented"
        else:
            (kind, labels), (page_kind, page_labels) = real[name], page[name]
            if kind != page_kind:
                yield f"{name} is a {kind}, documented as a {page_kind}"
            if labels is not None and labels != page_labels:
                yield f"{name} has the labels {sorted(labels)}, documented are {sorted(page_labels)}"


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    with open(sys.argv[1], encoding="utf-8") as scrape, open(sys.argv[2], encoding="utf-8") as page:
        real, listed = scraped(scrape.read()), documented(page.read())
    problems = list(differences(real, listed))
    for problem in problems:
        print(problem)
    print(f"{len(real)} metrics, {len(problems)} problems")
    sys.exit(1 if problems or not real else 0)


if __name__ == "__main__":
    main()
