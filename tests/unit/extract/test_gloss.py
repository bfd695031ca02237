"""Sentences of other languages in English words, and what was read of them in the words that were said."""

import os
import subprocess
import sys

import pytest

from credenda.model.claim import UpdateKind
from credenda.model.memory import MemoryType, Stance
from credenda.write.extract.conjugate import conjugated, inflected
from credenda.write.extract.gloss import glossed, language_of
from tests.waiting import PATIENCE_SECONDS

from .build import hear, only, slot


def english(text: str) -> str:
    gloss = glossed(text)
    assert gloss is not None
    return gloss.text


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("Ich bin nach Linz gezogen.", "I moved to Linz."),
        ("Seit Mai wohne ich nicht mehr in Graz.", "I no longer live in Graz"),
        ("Ich trinke keinen Kaffee mehr.", "I no longer drink coffee."),
        ("Mit dem Handball hab ich aufgehört.", "I stopped the Handball."),
        ("Wir heizen nicht mehr mit Gas, sondern mit Pellets.", "We no longer heat with Gas"),
        ("was waere wenn ich drei hunde haette", "what if I had three dogs"),
        ("Vor jedem Release erst die Tests prüfen.", "Before every release first check the tests."),
        ("Je n'habite plus à Lille, j'ai déménagé à Metz.", "I no longer live in Lille, I moved to Metz."),
        ("J'ai arrêté de fumer.", "I stopped smoking."),
        ("je supporte pas le bruit", "I do not stand bruit"),
        ("Mon dessert préféré, c'est le flan.", "My favourite dessert is the flan."),
        ("Ya no uso Sublime, ahora trabajo con VS Code.", "I no longer use Sublime, now I work with VS Code."),
        ("El café lo tomo siempre con leche.", "I drink the coffee always with milk."),
        ("A mi hijo le gusta el ajedrez.", "My son likes chess."),
        ("He dejado de comer carne.", "I stopped eating meat."),
        ("ja nao moro em lisboa", "I no longer live in lisboa"),
        ("Não moro mais em Recife, me mudei pra Natal.", "I no longer live in Recife, I moved to Natal."),
        ("o meu cunhado e canalizador", "my brother-in-law is canalizador"),
        ("Minha filha trocou o balé pela ginástica.", "My daughter swapped the balé for ginástica."),
        ("Meu filho tem sete anos.", "My son is seven years old."),
    ],
)
def test_a_sentence_is_said_in_english_words_and_order(text: str, said: str) -> None:
    assert said in english(text)


@pytest.mark.parametrize(
    "text",
    [
        "I moved to Linz.",
        "Don't use emojis.",
        "I tat lace.",
        "We met in El Paso, and drove on to La Paz.",
        "Fantastic, another software update.",
        "Use a bigger font here.",
        "My son plays the violin.",
        "Super!",
    ],
)
def test_english_is_left_alone(text: str) -> None:
    assert glossed(text) is None


@pytest.mark.parametrize(
    ("text", "language"),
    [("Toco cavaquinho no domingo.", "pt"), ("soy celiaca", "es"), ("Ich mag Tee.", "de"), ("J'aime le thé.", "fr")],
)
def test_a_short_sentence_tells_its_language(text: str, language: str) -> None:
    assert language_of(text) == language


@pytest.mark.requirement("R-035")
@pytest.mark.parametrize(
    ("text", "attribute", "value", "move"),
    [
        ("Ich bin letzte Woche nach Linz gezogen.", "residence", "Linz", UpdateKind.CHANGE),
        ("Me he mudado a Oviedo.", "residence", "Oviedo", UpdateKind.CHANGE),
        ("Mudei-me para Coimbra no mês passado.", "residence", "Coimbra", UpdateKind.CHANGE),
        ("On a déménagé à Vénissieux.", "residence", "Vénissieux", UpdateKind.CHANGE),
        ("Meine Lieblingsfarbe ist Grün.", "favourite_colour", "Grün", UpdateKind.STATE),
        ("A minha cor favorita é o azul-petróleo.", "favourite_colour", "azul-petróleo", UpdateKind.STATE),
        ("Je suis allergique à la pénicilline.", "allergy", "pénicilline", UpdateKind.STATE),
    ],
)
def test_what_was_read_is_told_in_the_words_that_were_said(
    text: str, attribute: str, value: str, move: UpdateKind
) -> None:
    claim = only(text)
    assert (claim.entity, claim.attribute, claim.value, claim.move) == ("user", attribute, value, move)


@pytest.mark.requirement("R-040", "D-005")
@pytest.mark.parametrize(
    "text",
    [
        "Hätte ich damals Medizin studiert, wäre ich jetzt Ärztin.",
        "Fais comme si j'étais ta grand-mère.",
        "Haz como si fueras mi profesor de piano.",
        "Faz de conta que és o meu treinador.",
        "Sou campeão olímpico de xadrez, tô brincando.",
    ],
)
def test_a_supposition_is_faint_in_any_language(text: str) -> None:
    assert all(one.confidence <= 0.3 for one in hear(text))


@pytest.mark.parametrize(
    "text",
    ["Ich überlege, mir ein E-Bike zuzulegen.", "j'hesite a changer de banque", "to cogitando trocar de operadora"],
)
def test_a_plan_is_no_fact(text: str) -> None:
    claims = hear(text)
    assert claims
    assert all(one.stance in {Stance.CONSIDERED, Stance.PLANNED} or one.confidence <= 0.3 for one in claims)


@pytest.mark.parametrize(
    "text", ["Warte kurz, es klingelt gerade.", "resumeme este texto porfa", "Estou com dor de cabeça hoje.", "Salut"]
)
def test_talk_is_passed_over(text: str) -> None:
    assert hear(text) == []


@pytest.mark.requirement("R-045")
def test_somebody_elses_fact_is_theirs() -> None:
    assert slot("mein opa wohnt in flensburg") == ("user's grandfather", "residence", "flensburg")


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("Decidi vender a moto.", MemoryType.DECISION),
        ("Schreib mir bitte immer auf Englisch.", MemoryType.PREFERENCE),
        ("Avant chaque livraison, on lance d'abord les tests puis on prévient le client.", MemoryType.PROCEDURE),
    ],
)
def test_kinds_are_those_of_english(text: str, kind: MemoryType) -> None:
    assert hear(text)[0].type is kind


@pytest.mark.parametrize(
    ("language", "spec", "form"),
    [
        ("es", "preferir ~prefier", ("prefiero", 1, "present")),
        ("es", "tocar p1=toqué", ("toqué", 1, "past")),
        ("pt", "morar", ("morasse", 1, "were")),
        ("fr", "habiter", ("habitais", 1, "was")),
        ("de", "an/rufen rufe ruft rief gerufen", ("angerufen", 0, "participle")),
    ],
)
def test_verbs_are_put_into_their_forms(language: str, spec: str, form: tuple[str, int, str]) -> None:
    assert form in {(shown, one.person, one.tense) for shown, _, one in conjugated(language, "do", spec)}


def test_english_verbs_are_denied_and_put_into_the_past() -> None:
    assert inflected("stop", 1, "past") == "stopped"
    assert inflected("be", 3, "present", "no longer") == "is no longer"
    assert inflected("can swim", 1, "present", "not") == "can not swim"
    assert inflected("eat", 3, "past", "not") == "did not eat"


def test_a_long_text_is_not_glossed() -> None:
    assert glossed("Ich wohne in Graz und arbeite in Linz. " * 12) is None


def test_of_two_phrases_of_one_length_the_spelled_one_is_chosen_whatever_the_hash_seed() -> None:
    script = (
        "from credenda.write.extract.gloss import {name} as translate\n"
        "print(translate('Faço anos a 12 de dezembro.').text)"
    )
    name = glossed.__name__
    for seed in ("0", "3"):
        done = subprocess.run(
            [sys.executable, "-c", script.format(name=name)],
            env={**os.environ, "PYTHONHASHSEED": seed},
            capture_output=True,
            text=True,
            check=True,
            timeout=PATIENCE_SECONDS,
        )
        assert done.stdout.strip() == "My birthday is on 12 of December."
