"""A visitor's page without a browser: remembers what is drawn and lets a test press and choose."""

import asyncio
import contextlib
from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any


class Node(SimpleNamespace):
    """Anything on the page: attributes can be read and set, handlers are kept."""

    def __init__(self, **attributes: Any) -> None:
        super().__init__(**{"visible": True, "text": "", "handlers": []} | attributes)

    def on_click(self, handler: Any) -> None:
        self.handlers.append(handler)

    on_update = on_click

    def on_drag(self, button: str) -> Any:
        return self.on_click

    def use(self, event: Any = None) -> None:
        """As if the visitor had pressed, moved or dragged it."""
        for handler in self.handlers:
            asyncio.run(handler(event))


class Scene:
    """Nodes by their paths."""

    def __init__(self) -> None:
        self.nodes: dict[str, Node] = {}

    def _add(self, path: str, **attributes: Any) -> Node:
        assert path not in self.nodes, f"{path} was added twice"
        self.nodes[path] = Node(**attributes)
        return self.nodes[path]

    def add_frame(self, path: str, **attributes: Any) -> Node:
        return self._add(path, **attributes)

    def add_mesh_simple(self, path: str, vertices: Any, faces: Any, **attributes: Any) -> Node:
        return self._add(path, vertices=vertices, faces=faces, **attributes)

    def add_arrows(self, path: str, points: Any, colors: Any, **attributes: Any) -> Node:
        return self._add(path, points=points, **attributes)

    add_point_cloud = add_arrows

    def add_label(self, path: str, text: str, **attributes: Any) -> Node:
        return self._add(path, text=text, **attributes)


class Gui:
    """Controls by their labels."""

    def __init__(self) -> None:
        self.controls: dict[str, Node] = {}
        self.pieces: list[Node] = []

    def set_panel_label(self, label: str) -> None:
        self.label = label

    @contextlib.contextmanager
    def add_folder(self, name: str, **_: Any) -> Iterator[None]:
        self.folder = name
        yield

    def add_html(self, content: str) -> Node:
        self.pieces.append(Node(content=content))
        return self.pieces[-1]

    def _control(self, label: str, value: Any, **attributes: Any) -> Node:
        key = label if label not in self.controls else f"{self.folder}: {label}"
        self.controls[key] = Node(value=value, **attributes)
        return self.controls[key]

    def add_dropdown(self, label: str, options: Any, initial_value: Any, **_: Any) -> Node:
        assert initial_value in options
        return self._control(label, initial_value, options=options)

    def add_slider(self, label: str, low: float, high: float, step: float, initial: float) -> Node:
        assert low <= initial <= high
        return self._control(label, initial)

    def add_text(self, label: str, initial: str) -> Node:
        return self._control(label, initial)

    def add_button(self, label: str, **_: Any) -> Node:
        return self._control(label, None)

    def add_button_group(self, label: str, options: Any) -> Node:
        return self._control(label, options[0], options=options)


class Client:
    """What the arena knows of an open page."""

    def __init__(self, width: int = 1200, height: int = 800) -> None:
        self.scene, self.gui = Scene(), Gui()
        self.camera = SimpleNamespace(position=None, look_at=None, image_width=width, image_height=height)

    @contextlib.contextmanager
    def atomic(self) -> Iterator[None]:
        yield
