"""Small stores cut out of a large one: what they hold, and which questions they answer."""

from __future__ import annotations

from pathlib import Path

from configs.settings import Settings
from eval.datasets import Gold, Question
from eval.small_stores import FILE, Titled, answering_documents, build, draw
from fusion.nodes import RankedPassage
from indexes.catalog import PassageCatalog
from indexes.store_layout import StoreLayout
from indexes.writer import DocumentChange, DomainWriter
from tests.fakes import FakeEmbedder
from tests.indexes.passages import document, store_settings


def question(number: int, title: str) -> Question:
    gold = (Gold(domain="law", title=title, article="1"),)
    return Question(id=f"q{number}", key=f"q{number}", query=f"问题{number}", gold=gold, file="a")


DOCUMENTS = [Titled(("law", f"f{n}.md"), f"规则{n}（虚构示例）") for n in range(60)]
QUESTIONS = [question(n, f"规则{n}（虚构示例）") for n in range(60)]
ANSWERS = {f"q{n}": frozenset({("law", f"f{n}.md")}) for n in range(60)}


def test_a_question_keeps_its_gold_exactly_where_its_document_is_there() -> None:
    sample = draw(QUESTIONS, ANSWERS, DOCUMENTS, 3)
    there = {key for _, key in sample.documents}
    assert 10 <= len(there) <= 20
    assert {original for _, original in sample.questions} == {q.key for q in QUESTIONS}
    for asked, original in sample.questions:
        assert bool(asked.gold) == (f"f{original[1:]}.md" in there)
        assert (asked.key, asked.file) == (f"{original}@3", FILE)


def test_a_question_whose_rule_is_there_in_another_version_is_not_asked() -> None:
    documents = [Titled(("law", f"f{n}.md"), "同一规则（虚构示例）") for n in range(60)]
    sample = draw(QUESTIONS, ANSWERS, documents, 0)
    assert sample.questions
    assert all(asked.gold for asked, _ in sample.questions)


def test_a_question_of_unknown_answer_is_not_asked() -> None:
    answers = {**ANSWERS, "q7": frozenset[tuple[str, str]]()}
    for number in range(5):
        originals = {key for _, key in draw(QUESTIONS, answers, DOCUMENTS, number).questions}
        assert "q7" not in originals


def test_the_same_number_and_seed_give_the_same_store() -> None:
    assert draw(QUESTIONS, ANSWERS, DOCUMENTS, 1) == draw(QUESTIONS, ANSWERS, DOCUMENTS, 1)
    assert draw(QUESTIONS, ANSWERS, DOCUMENTS, 1) != draw(QUESTIONS, ANSWERS, DOCUMENTS, 2)
    assert draw(QUESTIONS, ANSWERS, DOCUMENTS, 1) != draw(QUESTIONS, ANSWERS, DOCUMENTS, 1, seed=1)


def test_a_small_store_holds_its_documents_whole_and_embeds_nothing(tmp_path: Path) -> None:
    large = only_law(store_settings(tmp_path / "large"))
    made = [
        document(f"规则{n}", {"1": f"第{n}号规则的内容。", "2": f"第{n}号罚则。"}) for n in range(3)
    ]
    with DomainWriter.open(large, "law", FakeEmbedder()) as writer:
        writer.apply([DocumentChange(one.key, one) for one in made])
    catalog = PassageCatalog(StoreLayout(Path(large.store.dir)).catalog)
    right = made[2].passages[0]
    found = [(question(2, "规则2"), [RankedPassage(right, 1.0, {})])]
    answers = answering_documents(found, catalog)
    assert answers == {"q2": frozenset({("law", made[2].key)})}

    embedder = FakeEmbedder()
    small = large.with_store(tmp_path / "small")
    titles = [Titled(("law", one.key), one.title) for one in made]
    sample = draw([found[0][0]], answers, titles[2:], 0)
    cache = StoreLayout(Path(large.store.dir)).embeddings
    build(sample, catalog, cache, small, {"law": embedder})
    copied = PassageCatalog(StoreLayout(Path(small.store.dir)).catalog)
    assert [p for _, p in copied.passages("law")] == list(made[2].passages)
    assert copied.document_text("law", made[2].key) == made[2].text
    assert embedder.texts == []
    copied.close()
    catalog.close()


def only_law(settings: Settings) -> Settings:
    return settings.model_copy(update={"domains": {"law": settings.domains["law"]}})
