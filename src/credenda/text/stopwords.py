"""Words too common to distinguish texts, folded like the output of `text.tokens.fold`.

Deliberately not included: "may" (a month), "us" (a country), "like" and "want" (words of preferences). The lists for
other languages omit words that mean something else in English: "die", "war", "hat", "son", "sin", "fur".
"""

from __future__ import annotations

from typing import Final

__all__ = ["STOP_WORDS"]

_ENGLISH: Final = """
a about above after again against all already also although always am among an and another any anybody anyone anything
are aren't around as at away back be became because become been before being below between both but by came can can't
cannot come could couldn't did didn't do does doesn't doing don't done down during each either else ever every everyone
everything few for from further get gets getting go goes going gonna gone got gotta had hadn't has hasn't have haven't
having he her here hers herself him himself his how however i i'd i'll i'm i've if in instead into is isn't it it'd
it'll it's its itself just kinda let let's lot lots made make makes making many maybe me might mine more most much must
my myself neither no nor not now of off on once one ones only onto or other others our ours ourselves out over own per
perhaps quite rather really same shall she should shouldn't since so some somebody someone something still such than
that that's the their theirs them themselves then there there's these they this those though through thus to too toward
towards under until up upon very via was wasn't we we'd we'll we're we've were weren't what what's whatever when where
where's whether which while who who's whoever whom whose why will with within without won't would wouldn't yet you you'd
you'll you're you've your yours yourself yourselves
ah aha haha hey hmm huh lol oh ok okay um wow yeah yep dont didnt doesnt isnt wasnt im ive thats whats
"""
_GERMAN: Final = """
aber als auch auf aus bei bin bis bist da dann das dass dein deine dem den der des dich dir doch du durch ein eine einem
einen einer eines er es habe haben ich ihm ihn ihr ihre im ist ja mein meine meinem meinen meiner mich mir mit nach
nicht noch nur oder sehr sein seine sich sie sind uber und uns unser vom von vor wenn werden wie wir wird zu zum zur
"""
_FRENCH: Final = """
au aux avec ce ces cet cette dans de du elle elles en est et etre il ils je la le les leur leurs lui mais mes moi mon
ne nos notre nous ou par pas plus pour qu que qui sa se ses sont sur ta te tes tu un une vos votre vous
"""
_SPANISH: Final = """
al como cual cuando del desde donde el ella ellos en es esta este esto estoy las lo los mas mi mis muy nada para pero
por porque que quien ser si sobre soy su sus tambien tengo tiene una unas unos y ya yo
"""
_PORTUGUESE: Final = """
ao aos da das dele dela dos ela ele eles em entao essa esse estou eu foi isso ja mais mas meu minha muito na nao nas nos
num numa os pela pelo porque quando sao sem seu sua tambem tem tenho uma umas uns voce voces
"""

STOP_WORDS: Final = frozenset(f"{_ENGLISH}{_GERMAN}{_FRENCH}{_SPANISH}{_PORTUGUESE}".split())
