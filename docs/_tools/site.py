"""What the site has beyond docs/*.md: the home page, results with figures, commands and functions from their docstrings.

Hooks of MkDocs (mkdocs.yml names this file). A new page in docs/ is picked up by itself; `SECTIONS` gives it a place, and
without one it comes last.
"""

import contextlib
import importlib
import io
import re
from pathlib import Path
from typing import Any

from mkdocs.structure.files import File, Files

ROOT = Path(__file__).resolve().parents[2]
PUBLISHED = "published"
"""Where figures of results/ lie in the site."""

SECTIONS: dict[str, list[str]] = {
    "Start": ["index.md", "tutorial.md", "results.md", "findings.md", "compare.md"],
    "How to": ["memory-cores.md", "bring-your-own.md", "study-files.md", "scale.md", "deploy.md", "play.md", "pictures.md"],
    "Understand": [
        "task.md", "arena.md", "study.md", "teacher.md", "distillation.md", "memory-tests.md", "probe.md", "statistics.md",
        "seal.md", "arithmetic.md", "latency.md",
    ],
    "Study": [],
    "Reference": ["commands.md", "tables.md", "report.md", "model-cards.md", "data-card.md"],
    "Project": ["contributing.md", "changelog.md"],
}  # fmt: skip
REFERENCE = {
    "task": "the task as an environment, shots, blackouts, outcomes",
    "policies": "policies: loading, running, students and their memory cores",
    "learning.distil": "distillation: episodes, labels, training",
    "evidence": "tables, statistics, plan and seal",
    "verify": "checking a study",
    "submissions": "comparing with others",
    "testing": "contracts for cores of your own",
    "deploy": "exports",
    "report": "tables, figures and the page",
}
"""Packages whose docstrings become pages."""
PAGES_OF_RESULTS = {
    "Save rates": ("figure-3", ["save-rates", "outcomes", "subgroups"]),
    "Differences and hypotheses": (None, ["hypotheses", "contrasts", "claims"]),
    "Beside the paper": ("figure-paper-versus-ours", ["paper-versus-ours"]),
    "Memory tests": ("figure-1", ["memory"]),
    "Costs": ("figure-4", ["costs"]),
    "Noise": ("figure-noise", ["noise", "noise-contrasts"]),
}
"""Pages made of the report's tables: a figure, and tables by name."""


def on_config(config: Any) -> Any:
    """Lay out the navigation: every page of docs/ has a place."""
    placed = {page for pages in SECTIONS.values() for page in pages}
    others = sorted(path.name for path in Path(config.docs_dir).glob("*.md") if path.name not in placed)
    made = {
        "Study": [{title: _slug(title)} for title in PAGES_OF_RESULTS],
        "Reference": [{"every command": "reference/commands.md"}, *({name: _module_page(name)} for name in REFERENCE)],
    }
    config.nav = [{section: [*pages, *made.get(section, [])]} for section, pages in SECTIONS.items()]
    if others:
        config.nav.insert(3, {"More": others})
    return config


def on_files(files: Files, config: Any) -> Files:
    """Add pages and pictures that lie elsewhere or nowhere."""
    texts = {
        "index.md": _from_root("README.md"),
        "contributing.md": _from_root("CONTRIBUTING.md"),
        "changelog.md": _from_root("CHANGELOG.md"),
        "reference/commands.md": _commands(),
        **{_module_page(name): _module(name, said) for name, said in REFERENCE.items()},
        **{_slug(title): _results_page(title, *parts) for title, parts in PAGES_OF_RESULTS.items()},
    }
    for name, text in texts.items():
        files.append(File.generated(config, name, content=text))
    for path in sorted((ROOT / "results").rglob("*")):
        if path.suffix in (".png", ".svg") and "teachers" not in path.parts:
            name = f"{PUBLISHED}/{path.relative_to(ROOT / 'results').as_posix()}"
            files.append(File.generated(config, name, abs_src_path=str(path)))
    css = Path(__file__).with_name("site.css")
    files.append(File.generated(config, "_tools/site.css", abs_src_path=str(css)))
    return files


def on_page_markdown(markdown: str, page: Any, config: Any, files: Files) -> str:
    """Let links to files outside docs/ lead to where they lie in the site."""
    text = markdown.replace("](../results/", f"]({PUBLISHED}/")
    text = re.sub(r"\]\(\.\./README\.md(#[a-z-]+)?\)", r"](index.md\1)", text)
    return text.replace("](../CONTRIBUTING.md)", "](contributing.md)")


def _from_root(name: str) -> str:
    """A file of the repository's root, with links as they are in the site."""
    text = (ROOT / name).read_text("utf-8").replace("](docs/", "](")
    text = text.replace("](CONTRIBUTING.md)", "](contributing.md)").replace("](CHANGELOG.md)", "](changelog.md)")
    return re.sub(r"\[([^\]]+)\]\((CITATION\.cff|LICENSE)\)", r"`\1`", text)


def _slug(title: str) -> str:
    return f"study/{title.lower().replace(' ', '-')}.md"


def _module_page(name: str) -> str:
    return f"reference/{name}.md"


def _results_page(title: str, figure: str | None, names: list[str]) -> str:
    """Tables of the report, as it wrote them, and its figure on light and on dark ground."""
    report = ROOT / "results" / "report"
    parts = [f"# {title}", "From the published results; `blindsave report` makes tables and figures again from rows alone."]
    if figure:
        links = [f"![{title}](../{PUBLISHED}/report/figures/{figure}{kind}.svg#only-{ground})" for kind, ground in KINDS]
        parts.append("\n".join(links))
    for name in names:
        path = report / "tables" / f"{name}.md"
        if path.is_file():
            parts.append(re.sub(r"^### ", "## ", path.read_text("utf-8")))
    return "\n\n".join(parts) + "\n"


KINDS = (("", "light"), ("-dark", "dark"))


def _module(name: str, said: str) -> str:
    """A package: its own words, then every public module of it."""
    package = ROOT / "src" / "blindsave" / Path(*name.split("."))
    modules = [
        path.relative_to(package).with_suffix("").as_posix().replace("/", ".")
        for path in sorted(package.rglob("*.py"))
        if not path.name.startswith("_")
    ]
    blocks = [f"::: blindsave.{name}.{module}" for module in modules]
    return "\n\n".join([f"# blindsave.{name}", f"{said[0].upper()}{said[1:]}.", *blocks]) + "\n"


def _commands() -> str:
    """What `blindsave COMMAND --help` prints, for every command."""
    from blindsave.cli import GROUPS

    parts = ["# Every command", "Every command takes `--json`. `blindsave COMMAND --help` prints the same."]
    for group, commands in GROUPS.items():
        parts.append(f"## {group}")
        for name, command in commands.items():
            parts += [f"### blindsave {name}", "```text\n" + _help(name, command.path) + "\n```"]
    return "\n\n".join(parts) + "\n"


def _help(name: str, path: str) -> str:
    from blindsave.cli.parsing import parse

    module, _, kind = path.partition(":")
    said = io.StringIO()
    with contextlib.redirect_stdout(said), contextlib.suppress(SystemExit):
        parse(getattr(importlib.import_module(module), kind), name, ["--help"])
    plain = re.sub(r"\x1b\[[0-9;]*m", "", said.getvalue())
    return "\n".join(line.rstrip() for line in plain.strip().splitlines())
