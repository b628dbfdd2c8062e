"""Runs the tests of the Python package: run.py PROGRAM LLVM-NM PACKAGE_FOLDER [PATTERN].

PATTERN: of the tests' files, "*_test.py" where none is given; "torch_*.py" are those that run PyTorch.
"""

import importlib.util
import os
import pathlib
import sys
import unittest

program, symbol_lister, package = sys.argv[1:4]
pattern = sys.argv[4] if len(sys.argv) > 4 else "*_test.py"
if not list(pathlib.Path(package).glob("vetro/_vetro*.so")):
    print("skipped: the Python package: it is not built (VETRO_PYTHON); ./bootstrap test builds it")
    sys.exit(77)
if pattern.startswith("torch") and importlib.util.find_spec("torch") is None:
    print("skipped: captures of PyTorch: torch is missing (./bootstrap test --full installs it)")
    sys.exit(77)
sys.path[:0] = [os.path.abspath(package), str(pathlib.Path(__file__).parent)]
import support  # noqa: E402

support.program, support.symbol_lister = os.path.abspath(program), symbol_lister
support.package = os.path.abspath(package)
suite = unittest.defaultTestLoader.discover(str(pathlib.Path(__file__).parent), pattern)
result = unittest.TextTestRunner(verbosity=1).run(suite)
for test, reason in result.skipped:
    print(f"skipped: {test.id()}: {reason}")
sys.exit(not result.wasSuccessful() or result.testsRun == 0)
