#!/usr/bin/env bash
# Prints the last line of a test run; gotestsum calls it with the counts in the environment.
set -euo pipefail

passed=$((TESTS_TOTAL - TESTS_FAILED - TESTS_SKIPPED))
# A package that fails outside any test counts as failed, but is no test.
echo "$((passed > 0 ? passed : 0)) passed, $((TESTS_FAILED + TESTS_ERRORS)) failed, $TESTS_SKIPPED skipped"
