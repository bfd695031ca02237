"""What a model may merge: two ordinary sentences of one meaning; never two of which one word makes another fact."""

from __future__ import annotations

import json
from datetime import timedelta
from pathlib import Path

import pytest

from credenda import Credenda, MemoryUnit
from credenda.testing import ManualClock, Question, ScriptedModel

SAME = (
    ("Podcasts help me fall asleep.", "I fall asleep with podcasts.", "Podcasts help me fall asleep."),
    ("Crowded trains stress me.", "I find crowded trains stressful.", "I find crowded trains stressful."),
    ("I can't bear humid weather.", "Humid weather annoys me.", "I can't bear humid weather."),
    ("I jog every day.", "I go jogging daily.", "I jog every day."),
    ("I use vim for everything.", "Vim is my editor for everything.", "I use Vim for everything."),
    ("Spreadsheets are how I plan trips.", "I plan my trips in spreadsheets.", "I plan my trips in spreadsheets."),
    ("I enjoy going to flea markets.", "Flea markets are a joy for me.", "I enjoy going to flea markets."),
    ("Cooking relaxes me.", "I unwind by cooking.", "Cooking relaxes me."),
    ("I want replies without jargon.", "Please keep replies free of jargon.", "I want replies without jargon."),
    ("Pair programming works well for me.", "I like to program in pairs.", "I like pair programming."),
    ("I want short answers.", "I prefer short answers.", "I prefer short answers."),
    ("Trains are what I prefer over buses.", "I prefer trains over buses.", "I prefer trains over buses."),
    ("My desk is by the window.", "The window is right next to my desk.", "My desk is by the window."),
    (
        "I get the most done before noon.",
        "My most productive hours are before noon.",
        "I get the most done before noon.",
    ),
    ("Spicy food disagrees with me.", "I can't handle spicy food.", "I can't handle spicy food."),
    ("I love quiet mornings.", "I enjoy quiet mornings.", "I enjoy quiet mornings."),
    ("Late trains ruin my day.", "I find late trains awful.", "I find late trains awful."),
    ("I swim every day.", "I swim each day.", "I swim every day."),
    ("Wool upsets my skin.", "My skin can't tolerate wool.", "My skin can't tolerate wool."),
    (
        "Loud music in restaurants annoys me.",
        "I'm annoyed by loud music in restaurants.",
        "Loud music in restaurants annoys me.",
    ),
    ("Clutter on my desk bothers me.", "I'm bothered by clutter on my desk.", "Clutter on my desk bothers me."),
    ("I can't eat anything spicy.", "Spicy food doesn't agree with me.", "I can't eat spicy food."),
    ("We never ship on Fridays.", "On Fridays we don't ship anything.", "We never ship on Fridays."),
    ("I'd rather walk than take the bus.", "I prefer walking to taking the bus.", "I'd rather walk than take the bus."),
)
APART = (
    ("Hanna keeps bees.", "Irma keeps bees.", "Hanna keeps bees."),
    ("Robert keeps bees.", "Roberts keeps bees.", "Robert keeps bees."),
    ("Marta leads the choir.", "Martin leads the choir.", "Martin leads the choir."),
    ("I sing with Olga.", "I sing with Petra.", "I sing with Olga."),
    ("I sing with Olga.", "I sing in a choir with a friend.", "I sing with a friend."),
    ("James paints boats.", "Thomas paints boats.", "James paints boats."),
    ("I use Kotlin at work.", "I use Scala at work.", "I use Kotlin at work."),
    ("The shed has 3 doors.", "The shed has 4 doors.", "The shed has 3 doors."),
    ("The shed has three doors.", "The shed has doors.", "The shed has doors."),
    ("I own a pair of kayaks.", "I own kayaks.", "I own kayaks."),
    ("The rent is 700 euros.", "The rent is 700 dollars.", "The rent is 700 euros."),
    ("I water the plants weekly.", "I water the plants daily.", "I water the plants daily."),
    ("I jog every day.", "I jog every month.", "I jog every day."),
    ("The market is on Saturday.", "The market is on Sunday.", "The market is on Saturday."),
    ("The fair opens on May 4th.", "The fair opens on May 5th.", "The fair opens on May 4th."),
    ("The bakery opens in the morning.", "The bakery opens in the evening.", "The bakery opens in the morning."),
    ("I drink milk.", "I don't drink milk.", "I drink milk."),
    ("The trip filled my whole week.", "The trip filled my whole month.", "The trip filled my whole week."),
    ("I see my physio each week.", "I see my physio each month.", "I see my physio each week."),
    ("Spicy food disagrees with me.", "Spicy food agrees with me.", "Spicy food agrees with me."),
    ("I drink milk.", "I never drink milk.", "I never drink milk."),
    ("I have a car.", "I have no car.", "I have a car."),
    ("I eat fish, but not meat.", "I eat meat, but not fish.", "I eat fish, but not meat."),
    ("I eat fish and not meat.", "Fish is what I eat.", "I eat fish."),
    ("I take coffee with sugar.", "I take coffee without sugar.", "I take coffee with sugar."),
    ("I take coffee without sugar.", "I take my coffee without sugar.", "I take my coffee."),
    ("I take coffee without sugar.", "I take my coffee without sugar.", "I take my coffee with sugar."),
    ("I like opera.", "I can't stand opera.", "I like opera."),
    ("I like opera.", "Opera annoys me.", "Opera annoys me."),
    ("Noise does not bother me.", "Noise bothers me.", "Noise bothers me."),
    ("I live near the harbour.", "I used to live near the harbour.", "I live near the harbour."),
    ("I'm going to Oslo by train.", "I go to Oslo by train.", "I go to Oslo by train."),
    ("I will sell the boat.", "I sell the boat.", "I sell the boat."),
    ("I work only in the office.", "I work in the office.", "I work in the office."),
    ("I call before visiting.", "I call after visiting.", "I call before visiting."),
    ("I stopped jogging.", "I jog.", "I jog."),
    ("I quit fencing.", "I fence.", "I quit fencing."),
    ("I want a canoe.", "I have a canoe.", "I have a canoe."),
    ("I'd like to get a canoe.", "I got a canoe.", "I got a canoe."),
    ("My brother bakes bread.", "My sister bakes bread.", "My sister bakes bread."),
    ("My wife's shop opens early.", "My wife's shop opens late.", "My wife's shop opens early."),
    ("I teach full time.", "I teach part time.", "I teach part time."),
    ("I prefer trains over buses.", "I prefer buses over trains.", "I prefer trains over buses."),
    ("I would rather walk than drive.", "I would rather drive than walk.", "I would rather walk than drive."),
    ("I play the oboe.", "I play the tuba.", "I play the oboe."),
    ("Lunch is at one.", "We have lunch at one.", "We have lunch."),
    ("Lunch is at one.", "Lunch is at two.", "Lunch is at one."),
    ("I relish autumn.", "I resent autumn.", "I relish autumn."),
    ("Olga admires me.", "I admire Olga.", "I admire Olga."),
    ("Olga often helps Petra.", "Petra often helps Olga.", "Olga often helps Petra."),
    ("I lent Olga a tent.", "Olga lent me a tent.", "I lent Olga a tent."),
    ("I am older than Petra.", "Petra is older than me.", "Petra is older than me."),
    ("I rent my garage.", "I own my garage.", "I rent my garage."),
    ("I need a kayak.", "I need boots.", "I need boots."),
    ("I come from Bergen.", "I come to Bergen.", "I come to Bergen."),
    ("I hope to sail.", "I sail.", "I sail."),
)


def merge(path: Path, clock: ManualClock, told: tuple[str, ...], written: str) -> list[str]:
    """Tell sentences, let a model merge them all into one text, and return what is held then."""

    def answer(question: Question) -> dict[str, object]:
        first, *rest = [one["id"] for one in json.loads(question.prompt)["entries"]]
        return {"operations": [{"op": "replace", "target": first, "with": rest, "kind": "same", "text": written}]}

    model = ScriptedModel(answer)
    with Credenda.open(path, user="ana", clock=clock, workers=False, embedder="hashed", llm=model) as mem:
        for text in told:
            mem.store(MemoryUnit(text=text, type="preference", topic="life", confidence=0.9))
            clock.advance(timedelta(minutes=1))
        mem.settle()
        mem.manage.consolidate(similarity_threshold=0.45, force=True)
        assert len(model.asked) == 1
        return sorted(one.text for one in mem.list(limit=50).items)


@pytest.mark.requirement("S-041", "C-001")
@pytest.mark.parametrize(("told", "written"), [((one, other), text) for one, other, text in SAME])
def test_ordinary_sentences_of_one_meaning_are_merged(
    path: Path, clock: ManualClock, told: tuple[str, str], written: str
) -> None:
    assert merge(path, clock, told, written) == [written]


@pytest.mark.requirement("D-016", "S-043")
@pytest.mark.parametrize(("told", "written"), [((one, other), text) for one, other, text in APART])
def test_a_merge_that_loses_or_invents_something_is_refused(
    path: Path, clock: ManualClock, told: tuple[str, str], written: str
) -> None:
    assert merge(path, clock, told, written) == sorted(told)


@pytest.mark.requirement("S-043")
def test_a_capital_that_nothing_explains_may_be_a_name(path: Path, clock: ManualClock) -> None:
    told = ("I concentrate well without noise.", "Quiet helps me concentrate.")
    assert merge(path, clock, told, told[0]) == list(told)
