"""Compare two versions of the weights on what people made of their answers.

``python -m eval.ab A B [--store DIR]``: numbers of weights versions, 0 = the profile's own values.
A session succeeds when one of its passages was clicked, cited or accepted. Look as often as you
like: the p-value stays valid (``eval.sequential``).
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from dataclasses import dataclass

from configs.errors import PolicyFusionError
from configs.settings import load_settings
from eval.sequential import SequentialResult, sequential_test
from fusion.history import Feedback, QueryLog
from fusion.history_recorder import open_history

LEVEL = 0.05


@dataclass(frozen=True, slots=True)
class Outcomes:
    """Per arm whether each session succeeded, by the time of its first query; ``mixed``: sessions
    that met both versions, which count for neither."""

    a: tuple[bool, ...]
    b: tuple[bool, ...]
    mixed: int


def outcomes(queries: Sequence[QueryLog], verdicts: Sequence[Feedback], a: int, b: int) -> Outcomes:
    """Sessions of live queries under version ``a`` or ``b`` (0 = none). Those without a session
    name, and evaluation runs, are left out."""
    liked = {verdict.query_id for verdict in verdicts if verdict.good}
    sessions: dict[str, list[QueryLog]] = {}
    for query in sorted(queries, key=lambda q: q.at):
        if query.session and query.origin == "live":
            sessions.setdefault(query.session, []).append(query)
    found: dict[int, list[bool]] = {a: [], b: []}
    mixed = 0
    for asked in sessions.values():
        met = {query.weights or 0 for query in asked}
        if len(met) > 1 and met & {a, b}:
            mixed += 1
        elif met <= {a, b}:
            found[met.pop()].append(any(query.query_id in liked for query in asked))
    return Outcomes(tuple(found[a]), tuple(found[b]), mixed)


def verdict_of(result: SequentialResult, a: int, b: int) -> str:
    """One line: which version is better, or that nothing is known yet."""
    if result.p_value > LEVEL:
        return f"no difference is proven yet (p = {result.p_value:.4f}); go on"
    better = a if result.rate_a > result.rate_b else b
    return f"version {better} is better (p = {result.p_value:.4f})"


def main(argv: Sequence[str] | None = None) -> int:
    """Print the comparison. 0, or 2 for a user's error."""
    parser = argparse.ArgumentParser(prog="python -m eval.ab", description=__doc__)
    parser.add_argument("a", type=int)
    parser.add_argument("b", type=int)
    parser.add_argument("--config", default=None)
    parser.add_argument("--store", default=None)
    arguments = parser.parse_args(argv)
    if arguments.a == arguments.b:
        parser.error("name two different versions")
    try:
        settings = load_settings(arguments.config)
        if arguments.store is not None:
            settings = settings.with_store(arguments.store)
        history = open_history(settings)
        seen = outcomes(history.queries(), history.verdicts(), arguments.a, arguments.b)
    except PolicyFusionError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    result = sequential_test(seen.a, seen.b)
    for version, sessions in ((arguments.a, seen.a), (arguments.b, seen.b)):
        print(f"version {version}: {sum(sessions)} of {len(sessions)} sessions succeeded")
    print(f"compared: {result.pairs} pairs; {seen.mixed} sessions met both versions")
    print(verdict_of(result, arguments.a, arguments.b))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
