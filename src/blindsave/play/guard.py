"""The narrow door: what a page may say to the server.

viser is made for visitors one trusts. Of everything its protocol offers, this arena needs three kinds of message from
a page: where its camera is, what a control was set to, a drag on the table. All other handlers are taken out: the
request to publish the server through a public tunnel, uploads (which are buffered in memory without limit), and
whatever is passed on to other visitors. Messages are kept small, and pages of other sites may not connect.
"""

import logging
from typing import Any
from urllib.parse import urlsplit

LOG = logging.getLogger("blindsave")
MOST_MESSAGE_BYTES = 1 << 16
MOST_TEXT = 200
FARTHEST = 1e6
PLACES = {
    # fields of camera and drag messages, and how many numbers each has
    "wxyz": 4, "position": 3, "look_at": 3, "up_direction": 3, "fov": 1, "near": 1, "far": 1,
    "image_height": 1, "image_width": 1,
    "start_position": 3, "end_position": 3, "start_screen_pos": 2, "end_screen_pos": 2,
}  # fmt: skip
ALLOWED = ("ViewerCameraMessage", "GuiUpdateMessage", "SceneNodeDragMessage")


def close_shared_door(server: Any) -> None:
    """Take out every handler of the scope all visitors share; this arena has nothing in it that can be operated."""
    server._websock_server._incoming_handlers.clear()


def narrow(connection: Any) -> None:
    """Leave a visitor's own connection the messages it needs, and check the settings among them."""
    handlers = connection._incoming_handlers
    for kind in [kind for kind in handlers if kind.__name__ not in ALLOWED]:
        del handlers[kind]
    for kind, found in handlers.items():
        handlers[kind] = [_checked(handler) for handler in found]


def _checked(handler: Any) -> Any:
    async def checked(client_id: int, message: Any) -> None:
        if is_sound(message):
            await handler(client_id, message)
        else:
            LOG.debug("refused a message of visitor %s", client_id)

    return checked


def is_sound(message: Any) -> bool:
    """Whether a message holds what its kind should: a plain setting, or places that are finite numbers."""
    if hasattr(message, "updates"):
        return is_plain(message.updates)
    return all(are_finite(getattr(message, name), size) for name, size in PLACES.items() if hasattr(message, name))


def are_finite(value: Any, size: int) -> bool:
    """Whether a value is `size` finite numbers of a sensible magnitude."""
    parts = value if isinstance(value, (list, tuple)) else [value]
    return len(parts) == size and all(
        isinstance(part, (int, float)) and not isinstance(part, bool) and abs(part) < FARTHEST for part in parts
    )


def is_plain(updates: Any) -> bool:
    """Whether a control's message sets its value, and nothing else, to something short."""
    if not isinstance(updates, dict) or set(updates) != {"value"}:
        return False
    value = updates["value"]
    parts = value if isinstance(value, (list, tuple)) else [value]
    return len(parts) <= 8 and all(
        isinstance(part, (bool, float))
        or (isinstance(part, int) and abs(part) < 1 << 53)
        or (isinstance(part, str) and len(part) <= MOST_TEXT)
        for part in parts
    )


def same_site(headers: Any) -> bool:
    """Whether the page that connects came from this server; a client that is no browser sends no origin."""
    origin = headers.get("Origin")
    return origin is None or urlsplit(origin).netloc == headers.get("Host")


def limit(websocket: Any) -> None:
    """Refuse messages far larger than any control sends."""
    websocket.protocol.max_message_size = MOST_MESSAGE_BYTES


class QuietLoop:
    """What the network thread complains about: counted and logged for the curious, never printed, never fatal."""

    def __init__(self) -> None:
        self.complaints = 0

    def __call__(self, _loop: Any, context: dict[str, Any]) -> None:
        """Take one complaint; the signature is that of asyncio's exception handlers."""
        self.complaints += 1
        LOG.debug("a message was refused: %s", context.get("exception") or context.get("message"))
