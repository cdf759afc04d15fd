"""A folder that came from somebody else: its jobs are shown, and none of them runs."""

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from playwright.sync_api import Page, expect

REQUEST = 'schema = "discreet/job/1"\ntitle = "Theirs"\nasked = ""\ncommand = ["inspect", "survey.csv"]\n'


def test_jobs_that_came_with_the_folder_are_shown_and_never_run(
    survey: Path, start: Callable[..., Any], page: Page
) -> None:
    job = survey / ".discreet" / "jobs" / "0001"
    job.mkdir(parents=True)
    (job / "request.toml").write_text(REQUEST)
    (job / "state.json").write_text('{"state": "queued"}')
    for mode in (0o755, 0o777):  # where others can write to it the app opens all the same
        (survey / ".discreet").chmod(mode)
        app = start(survey)
        page.goto(app.link)
        page.goto(f"{app.home}/jobs")
        expect(page.get_by_text("unsigned")).to_be_visible()
        expect(page.get_by_text("you have not asked for it here")).to_be_visible()
        time.sleep(2)  # the queue is tended once a second
        assert sorted(path.name for path in job.iterdir()) == ["request.toml", "state.json"]
        app.end()
