"""The synthesizer with a real model behind a real server. All rules are 虚构示例.

The model is far too small to obey; what counts is that its words arrive, that limits hold, and that
whatever it says, the answer stays checked and cited.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from typing import Any

import pytest
from llama_index.core.prompts import PromptTemplate

from configs.settings import LLMConfig, SynthesisConfig
from fusion.answer import PolicyAnswer, PolicyStream
from fusion.llm import build_llm
from fusion.nodes import RankedPassage, RetrievalResult
from fusion.synthesizer import PolicySynthesizer
from tests.fusion.fake_sources import passage
from tests.fusion.local_llm import CONTEXT, missing
from tests.policy_fusion.commands import REPO, environment

pytestmark = [pytest.mark.slow]

RULE = passage("law", "Parking rule (虚构示例)", "2", "Parking is free for 30 minutes.")
OTHER = passage("law", "Road rule (虚构示例)", "1", "Roads are kept clear of snow.")
FOUND = RetrievalResult(
    "How long is parking free?", (RankedPassage(RULE, 0.9), RankedPassage(OTHER, 0.8)), ()
)
TEMPLATE = "Sources:\n{context}\n\nQuestion: {query_str}\nAnswer in one sentence and end with [1]:"
TOKENS = 24


@pytest.fixture(scope="module")
def base() -> Iterator[str]:
    if reason := missing():
        pytest.skip(reason)
    process = subprocess.Popen(
        [sys.executable, "-m", "tests.fusion.local_llm"],
        cwd=REPO, env=environment(), encoding="utf-8",
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
    )  # fmt: skip
    assert process.stdout is not None
    address = process.stdout.readline().strip()
    assert address.startswith("http://127.0.0.1:"), "the server did not start"
    yield f"{address}/v1"
    process.kill()
    process.wait()


def synthesizer(base: str, **options: Any) -> PolicySynthesizer:
    known = {
        "api_base": base, "model": "smollm2", "max_tokens": TOKENS, "max_retries": 0,
        "context_window": CONTEXT, "timeout_s": 60, **options,
    }  # fmt: skip
    config = LLMConfig.model_validate(known)
    made = PolicySynthesizer(SynthesisConfig(llm=config), build_llm(config))
    made.update_prompts({"text_qa_template": PromptTemplate(TEMPLATE)})
    return made


def check(made: PolicyAnswer) -> None:
    assert made.citations
    for citation in made.citations:
        content = made.source_nodes[citation.marker - 1].node.get_content()
        assert content[citation.start : citation.end] == citation.quote
    assert made.trace["synthesis"]["kind"] == "llm"
    assert made.trace["synthesis"]["model"] == "smollm2"
    assert "llm_error" not in made.trace["synthesis"]


def test_its_words_arrive_at_once_or_in_pieces_and_the_answer_is_cited(base: str) -> None:
    whole = synthesizer(base).answer(FOUND)
    assert isinstance(whole, PolicyAnswer)
    check(whole)
    stream = synthesizer(base).answer(FOUND, streaming=True)
    assert isinstance(stream, PolicyStream)
    pieces = list(stream.response_gen)
    assert len(pieces) > 3
    assert stream.answer is not None
    check(stream.answer)
    # Greedy decoding says the same twice; what is left out of a whole answer stays in a stream.
    said = "".join(pieces).split("\n注意：")[0]
    left = str(whole).split("\n注意：")[0]
    assert left in said or whole.trace["synthesis"].get("dropped_sentences")


def test_it_stops_at_the_token_limit(base: str) -> None:
    config = LLMConfig(api_base=base, model="smollm2", max_tokens=16, context_window=CONTEXT)
    reply = build_llm(config).complete("Count from one to one hundred: one, two,")
    assert reply.raw.usage.completion_tokens == 16  # type: ignore[union-attr]


def test_a_time_limit_ends_it_and_excerpts_follow(base: str) -> None:
    made = synthesizer(base, timeout_s=0.05, max_tokens=500).answer(FOUND)
    assert "注意：语言模型未能作答" in str(made)
    assert f"{RULE.content}[1]" in str(made)


def test_a_prompt_that_is_too_long_for_the_server_leads_to_excerpts(base: str) -> None:
    long = passage("law", "Long rule (虚构示例)", "1", "Parking is free on Sundays. " * 600)
    found = RetrievalResult("When is parking free?", (RankedPassage(long, 0.9),), ())
    made = synthesizer(base, context_window=50_000).answer(found)
    assert "llm_error" in made.trace["synthesis"]  # type: ignore[union-attr]
    assert "注意：语言模型未能作答" in str(made)
