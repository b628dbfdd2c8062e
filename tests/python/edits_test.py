"""Edits of values: by lines, by arrays, in sessions, generations and dumps."""

import unittest

import numpy as np

import support
import vetro

IDS = [1, 42, 7, 9]


class EditsTest(unittest.TestCase):
    def test_a_dump_shows_the_edit_and_nothing_else(self):
        model = support.model()
        before = model.dump(IDS, ["blk.0.q"])["blk.0.q"]
        after = model.dump(IDS, ["blk.0.q"], edits=["blk.0.q[1:3, 1] = 2"])["blk.0.q"]
        expected = before.copy()
        expected[1:3, 1] = 2
        np.testing.assert_array_equal(after, expected)

    def test_arrays_are_operands(self):
        model = support.model()
        there = model.dump(IDS)["blk.0.l_out"]
        vector = np.linspace(-1, 1, there.shape[1])
        for operator, expected in (("=", vector), ("+=", there[-1] + vector.astype(np.float32)),
                                   ("*=", there[-1] * vector.astype(np.float32))):
            edited = model.dump(IDS, edits=[("blk.0.l_out[-1]", operator, vector)])["blk.0.l_out"]
            np.testing.assert_array_equal(edited[-1], np.float32(expected), operator)
            np.testing.assert_array_equal(edited[:-1], there[:-1], operator)

    def test_the_interpreter_is_edited_too(self):
        edited = support.model().dump(IDS, ["blk.1.attn_probs"], reference=True,
                                      edits=[("blk.1.attn_probs[3]", "*=", 0)])["blk.1.attn_probs"]
        self.assertTrue((edited[3] == 0).all())
        self.assertTrue((edited[2] != 0).any())

    def test_a_session_keeps_its_edits(self):
        model = support.model()
        plain = model.session().run(IDS)
        edited = model.session(edits=["blk.1.attn_ctx[:, 0] = 0"])
        first = edited.run(IDS)
        self.assertFalse(np.array_equal(first, plain))
        in_two = model.session(edits=["blk.1.attn_ctx[:, 0] = 0"])
        in_two.run(IDS[:2])
        np.testing.assert_array_equal(in_two.run(IDS[2:]), first)
        np.testing.assert_array_equal(model.session().run(IDS), plain)  # none are left behind
        same = model.session(edits=["blk.1.l_out *= 1"]).run(IDS)
        np.testing.assert_array_equal(same, plain)

    def test_generation(self):
        model = support.model()
        plain = model.generate(IDS, n=4, progress=False, ignore_eos=True).ids
        bias = np.zeros(model.n_vocab, np.float32)
        bias[77] = 1e6
        edited = model.generate(IDS, n=4, progress=False, ignore_eos=True,
                                edits=[("logits", "+=", bias)]).ids
        self.assertEqual(list(edited), [77] * 4)
        self.assertNotEqual(list(plain), [77] * 4)

    def test_what_is_refused(self):
        model = support.model()
        for edits, text in ((["blk.0.q"], "expected NAME"), ("blk.0.q = 0", "expected a list"),
                            (["blk.9.q = 0"], "no value is called"), (["blk.0.q[9] = 0"], "axis 0"),
                            ([("blk.0.q", "-", 1)], "expected a line"),
                            ([("blk.0.q", "=", np.zeros(3))], "another shape")):
            with self.assertRaises(vetro.Error) as caught:
                model.dump(IDS, edits=edits)
            self.assertIn(text, caught.exception.message)
            self.assertEqual(caught.exception.kind, "input")


if __name__ == "__main__":
    unittest.main()
