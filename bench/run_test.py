#!/usr/bin/env python3
"""Checks how run.py turns figures into ratios, tables and charts."""

import json
import subprocess
import sys
import tempfile
import unittest
import xml.etree.ElementTree
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

import chart  # noqa: E402
import run  # noqa: E402

# Stands in for a program: prints a figure that depends on the work, as Google Benchmark would.
PROGRAM = """#!/bin/sh
case "$*" in
  *list_tests*) printf 'fast_work/manual_time\\nslow_work/manual_time\\n' ;;
  *fast_work*) echo '{"benchmarks": [{"name": "fast_work/manual_time", "label": "GB/s", "figure": 8}]}' ;;
  *slow_work*) echo '{"benchmarks": [{"name": "slow_work/manual_time", "error_occurred": true, "error_message": "wrong answer: 3"}]}' ;;
esac
"""


class CompareTest(unittest.TestCase):
    def test_a_higher_rate_is_a_ratio_above_one(self):
        (row,) = run.compare("saxpy_16M", "GB/s", {"pewter": [30, 30, 30], "PoCL": [15, 15, 15]})
        self.assertEqual(row["ratio"], 2)
        self.assertEqual((row["ours"], row["theirs"]), (30, 15))

    def test_a_shorter_time_is_a_ratio_above_one(self):
        (row,) = run.compare("dispatch_queued", "us", {"pewter": [1, 1, 1], "PoCL": [20, 20, 20]})
        self.assertEqual(row["ratio"], 20)

    def test_ratios_pair_the_rounds_and_the_spread_is_their_range_over_the_median(self):
        (row,) = run.compare("saxpy_16M", "GB/s", {"pewter": [10, 20, 40], "PoCL": [10, 10, 10]})
        self.assertEqual(row["ratio"], 2)
        self.assertEqual(row["spread"], (4 - 1) / 2)

    def test_a_work_without_peers_keeps_its_figure(self):
        (row,) = run.compare("saxpy_16M", "GB/s", {"pewter": [10]})
        self.assertEqual((row["ours"], row["peer"], row["ratio"]), (10, "", None))

    def test_a_work_that_failed_has_no_rows(self):
        self.assertEqual(run.compare("saxpy_16M", "GB/s", {"PoCL": [10]}), [])

    def test_goals_depend_on_work_and_peer(self):
        self.assertEqual(run.goal_of("dispatch_queued", "PoCL"), 10)
        self.assertEqual(run.goal_of("compile_cold", "PoCL"), 2)
        self.assertEqual(run.goal_of("nbody_4096", "PoCL"), 1)
        self.assertEqual(run.goal_of("gaussian_16M", "bandwidth"), 0.9)
        self.assertEqual(run.goal_of("array_softmax_16M", "bandwidth"), 0.8)
        self.assertEqual(run.goal_of("matmul_simdgroup_1024", "OpenBLAS"), 0.35)
        self.assertEqual(run.goal_of("nbody_4096", "C++"), 0.8)
        self.assertIsNone(run.goal_of("nbody_4096", "NumPy"))


class OutputTest(unittest.TestCase):
    rows = run.compare("nbody_4096", "GFLOP/s", {"pewter": [10, 10], "PoCL": [2, 5], "C++": [20, 20]})

    def test_results_have_the_promised_members(self):
        with tempfile.TemporaryDirectory() as folder:
            run.write_results(Path(folder), self.rows, ["a note"])
            read = json.loads((Path(folder) / "results.json").read_text())
            table = (Path(folder) / "table.md").read_text()
        self.assertEqual(len(read), 2)
        self.assertLessEqual({"work", "unit", "ours", "peer", "theirs", "ratio", "spread"}, read[0].keys())
        self.assertIn("| nbody_4096 | GFLOP/s | 10 | C++ | 20 | 0.5 | 0 % | ≥ 0.8, missed |", table)

    def test_the_chart_is_well_formed_and_has_a_bar_for_each_ratio(self):
        root = xml.etree.ElementTree.fromstring(chart.draw(self.rows))
        bars = [e for e in root.iter() if e.tag.endswith("rect") and e.get("class") in ("faster", "slower")]
        self.assertEqual([bar.get("class") for bar in bars], ["faster", "slower"])

    def test_a_document_gets_the_table_between_its_marks(self):
        with tempfile.TemporaryDirectory() as folder:
            document = Path(folder) / "page.md"
            document.write_text(f"before\n{run.BEGIN}\nan older table\n{run.END}\nafter\n")
            run.update_document(document, "| a table |\n")
            text = document.read_text()
        self.assertRegex(text, r"(?s)^before\n.*`make bench`.*\| a table \|\n.*after\n$")
        self.assertNotIn("older", text)

    def test_the_summary_names_the_lowest(self):
        self.assertIn("kernels against C++: geometric mean 0.50 over 1, lowest 0.50 (nbody_4096)", run.summaries(self.rows))


class ProgramTest(unittest.TestCase):
    def run_with_fakes(self, *arguments):
        with tempfile.TemporaryDirectory() as folder:
            program = Path(folder) / "bench_metal"
            program.write_text(PROGRAM)
            program.chmod(0o755)
            return subprocess.run(
                [sys.executable, Path(__file__).parent / "run.py", folder, Path(folder) / "out", "--rounds", "1", *arguments],
                capture_output=True,
                text=True,
                check=False,
            )

    def test_missing_peers_are_named_and_no_error(self):
        ran = self.run_with_fakes("--only", "fast_work")
        self.assertEqual(ran.returncode, 0, ran.stderr)
        self.assertIn("missing: PoCL (needs pocl-opencl-icd", ran.stdout)
        self.assertIn("missing: OpenBLAS (needs libopenblas-dev)", ran.stdout)
        self.assertRegex(ran.stdout, r"fast_work +GB/s +8 ")

    def test_a_wrong_answer_is_reported_and_has_no_figure(self):
        ran = self.run_with_fakes("--only", "slow_work")
        self.assertIn("slow_work: pewter: wrong answer: 3", ran.stderr)
        self.assertNotRegex(ran.stdout, r"slow_work +GB/s")

    def test_a_pattern_that_matches_nothing_is_an_error(self):
        ran = self.run_with_fakes("--only", "no such work")
        self.assertEqual(ran.returncode, 1)
        self.assertIn("no work matches 'no such work'", ran.stderr)


if __name__ == "__main__":
    unittest.main()
