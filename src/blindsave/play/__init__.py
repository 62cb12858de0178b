"""The live arena: shoot at the robot in a browser, hide the puck, see what it remembers.

The page asks for one shot at a time and gets it whole, every frame of it: pauses, slow motion and replays happen in the
browser. So the server keeps nothing of its visitors, and needs nothing that Python does not bring along.

`roster` are the goalkeepers on offer, `faults` what the tracker can do wrong, `aim` a visitor's own shot, `take` plays
one; `scene` is the table and the arm as triangles; `guard` decides who may ask, `server` answers. `page/` is what the
browser gets.
"""
