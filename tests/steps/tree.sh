# The arrows between the folders hold, and so do the bounds on file sizes. The checks are tested too: they reject what is
# planted for them.
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"

check "include directions" python3 tests/checks/include_directions.py .
check "include directions: rejects planted breaches" python3 tests/checks/include_directions.py --self_test
check "file sizes" bash tests/checks/file_sizes.sh
check "results of ctest are judged right" python3 -B tests/checks/ctest_results_test.py
