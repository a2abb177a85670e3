"""Plugin of pytest that prints the CPU seconds of the ten slowest files."""

import os
import sys
from collections import Counter

import pytest


class SlowestFiles:
    """Sum the CPU seconds of each file, including the Python processes that its tests start.

    A child process counts when it has ended and its parent has waited for it. The time in which
    pytest imports the files is not counted.
    """

    def __init__(self):
        self.seconds = Counter()
        self.processes = Counter()
        self._started = self._seen = 0
        self._before = 0.0
        sys.addaudithook(self._audit)

    def _audit(self, event, arguments):
        if event == "subprocess.Popen" and str(arguments[0]) == sys.executable:
            self._started += 1

    def pytest_collection_finish(self):
        self._before = cpu_seconds()

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_makereport(self):
        report = yield
        now = cpu_seconds()
        # With pytest-xdist, the report and its attributes are sent to the process that counts.
        report.cpu_seconds, self._before = now - self._before, now
        report.processes, self._seen = self._started - self._seen, self._started
        return report

    def pytest_runtest_logreport(self, report):
        file = report.nodeid.partition("::")[0]
        # The report of a crashed worker does not come from `pytest_runtest_makereport`.
        self.seconds[file] += vars(report).get("cpu_seconds", 0.0)
        self.processes[file] += vars(report).get("processes", 0)

    def pytest_terminal_summary(self, terminalreporter):
        terminalreporter.section("ten slowest files, CPU seconds, Python processes")
        for file, seconds in self.seconds.most_common(10):
            terminalreporter.line(f"{seconds:6.1f} {self.processes[file]:3}  {file}")
        seconds, processes = self.seconds.total(), self.processes.total()
        terminalreporter.line(f"{seconds:6.1f} {processes:3}  all {len(self.seconds)} files")


def cpu_seconds():
    return sum(os.times()[:4])
