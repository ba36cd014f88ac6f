"""The OpenAI-compatible client against a scripted endpoint on loopback."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest

from configs.settings import LLMConfig, SynthesisConfig
from fusion.answer import PolicyStream
from fusion.llm import build_llm
from fusion.nodes import RankedPassage, RetrievalResult
from fusion.synthesizer import PolicySynthesizer
from tests.fusion.fake_sources import LOCAL

FOUND = RetrievalResult("每辆补贴多少", (RankedPassage(LOCAL[0], 0.9),), ())


class Endpoint(ThreadingHTTPServer):
    """Answers chat completions with ``text``; ``status`` and ``raw`` make it misbehave."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.text = "每辆补贴一万元。[1]"
        self.status = 200
        self.raw: bytes | None = None
        self.hold = threading.Event()
        self.hold.set()
        self.requests: list[tuple[str, dict[str, Any]]] = []


class _Handler(BaseHTTPRequestHandler):
    server: Endpoint

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.server.requests.append((self.headers["Authorization"], body))
        self.server.hold.wait(10)
        kind = "text/event-stream" if body.get("stream") else "application/json"
        self.send_response(self.server.status)
        self.send_header("Content-Type", kind)
        self.end_headers()
        self.wfile.write(self.server.raw if self.server.raw is not None else self._answer(body))

    def _answer(self, body: dict[str, Any]) -> bytes:
        common = {"id": "1", "created": 0, "model": body["model"]}
        text = self.server.text
        if not body.get("stream"):
            message = {"role": "assistant", "content": text}
            choice = {"index": 0, "finish_reason": "stop", "message": message}
            return json.dumps({**common, "object": "chat.completion", "choices": [choice]}).encode()
        lines = []
        for char in text:
            choice = {"index": 0, "delta": {"role": "assistant", "content": char}}
            event = {**common, "object": "chat.completion.chunk", "choices": [choice]}
            lines.append(f"data: {json.dumps(event)}\n\n")
        return "".join([*lines, "data: [DONE]\n\n"]).encode()

    def log_message(self, format: str, *args: Any) -> None:
        """Keep the test's output clean."""


@pytest.fixture
def endpoint() -> Iterator[Endpoint]:
    server = Endpoint()
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield server
    server.hold.set()
    server.shutdown()
    server.server_close()


def synthesizer(endpoint: Endpoint, **options: Any) -> PolicySynthesizer:
    config = LLMConfig.model_validate(
        {
            "api_base": f"http://127.0.0.1:{endpoint.server_address[1]}/v1",
            "model": "example-model",
            "api_key_env": "EXAMPLE_KEY",
            "max_retries": 0,
            "timeout_s": 5,
            **options,
        }
    )
    return PolicySynthesizer(SynthesisConfig(llm=config), build_llm(config))


def test_a_chat_endpoint_is_asked_with_the_key_from_the_environment(
    endpoint: Endpoint, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("EXAMPLE_KEY", "secret")
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    made = synthesizer(endpoint, temperature=0.5, max_tokens=99).answer(FOUND)
    assert str(made) == "每辆补贴一万元。[1]"
    ((authorization, body),) = endpoint.requests
    assert authorization == "Bearer secret"
    assert (body["model"], body["temperature"], body["max_tokens"]) == ("example-model", 0.5, 99)
    assert [message["role"] for message in body["messages"]] == ["system", "user"]


def test_a_foreign_key_in_the_environment_is_not_sent(
    endpoint: Endpoint, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("EXAMPLE_KEY", raising=False)
    monkeypatch.setenv("OPENAI_API_KEY", "meant-for-another")
    synthesizer(endpoint).answer(FOUND)
    assert "meant-for-another" not in endpoint.requests[0][0]


def test_it_streams(endpoint: Endpoint) -> None:
    made = synthesizer(endpoint).answer(FOUND, streaming=True)
    assert isinstance(made, PolicyStream)
    pieces = list(made.response_gen)
    assert "".join(pieces) == "每辆补贴一万元。[1]"
    assert len(pieces) > 3
    assert [c.id for c in made.citations] == [LOCAL[0].id]


@pytest.mark.parametrize(
    ("status", "raw"), [(500, b"{}"), (401, b"no"), (200, b"not json"), (200, b'{"choices": []}')]
)
def test_an_endpoint_that_misbehaves_leads_to_excerpts(
    endpoint: Endpoint, status: int, raw: bytes
) -> None:
    endpoint.status, endpoint.raw = status, raw
    made = synthesizer(endpoint).answer(FOUND)
    assert "注意：语言模型未能作答" in str(made)
    assert f"{LOCAL[0].content}[1]" in str(made)


def test_an_endpoint_that_hangs_is_given_up(endpoint: Endpoint) -> None:
    endpoint.hold.clear()
    made = synthesizer(endpoint, timeout_s=0.2).answer(FOUND)
    assert "注意：语言模型未能作答" in str(made)


async def test_it_is_asked_asynchronously(endpoint: Endpoint) -> None:
    made = await synthesizer(endpoint).aanswer(FOUND)
    assert str(made) == "每辆补贴一万元。[1]"
