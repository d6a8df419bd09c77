"""Shows that the tests of the alerts can fail: changes every alert at once, and expects promtool to complain about each.

  firing.yml  rejects alerts that never fire;
  silent.yml  rejects alerts that fire on a healthy service;
  absent.yml  rejects alerts that fire when there are no series, and ProofmillDown when it then does not.

usage: monitoring_mutants.py PROMTOOL RULES.yml TESTS_FOLDER WORK    (run from the project's root)
"""

import pathlib
import re
import shutil
import subprocess
import sys

from monitoring_rules import read_rules

# The one alert that is there for the absence of everything.
FIRES_ON_ABSENCE = "ProofmillDown"


def never(_, expr):
    return f"({expr}) and on () (vector(0) > 1)"


def always(_, expr):
    return f"({expr}) or proofmill_build_info"


def other_when_absent(name, expr):
    if name == FIRES_ON_ABSENCE:
        return f"({expr}) unless on () absent(proofmill_build_info)"
    return f"({expr}) or absent(proofmill_build_info)"


def mutated(rules_text, rules, mutate):
    for rule in rules:
        one_line = " ".join(mutate(rule.name, rule.expr).split())
        changed = rule.text.replace(f"expr: {rule.raw_expr}", f"expr: >-\n          {one_line}")
        rules_text = rules_text.replace(rule.text, changed)
    return rules_text


def main():
    if len(sys.argv) != 5:
        sys.exit(__doc__)
    promtool, rules_path, tests, work = sys.argv[1], *map(pathlib.Path, sys.argv[2:])
    rules_text = rules_path.read_text(encoding="utf-8")
    alerts = [rule for rule in read_rules(rules_text) if rule.kind == "alert"]
    # The tests name the rules by a relative path, so the mutants lie in a tree of the same shape.
    shutil.rmtree(work, ignore_errors=True)
    shutil.copytree(tests, work / tests)
    (work / rules_path).parent.mkdir(parents=True)
    survivors = []
    for test, mutate in (("firing.yml", never), ("silent.yml", always), ("absent.yml", other_when_absent)):
        (work / rules_path).write_text(mutated(rules_text, alerts, mutate), encoding="utf-8")
        command = [promtool, "test", "rules", work / tests / test]
        result = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
        output = result.stdout + result.stderr
        caught = set(re.findall(r"alertname: *(\w+)", output))
        if result.returncode == 0 or not caught:
            print(output)
        survivors += [f"{test} accepts {rule.name} with {mutate.__name__}" for rule in alerts if rule.name not in caught]
    for survivor in survivors:
        print(survivor)
    print(f"{3 * len(alerts)} mutants, {len(survivors)} survived")
    sys.exit(1 if survivors or not alerts else 0)


if __name__ == "__main__":
    main()
