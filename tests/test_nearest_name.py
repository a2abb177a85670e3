import pytest

from kerasnmt.nearest_name import nearest_name, unknown_name_message


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


@pytest.mark.parametrize(
    ("name", "nearest"),
    [
        ("luong_mlp_lstm", None),
        ("luong_lstm", "luong_dot_lstm"),
        ("luong-dot-lstm", "luong_dot_lstm"),
        ("luong_dto_lstm", "luong_dot_lstm"),
        ("train_steps", None),
        ("warm_up_steps", "training.warmup_steps"),
        ("training.batch_type", None),
        ("batch", "training.batch_size"),
        ("dropout", None),
        ("bidirectional", None),
    ],
)
def test_near_names_have_the_same_words(name, nearest):
    models = ["luong_local_p_lstm", "luong_dot_lstm"]
    keys = ["training.warmup_steps", "training.batch_size", "training.word_dropout"]
    assert nearest_name(name, [*models, *keys, "search.dictionary"]) == nearest
