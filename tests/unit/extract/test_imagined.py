"""What is only imagined is never held surer than 0.3, and never as a slot; what is meant beside it is not touched."""

import pytest

from credenda.model.memory import Stance
from credenda.write.extract.imagined import stated_before

from .build import hear

IMAGINED = [
    # supposed
    "What if my brother and I lived on a barge in Ghent?",
    "And what if our landlord sold the whole house to us?",
    "Suppose our daughter studies medicine in Graz.",
    "Supposing I worked nights at the harbour, my rent is 400 euros.",
    "Imagine my boss is a vegetarian and hates meetings.",
    "Imagine a life where I own three bakeries.",
    "Just imagine, I am the mayor of this village and I ban all cars.",
    "Picture this: I run a lighthouse on Skye with two goats.",
    "Assume I have two kids and a mortgage of 900 euros.",
    "Let's say I work for the fire brigade.",
    "let us say our company has 40 employees in Porto",
    "Say I was a diabetic, my breakfast is oats every day.",
    "For the sake of argument, I am a vegan who lives in Basel.",
    "Hypothetically, my wife is a pilot at Lufthansa.",
    "Theoretically I own half of my father's farm.",
    "Thought experiment: I live in a cave and eat only roots.",
    "Let's say I won the lottery. My house has a pool.",
    "Scenario: I am a single dad with two kids in Leeds.",
    "In case I become famous, my stage name is Zed.",
    # a text that is nobody's own
    'Chapter one: "My name is Ishbel, and I live alone in the lighthouse."',
    'Fixture text: "I am Jane Roe, I live at 1 Test Street."',
    "Dear diary, writes my heroine, I am seventeen and I hate Vienna.",
    "Here's a riddle: I have keys but no doors.",
    "Test data: user lives in Springfield.",
    # played and joked
    "Just for fun, my name is Batman today.",
    "For this quiz, I'm a 40-year-old plumber.",
    "My evil twin loves olives.",
    "Right, and I'm Elvis.",
    "Yeah sure, I love being stuck in traffic.",
    "Not really, but let's say I like jazz.",
    # against the facts
    "If I were a chef, my restaurant would serve nothing but soup.",
    "If we had a garden, my kids would keep rabbits there.",
    "If I had studied law, I'd be a judge in Vienna by now.",
    "My sister would keep bees if she had a balcony.",
    "I'd keep a horse and two donkeys if my salary doubled.",
    "I would live in Norway and teach skiing, if I could choose.",
    "If my parents had stayed in Izmir, my first language would be Turkish.",
    "If I could draw, I'd illustrate children's books.",
    "If I won the lottery my first purchase is a vineyard near Bordeaux.",
    "If our team was bigger we deployed every day.",
    "If I broke my leg and my wife had to drive, who would take the kids to school?",
    "If we lost the flat and had to move to my parents, where could the dog sleep?",
    "Had I known about the strike, I would have taken my bike.",
    "Had my father not sold the shop, I'd be a butcher in Leeds.",
    "Were I ten years younger, I'd join the navy.",
    "Were we to move, it would be to the coast near Cadiz.",
    "Should I ever get rich, my house has a tower.",
    "I would have become a dentist like my mother.",
    "We should have bought the flat in Lyon in 2010.",
    "I could have been a cellist in the Berlin orchestra.",
    "I'd be a terrible nurse, I'd faint every day.",
    "My husband would be a brilliant teacher at the village school.",
    "I act as if I were the boss of my team.",
    # wished
    "I wish I lived by the sea with my two dogs.",
    "I wish my daughter played the violin.",
    "Wish we had a bigger kitchen and a cellar.",
    "I do wish our office were in Hamburg.",
    "If only my train left at nine every day.",
    "If only we owned a house with a cellar in Trier.",
    # elsewhere
    "In another life I am a shepherd in Wales.",
    "In a perfect world I work three days a week at the museum.",
    "In an ideal world, our team has six people and no meetings.",
    "In my next life I am a cat in a Roman palace.",
    "In a parallel universe my name is Olga and I own a circus.",
    "In my dreams I live in a castle with forty rooms.",
    "I dreamt that I was a pilot and my plane had no wings.",
    "Sometimes I imagine I own a small cinema in Turin.",
    # played
    "You are my doctor. My knee hurts every morning.",
    "You are a strict librarian and I am a pupil who is always late.",
    "Pretend I'm the king of Sweden and my castle is cold.",
    "For this game I'm a wizard and my name is Zoltan.",
    "In this story I am a spy who lives in Prague.",
    "My character is a dwarf called Brom who hates elves.",
    "Role-play: I am a customer, my card was stolen.",
    "Be my teacher. I'm ten and I hate maths.",
    "You are Sherlock, I am Watson, and I live in Baker Street.",
    "In the play I am the queen and my brother is in prison.",
    # other languages
    "Wenn ich im Lotto gewinnen würde, kaufe ich mir ein Haus in Kiel.",
    "Wenn ich Koch wäre, hätte mein Lokal nur zwei Tische.",
    "Ich wäre gut als Lehrer in einer Dorfschule.",
    "Angenommen, ich bin allergisch gegen Nüsse.",
    "Stell dir vor, ich wohne in einem Leuchtturm auf Sylt.",
    "Meine Frau tut so, als ob sie Ärztin wäre.",
    "Was wäre, wenn meine Firma nach Graz zieht?",
    "Im nächsten Leben bin ich Bäcker in Meran.",
    "Si j'étais riche, j'habiterais à Nice.",
    "Si ma femme avait un jardin, elle aurait des poules.",
    "Imagine que je travaille chez Airbus.",
    "Dans une autre vie je suis boulanger à Dijon.",
    "J'aurais aimé être pianiste à Paris.",
    "Si yo fuera rico, viviría en Mallorca con mis perros.",
    "Imagina que trabajo en un faro en Galicia.",
    "Si mi hermano tuviera coche, trabajaría en Lugo.",
    "Ojalá mi casa tuviera jardín.",
    "Se eu fosse rico, moraria em Lisboa.",
    "Imagina que eu trabalho na Galp.",
    "Quem me dera ter uma casa no Porto.",
    "Se a minha mulher tivesse um carro, trabalharia em Braga.",
]
MEANT = [
    "Yes, I love being outdoors.",
    "Yeah, and I'm Polish.",
    "For fun I paint.",
    "My song is called Rain.",
    "If the build fails, clear the cache and rebuild.",
    "If I ask in German, answer in German.",
    "When Bruno is ill, call the vet in Linz first.",
    "I'd rather walk than drive.",
    "I'd prefer tables over bullet lists.",
    "I could eat ramen every day.",
    "I'd take a book over a film any day.",
    "I'd appreciate it if you quoted your sources.",
    "I would ask you to use my married name.",
    "I wish emails were shorter, so keep yours to three lines.",
    "I'm allergic to nuts, if that matters.",
    "My favourite band these days would be Khruangbin.",
    "We had our kitchen renovated in March 2025.",
    "I work as a nurse in Graz.",
    "Would you mind using simpler words from now on?",
    "My husband is coeliac, what could we cook?",
    "I act in a theatre group in Ulm.",
    "I am a game designer at Ubisoft.",
    "Ich arbeite als Koch in Wien.",
    "Je travaille comme infirmière à Lille.",
]


@pytest.mark.requirement("R-040", "D-005")
@pytest.mark.parametrize("text", IMAGINED)
def test_what_is_imagined_is_faint_and_fills_no_slot(text: str) -> None:
    for claim in hear(text):
        assert claim.confidence <= 0.3 or claim.stance in {Stance.PLANNED, Stance.CONSIDERED}
        assert claim.confidence <= 0.4
        assert claim.attribute in {None, "considering"}


@pytest.mark.requirement("R-040", "D-005")
@pytest.mark.parametrize("text", ["Our dream is a farm in Portugal.", "Idea: open a small bakery someday."])
def test_a_dream_and_an_idea_are_plans(text: str) -> None:
    (claim,) = hear(text)
    assert claim.stance is Stance.CONSIDERED
    assert claim.confidence <= 0.5


@pytest.mark.requirement("R-039")
@pytest.mark.parametrize(
    "text",
    [
        "More examples.",
        "My neighbour is mowing the lawn again, so annoying.",
        "My brother is cooking dinner.",
        "Oops, I dropped my phone, sorry.",
        "My battery died.",
        "I'd just adore a night shift at Christmas, who wouldn't.",
    ],
)
def test_a_single_order_the_moment_of_others_a_mishap_and_sarcasm_give_nothing(text: str) -> None:
    assert hear(text) == []


@pytest.mark.requirement("R-040")
@pytest.mark.parametrize("text", MEANT)
def test_what_is_meant_stands(text: str) -> None:
    claims = hear(text)
    assert claims
    assert all(claim.confidence >= 0.5 for claim in claims)


@pytest.mark.requirement("R-040")
def test_what_is_stated_before_a_supposition_stands() -> None:
    firm, imagined = hear("I live in Rome, but if my salary doubled I would move to Bern.")
    assert (firm.attribute, firm.value) == ("residence", "Rome")
    assert firm.confidence > 0.5
    assert imagined.confidence <= 0.3
    assert (imagined.attribute, imagined.stance) == (None, Stance.HYPOTHETICAL)


def test_what_supposes_from_the_start_states_nothing_before() -> None:
    assert stated_before("if I had a boat, my sister would sail it") == ""
