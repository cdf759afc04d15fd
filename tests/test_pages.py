"""The harness of the manual sees what is wrong; a manual that passes it because nothing runs would prove nothing."""

import textwrap
from pathlib import Path

import pytest

import wrap
from links import broken, links, navigation
from pages import ExampleError, blocks, commands, difference, matches, run


def _run(text: str, folder: Path) -> None:
    page = folder / "page.md"
    page.write_text(textwrap.dedent(text), encoding="utf-8")
    run(page, folder)


RIGHT = """
    # A page

    ```console
    $ echo one; echo two >&2
    one
    two
    $ printf 'data' > made.txt
    $ echo a \\
    >   b
    a b

    $ echo "$COLUMNS $NO_COLOR $TERM"
    100 1 dumb
    ```

    ```python
    from pathlib import Path

    text = Path("made.txt").read_text()
    ```

    ```pycon
    >>> text
    'data'
    >>> length = len(text)
    ```

    ```python
    assert length == 4
    ```

    ```sh
    exit 1; this is not run
    ```
"""


def test_a_right_page_passes(tmp_path: Path) -> None:
    _run(RIGHT, tmp_path)
    assert (tmp_path / "made.txt").exists()


@pytest.mark.parametrize(
    ("true", "wrong"),
    [
        ("    one\n", "    won\n"),
        ("    two\n", ""),
        ("    100 1 dumb\n", "    100 1 dumb\n    more\n"),
        ("'data'\n", "'date'\n"),
    ],
)
def test_wrong_output_fails(true: str, wrong: str, tmp_path: Path) -> None:
    assert true in RIGHT
    with pytest.raises(ExampleError):
        _run(RIGHT.replace(true, wrong, 1), tmp_path)


def test_a_failing_python_block_fails_at_its_line(tmp_path: Path) -> None:
    with pytest.raises(AssertionError) as caught:
        _run("\n```python\nx = 1\nassert x == 2\n```\n", tmp_path)
    assert caught.traceback[-1].lineno == 3


def test_a_failure_names_page_line_and_difference(tmp_path: Path) -> None:
    with pytest.raises(ExampleError) as caught:
        _run("# Title\n\n```console\n$ true\n$ echo yes\nno\n```\n", tmp_path)
    told = str(caught.value).splitlines()
    assert told[0] == "page.md:5: $ echo yes"
    assert told[-2:] == ["-no", "+yes"]


def test_three_dots_do_not_hide_a_crash(tmp_path: Path) -> None:
    with pytest.raises(ExampleError, match="crashed"):
        _run("```console\n$ python -c 1/0\n...\n```\n", tmp_path)


def test_a_console_block_without_a_command_fails(tmp_path: Path) -> None:
    with pytest.raises(ExampleError, match="begins with"):
        _run("```console\ndiscreet protect\n```\n", tmp_path)


def test_programs_of_the_environment_come_first(tmp_path: Path) -> None:
    _run('```console\n$ python -c "import pytest; print(pytest.__name__)"\npytest\n```\n', tmp_path)


@pytest.mark.parametrize(
    ("expected", "printed", "same"),
    [
        ("a\nb", "a  \nb\n\n", True),
        ("a\n...\nd", "a\nb\nc\nd\n", True),
        ("a\n...\nd", "a\nd\n", True),
        ("a\n...\nd", "a\nb\n", False),
        ("...", "", True),
        ("took … s", "took 1.25 s\n", True),
        ("took … s", "took 1.25 ms\n", False),
        ("a…b", "a\nb\n", False),
        ("1.5 (x)", "1x5 (x)", False),
        ("", "", True),
        ("", "more", False),
    ],
)
def test_masks(expected: str, printed: str, same: bool) -> None:
    assert matches(expected, printed) is same


def test_a_difference_leaves_masked_lines_alone() -> None:
    shown = difference("took … s\nright", "took 3 s\nwrong").splitlines()
    assert shown[3:] == [" took … s", "-right", "+wrong"]


def test_blocks_in_lists_and_longer_fences() -> None:
    text = "````markdown\n```console\n$ no\n```\n````\n\n- item\n\n"
    text += "    ```{.console title='x'}\n    $ yes\n      in\n    ```\n"
    first, second = blocks(text)
    assert first.language == "markdown"
    assert (second.language, second.text, second.line) == ("console", "$ yes\n  in", 10)
    assert list(commands(second)) == [(10, "yes", "  in")]


def test_a_block_with_a_title_is_written_and_not_run(tmp_path: Path) -> None:
    _run(
        '```python title="made.py"\nraise SystemExit\n```\n\n```console\n$ cat made.py\nraise SystemExit\n```\n',
        tmp_path,
    )


def test_links_of_all_kinds_are_found() -> None:
    text = (
        '[a](one.md "Title") ![b](two.png) [![c](three.png)](four.md#x) [d][ref]\n\n[ref]: five.md\n'
        '<img src="six.svg">\n`[e](code.md)`\n\n```text\n[f](code.md)\n```\n\n[g](seven.md)\n'
    )
    assert sorted(links(text)) == sorted(
        ["one.md", "two.png", "three.png", "four.md#x", "five.md", "six.svg", "seven.md"]
    )


def test_broken_links_are_found(tmp_path: Path) -> None:
    (tmp_path / "docs").mkdir()
    (tmp_path / "outside.md").touch()
    (tmp_path / "docs" / "there is.md").touch()
    page = tmp_path / "docs" / "page.md"
    page.write_text("[a](there%20is.md#part) [b](https://example.org/x) [c](#part) [d](gone.md) [e](../outside.md)")
    assert broken(page, tmp_path / "docs") == ["gone.md", "../outside.md"]


def test_navigation_is_read_at_every_depth(tmp_path: Path) -> None:
    config = tmp_path / "zensical.toml"
    config.write_text(
        '[project]\nnav = ["a.md", {"B" = "b.md"}, {"C" = [{"D" = "c/d.md"}, "c/e.md", "https://x.org"]}]'
    )
    assert navigation(config) == ["a.md", "b.md", "c/d.md", "c/e.md"]


@pytest.mark.parametrize(
    "text",
    [
        "# " + "heading " * 30,
        "| " + "cell " * 40 + "|",
        "```text\n" + "code " * 40 + "\n```",
        "    ```sh\n    " + "code " * 40 + "\n    ```",
        "short\n\n- item\n\n    more of it",
    ],
)
def test_what_is_no_prose_is_not_wrapped(text: str) -> None:
    assert wrap.wrap(text).split() == text.split()
    assert wrap.wrap(text) == text.rstrip() + "\n"


def test_prose_is_filled_and_keeps_its_words() -> None:
    text = "1. " + "word " * 30 + "`a span of code`\n   - 2 " * 5 + "\n\n`term`\n:   " + "said " * 40
    filled = wrap.wrap(text)
    assert filled.split() == text.split()
    assert wrap.too_long(filled) == []
    assert filled.count("`a span of code`") == 5
    assert wrap.wrap(filled) == filled


def test_a_line_of_prose_that_is_too_long_is_found() -> None:
    long = "word " * 30
    assert wrap.too_long(f"short\n{long}\n```\n{long}\n```\n| {long} |\n{long}") == [2, 7]
