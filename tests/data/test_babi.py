import gzip
import os
import subprocess
import sys
from pathlib import Path

import pytest

from kerasnmt.data import StoryQuestion, read_babi

TWO_STORIES = """\
1 Mary moved to the bathroom.
2 John went to the hallway.
3 Where is Mary? \tbathroom\t1
4 Daniel got the milk and the apple.
5 What is Daniel carrying?\tmilk,apple\t4 1
1 The office is north of the garden.
2 What is north of the garden?\toffice\t
"""
QUESTIONS = [
    StoryQuestion(
        ("Mary moved to the bathroom.", "John went to the hallway."),
        "Where is Mary?",
        "bathroom",
        (0,),
    ),
    StoryQuestion(
        (
            "Mary moved to the bathroom.",
            "John went to the hallway.",
            "Daniel got the milk and the apple.",
        ),
        "What is Daniel carrying?",
        "milk,apple",
        (2, 0),
    ),
    StoryQuestion(
        ("The office is north of the garden.",), "What is north of the garden?", "office", ()
    ),
]


def write(path, content):
    data = content if isinstance(content, bytes) else content.encode()
    path.write_bytes(gzip.compress(data) if path.suffix == ".gz" else data)
    return path


@pytest.mark.parametrize("name", ["a.txt", "a.txt.gz"])
def test_stories_and_questions(tmp_path, name):
    path = write(tmp_path / name, TWO_STORIES)
    assert read_babi(path) == read_babi(str(path)) == QUESTIONS
    assert QUESTIONS[0].texts == (*QUESTIONS[0].story, "Where is Mary?", "bathroom")


def test_line_ends_of_windows_and_no_last_one(tmp_path):
    content = TWO_STORIES.rstrip("\n").replace("\n", "\r\n")
    assert read_babi(write(tmp_path / "a.txt", content)) == QUESTIONS


def test_what_is_written_again_is_read_the_same(tmp_path):
    """Write each question with its own story, in the format of the tasks."""
    lines = []
    for question in QUESTIONS:
        lines += [f"{place} {text}" for place, text in enumerate(question.story, 1)]
        supporting = " ".join(str(place + 1) for place in question.supporting)
        number = len(question.story) + 1
        lines.append(f"{number} {question.question}\t{question.answer}\t{supporting}")
    assert read_babi(write(tmp_path / "a.txt", "\n".join(lines) + "\n")) == QUESTIONS


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"1 One.\n2 M\xfcller.\n", "UTF-8 text. Received: path='.*', whose line 2 is not"),
        ("1 One.\n\n", "Received: a line of another form, path='.*', line 2"),
        ("1 One.\nTwo.\n", "Received: a line of another form, path='.*', line 2"),
        ("1\n", "Received: a line of another form, path='.*', line 1"),
        ("1  \t\t\n", "Received: a line of another form, path='.*', line 1"),
        ("0 One.\n", "Received: a line of another form, path='.*', line 1"),
        (
            "1 One.\n2 Who?\tone\n",
            "Received: a line of another form, path='.*', line 2",
        ),
        (
            "1 One.\n2 Who?\tone\t1\t1\n",
            "Received: a line of another form, path='.*', line 2",
        ),
        ("1 One.\n3 Two.\n", "the ID 2, or 1 for a new story. Received: 3, .*, line 2"),
        ("2 Two.\n", "the ID 1, or 1 for a new story. Received: 2, .*, line 1"),
        ("1 One.\n2 Who?\t \t1\n", "an answer after the question.*, line 2"),
        ("1 One.\n2 Who?\tone\t3\n", "supporting IDs of .*. Received: '3', .*, line 2"),
        ("1 One.\n2 Who?\tone\t1,1\n", "Received: '1,1', path='.*', line 2"),
        # Not a question, a sentence of the previous story, or a later sentence.
        ("1 One.\n2 Who?\tone\t1\n3 Who?\tone\t2\n", "Received: '2', path='.*', line 3"),
        ("1 One.\n2 Two.\n1 Uno.\n2 Who?\tuno\t2\n", "Received: '2', path='.*', line 4"),
        ("1 One.\n2 Two.\n", "at least one line `ID question TAB answer.*path='.*a.txt'"),
        ("", "at least one line. Received: path='.*', which is empty"),
    ],
)
def test_bad_files_are_refused_with_the_line(tmp_path, content, message):
    with pytest.raises(ValueError, match=message) as caught:
        read_babi(write(tmp_path / "a.txt", content))
    assert "\n" not in str(caught.value)


def test_needs_no_tensorflow(tmp_path):
    write(tmp_path / "a.txt", TWO_STORIES)
    script = """
import sys
sys.modules["tensorflow"] = sys.modules["keras"] = None
from kerasnmt.data import read_babi
assert len(read_babi(sys.argv[1])) == 3
"""
    subprocess.run([sys.executable, "-c", script, tmp_path / "a.txt"], check=True)


@pytest.mark.skipif("BABI" not in os.environ, reason="BABI names no folder of published tasks")
def test_the_published_tasks():
    files = sorted(Path(os.environ["BABI"]).glob("*.txt"))
    assert len(files) == 40
    for path in files:
        questions = read_babi(path)
        assert len(questions) == 1000
        assert all(question.supporting for question in questions)
