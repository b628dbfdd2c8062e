"""Dumps: names, labels, values, and the table for notebooks."""

import re
import unittest

import numpy as np

import support
import vetro


class DumpTest(unittest.TestCase):
    def compare(self, reference):
        path, ids = support.folder / f"{reference}.safetensors", [1, 42, 7]
        flags = ["--reference"] if reference else []
        support.run("dump", support.tiny(), "--ids", "1,42,7", "--hooks", "*", "--cache-dir",
                    support.cache, "-o", path, *flags)
        theirs, metadata = support.tensors_of(path)
        ours = support.model().dump(ids, ["*"], reference=reference)
        self.assertEqual(list(ours), list(theirs))
        self.assertEqual({f"label:{name}": label for name, label in ours.labels.items()},
                         {key: text for key, text in metadata.items() if key.startswith("label:")})
        for name, array in ours.items():
            np.testing.assert_array_equal(array, theirs[name], name)
        self.assertEqual(ours.metadata["ids"], "1,42,7")

    def test_a_run_s_values_are_the_program_s(self):
        self.compare(reference=False)

    def test_the_reference_s_values_are_the_program_s(self):
        self.compare(reference=True)

    def test_hooks_are_what_can_be_dumped(self):
        names = support.model().hooks()
        self.assertEqual(len(set(names)), len(names))
        self.assertEqual(set(names), set(support.model().dump([1, 2], ["*"])))
        self.assertEqual(list(support.model().dump([1], ["blk.1.l_out", "embed"])),
                         [name for name in names if name in ("blk.1.l_out", "embed")])

    def test_a_text_is_a_prompt_too(self):
        model = support.model()
        np.testing.assert_array_equal(model.dump("Hello")["blk.0.l_out"],
                                      model.dump(model.tokenize("Hello"))["blk.0.l_out"])

    def test_table(self):
        dump = vetro.Dump([("a<b", np.full((2, 3), -2, np.float32), "ran"),
                           ("none", np.zeros((0, 3), np.float32), "reference")], {})
        table = dump._repr_html_()
        self.assertEqual(re.findall("<tr>(.*?)</tr>", table)[1:],
                         ["<td>a&lt;b</td><td>[2, 3]</td><td>ran</td><td>4</td>",
                          "<td>none</td><td>[0, 3]</td><td>reference</td><td></td>"])
