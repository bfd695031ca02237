"""Several users in one file: nobody sees the memories of another, and one user can be erased with proof.

A server opens the file once for each user that it has authenticated. The user is never a parameter of a search.
"""

import tempfile
from pathlib import Path

from credenda import Credenda, NotFound

SENTENCES = {
    "ana": ("I live in Linz.", "My salary is 70,000 euros."),
    "ben": ("I live in Oslo.",),
    "eva": ("I live in Porto.",),
}


def main() -> None:
    """Fill a file for three users, show that they are apart, and erase one."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, "everybody.db")
        for user, sentences in SENTENCES.items():
            with Credenda.open(file, user=user) as mem:
                for sentence in sentences:
                    mem.remember(sentence)
                mem.settle()

        # The same question has another answer for each user.
        for user in SENTENCES:
            with Credenda.open(file, user=user) as mem:
                print(f"{user}: {mem.search('Where do I live?').hits[0].text}")

        # The id of another user's memory is an unknown id, as if it did not exist.
        with Credenda.open(file, user="ana") as mem:
            foreign = mem.list(attribute="residence").items[0].id
        with Credenda.open(file, user="ben") as mem:
            print("ben asks for a salary:", [hit.text for hit in mem.search("What is the salary?").hits])
            try:
                mem.get(foreign)
            except NotFound as error:
                print("ben opens a memory of ana:", error.code)

        # Erasure removes every row of ana, then searches the raw bytes of the file for her words. The argument
        # repeats the name, so that no other user is erased by mistake.
        with Credenda.open(file, user="ana") as mem:
            receipt = mem.erase("ana", export=Path(folder, "ana.jsonl"))
        print(
            f"erased: {receipt.rows} rows; {receipt.windows_searched} pieces of text searched, "
            f"{receipt.remaining_matches} found"
        )

        for user in SENTENCES:
            with Credenda.open(file, user=user) as mem:
                print(f"memories of {user} after the erasure: {len(mem.list().items)}")


if __name__ == "__main__":
    main()
