"""BM25 keyword index of one domain on tantivy: persistent, incremental, filtered.

Scores are Okapi BM25 (Robertson & Zaragoza 2009; k1 = 1.2, b = 0.75, Lucene's idf) over one bag of
title, headings and content, plus ``title_boost`` x BM25 of the title alone and ``heading_boost`` x
BM25 of the headings alone. The sum is divided by the most that the query could reach, so that a
score means the same for a short and a long question: 0 = nothing matches, near 1 = all does.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

import tantivy

from configs.errors import SourceUnavailableError, StoreMismatchError
from configs.settings import KeywordConfig
from indexes.schema import NO_FILTERS, Filters, Hit, Passage, date_int
from indexes.tokenizer import ARTICLE, Tokenizer

K1 = 1.2
MAX_TERMS = 256
"""Query terms that are searched; of a longer question the rarest (most telling) ones."""

OWN_BOOST = 3.0
"""Weight of being the article that the query names."""

_OWN = "own:"  # before the number of the article that a passage is, not only mentions
_FORMAT = "1"
_HEAP = 64_000_000
_TEXT_FIELDS = ("title", "heading", "body")
_Occur = tantivy.Occur
_Query = tantivy.Query


@dataclass(frozen=True, slots=True)
class _Term:
    field: str
    token: str
    boost: float
    weight: float  # boost x idf


class KeywordIndex:
    """Rows of one domain. Searching is safe for threads; one process may write."""

    def __init__(
        self, path: Path, tokenizer: Tokenizer, config: KeywordConfig, *, create: bool = False
    ) -> None:
        """Raises SourceUnavailableError when there is none, StoreMismatchError for another format.

        ``create``: make an empty index when there is none, and allow writing.
        """
        self._tokenizer = tokenizer
        self._boosts = {"title": config.title_boost, "heading": config.heading_boost, "body": 1.0}
        self._stamp = path / "policy-fusion.txt"
        exists = self._stamp.is_file()
        if not exists and not create:
            raise SourceUnavailableError(
                f"{path}: no keyword index; run `policy-fusion ingest {path.name} PATH`"
            )
        if exists and self._stamp.read_text(encoding="utf-8").split()[0] != _FORMAT:
            raise StoreMismatchError(
                f"{path}: keyword index of another release; delete this folder and ingest again"
            )
        path.mkdir(parents=True, exist_ok=True)
        self._schema = _schema()
        self._index = tantivy.Index(self._schema, path=str(path), reuse=True)
        analyzer = tantivy.TextAnalyzerBuilder(tantivy.Tokenizer.whitespace()).build()
        self._index.register_tokenizer("tokens", analyzer)
        self._index.config_reader(reload_policy="manual")
        self._index.reload()
        self._writer = self._index.writer(heap_size=_HEAP, num_threads=1) if create else None
        if not exists:
            self.mark_built()

    @property
    def built_with(self) -> str:
        """``Tokenizer.key`` of the tokens inside; "" when a build was not finished."""
        words = self._stamp.read_text(encoding="utf-8").split()
        return words[1] if len(words) > 1 else ""

    @property
    def tokenizer_key(self) -> str:
        """``Tokenizer.key`` of the tokens that are written now."""
        return self._tokenizer.key

    def mark_built(self) -> None:
        """Note that all rows have the tokens of the present tokenizer."""
        self._stamp.write_text(f"{_FORMAT} {self._tokenizer.key}\n", encoding="utf-8")

    # -- writing ------------------------------------------------------------------------------

    def add(self, rows: Sequence[str], passages: Sequence[Passage]) -> None:
        """Add passages under these row keys; visible after ``commit``."""
        for row, passage in zip(rows, passages, strict=True):
            meta = passage.metadata
            title = self._tokenizer.tokens(" ".join((meta.title, meta.doc_number)))
            heading = self._tokenizer.tokens(" ".join(meta.heading_path))
            own = [f"{_OWN}{meta.article}"] if meta.article else []
            body = [*own, *title, *heading, *self._tokenizer.tokens(passage.readable())]
            document = tantivy.Document()
            document.add_text("id", row)
            for name, tokens in (("title", title), ("heading", heading), ("body", body)):
                document.add_text(name, " ".join(tokens))
            document.add_text("jurisdiction_code", meta.jurisdiction_code)
            flat = meta.to_flat()
            document.add_integer("effective_int", int(flat["effective_int"]))
            document.add_integer("expires_int", int(flat["expires_int"]))
            self._writing().add_document(document)

    def delete_ids(self, rows: Iterable[str]) -> None:
        """Delete rows; unknown ones are ignored. Visible after ``commit``."""
        for row in rows:
            self._writing().delete_documents_by_term("id", row)

    def commit(self) -> None:
        """Make what was added and deleted visible, here at once, elsewhere after ``reload``."""
        self._writing().commit()
        self.reload()

    def rollback(self) -> None:
        """Forget what was added and deleted since the last commit."""
        self._writing().rollback()

    def clear(self) -> None:
        """Delete every row; visible after ``commit``."""
        self._stamp.write_text(f"{_FORMAT}\n", encoding="utf-8")
        self._writing().delete_all_documents()

    def close(self) -> None:
        """Drop what was not committed and let background merges finish."""
        if self._writer is not None:
            writer, self._writer = self._writer, None
            writer.rollback()
            writer.wait_merging_threads()

    def _writing(self) -> tantivy.IndexWriter:
        if self._writer is None:
            raise RuntimeError("this keyword index was opened for reading")
        return self._writer

    # -- reading ------------------------------------------------------------------------------

    def reload(self) -> None:
        """See what another process has committed since."""
        self._index.reload()

    def count(self) -> int:
        """Number of rows."""
        return int(self._index.searcher().num_docs)

    def search(self, query: str, k: int, filters: Filters = NO_FILTERS) -> tuple[Hit, ...]:
        """The ``k`` best rows, best first (ties by row), with scores in (0, 1].

        Empty when no token of the query is known. Any text is safe: nothing in it is an operator.
        """
        searcher = self._index.searcher()
        terms, mass = self._terms(searcher, query)
        limit = min(k, int(searcher.num_docs))
        if not terms or limit < 1:
            return ()
        should = [(_Occur.Should, self._term_query(term)) for term in terms]
        wanted = _Query.boolean_query(should)
        if must := self._conditions(filters):
            wanted = _Query.boolean_query([(_Occur.Must, wanted), *must])
        found = searcher.search(wanted, limit=limit, count=False).hits
        hits = [
            Hit(str(searcher.doc(address)["id"][0]), min(1.0, float(score) / mass))
            for score, address in found
            if score > 0.0
        ]
        return tuple(sorted(hits, key=lambda hit: (-hit.score, hit.id)))

    def idf_mass(self, query: str) -> float:
        """The BM25 sum that a passage would need to reach a score of 1 for this query."""
        return self._terms(self._index.searcher(), query)[1]

    def present(self, rows: Sequence[str]) -> set[str]:
        """Those of the rows that the index holds."""
        if not rows:
            return set()
        searcher = self._index.searcher()
        query = _Query.term_set_query(self._schema, "id", list(rows))
        found = searcher.search(query, limit=2 * len(rows), count=False).hits
        return {str(searcher.doc(address)["id"][0]) for _, address in found}

    def all_ids(self) -> list[str]:
        """Every row, in no order."""
        searcher = self._index.searcher()
        total = int(searcher.num_docs)
        if not total:
            return []
        found = searcher.search(_Query.all_query(), limit=total, count=False).hits
        return [str(searcher.doc(address)["id"][0]) for _, address in found]

    def _terms(self, searcher: tantivy.Searcher, query: str) -> tuple[list[_Term], float]:
        """The terms to search, and the query's greatest attainable BM25 sum.

        A token that no passage has counts towards the sum: a question the domain knows half of
        cannot reach more than half.
        """
        total = int(searcher.num_docs)
        terms: list[_Term] = []
        mass = 0.0
        tokens = self._tokenizer.tokens(query)
        tokens += [_OWN + t.removeprefix(ARTICLE) for t in tokens if t.startswith(ARTICLE)]
        for token in dict.fromkeys(tokens):
            for name in _TEXT_FIELDS:
                boost = self._boosts[name] * (OWN_BOOST if token.startswith(_OWN) else 1.0)
                frequency = int(searcher.doc_freq(name, token)) if boost else 0
                if frequency or name == "body":
                    idf = math.log(1.0 + max(total - frequency + 0.5, 0.5) / (frequency + 0.5))
                    mass += boost * idf * (K1 + 1.0)
                    if frequency:
                        terms.append(_Term(name, token, boost, boost * idf))
        terms.sort(key=lambda term: (-term.weight, term.token, term.field))
        return terms[:MAX_TERMS], mass

    def _term_query(self, term: _Term) -> tantivy.Query:
        query = _Query.term_query(self._schema, term.field, term.token, "freq")
        return query if term.boost == 1.0 else _Query.boost_query(query, term.boost)

    def _conditions(self, filters: Filters) -> list[tuple[tantivy.Occur, tantivy.Query]]:
        conditions = []
        if filters.jurisdictions is not None:
            codes = sorted(filters.jurisdictions)
            allowed = _Query.term_set_query(self._schema, "jurisdiction_code", codes)
            conditions.append(allowed)
        if filters.as_of is not None:
            day = date_int(filters.as_of, 0)
            integer = tantivy.FieldType.Integer
            conditions += [
                _Query.range_query(self._schema, "effective_int", integer, None, day),
                _Query.range_query(
                    self._schema, "expires_int", integer, day, None, include_lower=False
                ),
            ]
        return [(_Occur.Must, _Query.const_score_query(c, 0.0)) for c in conditions]


def _schema() -> tantivy.Schema:
    builder = tantivy.SchemaBuilder()
    builder.add_text_field("id", stored=True, tokenizer_name="raw", index_option="basic")
    for name in _TEXT_FIELDS:
        builder.add_text_field(name, tokenizer_name="tokens", index_option="freq")
    builder.add_text_field("jurisdiction_code", tokenizer_name="raw", index_option="basic")
    for name in ("effective_int", "expires_int"):
        builder.add_integer_field(name, indexed=True, fast=True)
    return builder.build()
