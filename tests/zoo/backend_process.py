"""Models of the zoo in a process with another backend of Keras and without TensorFlow."""

import json
import os
import subprocess
import sys

import numpy as np

from tests.zoo.tiny_models import COPIED_TARGETS, IN_CONTEXT, INPUTS, OPTIONS, TARGETS, make, sizes

ALIGNMENTS = np.eye(5, dtype="float32")[None, [4, 0, 2, 1]] * (TARGETS != 0)[..., None]
SCRIPT = """
import json
import sys

for name in ("tensorflow", "tensorflow_text", "tf_keras"):
    sys.modules[name] = None
import numpy as np
from keras import ops

from kerasnmt import zoo

given = dict(np.load(sys.argv[1]))
made = {}
for case, (name, options) in json.loads(sys.argv[3]).items():
    copying = name.startswith(("pointer", "context"))
    inputs = {key: given["copying/" * copying + key] for key in ("source_ids", "target_ids")}
    if copying:
        inputs["extended_source_ids"] = given["copying/extended_source_ids"]
    if name.startswith("context"):
        for key in ("context_ids", "extended_context_ids"):
            inputs[key] = given[f"copying/{key}"]
    model = zoo.get_model(name)(13 if copying else 11, None if copying else 13, **options)
    model.set_weights([given[f"{case}/{i}"] for i in range(len(model.weights))])
    made[f"{case}/log_probabilities"] = model.decoder.next_log_probability(model(inputs))
    if model.has_attention:
        for key, record in model.attend(inputs).items():
            made[f"{case}/{key}"] = record
    if case in json.loads(sys.argv[5]):
        found = model.search(inputs, beam_size=3, n_best=2, max_length=6)
        made[f"{case}/ids"], made[f"{case}/scores"] = found.ids, found.scores
    if case in json.loads(sys.argv[4]):  # an added loss, and the loss of guided attention beside it
        model.compile("sgd", label_smoothing=0.1, guided_attention=0.5)
        guided = {**inputs, "alignments": given["alignments"]}
        targets = given["copying/" * copying + "targets"]
        history = model.fit(guided, targets, epochs=2, verbose=0)
        made[f"{case}/losses"] = history.history["loss"]
np.savez(sys.argv[2], **{key: ops.convert_to_numpy(value) for key, value in made.items()})
"""


def made_on(backend, folder, cases, trained=(), searched=()):
    """Return the results of a backend for `OPTIONS`, with the weights of `tiny_models.make`.

    Args:
        backend: Name of the backend.
        folder: Folder for files.
        cases: Names of the cases.
        trained: Cases that train for two epochs.
        searched: Cases that search.

    Returns:
        A dict of arrays, with keys such as "case/name".
    """
    weights, models = {}, {}
    for case in cases:
        name, options = OPTIONS[case]
        models[case] = name, {**sizes(name), **options}
        for i, weight in enumerate(make(name, **options).get_weights()):
            weights[f"{case}/{i}"] = weight
    copying = {f"copying/{key}": value for key, value in IN_CONTEXT.items()}
    copying["copying/targets"] = COPIED_TARGETS
    np.savez(
        folder / "in.npz", **INPUTS, **copying, **weights, targets=TARGETS, alignments=ALIGNMENTS
    )
    models = {
        case: (OPTIONS[case][0], {**sizes(OPTIONS[case][0]), **OPTIONS[case][1]}) for case in cases
    }
    done = subprocess.run(
        [
            *(sys.executable, "-c", SCRIPT, folder / "in.npz", folder / "out.npz"),
            *(json.dumps(models), json.dumps([*trained]), json.dumps([*searched])),
        ],
        env={**os.environ, "KERAS_BACKEND": backend, "JAX_PLATFORMS": "cpu"},
        capture_output=True,
        text=True,
        timeout=600,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    return dict(np.load(folder / "out.npz"))
