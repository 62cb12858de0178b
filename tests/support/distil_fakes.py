"""Small stand-ins for the distillation tests."""

import numpy as np


class EchoTeacher:
    """Asks for half of what it believes it asked for last, plus something of the present observation.

    Its carry is [count, previous action], so labels reveal whose commands it was told and whether its state went on.
    """

    name = "echo"

    def initial(self, n):
        return np.zeros((n, 3), np.float32)

    def step(self, carry, observation):
        action = 0.5 * carry[:, 1:] + 0.25 * observation[:, :2] + 0.01 * carry[:, :1]
        return np.concatenate([carry[:, :1] + 1, action], axis=1), action

    def with_previous_action(self, carry, action):
        return np.concatenate([carry[:, :1], action], axis=1)


class TrackerTeacher:
    """Watches the puck, remembers where it will cross x = 0.75 m, and goes there: 99 % saves, whatever is hidden."""

    name = "tracker"
    low, high = np.float32([0.56765, -0.48735]), np.float32([2.45235, 0.48735])

    def initial(self, n):
        return np.zeros((n, 4), np.float32)

    def with_previous_action(self, carry, action):
        return carry

    def step(self, carry, observation):
        seen = observation[:, 18] > 0.5
        puck = self.low + (observation[:, 16:18] + 1) / 2 * (self.high - self.low)
        moved = puck - carry[:, :2]
        coming = seen & (carry[:, 2] > 0.5) & (moved[:, 0] < -1e-3)
        steps = (0.75 - puck[:, 0]) / np.where(coming, moved[:, 0], 1.0)
        target = np.where(coming & (steps > 0), puck[:, 1] + steps * moved[:, 1], carry[:, 3])
        action = np.stack([np.full(len(target), -0.57), target / 0.46585], axis=1).clip(-1, 1)
        return np.column_stack([puck, seen, target]).astype(np.float32), action.astype(np.float32)


class FirstSightTeacher:
    """Asks, all episode long, for a side of the goal chosen by where the puck was first seen: pure memory."""

    name = "first_sight"

    def initial(self, n):
        return np.zeros((n, 2), np.float32)

    def with_previous_action(self, carry, action):
        return carry

    def step(self, carry, observation):
        fresh = carry[:, 1] < 0.5
        side = np.where(fresh, np.tanh(20 * observation[:, 17]), carry[:, 0])
        action = np.stack([np.zeros(len(side)), side], axis=1).astype(np.float32)
        return np.stack([side, np.ones(len(side))], axis=1).astype(np.float32), action
