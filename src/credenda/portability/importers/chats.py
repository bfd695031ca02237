"""Chats of programs for people: ChatGPT, Claude.ai, Gemini, Open WebUI, Telegram and WhatsApp."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from html import unescape
from itertools import pairwise
from pathlib import Path
from typing import Final, cast

from credenda.current_call import read_zone
from credenda.portability.importers.format import (
    Boundary,
    Format,
    Omitted,
    Parsed,
    Problem,
    Source,
    decode_lines,
    has_words,
    list_key_paths,
    make_document_pieces,
    make_signs,
    read_whole_name,
)
from credenda.portability.importers.json_checks import (
    MalformedError,
    Table,
    Talk,
    catch_malformed,
    count_omitted_blocks,
    describe_item,
    list_of,
    list_tables,
    make_showable,
    make_statement,
    mend_surrogates,
    name_speaker,
    parse_table,
    read_json_table,
    read_message_text,
    read_moment_or_none,
    read_tables,
    read_text,
    read_whole,
    require_table,
)
from credenda.portability.sources import Lines
from credenda.private import cut_tagged

_CHATGPT_AGENT: Final = "chatgpt"
_CHATGPT_ROLES: Final = ("user", "assistant")
_READ: Final = ("text", "multimodal_text")
"""Content types of spoken text; others are tool calls and results, thoughts, and context of the program."""
_EVERYBODY: Final = "all"
_HIDDEN: Final = ("is_visually_hidden_from_conversation", "is_user_system_message")
_CITATION: Final = re.compile("\ue200[^\ue200\ue201]{0,2000}\ue201")
"""References to search results, which ChatGPT shows as links."""


class ChatGPTFormat(Format):
    """Exports of chatgpt.com: a zip, or the list of conversations in it, sharded or not."""

    name = "chatgpt"
    members = r"(?:.*/)?conversations(?:[-_]\d+)?\.json"
    signs = make_signs((b'"mapping"',), (b'"current_node"',))

    def pieces(self, lines: Lines, source: Source) -> Iterator[Parsed]:
        """Parse each conversation and yield its messages, in order."""
        readers = dict.fromkeys(("", "conversations"), partial(_read_chatgpt_conversation, source=source))
        yield from read_tables(lines, source.path, readers, nouns=dict.fromkeys(readers, "conversation"), ids=())


def _read_chatgpt_conversation(table: Table, place: str, source: Source) -> Iterator[Parsed]:
    nodes = require_table(table.get("mapping"), "its mapping")
    yield Boundary()
    number = place.split()[1]
    place = f"{place} ({describe_item(table, number, 'conversation_id', 'id')})"
    session = read_text(table, "conversation_id", "id") or f"{source.path.name}/{number}"
    title, begun = read_text(table, "title"), table.get("create_time")
    talk = Talk.begin(_CHATGPT_AGENT, source, session, title=title, begun=begun)
    leaf = table.get("current_node")
    branch, broken = _list_branch(
        nodes, leaf if isinstance(leaf, str) and leaf in nodes else _find_latest_leaf(nodes), "parent"
    )
    yield from [Problem(place=place, what=broken)] if broken else []
    for node_id in branch:
        spot = f"{place}, message {make_showable(node_id)}"
        yield from catch_malformed(spot, _read_chatgpt_message(talk, spot, node_id, nodes[node_id]))


def _list_branch(nodes: Mapping[str, object], leaf: object, parent: str) -> tuple[list[str], str]:
    """List the ids from the first message of a tree to the shown one, and say where its messages do not lead back."""
    found: dict[str, None] = {}
    while isinstance(leaf, str) and leaf in nodes and leaf not in found:
        found[leaf] = None
        leaf = read_json_table(nodes[leaf]).get(parent)
    broken = ""
    if isinstance(leaf, str) and leaf in found:
        broken = "its messages form a cycle; imported from where they repeat"
    elif isinstance(leaf, str):
        broken = "the parent of a message is missing; earlier messages were not imported"
    return list(reversed(found)), broken


def _find_latest_leaf(nodes: Mapping[str, object]) -> str | None:
    """Find the newest message without children, for a conversation without a current message."""
    tables = {node_id: read_json_table(node) for node_id, node in nodes.items()}
    parents = {read_text(one, "parent") for one in tables.values()}
    leaves = [node_id for node_id in tables if node_id not in parents] or list(tables)

    def read_time(node_id: str) -> float:
        created = read_json_table(tables[node_id].get("message")).get("create_time")
        return created if isinstance(created, int | float) else float("-inf")

    return max(leaves, key=read_time, default=None)


def _read_chatgpt_message(talk: Talk, place: str, node_id: str, node: object) -> Iterator[Parsed]:
    """Parse one message; count those that were not addressed to the other side, or not shown."""
    message = require_table(require_table(node).get("message") or {}, "its message")
    if not message:
        return
    text, kind = _read_chatgpt_words(message)
    if text:
        identity = read_text(message, "id") or node_id
        key, moment = (talk.session, identity), message.get("create_time")
        yield from talk.pieces(place, message["author"]["role"], text, key, moment=moment, id=identity)
    else:
        yield Omitted(what=kind)


def _read_chatgpt_words(message: Table) -> tuple[str, str]:
    """Return the text of a message, and what to call it where it has none, was not shown, or was said to nobody."""
    role = require_table(message.get("author"), "its author").get("role")
    if role not in _CHATGPT_ROLES:
        return "", "tool results" if role == "tool" else "system messages"
    if message.get("recipient", _EVERYBODY) not in (_EVERYBODY, None):
        return "", "tool calls"
    content, metadata = require_table(message.get("content"), "its content"), read_json_table(message.get("metadata"))
    hidden = any(metadata.get(name) for name in _HIDDEN) or message.get("weight", 1) == 0
    if hidden or content.get("content_type", "text") not in _READ:
        return "", "messages of the program"
    parts = content.get("parts")
    if not isinstance(parts, list):
        raise MalformedError("it has no list of parts")
    # Images have no text, and speech has its transcript.
    said = [one if isinstance(one, str) else read_json_table(one).get("text") for one in cast("list[object]", parts)]
    texts = [_CITATION.sub("", part) for part in said if isinstance(part, str)]
    return "\n\n".join(text for text in texts if text.strip()).strip(), "messages without words"


# Exports of Claude.ai: conversations as lists of messages, and the notes of its own memory.


_CLAUDE_AGENT: Final = "claude"
_MEMORIES: Final = "memories.json"
_LISTS: Final = (b'"chat_messages"', b'"conversations"', b'"memories"')
_CLAUDE_ROLES: Final = {"human": "user", "user": "user", "assistant": "assistant"}
_BLANK: Final = re.compile(r"\n[ \t]*\n")
_BOLD_LINE: Final = re.compile(r"\*\*([^*\n]{1,80}?):?\*\*:?")


class ClaudeFormat(Format):
    """Exports of claude.ai: a zip, or the list of conversations in it."""

    name = "claude"
    members = r"(?:.*/)?(?:conversations(?:[-_]\d+)?\.jsonl?|memories\.json|memories/[^/]+\.json)"
    signs = make_signs((b'"chat_messages"',), (b'"conversations_memory"',))

    def pieces(self, lines: Lines, source: Source) -> Iterator[Parsed]:
        """Parse each conversation, or each memory, in order."""
        # Newer exports have a file for each memory.
        head = lines.head()
        noted = any(mark in head for mark in (b'"conversations_memory"', b'"memory"', b'"content"'))
        if head.lstrip().startswith(b"{") and noted and not any(mark in head for mark in _LISTS):
            yield from catch_malformed("memory 1", _read_one_memory(lines, source))
            return
        noted = source.path.name == _MEMORIES
        read = partial(_read_memories if noted else _read_claude_conversation, source=source)
        readers = dict.fromkeys(("", "conversations", "memories"), read)
        nouns = dict.fromkeys(readers, "memory" if noted else "conversation")
        yield from read_tables(lines, source.path, readers, nouns=nouns, ids=())


def _read_claude_conversation(table: Table, place: str, source: Source) -> Iterator[Parsed]:
    messages = list_of(table, "chat_messages")
    yield Boundary()
    number = place.split()[1]
    place = f"{place} ({describe_item(table, number, 'uuid')})"
    session = read_text(table, "uuid") or f"{source.path.name}/{number}"
    title, begun = read_text(table, "name"), table.get("created_at")
    talk = Talk.begin(_CLAUDE_AGENT, source, session, title=title, begun=begun)
    for number, message in enumerate(messages, 1):
        spot = f"{place}, message {describe_item(message, number, 'uuid')}"
        yield from catch_malformed(spot, _read_claude_message(talk, spot, number, message))


def _read_claude_message(talk: Talk, place: str, number: int, message: object) -> Iterator[Parsed]:
    """Parse one message; count its blocks that are no text, or a message without anything."""
    table = require_table(message)
    role = _CLAUDE_ROLES.get(read_text(table, "sender"))
    if role is None:
        raise MalformedError("its sender is neither human nor assistant")
    # Its text blocks, else its text field.
    texts = [read_text(one, "text") for one in list_tables(table, "content") if one.get("type", "text") == "text"]
    text = "\n\n".join(text.strip() for text in texts if text) or read_text(table, "text").strip()
    omitted = list(count_omitted_blocks(table.get("content")))
    if text or not omitted:
        identity = read_text(table, "uuid")
        key = (talk.session, identity or f"#{number}")
        yield from talk.pieces(place, role, text, key, moment=table.get("created_at"), id=identity)
    yield from omitted


def _read_one_memory(lines: Lines, source: Source) -> Iterator[Parsed]:
    """Parse a file that is one memory, not a list."""
    yield from _read_memories(parse_table(read_whole(lines)), "memory 1", source)


def _read_memories(table: Table, place: str, source: Source) -> Iterator[Parsed]:
    """Parse the assistant's notes about the user: paragraphs of a document, with a document's trust.

    A bold line that stands alone is the heading of the paragraphs below.
    """
    texts = [read_text(table, "conversations_memory", "memory", "content")]
    projects = table.get("project_memories")
    if isinstance(projects, dict):
        texts += [note for note in cast("dict[str, object]", projects).values() if isinstance(note, str)]
    for text in texts:
        section: dict[str, object] = {}
        for block in _BLANK.split(cut_tagged(mend_surrogates(text))):
            if heading := _BOLD_LINE.fullmatch(block.strip()):
                section = {"section": heading[1]}
                yield Omitted(what="headings")
                continue
            yield from make_document_pieces(block.strip(), source, place, details=section)


# Gemini's part of Google Takeout: `MyActivity.json`, an item for each prompt with its answer, the newest first.


_PRODUCT: Final = re.compile(r"\b(?:Gemini|Bard)\b")
_ASKED: Final = re.compile(r"(?:Prompted(?: with:)?|Asked(?: Gemini)?|Said|Answered)\s+(.*)", re.DOTALL)
_LINES: Final = re.compile(r"<(?:br|/p|/li|/h[1-6]|/tr|/pre)\b[^<>]{0,200}>", re.IGNORECASE)
_TAG: Final = re.compile(r"</?[a-zA-Z][^<>]{0,2000}>")


class GeminiTakeoutFormat(Format):
    """Prompts to Gemini Apps, and the answers."""

    name = "gemini-takeout"
    signs = make_signs((b"Gemini",), (b"Bard",), keys=("header", "title", "time", "products"))

    def pieces(self, lines: Lines, source: Source) -> Iterator[Parsed]:
        """Parse item after item; the items of a day are one conversation."""
        yield Boundary()
        yield from read_tables(lines, source.path, {"": partial(_read_activity, source=source)})


def _read_activity(table: Table, place: str, source: Source) -> Iterator[Parsed]:
    if not _PRODUCT.search(read_text(table, "header")):
        yield Omitted(what="activities in other products")
        return
    title = read_text(table, "title")
    asked = _ASKED.fullmatch(title)
    if asked is None:
        if not title:
            raise MalformedError("it has no title")
        yield Omitted(what="activities without a prompt")
        return
    time = table.get("time")
    moment = read_moment_or_none(time)
    day = f"{moment:%Y-%m-%d}" if moment else "undated"
    talk = Talk.begin("gemini", source, f"gemini/{day}")
    key = (str(time), asked[1])
    yield from talk.pieces(place, "user", asked[1].strip(), ("user", *key), moment=time)
    answer = "\n\n".join(_strip_markup(read_text(item, "html")) for item in list_tables(table, "safeHtmlItem"))
    if answer.strip():
        yield from talk.pieces(place, "assistant", answer, ("assistant", *key), moment=time)


def _strip_markup(html: str) -> str:
    r"""Return the text of an answer.

    >>> _strip_markup("<p>Tea &amp; <b>cake</b></p><p>x</p>")
    'Tea & cake\nx'
    """
    public = cut_tagged(html)  # before its tags are gone
    return unescape(_TAG.sub("", _LINES.sub("\n", public))).strip()


# Exports of Open WebUI: chats as trees of messages, of which the shown branch is read, and its memories.


_CHAT: Final = ("chat.history", "chat.messages")
_MEMORY: Final = frozenset({"id", "user_id", "content", "updated_at", "created_at"})
_NOT_MEMORY: Final = frozenset({"role", "memory", "chat", "title", "type"})
_OPEN_WEBUI_ROLES: Final = ("user", "assistant")
_THOUGHTS: Final = re.compile(r"<details\b[^<>]{0,500}>.*?</details>", re.DOTALL)


class OpenWebUIFormat(Format):
    """Chats, or memories: lists of JSON objects."""

    name = "open-webui"

    def recognises(self, head: bytes, path: Path) -> bool:
        """Return whether a file begins with a chat or with a memory."""
        del path
        paths = list_key_paths(head)
        return any(one in paths for one in _CHAT) or (paths >= _MEMORY and not paths & _NOT_MEMORY)

    def pieces(self, lines: Lines, source: Source) -> Iterator[Parsed]:
        """Parse item after item."""

        def read(table: Table, place: str) -> Iterator[Parsed]:
            if "chat" in table:
                yield from _read_chat(table, place, source)
            else:
                text = read_text(table, "content").strip()
                if not text:
                    raise MalformedError("it has no content")
                key, moment = ("open-webui", read_text(table, "id"), text), read_moment_or_none(table.get("updated_at"))
                yield make_statement(source, place, text, key, occurred_at=moment)

        yield from read_tables(lines, source.path, {"": read})


def _read_chat(table: Table, place: str, source: Source) -> Iterator[Parsed]:
    chat = require_table(table.get("chat"), "its chat")
    title = read_text(table, "title") or read_text(chat, "title")
    session = read_text(table, "id") or f"{source.path.name}/{place}"
    talk = Talk.begin("open-webui", source, session[-120:], title=title, begun=table.get("created_at"))
    yield Boundary()
    history = read_json_table(chat.get("history"))
    messages = read_json_table(history.get("messages"))
    nodes = {name: cast("Table", node) for name, node in messages.items() if isinstance(node, dict)}
    branch, _ = _list_branch(nodes, history.get("currentId"), "parentId")
    shown = [nodes[name] for name in branch] or list_tables(chat, "messages")  # as older chats have them
    for message in shown:
        role = message.get("role")
        text = _THOUGHTS.sub("", read_message_text(message.get("content"))).strip()
        if role not in _OPEN_WEBUI_ROLES:
            yield Omitted(what="system messages")
            continue
        identity = read_text(message, "id")
        key = (talk.session, identity, str(role), text)
        yield from talk.pieces(place, str(role), text, key, moment=message.get("timestamp"), id=identity)


# Chats of Telegram, as its desktop program exports them: `result.json` of one chat, or of all.


_KEYS: Final = ("id", "type", "date", "from_id")
_OWNER: Final = re.compile(rb'"personal_information"\s*:\s*\{[^{}]{0,2000}?"user_id"\s*:\s*(\d{1,20})')


class TelegramFormat(Format):
    """Messages of persons; a forwarded message belongs to the person who wrote it."""

    name = "telegram"
    of_persons = True
    signs = (
        *make_signs(keys=[f"messages.{key}" for key in _KEYS]),
        *make_signs(keys=[f"chats.list.messages.{key}" for key in _KEYS]),
        *make_signs(keys=("personal_information.user_id", "chats")),
    )

    def pieces(self, lines: Lines, source: Source) -> Iterator[Parsed]:
        """Parse the messages of one chat, or chat after chat."""
        found = _OWNER.search(lines.head())
        owner = f"user{found[1].decode()}" if found else ""
        single = Talk.begin("", source, read_whole_name(source.path)[-120:])

        def read(table: Table, place: str) -> Iterator[Parsed]:
            yield from _read_telegram_message(table, place, single, owner)

        def read_chat(table: Table, place: str) -> Iterator[Parsed]:
            if "messages" not in table:
                return
            yield Boundary()
            session = mend_surrogates(f"telegram/{describe_item(table, 0, 'id', 'name')}")
            talk = Talk.begin("", source, session[-120:], title=read_text(table, "name"))
            for number, message in enumerate(list_tables(table, "messages"), 1):
                spot = f"{place}, message {number}"
                yield from catch_malformed(spot, _read_telegram_message(message, spot, talk, owner))

        yield from read_tables(lines, source.path, {"": read, "messages": read, "list": read_chat})


def _read_telegram_message(table: Table, place: str, talk: Talk, owner: str) -> Iterator[Parsed]:
    if table.get("type") != "message":
        yield Omitted(what="notices")
        return
    text = "".join(_list_parts(table.get("text"))).strip()
    if not text:
        yield Omitted(what="messages without words")
        return
    forwarded = read_text(table, "forwarded_from")
    writer = forwarded or read_text(table, "from")
    if not writer:
        raise MalformedError("it has no sender")
    mine = bool(owner) and not forwarded and table.get("from_id") == owner
    role, name = ("user", "") if mine else name_speaker(writer, talk.user_id)
    seconds = read_text(table, "date_unixtime")
    moment = int(seconds) if seconds.isdecimal() and len(seconds) < len("10000000000000") else table.get("date")
    identity = describe_item(table, 0, "id")
    key = ("telegram", talk.session, identity, text)
    yield from talk.pieces(place, role, text, key, moment=moment, id=identity, name=name)


def _list_parts(text: object) -> Iterator[str]:
    """Yield a text, whose links and names are objects among plain parts."""
    if isinstance(text, str):
        yield text
    elif isinstance(text, list):
        for part in text:  # pyright: ignore[reportUnknownVariableType] - foreign JSON
            yield part if isinstance(part, str) else read_message_text(part)  # pyright: ignore[reportUnknownArgumentType] - foreign JSON


# Chats of WhatsApp, exported as text: a time, a name and a text, in the form of the phone's language.


_STAMP: Final = (
    r"[\u200e\u200f\ufeff]?\[?(\d{1,4})([./-])(\d{1,2})\2(\d{2,4}),?\s+(?:\w{2,4}\s)?(\d{1,2})[:.](\d{2})(?:[:.](\d{2}))?"
    r"(?:[\s\u202f]?([AaPp])\.?\s?[Mm]\.?)?\]?\s*(?:[-\u2013]\s)?[\u200e\u200f]?"
)
_LINE: Final = re.compile(_STAMP + r"(.*)", re.DOTALL)
_SAID: Final = re.compile(r"([^:\n]{1,80}):[ \u200e](.*)", re.DOTALL)
_WHATSAPP_HEAD: Final = re.compile(rf"^{_STAMP}[^:\n]{{1,80}}: ", re.MULTILINE)
_MEDIA: Final = re.compile(
    r"[\u200e\u200f]?<[^<>\n]{1,80}>|[\u200e\u200f].{0,40}(?:omitted|weggelassen|absente?|omitid[oa])|null"
    r"|(?:You|This message was) deleted this message\.?|This message was deleted\.?"
)
_PROGRAM: Final = ("\u200e", "\u200f")
"""An iPhone marks with these the words of the program."""
_EDITED: Final = re.compile(r"\s*[\u200e\u200f]?<This message was edited>\s*$")
_YEARS_BEGIN: Final = 2_000
_LONG_YEAR: Final = 3


class WhatsAppFormat(Format):
    """`WhatsApp Chat with NAME.txt`, or `_chat.txt`."""

    name = "whatsapp"
    of_persons = True
    endings = (".txt",)

    def recognises(self, head: bytes, path: Path) -> bool:
        """Return whether a text has at least two messages with time and name."""
        text = head.decode("utf-8", "replace")
        return (
            self.takes(path.name)
            and len(_WHATSAPP_HEAD.findall(text, 0, len(text))) > 1
            and _LINE.match(text) is not None
        )

    def pieces(self, lines: Lines, source: Source) -> Iterator[Parsed]:
        """Parse message after message; the order of day and month is that of the file's first dates."""
        name = source.path.name.removesuffix(".txt")
        order = _find_order(lines.head().decode("utf-8", "replace"))
        chat = _Chat(
            talk=Talk.begin("", source, read_whole_name(source.path)[-120:], title=name),
            month_first=order,
        )
        yield Boundary()
        for line in decode_lines(lines):
            if isinstance(line, Problem):
                yield line
                continue
            found = _LINE.fullmatch(line.text)
            if found is None:
                chat.text = f"{chat.text}\n{line.text}"
                continue
            yield from chat.end()
            chat.begin(found, line.number)
        yield from chat.end()


@dataclass(slots=True, kw_only=True)
class _Chat:
    """The current message."""

    talk: Talk
    month_first: bool
    text: str = ""
    number: int = 0
    moment: datetime | None = None
    wrong: bool = False
    repeated: int = 0
    _key: tuple[str, ...] = ()

    def begin(self, found: re.Match[str], number: int) -> None:
        """Start a message."""
        self.moment = _read_moment(found, month_first=self.month_first)
        self.wrong = self.moment is None
        self.number, self.text = number, found[9]

    def end(self) -> Iterator[Parsed]:
        """Yield the message that has ended."""
        said, place = _SAID.fullmatch(self.text.strip()), f"line {self.number}"
        text, self.text = self.text, ""
        if not self.number or not has_words(text):
            return
        if self.wrong:
            yield Problem(place=place, what="its date cannot be read; the time of the previous message was used")
        if said is None:
            yield Omitted(what="notices")
            return
        words = _EDITED.sub("", said[2].strip())
        if words.startswith(_PROGRAM) or _MEDIA.fullmatch(words) or not has_words(words):
            yield Omitted(what="messages without words")
            return
        role, name = name_speaker(said[1], self.talk.user_id)
        key = (str(self.moment), said[1], words)
        self.repeated = self.repeated + 1 if key == self._key else 0
        self._key = key
        more = (str(self.repeated),) if self.repeated else ()
        stamp = None if self.moment is None else self.moment.replace(tzinfo=read_zone(UTC)).isoformat()
        yield from self.talk.pieces(place, role, words, ("whatsapp", *key, *more), moment=stamp, name=name)


def _find_order(head: str) -> bool:
    """Return whether the month stands before the day: one above 12 tells, else which of both keeps the order of time.

    >>> _find_order("13/02/24, 09:00 - Ana: x"), _find_order("2/13/24, 9:00 AM - Ana: x")
    (False, True)
    """
    stamps = [found for found in map(_LINE.match, head.splitlines()) if found and len(found[1]) < _LONG_YEAR]
    if any(found[2] == "." for found in stamps):
        return False
    both = [[_read_moment(found, month_first=first) for found in stamps] for first in (False, True)]
    wrong = [sum(one is None for one in moments) for moments in both]
    if wrong[0] != wrong[1]:
        return wrong[1] < wrong[0]
    known = [[one for one in moments if one is not None] for moments in both]
    back = [sum(later < one for one, later in pairwise(row)) for row in known]
    return back[1] < back[0] if back[0] != back[1] else any(found[8] and found[8] in "AP" for found in stamps)


def _read_moment(found: re.Match[str], *, month_first: bool) -> datetime | None:
    first, second, third = int(found[1]), int(found[3]), int(found[4])
    year, month, day = (first, second, third) if len(found[1]) > _LONG_YEAR else (third, second, first)
    if month_first and len(found[1]) < _LONG_YEAR:
        month, day = day, month
    hour = int(found[5])
    if found[8]:
        hour = hour % 12 + (12 if found[8].casefold() == "p" else 0)
    year += _YEARS_BEGIN if year < _YEARS_BEGIN else 0
    try:
        return datetime(year, month, day, hour, int(found[6]), int(found[7] or 0), tzinfo=UTC)
    except ValueError:
        return None
