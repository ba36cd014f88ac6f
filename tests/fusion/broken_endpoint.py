"""A chat endpoint on loopback that replies as it is told, well or badly."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


@dataclass(frozen=True)
class Reply:
    """``promised``: bytes announced beyond those sent; ``hang``: nothing more comes after them."""

    body: bytes
    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)
    promised: int = 0
    hang: bool = False


def event(content: str | None, **changes: Any) -> bytes:
    """One event of a stream."""
    choice = {"index": 0, "delta": {"role": "assistant", "content": content}}
    value = {"id": "1", "object": "chat.completion.chunk", "created": 0, "model": "m"}
    return f"data: {json.dumps({**value, 'choices': [choice], **changes})}\n\n".encode()


def whole(content: str | None) -> bytes:
    """A reply that is no stream."""
    message = {"role": "assistant", "content": content}
    choice = {"index": 0, "finish_reason": "stop", "message": message}
    value = {"id": "1", "object": "chat.completion", "created": 0, "model": "m"}
    return json.dumps({**value, "choices": [choice]}).encode()


class Endpoint(ThreadingHTTPServer):
    """Gives its replies in turn, the last one again and again; ``asked`` counts the requests."""

    daemon_threads = True

    def __init__(self, replies: Sequence[Reply]) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.replies = list(replies)
        self.asked = 0
        self.released = threading.Event()

    @property
    def base(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}/v1"


class _Handler(BaseHTTPRequestHandler):
    server: Endpoint

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        reply = self.server.replies[min(self.server.asked, len(self.server.replies) - 1)]
        self.server.asked += 1
        kind = "text/event-stream" if body.get("stream") else "application/json"
        self.send_response(reply.status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(reply.body) + reply.promised))
        for name, value in reply.headers.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(reply.body)
        self.wfile.flush()
        if reply.hang:
            self.server.released.wait(20)

    def log_message(self, format: str, *args: Any) -> None:
        """Keep the test's output clean."""


@contextmanager
def endpoint(*replies: Reply) -> Iterator[Endpoint]:
    """A running endpoint."""
    server = Endpoint(replies)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield server
    finally:
        server.released.set()
        server.shutdown()
        server.server_close()
