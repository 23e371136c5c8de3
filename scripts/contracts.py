#!/usr/bin/env python3
"""Runs the tests that state the contracts' acceptance checks and prints a line for each check: document, number, pass, fail
or open with the reason. Fails when a check fails, or is neither tested nor open.

usage: contracts.py BIN_DIRECTORY
"""

import re
import subprocess
import sys
import xml.etree.ElementTree as ElementTree
from pathlib import Path

CHECKS = Path(__file__).resolve().parent.parent / "tests" / "contracts.tsv"
TIMEOUT_SECONDS = 300


def read_checks():
    """(document, number) -> (title, reason why it is open)."""
    checks = {}
    for line in CHECKS.read_text().splitlines():
        if line and not line.startswith("#"):
            document, number, title, reason = line.split("\t")
            checks[document, int(number)] = (title, reason)
    return checks


def run(program, documents):
    """(document, number, passed) for each test case of a check."""
    names = "|".join(map(re.escape, documents))
    pattern = re.compile(rf"^({names}) (\d+): ")
    listed = subprocess.run([program, "--list-test-cases"], capture_output=True, text=True, timeout=TIMEOUT_SECONDS)
    if not any(pattern.match(line) for line in listed.stdout.splitlines()):
        return []
    filters = ",".join(f"{document} *" for document in documents)
    command = [program, "--reporters=xml", f"--test-case={filters}"]
    try:
        output = subprocess.run(command, capture_output=True, text=True, timeout=TIMEOUT_SECONDS).stdout
        cases = ElementTree.fromstring(output[output.index("<?xml") :]).iter("TestCase")
    except (subprocess.TimeoutExpired, ElementTree.ParseError, ValueError):
        # It crashed or hangs: whatever it was to prove is not proven.
        found = filter(None, (pattern.match(line) for line in listed.stdout.splitlines()))
        return [(match[1], int(match[2]), False) for match in found]
    results = []
    for case in cases:
        match = pattern.match(case.get("name"))
        if match and case.get("skipped") != "true":
            asserts = case.find("OverallResultsAsserts")
            passed = asserts is not None and asserts.get("test_case_success") == "true"
            results.append((match[1], int(match[2]), passed))
    return results


def main(arguments):
    if len(arguments) != 2:
        print(__doc__, file=sys.stderr)
        return 2
    checks = read_checks()
    documents = list(dict.fromkeys(document for document, _ in checks))
    outcomes = {}
    for program in sorted(Path(arguments[1]).glob("*_test")):
        for document, number, passed in run(str(program), documents):
            outcomes.setdefault((document, number), []).append(passed)

    totals = {"pass": 0, "fail": 0, "open": 0}
    for check, (title, reason) in checks.items():
        results = outcomes.pop(check, [])
        if not all(results):
            word, note = "fail", f"{results.count(False)} of {len(results)} test cases"
        elif reason:
            word, note = "open", reason
        elif results:
            word, note = "pass", ""
        else:
            word, note = "fail", "no test states it"
        totals[word] += 1
        print(f"{check[0]:<24} {check[1]:>2}  {word}  {title}" + (f": {note}" if note else ""))
    for document, number in outcomes:
        totals["fail"] += 1
        print(f"{document:<24} {number:>2}  fail  tested, but not in {CHECKS.name}")
    print(f"{totals['pass']} pass, {totals['fail']} fail, {totals['open']} open")
    return 1 if totals["fail"] else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv))
