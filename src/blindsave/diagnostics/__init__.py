"""Why a policy does what it does: probes of its memory, exchanged memories, action errors. Describes, never decides."""
