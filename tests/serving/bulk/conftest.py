import logging

import pytest


@pytest.fixture
def loads(expected, monkeypatch):
    """Use the translator of the tests in pipelines of this process; list the loads of the model."""
    from kerasnmt.serving.bulk import ExportHandler

    loads = []

    def load_model(handler):
        loads.append(handler.export)
        return expected

    monkeypatch.setattr(ExportHandler, "load_model", load_model)
    return loads


@pytest.fixture
def run(loads):
    """Run a function of a pipeline in this process; return the counters of kerasnmt."""
    import apache_beam as beam

    def run(build):
        logging.getLogger().setLevel(logging.ERROR)
        pipeline = beam.Pipeline("FnApiRunner")
        build(pipeline)
        result = pipeline.run()
        result.wait_until_finish()
        counters = result.metrics().query()["counters"]
        return {one.key.metric.name: one.result for one in counters}

    return run
