"""Figures of the report: a module draws one figure and registers it with its section (`blindsave.report.registry`).

`export` writes them, `style` and `labels` help to draw them; `memory` and `forest` are panels of larger figures.
"""
