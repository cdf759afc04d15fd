"""Hierarchy files: what is written is what is read, and what is wrong is told with its line."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from discreet.errors import InputError
from discreet.tabular.hierarchy import Hierarchy

CODES = st.text(
    st.characters(exclude_categories=["Cs", "Cc"], exclude_characters="\ufeff"), min_size=1, max_size=6
).filter(lambda code: code.strip() and code == code.rstrip(" \t\r") and code != "Total")


@st.composite
def outlines(draw: st.DrawFn, lead: str) -> list[tuple[int, str]]:
    """Codes with their depth, each at most one level below the one before it."""
    codes = draw(st.lists(CODES.filter(lambda code: not code.startswith(lead)), min_size=1, max_size=12, unique=True))
    outline: list[tuple[int, str]] = []
    for code in codes:
        deepest = outline[-1][0] + 1 if outline else 0
        outline.append((draw(st.integers(0, deepest)), code))
    return outline


def pairs_of(outline: list[tuple[int, str]]) -> dict[str, str]:
    """The code above each code: the last one before it that is less deep."""
    return {
        code: next((above for less, above in outline[:at][::-1] if less < depth), "Total")
        for at, (depth, code) in enumerate(outline)
    }


def put(path: Path, content: str | bytes) -> Path:
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


def refused(path: Path, content: str | bytes, **options: str) -> str:
    with pytest.raises(InputError) as caught:
        Hierarchy.from_hrc(put(path, content), **options)
    return str(caught.value)


@pytest.mark.parametrize("lead", ["@", "->"])
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data(), end=st.sampled_from(["\n", "\r\n", " \n", "\n\n", " \t\r\n"]), mark=st.booleans())
def test_an_outline_is_read_in_its_order(tmp_path: Path, lead: str, data: st.DataObject, end: str, mark: bool) -> None:
    outline = data.draw(outlines(lead))
    text = "".join(lead * depth + code + end for depth, code in outline)
    path = put(tmp_path / "a.hrc", text.encode("utf-8-sig" if mark else "utf-8"))
    read = Hierarchy.from_hrc(path, lead=lead)
    assert read.codes == ("Total", *(code for _, code in outline))
    assert dict(read.pairs()) == pairs_of(outline)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(outline=outlines("@"), total=st.sampled_from(["Total", "all", " T"]))
def test_a_hierarchy_comes_back_from_its_file(tmp_path: Path, outline: list[tuple[int, str]], total: str) -> None:
    pairs = [(code, total if above == "Total" else above) for code, above in pairs_of(outline).items()]
    if total in dict(pairs):
        return
    hierarchy = Hierarchy.from_pairs(pairs, total=total)
    back = Hierarchy.from_hrc(put(tmp_path / "a.hrc", hierarchy.to_hrc()), total=total)
    assert back == hierarchy


def test_codes_that_are_not_in_depth_first_order_keep_their_place(tmp_path: Path) -> None:
    hierarchy = Hierarchy(["Total", "a", "b", "b1", "a1"], [-1, 0, 0, 2, 1])
    text = hierarchy.to_hrc()
    assert text == "a\n@a1\nb\n@b1\n"
    assert Hierarchy.from_hrc(put(tmp_path / "a.hrc", text)) == hierarchy


def test_text_that_is_not_utf8_is_latin_1(tmp_path: Path) -> None:
    assert Hierarchy.from_hrc(put(tmp_path / "a.hrc", "Süd\n@a\x85b\n".encode("latin-1"))).codes == (
        "Total",
        "Süd",
        "a\x85b",
    )


def test_the_end_of_a_text_by_dos_is_no_code(tmp_path: Path) -> None:
    assert Hierarchy.from_hrc(put(tmp_path / "a.hrc", b"a\r\n@b\r\n\x1a")).codes == ("Total", "a", "b")


@pytest.mark.parametrize(
    ("content", "told"),
    [
        ("a\n@@b\n", ["line 2", "the code is 2 levels below"]),
        ("@a\n", ["line 1", "2 levels below"]),
        ("a\n@b\n\nc\n@b\n", ["line 5", "the code is in line 2 already"]),
        ("a\n@\n", ["line 2", "no code"]),
        ("a\n@  \n", ["line 2", "no code"]),
        ("a\nTotal\n", ["line 2", "total"]),
        ("\n  \n\n", ["no code"]),
        ("", ["empty"]),
        ("a\0\n", ["not a text file"]),
    ],
)
def test_what_is_wrong_is_told_with_its_line(tmp_path: Path, content: str, told: list[str]) -> None:
    message = refused(tmp_path / "bad.hrc", content)
    assert all(words in message for words in ["bad.hrc", *told])


def test_a_blank_lead_string_is_refused(tmp_path: Path) -> None:
    assert "lead string" in refused(tmp_path / "a.hrc", "a\n", lead=" ")


def test_the_total_can_have_another_code(tmp_path: Path) -> None:
    path = put(tmp_path / "a.hrc", "Total\n@b\n")
    assert Hierarchy.from_hrc(path, total="All").codes == ("All", "Total", "b")


@pytest.mark.parametrize("code", ["a ", "a\nb", "@a"])
def test_a_code_that_the_file_would_change_is_not_written(code: str) -> None:
    with pytest.raises(InputError, match=r"rename it|choose another"):
        Hierarchy.flat([code]).to_hrc()


def test_the_regions_of_the_reference_data(table_reference: Callable[[str], Path]) -> None:
    region = Hierarchy.from_hrc(table_reference("tau_testW/region2.hrc"))
    assert region.leaves == tuple(f"{number:2}" for number in range(1, 13))
    assert [code for code, above in region.pairs() if above == "Total"] == ["Nr", "Os", "Ws", "Zd"]
