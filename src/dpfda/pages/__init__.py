"""How a page looks: one style sheet, templates with every text escaped, and pictures as small SVG.

Reports, audits and the local page are made of these. Nothing here knows what a release is.
"""
