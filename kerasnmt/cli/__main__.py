"""`python -m kerasnmt.cli`, the program `kerasnmt` for a given Python."""

from kerasnmt.cli.main import main

main()
