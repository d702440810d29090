# -*- coding: utf-8 -*-
"""Names in a text, told by capitals in English and, cautiously, by surnames and what stands around in Chinese."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from ..text import split_sentences
from ._name_words import NOT_NAMES, ORDINARY, PLACES

__all__ = ["Name", "names_in"]


@dataclass(frozen=True)
class Name:
    """A name.

    Args:
        text (`str`): as it is written, without a possessive.
        sure (`bool`): False for a word that may have its capital from the beginning of the sentence.
        kind (`str`): ``person``, ``place`` or, where that cannot be told, ``name``; ``subject`` for a word that begins
            a sentence and is followed by a verb, which may be no name at all.
    """

    text: str
    sure: bool = True
    kind: str = "name"


_LETTER = r"[A-Za-z0-9_\u00c0-\u017f]"
_CAPITAL = rf"[A-Z\u00c0-\u00de]{_LETTER}*(?:[-'’][A-Za-z\u00c0-\u017f]{_LETTER}*)*"
_RUN = re.compile(
    rf"(?<![A-Za-z0-9_\u00c0-\u017f/.@`'’-]){_CAPITAL}(?:\s+(?:(?:of|the|de|da|van|von|del|la)\s+)*{_CAPITAL})*"
)
_PERSONAL = re.compile(
    r"['’]s\b|\s+(?:said|says|told|tells|likes|loves|wants|lives|works|moved|went|bought|prefers|enjoys|thinks|asked|met|"
    r"plays|studies|drinks|eats|hates|dislikes|knows|joined|visited|and [A-Z])"
)
_WIDE = re.compile(r"[\u4e00-\u9fff]")
_POSSESSIVE = re.compile(r"'s?$")
_AFTER_INITIAL = re.compile(
    r"['’]s\b|,?\s+(?:is|was|has|had|will|would|can|and|or|said|says|told|also|never|always|[a-z]{2,}(?:s|ed))\b"
)
_VERBAL = re.compile(r"^[A-Z][a-z]+(?:s|ed|ing)$")


_HAN = "\u4e00-\u9fff"
_SURNAMES = (
    "李王张刘陈杨赵黄周吴徐孙胡朱高林何郭马罗梁宋郑谢韩唐冯于董萧程曹袁邓许傅沈曾彭吕苏卢蒋蔡贾丁魏薛叶阎余潘杜戴夏钟汪田任姜范石姚谭廖邹熊金"
    "陆郝孔白崔康毛邱秦江史顾侯邵孟龙段雷钱汤尹黎武乔贺赖龚"
)
_SURNAME = rf"(?:欧阳|司马|诸葛|上官|[{_SURNAMES}])"
_TITLE = (
    "先生|女士|小姐|太太|老师|教授|医生|大夫|护士|经理|总监|主任|主管|院长|校长|厂长|同学|师傅|律师|警官|阿姨|叔叔|奶奶|爷爷|大哥|大姐|"
    "处长|局长|部长|博士|总(?![是共之结体部会有算的要能得统在])"
)
_END = (
    r"(?=[，。、；：！？,.!?;:（(）)“”\s]|$|和|与|跟|是|在|说|去|的|喜欢|想|要|会|也|都|不|有|来|到|把|将|对|被|给|教|负责|担任|告诉|推荐|介绍|从|"
    r"住|爱|已|正|昨天|今天|明天|用|做|写|买|吃|建议|认为|觉得|表示|提出|决定|今年|去年|生病|结婚|出生|打|请|帮|送|带)"
)
_KIN = (
    "我叫|名叫|叫做|叫作|名字叫|名字是|姓名是|姓名[：:]|同事|朋友|室友|同学|老板|妻子|丈夫|老婆|老公|女儿|儿子|弟弟|妹妹|哥哥|姐姐|邻居|导师|客户|队友|闺蜜|"
    "男友|女友|男朋友|女朋友|对象|主管|领导|上司|表哥|表姐|表弟|表妹|堂哥|堂弟|医生|老师|教练|助理|秘书|作者|歌手|演员|导演"
)
_GIVEN = rf"[{_HAN}]{{1,2}}?"
_START = r"(?:^|[，。、；：！？,.!?;:\s（(“《和与跟给找见问陪约请让由被向替帮叫是对的了到位名听谢教])"
_PERSONS = (
    re.compile(rf"{_START}(?P<name>{_SURNAME}[{_HAN}]{{0,2}}?(?:{_TITLE}))"),
    re.compile(rf"(?:{_KIN})(?P<name>{_SURNAME}{_GIVEN}){_END}"),
    re.compile(rf"{_START}(?<![的了])(?P<name>{_SURNAME}{_GIVEN}){_END}"),
    re.compile(rf"(?<![{_HAN}大最很不太])(?P<name>[小老阿][{_SURNAMES[:60]}]){_END}"),
)

_PART = rf"(?:(?![在去到于是和与的我你他她从了过住任就自])[{_HAN}A-Za-z0-9])"
_PLACE = re.compile(
    rf"(?:负责|加入|离开|管理|进入|参观|毕业|任职|就职)?(?P<name>{_PART}{{1,8}}?(?:公司|大学|医院|学院|中学|银行|集团|研究院|研究所|事务所|"
    rf"机场|火车站|博物馆|图书馆|体育馆|俱乐部)|{_PART}{{2,5}}?(?:市|省|县|自治区|小区|花园|大道|大厦|广场|公园|酒店|餐厅|咖啡馆))"
)


def names_in(text: str) -> list[Name]:
    """The names in a text, each once, in order of appearance."""
    found = [*_latin(text), *(_han(text) if not text.isascii() else ())]
    best: dict[str, Name] = {}
    for name in found:
        if name.text not in best or (name.sure and not best[name.text].sure):
            best[name.text] = name
    return sorted(best.values(), key=lambda name: text.find(name.text))


def _latin(text: str) -> Iterator[Name]:
    for sentence in split_sentences(text):
        spoken = _WIDE.search(sentence) is None  # among Chinese characters a capital is not that of a sentence
        for match in _RUN.finditer(sentence):
            yield from _from_run(match.group(), spoken and _begins(sentence[: match.start()]), sentence[match.end() :])


def _begins(before: str) -> bool:
    """Whether a sentence begins after this."""
    return not any(map(str.isalnum, before)) or before.rstrip()[-1:] in (*':："“(（',)


def _from_run(run: str, initial: bool, after: str) -> Iterator[Name]:
    words = run.split()
    while words and _bare(words[0]).lower() in NOT_NAMES:
        words.pop(0)
        initial = False
    while words and (_bare(words[-1]).lower() in NOT_NAMES or words[-1].islower()):
        words.pop()
        after = ""
    if not words:
        return
    name = " ".join([*words[:-1], _bare(words[-1])])
    if len(name) < 2 and not initial:
        return
    capitals = sum(not word.islower() for word in words)
    if initial and len(words) > 1 and _VERBAL.search(words[0]):
        yield Name(name, sure=False)
        yield from _from_run(" ".join(words[1:]), False, after)
        return
    acronym = len(words) == 1 and name.isupper() and len(name) > 1
    if len(name) < 2:
        return
    if not initial or capitals > 1 or acronym:
        yield Name(name)
    elif _PERSONAL.match(after):
        yield Name(name, kind="person")
    else:
        yield Name(name, bool(_AFTER_INITIAL.match(after)), "subject")


def _bare(word: str) -> str:
    return _POSSESSIVE.sub("", word.replace("’", "'")) or word


def _han(text: str) -> Iterator[Name]:
    for pattern in _PERSONS:
        for match in pattern.finditer(text):
            name = match["name"]
            if name not in ORDINARY and name[:2] not in ORDINARY:
                yield Name(name, kind="person")
    for match in _PLACE.finditer(text):
        yield Name(match["name"], kind="place")
    for match in PLACES.finditer(text):
        yield Name(match.group(), kind="place")
