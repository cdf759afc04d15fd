"""The errors a user can meet. None of them may carry a value of a respondent."""


class DiscreetError(Exception):
    """Any failure that this package reports in words meant for its user."""

    exit_status = 1


class InputError(DiscreetError, ValueError):
    """The data, a declaration or an argument cannot be worked with; the message says what to do."""

    exit_status = 2


class PromiseNotKept(DiscreetError):  # noqa: N818 - the sentence a steward reads, not a technical fault
    """A release does not keep its promise, so it is refused."""


def whole(name: str, value: object, least: int) -> int:
    """A whole number of at least so much (numpy's too), or an error that names the argument."""
    number = None if isinstance(value, bool) or not hasattr(value, "__index__") else value.__index__()
    if not isinstance(number, int):
        raise InputError(f"{name} must be a whole number of at least {least}, not {value!r}")
    if number < least:
        raise InputError(f"{name} must be at least {least}, not {number}")
    return number
