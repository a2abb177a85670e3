"""Drop-ins for operations of Keras, which give the same results in less time.

`@replaces(plain)` stands above each drop-in and names the plain operation. To remove a drop-in,
assign the plain operation to its name here, for example `products = keras.ops.matmul`. Gains are
the CPU seconds with the plain operation, divided by those with the drop-in:

| drop-in | gain | of what |
|---|---|---|
"""

from kerasnmt.speed.adam import FusedAdam
from kerasnmt.speed.after_loop import gradients_after_loop, in_loop
from kerasnmt.speed.byte_dropout import byte_dropout
from kerasnmt.speed.drop_in import plain_operations
from kerasnmt.speed.layer_normalization import layer_normalization, plain_layer_normalization
from kerasnmt.speed.log_probability import projected_log_probability, token_log_probability
from kerasnmt.speed.top_k import top_k, top_sums

__all__ = [
    "FusedAdam",
    "byte_dropout",
    "gradients_after_loop",
    "in_loop",
    "layer_normalization",
    "plain_layer_normalization",
    "plain_operations",
    "projected_log_probability",
    "token_log_probability",
    "top_k",
    "top_sums",
]
