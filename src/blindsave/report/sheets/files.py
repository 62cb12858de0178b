"""The table of the files that the report was made from."""

from blindsave.report.analysis import Analysis
from blindsave.report.registry import tables
from blindsave.report.sheet import Column, Sheet, grouped
from blindsave.store import sha256_file


@tables("files")
def sources(analysis: Analysis) -> Sheet:
    """The files this report was made from, by hash."""
    root = analysis.results.root
    columns = (Column("holds", "Holds"), Column("file", "File", words=True), Column("sha256", "SHA-256", words=True))
    rows = [
        (what, path.relative_to(root).as_posix() if path.is_relative_to(root) else path.name, sha256_file(path))
        for what, paths in sorted(analysis.results.files.items())
        for path in paths
    ]
    return Sheet("files", "Files this page was made from", "Nothing else went into it.", columns, grouped(rows))
