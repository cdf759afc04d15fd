"""A campaign against the promises of discreet: hostile data, files, names and faults, and counts of what held.

Everything here looks at releases from outside: it generates data by itself, reads what was written with other
libraries, and attacks tables with scipy. It imports of discreet only the public verbs and the command line.
"""
