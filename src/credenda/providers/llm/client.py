"""The client of a model, with its price and a circuit breaker."""

from __future__ import annotations

from threading import Lock

from credenda import limits
from credenda.clock import SECOND_US
from credenda.providers.llm.prices import Price
from credenda.providers.llm.protocol import LanguageModel, ModelFailure, Trouble

__all__ = ["ModelClient"]


class ModelClient:
    """A model, its price, and the time until which it is not called. May be used from several threads."""

    def __init__(self, model: LanguageModel, price: Price | None = None, *, owned: bool = False) -> None:
        """Start with an available model; an `owned` model is closed with the memory."""
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
        """The time until which it must not be called, in microseconds UTC."""
        with self._lock:
            return self._quiet_until_us

    @property
    def rereads_after_us(self) -> int:
        """The time of the next second attempts: not while the circuit is open, nor on a day whose budget is spent."""
        with self._lock:
            return max(self._quiet_until_us, self._spent_until_us)

    @property
    def trouble(self) -> str:
        """The reason of the last failure, "" after an answer."""
        with self._lock:
            return self._trouble

    def answered(self) -> None:
        """Record an answer."""
        with self._lock:
            self._failures, self._quiet_until_us, self._trouble = 0, 0, ""

    def spent(self, until_us: int) -> None:
        """Record that the day's budget is spent, so that each of a thousand waiting messages need not find out."""
        with self._lock:
            self._spent_until_us = until_us

    def failed(self, failure: ModelFailure, now_us: int) -> int:
        """Record a failure and return the next attempt's time; a failure of the model itself delays all questions."""
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
        """Release the model, if it was created for this memory."""
        if self._owned:
            self.model.close()
