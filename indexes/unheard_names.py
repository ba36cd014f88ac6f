"""What looks like the name of a rule in running text, whether or not a document bears it."""

from __future__ import annotations

import re

RULES = ("法", "法典", "条例", "办法", "细则")
RUN = re.compile(r"[\u4e00-\u9fff]+\Z")
# What stands before a name in a sentence, and what no name of a rule has in it.
LEADS = re.compile(
    r"根据|依据|依照|按照|按|违反|适用|参照|关于|对照|查询|请问|查一?下|看一?下|我国|和|与|及|或|跟|现行|原"
)
_NO_NAME = re.compile(
    r"[的了吗呢吧是在有这那哪该本此上述其]|怎么|什么|如何|规定|我们|你们|公司的?办法"
)
_NUMBERED = re.compile(
    r"(?P<subject>[\u4e00-\u9fff]{1,20}?)(?P<kind>修正案|(?:司法)?解释)"
    r"\s*(?:\(\s*[一二三四五六七八九十0-9]{1,3}\s*\)|[一二三四五六七八九十0-9]{1,3})\Z"
)
_SUBJECTS = ("法", "法典", "编", "条例", "借贷", "纠纷")
# 公司规定第三条 is a reader's own rule, 法律规定第三条 no name at all.
_OWN = re.compile(
    r"公司规定|单位|学校|小区|厂|店|合同|协议|章程|法律|法规|政策|国家|有关|相关|以[下上]|前述|明确|另有|同样|怎"
)
_STATE = "中华人民共和国"


def rule_name(text: str) -> str:
    """What ``text`` ends with where it looks like the name of a rule (…法, …条例), else ""."""
    name = _last_name(text)
    if not 4 <= len(name) <= 24 or not name.endswith(RULES) or _NO_NAME.search(name):
        return ""
    return name


def numbered_name(text: str) -> str:
    """The same of names that end in their number: 刑法修正案十一, 公司法解释（三）."""
    match = _NUMBERED.search(text.rpartition(_STATE)[2])
    subject = _last_name(match["subject"]) if match else ""
    if match is None or not subject.endswith(_SUBJECTS) or _NO_NAME.search(subject):
        return ""
    return subject + match[0][len(match["subject"]) :]


def provisions_name(text: str) -> str:
    """The same of names that end in 规定, where nothing but the name stands there."""
    name = _last_name(text)
    subject = name.removesuffix("规定")
    if subject == name or not 4 <= len(subject) <= 20:
        return ""
    return "" if _NO_NAME.search(subject) or _OWN.search(name) else name


def _last_name(text: str) -> str:
    run = RUN.search(text.rpartition(_STATE)[2])
    return LEADS.split(run[0])[-1] if run else ""
