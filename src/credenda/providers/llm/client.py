"""The line to a model: whom to ask, at what price, and until when to leave it alone."""

from __future__ import annotations

from threading import Lock

from credenda import limits
from credenda.clock import SECOND_US
from credenda.providers.llm.prices import Price
from credenda.providers.llm.protocol import LanguageModel, ModelFailure, Trouble

__all__ = ["ModelClient"]


class ModelClient:
    """A model, its price, and how long it is to be left alone. May be used from several threads."""

    def __init__(self, model: LanguageModel, price: Price | None = None, *, owned: bool = False) -> None:
        """Begin with a model that may be asked; one that is `owned` is closed with the memory."""
        self.model = model
        self.price = price
        self._owned = owned
        self._lock = Lock()
        self._failures = 0
        self._quiet_until_us = 0
        self._spent_until_us = 0
        self._trouble = ""

    @property
    def open_until_us(self) -> int:
        """Until when it is not to be asked, in microseconds UTC."""
        with self._lock:
            return self._quiet_until_us

    @property
    def rereads_after_us(self) -> int:
        """When turns that wait may be read again: not while it is left alone, nor on a day whose budget is spent."""
        with self._lock:
            return max(self._quiet_until_us, self._spent_until_us)

    @property
    def trouble(self) -> str:
        """Why it was last left alone, "" once it has answered."""
        with self._lock:
            return self._trouble

    def answered(self) -> None:
        """Note that it answers again."""
        with self._lock:
            self._failures, self._quiet_until_us, self._trouble = 0, 0, ""

    def spent(self, until_us: int) -> None:
        """Note that the day's budget is spent: a thousand turns that wait need not each find that out."""
        with self._lock:
            self._spent_until_us = until_us

    def failed(self, failure: ModelFailure, now_us: int) -> int:
        """Note a failure and return when to try again; one of the model itself keeps all other questions back too."""
        with self._lock:
            if not failure.trouble.is_model_fault:
                return now_us + limits.LLM_WAIT_SECONDS_MAX * SECOND_US
            self._trouble = str(failure)
            until_us = now_us + int(self._wait_seconds(failure) * SECOND_US)
            self._failures += 1
            self._quiet_until_us = max(self._quiet_until_us, until_us)
            return self._quiet_until_us

    def _wait_seconds(self, failure: ModelFailure) -> float:
        if failure.wait_seconds is not None:
            return min(max(failure.wait_seconds, 0.0), limits.LLM_ASKED_WAIT_SECONDS_MAX)
        if failure.trouble is Trouble.DENIED:
            return limits.LLM_DENIED_WAIT_SECONDS
        return min(limits.LLM_WAIT_SECONDS * 2 ** min(self._failures, 16), limits.LLM_WAIT_SECONDS_MAX)

    def close(self) -> None:
        """Release the model, if it was made for this memory."""
        if self._owned:
            self.model.close()
