"""Run tutorials, and write each as a notebook beside its script.

`python tutorials/make_notebooks.py tutorials/01_train_and_serve.py …`
"""

import os
import sys
from pathlib import Path

import jupytext
import nbformat
from nbclient import NotebookClient

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"  # a notebook shows the tutorial, not TensorFlow's log

for script in map(Path, sys.argv[1:]):
    notebook = jupytext.read(script)
    for number, cell in enumerate(notebook.cells):
        cell.id, cell.metadata = f"cell-{number}", {}  # jupytext's are random, and about the script
    NotebookClient(
        notebook,
        timeout=None,
        coalesce_streams=True,
        record_timing=False,
        resources={"metadata": {"path": script.parent}},
    ).execute()
    for cell in notebook.cells:
        if cell.cell_type == "code":
            # No setting silences what TensorFlow's libraries write there while they are loaded.
            cell.outputs = [one for one in cell.outputs if one.get("name") != "stderr"]
    notebook.metadata = {
        "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
        "language_info": {"name": "python"},
    }
    nbformat.write(notebook, script.with_suffix(".ipynb"))
