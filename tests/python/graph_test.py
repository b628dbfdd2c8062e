"""Drawings and the table of names: the program's, to the letter."""

import json
import shutil
import unittest
from xml.etree import ElementTree

import support
import vetro


class GraphTest(unittest.TestCase):
    def test_drawings_are_the_program_s(self):
        for options, flags in (({}, []), ({"stage": "frontend", "layer": 1},
                                          ["--stage", "frontend", "--layer", "1"]),
                               ({"stage": "fused", "around": "blk.1.q_rope", "hops": 1},
                                ["--stage", "fused", "--around", "blk.1.q_rope:1"])):
            with self.subTest(options):
                dot = support.run("graph", support.tiny(), "-o", "-", *flags)
                self.assertEqual(support.model().graph(**options).dot, dot)

    @unittest.skipIf(shutil.which("dot") is None, "graphviz is missing")
    def test_svg(self):
        graph = support.model().graph(layer=0)
        root = ElementTree.fromstring(graph._repr_svg_())
        self.assertTrue(root.tag.endswith("svg"))
        self.assertIn("blk.0.l_out", graph.svg)

    def test_refusals(self):
        for options, part in (({"stage": "x"}, "expected frontend, fused or planned"),
                              ({"layer": 99}, "99"), ({"around": "nobody"}, "nobody"),
                              ({"hops": -1}, "found -1")):
            with self.subTest(options), self.assertRaises(vetro.Error) as caught:
                support.model().graph(**options)
            self.assertEqual(caught.exception.kind, "input")
            self.assertIn(part, caught.exception.message)


class AlignmentTest(unittest.TestCase):
    def test_rows_are_the_program_s(self):
        for arch in ("llama", "gemma3"):
            names = json.loads(support.run("names", arch, "--json"))["names"]
            self.assertEqual(vetro.alignment(arch), names)
            self.assertIn("blk.*.l_out", [row["name"] for row in names])

    def test_an_unknown_architecture(self):
        with self.assertRaises(vetro.Error) as caught:
            vetro.alignment("nobody")
        self.assertIn('unknown architecture "nobody", known are gemma3, llama', str(caught.exception))
        self.assertEqual(caught.exception.kind, "input")
