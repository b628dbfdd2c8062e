"""F32 tensors in safetensors files: {name: (shape, numbers)}."""

import json
import struct


def write(path, tensors):
    header, body = {}, b""
    for name, (shape, numbers) in tensors.items():
        data = struct.pack(f"<{len(numbers)}f", *numbers)
        header[name] = {"dtype": "F32", "shape": shape,
                        "data_offsets": [len(body), len(body) + len(data)]}
        body += data
    text = json.dumps(header).encode()
    with open(path, "wb") as file:
        file.write(struct.pack("<Q", len(text)) + text + body)


def read(path):
    data = open(path, "rb").read()
    length = struct.unpack("<Q", data[:8])[0]
    body, tensors = data[8 + length:], {}
    for name, entry in json.loads(data[8:8 + length]).items():
        if name != "__metadata__":
            begin, end = entry["data_offsets"]
            numbers = struct.unpack(f"<{(end - begin) // 4}f", body[begin:end])
            tensors[name] = (entry["shape"], list(numbers))
    return tensors
