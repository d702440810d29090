# -*- coding: utf-8 -*-
"""The figures as tables in Markdown."""

from collections.abc import Mapping, Sequence

from ._cases import DataSet
from ._scores import METRICS, Outcome, mean_scores

__all__ = ["described", "table"]


def described(data: DataSet) -> str:
    """How large a data set is."""
    memories = sum(len(each.memories) for each in data.conversations)
    questions = sum(len(each.questions) for each in data.conversations)
    left_out = f"; {data.unlabelled} without a text that answers them are left out" if data.unlabelled else ""
    return (
        f"{data.name}: {len(data.conversations)} workspaces, {memories} texts kept as {data.kind}, "
        f"{questions} questions{left_out}."
    )


def table(rows: Mapping[str, Sequence[Outcome]]) -> str:
    """One row a system: all metrics, and the recall of ten for each category."""
    categories = sorted({each.category for outcomes in rows.values() for each in outcomes if each.category})
    heads = ["", *METRICS, *(f"R@10: {category}" for category in categories)]
    lines = [f"| {' | '.join(heads)} |", "|---" * len(heads) + "|"]
    for name, outcomes in rows.items():
        means = mean_scores(outcomes)
        parts = [
            mean_scores([each for each in outcomes if each.category == category])["R@10"] for category in categories
        ]
        figures = [means[metric] for metric in METRICS] + parts
        lines.append(f"| {name} | {' | '.join(f'{figure:.3f}' for figure in figures)} |")
    return "\n".join(lines)
