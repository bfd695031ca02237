"""Another model is made ready by a process that is killed, again and again: nothing is lost, and searches go on."""

import subprocess
import sys
from pathlib import Path

from credenda import Credenda
from credenda.providers.embed.hashed import HashedEmbedder

EMBED_AND_HANG = """
import sys
from threading import Event
from credenda import Credenda
from credenda.providers.embed.hashed import HashedEmbedder

class Hanging(HashedEmbedder):
    left = 2  # the first is the trial at opening
    def embed(self, texts):
        if not self.left:
            print("hangs", flush=True)
            Event().wait()
        self.left -= 1
        return super().embed(texts)

with Credenda.open(sys.argv[1], user="ana", embedder=Hanging(128), workers=False) as memory:
    memory.data.reembed()
"""
SAYINGS = 530
QUESTION = "What happened on day 525?"


def killed_while_it_embeds(path: Path, serving: Credenda) -> None:
    """Run a process to the middle of its work, search beside it, and kill it."""
    command = [sys.executable, "-c", EMBED_AND_HANG, str(path)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as other:
        assert other.stdout is not None
        try:
            assert other.stdout.readline() == "hangs\n"
            assert serving.search(QUESTION).hits[0].quote.endswith("day 525.")
        finally:
            other.kill()


def test_another_model_survives_kills_switches_and_the_way_back(tmp_path: Path) -> None:
    path = tmp_path / "memory.db"
    with Credenda.open(path, user="ana", embedder="hashed", workers=False) as serving:
        for number in range(SAYINGS):
            serving.remember(f"The neighbours were loud again on day {number}.")
        serving.settle(120)
        whole = serving.stats().vectors
        held = 0
        for _ in range(2):
            killed_while_it_embeds(path, serving)
            counts = serving.stats().vectors_by_model
            assert held < counts["hashed-1-128"] < counts["hashed-1-384"] == whole
            held = counts["hashed-1-128"]
        gone = serving.search(QUESTION).hits[0].id
        serving.delete(gone)
    with Credenda.open(path, user="ana", embedder=HashedEmbedder(128), workers=False) as switched:
        assert switched.search("What happened on day 134?").hits[0].quote.endswith("day 134.")
        switched.data.reembed()
        counts = switched.stats().vectors_by_model
        assert counts["hashed-1-128"] == counts["hashed-1-384"] < whole
        assert not any(hit.text.endswith("day 525.") for hit in switched.search(QUESTION, limit=50).hits)
        switched.remember("The harbour was full of ships.")
        switched.settle()
        assert switched.data.doctor().ok
    with Credenda.open(path, user="ana", embedder="hashed", workers=False) as back:
        assert back.search("Which ships were in the harbour?").hits[0].quote == "The harbour was full of ships."
        assert back.data.reembed().embedded == 1
        assert back.search("Which ships were in the harbour?", explain=True).hits[0].terms["cosine"] > 0.2
        assert back.data.doctor().ok
