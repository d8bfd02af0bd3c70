"""Tensors in a safetensors file whose bytes are a function of what is in it.

The library writes the metadata in the order of a hash map, which differs from process to process; here it is sorted.
"""

import json
import struct
from collections.abc import Mapping
from pathlib import Path

from safetensors.torch import save_file
from torch import Tensor

_METADATA = "__metadata__"


def write_tensors(tensors: Mapping[str, Tensor], path: Path, metadata: Mapping[str, str] | None = None) -> None:
    """Write tensors and metadata; the same ones give the same bytes, on every day and in every process."""
    save_file(dict(tensors), path, metadata=dict(metadata or {}))
    with path.open("r+b") as file:
        (size,) = struct.unpack("<Q", file.read(8))
        header = json.loads(file.read(size))
        if _METADATA in header:
            header[_METADATA] = dict(sorted(header[_METADATA].items()))
        ordered = json.dumps(header, ensure_ascii=False, separators=(",", ":")).encode()
        file.seek(8)
        file.write(ordered.ljust(size))
