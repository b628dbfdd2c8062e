"""Models, tokens, generation, sessions: the package gives what the program gives."""

import gc
import json
import sys
import types
import unittest
from unittest import mock

import numpy as np

import support
import vetro


class ModelTest(unittest.TestCase):
    def test_metadata_are_the_file_s(self):
        inspected = json.loads(support.run("inspect", support.tiny(), "--json", "--all"))["metadata"]
        model = support.model()
        self.assertEqual(model.arch, "llama")
        self.assertEqual(list(model.metadata), [row["key"] for row in inspected])
        for row in inspected:
            with self.subTest(row["key"]):
                value = model.metadata[row["key"]]
                if isinstance(value, list):  # the program shows it as text
                    count = int(row["type"].rstrip("]").split(",")[1])
                    self.assertEqual(len(value), count)
                else:
                    self.assertEqual(value, row["value"])

    def test_lists_are_whole(self):
        metadata = support.model().metadata
        self.assertEqual(metadata["tokenizer.ggml.tokens"][:4], ["<unk>", "<s>", "</s>", "Ā"])
        self.assertEqual(metadata["tokenizer.ggml.token_type"][:4], [2, 3, 3, 1])

    def test_tokens(self):
        model, text = support.model(), "Hello wörld"
        ids = json.loads(support.run("tokenize", support.tiny(), "-p", text, "--json"))["ids"]
        self.assertEqual(model.tokenize(text).tolist(), ids)
        self.assertEqual(model.tokenize(text).dtype, np.int32)
        self.assertEqual(model.tokenize(text.encode()).tolist(), ids)
        self.assertEqual(model.detokenize(ids), text.encode())
        self.assertEqual(model.detokenize([]), b"")
        self.assertEqual(model.detokenize(model.tokenize(b"\xff\x00")), b"\xff\x00")
        self.assertEqual(model.tokenize("\udcff").tolist(), model.tokenize(b"\xff").tolist())

    def test_specials(self):
        model = support.model()
        bos = model.metadata["tokenizer.ggml.bos_token_id"]
        self.assertEqual(model.tokenize("a")[0], bos)
        self.assertNotIn(bos, model.tokenize("a", add_special=False))
        text = model.metadata["tokenizer.ggml.tokens"][bos]
        self.assertEqual(model.tokenize(text, False, True).tolist(), [bos])
        self.assertNotEqual(model.tokenize(text, False, False).tolist(), [bos])
        self.assertEqual(model.detokenize([bos], special=True), text.encode())

    def test_generation(self):
        ids = [1, 42, 7]
        for options, flags in (({}, []),
                               ({"temp": 0.8, "top_k": 9, "seed": 5, "repeat_penalty": 1.3,
                                 "logit_bias": {11: float("-inf"), 12: 2.5}},
                                ["--temp", 0.8, "--top-k", 9, "--seed", 5, "--repeat-penalty", 1.3,
                                 "--logit-bias", "11:-inf", "--logit-bias", "12:+2.5"])):
            with self.subTest(options):
                made = support.model().generate(ids, n=20, ignore_eos=True, **options)
                theirs = json.loads(support.run("run", support.tiny(), "--ids", "1,42,7", "-n", 20,
                                                "--cache-dir", support.cache, "--ignore-eos", "--json", *flags))
                self.assertEqual(made.ids.tolist(), theirs["ids"])
                self.assertEqual((made.text, made.stop), (theirs["text"], theirs["stop"]))
                self.assertEqual(len(made.timings.token_ms), 19)
                self.assertGreater(made.timings.prompt_ms, 0)

    def test_bar(self):
        bars = []

        class Bar:
            def __init__(self, total, **_options):
                self.n, self.total = 0, total
                bars.append(self)

            def __enter__(self):
                return self

            def __exit__(self, *_):
                return False

            def update(self, count):
                self.n += count

        library, terminal = types.ModuleType("tqdm.auto"), mock.Mock(**{"isatty.return_value": True})
        library.tqdm = Bar
        with mock.patch.dict(sys.modules, {"tqdm": types.ModuleType("tqdm"), "tqdm.auto": library}):
            for stderr, progress, count in ((terminal, True, 1), (terminal, False, 1), (None, True, 1)):
                with mock.patch.object(sys, "stderr", stderr):
                    support.model().generate([1], n=5, ignore_eos=True, progress=progress)
                self.assertEqual(len(bars), count)
        self.assertEqual((bars[0].n, bars[0].total), (5, 5))

    def test_an_error_of_a_callback_comes_out(self):
        def raises(_text):
            raise ValueError("of the callback")
        options = vetro._vetro.GenerateOptions()
        options.n = 3
        with self.assertRaisesRegex(ValueError, "of the callback"):
            vetro._vetro.generate(support.model()._raw, np.array([1], np.int32), options, raises, [])

    def test_a_path_is_any_bytes(self):
        path = support.folder / "m\udcff.gguf"
        path.symlink_to(support.tiny())
        self.assertEqual(support.load(path).arch, "llama")
        with self.assertRaisesRegex(vetro.Error, r"none"):
            support.load(support.folder / "none\udcff.gguf")

    def test_the_model_inside(self):
        model = support.load("tiny")
        self.assertEqual(model.metadata["general.name"], "Vetro tiny")
        text = model.generate("Ciao, come", 12, progress=False).text
        self.assertTrue(text.startswith(" stai?"), text)
        with support.working_in(support.folder / "inside"):
            support.folder.joinpath("inside/tiny").write_bytes(b"no model")
            with self.assertRaisesRegex(vetro.Error, "inside Vetro"):
                vetro.Model("tiny")

    def test_generation_from_text_until_the_context_is_full(self):
        model = support.load(support.tiny(), n_ctx=16)
        made = model.generate("Hello", n=100, ignore_eos=True)
        self.assertEqual(made.stop, "context")
        self.assertEqual(len(made.ids), 17 - len(model.tokenize("Hello")))

    def test_options_reach_the_plan(self):
        model = support.load(support.tiny(), kv="f32", disable=["fuse-qkv"], threads=2,
                             activations=["l_out=a8x2"],
                             override_kv=["llama.rope.freq_base=f32:500", "general.name=str:x"])
        self.assertEqual(model.metadata["llama.rope.freq_base"], 500)
        self.assertEqual(model.metadata["general.name"], "x")
        how = json.loads(model.dump([1], ["logits"]).metadata["run"])
        self.assertEqual((how["kv"], how["disable"], how["activation"]),
                         ("f32", ["fuse-qkv"], ["l_out=a8x2"]))


class SessionTest(unittest.TestCase):
    def test_parts_give_the_logits_of_the_whole(self):
        model, ids = support.model(), [1, 42, 7, 300, 5]
        whole = model.session().run(ids, logits="all")
        self.assertEqual((whole.shape, whole.dtype), ((5, model.n_vocab), np.float32))
        session = model.session(n_ctx=8, ubatch=2)
        np.testing.assert_array_equal(session.run(ids[:3], logits="all"), whole[:3])
        np.testing.assert_array_equal(session.run(np.array(ids[3:], np.uint16)), whole[4:])
        self.assertEqual((session.length, session.n_ctx), (5, 8))

    def test_truncate(self):
        model = support.model()
        session = model.session()
        session.run([1, 42, 7])
        session.truncate(1)
        self.assertEqual(session.length, 1)
        np.testing.assert_array_equal(session.run([9]), model.session().run([1, 9]))

    def test_nothing_to_run(self):
        session = support.model().session()
        self.assertEqual(session.run([]).shape, (0, support.model().n_vocab))
        self.assertEqual(session.length, 0)

    def test_a_refused_run_changes_nothing(self):
        session = support.model().session(n_ctx=4)
        session.run([1, 2])
        for ids in ([1, 2, 3], [10**6], [-1]):
            with self.assertRaises(vetro.Error):
                session.run(ids)
        self.assertEqual(session.length, 2)

    def test_arrays_own_their_memory(self):
        model = support.load(support.tiny())
        session = model.session()
        logits, dump = session.run([1, 2, 3], logits="all"), model.dump([1, 2, 3], ["logits"])
        ids = model.tokenize("Hello")
        before = logits.copy(), dump["logits"].copy(), ids.copy()
        del model, session
        gc.collect()
        support.model().session().run(list(range(64)), logits="all")
        for now, then in zip((logits, dump["logits"], ids), before):
            np.testing.assert_array_equal(now, then)
            now[:] = 0  # it is ours to change
        np.testing.assert_array_equal(before[0], before[1])
