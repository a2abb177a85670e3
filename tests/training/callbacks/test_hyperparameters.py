from pathlib import Path

import keras
import numpy as np
import pytest
from tensorboard.backend.event_processing.plugin_event_multiplexer import EventMultiplexer
from tensorboard.plugins.hparams import api_pb2, metadata

from kerasnmt.training import Hyperparameters

VALUES = {
    "model": {"name": "bahdanau_gru", "units": 256, "layers": {"sizes": [1, 2]}},
    "training": {"learning_rate": 0.5, "cache": True, "clip_norm": None, "path": Path("a/b")},
    "seed": 1,
}
FLAT = {
    "model.name": "bahdanau_gru",
    "model.units": 256.0,
    "model.layers.sizes": "[1, 2]",
    "training.learning_rate": 0.5,
    "training.cache": True,
    "training.clip_norm": "null",
    "training.path": "a/b",
    "seed": 1.0,
}


@pytest.fixture
def model():
    model = keras.Sequential([keras.Input((1,)), keras.layers.Dense(1)])
    model.compile("sgd", loss="mse", run_eagerly=True)
    return model


def plugin_data(folder):
    """Return what the HParams tab reads, by tag."""
    multiplexer = EventMultiplexer().AddRunsFromDirectory(str(folder)).Reload()
    return multiplexer.PluginRunToTagToContent(metadata.PLUGIN_NAME)


def test_values_and_end(tmp_path, model):
    callback = Hyperparameters(tmp_path, VALUES)
    model.fit(np.ones((2, 1)), np.ones((2, 1)), verbose=0, callbacks=[callback])
    contents = plugin_data(tmp_path)["."]
    start = metadata.parse_session_start_info_plugin_data(contents[metadata.SESSION_START_INFO_TAG])
    values = {
        name: getattr(value, value.WhichOneof("kind")) for name, value in start.hparams.items()
    }
    assert values == FLAT
    assert values["training.cache"] is True and values["seed"] is not True
    end = metadata.parse_session_end_info_plugin_data(contents[metadata.SESSION_END_INFO_TAG])
    assert end.status == api_pb2.STATUS_SUCCESS
    assert end.end_time_secs >= start.start_time_secs > 0


def test_an_interrupted_training_has_values_and_no_end(tmp_path, model):
    class Stop(keras.callbacks.Callback):
        def on_train_batch_end(self, batch, logs=None):
            raise KeyboardInterrupt

    callbacks = [Hyperparameters(tmp_path, VALUES), Stop()]
    with pytest.raises(KeyboardInterrupt):
        model.fit(np.ones((2, 1)), np.ones((2, 1)), verbose=0, callbacks=callbacks)
    assert set(plugin_data(tmp_path)["."]) == {metadata.SESSION_START_INFO_TAG}


def test_scores_are_curves_of_the_same_run(events, tmp_path):
    callback = Hyperparameters(tmp_path, VALUES)
    callback.write_scores({"bleu": 31.5, "chrf": 60.25})
    assert events(tmp_path) == {"bleu": [(0, 31.5)], "chrf": [(0, 60.25)]}


def test_the_tab_finds_runs_side_by_side(tmp_path, model):
    """The plugin itself reads them, without a description of the experiment."""
    from tensorboard.backend.event_processing.data_provider import MultiplexerDataProvider
    from tensorboard.context import RequestContext
    from tensorboard.plugins.base_plugin import TBContext
    from tensorboard.plugins.hparams import backend_context, list_session_groups

    for units, bleu in ((64, 20.0), (128, 30.0)):
        callback = Hyperparameters(tmp_path / f"run_{units}", {"model": {"units": units}})
        model.fit(np.ones((2, 1)), np.ones((2, 1)), verbose=0, callbacks=[callback])
        callback.write_scores({"bleu": bleu})
    multiplexer = EventMultiplexer().AddRunsFromDirectory(str(tmp_path)).Reload()
    provider = MultiplexerDataProvider(multiplexer, str(tmp_path))
    context = backend_context.Context(TBContext(data_provider=provider))
    request = RequestContext()
    metadata_of_runs = context.hparams_metadata(request, "")
    experiment = context.experiment_from_metadata(request, "", True, metadata_of_runs, [])
    assert [info.name for info in experiment.hparam_infos] == ["model.units"]
    assert [info.name.tag for info in experiment.metric_infos] == ["bleu"]
    asked = api_pb2.ListSessionGroupsRequest(
        start_index=0,
        slice_size=10,
        allowed_statuses=[api_pb2.STATUS_SUCCESS],
        col_params=[
            api_pb2.ColParams(hparam="model.units", order=api_pb2.ORDER_ASC),
            api_pb2.ColParams(metric=api_pb2.MetricName(tag="bleu")),
        ],
        include_metrics=True,
    )
    groups = list_session_groups.Handler(request, context, "", asked).run().session_groups
    rows = [
        (group.hparams["model.units"].number_value, group.metric_values[0].value)
        for group in groups
    ]
    assert rows == [(64, 20.0), (128, 30.0)]
