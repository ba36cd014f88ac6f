"""The documents of a store by the names under which they are cited, whatever their dates."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Mapping
from datetime import date
from difflib import get_close_matches

from fusion.lookup import named_documents
from indexes.catalog import PassageCatalog
from indexes.names import NameTable, Target
from indexes.references import Mention, matching_form
from indexes.schema import Passage, PassageId

_SIMILAR = 0.75  # of difflib's ratio: one wrong word in a title of eight characters
_SENTENCE = re.compile(r"[^。；;]+")
# Not the articles of a rule, and not 根据《…》.
_REPEALED = re.compile(r"(?<!根据)(?<!依照)(?<!按照)《([^《》]{2,80})》(?!第|的有关|中的?)")


class StatuteBook:
    """Looks documents up by name; built once from the catalogs as they are. Not thread-safe."""

    def __init__(self, catalogs: Mapping[str, PassageCatalog], aliases: Mapping[str, str]) -> None:
        self._catalogs = dict(catalogs)
        self._titles: dict[str, str] | None = None
        self._repealed: dict[str, list[tuple[str, str]]] | None = None
        self._names = NameTable(named_documents(self._catalogs), aliases, self._repeals())
        self._read: dict[Target, tuple[Passage, ...]] = {}

    def ending(self, text: str) -> str:
        """The longest known name with which ``text`` ends, "" if none."""
        return self._names.ending(text)

    def targets(self, mention: Mention) -> tuple[Target, ...]:
        """The documents that a mention may mean; empty when its name is unknown."""
        numbered = self._names.numbered(mention.name) if mention.is_number else ()
        return numbered or self._names.targets(mention.name)

    def passages(self, target: Target) -> tuple[Passage, ...]:
        """All passages of all versions of a target; articles of attached rules are left out."""
        if target not in self._read:
            catalog = self._catalogs[target.domain]
            if target.doc_key:
                found = catalog.document_passages(target.domain, target.doc_key)
            else:
                found = catalog.find(target.domain, target.title)
            own = tuple(p for p in found if not p.metadata.article or _is_main(p))
            self._read[target] = own or found
        return self._read[target]

    def successor(self, title: str, *, on: str = "", by: date | None = None) -> str:
        """Title of the latest document that repeals ``title`` by name, "" if none does.

        ``on``: it takes effect on just this ISO day; ``by``: on this day or before. A document
        that only repeals articles does not count.
        """
        found = self._repeals().get(_key(title), [])
        fitting = [
            (day, name)
            for day, name in found
            if on in ("", day) and (by is None or day <= by.isoformat())
        ]
        return max(fitting, default=("", ""))[1]

    def similar(self, title: str) -> str:
        """The known title whose spelling is nearest to ``title``, "" if none is near."""
        if self._titles is None:
            documents = (d for name, c in self._catalogs.items() for d in c.documents(name))
            self._titles = {_key(document.title): document.title for document in documents}
        near = get_close_matches(_key(title), self._titles, n=1, cutoff=_SIMILAR)
        return self._titles[near[0]] if near else ""

    def _repeals(self) -> Mapping[str, list[tuple[str, str]]]:
        if self._repealed is None:
            self._repealed = defaultdict(list)
            for domain, catalog in self._catalogs.items():
                for passage in catalog.containing(domain, "废止"):
                    meta = passage.metadata
                    for sentence in _SENTENCE.findall(passage.content):
                        for title in _REPEALED.findall(sentence) if "废止" in sentence else ():
                            if _key(title) != _key(meta.title):
                                entry = (meta.effective or "", meta.title)
                                self._repealed[_key(title)].append(entry)
        return self._repealed


def _key(title: str) -> str:
    return "".join(matching_form(title).split()).removeprefix("中华人民共和国")


def _is_main(passage: Passage) -> bool:
    return PassageId.parse(passage.id).locator.startswith("a")
