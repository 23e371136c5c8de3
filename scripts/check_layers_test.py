#!/usr/bin/env python3
"""Tests of check_layers.py: each breaks one rule in a small tree and expects the message."""

import tempfile
import unittest
from pathlib import Path

import check_layers


class CheckLayers(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.root = Path(self.folder.name).resolve()
        self.addCleanup(self.folder.cleanup)

    def write(self, name, text):
        file = self.root / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)

    def test_a_tree_that_keeps_the_rules_passes(self):
        self.write("pewter/base/log.h", "#include <string>\n")
        self.write("pewter/metal/driver/device.h", '#include "pewter/base/log.h"\n#include <Metal/Metal.hpp>\n')
        self.assertEqual(check_layers.check(self.root), [])

    def test_an_include_that_points_upward_is_named_with_its_line(self):
        self.write("pewter/base/log.h", '#pragma once\n#include "pewter/metal/driver/device.h"\n')
        self.assertEqual(
            check_layers.check(self.root),
            ["pewter/base/log.h:2: pewter/base may not include pewter/metal/driver/device.h"],
        )

    def test_an_include_without_the_path_from_the_root_is_seen_too(self):
        self.write("pewter/compiler/compiler.h", "")
        self.write("pewter/metal/executor/run.h", '#include "../../compiler/compiler.h"\n')
        self.assertIn("may not include pewter/compiler/compiler.h", check_layers.check(self.root)[0])

    def test_the_driver_sees_only_one_header_of_the_compiler(self):
        self.write("pewter/metal/driver/library.h", '#include "pewter/compiler/cache.h"\n')
        self.assertEqual(len(check_layers.check(self.root)), 1)

    def test_llvm_stays_in_its_folders(self):
        self.write("pewter/compiler/codegen/emit.h", "#include <llvm/IR/Module.h>\n")
        self.write("pewter/compiler/compiler_front.h", '#include "clang/AST/Decl.h"\n')
        problems = check_layers.check(self.root)
        self.assertEqual(len(problems), 1)
        self.assertTrue(problems[0].startswith("pewter/compiler/compiler_front.h:1: only"))

    def test_tools_may_not_include_private_headers(self):
        self.write("tools/info.h", '#include <pewter/version.h>\n#include "pewter/base/log.h"\n')
        self.assertEqual(
            check_layers.check(self.root), ["tools/info.h:2: tools may not include pewter/base/log.h"]
        )

    def test_a_source_outside_every_list_is_named(self):
        self.write("pewter/base/CMakeLists.txt", "add_library(b OBJECT log.cpp)  # not cpu.cpp\n")
        self.write("pewter/base/log.cpp", "")
        self.write("pewter/base/cpu.cpp", "")
        self.assertEqual(check_layers.check(self.root), ["pewter/base/cpu.cpp: in no CMakeLists.txt"])

    def test_sources_named_in_a_loop_count_as_listed(self):
        self.write("tests/CMakeLists.txt", "foreach(kind a b)\n  add_library(${kind} ${kind}_x.cpp)\nendforeach()\n")
        self.write("tests/a_x.cpp", "")
        self.assertEqual(
            check_layers.check(self.root), ["tests/CMakeLists.txt: lists tests/b_x.cpp, which does not exist"]
        )

    def test_a_listed_source_that_does_not_exist_is_named(self):
        self.write("tools/CMakeLists.txt", "add_executable(pewter_tool\n  main.cpp)\n")
        self.assertEqual(
            check_layers.check(self.root), ["tools/CMakeLists.txt: lists tools/main.cpp, which does not exist"]
        )


if __name__ == "__main__":
    unittest.main()
