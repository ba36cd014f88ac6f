"""One answer in the making: text comes in pieces, goes out checked, and ends with citations."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from configs.settings import SynthesisConfig
from fusion.answer import PolicyAnswer
from fusion.citations import Citation, MarkerFilter, cite_answer
from fusion.confidence import confidence_of
from fusion.coverage import notice
from fusion.hierarchy import hierarchy_notes
from fusion.missing_parts import missing_parts
from fusion.nodes import RankedPassage, RetrievalResult
from fusion.prompts import Packed
from fusion.question_time import asks_for_earlier
from fusion.verification import resolving, verify
from fusion.version_notes import date_note, version_block
from fusion.wording import INSUFFICIENT, excerpts, insufficient, missing_note, reference_notes


class Writing:
    """Collects the text of one answer. Not shared between threads.

    Call ``head`` first, then either ``without_llm`` or ``feed`` … ``end``; every call returns the
    text to show next, and ``answer`` gives the whole. ``question`` is the result's query.
    """

    def __init__(self, result: RetrievalResult, config: SynthesisConfig) -> None:
        self._result = result
        self._config = config
        self._items = result.passages[: config.max_passages]
        self._given: tuple[int, ...] = tuple(range(1, len(self._items) + 1))
        self.confidence = confidence_of(result, self._items)
        missing = bool(result.references) and all(r.missing for r in result.references)
        self.enough = bool(self._items) and self.confidence >= config.min_confidence and not missing
        self._filter = MarkerFilter(self._given)
        self._shown: list[str] = []
        self._said = ""
        self._citations: tuple[Citation, ...] = ()
        self._unverified: tuple[str, ...] = ()
        self._missing: tuple[str, ...] = ()
        self._sufficient = self.enough
        self._trace: dict[str, Any] = {"kind": "extractive"}

    def head(self) -> str:
        """What the reader must know first: the day, domains not consulted, missing articles."""
        result = self._result
        warnings = (
            date_note(result.dated, result.other_versions),
            notice(result.coverage),
            *reference_notes(result.references),
        )
        return self._show("".join(f"{warning}\n" for warning in warnings if warning))

    def without_llm(self, problem: str = "") -> str:
        """The extractive answer, or 资料不足 with what came closest.

        ``problem`` says why a model that should have been asked was not.
        """
        if problem:
            return self.end(problem)
        question, items = self._result.query, self._items
        if self.enough:
            text, self._citations = excerpts(question, items, self._config.max_sentences)
        else:
            self._trace["kind"] = "insufficient"
            text, self._citations = insufficient(question, items, self._result.coverage)
        return self._show(text) + self._closing()

    def start_llm(
        self,
        model: str,
        passages: Sequence[RankedPassage],
        packed: Packed,
        trace: Mapping[str, Any],
    ) -> None:
        """Text of a model follows, which was given those of ``passages`` that are ``packed``.

        ``passages``: the result's own, then those given beside them; ``trace``: how they were
        chosen.
        """
        self._result = replace(self._result, passages=tuple(passages))
        self._given = packed.markers
        self._filter = MarkerFilter(self._given)
        self._trace = {
            "kind": "llm",
            "model": model,
            "passages": packed.count,
            "shortened": packed.shortened,
            **trace,
        }

    def feed(self, piece: str) -> str:
        """The next piece of the model's text, markers checked."""
        return self._say(self._filter.feed(piece))

    def write(self, text: str) -> str:
        """A model's whole text at once: sentences that their passages contradict are left out."""
        text = self._filter.feed(text) + self._filter.flush()
        checked = verify(text, self._result.passages, self._result.query, self._given)
        if dropped := checked.of("unsupported"):
            self._trace["dropped_sentences"] = list(dropped)
        return self._say(checked.supported)

    def end(self, error: str = "") -> str:
        """The end of the model's text, and what is to be said of versions and ranks.

        Where it cannot be relied upon, excerpts follow: when the model failed (``error``), said
        nothing, or marked no source.
        """
        return self._end(error) + self._closing()

    def _end(self, error: str) -> str:
        text = self._say(self._filter.flush())
        self._trace["invented_markers"] = self._filter.invented
        said = self._said.strip()
        self._citations = cite_answer(said, self._result.passages)
        text += self._verified()
        if said.startswith(INSUFFICIENT) and not error:
            self._sufficient = False
            return text
        if not error and not said and "dropped_sentences" not in self._trace:
            error = "empty answer"
        if error:
            self._trace |= {"kind": "extractive", "llm_error": error}
            why = "语言模型中断" if said else "语言模型未能作答"
        elif not self._citations:
            self._trace["uncited"] = True
            dropped = "dropped_sentences" in self._trace and not said
            why = "语言模型的回答与所引资料不符" if dropped else "语言模型没有注明出处"
        else:
            return text
        quoted, citations = excerpts(self._result.query, self._items, self._config.max_sentences)
        both = {c.marker: c for c in (*citations, *self._citations)}
        self._citations = tuple(both[marker] for marker in sorted(both))
        shown = "".join(self._shown)
        between = "\n" if shown and not shown.endswith("\n") else ""
        return text + self._show(f"{between}注意：{why}，以下为检索到的原文摘录。\n{quoted}")

    @property
    def result(self) -> RetrievalResult:
        """What the answer is written from; markers count its passages."""
        return self._result

    def answer(self) -> PolicyAnswer:
        """The whole answer, with fresh nodes."""
        nodes = self._result.nodes
        return PolicyAnswer(
            response="".join(self._shown).strip(),
            source_nodes=nodes,
            metadata={node.node_id: node.node.metadata for node in nodes},
            citations=resolving(self._citations, self._result.passages),
            coverage=self._result.coverage,
            trace=self._whole_trace(),
            sufficient=self._sufficient,
            confidence=self.confidence,
            references=self._result.references,
            unverified=self._unverified,
            other_versions=self._result.other_versions,
            missing=self._missing,
        )

    def _verified(self) -> str:
        """Judge what was said; the remark on sentences that are already shown and do not hold."""
        checked = verify(self._said, self._result.passages, self._result.query, self._given)
        unsupported = checked.of("unsupported")
        self._unverified = checked.of("uncited", "unsupported")
        self._trace["uncited_sentences"] = len(self._unverified) - len(unsupported)
        self._trace["unsupported_sentences"] = len(unsupported)
        remarks = []
        if count := len(self._trace.get("dropped_sentences", ())):
            remarks.append(
                f"注意：略去{count}句，其中的数字、日期、条号、文件名或联系方式在所引资料中没有。"
            )
        if unsupported:
            listed = "".join(f"\n- {sentence}" for sentence in unsupported)
            remarks.append(
                f"注意：下列句子中的数字、日期、条号、文件名或联系方式在所引资料中没有，请勿采信：{listed}"
            )
        return self._show("".join(f"\n{remark}" for remark in remarks))

    def _closing(self) -> str:
        """Parts of the question without a rule; versions out of force, where they were asked for or
        nothing else answers; the ranks."""
        result = self._result
        asked = asks_for_earlier(result.query) or any(
            reference.excluded == "date" for reference in result.references
        )
        versions = version_block(result.other_versions) if asked or not self._sufficient else ""
        ranks: tuple[str, ...] = ()
        if self._sufficient:
            # What only the context window left out is no gap in the material.
            given = (result.passages[n - 1] for n in self._given)
            read = {item.passage.id: item for item in (*given, *self._items)}
            self._missing = missing_parts(result.query, tuple(read.values()))
            items = [(c, result.passages[c.marker - 1]) for c in self._citations]
            ranks = hierarchy_notes(result.query, items)
        doubts = dict.fromkeys(
            note
            for c in self._citations
            for note in (
                result.basis_notes.get(c.title),
                result.place_notes.get(c.id),
                result.amendment_notes.get(c.id),
            )
            if note
        )
        lines = (missing_note(self._missing), *doubts, versions, *ranks)
        text = "\n".join(line for line in lines if line)
        said = "".join(self._shown)
        return self._show(f"{'' if said.endswith(chr(10)) else chr(10)}{text}") if text else ""

    def _whole_trace(self) -> Mapping[str, Any]:
        return {
            "query": self._result.query,
            "retrieval": dict(self._result.trace),
            "synthesis": dict(self._trace),
            "passages": {item.passage.id: dict(item.trace) for item in self._result.passages},
        }

    def _say(self, text: str) -> str:
        self._said += text
        return self._show(text)

    def _show(self, text: str) -> str:
        self._shown.append(text)
        return text
