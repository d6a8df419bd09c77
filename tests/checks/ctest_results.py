"""Turns a JUnit file that ctest wrote into result lines: passed|failed|skipped, TAB, count, TAB, what.

ctest counts a GoogleTest program, or a Python unittest script, as one test, whatever became of the cases in it. Here every
case counts, and a skipped, disabled or missing case is a failure, unless ctest labels its program `gpu`: only a missing GPU is a reason to skip.

usage: ctest_results.py JUNIT.xml SHOW_ONLY.json CTEST_EXIT_STATUS
    SHOW_ONLY.json is the output of `ctest --show-only=json-v1`, which has the labels that the JUnit file lacks.
"""

import json
import re
import sys
import xml.etree.ElementTree as ElementTree

PASSED = re.compile(r"^\[  PASSED  \] (\d+) tests?\.", re.MULTILINE)
SKIPPED = re.compile(r"^\[  SKIPPED \] (\d+) tests?, listed below:", re.MULTILINE)
FAILED = re.compile(r"^\[  FAILED  \] (\d+) tests?, listed below:", re.MULTILINE)
DISABLED = re.compile(r"YOU HAVE (\d+) DISABLED TEST")
GOOGLE_TEST = re.compile(r"^\[==========\] Running \d+ tests?", re.MULTILINE)

UNITTEST = re.compile(r"^Ran (\d+) tests? in [0-9.]+s$", re.MULTILINE)
UNITTEST_VERDICT = re.compile(r"^(?:OK|FAILED) \(([a-z0-9=, ]+)\)$", re.MULTILINE)


def count_of(pattern, text):
    return sum(int(number) for number in pattern.findall(text))


def labels_by_test(path):
    """The ctest labels of each test."""
    with open(path, encoding="utf-8") as file:
        tests = json.load(file)["tests"]
    return {test["name"]: next((p["value"] for p in test.get("properties", []) if p["name"] == "LABELS"), []) for test in tests}


def judge_skips(name, count, labels):
    if count == 0:
        return []
    if "gpu" in labels:
        return [("skipped", count, f"{name}: no GPU")]
    return [("failed", count, f"{name}: skipped, and only tests labelled gpu may skip")]


def case_counts(output):
    """Passed, failed, skipped and disabled cases in the output of a program, or None if it is not of a kind that tells."""
    if GOOGLE_TEST.search(output):
        return [count_of(pattern, output) for pattern in (PASSED, FAILED, SKIPPED, DISABLED)]
    if UNITTEST.search(output):
        verdict = dict(item.split("=") for text in UNITTEST_VERDICT.findall(output) for item in text.split(", "))
        failed = int(verdict.get("failures", 0)) + int(verdict.get("errors", 0))
        skipped = int(verdict.get("skipped", 0))
        return [count_of(UNITTEST, output) - failed - skipped, failed, skipped, 0]
    return None


def judge(case, labels):
    """The result lines of one ctest test."""
    name, status = case.get("name"), case.get("status")
    output = case.findtext("system-out") or ""
    skip_element = case.find("skipped")
    if status == "disabled" or (skip_element is not None and skip_element.get("message", "").startswith("SKIP_")):
        return judge_skips(name, 1, labels)
    if status == "notrun":
        return [("failed", 1, f"{name}: did not run")]
    counts = case_counts(output)
    if counts is None:
        return [("passed", 1, name)] if status == "run" else [("failed", 1, f"{name}: {status}")]
    passed, failed, skipped, disabled = counts
    lines = judge_skips(name, skipped, labels)
    if passed > 0:
        lines.append(("passed", passed, name))
    if disabled:
        lines.append(("failed", disabled, f"{name}: has disabled cases"))
    if failed or status != "run":
        lines.append(("failed", max(failed, 1), f"{name}: failed"))
    if not lines:
        lines.append(("failed", 1, f"{name}: ran no case"))
    return lines


def main():
    junit, show_only, exit_status = sys.argv[1], sys.argv[2], int(sys.argv[3])
    labels = labels_by_test(show_only)
    try:
        cases = list(ElementTree.parse(junit).getroot().iter("testcase"))
    except (OSError, ElementTree.ParseError) as error:
        print("failed", 1, f"ctest left no readable results: {error}", sep="\t")
        return
    lines = [line for case in cases for line in judge(case, labels.get(case.get("name"), []))]
    if not lines:
        lines.append(("failed", 1, "ctest ran no test"))
    if exit_status != 0 and not any(line[0] == "failed" for line in lines):
        lines.append(("failed", 1, f"ctest exited with {exit_status}"))
    for outcome, count, what in lines:
        print(outcome, count, what, sep="\t")


if __name__ == "__main__":
    main()
