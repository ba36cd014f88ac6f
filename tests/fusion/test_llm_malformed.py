"""Whatever an endpoint replies, there is an answer with sources, and it says what went wrong."""

from __future__ import annotations

from typing import Any

import pytest

from configs.settings import LLMConfig, SynthesisConfig
from fusion.answer import PolicyAnswer, PolicyStream
from fusion.llm import build_llm
from fusion.nodes import RankedPassage, RetrievalResult
from fusion.synthesizer import PolicySynthesizer
from tests.fusion.broken_endpoint import Endpoint, Reply, endpoint, event, whole
from tests.fusion.fake_sources import LOCAL

FOUND = RetrievalResult("每辆补贴多少", (RankedPassage(LOCAL[0], 0.9),), ())
GOOD = "每辆补贴一万元。[1]"
DONE = b"data: [DONE]\n\n"


def ask(server: Endpoint, *, streaming: bool = False, **options: Any) -> tuple[str, PolicyAnswer]:
    known = {"api_base": server.base, "model": "m", "max_retries": 0, "timeout_s": 5, **options}
    config = LLMConfig.model_validate(known)
    synthesizer = PolicySynthesizer(SynthesisConfig(llm=config), build_llm(config))
    made = synthesizer.answer(FOUND, streaming=streaming)
    if not streaming:
        assert isinstance(made, PolicyAnswer)
        return str(made), made
    assert isinstance(made, PolicyStream)
    text = "".join(made.response_gen)
    assert made.answer is not None
    return text, made.answer


def excerpts_follow(text: str, made: PolicyAnswer) -> bool:
    quoted = f"{LOCAL[0].content}[1]" in text
    return quoted and [c.quote for c in made.citations] == [LOCAL[0].content]


@pytest.mark.parametrize(
    "reply",
    [
        Reply(b'{"id": "1", "choices": [{"message"'),
        Reply(b"<html>gateway</html>"),
        Reply(b""),
        Reply(b"null"),
        Reply(b"[]"),
        Reply(b'{"choices": null}'),
        Reply(b'{"choices": []}'),
        Reply(b'{"choices": [{"index": 0}]}'),
        Reply(whole(None)),
        Reply(whole(" \n")),
        Reply(whole(GOOD), promised=500),
        Reply(b'{"error": {"message": "bad"}}', 400),
        Reply(b"busy", 429),
        Reply(b"oops", 500),
        Reply(b"\xff\xfe\x00broken", 200),
    ],
)
def test_a_broken_reply_leads_to_excerpts(reply: Reply) -> None:
    with endpoint(reply) as server:
        text, made = ask(server, timeout_s=1)
    assert "注意：语言模型未能作答" in text
    assert excerpts_follow(text, made)
    assert made.trace["synthesis"]["llm_error"]


@pytest.mark.parametrize(
    "reply",
    [
        Reply(event("每辆补贴"), promised=500),
        Reply(event("每辆补贴") + b'data: {"id": "1", "choices": [{"del\n\n' + DONE),
        Reply(event("每辆补贴") + b'data: {"error": {"message": "overloaded"}}\n\n' + DONE),
        Reply(event("每辆补贴"), promised=500, hang=True),
    ],
)
def test_a_stream_that_is_cut_goes_on_with_excerpts(reply: Reply) -> None:
    with endpoint(reply) as server:
        text, made = ask(server, streaming=True, timeout_s=0.5)
    assert text.startswith("每辆补贴\n注意：语言模型中断")
    assert excerpts_follow(text, made)


@pytest.mark.parametrize(
    "reply", [Reply(DONE), Reply(b""), Reply(event(None) + DONE), Reply(b"oops", 500)]
)
def test_a_stream_without_words_leads_to_excerpts(reply: Reply) -> None:
    with endpoint(reply) as server:
        text, made = ask(server, streaming=True)
    assert "注意：语言模型未能作答" in text
    assert excerpts_follow(text, made)


def test_events_without_choices_and_comments_are_passed_over() -> None:
    body = b": ping\n\n" + event("每辆补贴一万元。") + event("", choices=[]) + event("[1]") + DONE
    with endpoint(Reply(body)) as server:
        text, made = ask(server, streaming=True)
    assert text == GOOD
    assert made.unverified == ()


@pytest.mark.parametrize("status", [429, 500, 503])
def test_a_busy_endpoint_is_asked_again(status: int) -> None:
    busy = Reply(b"busy", status, {"Retry-After": "0"})
    with endpoint(busy, Reply(whole(GOOD))) as server:
        text, _ = ask(server, max_retries=1)
        assert (text, server.asked) == (GOOD, 2)


def test_an_endpoint_that_stays_busy_is_asked_as_often_as_configured() -> None:
    with endpoint(Reply(b"busy", 429, {"Retry-After": "0"})) as server:
        text, made = ask(server, max_retries=2)
        assert server.asked == 3
    assert "RateLimitError" in made.trace["synthesis"]["llm_error"]
    assert excerpts_follow(text, made)


def test_a_wrong_key_is_not_tried_again() -> None:
    with endpoint(Reply(b"no", 401)) as server:
        ask(server, max_retries=3)
        assert server.asked == 1


def test_an_endpoint_that_is_not_there_leads_to_excerpts() -> None:
    with endpoint(Reply(b"")) as server:
        pass
    text, made = ask(server, timeout_s=1)
    assert excerpts_follow(text, made)
