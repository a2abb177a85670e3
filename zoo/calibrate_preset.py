"""Calibrate an existing preset of the library, without a change of its weights.

    python zoo/calibrate_preset.py g2p_dutch zoo/bahdanau_gru_g2p/data/dut_dev.tsv
    python zoo/calibrate_preset.py demo_de_en builtin --swap

Fits the calibration to at most 300 validation pairs, with the search options of the preset, and
writes it into `config.json`. The presets of models that `kerasnmt train` has calibrated have it.
"""

import argparse
import hashlib
import json
import os

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")

from kerasnmt.calibration import spread
from kerasnmt.data import builtin_corpus, read_tsv
from kerasnmt.presets.folders import CONFIG, METADATA
from kerasnmt.training import texts
from kerasnmt.zoo import get_preset


def main() -> None:
    """Calibrate a preset."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("preset", help="name of a preset")
    parser.add_argument("pairs", help="file of validation pairs, or builtin")
    parser.add_argument("--swap", action="store_true", help="translate the second column")
    arguments = parser.parse_args()
    preset = get_preset(arguments.preset)
    if arguments.pairs == "builtin":
        pairs = builtin_corpus(300, "validation")
        sides = [pair.source for pair in pairs], [pair.target for pair in pairs]
    else:
        sides = texts(read_tsv(arguments.pairs))
    rows = spread(len(sides[0]))
    sources, references = ([side[row] for row in rows] for side in sides[:: 1 - 2 * arguments.swap])
    calibration = preset.load().calibrate(sources, references)
    config = preset.config()
    config["config"]["calibration"] = calibration.document()
    metadata = preset.metadata
    written = (json.dumps(config, indent=2, ensure_ascii=False) + "\n").encode()
    checksum = hashlib.sha256(written).hexdigest()
    metadata["files"][CONFIG] = {"bytes": len(written), "sha256": checksum}
    (preset.folder / CONFIG).write_bytes(written)
    text = json.dumps(metadata, indent=2, ensure_ascii=False) + "\n"
    (preset.folder / METADATA).write_text(text, encoding="utf-8")
    print(arguments.preset, calibration)


if __name__ == "__main__":
    main()
