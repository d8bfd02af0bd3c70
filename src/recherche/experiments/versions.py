"""What a result was made with: versions of the software, the revision of the source, the device."""

import platform
import subprocess
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

import torch

_PACKAGES = (
    *("recherche", "torch", "numpy", "numba", "google-re2"),
    *("transformers", "tokenizers", "peft", "accelerate", "mamba-ssm"),
)


def versions() -> dict[str, str]:
    """Versions by name; packages that are not installed are left out."""
    found = {"python": platform.python_version()}
    for name in _PACKAGES:
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            continue
    revision = _revision()
    return found | ({"revision": revision} if revision else {})


def device_name(device: str) -> str:
    """A device in words, such as the name of the GPU or of the processor."""
    if torch.device(device).type == "cuda":
        return torch.cuda.get_device_name(torch.device(device))
    return f"{platform.processor() or platform.machine()} CPU, {torch.get_num_threads()} thread(s)"


def _revision() -> str:
    """The commit of the source tree that runs, or nothing where it is an installed package."""
    root = Path(__file__).resolve().parents[3]
    if not (root / ".git").exists():
        return ""
    command = ["git", "-C", str(root), "describe", "--always", "--dirty", "--abbrev=12"]
    answer = subprocess.run(command, capture_output=True, text=True, check=False)
    return answer.stdout.strip()
