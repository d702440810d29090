# -*- coding: utf-8 -*-
"""When something is to be remembered: rules as text, and requests in Chinese and English."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agentscope_reme._errors import ConfigError
from agentscope_reme.refine._requests import asks_to_forget, asks_to_forget_all, asks_to_remember
from agentscope_reme.refine._triggers import (
    DEFAULT_TRIGGERS,
    CaptureState,
    Trigger,
    due,
    parse_triggers,
    to_store_at_once,
)

ASKED = [
    ("记住，我对花生过敏", ["我对花生过敏"]),
    ("请记住我叫李雷。另外帮我查一下天气。", ["我叫李雷"]),
    ("我對花生過敏，請記住", ["我對花生過敏"]),
    ("我对花生过敏，记住了。", ["我对花生过敏"]),
    ("帮我记一下：明天下午3点开会", ["明天下午3点开会"]),
    ("把我的生日记下来，是5月5日", ["我的生日，是5月5日"]),
    ("以后记得用中文回答", ["用中文回答"]),
    ("别忘了明天交报告", ["明天交报告"]),
    ("请牢记以下几点：\n1. 不吃辣\n2. 不喝酒", ["不吃辣", "不喝酒"]),
    ("我下周去东京。记住这个。", ["我下周去东京"]),
    ("记住,我递归总是学不好", ["我递归总是学不好"]),
    ("Remember that I'm allergic to peanuts.", ["I'm allergic to peanuts"]),
    ("I'm vegetarian, remember that.", ["I'm vegetarian"]),
    ("Remember the following:\n- I like tea\n- I hate coffee", ["I like tea", "I hate coffee"]),
    ("Can you remember this: my birthday is May 5.", ["my birthday is May 5"]),
    ("Could you remember that I never fly?", ["I never fly?"]),
    ("Please remember to buy milk", ["remember to buy milk"]),
    ("keep in mind that the port is 8443", ["the port is 8443"]),
    ("hey, remember my name is Bob", ["my name is Bob"]),
    ("From now on, call me Bob", ["call me Bob"]),
]
NOT_ASKED = [
    "你还记得我说过什么吗？",
    "你记得吗",
    "记得吗？",
    "我记得你说过这个",
    "记住了吗？",
    "这个公式怎么记住？",
    "我总是记不住单词",
    "她记住了我的名字",
    "你能记住我的名字吗",
    "do you remember what I said?",
    "Do you remember that I like tea",
    "Remember when we met?",
    "I remember that day",
    "I still remember my first bike.",
    "the thing to remember is that tests matter",
    "今天天气真好",
    "",
    "以后再说吧",
    "以后我想早睡",
    "记得小时候住在乡下",
    "I'll never forget that day",
    "we don't forget our friends",
    "勿忘我",
]

CUES_ZH = [
    *("记住，{}", "记住{}", "请记住了，{}", "记住啦{}", "给我记住：{}", "你要永远记住：{}", "记住下面这句话：{}"),
    *(
        "别忘了{}",
        "千万别忘了{}",
        "不要忘记{}",
        "不要忘记了{}",
        "可别忘了，{}",
        "你别忘啦{}",
        "千万不要忘掉{}",
        "勿忘{}",
    ),
    *("请记得{}", "你要记得{}", "务必记得，{}", "帮我记一下{}", "麻烦记下来：{}", "备注：{}", "从现在起，{}，别忘了"),
    *("{}，请记住", "{}，记住了哦", "{}，千万别忘了。", "{}，你可要记得", "{}。记住这句话", "{}。请你永远记住这句话"),
]
STATEMENTS_ZH = [
    *("我对海鲜过敏", "我不吃猪肉", "不吃辣", "没有糖我也喝咖啡", "了解客户最重要", "我什么都吃", "下周三我要出差"),
    *(
        "一点辣也不能吃",
        "掉头发的时候我很难过",
        "记账的App叫小算盘",
        "下面的路口左转是我家",
        "哈尔滨是我老家",
        "每周二我去看妈妈",
    ),
]
CUES_EN = [
    *(
        "Remember that {}.",
        "Remember: {}",
        "remember, {}",
        "Please always remember {}",
        "Make sure you remember that {}",
    ),
    *(
        "Don't forget that {}.",
        "Do not forget: {}",
        "Never forget {}",
        "don't you forget {}",
        "I want you to remember that {}",
    ),
    *(
        "Keep in mind that {}",
        "Please take note that {}",
        "Write this down: {}",
        "For the record: {}",
        "From now on, {}",
    ),
    *("Going forward, {}", "{}, don't forget that.", "{}, please remember this", "{}. Please remember these words."),
]
STATEMENTS_EN = [
    *(
        "I'm allergic to peanuts",
        "my dog is called Rex",
        "the code is 4711",
        "always reply in French",
        "Thatcher is my cat",
    ),
    *("aboutness is my field", "we never eat pork", "no sugar for me"),
]
TAILS_ZH = ["，别忘了", "，千万别忘", "，请记住", "，谢谢", "，拜托了", "。记住这句话"]
TAILS_EN = [", don't forget that", ", please", ", thanks", ", remember this", ". Remember that forever"]
ASKING_ZH = st.tuples(st.sampled_from(CUES_ZH), st.sampled_from(STATEMENTS_ZH))
ASKING_EN = st.tuples(st.sampled_from(CUES_EN), st.sampled_from(STATEMENTS_EN))
ASKING_TWICE = st.one_of(
    st.tuples(
        st.sampled_from(["", *openings]),
        st.sampled_from([cue for cue in cues if cue.endswith("{}")]),
        st.sampled_from(statements),
        st.lists(st.sampled_from(tails), max_size=2).map("".join),
    )
    for openings, cues, statements, tails in (
        (["对了，", "你好，"], CUES_ZH, STATEMENTS_ZH, TAILS_ZH),
        (["Hey, ", "Oh, thanks, "], CUES_EN, STATEMENTS_EN, TAILS_EN),
    )
)


@pytest.mark.parametrize(("text", "contents"), ASKED)
def test_what_is_asked_for_is_taken_in_its_own_words(text: str, contents: list[str]) -> None:
    assert asks_to_remember(text) == contents


@pytest.mark.parametrize("text", NOT_ASKED)
def test_questions_and_recollections_ask_for_nothing(text: str) -> None:
    assert asks_to_remember(text) == []


@settings(max_examples=400)
@given(ASKING_ZH | ASKING_EN)
def test_what_is_taken_is_the_statement_and_no_piece_of_the_request(asking: tuple[str, str]) -> None:
    cue, statement = asking
    told = f"从现在起，{statement}" if cue.startswith("从现在起") else statement
    assert asks_to_remember(cue.format(statement)) == [told]


@settings(max_examples=400)
@given(ASKING_TWICE)
def test_a_request_made_twice_or_kindly_leaves_the_statement_alone(asking: tuple[str, str, str, str]) -> None:
    opening, cue, statement, tail = asking
    assert set(asks_to_remember(f"{opening}{cue.format(statement)}{tail}")) == {statement}


@pytest.mark.parametrize(
    ("text", "contents"),
    [
        ("帮我记住哈，我下周去北京", ["我下周去北京"]),
        ("我住在杭州，请记住，别忘了", ["我住在杭州"]),
        ("Remember this please: I hate fish", ["I hate fish"]),
        ("Remember these please:\n- tea\n- rice", ["tea", "rice"]),
        ("Remember that my mother says always remember the milk", ["my mother says always remember the milk"]),
        ("我对花生过敏，记住，谢谢", ["我对花生过敏"]),
        ("记住医生说要记住吃药", ["医生说要记住吃药"]),
        *((f"Remember {this}", []) for this in ("this forever", "that for later.", "this, please", "it always")),
    ],
)
def test_no_piece_of_a_request_is_taken(text: str, contents: list[str]) -> None:
    assert asks_to_remember(text) == contents


@pytest.mark.parametrize(
    ("text", "content"),
    [
        ("以后叫我老王", "叫我老王"),
        ("从现在起用英文回答我", "用英文回答我"),
        ("今后请都用中文", "请都用中文"),
        ("以后不要再给我推荐烤肉", "不要再给我推荐烤肉"),
        ("call me Bob from now on", "call me Bob"),
        ("From now on, please answer in French.", "answer in French"),
    ],
)
def test_how_things_are_to_be_from_now_on_is_asked_for(text: str, content: str) -> None:
    assert asks_to_remember(text) == [content]


@pytest.mark.parametrize(
    "text", ["请你永远记住这句话", "记住我说的话", "Always remember these words", "remember that sentence"]
)
@pytest.mark.parametrize(
    "rule", ["explicit", "user_contains:记住", "user_contains:remember", "user_matches:记住|remember"]
)
def test_what_points_elsewhere_is_never_stored_itself(text: str, rule: str) -> None:
    triggers = parse_triggers([rule])
    assert to_store_at_once(triggers, text) == {}
    meant = to_store_at_once(triggers, text, previous="我属龙。")
    assert set(meant) in ({"我属龙"}, set())
    if rule == "explicit":
        assert set(meant) == {"我属龙"}
        assert set(to_store_at_once(triggers, f"我属虎。{text}", previous="我属龙。")) == {"我属虎"}


def test_this_means_the_message_before() -> None:
    assert asks_to_remember("记住这个", previous="我住在苏州。") == ["我住在苏州"]
    assert asks_to_remember("Please remember this.", previous="I live in Oslo.") == ["I live in Oslo"]
    assert asks_to_remember("记住这个", previous="请记住我住在苏州。") == ["我住在苏州"]
    assert asks_to_remember("记住这个") == []


@given(st.sampled_from(ASKED), st.sampled_from(NOT_ASKED[:13]), st.booleans())
def test_talk_around_a_request_changes_nothing(asked: tuple[str, list[str]], talk: str, before: bool) -> None:
    text, contents = asked
    joined = f"{talk}\n{text}" if before else f"{text}\n{talk}"
    if "这个" not in text:
        assert asks_to_remember(joined) == contents


@pytest.mark.parametrize(
    ("text", "subjects"),
    [
        ("忘掉我之前说的关于减肥的事", ["减肥"]),
        ("把我说的关于前女友的事都忘掉吧", ["前女友"]),
        ("请删除关于我家地址的所有记忆", ["我家地址"]),
        ("忘掉我喜欢川菜这件事", ["喜欢川菜"]),
        ("Forget everything about my ex", ["my ex"]),
        ("please forget that I like jazz.", ["I like jazz"]),
        ("Delete all memories about my job.", ["my job"]),
        ("忘掉一切关于猫的事", ["猫"]),
        ("请删除你知道的关于工作的一切", ["工作"]),
        ("Forget all I told you about work", ["work"]),
        ("Forget about it.", []),
        ("Erase my data", []),
        ("别忘了我的生日", []),
        ("我忘了带伞", []),
        ("你忘了我的名字吗", []),
        ("I forgot my keys", []),
        ("don't forget my birthday", []),
    ],
)
def test_what_is_to_be_forgotten(text: str, subjects: list[str]) -> None:
    assert asks_to_forget(text) == subjects


@pytest.mark.parametrize(
    ("kind", "bare"),
    [
        ("你可以{}吗？", "忘掉我的地址"),
        ("能不能请你{}？", "忘掉关于猫的事"),
        ("你能{}吗", "把我的地址忘掉"),
        ("{}，好吗？", "请忘掉关于猫的事"),
        ("我想让你{}", "忘掉关于猫的事"),
        ("Could you {}?", "forget my address"),
        ("Hey, can you please {}, please?", "delete everything about my cat"),
        ("I want you to {}.", "forget my old address"),
        ("I'd like you to {}", "erase all memories about my job"),
    ],
)
def test_a_kind_request_asks_for_what_the_bare_one_does(kind: str, bare: str) -> None:
    assert asks_to_forget(kind.format(bare)) == asks_to_forget(bare) != []


@pytest.mark.parametrize(
    "text",
    [
        *(
            "你能忘掉痛苦吗？",
            "你会忘掉我的生日吗？",
            "可以删除文件吗？",
            "我不想让你忘掉我的地址",
            "别把我的地址忘了",
            "你能清楚地告诉我吗",
        ),
        *("Can you forget a language?", "Would you ever forget my name?", "I don't want you to forget my birthday"),
    ],
)
def test_a_question_about_forgetting_asks_for_nothing(text: str) -> None:
    assert asks_to_forget(text) == []
    assert not asks_to_forget_all(text)


@given(
    st.sampled_from(
        ["忘掉一切关于{}的事", "忘掉关于{}的一切", "Forget all I told you about {}", "Forget everything on {}."]
    ),
    st.sampled_from(["猫", "工作", "work", "the morning"]),
)
def test_everything_about_something_is_not_everything(request: str, subject: str) -> None:
    assert asks_to_forget(request.format(subject)) == [subject]
    assert not asks_to_forget_all(request.format(subject))


RULES = st.one_of(
    st.sampled_from(["explicit", "session_end", "user_contains:记住", "user_matches:^重要"]),
    st.integers(1, 10**6).map("round_count:{}".format),
    st.integers(1, 10**6).map("token_count:{}".format),
    st.floats(0.1, 1e6).map("idle:{}".format),
)
STATES = st.builds(
    CaptureState,
    rounds=st.integers(0, 100),
    tokens=st.integers(0, 10_000),
    idle=st.floats(0, 1000),
    ended=st.booleans(),
)


@given(st.lists(RULES, max_size=5))
def test_rules_are_read_in_their_order(rules: list[str]) -> None:
    assert [each.name for each in parse_triggers(rules)] == rules


@pytest.mark.parametrize(
    "rule",
    [
        *("sometimes", "round_count", "round_count:", "round_count:0", "round_count:2.5", "token_count:-3", "idle:x"),
        *("idle:inf", "user_contains:", "user_matches:(", "explicit:1", "", ":", 7),
    ],
)
def test_an_unknown_rule_is_refused_by_name(rule: str) -> None:
    with pytest.raises(ConfigError, match="trigger rule"):
        parse_triggers([rule])


@pytest.mark.parametrize(
    ("rule", "why"),
    [
        ("sometimes", "'sometimes' is none of them"),
        ("round_count", "needs a value"),
        ("round_count:2.5", "'2.5' is no whole number above 0"),
        ("idle:x", "'x' is no number above 0"),
        ("user_matches:(", "no regular expression"),
        ("explicit:1", "takes nothing"),
    ],
)
def test_a_rule_that_is_refused_says_why(rule: str, why: str) -> None:
    with pytest.raises(ConfigError, match=why):
        parse_triggers([rule])


@given(st.lists(RULES, max_size=5), STATES)
def test_a_chinese_colon_is_a_colon(rules: list[str], state: CaptureState) -> None:
    wide = parse_triggers([rule.replace(":", "：", 1) for rule in rules])
    one, other = due(parse_triggers(rules), state), due(wide, state)
    assert (one and one.name) == (other and other.name.replace("：", ":", 1))


def test_a_predicate_of_ones_own_stores_at_once() -> None:
    mine = Trigger("deadline", "at_once", chosen=lambda sentence: "截止" in sentence)
    assert to_store_at_once(parse_triggers([mine]), "你好。周五截止。") == {"周五截止。": "deadline"}
    with pytest.raises(ConfigError, match="'never'"):
        Trigger("x", "never")  # type: ignore[arg-type]
    with pytest.raises(ConfigError, match="chosen"):
        Trigger("x", "at_once", chosen="截止")  # type: ignore[arg-type]


def test_a_function_that_fails_counts_as_one_that_does_not_apply(caplog: pytest.LogCaptureFixture) -> None:
    def divides(_: object) -> bool:
        return bool(1 / 0)

    triggers = parse_triggers([divides, Trigger("mine", "at_once", chosen=divides), "explicit", "round_count:1"])
    found = due(triggers, CaptureState(rounds=1))
    assert found is not None
    assert found.name == "round_count:1"
    assert to_store_at_once(triggers, "记住，我属龙") == {"我属龙": "explicit"}
    assert "'divides' failed" in caplog.text
    assert "'mine' failed" in caplog.text


def test_an_unknown_rule_names_all_forms() -> None:
    with pytest.raises(ConfigError, match=r"explicit.*user_contains.*round_count.*token_count.*idle.*session_end"):
        parse_triggers(["every_full_moon"])
    with pytest.raises(ConfigError, match="list of rules"):
        parse_triggers("explicit")


@given(st.lists(RULES, max_size=5), STATES)
def test_more_of_everything_never_makes_less_due(rules: list[str], state: CaptureState) -> None:
    triggers = parse_triggers(rules)
    more = CaptureState(state.rounds + 1, state.tokens + 100, state.idle + 1, True, state.user_text)
    assert due(triggers, state) is None or due(triggers, more) is not None


@given(st.lists(RULES, max_size=5), st.floats(0, 1e7), st.booleans())
def test_nothing_new_is_never_due(rules: list[str], idle: float, ended: bool) -> None:
    assert due(parse_triggers(rules), CaptureState(0, 0, idle, ended)) is None


def test_a_rule_is_due_from_its_number_on() -> None:
    triggers = parse_triggers(["round_count:10", "token_count:4000", "idle:300"])
    assert due(triggers, CaptureState(rounds=9, tokens=3999, idle=299)) is None
    assert due(triggers, CaptureState(rounds=10)).name == "round_count:10"
    assert due(triggers, CaptureState(tokens=4000)).name == "token_count:4000"
    assert due(triggers, CaptureState(rounds=1, idle=300)).name == "idle:300"
    assert due(parse_triggers(["session_end"]), CaptureState(rounds=1, ended=True)).name == "session_end"


def test_a_function_is_a_rule() -> None:
    def after_a_question(state: CaptureState) -> bool:
        return state.user_text.endswith("?")

    triggers = parse_triggers([after_a_question])
    assert due(triggers, CaptureState(rounds=1, user_text="why?")).name == "after_a_question"
    assert due(triggers, CaptureState(rounds=1, user_text="so.")) is None


def test_what_is_stored_at_once_and_by_which_rule() -> None:
    triggers = parse_triggers(["user_contains:很重要", "explicit", "user_matches:^TODO"])
    assert to_store_at_once(triggers, "这个接口很重要。记住，端口是8443。\nTODO: fix it\n随便说说。") == {
        "这个接口很重要。": "user_contains:很重要",
        "端口是8443": "explicit",
        "TODO: fix it": "user_matches:^TODO",
    }
    assert to_store_at_once(parse_triggers(["round_count:2"]), "记住，端口是8443。") == {}


def test_a_word_that_asks_is_no_content() -> None:
    """The seeds' rule `user_contains:记住` stores what is asked for, and never a question about it."""
    triggers = parse_triggers(["user_contains:记住"])
    assert list(to_store_at_once(triggers, "记住，我递归总是学不好。")) == ["我递归总是学不好"]
    assert to_store_at_once(triggers, "你记住我的名字了吗？") == {}


@given(st.text(max_size=300))
def test_any_text_can_be_asked_of(text: str) -> None:
    for content in to_store_at_once(parse_triggers(DEFAULT_TRIGGERS), text, previous=text):
        assert content.strip()
    assert all(subject.strip() for subject in asks_to_forget(text))
