"""Drop-ins for operations of Keras, which give the same results in less time.

A test of each compares it with its plain operation. To remove one, put the plain operation where
its name is imported. Gains are the CPU seconds without a drop-in, divided by those with it
(`python benchmarks/drop_ins.py`, medians on two cores of a Xeon):

| drop-in | plain operation | gain | of |
|---|---|---|---|
| `gradients_after_loop` | `loop(inputs)` | 1.12 | step of `bahdanau_gru` |
| `projected_log_probability` | `token_log_probability` of all logits | 1.22 | the same |
| `FusedAdam` | `keras.optimizers.Adam` | 1.05 | the same |
| `byte_dropout` | `keras.random.dropout` | 1.07 | step of `transformer_tiny` |
| `layer_normalization` | the same with Keras' gradient | 1.08 | the same |
| `gather` | `ops.take` | 1.09 | tracing the searches of an export; 0.99 of a beam search |
| `take_rows` | `ops.take_along_axis`, `plain_take_rows` | 1.31 | the same; 1.01 of a beam search |
| `top_sums` | `ops.top_k` of all sums, `plain_top_sums` | 1.41 | beam search, 64 sentences |
"""
