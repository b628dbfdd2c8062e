"""What the engine refuses is one exception with a kind and one line, and nothing is lost."""

import os
import pickle
import signal
import subprocess
import sys
import threading
import time
import unittest

import support
import vetro

OUT_OF_MEMORY = """
import resource, sys, vetro
model = vetro.Model(sys.argv[1], cache_dir=sys.argv[2])
resource.setrlimit(resource.RLIMIT_AS, (2 << 30, 2 << 30))
try:
    model.session(n_ctx=0, ubatch=1 << 20)
except vetro.Error as error:
    print(error.kind, error)
print(model.session(n_ctx=8).run([1]).shape)
"""


def refusals():
    """kind, part of the message, what is refused."""
    model, path = support.model(), support.tiny()
    text = support.folder / "text.gguf"
    text.write_text("no model at all, only words")
    cut = support.folder / "cut.gguf"
    cut.write_bytes(path.read_bytes()[:5000])
    load = vetro.Model
    return [
        ("file", "No such file", lambda: load(support.folder / "none.gguf")),
        ("file", "not a GGUF file", lambda: load(text)),
        ("file", "cut.gguf: ", lambda: load(cut)),
        ("file", "is a folder", lambda: load(support.folder)),
        ("model", 'found "x"', lambda: load(path, override_kv=["general.architecture=str:x"])),
        ("model", "no pass is called 'x'", lambda: load(path, disable=["x"])),
        ("model", "expected REGEX=FORMAT", lambda: load(path, activations=["x"])),
        ("input", "expected KEY=TYPE:VALUE", lambda: load(path, override_kv=["x"])),
        ("input", "found 0, expected a whole number from 1", lambda: load(path, threads=0)),
        ("input", "expected 'f16' or 'f32'", lambda: load(path, kv="q4")),
        ("input", "found one string", lambda: load(path, disable="fuse-qkv")),
        ("input", "outside the vocabulary", lambda: model.session().run([10**6])),
        ("input", "is no token id", lambda: model.session().run([2**40])),
        ("input", "expected one axis of whole numbers", lambda: model.session().run([1.5])),
        ("input", "expected one axis of whole numbers", lambda: model.session().run([[1]])),
        ("input", "expected 'last' or 'all'", lambda: model.session().run([1], "some")),
        ("input", "context of 2 positions", lambda: model.session(n_ctx=2).run([1, 2, 3])),
        ("input", "no value is called", lambda: model.dump([1], ["nobody"])),
        ("input", "hooks: \"[\"", lambda: model.dump([1], ["["])),
        ("input", "found one string", lambda: model.dump([1], "logits")),
        ("input", "the prompt has no tokens", lambda: model.generate([])),
        ("input", "temp: found -1", lambda: model.generate([1], temp=-1)),
        ("input", "n: found -1", lambda: model.generate([1], n=-1)),
    ]


class ErrorTest(unittest.TestCase):
    def test_kinds(self):
        for kind, part, refused in refusals():
            with self.subTest(part), self.assertRaises(vetro.Error) as caught:
                refused()
            error = caught.exception
            self.assertIn(part, error.message)
            self.assertEqual((error.kind, str(error)), (kind, error.message))
            self.assertNotIn("\n", error.message)
            self.assertFalse(error.message.startswith("-"), "arguments are no flags")

    def test_an_error_can_be_pickled(self):
        error = pickle.loads(pickle.dumps(vetro.Error("no room", "system")))
        self.assertEqual((error.kind, error.message), ("system", "no room"))

    def test_memory_is_the_system_s(self):
        environment = {**os.environ, "PYTHONPATH": support.package}
        done = subprocess.run([sys.executable, "-c", OUT_OF_MEMORY, support.tiny(), support.cache],
                              env=environment, capture_output=True, text=True, check=False)
        self.assertIn("system no memory for", done.stdout, done.stderr)
        self.assertIn("(1, ", done.stdout, "the model lives on")


class InterruptTest(unittest.TestCase):
    """Ctrl-C comes while C++ computes; it comes at all only because the other thread runs."""

    @classmethod
    def setUpClass(cls):
        cls.model = support.load(support.tiny(), n_ctx=1000000)

    def press(self, times=1):
        def kill():
            for _ in range(times):
                time.sleep(0.3)
                os.kill(os.getpid(), signal.SIGINT)
        presser = threading.Thread(target=kill)
        presser.start()
        self.addCleanup(presser.join)

    def interrupted(self, compute):
        started, ended = time.monotonic(), False
        self.press()
        with self.assertRaises(KeyboardInterrupt):
            compute()
            ended = True
            time.sleep(1)
        self.assertFalse(ended, "the work is too short to be interrupted")
        self.assertLess(time.monotonic() - started, 2)
        self.assertIs(signal.getsignal(signal.SIGINT), signal.default_int_handler)

    def test_generate(self):
        self.interrupted(lambda: self.model.generate([1], n=900000, ignore_eos=True))
        self.assertEqual(len(self.model.generate([1], n=3, ignore_eos=True).ids), 3)

    def test_run_leaves_the_sequence_as_it_was(self):
        session = self.model.session()
        session.run([1, 2])
        self.interrupted(lambda: session.run([1] * 900000))
        self.assertEqual(session.length, 2)

    def test_dump(self):
        self.interrupted(lambda: self.model.dump([1] * 20000, ["blk.*.attn_norm"]))

    def test_the_program_s_own_handler_decides(self):
        class Mine(Exception):
            pass

        def handler(_number, _frame):
            raise Mine
        self.addCleanup(signal.signal, signal.SIGINT, signal.signal(signal.SIGINT, handler))
        self.press()
        with self.assertRaises(Mine):
            self.model.generate([1], n=900000, ignore_eos=True)

    def test_a_program_that_ignores_it_goes_on(self):
        self.addCleanup(signal.signal, signal.SIGINT, signal.signal(signal.SIGINT, signal.SIG_IGN))
        self.press()
        self.model.generate([1], n=3000, ignore_eos=True)
        time.sleep(0.4)

    def test_threads_share_a_model(self):
        wanted = self.model.generate([1, 2], n=50, ignore_eos=True).ids.tolist()
        found = []
        threads = [threading.Thread(target=lambda: found.append(
            self.model.generate([1, 2], n=50, ignore_eos=True).ids.tolist())) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(found, [wanted] * 4)
