"""Settings come from four places, in one order, and a mistake in any of them is named."""

from pathlib import Path
from zoneinfo import ZoneInfo

import pytest

from credenda import config
from credenda.config import Settings, describe_settings, get_default_target, get_default_user, load_settings
from credenda.errors import Invalid


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Leave neither a file nor a variable of the machine in sight."""
    for name in ("CREDENDA_CONFIG", "CREDENDA_DB", "CREDENDA_USER", *_variables()):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    return tmp_path


def _variables() -> list[str]:
    return [f"CREDENDA_{name.upper()}" for name, _, _ in describe_settings()]


def _write(folder: Path, text: str) -> None:
    path = folder / "config" / "credenda" / "config.toml"
    path.parent.mkdir(parents=True)
    path.write_text(text, "utf-8")


def test_without_anything_the_defaults_hold() -> None:
    assert load_settings() == load_settings({}) == Settings()


def test_arguments_go_before_environment_before_file_before_default(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _write(folder, 'job_attempts = 7\ncontext_tokens = 70\ntime_zone = "Europe/Vienna"\n')
    monkeypatch.setenv("CREDENDA_JOB_ATTEMPTS", "8")
    monkeypatch.setenv("CREDENDA_CONTEXT_TOKENS", "80")
    merged = load_settings({"job_attempts": 9})
    assert (merged.job_attempts, merged.context_tokens, merged.time_zone) == (9, 80, "Europe/Vienna")
    assert merged.vector_bits == Settings().vector_bits
    assert merged.zone == ZoneInfo("Europe/Vienna")


def test_the_file_may_be_elsewhere(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (folder / "my.toml").write_text("job_attempts = 3\n", "utf-8")
    monkeypatch.setenv("CREDENDA_CONFIG", str(folder / "my.toml"))
    assert load_settings().job_attempts == 3


def test_a_file_that_was_named_and_is_not_there_is_an_error(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CREDENDA_CONFIG", str(folder / "mine.toml"))
    with pytest.raises(Invalid, match=r"mine\.toml"):
        load_settings()


@pytest.mark.parametrize("text", ["job_attempts = ", "\udcff", '["'])
def test_a_file_that_cannot_be_read_is_named(folder: Path, text: str) -> None:
    _write(folder, "")
    (folder / "config" / "credenda" / "config.toml").write_bytes(text.encode("utf-8", "surrogateescape"))
    with pytest.raises(Invalid, match=r"config\.toml"):
        load_settings()


@pytest.mark.parametrize(
    ("wrong", "near"),
    [("job_attempt", "job_attempts"), ("timezone", "time_zone"), ("secret_policy", "secrets_policy")],
)
def test_an_unknown_setting_names_the_nearest_wherever_it_stands(
    folder: Path, monkeypatch: pytest.MonkeyPatch, wrong: str, near: str
) -> None:
    with pytest.raises(Invalid, match=f"did you mean '{near}'"):
        load_settings({wrong: "5"})
    monkeypatch.setenv(f"CREDENDA_{wrong.upper()}", "5")
    with pytest.raises(Invalid, match=f"did you mean '{near}'"):
        load_settings()
    monkeypatch.delenv(f"CREDENDA_{wrong.upper()}")
    _write(folder, f"{wrong} = 5\n")
    with pytest.raises(Invalid, match=rf"config\.toml.*did you mean '{near}'"):
        load_settings()


def test_what_is_like_no_setting_is_an_error_as_an_argument_and_not_ours_in_the_environment(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with pytest.raises(Invalid, match="settings table"):
        load_settings({"colour": "blue"})
    monkeypatch.setenv("CREDENDA_QUARTZ", "1")
    for name in ("DB", "USER", "DEBUG"):
        monkeypatch.setenv(f"CREDENDA_{name}", "x")
    assert load_settings() == Settings()


@pytest.mark.parametrize("value", ["spacy", "none", "stanza", ""])
def test_a_setting_of_an_earlier_version_is_ignored_with_one_warning(
    folder: Path, monkeypatch: pytest.MonkeyPatch, value: str
) -> None:
    with pytest.warns(FutureWarning, match="parser in settings is ignored") as caught:
        assert load_settings({"parser": value}) == Settings()
    assert len(caught) == 1
    _write(folder, f'parser = "{value}"\n')
    with pytest.warns(FutureWarning, match=r"parser in .*config\.toml is ignored"):
        assert load_settings() == Settings()
    (folder / "config" / "credenda" / "config.toml").unlink()
    monkeypatch.setenv("CREDENDA_PARSER", value)
    with pytest.warns(FutureWarning, match="parser in the environment is ignored"):
        assert load_settings({"job_attempts": 9}) == Settings(job_attempts=9)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("job_attempts", 0),
        ("job_attempts", 101),
        ("job_attempts", "many"),
        ("job_attempts", 2.5),
        ("job_attempts", True),
        ("job_attempts", None),
        ("context_tokens", 0),
        ("context_tokens", -5),
        ("context_tokens", 1_000_001),
        ("vector_bits", 15),
        ("vector_bits", "16.0"),
        ("secrets_policy", "MASK"),
        ("secrets_policy", ""),
        ("secrets_policy", None),
        ("embedder", 5),
        ("time_zone", "Vienna"),
        ("time_zone", ""),
        ("time_zone", "../etc/passwd"),
        ("time_zone", "Europe"),
        ("time_zone", "\x00"),
        ("time_zone", 5),
    ],
)
def test_a_value_out_of_its_range_is_refused_and_named(name: str, value: object) -> None:
    with pytest.raises(Invalid) as caught:
        load_settings({name: value})
    assert name in str(caught.value) or "time zone" in str(caught.value)
    assert "settings" in str(caught.value)


@pytest.mark.parametrize(
    ("name", "value"), [("job_attempts", 1), ("job_attempts", 100), ("vector_bits", 32), ("time_zone", "Asia/Kolkata")]
)
def test_the_ends_of_a_range_belong_to_it(monkeypatch: pytest.MonkeyPatch, name: str, value: object) -> None:
    assert getattr(load_settings({name: value}), name) == value
    monkeypatch.setenv(f"CREDENDA_{name.upper()}", f" {value} " if isinstance(value, int) else str(value))
    assert getattr(load_settings(), name) == value


def test_every_setting_has_a_meaning_and_they_are_few() -> None:
    documented = describe_settings()
    assert [name for name, _, _ in documented] == list(Settings.__dataclass_fields__)
    assert all(len(meaning) > 10 and not meaning.startswith('"') for _, _, meaning in documented)
    assert len(documented) <= 50


def test_the_default_file_is_in_the_users_data_folder(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert get_default_target() == str(folder / "data" / "credenda" / "memory.db")
    assert (folder / "data" / "credenda").is_dir()
    monkeypatch.setenv("CREDENDA_DB", "sqlite:///elsewhere.db")
    assert get_default_target() == "sqlite:///elsewhere.db"


def test_the_default_user(monkeypatch: pytest.MonkeyPatch) -> None:
    assert get_default_user() == "default"
    monkeypatch.setenv("CREDENDA_USER", "ana")
    assert get_default_user() == "ana"
    monkeypatch.setenv("CREDENDA_USER", "")
    assert get_default_user() == "default"


@pytest.mark.parametrize(("value", "wanted"), [(None, False), ("", False), ("0", False), ("1", True), ("yes", True)])
def test_debug_is_asked_for(monkeypatch: pytest.MonkeyPatch, value: str | None, *, wanted: bool) -> None:
    monkeypatch.delenv("CREDENDA_DEBUG", raising=False)
    if value is not None:
        monkeypatch.setenv("CREDENDA_DEBUG", value)
    assert config.is_debug_wanted() is wanted


def test_colour_is_left_out_where_it_is_not_wanted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setenv("TERM", "xterm")
    assert config.is_colour_allowed()
    monkeypatch.setenv("NO_COLOR", "1")
    assert not config.is_colour_allowed()
    monkeypatch.delenv("NO_COLOR")
    monkeypatch.setenv("TERM", "dumb")
    assert not config.is_colour_allowed()


@pytest.mark.requirement("R-093", "R-094", "R-095", "E-049")
def test_names_of_other_memories_are_read_in_every_place(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    found = load_settings()
    assert (found.decay_lambda, found.decay_boost_cap, found.decay_interval) == (0.02, 10.0, 3_600)
    file = tmp_path / "config.toml"
    file.write_text('recall_decay_lambda = 0.01\nretention_mode = "l2"\n', "utf-8")
    monkeypatch.setenv("CREDENDA_CONFIG", str(file))
    found = load_settings()
    assert (found.decay_lambda, found.retention_mode) == (0.01, "l2")
    monkeypatch.setenv("RECALL_DECAY_BOOST_CAP", "20")
    monkeypatch.setenv("RECALL_DECAY_JOB_INTERVAL", "60")
    found = load_settings({"RECALL_DECAY_LAMBDA": 0.03})
    assert (found.decay_lambda, found.decay_boost_cap, found.decay_interval) == (0.03, 20.0, 60)
    assert load_settings({"decay_lambda": 0.04, "recall_decay_lambda": 0.03}).decay_lambda == 0.04
    monkeypatch.setenv("CREDENDA_DECAY_BOOST_CAP", "5")
    assert load_settings().decay_boost_cap == 5.0
