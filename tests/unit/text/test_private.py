"""What is cut as private, and what is not."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from credenda.private import PrivateParts, cut_private, cut_private_fields, has_private, is_off_record
from credenda.text.recalled_block import extract_spoken

PIECES = st.sampled_from(
    ["<private>", "</private>", "<PRIVATE a='b'>", "<private", "</private", "<pri", "vate>", ">", " ", "\n", "tea", "`"]
)


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ("I like tea.", "I like tea."),
        ("Tea <private>zorkmid</private> and jam", "Tea  and jam"),
        ("Tea <Private>zorkmid</PRIVATE> and jam", "Tea  and jam"),
        ("Tea\n<private>\nzorkmid\n</private>\nand jam", "Tea\n\nand jam"),
        ("<private>zorkmid</private> tea <private>zorkmid</private>", "tea"),
        ("Tea <private reason='a > b' x=\"<\">zorkmid</private > jam", "Tea  jam"),
        ("Tea <private\n  class=x\n>zorkmid</private> jam", "Tea  jam"),
        ("Tea <private/>zorkmid", "Tea"),
        ("Tea <private>zorkmid", "Tea"),
        ("Tea <private>a <private>b</private> zorkmid</private> jam", "Tea  jam"),
        ("Tea <private>a <private>b</private> zorkmid", "Tea"),
        ("pass<private>zorkmid</private>word", "pass word"),
        ("<pri<private>x</private>vate>tea</private>", "<pri vate>tea</private>"),
        ("I call it `<private>zorkmid</private>` there", "I call it ` ` there"),
        ("```\n<private>\nzorkmid\n```\ntea", "```"),
        ("<private>zorkmid</private>", ""),
        ("Tea < private >zorkmid</ private > jam", "Tea  jam"),
        ("Tea <  PRIVATE>zorkmid< / private> jam", "Tea  jam"),
        ("Tea <private\\n>zorkmid</private> jam", "Tea  jam"),
        ("Is public < private, or x < private && y > z?", "Is public < private, or x < private && y > z?"),
        ("<\u200bprivate>tea \uff1cprivate\uff1ejam", "<\u200bprivate>tea \uff1cprivate\uff1ejam"),
        ("Tea </private> jam", "Tea </private> jam"),
        (
            "A <private-key> and a <privateer> &lt;private&gt; tea",
            "A <private-key> and a <privateer> &lt;private&gt; tea",
        ),
        ("<private>zorkmid</privateer> zorkmid", ""),
    ],
)
def test_private_parts_are_cut_and_the_rest_stays(text: str, kept: str) -> None:
    assert cut_private(text) == kept
    assert has_private(text) == (text != kept)
    assert cut_private(kept) == kept


@given(st.lists(PIECES, max_size=30).map("".join))
def test_cutting_twice_cuts_no_more_than_once(text: str) -> None:
    once = cut_private(text)
    assert cut_private(once) == once


@given(st.lists(PIECES, max_size=20).map("".join))
def test_lines_are_cut_as_the_whole_text_is(text: str) -> None:
    if any(one in text for one in ("<private\n", "</private\n")):  # a tag over two lines is read by its first
        return
    parts = PrivateParts()
    lines = "".join("".join(parts.cut(line).split()) for line in text.split("\n"))
    assert lines == "".join(cut_private(text).split())


@pytest.mark.parametrize(
    "piece",
    [
        *("<private>", "<private", "</private>", "</private ", "<private>x</private>", "<", "<private ", "<private\n"),
        *("</", "< ", " ", "< private", "< private > ", "</ private "),
        *("don't save this ", "off the record ", "said off the record, ", "please don't ", ". and so don't "),
        *("no need to ", "don't save that i ", "don't save my ", "this is not for "),
    ],
)
def test_a_million_characters_take_no_longer_than_their_number(piece: str) -> None:
    def measure(count: int) -> float:
        text = piece * (count // len(piece))
        begun = time.process_time()
        extract_spoken(text)
        cut_private(text)
        return time.process_time() - begun

    measure(10_000)
    small, large = measure(100_000), measure(1_000_000)
    assert large < 60 * small + 1.0  # a quadratic one takes 100 times as long


def test_a_private_name_takes_its_value_along_at_any_depth() -> None:
    given = {"a": [{"<private>z</private>": "z", "b <private>z": ("<private>z</private>tea", 7)}], "": None}
    assert cut_private_fields(given) == {"a": [{"b": ["tea", 7]}], "": None}


@pytest.mark.parametrize(
    "text",
    [
        "Don't save this: I earn 61,000 a year.",
        "Off the record, I am leaving Ostrava in May.",
        "Please don\u2019t write this down, but I failed the bar exam.",
        "This stays between us, don't remember it: my sister is pregnant.",
        "don't remember this. my safe is behind the blue picture",
        "Do not store this: my therapist is Dr Wolff.",
        "Not for the record: I dislike my manager.",
        "Don't keep this in memory, I have an ulcer.",
        "I owe Jonas 300 euros. Don't save that.",
        "keep this off the record: we lost the client",
        "please don't commit this to memory: I voted for Ana",
        "Don't log this message. I'm seeing a lawyer.",
        "You don't have to remember this, but my ex is called Lea.",
        "I don't want you to store this: my blood group is A.",
        "Can you not save this? I am broke.",
        "He said the food is bad, don't save this.",
        "I'm interviewing at Halden, off the record.",
        "**Off the record:** I hate the new logo.",
        "Nothing I say now should be saved: I drink too much.",
        "What I'm about to say is off the record. I'm ill.",
        "This should not be saved: I voted green.",
        "Keep this out of your memory: I am bankrupt.",
        "Merk dir das nicht: ich habe Diabetes.",
        "No guardes esto: estoy embarazada.",
        "Ne retiens pas \u00e7a : je suis malade.",
        "please don't write down that I see a therapist",
        "pls dont save that i was in rehab",
        "Don't save: I'm broke",
        "do not log this: I'm pregnant",
        "this is not for your memory: my wife is cheating",
        "Please do not memorize my salary, it's 90k",
        "you don't need to store that I owe my dad 5k",
        "no need to remember that I failed the exam twice",
        "There's no need to note that my son was suspended",
        "plz dont remember my pin, its 4431",
        "Dont record this: I hit a parked car",
        "Never write down that I was adopted.",
        "I don't want you to remember that we separated",
        "could you please not save that I was fired?",
        "Can you not note down my address, it's 12 Elm Street",
        "don't jot down where I live, it's 12 Elm Street",
        "Do not keep this: I have HIV",
        "Please don't keep a record of this, I drank again",
        "make sure you don't log my diagnosis, it's bipolar",
        "I'd rather you didn't save that I voted for them",
        "don't write my weight down, it's 92 kg",
        "Don't note this down - I kissed Ben",
        "not for your memory: I gamble",
        "Not to be saved: I owe 20k",
        "You needn't store this, I'm only venting about Carla.",
        "Please do not save the following: my ex stalks me",
        "I don't want this saved: I have a second phone",
        "Keep my salary out of your notes, it's 90k",
        "please don't write anything down about my divorce, it is ugly",
        "Hey Claude, please don't save this info: I'm on parole",
        "ok so dont memorise this pls, I hate my job",
        "Don't save this number: 0151 2345678",
        "I hate my boss. Please don't write that down.",
        "You dont have to remember this but my ex is called Lea",
        "Please don't store the fact that I'm infertile",
        "do not record how much I earn, it's 90k",
        "don't log that my wife is leaving me",
    ],
)
def test_a_message_that_asks_not_to_be_kept_is_private_as_a_whole(text: str) -> None:
    assert is_off_record(text)
    assert cut_private(text) == extract_spoken(text) == ""
    assert PrivateParts().cut(text) == text


@pytest.mark.parametrize(
    "text",
    [
        "I told her not to save the file.",
        "Don't save this file as PDF.",
        "Don't save this file yet.",
        "You said it was off the record.",
        "The interview was off the record.",
        "She said: off the record, he is leaving.",
        "I said don't save it, and he did.",
        "Don't write this down on paper, put it in the wiki.",
        "He asked me not to record the meeting.",
        "Don't forget this: I'm allergic to shrimp.",
        "Don't save the draft before I review it.",
        "Why don't you remember this?",
        "You don't remember my name?",
        "Don't remember me as rude; I was tired.",
        "Don't log this warning in production.",
        "Don't commit this, run the tests first.",
        "Don't store this in the fridge, it goes bad.",
        "Don't keep it, throw it away.",
        "This is not stored anywhere.",
        "Never mind.",
        "don't forget that I am allergic to nuts",
        "I don't remember where I parked",
        "don't save me a seat, I live in Graz now",
        "My doctor told me not to write anything down during the test",
        "I didn't save my file",
        "Don't save my file, I'm still editing",
        "Don't remember where I parked.",
        "I never write down my passwords",
        "I never remember my mother's birthday, it's 3 May",
        "My boss doesn't record our meetings",
        "We don't keep cats, we keep dogs",
        "I don't keep a diary",
        "Why don't you save that I live in Graz?",
        "He said don't write that down, and I didn't",
        "My teacher told us: do not note this down",
        "Don't save my seat, I'm in Graz until Monday",
        "I don't store my bike in the cellar",
        "There's no need to save the date, the wedding is off",
        "You don't need to keep the receipt, I live in Linz",
        "Don't keep my dinner warm, I'm in Linz tonight",
        "No need to note the time.",
        "I don't log my hours",
        "Do not save the draft yet, I work at Bosch",
        "Don't log that warning in production.",
        "I can't remember that I ever met Jo",
        "My bank does not store my card number",
        "She doesn't remember that I moved to Graz",
        "Please do not take it down, I like the poster",
        "Please don't write that I am sorry in the email, I live in Graz",
        "Please remember that I'm vegan and don't save me meat",
        "Don't record over the tape, it's my wedding",
        "I don't need to remember my PIN, my wife knows it",
        "Don't put the cat down, she bites",
        "We never keep our keys in the car",
        "The museum doesn't let you take notes, I was there in May",
        "I could not save my marriage, we divorced in May",
        "don't write off my idea, I run a bakery",
        "Don't take down our tent, we stay in Tirol until Friday",
        "Never save money on shoes, I run marathons",
    ],
)
def test_words_that_resemble_a_request_for_silence_are_kept(text: str) -> None:
    assert cut_private(text) == text
    assert not is_off_record(text)


@pytest.mark.parametrize("text", ["Don't save that.", "Off the record.", "Please don't remember this!"])
def test_a_request_without_anything_else_holds_nothing_back(text: str) -> None:
    assert cut_private(text) == text
