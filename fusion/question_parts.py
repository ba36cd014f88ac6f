"""The parts of a question that asks several things: …多少，…能免吗？ and 甲市和乙市…分别是多少？

Clauses are cut at punctuation; one that asks nothing belongs to the next one that does. Pure
patterns, so that the same question always has the same parts.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from indexes.jurisdiction import places_in

_MARKS = "，,；;？?。！!、 \t\n"
_CLAUSE = re.compile(r"[^，,；;？?。！!、\n]*[，,；;？?。！!、\n]*")
_ASKS = re.compile(
    r"多少|几(?!乎|经)|吗|什么|怎么|怎样|咋|如何|哪|谁|是否|何时|何种|多[久长大高]|为何|啥|呢"
    r"|(?P<verb>[\u4e00-\u9fff])不(?P=verb)|有没有|能否|可否"
)
_EACH = re.compile(
    r"(?P<one>[\u4e00-\u9fff]{2,10}?)(?:和|与|跟|以及|及)(?P<other>[\u4e00-\u9fff]{2,12}?)"
    r"(?:的[\u4e00-\u9fff]{1,12})?(?:分别|各自|各[是有能可要应需])"
)
# Words that ask, address or join, and those that any rule has: they tell no subject. Of single
# characters only those that are seldom part of another word (not 上, 中, 会).
_EMPTY = re.compile(
    r"多少钱?|百分之几|几[个年月天日次倍元]*|多[久长大高]时?间?|什么时候|什么样|什么|怎么办|怎么样|怎么|怎样"
    r"|为什么|为何|如何|哪[些里儿个种类天]|哪|是否|何时|能不能|可不可以|要不要|有没有|会不会|是不是|能否|可否"
    r"|请问|一下|应该|应当|需要|可以|能够|必须|还能|还有|还要|还是|是不是|如果|的话|要是|因为|所以|但是|而且"
    r"|并且|或者|以及|同时|另外|以后|之后|之前|以前|时候|情况|规定|办理|处理|申请|分别|各自|我们|他们|你们"
    r"|自己|别人|这个|那个|这种|那种|没有|不能|不会|算不算|属于|合法|违法|[一这那每]个"
    r"|[吗呢啊吧了的是我你他她它把被让给和与跟就都也又才再还去在不没谁啥咋能要]"
)


@dataclass(frozen=True, slots=True)
class QuestionPart:
    """One thing that is asked. ``text``: its words in the question; ``content``: those of them that
    tell the subject, gaps between; ``place``: the code of the place it is asked for where the parts
    differ by place, else ""."""

    text: str
    content: str
    place: str = ""


def question_parts(question: str) -> tuple[QuestionPart, ...]:
    """The parts in order, at least two; () for a question of one part."""
    each = _EACH.search(question)
    if each:
        places = places_in(each["one"] + "，" + each["other"])
        if len(places) >= 2:
            return tuple(QuestionPart(place.name, "", place.code) for place in places)
        return tuple(QuestionPart(text, _content(text)) for text in (each["one"], each["other"]))
    texts: list[str] = []
    context = ""
    for clause in _CLAUSE.findall(question):
        context += clause
        if _ASKS.search(clause):
            texts.append(context)
            context = ""
    if texts and context:
        texts[-1] += context
    if len(texts) < 2:
        return ()
    return tuple(QuestionPart(text.strip(_MARKS), _content(text)) for text in texts)


def _content(text: str) -> str:
    return " ".join(_EMPTY.sub(" ", text).split())
