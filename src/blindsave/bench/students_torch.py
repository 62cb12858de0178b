"""A straightforward PyTorch trainer of the same students, for comparison only: episodes padded to 128 steps.

It is what one would write first, and what the authors did: two chunks of 64 steps for every batch, nn.GRU for the
gated unit, a Python loop over time for the structured memory, seeds one after another.
"""

# pyright: reportMissingImports=false
# (Types are checked without the extra `ppo`, too.)

import time
from typing import Any

import numpy as np
import torch
from torch import nn

from blindsave.errors import BadInput
from blindsave.learning.distil.config import Recipe
from blindsave.learning.distil.dataset import Episodes
from blindsave.learning.distil.table import encoder_inputs
from blindsave.policies.students.family import Family
from blindsave.policies.students.gru import GRU
from blindsave.policies.students.structured import Structured

PADDED = 128


class TorchStudent(nn.Module):
    """Encoder, memory and head with the study's sizes and parameters."""

    def __init__(self, family: Family, seed: int) -> None:
        super().__init__()
        self.core, core = family.core, family.core
        init = {name: torch.tensor(value) for name, value in family.init(seed).items()}
        shapes = [init[f"{name}.weight"].shape for name in LAYERS]
        self.layers = nn.ModuleList([nn.Linear(inner, out) for out, inner in shapes])
        with torch.no_grad():
            for layer, name in zip(self.layers, LAYERS, strict=True):
                layer.weight.copy_(init[f"{name}.weight"])  # pyright: ignore[reportCallIssue]
                layer.bias.copy_(init[f"{name}.bias"])  # pyright: ignore[reportCallIssue]
        own = family.core_parameters(init)
        if isinstance(core, GRU):
            self.gru = nn.GRU(own["W_ih"].shape[1], core.width, batch_first=True)
            with torch.no_grad():
                for name, value in own.items():
                    getattr(self.gru, f"{name.replace('W', 'weight').replace('b_', 'bias_')}_l0").copy_(value)
        elif isinstance(core, Structured):
            self.own = nn.ParameterDict(own)
        elif core.recurrent:
            raise BadInput(f"the PyTorch comparison does not know the core of {family.name}")

    def forward(self, inputs: Any, previous: Any, memory: Any) -> tuple[Any, Any]:
        """(B, T, ...) inputs and a memory (B, M) to actions (B, T, 2) and the last memory."""
        silu = nn.functional.silu
        code = silu(self.layers[1](silu(self.layers[0](inputs))))
        features = code
        if self.core.recurrent:
            memories, memory = self._remember(code, previous, memory)
            features = torch.cat([memories, code], -1)
        return torch.tanh(self.layers[3](silu(self.layers[2](features)))), memory

    def _remember(self, code: Any, previous: Any, memory: Any) -> tuple[Any, Any]:
        if isinstance(self.core, GRU):
            memories, last = self.gru(torch.cat([code, previous], -1), memory[None])
            return memories, last[0]
        p, rank = self.own, getattr(self.core, "rank", 0)
        decay = torch.tanh(p["alpha"])
        push = code @ p["B_e"].T + previous @ p["B_a"].T + p["b_z"]
        extra = code @ p["W_e"].T + previous @ p["W_a"].T + p["b_r"] if rank else None
        memories = []
        for t in range(code.shape[1]):
            following = decay * memory + push[:, t]
            if extra is not None:
                following = following + torch.tanh(memory @ p["V"].T + extra[:, t]) @ p["U"].T
            memory = following
            memories.append(memory)
        return torch.stack(memories, 1), memory


LAYERS = ("encoder.0", "encoder.1", "head.0", "head.1")


class TorchTrainer:
    """Padded data and one student and optimiser per seed."""

    def __init__(self, family: Family, data: Episodes, seeds: tuple[int, ...], recipe: Recipe) -> None:
        self.recipe = recipe
        inputs = encoder_inputs(family, data)
        self.inputs, self.previous, self.label = (_pad(a, data) for a in (inputs, data.previous, data.label))
        self.steps = torch.tensor(data.steps.astype(np.int64))
        self.students = [TorchStudent(family, seed) for seed in seeds]
        options: dict[str, Any] = {"lr": recipe.learning_rate, "weight_decay": recipe.weight_decay}
        self.optimisers = [torch.optim.AdamW(s.parameters(), **options) for s in self.students]

    def update(self, seed: int, episodes: np.ndarray) -> float:
        """One update of one seed with a batch of episode numbers; the batch loss."""
        student, optimiser, chunk = self.students[seed], self.optimisers[seed], self.recipe.chunk
        chosen = torch.tensor(episodes.astype(np.int64))
        steps = self.steps[chosen]
        memory = torch.zeros(len(chosen), student.core.memory)
        optimiser.zero_grad()
        total = 0.0
        for start in range(0, PADDED, chunk):
            now = slice(start, start + chunk)
            memory = memory.detach()
            predicted, memory = student(self.inputs[chosen, now], self.previous[chosen, now], memory)
            valid = torch.arange(start, start + chunk)[None] < steps[:, None]
            square = ((predicted - self.label[chosen, now]) ** 2).sum(-1) * valid
            loss = (square.sum(1) / (2 * steps)).mean()
            loss.backward()
            total += float(loss.detach())
        nn.utils.clip_grad_norm_(student.parameters(), self.recipe.clip)
        optimiser.step()
        return total


def choose_threads(trainer: TorchTrainer, episodes: np.ndarray, available: int) -> int:
    """Let PyTorch use one thread or all of them, whichever is faster here (all are slower on a busy machine)."""
    seconds = {}
    for threads in (available, 1):
        torch.set_num_threads(threads)
        trainer.update(0, episodes)
        begun = time.perf_counter()
        trainer.update(0, episodes)
        seconds[threads] = time.perf_counter() - begun
    best = min(seconds, key=lambda threads: seconds[threads])
    torch.set_num_threads(best)
    return best


def _pad(rows: np.ndarray, data: Episodes) -> Any:
    padded = np.zeros((len(data), PADDED, rows.shape[1]), np.float32)
    padded[np.arange(PADDED) < data.steps[:, None]] = rows
    return torch.from_numpy(padded)
