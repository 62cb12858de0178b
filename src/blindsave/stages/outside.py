"""What a study file brings from outside: plugins, teachers and guests, looked at before anything runs."""

import hashlib
import re
from pathlib import Path

from blindsave.errors import BadInput, BlindsaveError
from blindsave.plugins import add_plugins
from blindsave.policies.catalog import TEACHER, resolve
from blindsave.policies.named import check_teacher, teacher_content
from blindsave.toml_values import Section, several, shown, table, text

SHIPPED = "shipped"
NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,63}")
"""Of studies, teachers and guests."""


def read_plugins(section: Section, beside: Path) -> dict[tuple[str, str], bytes]:
    """Load the file's plugins; returns contents by (name, SHA-256), nothing for modules."""
    found: dict[tuple[str, str], bytes] = {}
    for name in section.get("plugins", several(text)) or ():
        file = beside / name
        if not name.endswith(".py"):
            found[name, ""] = b""
        elif not file.is_file():
            raise BadInput(f"{section.where}: `plugins` names {file}, which does not exist")
        elif any(file.name == other for other, _ in found):
            raise BadInput(f"{section.where}: `plugins` names two files {file.name}")
        else:
            content = file.read_bytes()
            found[file.name, hashlib.sha256(content).hexdigest()] = content
        add_plugins([file if name.endswith(".py") else name])
    return found


def read_guests(section: Section, beside: Path) -> dict[tuple[str, int], bytes]:
    """Policies that the study does not train: registered names, shipped FAMILY/SEED, or patterns of files."""
    named = Section(f"{section.where}, [guests]", section.get("guests", table) or {})
    found: dict[tuple[str, int], bytes] = {}
    for name in named.values:
        source = named.get(name, text)
        if not NAME.fullmatch(name) or name == TEACHER:
            raise BadInput(f"{named.where}: a guest's name is letters, digits, - and _, not {shown(name)}")
        files = sorted(beside.glob(source)) if source.endswith(".safetensors") else []
        try:
            policies = [resolve(file) for file in files] or [resolve(source)]
            for one in policies:
                found[name, one.training_seed] = one.file.read_bytes() if one.file else teacher_content(Path(source))
        except BlindsaveError as error:
            raise BadInput(f"{named.where}: `{name}`: {error}") from None
        if len(policies) != sum(guest == name for guest, _ in found):
            raise BadInput(f"{named.where}: `{name}` names two policies of one training seed")
    return found


def read_teachers(section: Section, beside: Path) -> dict[str, Path | None]:
    """Teachers by name: a file, a registered policy that can teach, or None for the shipped one."""
    named = Section(f"{section.where}, [teachers]", section.get("teachers", table) or {})
    if "teachers" in section.values and not named.values:
        raise BadInput(f"{named.where}: name at least one teacher, or leave the table out")
    found: dict[str, Path | None] = {}
    for name in named.values:
        file = named.get(name, text)
        if not NAME.fullmatch(name):
            raise BadInput(f"{named.where}: a teacher's name is letters, digits, - and _, not {shown(name)}")
        found[name] = None if file == SHIPPED else _teacher(named.where, name, file, beside)
    return found


def _teacher(where: str, name: str, source: str, beside: Path) -> Path:
    """A teacher's file, or the name of a registered policy that can teach."""
    place = Path(source) if source.isidentifier() else (beside / source).resolve()
    if not source.isidentifier() and not place.is_file():
        raise BadInput(f"{where}: there is no file {place} for the teacher `{name}`")
    check_teacher(f"{where}: the teacher `{name}`", place)
    return place
