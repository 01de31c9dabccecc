"""From the saved results of the benchmarks to the figures and tables that pages show.

A subject is one module here with a function `figures(saved)`, and one template of the same name under
`docs/evidence/templates`. What the function gives goes into `evidence.json`; templates are filled from that file alone.
"""
