"""Bodies that schemathesis cannot make from a schema."""

import schemathesis
from hypothesis import strategies

schemathesis.openapi.media_type("application/offset+octet-stream", strategies.binary(max_size=1_000))
