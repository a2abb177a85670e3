"""The steps of a task as a TensorFlow graph."""

from kerasnmt.tasks import task_of


def test_weights_are_read_outside_the_loops(word_model):
    function = task_of(word_model, beam_size=2, max_length=5).function("serving_default")
    library = function.graph.as_graph_def().library.function
    loops = [one for one in library if "while_body" in one.signature.name]
    assert loops
    assert not [node.name for one in loops for node in one.node_def if node.op == "ReadVariableOp"]
