"""The site: `make docs` builds it into `docs/_build/html`, without asking anything from outside."""

from __future__ import annotations

import os
import sys
from importlib.metadata import version as installed
from pathlib import Path

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE / "_ext"))
os.environ.setdefault("MPLBACKEND", "agg")

project = "dpfda"
author = "The maintainers of dpfda"
project_copyright = "the maintainers of dpfda. MIT licence"
version = release = installed("dpfda")
language = "en_GB"

extensions = [
    "myst_parser",
    "numpydoc",
    "sphinx_copybutton",
    "sphinx_design",
    "sphinx_gallery.gen_gallery",
    "sphinx.ext.viewcode",
    "site_pages",
]
source_suffix = {".md": "markdown", ".rst": "restructuredtext"}
root_doc = "index"
exclude_patterns = ["_build", "_ext", "_templates", "gallery", "images", "**/templates", "**/_*.md", "**.ipynb*"]
templates_path = ["_templates"]
nitpicky = True
#: Single backticks of docstrings are names in the code.
default_role = "literal"
#: A toctree may ask for pages that are not there in every checkout.
suppress_warnings = ["toc.empty_glob", "config.cache"]

# -- Pages ---------------------------------------------------------------------------------------
myst_enable_extensions = ["colon_fence", "deflist"]
myst_heading_anchors = 4
myst_links_external_new_tab = False
numpydoc_show_class_members = False
add_function_parentheses = False
add_module_names = True
python_maximum_signature_line_length = 80
toc_object_entries_show_parents = "hide"
viewcode_follow_imported_members = False
viewcode_line_numbers = True
copybutton_prompt_text = r">>> |\.\.\. |\$ "
copybutton_prompt_is_regexp = True
copybutton_exclude = ".linenos, .gp, .go"

# -- Pictures with their code --------------------------------------------------------------------
sphinx_gallery_conf = {
    # Items run again at each build: the package may have changed where they have not.
    "run_stale_examples": True,
    "examples_dirs": ["gallery"],
    "gallery_dirs": ["gallery_out"],
    "filename_pattern": r"/plot_",
    "within_subsection_order": "FileNameSortKey",
    "abort_on_example_error": False,
    "download_all_examples": False,
    "min_reported_time": 1e9,
    "write_computation_times": False,
    "show_memory": False,
    "show_signature": False,
    "remove_config_comments": True,
    "parallel": int(os.environ.get("DPFDA_DOCS_JOBS", "1")) > 1 and int(os.environ["DPFDA_DOCS_JOBS"]),
}

# -- How it looks --------------------------------------------------------------------------------
html_theme = "pydata_sphinx_theme"
html_context = {"default_mode": "auto"}
html_title = "dpfda"
html_short_title = "dpfda"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_favicon = "_static/mark.svg"
html_copy_source = False
html_show_sourcelink = False
html_show_sphinx = False
html_last_updated_fmt = None
html_theme_options = {
    "logo": {"image_light": "_static/mark.svg", "image_dark": "_static/mark.svg", "text": "dpfda", "alt_text": ""},
    "header_links_before_dropdown": 6,
    "navbar_align": "left",
    "navbar_end": ["theme-switcher"],
    "navbar_persistent": ["search-button"],
    "footer_start": ["copyright"],
    "footer_end": ["version"],
    "secondary_sidebar_items": {"**": ["page-toc"], "index": []},
    "show_toc_level": 2,
    "navigation_depth": 3,
    "pygments_light_style": "a11y-high-contrast-light",
    "pygments_dark_style": "a11y-high-contrast-dark",
    "back_to_top_button": False,
    "search_as_you_type": False,
}
#: The home page has its cards for a sidebar.
html_sidebars = {"index": []}
