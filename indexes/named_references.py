"""References of one line that say which document they mean, and the articles joined to them."""

from __future__ import annotations

import re
from collections.abc import Callable

from indexes.references import Mention, matching_form, mentions

_NUM = "[零〇○一二两三四五六七八九十百千万0-9０-９]+"
# 第六条第一款、第二款或者第七条: all of one document.
_JOINT = re.compile(
    rf"(?:[\s、，,和及与至到\-—~～]|或者?|以及|第?[（(]?{_NUM}[)）]?[款项]){{1,12}}"
)
_OWN = re.compile(r"本(?:法|条例|规定|办法|细则|解释|决定|规则|准则|通则)的?\s*$")
_SAME = re.compile(r"(?:该|同|上述|前述)(?:法|法典|条例|规定|办法|细则|解释)?的?\s*$")
_TITLE = re.compile(r"《(?P<title>[^《》\n]{2,80})》")
_UNNAMED = re.compile(rf"第?\s*{_NUM}\s*条")


def named_references(line: str, ending: Callable[[str], str]) -> tuple[Mention, ...]:
    """The references of one line that say which document they mean, titles in 《》 among them.

    An article without a name counts where it is joined to a named one (第六条、第七条; 该法第八条).
    """
    found: list[Mention] = []
    follows = False  # whether the article before is one of a named document
    previous = 0
    for mention in mentions(line, ending):
        before = line[: mention.start]
        own = _OWN.search(before) or line.startswith("本", mention.start)
        named = not _UNNAMED.match(line, mention.start)
        joint = follows and _JOINT.fullmatch(line[previous : mention.start])
        follows = not own and bool(named or joint or (found and _SAME.search(before)))
        if follows:
            found.append(mention)
        previous = mention.end
    covered = [(m.start, m.end) for m in found]
    for match in _TITLE.finditer(line):
        if not any(a <= match.start() < b for a, b in covered):
            title = matching_form(match["title"])
            found.append(Mention(match.start(), match.end(), title, False, ""))
    return tuple(sorted(found, key=lambda m: m.start))
