"""Products of a recurrent decoder's step on the CPU: float32, and int8 in the ways of TensorFlow.

    TF_ENABLE_ONEDNN_OPTS=1 python benchmarks/int8_products.py

Multiplies activations with the weights of the cell and of the output layer of
`tatoeba_en_fr_gru`. The rows are the hypotheses of one sentence or of 64 sentences, with a beam of
5. In each way, the weights stay int8 in memory. Prints the microseconds of CPU time for each
product, and the ratio to float32. An int8 product includes the rounding of its activations.

- `MatMul` casts the weights to float32 for each product.
- `BatchMatMulV3` multiplies int8 by int8 to int32.
- `QuantizedMatMul` multiplies quint8 by quint8 to qint32.
- `UniformQuantizedDotHybrid` takes float32 activations.
"""

import os
import statistics
import time
from collections.abc import Callable

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")

import numpy as np
import tensorflow as tf

SHAPES = {"cell": (512, 768), "output layer": (256, 4000)}
ROWS = (5, 320)


def ways(weights: np.ndarray) -> dict[str, Callable[[tf.Tensor], tf.Tensor]]:
    """Return functions that multiply activations with weights."""
    whole = tf.constant(np.rint(weights * 127), tf.int8)
    unsigned = tf.bitcast(tf.constant(np.rint((weights + 1) * 127.5), tf.uint8), tf.quint8)
    exact = tf.constant(weights)
    low, high = tf.constant(-1.0), tf.constant(1.0)

    def in_int32(rows: tf.Tensor) -> tf.Tensor:
        scale = 127 / tf.reduce_max(tf.abs(rows), axis=1, keepdims=True)
        rounded = tf.cast(tf.round(rows * scale), tf.int8)
        products = tf.matmul(rounded, whole, output_type=tf.int32)
        return tf.cast(products, tf.float32) / (127 * scale)

    def quantized(rows: tf.Tensor) -> tf.Tensor:
        least, most = tf.reduce_min(rows), tf.reduce_max(rows)
        rounded = tf.quantization.quantize(rows, least, most, tf.quint8)
        out, least, most = tf.raw_ops.QuantizedMatMul(
            a=rounded.output,
            b=unsigned,
            min_a=rounded.output_min,
            max_a=rounded.output_max,
            min_b=low,
            max_b=high,
            Toutput=tf.qint32,
        )
        return tf.quantization.dequantize(out, least, most)

    def hybrid(rows: tf.Tensor) -> tf.Tensor:
        return tf.raw_ops.UniformQuantizedDotHybrid(
            lhs=rows,
            rhs=tf.bitcast(whole, tf.qint8),
            rhs_scales=1 / 127,
            rhs_zero_points=0,
            Tout=tf.float32,
            rhs_quantization_min_val=-127,
            rhs_quantization_max_val=127,
        )

    return {
        "float32": lambda rows: tf.matmul(rows, exact),
        "MatMul": lambda rows: tf.matmul(rows, tf.cast(whole, tf.float32) / 127),
        "BatchMatMulV3": in_int32,
        "QuantizedMatMul": quantized,
        "UniformQuantizedDotHybrid": hybrid,
    }


def microseconds(function: Callable[[tf.Tensor], tf.Tensor], rows: tf.Tensor) -> float:
    """Return the median CPU time of a call."""
    compiled = tf.function(function, input_signature=[tf.TensorSpec(rows.shape)], autograph=False)
    compiled = compiled.get_concrete_function()
    compiled(rows)
    found = []
    for _ in range(20):
        begin = time.process_time()
        for _ in range(5):
            compiled(rows)
        found.append((time.process_time() - begin) / 5 * 1e6)
    return statistics.median(found)


def main() -> None:
    tf.config.threading.set_intra_op_parallelism_threads(1)
    # Constant folding would cast the weights only once, and so keep them in float32.
    tf.config.optimizer.set_experimental_options({"constant_folding": False})
    rng = np.random.default_rng(0)
    print("product | rows | way | microseconds | ratio to float32 | largest error")
    for name, shape in SHAPES.items():
        functions = ways(rng.uniform(-1, 1, shape).astype("float32"))
        for count in ROWS:
            rows = tf.constant(rng.uniform(-1, 1, (count, shape[0])), tf.float32)
            exact = functions["float32"](rows).numpy()
            first = None
            for way, function in functions.items():
                error = np.abs(function(rows).numpy() - exact).max()
                found = microseconds(function, rows)
                first = first or found
                figures = f"{found:.0f} | {found / first:.2f} | {error:.2f}"
                print(f"{name} | {count} | {way} | {figures}", flush=True)


if __name__ == "__main__":
    main()
