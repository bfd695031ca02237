"""A chat loop with memory: the context goes in before each answer, the turn is remembered after it.

The model is a stub, so that the example runs offline. Replace `answer` with a call of your model.
"""

import tempfile
from pathlib import Path

from credenda import Credenda

CONVERSATION = (
    "Hi, I'm Ana. I'm allergic to peanuts.",
    "I work at Google.",
    "What snack can I bring to my office party?",
    "I left Google, I'm at Microsoft now.",
    "Where do I work?",
)


def answer(prompt: str) -> str:
    """Return the answer of a stub model: the remembered lines of its prompt."""
    remembered = [line.partition("] ")[2] for line in prompt.splitlines() if line.startswith("- [")]
    return f"I remember: {' '.join(remembered)}" if remembered else "I remember nothing about that."


def take_turn(mem: Credenda, message: str) -> str:
    """Answer one message of the user."""
    # 1. Before the model call: pack the relevant memories into a block of at most 300 tokens. Events are left out here,
    #    because the prompt of a real loop contains the last messages anyway.
    context = mem.context(message, token_budget=300, automatic=True, kinds=["memory"])

    # 2. The block marks its content as data, so it can stand in front of the message.
    reply = answer(f"{context.text}\n\nUser: {message}")

    # 3. After the call: store both sides of the turn. Beliefs are extracted from the user's words only; the
    #    assistant's words are stored and searchable, but they never become facts about the user.
    mem.remember(
        [{"role": "user", "content": message}, {"role": "assistant", "content": reply}],
        session="monday",
        agent="chat-loop",
    )
    return reply


def main() -> None:
    """Hold the conversation and print the resulting beliefs."""
    with tempfile.TemporaryDirectory() as folder, Credenda.open(Path(folder, "chat.db"), user="ana") as mem:
        for message in CONVERSATION:
            print("user: ", message)
            print("agent:", take_turn(mem, message))
            # A background thread extracts the beliefs. A real loop need not wait for it; the example does, so that
            # each turn sees the one before.
            mem.settle()

        print("\nbeliefs after the conversation:")
        for memory in mem.list().items:
            print(f"  {memory.attribute}: {memory.value}")


if __name__ == "__main__":
    main()
