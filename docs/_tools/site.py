"""What the site has beyond docs/*.md: home page, results with figures, commands and functions from their docstrings.

Hooks of MkDocs (mkdocs.yml names this file). A new page in docs/ is picked up by itself; `SECTIONS` gives it a place,
and without one it stands under "More".
"""

import contextlib
import importlib
import io
import re
from pathlib import Path
from typing import Any

from mkdocs.structure.files import File, Files
from mkdocs.utils import get_relative_url

ROOT = Path(__file__).resolve().parents[2]
PUBLISHED = "published"
"""Where figures of results/ lie in the site."""

FOREIGN_WORKER, LOCAL_WORKER = "https://unpkg.com/iframe-worker/shim", "worker.js"

SECTIONS: dict[str, list[str]] = {
    "Start": ["index", "tutorial", "results", "findings", "compare"],
    "How to": ["memory-cores", "bring-your-own", "study-files", "scale", "deploy", "drive", "play", "pictures"],
    "Understand": [
        *(
            "task",
            "conditions",
            "faults",
            "arena",
            "study",
            "teacher",
            "distillation",
            "memory-tests",
            "remember",
            "probe",
            "statistics",
            "seal",
        ),
        *("rivals", "smallest", "arithmetic", "latency"),
    ],
    "Study": [],
    "Reference": ["commands", "tables", "report", "model-cards", "data-card"],
    "Project": ["contributing", "changelog"],
}
FROM_ROOT = {"index": "README.md", "contributing": "CONTRIBUTING.md", "changelog": "CHANGELOG.md"}
REFERENCE = {
    "task": "the task as an environment, shots, blackouts, outcomes",
    "policies": "policies: loading, running, students and their memory cores",
    "learning.distil": "distillation: episodes, labels, training",
    "evidence": "tables, statistics, plan and seal",
    "verify": "checking a study",
    "submissions": "comparing with others",
    "benchmark": "measuring a memory core",
    "testing": "contracts for cores of your own",
    "deploy": "exports",
    "drive": "a policy against a robot",
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
    written = {path.stem for path in Path(config.docs_dir).glob("*.md")}
    present = written | FROM_ROOT.keys()
    sections = {section: [f"{name}.md" for name in names if name in present] for section, names in SECTIONS.items()}
    others = sorted(f"{name}.md" for name in written.difference(*SECTIONS.values()))
    made = {
        "Study": [*({title: _slug(title)} for title in PAGES_OF_RESULTS), "study/leaderboard.md"],
        "Reference": [{"every command": "reference/commands.md"}, *({name: _module_page(name)} for name in REFERENCE)],
    }
    config.nav = [{section: [*pages, *made.get(section, [])]} for section, pages in sections.items()]
    if others:
        config.nav.insert(3, {"More": others})
    return config


def on_files(files: Files, config: Any) -> Files:
    """Add pages and pictures that lie elsewhere or nowhere."""
    texts = {
        **{f"{name}.md": _from_root(file) for name, file in FROM_ROOT.items()},
        "reference/commands.md": _commands(),
        "study/leaderboard.md": (ROOT / "submissions" / "leaderboard.md").read_text("utf-8"),
        **{_module_page(name): _module(name, said) for name, said in REFERENCE.items()},
        **{_slug(title): _results_page(title, *parts) for title, parts in PAGES_OF_RESULTS.items()},
    }
    for name, text in texts.items():
        files.append(File.generated(config, name, content=text))
    for path in sorted((ROOT / "results").rglob("*")):
        if path.suffix in (".png", ".svg") and "teachers" not in path.parts:
            name = f"{PUBLISHED}/{path.relative_to(ROOT / 'results').as_posix()}"
            files.append(File.generated(config, name, abs_src_path=str(path)))
    for name in ("site.css", LOCAL_WORKER):
        files.append(File.generated(config, name, abs_src_path=str(Path(__file__).with_name(name))))
    return files


def on_page_markdown(markdown: str, page: Any, config: Any, files: Files) -> str:
    """Let links to files outside docs/ lead to where they lie in the site."""
    text = markdown.replace("](../results/", f"]({PUBLISHED}/")
    text = re.sub(r"\]\(\.\./README\.md(#[a-z-]+)?\)", r"](index.md\1)", text)
    text = text.replace("](../submissions/leaderboard.md)", "](study/leaderboard.md)")
    return text.replace("](../CONTRIBUTING.md)", "](contributing.md)")


def on_post_page(output: str, page: Any, config: Any) -> str:
    """Nothing is fetched from elsewhere: what makes search work from a disk lies in the site too."""
    return output.replace(FOREIGN_WORKER, get_relative_url(LOCAL_WORKER, page.url))


def on_post_template(output_content: str, template_name: str, config: Any) -> str:
    """The page for lost visitors as well."""
    return output_content.replace(FOREIGN_WORKER, LOCAL_WORKER)


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
    parts = [
        f"# {title}",
        "From the published results; `blindsave report` makes tables and figures again from rows alone.",
    ]
    if figure:
        links = [
            f"![{title}](../{PUBLISHED}/report/figures/{figure}{kind}.svg#only-{ground})" for kind, ground in KINDS
        ]
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

    parts = ["# Every command", "`blindsave COMMAND --help` prints the same."]
    for group, commands in GROUPS.items():
        parts.append(f"## {group}")
        for name, command in commands.items():
            parts += [f"### blindsave {name}", *_explained(_help(name, command.path))]
    return "\n\n".join(parts) + "\n"


def _help(name: str, path: str) -> list[str]:
    from blindsave.cli.parsing import parse

    module, _, kind = path.partition(":")
    said = io.StringIO()
    with contextlib.redirect_stdout(said), contextlib.suppress(SystemExit):
        parse(getattr(importlib.import_module(module), kind), name, ["--help"])
    return re.sub(r"\x1b\[[0-9;]*m", "", said.getvalue()).splitlines()


def _explained(lines: list[str]) -> list[str]:
    """Usage, words, and a list of options, which narrow screens can fold, from what the parser drew for terminals."""
    first = next(i for i, line in enumerate(lines) if re.match(r"[╭ ]\W*(options|positional arguments)\b", line))
    words = " ".join(" ".join(lines[1:first]).split())
    options: list[list[str]] = []
    for line in lines[first:]:
        text = line.strip("│").rstrip()
        if not text.strip() or not re.search("[a-z]", text) or re.match(r"\W*(options|positional arguments)\b", text):
            continue
        if len(text) - len(text.lstrip()) <= 2:  # an option; what explains it may stand in the lines below
            options.append([*re.split(r"\s{2,}", text.strip(), maxsplit=1), ""][:2])
        else:
            options[-1][1] = f"{options[-1][1]} {text.strip()}".strip()
    shown = [f"- `{name}` {said}" for name, said in options if not name.startswith("-h,")]
    return [f"`{lines[0].removeprefix('usage: ')}`", words, "\n".join(shown)]
