"""What schemathesis loads: bodies of types that it does not know, and a check of its own."""

import data_acceptance  # noqa: F401
import media_types  # noqa: F401
