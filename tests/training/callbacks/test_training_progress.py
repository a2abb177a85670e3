import io

from rich.console import Console

from kerasnmt.training import TrainingProgress
from kerasnmt.training.callbacks.training_progress import counting


def run(console):
    with TrainingProgress(console, 2) as progress:
        progress.set_params({"steps": 3})
        progress.on_epoch_begin(1)
        progress.on_train_batch_end(1, {"loss": 2.5})
        progress.on_test_begin()
        progress.on_epoch_end(
            1, {"loss": 2.25, "val_bleu": 31.4159, "target_tokens_per_second": 2600.4, "other": 1}
        )


LINE = "epoch 2/2  loss 2.25  val_bleu 31.42  2,600 tokens/s\n"


def test_a_file_gets_whole_lines_only():
    file = io.StringIO()
    run(Console(file=file, width=20))
    assert file.getvalue() == LINE


def test_a_file_gets_a_line_every_30_seconds(monkeypatch):
    """A resumed epoch counts from its place: 400 of 1,000 batches are done before."""
    now = 0.0
    monkeypatch.setattr("kerasnmt.progress_lines.monotonic", lambda: now)
    file = io.StringIO()
    progress = TrainingProgress(Console(file=file, width=20), 3, batches_per_epoch=1000)
    progress.set_params({"steps": 600})
    progress.on_epoch_begin(1)
    for batch in range(140):  # half a second each
        now += 0.5
        progress.on_train_batch_end(batch, {"loss": 2.5})
    assert file.getvalue() == (
        "epoch 2/3  460/1,000  46%  0:04:30 left  loss 2.500\n"
        "epoch 2/3  520/1,000  52%  0:04:00 left  loss 2.500\n"
    )
    file.truncate(file.seek(0))
    progress.set_params({"steps": 1000})
    progress.on_epoch_begin(2)
    now += 31
    progress.on_train_batch_end(0, {"loss": 2.5})
    assert file.getvalue().startswith("epoch 3/3  1/1,000  0%  8:36:09 left")


def test_the_bar_of_a_resumed_epoch_counts_from_its_place():
    file = io.StringIO()
    console = Console(file=file, force_terminal=True, width=200, color_system=None)
    with TrainingProgress(console, 2, batches_per_epoch=10) as progress:
        progress.set_params({"steps": 4})
        progress.on_epoch_begin(0)
        progress._progress.refresh()
        assert " 6/10" in file.getvalue()
        progress.on_train_batch_end(0, {"loss": 2.5})
        progress._progress.refresh()
        assert " 7/10" in file.getvalue()
        progress.set_params({"steps": None})  # of data of unknown length
        progress.on_epoch_begin(1)
        progress._progress.refresh()
        assert " 0/10" in file.getvalue()
    assert "left" not in file.getvalue()


def test_counting_in_a_file_has_lines_too(monkeypatch):
    now = 0.0
    monkeypatch.setattr("kerasnmt.progress_lines.monotonic", lambda: now)
    file = io.StringIO()
    for _ in counting(Console(file=file), "counting", [(0, range(5))] * 4, 20):
        now += 16
    assert (
        file.getvalue()
        == "counting\ncounting  10/20  50%  0:00:32 left\ncounting  20/20  100%  0:00:00 left\n"
    )


def test_a_terminal_gets_a_bar_too():
    file = io.StringIO()
    run(Console(file=file, force_terminal=True, width=200, color_system=None))
    assert LINE in file.getvalue()
    assert "epoch 2/2" in file.getvalue()
    assert "2/3" in file.getvalue()


def test_a_terminal_says_that_the_first_batch_takes_long():
    file = io.StringIO()
    with TrainingProgress(
        Console(file=file, force_terminal=True, width=200, color_system=None), 2
    ) as progress:
        progress.set_params({"steps": 3})
        assert "preparing the first batch" in file.getvalue() and "/?" not in file.getvalue()
        for epoch in range(2):
            file.truncate(file.seek(0))
            progress.on_epoch_begin(epoch)
            progress._progress.refresh()
            assert ("preparing the first batch" in file.getvalue()) == (epoch == 0)
            assert "0/3" in file.getvalue()
            file.truncate(file.seek(0))
            progress.on_train_batch_end(0, {"loss": 2.5})
            progress._progress.refresh()
            assert "preparing" not in file.getvalue() and "loss 2.500" in file.getvalue()
