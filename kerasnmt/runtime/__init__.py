"""Models on ONNX Runtime, without TensorFlow and Keras.

```python
from kerasnmt.runtime import load

model = load("en_de_onnx")  # a folder of `kerasnmt export MODEL en_de_onnx --runtime onnx`
model.translate(["two dogs run ."])
```
"""

from kerasnmt.runtime.loading import load, load_onnx
from kerasnmt.runtime.search import search

__all__ = ["load", "load_onnx", "search"]
