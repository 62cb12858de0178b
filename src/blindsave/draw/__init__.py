"""Pictures of the arena: what it looks like, films, maps. Describes, never decides: outside the freeze."""
