"""A hostile visitor, in a process of its own: `attack.py PORT SEED COUNT` sends hostile messages and says how many."""

import random
import sys

from visitor import CAMERA, Visitor
from websockets.exceptions import ConnectionClosed, InvalidStatus

TEXTS = ("", "a" * 1000, "../../x", "<script>", "\x00", "validation:alias:999:near_post_left", "nan", "1e999")
KINDS = (
    "GuiUpdateMessage", "ViewerCameraMessage", "SceneNodeDragMessage", "SceneNodeClickMessage", "ScenePointerMessage",
    "ShareUrlRequest", "ShareUrlDisconnect", "FileTransferStartUpload", "FileTransferPart", "GuiFormDirtyMessage",
    "GuiFormSubmitMessage", "GuiButtonHoldMessage", "CommandTriggerMessage", "TransformControlsUpdateMessage",
    "RunJavascriptMessage", "Message", "NoSuchMessage", "GetRenderResponseMessage", "RemoveSceneNodeMessage",
)  # fmt: skip


def hostile_value(rng: random.Random):
    choices = (
        rng.choice(TEXTS), rng.uniform(-1e9, 1e9), rng.randint(-(2**62), 2**62), None, True, float("nan"),
        float("-inf"), [], [1.0, "x"], {"value": {"value": 1}}, b"\x00\xff" * rng.randint(0, 50), 3 * [float("nan")],
    )  # fmt: skip
    return rng.choice(choices)


def hostile_message(rng: random.Random, controls: list[str]) -> dict:
    message = {"type": rng.choice(KINDS), "uuid": rng.choice([*controls, "", "x"])}
    if message["type"] == "GuiUpdateMessage" and rng.random() < 0.9:
        names = rng.sample(["value", "update_cb", "removed", "props", "is_button", "__class__"], rng.randint(1, 2))
        message["updates"] = {name: hostile_value(rng) for name in names}
        return message
    if message["type"] == "ViewerCameraMessage" and rng.random() < 0.9:
        return {**CAMERA, rng.choice(list(CAMERA)[1:]): hostile_value(rng)}
    if message["type"] == "SceneNodeDragMessage" and rng.random() < 0.9:
        point = [hostile_value(rng) for _ in range(3)] if rng.random() < 0.5 else [rng.uniform(-2, 2) for _ in range(3)]
        del message["uuid"]
        return {
            **message, "phase": rng.choice(["start", "update", "end", "?"]), "name": "/left/look_0", "modifier": None,
            "start_position": point, "end_position": point, "start_screen_pos": [0.0, 0.0], "button": "left",
            "end_screen_pos": [0.0, 0.0], "instance_index": None, "owner": str(rng.randint(0, 30)),
        }  # fmt: skip
    return {**message, rng.choice(["name", "owner", "updates", "source_component_uuid"]): hostile_value(rng)}


def attack(port: int, seed: int, count: int) -> int:
    """Send hostile messages, coming back whenever thrown out; returns how many were sent."""
    rng, sent = random.Random(seed), 0
    while sent < count:
        visitor = Visitor(port)
        try:
            if rng.random() < 0.7:
                visitor.enter()
            controls = list(visitor.controls.values())
            for _ in range(rng.randint(20, 200)):
                sent += 1
                fate = rng.random()
                if fate < 0.004:
                    visitor.socket.send(rng.choice(["text", "{}", ""]))
                elif fate < 0.012:
                    visitor.socket.send(rng.randbytes(rng.randint(0, 300)))
                elif fate < 0.014:
                    visitor.socket.send(bytes(200_000))
                else:
                    visitor.send(hostile_message(rng, controls))
        except (ConnectionClosed, OSError, InvalidStatus):
            continue
        finally:
            visitor.vanish() if rng.random() < 0.5 else visitor.socket.close()
    return sent


if __name__ == "__main__":
    print(attack(*map(int, sys.argv[1:4])))
