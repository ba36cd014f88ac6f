"""Vector store and keyword index of a domain made anew from the catalog, beside the old ones."""

from __future__ import annotations

import time
from collections.abc import Callable
from itertools import islice

from indexes.writer import PAGE, DomainWriter

NEW, OLD = "-rebuild", "-replaced"


def rebuild_indexes(
    writer: DomainWriter,
    on_written: Callable[[int, int], None],
    *,
    grace_s: float,
    sleep: Callable[[float], None] = time.sleep,
) -> int:
    """Write every passage of the catalog anew, then switch; the number of passages.

    Searches go on in the old indexes until the switch: the new vectors are in a collection of their
    own, the keyword index becomes visible in one commit. After the switch the old collection stays
    for ``grace_s`` seconds, in which readers open the new one. Killed before the switch, the old
    indexes stay; the next writer makes the keyword index anew. ``on_written(done, total)``. Vectors
    come from the embedding cache; what it lacks is embedded.
    """
    total = writer.catalog.count(writer.domain)
    fresh = writer.beside(NEW)
    fresh.plan_saves(total)
    writer.keyword.rollback()
    writer.keyword.clear()
    done = 0
    pages = writer.catalog.passages(writer.domain)
    while page := list(islice(pages, PAGE)):
        texts = [passage.embedding_text() for _, passage in page]
        vectors = writer.cache.embed(writer.embedder, texts)
        writer.write_dense(page, vectors, fresh)
        writer.keyword.add([row for row, _ in page], [passage for _, passage in page])
        done += len(page)
        on_written(done, total)
    writer.switch_dense(fresh, OLD)
    writer.keyword.commit()
    writer.keyword.mark_built()
    writer.catalog.touch(writer.domain)
    sleep(grace_s)
    writer.drop(fresh)
    return done
