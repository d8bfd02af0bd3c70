"""How `make docs` turns these pages into HTML; they also read well as they are."""

project = "Recherche"
extensions = ["myst_parser"]
html_theme = "furo"
html_title = "Recherche"
exclude_patterns = ["figures"]
myst_enable_extensions = ["dollarmath"]
suppress_warnings = ["myst.xref_missing"]  # links to files of the repository, which are no pages
