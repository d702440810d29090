# -*- coding: utf-8 -*-
"""The words that give away what a sentence is for, in English and in Chinese."""

from __future__ import annotations

import re
from collections.abc import Iterable

__all__ = [
    "ASKING_BACK",
    "CHOICE",
    "CLOSING",
    "COMPLETION",
    "COURTESY",
    "DECISION",
    "INTENTION",
    "NOT_COMPLETE",
    "NO_RULE",
    "ORDERS",
    "PLAN",
    "REQUEST",
    "RULE",
    "TROUBLE",
    "Cue",
]


class Cue:
    """Patterns of both languages for text in lower case, tried only where the script occurs.

    Ignoring case in the patterns themselves would take several times as long.
    """

    def __init__(self, english: Iterable[str], chinese: Iterable[str]) -> None:
        self._english = re.compile("|".join(english))
        self._chinese = re.compile("|".join(chinese))

    def found_in(self, text: str) -> bool:
        """Whether one of the patterns occurs."""
        lowered = text.lower().replace("’", "'")
        return bool((not text.isascii() and self._chinese.search(lowered)) or self._english.search(lowered))

    def removed_from(self, text: str) -> str:
        """The text without what the patterns match."""
        return self._chinese.sub("", self._english.sub("", text.lower()))


_MADE = (
    "added|created|updated|removed|renamed|replaced|installed|wrote|written|changed|modified|moved|deleted|booked|"
    "cancel+ed|refunded|processed|sent|saved|fixed|migrated|refactored|configured|converted|extracted|generated|"
    "upgraded|built|set up|corrected|applied|submitted"
)

REQUEST = Cue(
    english=[
        r"\b(?:please|pls|(?:can|could|would|will) you|help me|let'?s|let us|i(?:'d| would) (?:like|love|prefer)|"
        r"i(?:'m| am) (?:looking|trying|hoping)|"
        r"i (?:also )?(?:want|need|wish|hope)|we (?:want|need)|(?:your|the) (?:task|job|goal) is|make sure|"
        r"how (?:do|can|to|should|about)|(?:tell|show|give) me)\b",
        r"^\W*(?:(?:thanks|thank you|ok|okay|great|good|yes|sure|perfect)\b[\s,.!]*)*(?:also |then |now |next |and |"
        r"first )?(?:fix|add|make|write|create|build|implement|refactor|rename|"
        r"remove|delete|update|change|move|find|check|"
        r"run|test|deploy|install|explain|summari[sz]e|translate|review|analy[sz]e|compare|list|read|open|search|"
        r"look|try|do|use|set|continue|start|stop|"
        r"generate|convert|migrate|optimi[sz]e|debug|investigate|plan|draft|book|cancel|send|get|show|tell|give|"
        r"recommend|suggest|rewrite|revert|solve|"
        r"recall|rank|keep|extend|upgrade)\b",
        r"\?\s*$",
    ],
    chinese=[
        r"请(?!求|假|客|教|柬|帖|愿)|帮|麻烦|劳驾|我想|我要|我需要|想要|希望|能不能|能否|可不可以|可以.{0,20}吗|给我|为我|告诉我|怎么|怎样|如何|为什么|什么|哪|吗|多少|"
        r"几[个点天次月年]|是不是|有没有|需要你|任务是|目标是|接着|继续|？\s*$",
        r"^\W*(?:(?:谢谢你?|好的?|嗯|行|可以|ok)[，,。！!\s]*)*(?:先|再|接下来|然后|现在|顺便|另外|那)*(?:把|将|给|写|改|加|删|查|看|做|读|跑|找|画|算|装|用|"
        r"生成|实现|修复|修改|优化|重构|分析|解释|总结|翻译|推荐|检查|部署|"
        r"测试|整理|增加|添加|删除|更新|迁移|创建|新建|设计|列出|对比|比较|调研|排查|任务)",
    ],
)

RULE = Cue(
    english=[
        r"\b(?:must(?! have)|mustn't|shall|has to|have to|required? to|make sure|be sure to|ensure that|only (?:use|"
        r"touch|change|edit|reply|answer|run|write|buy|book)|"
        r"(?:you|code|output|answers?|repl(?:y|ies)|responses?|names?|tests?|files?) should(?:n't| not)?|"
        r"should (?:always|never|only|not)|no more than|at (?:most|least) (?:\d|one|two|three|a |once|twice)|"
        r"under no circumstances|avoid|(?:is|are|strictly) forbidden|not allowed|remember(?: that| to)?|"
        r"keep in mind|from now on|by default|"
        r"without (?:using|changing|touching|breaking|modifying)|(?:i|we) (?:really |always |usually |also |would |"
        r"do )*(?:prefer|like|love|hate|dislike|enjoy)|"
        r"i'd (?:prefer|rather)|prefer(?:ably|s)?|my favou?rite|stick (?:to|with)|my budget|budget (?:is|of)|"
        r"deadline|allergic|"
        r"can(?:not|'t) (?:eat|use|have|afford|exceed)|do not|don't (?:forget|want|like|need|have to))\b",
        r"(?:(?:^|[,;:.!(\-–—])\s*|\b(?:please|and|but|or|to|so|should|must) )(?:always|never|don'?t|only)\b",
    ],
    chinese=[
        r"必须|务必|一定要|一定得|不要|不能|不可以?(?!能|思议)|不得(?!不)|不许|不准|不允许|禁止|严禁|切勿|请勿|请用|请始终|始终|永远|一律|统一(?:用|使用|为|采用)|"
        r"一直(?:用|要|保持|使用)|以后(?:都|请|要|不)|今后|每次都|从现在起|记住|记得|牢记|注意[：:，,]|偏好|(?:我|用户|更|最|很|非常|比较)喜欢|偏爱|讨厌|(?:我|用户)习惯|"
        r"爱吃|过敏|忌口|不吃|最好(?:是|能|用|不|在)|尽量|默认(?:用|为|是|使用)|优先(?:使用|采用|用|选|考虑|保证|级|[。，,；]|$)|不超过|不少于|不多于|不高于|不低于|限制在|"
        r"控制在|以内|之内|仅限|"
        r"只(?:能|准|许|可)(?:用|使用|改|是|写|动)|只用|只改|只需|要求(?:是|：|:)|遵守|不想要?|无需|不需要|不用(?!了|谢)|(?:^|请|要|应该?|尽量|必须|务必)避免|"
        r"预算(?:是|为|在|不|控制|大概|约|\d)|截止(?:日期|时间|到|是)",
        r"(?<![特区分级类性个识鉴告离差辨派国])别(?:再|用|改|动|删|加|碰|去|让|把|给|写|忘|太|超|搞|发|回|做|管|乱|直接|随便|自动|提交|推)",
    ],
)
NO_RULE = Cue(
    english=[
        r"\b(?:should (?:i|we)|do i have to|must i|i (?:still |also |just )*(?:have|had|don'?t have) to|"
        r"i (?:don'?t|do not) (?:know|think|remember|see|understand|have|recall)|(?:we|they|it|he|she|that|"
        r"this) (?:don'?t|doesn'?t|do not|does not|never|always|only)|"
        r"i(?:'d| would) (?:like|love) (?:to|you|some|a|an|the)|should (?:now )?(?:work|be (?:fine|ok|here|there))|"
        r"(?:what|how) should|i always (?:get|see)|"
        r"if i remember|(?:sound|look|thing|feel|seem)s? like)\b",
    ],
    chinese=[
        r"我记得|不用了|不要紧|不能不|要不要|能不能|该不该|是不是必须|不能(?:正常|登录|访问|打开|显示|运行|工作)|(?:必须|一定要|只能)[^。]{0,20}[吗么][？?]?$",
    ],
)

DECISION = Cue(
    english=[
        r"\b(?:decid(?:ed|ing)|decision (?:is|was|made)|chose|chosen|opted (?:for|to)|(?:going|went) with|"
        r"settled on|agreed (?:on|to|that)|"
        r"switch(?:ed|ing)? (?:from \S+ )?to|in favou?r of|concluded|root cause|the (?:fix|solution|reason|"
        r"cause) (?:is|was)|caused by|due to a bug|"
        r"set to(?= \S)|(?:i|we|you) changed (?:\S+ ){1,6}to)\b",
    ],
    chinese=[
        r"决定|采用|改为|改成|改用|选择了|选用|选定|确定(?:用|为|采用|使用|下来)|敲定|就用|换成|换用|统一(?:用|为|使用)|约定(?!俗)|方案(?:是|为|定|选)|定为|定在|定下|"
        r"(?:不再|放弃)(?:用|使用)|根本?原因|问题(?:出在|在于|根源)",
    ],
)
CHOICE = Cue(
    english=[
        r"\b(?:(?:let's|let us|we'?ll|i'?ll|we should) (?:use|go with|stay with|switch)|instead of|rather than|"
        r"(?:go|stay) with (?:the|option|plan|version))\b",
    ],
    chinese=[r"用.{1,20}(?:吧|就行|即可|好了)|而不是"],
)

COMPLETION = Cue(
    english=[
        rf"^\W*(?:{_MADE})\b",
        r"\b(?:done|(?:is|are|now) complete|completed|finished|(?:is|are|now|already) fixed|fixed (?:the|it|this|"
        r"that|by|in)|implemented|resolved|succeeded|"
        r"success(?:ful|fully)?|passe[sd]|passing|works? (?:now|correctly|as expected)|now works?|deployed|merged|"
        r"verified|confirmed|solved|all set|"
        rf"(?:i|we)(?:'ve| have| just|) (?:now |also |just |already |successfully )*(?:{_MADE}|reproduced|"
        rf"identified|located|found)|"
        rf"(?:has|have|was|were|is|are)(?: now| been| also| successfully| just| already)+ (?:\w+ )?(?:{_MADE}))\b",
    ],
    chinese=[
        r"已经?(?:[^，。；你您]{0,12})(?:完成|完毕|好了|成功|通过)|已(?:经)?(?:完成|修复|添加|创建|更新|删除|部署|修改|保存|发送|迁移|安装|配置|提交|合并|改|写|加|建|接入|"
        r"支持|上线|解决|通过|验证|确认|预订|取消|退款)|完成(?:了|$|[。！!，,])|搞定|修好|做好了|改好|写好|(?:全部|都|测试)通过|通过了|修复了|添加了|创建了|更新了|删除了|"
        r"实现了|部署了|解决了|迁移了|配置了|安装了|上线了|新增了|改完|跑通",
    ],
)
NOT_COMPLETE = Cue(
    english=[
        r"^\W*you(?:'ve| have| are|'re)\b",
        r"\b(?:not|never|isn't|aren't|wasn't|haven't|hasn't|hadn't|didn't|won't|can't|cannot|couldn't|without|"
        r"unless|if|once|when|after|until|before|should|would|could|"
        r"may|might|to be|will be|(?:i|we) will|(?:i|we)'ll|let's|let me|need(?:s|ed)? to|has to|have to|must|want|"
        r"check|see|whether|ensure|"
        r"make sure|(?:verify|confirm) (?:that|if|whether))\b",
    ],
    chinese=[
        r"^\W*[你您]|未|尚|没有?(?:完|修|做|成|解|通)|还没|需要|等.{0,12}(?:后|之后|再)|如果|是否|之前|以便|才能|将会?|准备|打算|确保|不成功|失败",
    ],
)

TROUBLE = Cue(
    english=[
        r"\b(?:fail(?:s|ed|ing|ure)?|errors?|exception|crash(?:es|ed)|broken|blocked|stuck|unable to|does(?:n't|"
        r" not) (?:work|exist|match)|didn't (?:work|match)|"
        r"(?:can(?:not|'t)|couldn't|could not) (?:be|find|access|connect|open|reach|reproduce|proceed|continue|"
        r"complete|process)|timed? ?out|denied|refused|rejected|"
        r"not (?:found|available|possible|permitted|allowed|supported))\b",
    ],
    chinese=[
        r"失败|报错|出错|(?:出现|抛出|发生|连接|网络|系统|运行)异常|崩溃|无法|不能(?:用|访问|连接|打开)|卡住|受阻|阻塞|超时|找不到|不存在|被拒绝|拒绝访问|没有权限|权限不足|"
        r"冲突|不可用|没法继续",
    ],
)

PLAN = Cue(
    english=[
        r"\b(?:next steps?|todo|to-do|to do:|remaining|still (?:need|have|has|needs|missing|open|pending)|"
        r"the next (?:thing|step)|"
        r"plan(?:s|ned|ning)? (?:is )?to|outstanding)\b",
    ],
    chinese=[
        r"下一步|后续|待办|还需要?|还要|还差|还剩|剩下|稍后|之后(?:再|要|会|需)|计划(?!书)|打算|仍需|尚需|有待|未完成|尚未"
    ],
)
INTENTION = Cue(
    english=[
        r"\b(?:(?:we|i) should|will need to|let me|let's|let us|i'?ll|i will|i(?:'m| am) (?:going|about) to|i(?:'m|"
        r" am) now|now i|(?:i|we) need to|currently|"
        r"working on|in progress|proceed(?:ing)?(?: to| with)|going to)\b",
    ],
    chinese=[
        r"接下来|然后再|准备(?!好)|让我|我来|我先|我会|我将|我去|现在(?:来|去|开始|检查|修|改)|正在|进行中|开始|先看|先查|着手|这就"
    ],
)

ASKING_BACK = Cue(
    english=[
        r"\b(?:(?:please|kindly) (?:provide|confirm|share|tell|let me know|specify|choose|send)|let me know)\b|\?"
    ],
    chinese=[r"请(?:您|你)?(?:先)?(?:提供|告诉|告知|确认|选择|说明|发)|？"],
)
COURTESY = Cue(
    english=[
        r"\b(?:ok(?:ay)?|yes|yep|yeah|sure|no problem|no worries|no|nope|thank you|thanks?|thx|ty|great|good|"
        r"perfect|nice|cool|fine|hi|hello|hey|bye|goodbye|go ahead|"
        r"go on|(?:please )?(?:do|continue|proceed)|right|correct|exactly|got it|i see|understood|sounds good|"
        r"that'?s|that is|all|you'?re welcome|welcome|done|alright|"
        r"so much|very much|talk (?:to you )?soon|see you|a lot|for (?:your|the) help|i appreciate (?:it|your help|"
        r"that)|there|of course|"
        r"absolutely|certainly|i can help(?: you)?(?: with that)?|"
        r"happy to help|have a (?:great|nice|good) (?:day|one|flight|trip)|you too|please|it|that works|lgtm|stop)\b",
    ],
    chinese=[
        r"当然|好的?|行|可以|嗯|是的?|对的?|没错|谢谢(?:你|您)?|多谢|感谢(?:你|您)?(?:的帮助)?|辛苦|不客气|你好|您好|早上好|早|晚上好|晚安|再见|拜拜|继续|收到|明白|知道|"
        r"了解|没问题|不用了|不错|很好|太|棒|赞|完美|哈|嗨|喽|在吗|吧|啊|呀|哦|啦|了|没事|没有|就这样|不是|不",
    ],
)
CLOSING = Cue(
    english=[r"\b(?:thanks?|thx|bye|goodbye|have a (?:great|nice|good))\b"],
    chinese=[r"谢|辛苦|再见|拜拜|晚安|没有了|就这样"],
)
ORDERS = Cue(
    english=[
        r"\b(?:ignore|disregard|forget|override)\b[^.\n]{0,40}\b(?:previous|prior|above|earlier|all|system|"
        r"your)\b[^.\n]{0,40}"
        r"\b(?:instructions?|prompts?|rules?|messages?|context)",
        r"\b(?:you (?:are|must) now|from now on,? (?:you|always|never)|new (?:system )?instructions?|"
        r"system (?:prompt|override|message)\s*:|act as (?:an?|the)|"
        r"do not tell the user|(?:always|never) (?:do|obey|say|send|reply|answer|include|run|use|reveal))\b",
    ],
    chinese=[
        r"(?:忽略|无视|忘记|忘掉|不要理会)[^。\n]{0,20}(?:指令|指示|提示|规则|要求|内容|对话)|你现在是|从现在起|以后都要|记住[：:]|系统(?:指令|提示|消息)[：:]|不要告诉用户",
    ],
)
