"""The errors a user can meet. None of them may carry a value of a respondent."""


class DiscreetError(Exception):
    """Any failure that this package reports in words meant for its user."""

    exit_status = 1


class InputError(DiscreetError, ValueError):
    """The data, a declaration or an argument cannot be worked with; the message says what to do."""

    exit_status = 2


class PromiseNotKept(DiscreetError):  # noqa: N818 - the sentence a steward reads, not a technical fault
    """A release does not keep its promise, so it is refused."""
