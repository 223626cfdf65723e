"""Decodes a safetensors file with nothing but the standard library and prints it as JSON.

Independent of the TypeScript reader on purpose: the tests compare what both see.
Usage: python3 safetensors_decoder.py FILE
"""
import json
import struct
import sys

FORMATS = {"F64": "d", "F32": "f", "F16": "e", "I64": "q", "I32": "i", "U8": "B", "BOOL": "?", "BF16": "H"}

with open(sys.argv[1], "rb") as file:
    (length,) = struct.unpack("<Q", file.read(8))
    header = json.loads(file.read(length))
    data = file.read()

tensors = {}
for name, entry in header.items():
    if name != "__metadata__":
        begin, end = entry["data_offsets"]
        code = FORMATS[entry["dtype"]]
        values = struct.unpack("<%d%s" % ((end - begin) // struct.calcsize(code), code), data[begin:end])
        tensors[name] = {"dtype": entry["dtype"], "shape": entry["shape"], "values": [float(v) for v in values]}
print(json.dumps({"metadata": header.get("__metadata__", {}), "aligned": length % 8 == 0, "tensors": tensors}))
