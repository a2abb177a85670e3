import pytest

from kerasnmt.serving.protocol.meta_graph import MetaGraph, TensorInfo


def test_meta_graph_gives_signatures_and_ops(saved_model):
    graph = MetaGraph.from_saved_model(saved_model)
    assert sorted(graph.signatures) == ["double", "serving_default"]
    inputs, outputs = graph.signatures["double"]
    assert inputs["ids"] == TensorInfo("double_ids:0", "int32", [-1, 2])
    assert list(outputs) == ["ids"]
    outputs = graph.signatures["serving_default"].outputs
    assert {name: (info.dtype, info.shape) for name, info in outputs.items()} == {
        "constant": ("string", [1]),
        "echo": ("string", [-1]),
        "lengths": ("int32", [-1]),
        "score": ("float32", [-1]),
        "words": ("string", [-1, -1]),
    }
    assert {"HashTableV2", "TFText>WhitespaceTokenizeWithOffsetsV2"} <= set(graph.ops)
    assert not any(op.startswith("__inference") for op in graph.ops)


def test_meta_graph_says_what_is_wrong_with_a_folder(tmp_path):
    with pytest.raises(ValueError, match=r"with a file saved_model\.pb\. Received: directory="):
        MetaGraph.from_saved_model(tmp_path)
    (tmp_path / "saved_model.pb").write_bytes(b"no protobuf")
    with pytest.raises(ValueError, match="cannot be read"):
        MetaGraph.from_saved_model(tmp_path)
    (tmp_path / "saved_model.pb").write_bytes(b"\x08\x01")
    with pytest.raises(ValueError, match="Expected a graph with the tag 'serve'"):
        MetaGraph.from_saved_model(tmp_path)
