"""The one exception of the package."""


class Error(Exception):
    """What the engine refuses. Nothing is lost: the model and its sessions can be used further.

    kind: "file", the GGUF file cannot be read or is malformed; "model", a sound file that cannot be made
    into what was asked for (an unknown architecture, a missing key or weight, a pass that `disable` names
    and nobody has); "input", an argument, ids, a prompt or a name that does not fit; "system", the
    operating system refused memory, a thread, a program or a file.
    message: one line: what was found, what was expected, what to do.
    """

    def __init__(self, message: str, kind: str = "input") -> None:
        super().__init__(message, kind)
        self.message = message
        self.kind = kind

    def __str__(self) -> str:
        return self.message
