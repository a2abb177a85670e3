"""The stub that `make` writes to `kerasnmt/zoo/__init__.pyi`."""

import ast

from kerasnmt import zoo
from tests.zoo import stub


def test_the_stub_has_every_name_with_its_signature_and_docstring():
    functions = {
        node.name: node
        for node in ast.parse(stub.stub()).body
        if isinstance(node, ast.FunctionDef) and not node.name.startswith("_")
    }
    assert sorted(functions) == sorted(zoo.__all__)
    for name, function in functions.items():
        decorators = [ast.unparse(decorator) for decorator in function.decorator_list]
        assert decorators == (["_with_presets"] if name in zoo.list_models() else [])
    luong = functions["luong_dot_lstm"]
    assert [argument.arg for argument in luong.args.args] == ["source", "target"]
    defaults = [ast.literal_eval(default) for default in luong.args.kw_defaults]
    keywords = dict(zip((a.arg for a in luong.args.kwonlyargs), defaults, strict=True))
    assert keywords == {
        **{"embedding_dim": 256, "units": 256, "bidirectional": True, "num_layers": 1},
        **{"input_feeding": False, "attention": "global", "normalizer": "softmax"},
        **{"coverage": None, "fused": False},
        **{"layer_normalization": False, "dropout": 0.2, "context_dropout": 0.0},
        **{"output_dropout": None, "state_dropout": 0.0, "tie_embeddings": False},
        **{"share_embeddings": False, "tags": "tokens"},
    }
    assert [ast.unparse(a.annotation) for a in luong.args.kwonlyargs[:9]] == [
        *("int", "int", "bool", "int", "bool", "str", "str | Layer", "float | None", "bool"),
    ]
    assert ast.unparse(luong.returns) == "Seq2Seq"
    assert ast.get_docstring(luong) == zoo.luong_dot_lstm.__doc__
