"""Vetro from Python: models, sessions, every value of a run, and drawings of the graph.

    import vetro
    model = vetro.Model("model.gguf")
    print(model.generate("The capital of France is", n=16).text)

docs/python.md has examples; `vetro.torch` captures a PyTorch model's values under Vetro's names.
"""

try:
    from vetro import _vetro
except ImportError as error:
    if "_vetro" not in str(error):
        raise
    _MISSING = ("the extension module vetro._vetro is missing: run `pip install .` in Vetro's folder, "
                "or `./bootstrap test` and set PYTHONPATH=build/python")

    def __getattr__(name: str):
        if name.startswith("__"):
            raise AttributeError(name)
        raise ImportError(_MISSING)
else:
    from vetro.dump import Dump
    from vetro.errors import Error
    from vetro.generation import Generation, Timings
    from vetro.graph import Graph
    from vetro.model import Model
    from vetro.names import alignment
    from vetro.session import Session

    __version__ = _vetro.__version__
    __all__ = ["Dump", "Error", "Generation", "Graph", "Model", "Session", "Timings", "alignment"]
