"""Tables, figures and one HTML page, rebuilt from recorded results alone.

Read in this order: `results` (what a results folder holds), `analysis` (every statistic the report shows), `registry`
(how a table or figure joins the page), `sheet` and `sheets/` (tables), `published`, `claims` (the paper's numbers and
our verdicts), `figures/` (pictures), `replays` (recorded failures), `page` (the HTML), `build` (all of it).
"""
