"""The benchmark of GPUs, in small on the CPU."""

import argparse
import json
import subprocess
import sys
from importlib.util import find_spec
from types import SimpleNamespace

import pytest

from benchmarks import gpu


def test_the_table_and_the_file_have_the_rows_up_to_the_time_limit(tmp_path):
    output = tmp_path / "gpu.json"
    options = {"models": ["bahdanau_gru"], "dtypes": ["float32"], "small": True}
    result = gpu.run(argparse.Namespace(seconds=-1e9, output=output, **options), 0.0)
    assert result["state"].startswith("stopped after")
    row = {"model": "bahdanau_gru", "dtype": "float32", "measured": "fit", "batch_size": 512}
    result["rows"].append({**row, "step_ms": 2.0561, "tokens_per_second": 66049.7})
    gpu.write(result, output)
    assert json.loads(output.read_text()) == result
    lines = (tmp_path / "gpu.md").read_text().splitlines()
    assert lines[0].startswith("no device yet; stopped after")
    assert lines[4] == "| bahdanau_gru | float32 | fit | 512 |  | 2.06 | 66,050 |  |  |  |"
    assert lines[5:] == [
        "| GNMT v2 on one V100, published | float16 | fit |  |  |  | 66,050 |  |  |  |",
        "| GNMT v2 on one V100, published | float32 | fit |  |  |  | 21,346 |  |  |  |",
    ]


def test_the_share_of_matrix_products_counts_the_kernels_of_the_gpu():
    def line(name, **nanoseconds):
        events = [SimpleNamespace(name=n, duration_ns=t) for n, t in nanoseconds.items()]
        return SimpleNamespace(name=name, events=events)

    kernels = line("Stream #20(Compute)", gemm_fusion_dot_3=6, nvjet_hsh_128=3, loop_add_fusion=3)
    gpu_plane = SimpleNamespace(
        name="/device:GPU:0", lines=[kernels, line("XLA Modules", jit_train_step=100)]
    )
    cpu_plane = SimpleNamespace(name="/host:CPU", lines=[line("Stream", dot=50)])
    profile = SimpleNamespace(planes=[cpu_plane, gpu_plane])
    assert gpu.share_of_products(profile) == 0.75
    assert gpu.share_of_products(SimpleNamespace(planes=[cpu_plane])) is None


@pytest.mark.thorough("compiles ten programs with JAX")
def test_the_benchmark_runs_in_small(tmp_path):
    if find_spec("jax") is None:
        pytest.skip("jax is not installed")
    output = tmp_path / "gpu.json"
    command = [sys.executable, gpu.__file__, "--small", "--output", output]
    command += ["--models", "luong_general_lstm"]
    printed = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    result = json.loads(output.read_text())
    assert result["state"].startswith("complete in")
    kinds = [("fit", 2), ("fit", 4), ("greedy", 2), ("beam 5", 2)]
    assert [(row["dtype"], row["measured"], row["batch_size"]) for row in result["rows"]] == [
        ("float32", "losses", 2),
        *(("float32", *kind) for kind in kinds),
        *(("bfloat16", *kind) for kind in kinds),
    ]
    for row in result["rows"]:
        if row["measured"] == "losses":
            assert row["losses"] == pytest.approx(row["cpu_losses"], rel=gpu.TOLERANCE)
            assert row["losses"][-1] < row["losses"][0]
            assert len(row["losses"]) == 10
        else:
            assert min(row["step_ms"], row["compile_seconds"], row["memory_mb"]) > 0
            assert row["matmul_share"] is None
    assert printed.count("\n") >= len(result["rows"])
    assert printed.endswith((tmp_path / "gpu.md").read_text() + "\n")
