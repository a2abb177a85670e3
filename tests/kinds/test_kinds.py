import json
from pathlib import Path

import numpy as np
import pytest
from werkzeug.test import Client

from kerasnmt.kinds import Kind, TextField, code, kind_of, kinds, register_kind, registry
from kerasnmt.kinds.kind import Usage
from kerasnmt.models import Seq2Seq
from kerasnmt.serving.contract.caption_contract import CaptionContract
from kerasnmt.serving.contract.export_contract import declared_contract
from kerasnmt.serving.contract.story_contract import StoryContract
from kerasnmt.serving.contract.translation_contract import ContextContract, TranslationContract
from kerasnmt.serving.protocol.meta_graph import Signature
from kerasnmt.tasks import TranslationTask, Translator, task_of
from tests.serving.conftest import only_signatures


@pytest.mark.parametrize(
    ("inputs", "contract"),
    [
        (["text"], TranslationContract),
        (["context", "text"], ContextContract),
        (["story", "question"], StoryContract),
        (["image"], CaptionContract),
        (["story"], None),
        (["question", "story", "more"], None),
        ([], None),
    ],
)
def test_fields_give_the_kind(inputs, contract):
    if contract is None:
        with pytest.raises(ValueError, match="Expected the fields of a request, text, or text and"):
            kind_of(inputs)
    else:
        assert type(kind_of(inputs).contract) is contract
    declared = {"serving_default": Signature(dict.fromkeys(inputs), {})}
    assert type(declared_contract(declared)) is (contract or TranslationContract)


def test_without_the_default_signature_the_kind_is_translation():
    assert type(declared_contract({})) is TranslationContract


def test_the_same_fields_are_refused():
    with pytest.raises(ValueError, match=r"other fields\. Received: text, which another kind has"):
        register_kind(kinds()[0])


@pytest.mark.parametrize("kind", kinds(), ids=lambda kind: type(kind).__name__)
def test_a_contract_is_whole(kind):
    """Check that each contract has what `ExportContract` uses."""
    contract = kind.contract
    assert contract.inputs == kind.names
    assert [*contract.odd_values] == [*contract.inputs]
    assert contract.row in contract.inputs
    assert contract.outputs["serving_default"][contract.answer] == ("string", ("batch",))
    assert contract.further_checks().keys() <= contract.outputs.keys()
    assert contract.optional_signatures <= contract.outputs.keys()
    assert {len(row) for row in contract.example_rows} == {len(contract.inputs)}
    assert all(value.strip() for value in contract.example_rows[0])
    outputs = {name for signature in contract.outputs.values() for name in signature}
    assert contract.optional_outputs <= outputs
    rows = contract.example_rows
    columns = contract.columns(rows)
    assert list(columns) == list(contract.inputs)
    assert tuple(zip(*columns.values(), strict=True)) == rows
    examples = {name: [*map(contract.to_json, values)] for name, values in columns.items()}
    examples[contract.answer] = ["an answer"] * len(rows)
    description = json.loads(json.dumps({"examples": examples}))
    assert contract.described_examples(description) == (rows, ["an answer"] * len(rows))
    assert contract.described_examples({}) == ((), [])


# A new kind: descriptions of tables. All that the library needs to know is below.
class TableModel(Seq2Seq):
    request_fields = ("table",)


class TableTask(TranslationTask):
    def __init__(self, model, **options):
        super().__init__(model, **options)
        self.fields = ("table",)


class TableContract(TranslationContract):
    inputs = ("table",)
    row = "table"
    odd_values = {"table": TranslationContract.odd_values["text"]}  # noqa: RUF012


class TableKind(Kind):
    fields = (TextField("table", "--field table=FILE"),)
    lead = "table"
    contract = TableContract()

    def task(self, model, **options):
        return TableTask(model, **options)

    def usage(self, request):
        return Usage(f"describe({code(request['table'])})", " --field table=tables.txt")


TABLES = ["two dogs run .", "a man"]


@pytest.fixture
def table_model(make_translator_model, eagerly):
    """A model with the weights of another one, which translates."""
    model = make_translator_model()
    table_model = TableModel.from_config(model.get_config())
    table_model.set_weights(model.get_weights())
    table_model.translations = model.translate(TABLES, beam_size=2, max_length=8)
    return table_model


@pytest.fixture
def table_kind(monkeypatch):
    monkeypatch.setattr(registry, "_KINDS", [*registry._KINDS])
    register_kind(TableKind())


@pytest.mark.usefixtures("table_kind")
def test_a_new_kind_works_everywhere(
    table_model, kerasnmt, load_export_once, served_here, tmp_path, monkeypatch
):
    from kerasnmt.serving import check_export, export_onnx
    from kerasnmt.serving.runtimes.session import ServedModelSession
    from kerasnmt.serving.server.page_app import PageApp

    task = task_of(table_model, beam_size=2, max_length=8)
    answers = Translator(task).ask({"table": TABLES})
    assert [text for text, _ in answers] == table_model.translations

    # The export is loaded once, below.
    monkeypatch.setattr("kerasnmt.serving.runtimes.saved_model.export._try_out", lambda *_: None)
    with only_signatures("serving_default", "n_best"):
        version = table_model.export(str(tmp_path / "tables/1"), beam_size=2, max_length=8)
    loaded = load_export_once(Path(version))
    exported = Translator(loaded).ask({"table": TABLES})
    assert [text for text, _ in exported] == [text for text, _ in answers]
    np.testing.assert_allclose([s for _, s in exported], [s for _, s in answers], atol=1e-5)
    served_here.session = ServedModelSession(loaded)
    with pytest.raises(ValueError, match=r"reads text, .* for ONNX Runtime\. .* reads table\."):
        export_onnx(table_model, tmp_path / "onnx")
    report = check_export(version)
    assert report.passed, str(report)

    (tmp_path / "tables.txt").write_text("".join(f"{line}\n" for line in TABLES))
    done = kerasnmt("translate", version, "--field", f"table={tmp_path}/tables.txt")
    assert done.lines == [text for text, _ in answers]
    done = kerasnmt("translate", version, stdin="a dog\n")
    assert done.err.endswith(
        "error: Expected --field table=FILE, which this model reads. Received: texts.\n"
    )

    page = Client(PageApp(kind_of(["table"]).page_model(task), {"name": "x", "examples": []}))
    about = page.get("/page/model").json
    assert (about["fields"], about["widgets"]) == (["table"], {"table": "text"})
    found = page.post("/page/search", json={"table": TABLES[0]}).json
    assert found["hypotheses"][0]["text"] == answers[0][0]

    preset = tmp_path / "preset"
    table_model.save_to_preset(
        preset, about={"examples": [{"input": {"table": "a man"}, "output": "b"}]}
    )
    card = (preset / "README.md").read_text()
    assert 'print(model.describe("a man"))' in card
    assert "kerasnmt translate preset --field table=tables.txt" in card
