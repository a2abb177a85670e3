"""A function of texts, run eagerly, in a graph, in a dataset and from a SavedModel."""

import tensorflow as tf


def assert_alike(function, *columns, tokenizer, folder):
    """Check that a function of columns of texts returns the same tensors everywhere.

    Args:
        function: Function of one tensor of strings for each column.
        *columns: Lists of texts.
        tokenizer: The tokenizer that the function uses.
        folder: Empty folder for a SavedModel.

    Returns:
        The tensors.
    """
    columns = [tf.constant(column, tf.string) for column in columns]
    expected = function(*columns)
    signature = [tf.TensorSpec([None], tf.string)] * len(columns)
    module = tf.Module()
    module.tokenizer = tokenizer
    module.run = tf.function(function, autograph=False, input_signature=signature)
    tf.saved_model.save(module, str(folder))
    loaded = tf.saved_model.load(str(folder))
    (mapped,) = tf.data.Dataset.from_tensors(tuple(columns)).map(function)
    for found in (module.run(*columns), mapped, loaded.run(*columns)):
        assert tf.nest.map_structure(_as_list, found) == tf.nest.map_structure(_as_list, expected)
    for run in (module.run, loaded.run):  # no texts
        run(*(column[:0] for column in columns))
    return expected


def _as_list(tensor):
    return tensor.to_list() if isinstance(tensor, tf.RaggedTensor) else tensor.numpy().tolist()
