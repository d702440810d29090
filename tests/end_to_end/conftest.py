# -*- coding: utf-8 -*-
"""Which of the long ones are left to the slow suite, so that the default one stays under a minute."""

import pytest

_LONG = ("long_tasks_test", "agent_features_test", "last_resort_test", "notes_beside_test", "session_journal_test")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark whole files of this folder as slow."""
    for item in items:
        if item.path.parent.name == "end_to_end" and item.path.stem in _LONG:
            item.add_marker(pytest.mark.slow)
