"""Scripted language models."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from llama_index.core.base.llms.types import (
    CompletionResponse,
    CompletionResponseGen,
    LLMMetadata,
)
from llama_index.core.llms import CustomLLM
from pydantic import Field


class ScriptedLLM(CustomLLM):
    """Says ``pieces``; raises ``error`` after ``fail_after`` of them; keeps its prompts."""

    pieces: Sequence[str] = ()
    error: Any = None
    fail_after: int = 0
    chat_model: bool = True
    window: int = 4096
    output: int = 256
    prompts: list[str] = Field(default_factory=list)

    @property
    def metadata(self) -> LLMMetadata:
        return LLMMetadata(
            context_window=self.window,
            num_output=self.output,
            model_name="scripted",
            is_chat_model=self.chat_model,
        )

    def complete(self, prompt: str, formatted: bool = False, **kwargs: Any) -> CompletionResponse:
        self.prompts.append(prompt)
        if self.error is not None:
            raise self.error
        return CompletionResponse(text="".join(self.pieces))

    def stream_complete(
        self, prompt: str, formatted: bool = False, **kwargs: Any
    ) -> CompletionResponseGen:
        self.prompts.append(prompt)

        def generate() -> CompletionResponseGen:
            text = ""
            for count, piece in enumerate(self.pieces):
                if self.error is not None and count == self.fail_after:
                    raise self.error
                text += piece
                yield CompletionResponse(text=text, delta=piece)
            if self.error is not None and self.fail_after >= len(self.pieces):
                raise self.error

        return generate()
