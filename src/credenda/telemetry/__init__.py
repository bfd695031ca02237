"""What happened, for people who watch: tokens of models, and spans and metrics of OpenTelemetry."""

from typing import TYPE_CHECKING

from credenda.lazy import load_on_use

if TYPE_CHECKING:
    from credenda.telemetry import spans as spans

__getattr__ = load_on_use(__name__)
