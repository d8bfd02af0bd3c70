import platform

import torch

from recherche.experiments.versions import device_name, versions


def test_versions_name_what_numbers_depend_on():
    found = versions()
    assert found["python"] == platform.python_version()
    assert found["torch"] == torch.__version__
    assert {"recherche", "numpy", "numba"} <= set(found)


def test_the_cpu_is_named_with_its_threads():
    assert device_name("cpu").endswith(f"CPU, {torch.get_num_threads()} thread(s)")
