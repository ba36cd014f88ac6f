"""What one document changes in the articles of another: 第三条修改为…, 增加一条, 删去第六条.

Pure data and tests on words. A store that has the amended rule only as it was before shows both:
the old article until the day on which the amendment starts, and the clause that replaces it.
"""

from __future__ import annotations

from dataclasses import astuple, dataclass
from typing import Any, Literal

from indexes.references import matching_form

ChangeKind = Literal["replace", "part", "add", "delete", "renumber"]
_MARKS = str.maketrans("", "", " \t\n\r　“”\"'‘’「」《》〈〉,.;:，。；：、()（）")


@dataclass(frozen=True, slots=True)
class Amendment:
    """One change. ``title``: the amended rule as ``indexes.succession.plain_title`` writes it;
    ``article`` in digits; ``passage``: the id of the passage that says so.

    ``replace`` (the whole article), ``part`` (a 款, an 项 or words of it), ``add``, ``delete``, or
    ``renumber`` (article "": the numbers of later amendments are not those of the older text).
    ``new`` and ``old``: the new and the replaced words as ``bare_words`` writes them, "" unknown.
    """

    title: str
    article: str
    kind: ChangeKind
    passage: str
    new: str = ""
    old: str = ""

    def is_in(self, text: str) -> bool:
        """Whether ``text``, as ``bare_words`` writes it, already says what this change says."""
        if self.new and self.new in text:
            return True
        return bool(self.old) and self.old not in text

    def to_row(self) -> list[str]:
        """Plain values for JSON; ``Amendment(*row)`` is the inverse."""
        return list(astuple(self))


def bare_words(text: str) -> str:
    """``text`` in matching form without white space, quotation marks and punctuation."""
    return matching_form(text).translate(_MARKS)


def amendments_of(extra: dict[str, Any] | Any) -> tuple[Amendment, ...]:
    """Those that a document's ``extra`` holds."""
    return tuple(Amendment(*row) for row in extra.get("amends", ()))
