"""Where bodies sit on their parents. That nested turns give the simulator's poses is tested in the browser."""

from blindsave.play import poses


def test_parents_come_before_their_children_and_the_arm_has_seven_turns():
    known = {""}
    for body in poses.bodies():
        assert body.path.rpartition("/")[0] in known
        known.add(body.path)
    turns = [place for body in poses.bodies() for place, _ in body.hinges if place < 7]
    assert sorted(turns) == list(range(7))
