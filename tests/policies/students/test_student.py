from blindsave.policies.students.student import Student


def test_a_student_says_what_it_is():
    assert repr(Student.untrained("structured_k0", 7)) == "<Student structured_k0/7, initial, 12,002 parameters>"
