"""Tables, figures and one HTML page, rebuilt from recorded results alone.

Read in this order: `results` (what a results folder holds), `analysis` (every statistic the report shows), `sheet` and
`sheets_*` (tables), `published`, `claims` (the paper's numbers and our verdicts), `figures/` (pictures), `replays`
(recorded failures), `page` (the HTML), `build` (all of it).
"""
