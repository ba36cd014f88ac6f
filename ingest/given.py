"""What an author states of a document: front matter, record meta, labelled lines."""

from __future__ import annotations

import re
from collections.abc import Mapping

_KEYS = {
    "title": ("title", "标题", "名称", "文件名称"),
    "doc_number": (
        "doc_number",
        "document_number",
        "number",
        "发文字号",
        "发布文号",
        "文号",
        "文件编号",
    ),
    "issuer": (
        *(
            "issuer",
            "author",
            "发文机关",
            "发布机构",
            "发布机关",
            "制定机关",
            "发文单位",
            "印发机关",
        ),
        *("发布单位", "公开主体"),
    ),
    "level": ("level", "效力级别"),
    "jurisdiction": ("jurisdiction", "region", "place", "适用地区", "地区", "行政区划"),
    "promulgated": (
        *("promulgated", "publish_date", "published", "date", "成文日期", "公布日期", "发布日期"),
        *("发文日期", "印发日期", "发布时间", "公开日期"),
    ),
    "effective": ("effective", "effective_date", "施行日期", "实施日期", "生效日期"),
    "expires": ("expires", "expiry_date", "失效日期", "废止日期"),
    "valid_until": ("valid_until", "有效期至", "有效期"),
    "status": ("status", "有效性", "时效性", "效力状态"),
}
_NAMES = {spelling: key for key, spellings in _KEYS.items() for spelling in spellings}
LABELS = sorted((name for name in _NAMES if not name.isascii()), key=len, reverse=True)
"""Chinese spellings, the longest first."""


def given_fields(raw: Mapping[str, str]) -> dict[str, str]:
    """The known fields of ``raw`` under their English names; the first of several spellings counts.

    ``promulgated``, ``effective`` … keep the text that was given.
    """
    found: dict[str, str] = {}
    for key, value in raw.items():
        name = _NAMES.get(re.sub(r"\s", "", key).lower())
        if name and value.strip():
            found.setdefault(name, value.strip())
    return found
