"""`python -m credenda`."""

from __future__ import annotations

import sys

from credenda.interfaces.cli.main import main

sys.exit(main())
