# -*- coding: utf-8 -*-
"""Sentences in which people say what stays true: who they are, what they like, what shall hold from now on."""

import re

from ..text import split_sentences

__all__ = ["is_courtesy", "is_standing", "prose"]


def _any(*patterns: str) -> re.Pattern[str]:
    return re.compile("|".join(patterns), re.IGNORECASE)


_STANDING = _any(
    # to be remembered
    r"(?:^|[,;:.!\-–—(]\s*|\b(?:please|pls|kindly|and|also|so|but|do|must|"
    r"should)\s+)(?:always )?remember\b(?! (?:when|if|how|what|why)\b)",
    r"\b(?:keep in mind|bear in mind|(?:make|take) a note|note down|note that i|don'?t (?:ever )?forget|"
    r"for (?:future reference|the future|next time)|from now on|going forward|"
    r"from today on|in (?:the )?future,? (?:please|always|never|do|don'?t|use|i))\b",
    # who somebody is
    r"\bmy (?:full |first |last |real |nick)?(?:name|nickname|pronouns?|birthday|job|profession|occupation|"
    r"title|role|company|employer|team|boss|manager|wife|husband|partner|son|"
    r"daughter|mother|father|mom|dad|sister|brother|dog|cat|email|e-mail|phone(?: number)?|address|hometown|"
    r"native language|time ?zone|favou?rite \w+(?: \w+)?)(?:'s name)?(?: is|'s| are)\b",
    r"(?:^|[,;:.!]\s*|\b(?:hi|hello|hey|and|please|just|you can)[, ]+)(?:call me|i'?m called|i go by)\b",
    r"\bi (?:live|work|grew up|was born) (?:in|at|as|for|on)\b|\bi(?:'m| am) (?:from|based in|allergic|vegan|"
    r"vegetarian|lactose|diabetic|married|(?:a|an) \w*(?:er|or|ist|ant|ian|"
    r"nurse|chef|student|lawyer|doctor|pilot|vegan|vegetarian))\b",
    # what somebody likes and does
    r"\bi (?:really |absolutely |generally |usually |strongly |much |also |would |do )*(?:prefer|hate|dislike|"
    r"can'?t stand|can(?:not|'t) (?:eat|drink))\b",
    r"\bi (?:really |absolutely |also |do )*(?:like|love|enjoy)\b(?! to (?:see|know|ask)\b)",
    r"\bi (?:always|never|usually|normally) (?!(?:get|see|have (?:this|that|the)|thought|knew|meant|said|saw|"
    r"heard|got|forget)\b)\w+",
    r"\bmy preferences?\b|\bi(?:'d| would) rather (?:you )?(?:always|never)\b|\bi (?:want|"
    r"need) you to (?:always|never)\b",
    # what shall hold
    r"(?:^|[,;:.!\-–—(]\s*|\b(?:please|and|but|or|you (?:must|should)|must|should)\s+)(?:always|"
    r"never(?: ever)?)\s+(?!mind\b)\w+",
    r"\b(?:every|each) time (?:you|i|we)\b|\b(?:as a rule|by default),? (?:please|use|always|never|do|i|you)\b",
    # the same in Chinese
    r"(?<!我)(?<!还)(?<!你)(?:记住|记着|牢记|记好)(?!了[吗么])|(?:请|帮我|给我|麻烦)(?:你|您)?记(?:一?下|录)|"
    r"(?<!我)(?<!不)(?<!你)(?<!还)记得(?!吗|不)|(?:不要|别|不能)忘记?了?(?!带)",
    r"以后(?:都|请|要|不|别|就|每|统一|一律|你|我(?:都|要|不))|今后|往后(?:都|请|要|不)|从(?:现在|今天|今)(?:起|开始|往后|以后)|从今往后|每次都|每次.{0,12}(?:都|"
    r"要|先)|永远(?:不|别|都|要)|一律|始终(?:用|要|使用|保持)|"
    r"总是(?:用|要)|默认(?:用|使用|都)",
    r"我(?:的名字|全名|叫(?!你|他|她|它|了)|姓)(?!什么)|(?:可以|请|就)?(?:叫|称呼)我(?!去|来|做|干|帮|给|们)",
    r"我(?:的)?(?:生日|职业|工作|岗位|职位|公司|老家|家乡|母语|时区|邮箱|电话|手机号?|地址|住址|专业|爱好|昵称|网名|团队|老板|领导|爱人|老婆|妻子|老公|丈夫|对象|女朋友|男朋友|"
    r"儿子|女儿|"
    r"孩子|爸爸?|妈妈?|父亲|母亲|哥哥?|姐姐?|弟弟?|妹妹?|猫|狗)(?:的(?:名字|生日))?(?:是|叫|为|在|：|:)",
    r"我(?:住在?|家住|家在|来自|出生于|毕业于|就职于|任职于|供职于|在.{1,16}(?:工作|上班|上学|读书|任职))|我是(?:一|个|名|做|搞|学|教|素食|"
    r"[^，。,.!！?？]{0,8}(?:人$|人[，。,.]|师|员|生(?![气成])|医生|律师|"
    r"程序员|设计师|产品经理|学生|老师|护士|会计|编辑|作家|主义者))",
    r"我(?:平时|平常|一般|通常|一直|总是|从来|从|向来|最|更|比较|很|非常|特别|挺|蛮|超|也|真的|还是)*(?:不(?:太|怎么|大|是很)?)?(?:喜欢|偏好|偏爱|讨厌|热爱|爱(?:吃|喝|"
    r"看|听|玩|用|好)|习惯|忌口|不吃|不喝|吃素)",
    r"我(?:从来|从)不|我(?:对).{1,16}过敏|我.{0,6}过敏|我的(?:偏好|习惯|口味|忌口|原则|要求)|偏好(?:是|为|：|:)",
)

_PASSING = _any(
    r"\bdo(?:n'?t| not)? (?:you|i|we|they) (?:even |still |really )?remember\b|\b(?:do|did|can|could|will|"
    r"would) (?:you|anyone) .{0,40}remember\b|\b(?:i|we|you|they|he|she) (?:do(?:n'?t| not) |can(?:'?t|"
    r"not) )?remember\b|"
    r"\bif i remember\b|\bas far as i remember\b|\bi(?:'d| would) like\b|\blooks? like\b|\b(?:he|she|they|it|"
    r"which|that) (?:always|never)\b",
    r"我记得|记不记得|是不是|要不要|可不可以|能不能|如果我|假如|比如|例如|听说|据说|他说|她说",
)
_QUESTION = re.compile(r"[?？]['\"”’)）」』]*\s*$|[吗呢么]\s*[。.!！]?\s*$")
_CODE = re.compile(
    r"[{};]\s*$|^\s*(?:[$>#|]|//|/\*|</?\w|@\w)|^\s*[\w.\[\]'\"]+\s*(?:=|:=|->)\s*\S|^\s*[\"'][^\"']*[\"']\s*:"
)
_FENCE = re.compile(r"\s*(?:```|~~~)")
_COURTESY = _any(
    r"\b(?:you(?: a|')re (?:very )?welcome|my pleasure|any ?time|(?:how|what) (?:can|may) i (?:help|assist|do for)|"
    r"(?:help|assist) you|glad (?:to help|i could help)|today|"
    r"(?:please )?let me know if (?:you (?:need|have|want)|there is) (?:any|some)(?:thing)?(?: else| more)?"
    r"(?: questions?| help)?)\b",
    r"不用谢|不谢|别客气|有(?:什么|啥)(?:我)?(?:可以|能)帮(?:到|助)?(?:你|您|上忙|忙)?的?|需要(?:我)?帮忙|请问|很高兴(?:能)?(?:帮|为)(?:到|助)?(?:你|您)(?:服务)?|吗",
    r"\b(?:good (?:morning|afternoon|evening|night)|ok(?:ay)?|yes|yep|yeah|sure|no|nope|no (?:problem|worries)|"
    r"thank you|thanks?|thx|ty|so much|very much|a lot|great|good|perfect|nice|cool|fine|awesome|hi|hello|hey|"
    r"bye|goodbye|"
    r"go (?:ahead|on)|continue|proceed|please|right|correct|exactly|got it|i see|understood|sounds good|"
    r"that works|welcome|you'?re welcome|done|lgtm|there|you)\b",
    r"当然|好的?|行|可以|嗯|是的?|对的?|没错|谢谢|多谢|感谢|辛苦|不客气|你好|您好|早上好|早安?|晚上好|晚安|再见|拜拜|继续|收到|明白|知道|了解|没问题|不用|不错|很好|太|棒|赞|哈|嗨|"
    r"在吗|吧|啊|呀|哦|啦|了|你|您|们",
)

_SENTENCE_CHARS = 300
_ENDS = 20  # sentences at either end of a message; what lies between was pasted


def prose(text: str) -> list[str]:
    """The sentences of a message, without code and quotations, each on one line; of a long one those at its ends."""
    sentences, in_code = [], False
    for sentence in split_sentences(text):
        if _FENCE.match(sentence):
            in_code = not in_code
        elif not in_code and not _CODE.search(sentence):
            sentences.append(" ".join(sentence.split()))
    return sentences if len(sentences) <= 2 * _ENDS else sentences[:_ENDS] + sentences[-_ENDS:]


def is_standing(sentence: str) -> bool:
    """Whether a sentence of a user states something that holds beyond the conversation: identity, preference, rule."""
    if len(sentence) > _SENTENCE_CHARS or _QUESTION.search(sentence):
        return False
    return bool(_STANDING.search(sentence)) and not _PASSING.search(sentence)


def is_courtesy(text: str) -> bool:
    """Whether a message is a greeting, thanks, or a bare yes or no."""
    return len(text) <= 80 and not any(map(str.isalnum, _COURTESY.sub("", text)))
