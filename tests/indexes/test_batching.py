from __future__ import annotations

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from indexes import batching
from indexes.batching import DocumentChange, batches, conflicts
from tests.indexes.passages import document


def change(key: str, title: str = "甲", articles: int = 1) -> DocumentChange:
    texts = {str(n): f"第{n}条" for n in range(1, articles + 1)}
    return DocumentChange(key, document(title, texts, key=key))


ID = "law:甲@2021-01-01#a1"


def test_an_id_of_another_document_is_refused() -> None:
    refused = conflicts("law", [change("new.md")], {ID: "old.md"})
    assert list(refused) == ["new.md"]
    assert "old.md" in refused["new.md"]


def test_of_two_new_claimants_the_second_is_refused() -> None:
    assert list(conflicts("law", [change("a.md"), change("b.md")], {})) == ["b.md"]


def test_a_document_may_take_over_what_its_owner_gives_up() -> None:
    moved = [change("new.md"), DocumentChange("old.md", None)]
    assert conflicts("law", moved, {ID: "old.md"}) == {}
    renamed = [change("new.md"), change("old.md", title="乙")]
    assert conflicts("law", renamed, {ID: "old.md"}) == {}


def test_a_refused_document_keeps_its_old_passages_against_later_claims() -> None:
    # b wants an id of c (not changing), so b stays as it is and still holds ID: a is refused too.
    taken = {ID: "b.md", "law:乙@2021-01-01#a1": "c.md"}
    refused = conflicts("law", [change("a.md"), change("b.md", title="乙")], taken)
    assert set(refused) == {"a.md", "b.md"}


def test_malformed_documents_are_refused_alone() -> None:
    once = document("丙", {"1": "一"})
    doubled = DocumentChange("c.md", replace(once, passages=once.passages * 2))
    foreign = DocumentChange("d.md", document("丁", {"1": "一"}, domain="local"))
    refused = conflicts("law", [doubled, foreign, change("a.md")], {})
    assert set(refused) == {"c.md", "d.md"}
    assert "twice" in refused["c.md"]
    assert "domain law" in refused["d.md"]


def test_documents_that_exchange_an_id_are_in_one_batch() -> None:
    changes = [
        change("new.md", articles=1500),
        change("x.md", "乙", 1500),
        change("old.md", "丙", 9),
    ]
    made = list(batches(changes, {ID: "old.md"}))
    together = next(b for b in made if any(c.doc_key == "new.md" for c in b))
    assert {"new.md", "old.md"} <= {c.doc_key for c in together}
    assert len(made) == 2


@given(st.lists(st.integers(0, 30), max_size=12))
def test_batches_hold_every_document_once_and_stay_small(sizes: list[int]) -> None:
    changes = [change(f"{n}.md", f"题{n}", size) for n, size in enumerate(sizes)]
    original = batching.BATCH_PASSAGES
    batching.BATCH_PASSAGES = 40
    try:
        made = list(batches(changes, {}))
    finally:
        batching.BATCH_PASSAGES = original
    assert [c.doc_key for batch in made for c in batch] == [c.doc_key for c in changes]
    assert all(sum(len(c.document.passages) for c in b if c.document) <= 40 for b in made)


def test_a_key_that_comes_twice_counts_as_its_last_change() -> None:
    made = list(batches([change("a.md"), DocumentChange("a.md", None)], {}))
    assert made == [[DocumentChange("a.md", None)]]
