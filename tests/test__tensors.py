"""The same weights are the same bytes."""

import subprocess
import sys
from pathlib import Path

import torch
from safetensors import safe_open
from safetensors.torch import load_file

from recherche._tensors import write_tensors

METADATA = {f"key {i}": f'value "{i}" \\ ü \n' for i in range(20)}
PROGRAM = f"""
import sys, torch
from pathlib import Path
from WRITER
save({{"b": torch.arange(3.0), "a": torch.ones(2, 2)}}, Path(sys.argv[1]), metadata={METADATA!r})
"""


def written(folder: Path, writer: str, number: int) -> bytes:
    """The file that a new process writes."""
    path = folder / f"{number}.safetensors"
    program = PROGRAM.replace("from WRITER", writer)
    subprocess.run([sys.executable, "-c", program, str(path)], check=True)
    return path.read_bytes()


def test_two_processes_write_the_same_bytes(tmp_path: Path):
    writer = "from recherche._tensors import write_tensors as save"
    assert written(tmp_path, writer, 0) == written(tmp_path, writer, 1)


def test_the_librarys_own_order_differs(tmp_path: Path):
    writer = "from safetensors.torch import save_file as save"
    assert len({written(tmp_path, writer, i) for i in range(4)}) > 1


def test_what_was_written_is_read(tmp_path: Path):
    path = tmp_path / "w"
    tensors = {"b": torch.arange(3.0), "a": torch.ones(2, 2, dtype=torch.int64)}
    write_tensors(tensors, path, METADATA)
    assert all(torch.equal(tensor, load_file(path)[name]) for name, tensor in tensors.items())
    with safe_open(path, framework="pt") as file:
        assert file.metadata() == METADATA
    write_tensors(tensors, path)
    assert set(load_file(path)) == set(tensors)
