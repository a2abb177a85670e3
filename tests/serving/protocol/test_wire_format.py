import pytest

from kerasnmt.serving.protocol import wire_format


def test_wire_format_reads_varints_and_lengths():
    # The two examples of the protobuf encoding guide: field 1 = 150, field 2 = "testing".
    message = b"\x08\x96\x01" + b"\x12\x07testing" + b"\x1d\x01\x00\x00\x00" + b"\x08\x01"
    values = [(number, value) for number, value in wire_format.fields(message)]
    assert values == [(1, 150), (2, b"testing"), (3, b"\x01\x00\x00\x00"), (1, 1)]
    assert wire_format.repeated(message, 1) == [150, 1]
    assert wire_format.text(message, 2) == "testing"
    assert wire_format.text(message, 9) == ""


@pytest.mark.parametrize("message", [b"\x08", b"\x12\x07test", b"\x08\xff", b"\x0b"])
def test_wire_format_refuses_other_bytes(message):
    with pytest.raises(ValueError, match="Expected an encoded protobuf message"):
        list(wire_format.fields(message))


@pytest.mark.parametrize(
    ("number", "value", "encoded"),
    [
        (1, 150, b"\x08\x96\x01"),  # the two examples of the protobuf encoding guide
        (2, "testing", b"\x12\x07testing"),
        (1, 0, b"\x08\x00"),
        (1, 127, b"\x08\x7f"),
        (1, 128, b"\x08\x80\x01"),
        (16, b"", b"\x82\x01\x00"),
        (3, b"\xff" * 300, b"\x1a\xac\x02" + b"\xff" * 300),
    ],
)
def test_fields_are_written_as_they_are_read(number, value, encoded):
    assert wire_format.field(number, value) == encoded
    ((found, read),) = wire_format.fields(encoded)
    assert found == number
    assert read == (value.encode() if isinstance(value, str) else value)
