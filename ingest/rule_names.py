"""By what name one rule is known: its title, or the rule that a notice of publication wraps."""

from __future__ import annotations

import re

from indexes.tokenizer import simplified

# Only kinds of title that name one rule: 通知 or 解读 of the same name are not versions.
_RULE = re.compile(r"(?:法|法典|条例|办法|规定|细则|规则|准则|章程|决定|解释|规程)$")
_WRAPPED = re.compile(r"关于(?:重新)?(?:印发|发布|公布|颁布|颁发)(?P<rule>.+)的(?:通知|公告|通告)$")
_ACT_ON_OTHERS = re.compile(r"关于(?:修[改订正]|废止|宣布|停止执行).+的决定$")
_STATE = "中华人民共和国"


def normal_title(title: str) -> str:
    """The title in simplified characters without 中华人民共和国, book-title marks, brackets' width
    and spacing."""
    plain = re.sub(r"[\s《》〈〉<>]", "", simplified(title)).replace("(", "（").replace(")", "）")
    return plain.replace(_STATE, "")


def is_rule(title: str) -> bool:
    """Whether a title names a rule, of which there can be versions.

    A decision that changes or ends another rule is none: the next one does not undo it.
    """
    plain = re.sub(r"（[^（）]*）$", "", normal_title(title))
    return _RULE.search(plain) is not None and _ACT_ON_OTHERS.search(plain) is None


def wrapped_rule(title: str) -> str:
    """The normal title of the rule that a notice publishes, "" for other titles.

    ``示例市财政局关于印发《甲管理办法》的通知`` -> ``甲管理办法``.
    """
    match = _WRAPPED.search(normal_title(title))
    return match["rule"] if match and is_rule(match["rule"]) else ""
