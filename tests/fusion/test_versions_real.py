"""No repealed or coming version is ever taken for a current one: every multi-version document.

Exhaustive over the real corpora's documents that exist in several versions, for days before,
between, on and after their turning points.
"""

from __future__ import annotations

import re
import shutil
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date, timedelta
from pathlib import Path

import pytest

from fusion.nodes import RankedPassage, RetrievalResult
from fusion.other_versions import OtherVersions, read_succession
from indexes.catalog import PassageCatalog
from indexes.schema import Filters, Passage
from indexes.succession import Succession, Version, plain_title
from ingest.pipeline import ingest
from tests.fakes import FakeEmbedder
from tests.fusion.fake_sources import settings

DOMAINS = ("law", "fiscal", "local")
TODAY = date(2026, 1, 1)
_DAY = re.compile(r"\(\d{4}-\d\d-\d\d\)$")
_SHORT = 2_000  # characters: enough for the head and the first articles, and soon ingested


@dataclass(frozen=True)
class Store:
    catalogs: dict[str, PassageCatalog]
    known: Succession
    titles: dict[tuple[str, str], list[Version]]
    first: dict[Version, Passage]


@pytest.fixture(scope="module")
def store(shared_data: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    root = tmp_path_factory.mktemp("real")
    made = settings(store={"dir": str(root / "store")})
    for domain in DOMAINS:
        corpus = shared_data / "corpus" / domain
        groups: dict[str, list[Path]] = defaultdict(list)
        for file in sorted(corpus.rglob("*.md")):
            groups[_DAY.sub("", file.stem)].append(file)
        for files in groups.values():
            for file in files if len(files) > 1 else ():
                target = root / domain / file.relative_to(corpus)
                target.parent.mkdir(parents=True, exist_ok=True)
                if file.stat().st_size <= 3 * _SHORT:
                    shutil.copyfile(file, target)
                else:
                    text = file.read_text(encoding="utf-8")
                    # The tail may repeal; the middle of a long law says nothing of its days.
                    text = f"{text[:_SHORT]}\n\n{text[-800:].partition(chr(10))[2]}"
                    target.write_text(text, encoding="utf-8")
        ingest(
            made,
            domain,
            [root / domain],
            embedder=FakeEmbedder(),
            clock=lambda: TODAY,
            progress=False,
        )
    catalog = PassageCatalog(root / "store" / "catalog.sqlite")
    catalogs = dict.fromkeys(DOMAINS, catalog)
    known = read_succession(catalogs)
    titles: dict[tuple[str, str], list[Version]] = defaultdict(list)
    first: dict[Version, Passage] = {}
    for domain in DOMAINS:
        for _, passage in catalog.first_passages(domain):
            version = known.of(passage.id)
            assert version is not None
            meta = passage.metadata
            titles[plain_title(meta.title), meta.jurisdiction_code].append(version)
            first[version] = passage
    several = {key: group for key, group in titles.items() if len(group) > 1}
    yield Store(catalogs, known, several, first)
    catalog.close()


def turning_days(versions: list[Version]) -> list[date]:
    stated = {
        date.fromisoformat(day)
        for version in versions
        for day in (version.metadata.effective, version.metadata.expires)
        if day
    }
    near = {day + timedelta(days=shift) for day in stated for shift in (-1, 0, 1)}
    return sorted({*near, date(1949, 10, 1), date(2040, 1, 1)})


def test_on_no_day_do_two_versions_of_one_title_apply(store: Store) -> None:
    assert len(store.titles) > 50
    for title, versions in store.titles.items():
        dated = [v for v in versions if v.metadata.effective]
        for day in turning_days(versions):
            valid = {v.metadata.effective for v in dated if v.metadata.in_force_on(day)}
            assert len(valid) <= 1, (title, day)


def test_the_catalog_admits_only_the_version_of_the_day(store: Store) -> None:
    for versions in store.titles.values():
        ids = {store.first[v].id: v for v in versions}
        catalog = store.catalogs[versions[0].domain]
        for day in turning_days(versions):
            valid = {id for id, v in ids.items() if v.metadata.in_force_on(day)}
            assert catalog.admitted(ids, Filters(as_of=day)) == valid


def test_every_version_that_ended_names_a_successor_that_applied_then(store: Store) -> None:
    for versions in store.titles.values():
        for version in versions:
            later = [
                v
                for v in versions
                if (v.metadata.effective or "") > (version.metadata.effective or "9")
            ]
            after = store.known.successor(version)
            assert (after is None) == (not later), version.metadata.title
            if after is not None:
                assert after.metadata.effective == version.metadata.expires
                assert not version.metadata.in_force_on(
                    date.fromisoformat(after.metadata.effective or "")
                )


def test_what_stands_apart_never_applies_and_says_why(store: Store) -> None:
    finder = OtherVersions({}, store.catalogs)
    apart = 0
    for title, versions in store.titles.items():
        for day in turning_days(versions):
            valid = [store.first[v] for v in versions if v.metadata.in_force_on(day)]
            ranked = tuple(RankedPassage(passage, 1.0) for passage in valid)
            found = finder.apply(RetrievalResult(title[0], ranked, ()), Filters(as_of=day))
            assert found.passages == ranked
            for other in found.other_versions:
                meta = other.passage.metadata
                assert not meta.in_force_on(day)
                coming = bool(meta.effective and meta.effective > day.isoformat())
                assert (other.status == "not_yet") == coming
                if other.status == "amended":
                    assert other.successor is not None
                    assert (other.successor.effective or "") <= day.isoformat()
                apart += 1
    assert apart > 100
