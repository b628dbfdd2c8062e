"""The package as others find it: symbols, stubs, texts, its place beside other packages."""

import importlib.util
import inspect
import os
import pathlib
import shutil
import subprocess
import sys
import unittest

import support
import vetro

LOADS = "import vetro, sys; model = vetro.Model(sys.argv[1], cache_dir=sys.argv[2])"
COMPUTES = f"{LOADS}; print(model.generate([1], n=4).ids)"


def python(code, *arguments, path=None):
    """stdout of a fresh interpreter that finds the package in `path`."""
    environment = {**os.environ, "PYTHONPATH": str(path or support.package)}
    done = subprocess.run([sys.executable, "-c", code, *map(str, arguments)], env=environment,
                          capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


def extension():
    return next(pathlib.Path(support.package).glob("vetro/_vetro*.so"))


class PackageTest(unittest.TestCase):
    def test_python_s_entry_is_all_that_others_see(self):
        listed = subprocess.run([support.symbol_lister, "-D", "--defined-only", "-j", extension()],
                                capture_output=True, text=True, check=True).stdout
        self.assertEqual(listed.split(), ["PyInit__vetro"])

    def test_pytorch_beside_it(self):
        if importlib.util.find_spec("torch") is None:
            self.skipTest("torch is missing (./bootstrap test --full installs it)")
        paths = support.tiny(), support.cache
        alone = python(COMPUTES, *paths)
        product = "; assert float((torch.ones(3, 3) @ torch.ones(3, 3)).sum()) == 27"
        self.assertEqual(python(f"import torch; {COMPUTES}{product}", *paths), alone)
        self.assertEqual(python(f"{COMPUTES}; import torch{product}", *paths), alone)

    def test_stubs(self):
        stub = (pathlib.Path(support.package) / "vetro" / "_vetro.pyi").read_text()
        for name in ("class Model:", "class Session:", "def generate(", "def dump("):
            self.assertIn(name, stub)
        self.assertTrue((pathlib.Path(support.package) / "vetro" / "py.typed").exists())

    def test_all_that_is_public_is_typed_and_told(self):
        for name in vetro.__all__:
            thing = getattr(vetro, name)
            members = {name: thing}
            if inspect.isclass(thing):
                members |= {f"{name}.{key}": value for key, value in vars(thing).items()
                            if not key.startswith("_")}
            for path, member in members.items():
                if not callable(member) and not isinstance(member, property):
                    continue
                with self.subTest(path):
                    self.assertTrue(inspect.getdoc(member))
                    function = getattr(member, "fget", member)
                    if inspect.isfunction(function):
                        self.assertNotIn(inspect.Signature.empty, [
                            inspect.signature(function).return_annotation,
                            *(p.annotation for n, p in inspect.signature(function).parameters.items()
                              if n != "self")])

    def test_without_the_extension_one_line_tells_how_to_get_it(self):
        bare = support.folder / "bare"
        shutil.copytree(pathlib.Path(support.package) / "vetro", bare / "vetro",
                        ignore=shutil.ignore_patterns("_vetro*", "__pycache__"))
        message = python("import vetro\ntry: vetro.Model\nexcept ImportError as e: print(e)", path=bare)
        self.assertIn("pip install .", message)
        self.assertEqual(message.count("\n"), 1)

    def test_another_build_never_reads_this_one_s_plans(self):
        other = support.folder / "other"
        shutil.copytree(pathlib.Path(support.package) / "vetro", other / "vetro", symlinks=False)
        changed = other / "vetro" / extension().name
        data = bytearray(changed.read_bytes())
        data[data.index(b"\x04\0\0\0\x14\0\0\0\x03\0\0\0GNU\0") + 16] ^= 1  # the first byte of the build id
        changed.write_bytes(data)
        counts = []
        for path in (None, None, other):
            python(LOADS, support.tiny(), support.cache, path=path)
            counts.append(len(list(support.cache.iterdir())))
        self.assertEqual([counts[1] - counts[0], counts[2] - counts[1]], [0, 1])
