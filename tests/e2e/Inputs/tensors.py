"""Files of values, read and written without the program: safetensors, the tree of transformers' debugger."""

import json
import os
import struct


def read(source):
    """{name: (shape, list of numbers)} of a safetensors file of F32."""
    data = open(source, "rb").read()
    length = struct.unpack("<Q", data[:8])[0]
    header = json.loads(data[8:8 + length])
    found = {}
    for name, tensor in header.items():
        if name != "__metadata__":
            begin, end = (8 + length + at for at in tensor["data_offsets"])
            found[name] = tensor["shape"], list(struct.unpack(f"<{(end - begin) // 4}f", data[begin:end]))
    return found


def write(target, tensors, metadata=None, dtype="F32", code="f"):
    """A safetensors file of {name: (shape, numbers)}."""
    header, data = {"__metadata__": metadata} if metadata else {}, b""
    for name, (shape, numbers) in tensors.items():
        bytes_ = struct.pack(f"<{len(numbers)}{code}", *numbers)
        header[name] = {"dtype": dtype, "shape": shape, "data_offsets": [len(data), len(data) + len(bytes_)]}
        data += bytes_
    text = json.dumps(header).encode()
    with open(target, "wb") as out:
        out.write(struct.pack("<Q", len(text)) + text + data)


class Tree:
    """Writes a tree of modules as transformers' debugger does."""

    def __init__(self, folder, model_class="LlamaForCausalLM"):
        self.folder, self.model_class = folder, model_class
        os.makedirs(folder)

    def tensor(self, file, shape, numbers, dtype="F32", code="f"):
        write(f"{self.folder}/{file}.safetensors", {"data": (shape, numbers)}, dtype=dtype, code=code)
        kind = {"F32": "torch.float32", "I64": "torch.int64"}[dtype]
        return {"shape": f"torch.Size({shape})", "dtype": kind, "value": f"./{file}.safetensors"}

    def module(self, module, **ports):
        """A node; inputs and outputs are (shape, numbers)."""
        full, node = f"{self.model_class}.{module}", {"outputs": None}
        for port, value in ports.items():
            tensor = self.tensor(f"{full}_{port}", *value)
            node[port] = {"args": [tensor]} if port == "inputs" else tensor
        return {"module_path": full, **node}

    def write(self, children, prompt):
        ids = self.tensor("ids", [1, len(prompt)], prompt, "I64", "q")
        tree = {"module_path": self.model_class, "inputs": {"kwargs": {"input_ids": ids}},
                "children": children}
        name = f"{self.folder}/{self.model_class}_debug_tree_FULL_TENSORS.json"
        json.dump(tree, open(name, "w"))
