"""Text for people: numbers with their nouns, and names that may hold anything."""

import unicodedata

from hypothesis import given
from hypothesis import strategies as st

from discreet.text import count, entry, printable


def test_one_is_singular_and_all_others_are_plural() -> None:
    assert [count(number, "cell") for number in (0, 1, 2, 1000)] == ["0 cells", "1 cell", "2 cells", "1,000 cells"]
    assert count(2, "class", "classes") == "2 classes"


@given(st.text())
def test_nothing_that_a_terminal_obeys_is_printed(text: str) -> None:
    shown = printable(text)
    assert all(char in "\t\n" or unicodedata.category(char) != "Cc" for char in shown)
    assert not set(shown) & set("\u202e\u2066\u2028\ud800")
    shown.encode("utf-8")
    assert all("\x1b" not in line and "\n" not in line for line in entry("Column", text))


def test_ordinary_text_is_left_as_it_is() -> None:
    assert printable("τ-ARGUS: Größe\tø, 年齢\nnext") == "τ-ARGUS: Größe\tø, 年齢\nnext"
    assert printable("a\x1b[31mb\x9bc\u202ed") == r"a\x1b[31mb\x9bc\u202ed"
