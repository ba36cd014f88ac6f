"""Small stores cut out of a large one, with the questions that they answer and others.

The judge of answerability shall hold in a store of fifty documents, too: there the best passage of
an unanswerable question stands further off, and fewer rivals stand beside the right one.
"""

from __future__ import annotations

import random
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from configs.settings import Settings
from eval.datasets import Question
from eval.relevance import relevant
from eval.training import candidates
from fusion.nodes import RankedPassage
from indexes.batching import DocumentChange
from indexes.catalog import PassageCatalog
from indexes.embeddings import TextEmbedder, load_embedder
from indexes.schema import Document
from indexes.store_layout import StoreLayout
from indexes.writer import DomainWriter

FILE = "small stores"
GOLD_DOCUMENTS = 10  # a domain and store: documents that answer some question
OTHER_DOCUMENTS = 10  # a domain and store: any documents
QUESTIONS = 60  # a store and kind

Key = tuple[str, str]  # domain, document key
Found = tuple[Question, Sequence[RankedPassage]]


@dataclass(frozen=True, slots=True)
class Titled:
    """A document of the large store."""

    key: Key
    title: str


@dataclass(frozen=True, slots=True)
class Sample:
    """The documents of one small store, and (question, its original's key) asked of it; those that
    it does not answer have an empty gold."""

    documents: tuple[Key, ...]
    questions: tuple[tuple[Question, str], ...]


def answering_documents(
    found: Iterable[Found], catalog: PassageCatalog
) -> dict[str, frozenset[Key]]:
    """Question key -> the documents whose passages, as far as they were found, answer it."""
    answers = {}
    for question, items in found:
        passages = [item.passage for item in items]
        right = [p for p, yes in zip(passages, relevant(question, passages), strict=True) if yes]
        keys: set[Key] = set()
        for domain in {p.source for p in right}:
            owners = catalog.owners(domain, [p.id for p in right if p.source == domain])
            keys |= {(domain, key) for key in owners.values()}
        answers[question.key] = frozenset(keys)
    return answers


def draw(
    questions: Sequence[Question],
    answers: Mapping[str, frozenset[Key]],
    documents: Sequence[Titled],
    number: int,
    seed: int = 0,
) -> Sample:
    """The ``number``-th small store. A question counts as unanswered only where no document of the
    title that answers it is there, in whatever version."""
    rng = random.Random(f"{seed}:{number}")
    titles = {one.key: one.title for one in documents}
    golds = frozenset[Key]().union(*answers.values())
    chosen: set[Key] = set()
    for domain in sorted({one.key[0] for one in documents}):
        every = sorted(one.key for one in documents if one.key[0] == domain)
        right = [key for key in every if key in golds]
        chosen.update(rng.sample(right, min(GOLD_DOCUMENTS, len(right))))
        chosen.update(rng.sample(every, min(OTHER_DOCUMENTS, len(every))))
    there = {titles[key] for key in chosen}
    asked = sorted((q for q in questions if answers.get(q.key)), key=lambda q: q.key)
    yes = [q for q in asked if answers[q.key] & chosen]
    no = [q for q in asked if not there & {titles[key] for key in answers[q.key]}]
    picked = [
        (_renamed(q, number, kind), q.key)
        for group, kind in ((yes, True), (no, False))
        for q in rng.sample(group, min(QUESTIONS, len(group)))
    ]
    return Sample(tuple(sorted(chosen)), tuple(picked))


def small_store_candidates(
    settings: Settings,
    found: Sequence[Found],
    count: int,
    embedders: Mapping[str, TextEmbedder] | None = None,
    seed: int = 0,
) -> list[tuple[Question, Sequence[RankedPassage], str]]:
    """Per question asked of ``count`` small stores: it, what fusion finds, its original's key.

    ``settings`` names the large store, ``found`` is what it gave for the questions.
    """
    layout = StoreLayout(Path(settings.store.dir))
    catalog = PassageCatalog(layout.catalog)
    answers = answering_documents(found, catalog)
    documents = [
        Titled((domain, document.doc_key), document.title)
        for domain in settings.domains
        for document in catalog.documents(domain)
    ]
    models = {
        name: (embedders or {}).get(name) or load_embedder(domain.embedding, settings.models_dir)
        for name, domain in settings.domains.items()
    }
    questions = [question for question, _ in found]
    rows: list[tuple[Question, Sequence[RankedPassage], str]] = []
    with tempfile.TemporaryDirectory(prefix="policy-fusion-") as folder:
        for number in range(count):
            sample = draw(questions, answers, documents, number, seed)
            placed = settings.with_store(Path(folder) / str(number))
            build(sample, catalog, layout.embeddings.resolve(), placed, models)
            asked = [question for question, _ in sample.questions]
            of_them = candidates(placed, None, asked, embedders=models)
            for (question, items), (_, original) in zip(of_them, sample.questions, strict=True):
                rows.append((question, items, original))
    catalog.close()
    return rows


def build(
    sample: Sample,
    large: PassageCatalog,
    cache: Path,
    settings: Settings,
    embedders: Mapping[str, TextEmbedder],
) -> None:
    """Write the store that ``settings`` names; vectors come from ``cache``, the large store's."""
    layout = StoreLayout(Path(settings.store.dir))
    layout.create()
    layout.embeddings.symlink_to(cache)
    for domain in settings.domains:
        changes = [
            DocumentChange(key, _document(large, domain, key))
            for own, key in sample.documents
            if own == domain
        ]
        with DomainWriter.open(settings, domain, embedders[domain]) as writer:
            refused = writer.conflicts(changes)
            writer.apply([change for change in changes if change.doc_key not in refused])


def _renamed(question: Question, number: int, answered: bool) -> Question:
    changes = {
        "key": f"{question.key}@{number}",
        "file": FILE,
        "gold": question.gold if answered else (),
    }
    return question.model_copy(update=changes)


def _document(catalog: PassageCatalog, domain: str, key: str) -> Document:
    passages = catalog.document_passages(domain, key)
    first = passages[0]
    return Document(
        domain,
        key,
        first.metadata.title,
        first.metadata.version,
        catalog.document_text(domain, key) or "",
        passages,
    )
