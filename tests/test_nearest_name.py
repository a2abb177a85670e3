from kerasnmt.nearest_name import unknown_name_message


def test_nearest():
    assert unknown_name_message("bahdanau_gur", ["luong_lstm", "bahdanau_gru"], "model") == (
        "unknown model 'bahdanau_gur'; did you mean 'bahdanau_gru'?"
    )


def test_a_shared_prefix_makes_nothing_near():
    known = ["training.seed", "training.epochs"]
    assert unknown_name_message("training.xyz", known, "key") == (
        "unknown key 'training.xyz'; known: training.seed, training.epochs"
    )
    assert unknown_name_message("training.epoch", iter(known), "key") == (
        "unknown key 'training.epoch'; did you mean 'training.epochs'?"
    )
