"""Questions that name what a memory is about."""

import pytest

from credenda.read.plan import is_named, list_aliases

from .build import memory

KUBERNETES = memory(entity="kubernetes", attribute="known as", value="k8s, kube, dead letter")


def test_only_the_attribute_known_as_tells_names() -> None:
    assert [name.strip() for name in list_aliases(KUBERNETES)] == ["kubernetes", "k8s", "kube", "dead letter"]
    assert list_aliases(memory(entity="ana", attribute="residence", value="Linz")) == []


@pytest.mark.parametrize(
    ("question", "named"),
    [
        ("What's my k8s deploy story?", True),
        ("KUBERNETES again", True),
        ("how does kubernets work", True),
        ("Where do dead letters go?", True),
        ("A letter from the dead", False),
        ("What is a cube?", False),
        ("", False),
    ],
)
def test_a_question_names_by_any_name_whole_and_but_for_a_slip(question: str, *, named: bool) -> None:
    assert is_named(KUBERNETES, question) is named
