"""`python -m blindsave` is the `blindsave` command."""

from blindsave.cli import main

main()
