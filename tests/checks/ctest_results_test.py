"""Tests of ctest_results.py: what counts as passed, failed and skipped."""

import unittest
import xml.etree.ElementTree as ElementTree

import ctest_results

PROGRAM = "[==========] Running 3 tests from 1 test suite.\n"


def judge(status, output, labels=(), skipped=None):
    case = ElementTree.Element("testcase", name="t", status=status)
    ElementTree.SubElement(case, "system-out").text = output
    if skipped is not None:
        ElementTree.SubElement(case, "skipped", message=skipped)
    return [(outcome, count) for outcome, count, _ in ctest_results.judge(case, list(labels))]


class CtestResultsTest(unittest.TestCase):
    def test_every_case_of_a_program_counts(self):
        self.assertEqual(judge("run", PROGRAM + "[  PASSED  ] 3 tests.\n"), [("passed", 3)])

    def test_a_skipped_case_is_a_failure(self):
        output = PROGRAM + "[  PASSED  ] 2 tests.\n[  SKIPPED ] 1 test, listed below:\n"
        self.assertEqual(judge("run", output), [("failed", 1), ("passed", 2)])

    def test_a_case_skipped_for_want_of_a_gpu_is_skipped(self):
        output = PROGRAM + "[  PASSED  ] 2 tests.\n[  SKIPPED ] 1 test, listed below:\n"
        self.assertEqual(judge("run", output, ["gpu"]), [("skipped", 1), ("passed", 2)])

    def test_failed_cases_and_crashes_are_failures(self):
        self.assertEqual(judge("fail", PROGRAM + "[  FAILED  ] 2 tests, listed below:\n"), [("failed", 2)])
        self.assertEqual(judge("fail", PROGRAM + "[ RUN      ] T.Crash\n"), [("failed", 1)])

    def test_a_program_that_ran_nothing_is_a_failure(self):
        self.assertEqual(judge("run", "[==========] Running 0 tests from 0 test suites.\n[  PASSED  ] 0 tests.\n"), [("failed", 1)])

    def test_disabled_cases_are_failures(self):
        output = PROGRAM + "[  PASSED  ] 3 tests.\n\n  YOU HAVE 1 DISABLED TEST\n"
        self.assertEqual(judge("run", output), [("passed", 3), ("failed", 1)])

    def test_the_cases_of_a_unittest_script_count(self):
        self.assertEqual(judge("run", "Ran 4 tests in 0.012s\n\nOK\n"), [("passed", 4)])
        self.assertEqual(judge("run", "Ran 4 tests in 0.012s\n\nOK (skipped=1)\n"), [("failed", 1), ("passed", 3)])
        self.assertEqual(judge("run", "Ran 0 tests in 0.000s\n\nOK\n"), [("failed", 1)])
        output = "Ran 4 tests in 0.012s\n\nFAILED (failures=1, errors=1)\n"
        self.assertEqual(judge("fail", output), [("passed", 2), ("failed", 2)])

    def test_a_program_of_another_kind_counts_once(self):
        self.assertEqual(judge("run", "fine"), [("passed", 1)])
        self.assertEqual(judge("fail", "wrong"), [("failed", 1)])

    def test_what_did_not_run_is_a_failure(self):
        self.assertEqual(judge("notrun", "", ["gpu"], "Unable to find executable"), [("failed", 1)])
        self.assertEqual(judge("notrun", "", (), "SKIP_RETURN_CODE=77"), [("failed", 1)])
        self.assertEqual(judge("disabled", ""), [("failed", 1)])


if __name__ == "__main__":
    unittest.main()
