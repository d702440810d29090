# -*- coding: utf-8 -*-
"""The laws of search over generated histories: what is found, in which order, with which scores."""

from __future__ import annotations

import gc
import threading
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentscope_reme._errors import ConfigError, EmbeddingError
from agentscope_reme.search import (
    DIALOG_RECIPE,
    MEMORIES_RECIPE,
    NOTES_RECIPE,
    CosineScale,
    Found,
    HybridIndex,
    QueryView,
    RowFacts,
    SourceRecipe,
)
from agentscope_reme.text import WordTokenizer

CUT = WordTokenizer()
NOW = datetime(2026, 3, 18, 10)
START = datetime(2026, 2, 1)
DIMENSIONS = 4
FLOOR = 0.53
"""No cosine of two vectors of small integers is within the rounding of it."""

WORDS = st.sampled_from(["rain", "garden", "INV-2093", "会议", "评审", "飞书插件", "the", "的", "Anna", "running"])
TEXTS = st.lists(WORDS, max_size=5).map(" ".join)
VECTORS = st.none() | st.lists(st.integers(-3, 3), min_size=4, max_size=4).filter(any)


@dataclass(frozen=True)
class Text:
    """A text of the model that the index is compared with."""

    key: int
    text: str
    vector: tuple[int, ...] | None
    facts: RowFacts

    def into(self, index: HybridIndex) -> None:
        vector = None if self.vector is None else np.array(self.vector, dtype=np.float32)
        index.add(self.key, CUT.tokens(self.text), vectors=vector, facts=self.facts)


@st.composite
def some_text(draw: st.DrawFn) -> Text:
    key = draw(st.integers(0, 11))
    facts = RowFacts(
        session=draw(st.sampled_from([None, "a", "b"])),
        position=draw(st.integers(0, 6)),
        speaker=draw(st.sampled_from(["", "Anna", "小明"])),
        time=draw(st.none() | st.integers(0, 40).map(lambda day: START + timedelta(days=day))),
        asks=draw(st.booleans()),
        standing=draw(st.sampled_from([0.0, 1.0])),
    )
    vector = draw(VECTORS)
    return Text(key, draw(TEXTS), None if vector is None else tuple(vector), facts)


HISTORIES = st.lists(some_text() | st.integers(0, 11), max_size=20)
QUERIES = st.sampled_from(
    ["rain", "rain in the garden", "INV-2093", "会议评审", "Anna running 2026-02-10", "2月10日的会议", "Anna"]
)
RECIPES = st.sampled_from([NOTES_RECIPE, MEMORIES_RECIPE, DIALOG_RECIPE]).map(
    lambda recipe: recipe.with_cosine(CosineScale(FLOOR, 0.9)),
)
QUERY_VECTORS = st.none() | st.lists(st.integers(-3, 3), min_size=4, max_size=4).filter(any).map(np.array)


def replayed(history: list[Text | int], recipe: SourceRecipe) -> tuple[HybridIndex, dict[int, Text]]:
    """A number is a removal."""
    index, texts = HybridIndex(recipe, DIMENSIONS), {}
    for step in history:
        if isinstance(step, Text):
            step.into(index)
            texts.pop(step.key, None)
            texts[step.key] = step
        else:
            assert index.remove(step) == (texts.pop(step, None) is not None)
    assert len(index) == len(texts)
    return index, texts


def eligible(texts: dict[int, Text], query: QueryView, vector: np.ndarray | None) -> set[int]:
    by_word = {key for key, text in texts.items() if set(CUT.tokens(text.text)) & set(query.tokens)}
    if vector is None:
        return by_word
    by_meaning = {
        key
        for key, text in texts.items()
        if text.vector is not None
        and np.dot(text.vector, vector) / np.linalg.norm(text.vector) / np.linalg.norm(vector) >= FLOOR
    }
    return by_word | by_meaning


def around(texts: dict[int, Text], keys: set[int], before: int, after: int) -> set[int]:
    """The neighbours of some texts in their sessions: those that have one of them among their texts before or after."""
    joined = set()
    for session in {text.facts.session for text in texts.values()} - {None}:
        inside = sorted((t for t in texts.values() if t.facts.session == session), key=lambda t: t.facts.position)
        for place, text in enumerate(inside):
            near = [*inside[max(0, place - before) : place], *inside[place + 1 : place + 1 + after]]
            if any(other.key in keys for other in near):
                joined.add(text.key)
    return joined


@given(HISTORIES, QUERIES, RECIPES, QUERY_VECTORS)
def test_what_is_eligible_is_found_and_its_neighbours(history, text, recipe, vector) -> None:  # type: ignore[no-untyped-def]
    index, texts = replayed(history, recipe)
    query = QueryView.of(text, CUT, NOW)
    found = index.search(query, 100, vector=vector)
    keys = [place.key for place in found]
    exact = eligible(texts, query, vector)
    assert len(set(keys)) == len(keys)
    assert exact <= set(keys)
    assert set(keys) <= exact | around(texts, exact, len(recipe.before), len(recipe.after))
    assert bool(found) == bool(exact)
    for place in found:
        assert 0 < place.score <= 1
        assert sum(place.parts.values()) == pytest.approx(place.order, abs=1e-3)
    assert [place.order for place in found] == sorted((place.order for place in found), reverse=True)


@given(HISTORIES, QUERIES, RECIPES, QUERY_VECTORS)
def test_an_index_with_a_past_answers_like_a_new_one(history, text, recipe, vector) -> None:  # type: ignore[no-untyped-def]
    index, texts = replayed(history, recipe)
    fresh, _ = replayed(list(texts.values()), recipe)
    query = QueryView.of(text, CUT, NOW)
    answers = [{f.key: f for f in i.search(query, 100, vector=vector)} for i in (index, fresh, index)]
    assert answers[0] == answers[2]
    assert set(answers[0]) == set(answers[1])
    for key, place in answers[0].items():
        assert place.score == pytest.approx(answers[1][key].score, abs=1e-6)
        assert place.order == pytest.approx(answers[1][key].order, abs=1e-6)


@given(HISTORIES, QUERIES, RECIPES, QUERY_VECTORS, st.sets(st.integers(0, 11)), st.integers(1, 4))
def test_what_is_filtered_takes_no_place(history, text, recipe, vector, keys, k) -> None:  # type: ignore[no-untyped-def]
    index, texts = replayed(history, recipe)
    query = QueryView.of(text, CUT, NOW)
    every = index.search(query, 100, vector=vector, allowed=keys)
    best = index.search(query, k, vector=vector, allowed=keys)
    assert {place.key for place in every} <= keys
    assert eligible(texts, query, vector) & keys <= {place.key for place in every}
    assert best == every[:k]


@given(HISTORIES, QUERIES, RECIPES, QUERY_VECTORS, st.floats(0, 1))
def test_min_score_takes_away_and_reorders_nothing(history, text, recipe, vector, least) -> None:  # type: ignore[no-untyped-def]
    index, _ = replayed(history, recipe)
    query = QueryView.of(text, CUT, NOW)
    every = index.search(query, 100, vector=vector)
    assert index.search(query, 100, vector=vector, min_score=least) == [f for f in every if f.score >= least]


@pytest.mark.parametrize("text", ["的了？", "what is the", "", "🎉", "你是谁"])
def test_stop_words_find_nothing(text: str) -> None:
    index = HybridIndex(DIALOG_RECIPE, 2)
    index.add(1, CUT.tokens("你是谁的了 what is the garden"), vectors=np.array([1.0, 0.0]))
    assert index.search(QueryView.of(text, CUT, NOW), 5, vector=np.array([1.0, 0.0])) == []


def search(notes: list[str], query: str, k: int = 10, recipe: SourceRecipe = NOTES_RECIPE) -> list[int]:
    return [place.key for place in found_in(notes, query, k, recipe)]


def found_in(notes: list[str], query: str, k: int = 10, recipe: SourceRecipe = NOTES_RECIPE) -> list[Found]:
    index = HybridIndex(recipe)
    for number, note in enumerate(notes):
        index.add(number, CUT.tokens(note))
    return index.search(QueryView.of(query, CUT, NOW), k, min_score=0.1)


@pytest.mark.parametrize(
    ("notes", "query", "first"),
    [
        (["明天下午三点开项目评审会议讨论排期"], "评审", 0),
        (["明天下午三点开项目评审会议讨论排期", "今天下雨"], "项目评审会议", 0),
        (["我们用 9router 做 rerank，配置在 GOALS.md", "rerank 的配置"], "goals.md", 0),
        (["今天很好", "伦敦风很大"], "伦敦", 1),
        (["买菜", "GitHub 备份脚本昨晚上传失败"], "GitHub备份脚本上传失败", 1),
        (["飞书的插件在后台配置", "飞机票"], "飞书插件配置", 0),
        (["今日は成語しりとりをした"], "しりとり", 0),
        (["오늘 끝말잇기 게임을 했다"], "끝말잇기", 0),
        (["We tried Qwen.", "We tried it."], "Qwen", 0),
        (["工单 ZX-4471 已关闭", "工单 ZX-4472 已关闭"], "ZX-4471", 0),
    ],
)
def test_the_right_note_comes_first(notes: list[str], query: str, first: int) -> None:
    assert search(notes, query)[0] == first


def test_each_of_three_words_is_enough() -> None:
    notes = ["微信读书很好用", "书架满了", "我的阅读偏好", "天气"]
    assert sorted(search(notes, "微信读书 书架 阅读偏好")) == [0, 1, 2]


def test_no_shared_word_finds_nothing() -> None:
    assert search(["番茄炒蛋", "糖醋排骨", "蒸鸡蛋羹", "红烧肉", "凉拌黄瓜"], "量子计算") == []


def test_a_keyword_hit_survives_orthogonal_vectors_and_scores_differ() -> None:
    index = HybridIndex(NOTES_RECIPE, 3)
    index.add("a", CUT.tokens("工单 ZX-4471 已关闭"), vectors=np.array([1.0, 0, 0]))
    index.add(
        "b", CUT.tokens("ZX-4471 ZX-4471 的所有工单都在这里，很长很长的一段说明文字"), vectors=np.array([0, 1.0, 0])
    )
    index.add("c", CUT.tokens("买菜清单"), vectors=np.array([0.1, 0, 1.0]))
    found = index.search(QueryView.of("ZX-4471", CUT, NOW), 5, vector=np.array([0, 0.1, 1.0]), min_score=0.1)
    scores = {place.key: place.score for place in found}
    assert scores["a"] != scores["b"]
    assert min(scores["a"], scores["b"]) > 0.5


def test_an_exact_code_goes_before_all_that_is_merely_near() -> None:
    index, near = HybridIndex(NOTES_RECIPE, 2), np.array([1.0, 0.0])
    index.add("code", CUT.tokens("工单 OPS-1234 转给小王"), vectors=np.array([0.0, 1.0]))
    for number in range(20):
        index.add(number, CUT.tokens(f"第 {number} 张工单：打印机坏了"), vectors=np.array([1.0, 0.01 * number]))
    assert index.search(QueryView.of("OPS-1234", CUT, NOW), 5, vector=near)[0].key == "code"
    assert index.search(QueryView.of("OPS-1234 是什么工单", CUT, NOW), 5, vector=near)[0].key == "code"
    assert index.search(QueryView.of("OPS-9999 打印机", CUT, NOW), 5, vector=near)[0].key == 0


@pytest.mark.parametrize(
    ("text", "codes"),
    [
        ("INV-2093 and goals.md", {"inv-2093", "goals.md"}),
        ("snake_case v2.1 13800138000", {"snake_case", "v2.1", "13800138000"}),
        ("well-being in May 2023 on 2023-05-07, 3.14", set()),
        ("会议评审 5月2日", set()),
    ],
)
def test_codes(text: str, codes: set[str]) -> None:
    assert set(QueryView.of(text, CUT, NOW).codes) == codes


def test_a_corpus_of_one_has_a_score_of_its_own() -> None:
    (whole,) = found_in(["the garden in the rain"], "garden rain")
    (half,) = found_in(["the garden in the rain"], "garden tractor")
    assert whole.score > half.score > 0.1


def test_an_unrelated_text_of_the_nearest_is_not_sure() -> None:
    index = HybridIndex(NOTES_RECIPE, 2)
    index.add(1, CUT.tokens("番茄炒蛋"), vectors=np.array([1.0, 0.0]))
    angle = np.arccos(0.1)
    assert index.search(QueryView.of("量子计算", CUT, NOW), 5, vector=np.array([np.cos(angle), np.sin(angle)])) == []


def test_texts_of_one_digest_take_one_place() -> None:
    index = HybridIndex()
    for number in range(6):
        index.add(number, CUT.tokens("rain in the garden"), facts=RowFacts(digest=77))
    index.add(9, CUT.tokens("rain again and again in town"), facts=RowFacts(digest=78))
    assert [place.key for place in index.search(QueryView.of("rain garden", CUT, NOW), 2)] == [0, 9]


def test_an_answer_is_found_by_its_question() -> None:
    index = HybridIndex(DIALOG_RECIPE)
    turns = [("Anna", "你最喜欢哪种花？"), ("小明", "向日葵吧"), ("Anna", "好的"), ("小明", "明天见")]
    for place, (speaker, text) in enumerate(turns):
        facts = RowFacts(session=1, position=place, speaker=speaker, asks="？" in text)
        index.add(place, CUT.tokens(text), facts=facts)
    found = index.search(QueryView.of("小明喜欢什么花", CUT, NOW), 2)
    assert [place.key for place in found] == [1, 0]
    assert found[0].parts["neighbours"] > 0


def test_dates_and_speakers_lift() -> None:
    index = HybridIndex(DIALOG_RECIPE)
    for key, (speaker, day) in enumerate([("Anna", 1), ("Anna", 20), ("Bob", 20)]):
        facts = RowFacts(session=key, speaker=speaker, time=datetime(2025, 5, day))
        index.add(key, CUT.tokens("we went to the market"), facts=facts)
    found = index.search(QueryView.of("which market did Anna go to on 20 May?", CUT, NOW), 3)
    assert [place.key for place in found] == [1, 2, 0]
    assert [place.key for place in index.search(QueryView.of("Anna", CUT, NOW), 3)] == []


def test_the_name_of_a_speaker_is_no_word_unless_it_is_all_there_is() -> None:
    index = HybridIndex(DIALOG_RECIPE)
    index.add(1, CUT.tokens("Hey Anna, how are you"), facts=RowFacts(speaker="Bob"))
    index.add(2, CUT.tokens("I painted a sunset"), facts=RowFacts(speaker="Anna"))
    assert [f.key for f in index.search(QueryView.of("What did Anna paint?", CUT, NOW), 3)] == [2, 1]
    assert [f.key for f in index.search(QueryView.of("Anna", CUT, NOW), 3)] == [1]


def test_standing_decides_between_equals() -> None:
    index = HybridIndex()
    index.add("memory/2026-03-01.md", CUT.tokens("likes black tea"))
    index.add("MEMORY.md", CUT.tokens("likes black tea"), facts=RowFacts(standing=1.0))
    assert index.search(QueryView.of("black tea", CUT, NOW), 2)[0].key == "MEMORY.md"


def test_vectors_can_come_later_change_and_go() -> None:
    index, query, vector = HybridIndex(NOTES_RECIPE, 2), QueryView.of("tractor", CUT, NOW), np.array([1.0, 0])
    index.add(1, CUT.tokens("garden"))
    assert index.dimensions == 2
    assert index.search(query, 5, vector=vector) == []
    index.set_vectors([(1, np.array([[0, 1.0], [1.0, 0.1]])), (2, vector)])
    assert [place.key for place in index.search(query, 5, vector=vector)] == [1]
    with pytest.raises(EmbeddingError):
        index.set_vectors([(1, np.ones(3))])
    index.drop_vectors(3)
    assert index.search(QueryView.of("garden", CUT, NOW), 5, vector=np.ones(3))[0].key == 1
    index.drop_vectors()
    assert index.dimensions == 0
    with pytest.raises(EmbeddingError, match="words alone"):
        index.set_vectors([(1, vector)])


def test_the_text_to_embed_has_pronouns_for_the_names_of_speakers() -> None:
    query = QueryView.of("What did Anna's brother 小明的 Bobby say about painting?", CUT, NOW)
    assert query.without(["Anna", "小明", "Bob"]) == "What did their brother 他的 Bobby say about painting?"
    assert QueryView.of("Anna?", CUT, NOW).without(["Anna"]) == "Anna?"


@pytest.mark.parametrize(
    "change",
    [{"vector_weight": 1.1}, {"vector_weight": -0.1}, {"date_decay": 0}, {"long_text": 0}],
)
def test_a_recipe_that_cannot_work(change: dict[str, float]) -> None:
    with pytest.raises(ConfigError):
        replace(NOTES_RECIPE, **change)  # type: ignore[arg-type]


def test_a_scale_that_cannot_work() -> None:
    with pytest.raises(ConfigError, match="floor"):
        CosineScale(0.6, 0.3)


def test_searches_while_another_thread_writes_return_what_is_there() -> None:
    index, faults = HybridIndex(DIALOG_RECIPE, 2), []
    index.add("stays", CUT.tokens("rain in the garden"), vectors=np.array([1.0, 0]), facts=RowFacts(session=0))

    def write() -> None:
        for i in range(150):
            facts = RowFacts(session=i % 3, position=i, speaker="Anna")
            index.add(f"t{i % 7}", CUT.tokens(f"rain {i}"), vectors=np.array([1.0, i]), facts=facts)
            index.remove(f"t{(i * 3) % 7}")

    def read() -> None:
        query = QueryView.of("rain garden", CUT, NOW)
        for _ in range(100):
            keys = [place.key for place in index.search(query, 50, vector=np.array([1.0, 0]))]
            if "stays" not in keys or None in keys or len(set(keys)) != len(keys):
                faults.append(keys)

    threads = [threading.Thread(target=work) for work in (write, read, read)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert faults == []


def test_the_garbage_collector_has_no_object_for_each_text_or_word() -> None:
    """It stops the whole process, event loop included, for as long as it takes to visit every object there is."""

    def grown(start: int) -> int:
        for key in range(start, start + 500):
            facts = RowFacts(session=("day", key // 40), position=key, speaker=f"s{key % 9}", time=NOW, asks=True)
            index.add(key, [f"word{key}", f"word{key + 1}", "rain"], vectors=np.ones((2, 2)), facts=facts)
        gc.collect()
        return len(gc.get_objects())

    index = HybridIndex(DIALOG_RECIPE, 2)
    before = grown(0)
    assert grown(500) - before < 100
