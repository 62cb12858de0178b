"""The live arena: shoot at the robot in a browser, hide the puck, see what it remembers.

`game` is the play itself and knows no browser; `stage` and `panel` draw one visitor's page with viser; `server` keeps
the visitors apart and the time. Only the modules that draw import viser (extra `play`).
"""
