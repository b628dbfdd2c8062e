"""Runs the tests of the Python package: run.py PROGRAM LLVM-NM PACKAGE_FOLDER."""

import os
import pathlib
import sys
import unittest

program, symbol_lister, package = sys.argv[1:4]
if not list(pathlib.Path(package).glob("vetro/_vetro*.so")):
    print("skipped: the Python package: it is not built (VETRO_PYTHON); ./bootstrap test builds it")
    sys.exit(77)
sys.path[:0] = [os.path.abspath(package), str(pathlib.Path(__file__).parent)]
import support  # noqa: E402

support.program, support.symbol_lister = os.path.abspath(program), symbol_lister
support.package = os.path.abspath(package)
suite = unittest.defaultTestLoader.discover(str(pathlib.Path(__file__).parent), "*_test.py")
result = unittest.TextTestRunner(verbosity=1).run(suite)
for test, reason in result.skipped:
    print(f"skipped: {test.id()}: {reason}")
sys.exit(not result.wasSuccessful() or result.testsRun == 0)
