"""Exports of other memories: Letta, mem0, Zep and Graphiti, Cognee and Hindsight."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, Final, cast

from credenda.portability.importers.format import (
    Boundary,
    Format,
    Omitted,
    Parsed,
    Problem,
    Source,
    cut,
    has_words,
    is_json_with,
    list_key_paths,
    make_document_pieces,
    make_signs,
    read_tags,
)
from credenda.portability.importers.json_checks import (
    MalformedError,
    Reader,
    Table,
    Talk,
    catch_malformed,
    list_tables,
    list_texts,
    make_showable,
    make_statement,
    mend_surrogates,
    omit_items,
    parse_item,
    parse_table,
    read_json_table,
    read_message_text,
    read_moment,
    read_moment_or_none,
    read_tables,
    read_text,
    read_whole,
)
from credenda.portability.importers.memory_files import make_prose_pieces
from credenda.portability.importers.wording import word_observation, word_relation
from credenda.portability.sources import Element, Lines, read_sections
from credenda.private import cut_tagged

_AGENT: Final = "letta"
_HUMAN: Final = "human"
_BLOCKS: Final = ("blocks", "core_memory")
_OMITTED: Final = ("tools", "groups", "sources", "files", "mcp_servers", "skills")
_UNKNOWN: Final = (": ?", ": unknown", ": n/a")
_FRAME: Final = "this is what i know so far about the user"
"""Beginning of the first line of the block that every new agent gets."""
_SPOKEN: Final = "user_message"
_SEND: Final = "send_message"


class LettaFormat(Format):
    """Agent files of Letta, of servers and of its cloud."""

    name = "letta"
    endings = (".af", ".af.json")
    signs = make_signs((b'"agents"', b'"block_ids"'), (b'"core_memory"', b'"agent_type"'), (b'"blocks"', b'"agents"'))

    def recognises(self, head: bytes, path: Path) -> bool:
        """Return whether a file has the suffix, or begins with an agent and its blocks."""
        return (path.suffix.casefold() == ".af" and is_json_with(head)) or super().recognises(head, path)

    def pieces(self, lines: Lines, source: Source) -> Iterator[Parsed]:
        """Parse agents and blocks, in the order of the file."""
        readers: dict[str, Reader] = {name: omit_items(name.replace("_", " ")) for name in _OMITTED}
        readers |= dict.fromkeys(_BLOCKS, partial(_read_block, source=source))
        readers["agents"] = partial(_read_agent, source=source)
        readers["messages"] = partial(_read_message, talk=Talk.begin(_AGENT, source, source.path.stem))
        yield from read_tables(lines, source.path, readers)


def _read_agent(table: Table, place: str, source: Source) -> Iterator[Parsed]:
    yield Boundary()
    name = read_text(table, "name") or source.path.stem
    session = f"{name}/{read_text(table, 'id') or 'agent'}"
    talk = Talk.begin(_AGENT, source, session, title=name)
    for number, message in enumerate(list_tables(table, "messages"), 1):
        spot = f"{place}, message {read_text(message, 'id') or number}"
        yield from _read_message(message, spot, talk)
    for block in list_tables(table, "memory_blocks"):
        yield from _read_block(block, f"{place}, memory block", source)
    if read_text(table, "system"):
        yield Omitted(what="system prompts")


def _read_message(table: Table, place: str, talk: Talk) -> Iterator[Parsed]:
    """Yield what user and agent said to each other."""
    role = table.get("role")
    if role not in ("user", "assistant"):
        yield Omitted(what="system messages" if role == "system" else "tool messages")
        return
    text = _unpack(read_message_text(table.get("content"))) if role == "user" else _read_answer(table)
    identity = read_text(table, "id") or text
    yield from talk.pieces(
        place, str(role), text, (talk.session, identity, text), moment=table.get("created_at"), id=identity
    )


def _unpack(text: str) -> str:
    """Return the user's words; older servers pack them as JSON, beside events such as heartbeats."""
    packed = read_json_table(text) if text.startswith("{") else {}
    if "type" not in packed:
        return text
    return read_text(packed, "message").strip() if packed["type"] == _SPOKEN else ""


def _read_answer(table: Table) -> str:
    """Return what the agent sent; beside a call that sends a message, the content is what it thought."""
    calls = [call.get("function") for call in list_tables(table, "tool_calls")]
    tables = [cast("Table", call) for call in calls if isinstance(call, dict)]
    arguments = [read_json_table(read_text(call, "arguments")) for call in tables if call.get("name") == _SEND]
    sent = [read_text(one, "message").strip() for one in arguments]
    if sent:
        return "\n\n".join(one for one in sent if one)
    return "" if calls else read_message_text(table.get("content"))


def _read_block(table: Table, place: str, source: Source) -> Iterator[Parsed]:
    label = read_text(table, "label")
    if not label:
        raise MalformedError("it has no label")
    value = cut_tagged(mend_surrogates(read_text(table, "value")))
    if not has_words(value):
        yield Omitted(what="empty blocks")
    elif label == _HUMAN:
        yield from _read_human(value, place, source)
    else:
        yield from make_document_pieces(value.strip(), source, "line 1", details={"block": label})


def _read_human(value: str, place: str, source: Source) -> Iterator[Parsed]:
    for line in value.splitlines():
        text = line.strip().removeprefix("-").strip()
        if not has_words(text) or text.casefold().startswith(_FRAME) or text.startswith("#"):
            continue
        if text.casefold().endswith(_UNKNOWN):
            yield Omitted(what="lines without a value")
            continue
        for part in cut(text):
            yield make_statement(source, place, part, ("letta", _HUMAN, part), metadata={"block": _HUMAN})


# Memories of mem0, as returned by its `get_all`: short statements about a user, with times and metadata.


_LISTS: Final = (b'"results"', b'"memories"')
_PROFILE: Final = "profile"
_FIELD_CHARACTERS: Final = 200
_KEPT: Final = ("user_id", "agent_id", "run_id", "actor_id", "app_id")
"""mem0's owner fields; imported memories belong to the importing user."""


class Mem0Format(Format):
    """Exports of mem0: `{"results": […]}`, the bare list, or an object of a schema of its own."""

    name = "mem0"
    signs = make_signs((b'"memory"', b'"created_at"', b'"id"'))
    endings = (".json", ".json.gz")

    def pieces(self, lines: Lines, source: Source) -> Iterator[Parsed]:
        """Parse each memory, in order."""
        head = lines.head()
        if head.lstrip().startswith(b"{") and not any(mark in head for mark in _LISTS):
            yield from catch_malformed(_PROFILE, _read_profile(lines, source))
            return
        readers = dict.fromkeys(("", "results", "memories"), partial(_read_memory, source=source))
        yield from read_tables(lines, source.path, readers, nouns=dict.fromkeys(readers, "memory"), ids=("id",))


def _read_memory(table: Table, place: str, source: Source) -> Iterator[Parsed]:
    """Parse one memory. An update in mem0 keeps the id, so the key includes the text."""
    text = read_text(table, "memory", "data", "text", "content")
    if not text:
        raise MalformedError("it has no memory")
    kept = {name: table[name] for name in _KEPT if isinstance(table.get(name), str)}
    yield make_statement(
        source,
        place,
        text,
        ("mem0", read_text(table, "id"), text),
        role="assistant" if table.get("role") == "assistant" else "user",
        occurred_at=read_moment(table.get("updated_at")) or read_moment(table.get("created_at")),
        expires_at=read_moment(table.get("expiration_date")),
        tags=read_tags(list_texts(table, "categories")),
        metadata={**read_json_table(table.get("metadata")), **kept},
    )


def _read_profile(lines: Lines, source: Source) -> Iterator[Parsed]:
    """Parse an export of the platform in a schema of the user's: each field becomes a statement."""
    for path, value in _list_fields(parse_table(read_whole(lines)), ()):
        label = " ".join(path).replace("_", " ").strip()
        text, field = f"{label[:1].upper()}{label[1:]}: {value}", ".".join(path)
        place, metadata = f"field {make_showable(field)}", {"field": field[:_FIELD_CHARACTERS]}
        yield make_statement(source, place, text, ("mem0", _PROFILE, text), metadata=metadata)


def _list_fields(value: object, path: tuple[str, ...]) -> Iterator[tuple[tuple[str, ...], str]]:
    """Yield the texts, numbers and truths of an object with their path; lists have an item each."""
    if isinstance(value, dict):
        for name, inner in cast("dict[str, object]", value).items():
            yield from _list_fields(inner, (*path, name))
    elif isinstance(value, list):
        for inner in cast("list[object]", value):
            yield from _list_fields(inner, path)
    elif isinstance(value, bool):
        yield path, "yes" if value else "no"
    elif isinstance(value, str | int | float) and str(value).strip() and path:
        yield path, str(value).strip()


# Zep and Graphiti: facts (edges of the graph) with the time in which they held, and episodes.


_FACTS: Final = ("edges", "facts", "entity_edges", "relationships")
_EPISODES: Final = ("episodes", "episodic_nodes", "messages")
_NODES: Final = ("nodes", "entities", "entity_nodes", "communities", "community_nodes")
_ZEP_MARKS: Final = ("fact", "source_description", "role_type")
_LINE: Final = re.compile(r"([^\W\d_][\w .'-]{0,40}?)(?:\s*\((user|assistant|human|ai)\))?:\s+(.*)", re.DOTALL)
_ROLES: Final = {"user": "user", "human": "user", "assistant": "assistant", "ai": "assistant"}
_SILENT: Final = frozenset({"system", "tool", "function", "norole"})


class ZepFormat(Format):
    """JSON of Zep and Graphiti: `{"nodes": […], "edges": […], "episodes": […]}`, or one of these lists."""

    name = "zep"

    def recognises(self, head: bytes, path: Path) -> bool:
        """Return whether a file begins with a fact or an episode."""
        del path
        above = ((path.rpartition(".")[0], path.rpartition(".")[2]) for path in list_key_paths(head))
        lists = ("", *_FACTS, *_EPISODES)
        return any(key in _ZEP_MARKS and place.rpartition(".")[2] in lists for place, key in above)

    def pieces(self, lines: Lines, source: Source) -> Iterator[Parsed]:
        """Parse the lists, in the order of the file."""
        talk = Talk.begin("zep", source, source.path.stem.encode("utf-8", "replace").decode())

        def read_any(table: Table, place: str) -> Iterator[Parsed]:
            if read_text(table, "fact"):
                yield from _read_zep_fact(table, place, source)
            elif table.get("content") is not None:
                yield from _read_episode(table, place, source, talk)
            else:
                yield Omitted(what="entities")

        readers: dict[str, Reader] = {"": read_any}
        readers |= dict.fromkeys(_FACTS, partial(_read_zep_fact, source=source))
        readers |= dict.fromkeys(_EPISODES, partial(_read_episode, source=source, talk=talk))
        readers |= dict.fromkeys(_NODES, omit_items("entities"))
        yield Boundary()
        yield from read_tables(lines, source.path, readers)


def _read_zep_fact(table: Table, place: str, source: Source) -> Iterator[Parsed]:
    """Yield a fact; one that has ended is imported as expired."""
    text = read_text(table, "fact")
    if not text:
        if table.get("source_node_uuid") is not None:
            yield Omitted(what="links without a fact")
            return
        raise MalformedError("it has no fact")
    relation = read_text(table, "name")
    group = read_text(table, "group_id", "graph_id", "user_id")
    yield make_statement(
        source,
        place,
        text.strip(),
        ("zep", read_text(table, "uuid"), text),
        occurred_at=read_moment(table.get("valid_at")) or read_moment(table.get("created_at")),
        expires_at=read_moment(table.get("invalid_at")) or read_moment(table.get("expired_at")),
        metadata={**({"relation_type": relation} if relation else {}), **({"group_id": group} if group else {})},
    )


def _read_episode(table: Table, place: str, source: Source, talk: Talk) -> Iterator[Parsed]:
    text = read_message_text(table.get("content"))
    if not text:
        raise MalformedError("it has no content")
    moment = table.get("valid_at") or table.get("created_at")
    identity = read_text(table, "uuid", "id") or text
    role, name = read_text(table, "role_type").casefold(), read_text(table, "name", "role")
    if role in _SILENT:
        yield Omitted(what="system messages" if role == "system" else "tool messages")
        return
    if not role and read_text(table, "source", "source_type") not in {"message", ""}:
        label = read_text(table, "source_description", "name")
        yield from make_prose_pieces(text, source, place=place, name=label, moment=read_moment_or_none(moment))
        return
    for number, (speaker, said) in enumerate(_split_lines(text) if not role else [(role, text)]):
        known = _ROLES.get(speaker.casefold())
        named = "" if known else speaker if speaker not in ("", "user") else name
        role_here, key = known or ("person" if named else "user"), (identity, str(number), said)
        yield from talk.pieces(place, role_here, said, key, moment=moment, id=identity, name=named)


def _split_lines(text: str) -> Iterator[tuple[str, str]]:
    r"""Split a message episode into speakers and what they said; a line without a speaker continues the last one.

    >>> list(_split_lines("Ana (user): I moved.\nto Graz\nassistant: Fine."))
    [('user', 'I moved.\nto Graz'), ('assistant', 'Fine.')]
    """
    speaker, said = "user", list[str]()
    for line in cut_tagged(text).splitlines():
        found = _LINE.fullmatch(line)
        if found is None:
            said.append(line)
            continue
        if any(one.strip() for one in said):
            yield speaker, "\n".join(said).strip()
        speaker, said = found[2] or found[1], [found[3]]
    if any(one.strip() for one in said):
        yield speaker, "\n".join(said).strip()


# Cognee: the graph of a data set, as its interface returns it, with the chunks of the documents.


_COGNEE_MARKS: Final = (b'"DocumentChunk"', b'"EntityType"', b'"TextDocument"', b'"TextSummary"')
_CHUNK: Final = "documentchunk"
_ENTITY: Final = "entity"
_STRUCTURE: Final = frozenset(
    {"contains", "is_part_of", "made_from", "is_a", "mentioned_in", "contains_entity", "belongs_to_set"}
)
"""Relations between documents, chunks, entities and their types, which say nothing about the world."""
_NAMES_MAX: Final = 200_000
_PAIR: Final = 2
_LINK: Final = 3


class CogneeFormat(Format):
    """The graph of a data set: `{"nodes": […], "edges": […]}`, as tables or as the lists of its engine."""

    name = "cognee"
    signs = make_signs(*((b'"nodes"', mark) for mark in _COGNEE_MARKS))

    def pieces(self, lines: Lines, source: Source) -> Iterator[Parsed]:
        """Parse nodes, then edges; an edge needs its nodes before it."""
        graph = _Graph(source)
        readers = {"nodes": graph.read_node, "edges": graph.read_edge}
        for key, element in read_sections(lines, *readers):
            place = f"{key.removesuffix('s') or 'item'} {element.number}"
            if read := readers.get(key):
                yield from catch_malformed(place, read(element, place))
            else:
                yield Problem(place=place, what=element.wrong or "it is neither a node nor an edge")


def _parse(element: Element) -> object:
    if not element.data.lstrip().startswith(b"["):
        return parse_item(element)
    try:
        return json.loads(element.data)
    except (ValueError, RecursionError) as error:
        raise MalformedError("not JSON") from error


def _read_node(element: Element) -> Table:
    """Return the fields of a node as one table, with its id."""
    value = _parse(element)
    if isinstance(value, dict):
        table = cast("Table", value)
        return {**read_json_table(table.get("properties")), **table}
    pair = cast("Sequence[Any]", value)
    if len(pair) != _PAIR or not isinstance(pair[1], dict):
        raise MalformedError("it is no node")
    return {**cast("Table", pair[1]), "id": str(pair[0])}


def _read_edge(element: Element) -> tuple[str, str, str]:
    """Return source, relation and target."""
    value = _parse(element)
    if isinstance(value, dict):
        table = cast("Table", value)
        found = read_text(table, "source", "source_node_id"), read_text(table, "target", "target_node_id")
        relation = read_text(table, "label", "relationship_name", "relationship")
    else:
        link = cast("Sequence[object]", value)
        if len(link) < _LINK or not all(isinstance(one, str) for one in link[:_LINK]):
            raise MalformedError("it is no edge")
        found, relation = (str(link[0]), str(link[1])), str(link[2])
    if not (all(found) and relation):
        raise MalformedError("it lacks a node or a relation")
    return found[0], relation, found[1]


class _Graph:
    """The names of the nodes that were read, by id."""

    def __init__(self, source: Source) -> None:
        self._source = source
        self._names: dict[str, str] = {}

    def read_node(self, element: Element, place: str) -> Iterator[Parsed]:
        table = _read_node(element)
        kind = read_text(table, "type").casefold()
        name = read_text(table, "name", "label")
        if kind == _ENTITY and name and len(self._names) < _NAMES_MAX:
            self._names[read_text(table, "id")] = name
        if kind == _CHUNK:
            text = read_text(table, "text")
            if not text:
                raise MalformedError("it has no text")
            moment = read_moment_or_none(table.get("created_at"))
            yield from make_prose_pieces(text, self._source, place=place, name="cognee", moment=moment)
        elif kind == _ENTITY and read_text(table, "description"):
            description = read_text(table, "description").strip()
            yield self._state(word_observation(name, description), place, ("node", name, description), {"entity": name})
        elif kind == _ENTITY:
            yield Omitted(what="entities without a description")
        else:
            yield Omitted(what=f"nodes of type {kind}" if kind in _KINDS else "other nodes")

    def read_edge(self, element: Element, place: str) -> Iterator[Parsed]:
        begin, relation, end = _read_edge(element)
        if relation in _STRUCTURE:
            yield Omitted(what="structural relations")
            return
        if begin not in self._names or end not in self._names:
            raise MalformedError("it links a node that is not in the file before it, or is no entity")
        names = self._names[begin], self._names[end]
        text = word_relation(names[0], relation, names[1])
        details = {"relation": {"from": names[0], "to": names[1], "type": relation}}
        yield self._state(text, place, ("edge", names[0], relation, names[1]), details)

    def _state(self, text: str, place: str, key: tuple[str, ...], details: Mapping[str, object]) -> Parsed:
        return make_statement(self._source, place, text, ("cognee", *key), metadata=details, worded=True)


_KINDS: Final = frozenset({"entitytype", "textdocument", "textsummary"})


# Documents exported by Hindsight: a zip with a file for each document, or the JSON of its lists.


_OWN: Final = frozenset({"experience", "opinion"})
"""Facts about the agent itself, which are never attributed to the user."""
_DERIVED: Final = "observation"
_JOIN: Final = re.compile(r"\s+\|\s+")
_MANIFEST: Final = "manifest.json"


class HindsightFormat(Format):
    """Document exports of Hindsight, and the lists of its interface."""

    name = "hindsight"
    signs = make_signs(
        (b'"facts"', b'"chunks"'),
        (b'"fact_type"', b'"text"'),
        (b'"source_bank_id"', b'"schema_version"'),
    )

    def pieces(self, lines: Lines, source: Source) -> Iterator[Parsed]:
        """Parse a document, or each item of a list."""
        head = lines.head()
        listed = head.lstrip().startswith(b"[") or source.path.suffix == ".jsonl"
        if listed or is_json_with(head, b'"items"') or is_json_with(head, b'"memories"'):
            yield from _read_lists(lines, source)
            return
        if source.path.name != _MANIFEST:
            yield from catch_malformed("document", _read_file(lines, source))


def _read_file(lines: Lines, source: Source) -> Iterator[Parsed]:
    table = parse_table(read_whole(lines))
    if isinstance(table.get("facts"), list) or "original_text" in table:
        yield from _read_document(table, f"document {read_text(table, 'id')}".strip(), source)
    elif isinstance(table.get("observations"), list):
        yield Omitted(what="observations", count=len(list_tables(table, "observations")))
    else:
        yield Omitted(what="files of settings")


def _read_lists(lines: Lines, source: Source) -> Iterator[Parsed]:
    def read(table: Table, place: str) -> Iterator[Parsed]:
        if isinstance(table.get("facts"), list) or read_text(table, "original_text"):
            yield from _read_document(table, place, source)
        else:
            yield from _read_hindsight_fact(table, place, source, "")

    yield from read_tables(lines, source.path, {"": read, "items": read, "memories": read, "results": read})


def _read_document(table: Table, place: str, source: Source) -> Iterator[Parsed]:
    yield Boundary()
    name = read_text(table, "id") or source.path.stem
    created = read_moment_or_none(table.get("created_at"))
    chunks = list_tables(table, "chunks")
    text = read_text(table, "original_text") or "\n\n".join(read_text(one, "chunk_text") for one in chunks)
    tags = read_tags(list_texts(table, "tags"))
    yield from make_prose_pieces(text, source, place=place, name=name, moment=created, tags=tags)
    for number, fact in enumerate(list_tables(table, "facts"), 1):
        spot = f"{place}, fact {number}"
        yield from catch_malformed(spot, _read_hindsight_fact(fact, spot, source, name))


def _read_hindsight_fact(table: Table, place: str, source: Source, document: str) -> Iterator[Parsed]:
    kind = read_text(table, "fact_type", "type")
    if kind == _DERIVED:
        yield Omitted(what="observations")
        return
    text = _JOIN.sub("; ", read_text(table, "text")).strip()
    if not text:
        raise MalformedError("it has no text")
    moments = (read_moment(table.get(name)) for name in ("occurred_start", "mentioned_at", "event_date", "created_at"))
    entities = list_texts(table, "entities")
    yield make_statement(
        source,
        place,
        text,
        ("hindsight", document, text),
        role="assistant" if kind in _OWN else "user",
        occurred_at=next((one for one in moments if one is not None), None),
        tags=read_tags(list_texts(table, "tags")),
        metadata={
            **({"document": document} if document else {}),
            **({"fact_type": kind} if kind else {}),
            **({"entities": entities} if entities else {}),
        },
    )
    links = len(list_tables(table, "causal_relations"))
    if links:
        yield Omitted(what="causal relations", count=links)
