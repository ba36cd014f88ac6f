"""A LlamaIndex LLM for any OpenAI-compatible endpoint."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from configs.settings import LLMConfig

if TYPE_CHECKING:
    from llama_index.core.llms import LLM

_NO_KEY = "not-needed"  # local servers want none, but the client refuses an empty one


def build_llm(config: LLMConfig) -> LLM:
    """The LLM of a profile; nothing is sent yet. The key is read from ``api_key_env`` now.

    Busy (408, 409, 429, 5xx) or unreachable, it is asked up to ``max_retries`` times more, after
    the pause that its Retry-After names.
    """
    from llama_index.llms.openai_like import OpenAILike
    from openai import AsyncOpenAI, OpenAI

    key = os.environ.get(config.api_key_env, "") if config.api_key_env else ""
    # The clients repeat a request; LlamaIndex's own repetition around them would multiply theirs.
    about: dict[str, Any] = {
        "api_key": key or _NO_KEY,
        "base_url": config.api_base,
        "timeout": config.timeout_s,
        "max_retries": config.max_retries,
    }
    clients: dict[str, Any] = {
        "openai_client": OpenAI(**about),
        "async_openai_client": AsyncOpenAI(**about),
    }
    return OpenAILike(
        model=config.model,
        api_base=config.api_base,
        api_key=key or _NO_KEY,
        is_chat_model=True,
        is_function_calling_model=False,
        context_window=config.context_window,
        max_tokens=config.max_tokens,
        temperature=config.temperature,
        timeout=config.timeout_s,
        max_retries=0,
        **clients,
    )


def key_hint(config: LLMConfig | None) -> str:
    """A remark for error messages when the key's environment variable is not set."""
    if config is None or not config.api_key_env or os.environ.get(config.api_key_env):
        return ""
    return f"; environment variable {config.api_key_env} is not set"
