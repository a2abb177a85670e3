import inspect
import subprocess
import sys

from kerasnmt import training


def test_every_name_is_what_it_says():
    for name in training.__all__:
        assert inspect.isclass(getattr(training, name)) or inspect.isfunction(
            getattr(training, name)
        )


def test_a_recipe_needs_no_tensorflow():
    program = (
        "import sys; sys.modules['tensorflow'] = None; import kerasnmt.training; "
        "kerasnmt.training.Recipe; kerasnmt.training.RunFolder"
    )
    subprocess.run([sys.executable, "-c", program], check=True)
