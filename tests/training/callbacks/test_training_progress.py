import io

from rich.console import Console

from kerasnmt.training import TrainingProgress


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
