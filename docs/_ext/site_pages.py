"""What the site needs beyond Markdown: pages of names, links that leave the folder of pages, names that are links."""

from __future__ import annotations

import inspect
import posixpath
import re
import shutil
import sys
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import api_pages
import public
from docutils import nodes
from sphinx import addnodes
from sphinx.application import Sphinx
from sphinx.transforms.post_transforms import SphinxPostTransform
from sphinx.util.nodes import make_refnode

DOCS = Path(__file__).parents[1]
ROOT = DOCS.parent
INCLUDE = re.compile(r"^```\{include\} (\S+)\n```$", re.MULTILINE)
LINK = re.compile(r"(\]\()([^)\s]+)(\))")
LINES = re.compile(r'<dl>\s*(<dd><em class="sig-param">.*?)</dl>', re.DOTALL)
LINE = '<span class="sig-line">'
#: Pages that show a file of the project's root.
SHOWN = {
    "README.md": "index.md",
    "CHANGELOG.md": "project/changes.md",
    "CONTRIBUTING.md": "project/contributing.md",
    "SECURITY.md": "project/security.md",
}
#: What a file is shown as.
LANGUAGES = {".py": "python", ".toml": "toml", ".yml": "yaml", ".yaml": "yaml", ".cff": "yaml", ".sh": "sh", "": "text"}


def setup(app: Sphinx) -> dict[str, Any]:
    app.connect("builder-inited", write_pages)
    app.connect("source-read", inside_links)
    app.connect("doctree-read", to_source, priority=100)
    app.connect("missing-reference", plain_reference)
    app.connect("html-page-context", signatures, priority=900)
    app.connect("html-page-context", named_toggles, priority=900)
    app.add_post_transform(NamesInText)
    return {"parallel_read_safe": True, "parallel_write_safe": True}


def write_pages(app: Sphinx) -> None:
    """The pages of names, and a page for each file outside that a page points to."""
    shutil.rmtree(Path(app.outdir) / "_modules", ignore_errors=True)  # else marks of new pages may be missing there
    api_pages.write(Path(app.srcdir) / "reference" / "api")
    write_files(Path(app.srcdir))


# -- Links that leave the folder of pages --------------------------------------------------------


def inside_links(app: Sphinx, docname: str, content: list[str]) -> None:
    """Rewrite what a code host resolves by itself: files outside the folder, scripts of the gallery."""
    path = Path(app.env.doc2path(docname))
    if path.suffix != ".md":
        return

    def included(found: re.Match[str]) -> str:
        other = (path.parent / found[1]).resolve()
        app.env.note_dependency(str(other))
        return rewritten(other.read_text(encoding="utf-8"), other, path)

    text = rewritten(content[0], path, path)
    content[0] = INCLUDE.sub(included, text)


def rewritten(text: str, origin: Path, page: Path) -> str:
    """The text of one file as it is shown on a page."""
    return LINK.sub(lambda found: found[1] + _target(found[2], origin, page) + found[3], text)


def _target(target: str, origin: Path, page: Path) -> str:
    where, mark, anchor = target.partition("#")
    if "://" in target or not where or target.startswith("mailto:"):
        return target
    path = (origin.parent / unquote(where)).resolve()
    if not path.exists() or not path.is_relative_to(ROOT):
        return target
    inside = shown_as(path)
    return posixpath.relpath(inside, page.parent.relative_to(DOCS).as_posix()) + mark + anchor


def shown_as(path: Path) -> str:
    """The page or file, from the folder of pages, that shows a file of the project."""
    name = path.relative_to(ROOT).as_posix()
    if name in SHOWN:
        return SHOWN[name]
    if name == "docs":
        return "index.md"
    if name.startswith("docs/gallery"):
        return "gallery_out/" + (f"{path.stem}.rst" if path.suffix == ".py" else "index.rst")
    if path.is_relative_to(DOCS):
        return (path.relative_to(DOCS) / "README.md" if path.is_dir() else path.relative_to(DOCS)).as_posix()
    return f"files/{name.replace('/', '-')}.md"


def write_files(folder: Path) -> None:
    """A page for each file outside that some page points to, and nothing else in that folder."""
    wanted = {}
    pages = [p for p in folder.rglob("*.md") if not {"_build", "files"} & set(p.relative_to(folder).parts)]
    for page in [*pages, *(ROOT / name for name in SHOWN)]:
        for _, target, _ in LINK.findall(page.read_text(encoding="utf-8")):
            path = (page.parent / unquote(target.partition("#")[0])).resolve()
            if "://" not in target and path.exists() and path.is_relative_to(ROOT) and not path.is_relative_to(DOCS):
                wanted[shown_as(path)] = path
    texts = {Path(name).name: _file_page(path) for name, path in wanted.items() if name.startswith("files/")}
    for path in [path for path in wanted.values() if path.is_dir()]:
        for one in _listed(path):
            texts[Path(shown_as(one)).name] = _file_page(one)
    target = folder / "files"
    target.mkdir(exist_ok=True)
    for old in target.glob("*.md"):
        if old.name not in texts:
            old.unlink()
    for name, text in texts.items():
        if not (target / name).exists() or (target / name).read_text(encoding="utf-8") != text:
            (target / name).write_text(text, encoding="utf-8")


def _listed(path: Path) -> list[Path]:
    return sorted(p for p in path.iterdir() if p.is_file() and p.suffix in {*LANGUAGES, ".md"})


def _file_page(path: Path) -> str:
    name = path.relative_to(ROOT).as_posix()
    head = f"---\norphan: true\n---\n\n# {name}\n\n"
    if path.is_dir():
        return head + "".join(f"- [{one.name}]({Path(shown_as(one)).name})\n" for one in _listed(path))
    text = path.read_text(encoding="utf-8")
    if len(text) > 200_000:
        return head + f"A file of {len(text):,} characters, in the project's folder.\n"
    fence = "`" * (3 + max((len(found) for found in re.findall(r"`{3,}", text)), default=0))
    return head + f"{fence}{LANGUAGES.get(path.suffix, 'text')}\n{text.rstrip()}\n{fence}\n"


# -- Names ---------------------------------------------------------------------------------------


def to_source(app: Sphinx, doctree: nodes.document) -> None:
    """Tell viewcode where the source of a name stands: names may be loaded from elsewhere, members inherited."""
    for sign in doctree.findall(addnodes.desc_signature):
        if "fullname" not in sign or not (sign.get("module") or "").startswith("dpfda"):
            continue
        for part in sign.findall(addnodes.desc_addname):
            part.children = [nodes.Text(re.sub(r"^dpfda\b", "dp", part.astext()))]
        found = _place(sign["module"], sign["fullname"])
        if found:
            app.env.note_dependency(str(inspect.getsourcefile(sys.modules[found[0]])))
            sign["module"], sign["fullname"] = found
            if (mark := ".".join(found)) not in sign["ids"]:
                sign["ids"].append(mark)


def _place(module: str, fullname: str) -> tuple[str, str] | None:
    spelt = f"dp{module.removeprefix('dpfda')}.{fullname}"
    if one := public.by_name().get(spelt):
        return public.place(one.value)
    owner, _, member = spelt.rpartition(".")
    if one := public.by_name().get(owner):
        value = inspect.getattr_static(one.value, member)
        for inner in ("fget", "func", "__func__", "__wrapped__"):
            value = getattr(value, inner, None) or value
        return public.place(value)
    return None


def plain_reference(app: Sphinx, env: Any, node: addnodes.pending_xref, content: nodes.Node) -> nodes.Node | None:
    """Types in signatures are links if they are public names, and plain words if not."""
    if node.get("refdomain") != "py":
        return None
    known = [one for one in public.names() if one.name.split(".")[-1] == node["reftarget"].split(".")[-1]]
    if len(known) == 1:
        here = posixpath.join("reference/api", known[0].page)
        return make_refnode(app.builder, node["refdoc"], here, known[0].full, [content], known[0].name)
    if node["reftarget"] in api_pages.aliases():
        place = f"type-{node['reftarget'].lower()}"
        return make_refnode(
            app.builder, node["refdoc"], "reference/api/types", place, [content], "what this stands for"
        )
    parent = node.parent
    while parent is not None and not isinstance(parent, addnodes.desc_signature):
        parent = parent.parent
    return content if parent is not None else None


def signatures(app: Sphinx, pagename: str, template: str, context: dict[str, Any], doctree: Any) -> None:
    """Parameters on lines of their own are lines, not a list of definitions without terms."""

    def lines(found: re.Match[str]) -> str:
        return f'<span class="sig-lines">{found[1].replace("<dd>", LINE).replace("</dd>", "</span>")}</span>'

    if "sig-param" in (body := context.get("body", "")):
        context["body"] = LINES.sub(lines, body)


def named_toggles(app: Sphinx, pagename: str, template: str, context: dict[str, Any], doctree: Any) -> None:
    """The toggles of the sidebar have no name of their own, which readers of screens need."""
    make = context.get("generate_toctree_html")
    if make is None:
        return

    def named(*args: Any, **options: Any) -> Any:
        found = make(*args, **options)
        for toggle in found.select("li > details > summary") if hasattr(found, "select") else []:
            if link := toggle.find_parent("li").find("a"):
                toggle["aria-label"] = f"Pages under {link.get_text()}"
        return found

    context["generate_toctree_html"] = named


class NamesInText(SphinxPostTransform):
    """`dp.mean` in a text leads to its page, and so does `KNorm()`, where only one class has that name."""

    default_priority = 20
    WRITTEN = re.compile(r"(?:dp((?:\.\w+)+)|([A-Z]\w+))(?:\(.*\))?", re.DOTALL)

    def run(self, **kwargs: Any) -> None:
        known = public.by_name()
        for literal in list(self.document.findall(nodes.literal)):
            found = self.WRITTEN.fullmatch(literal.astext())
            if not found or isinstance(literal.parent, (nodes.reference, nodes.title)):
                continue
            name = f"dp{found[1]}" if found[1] else public.classes().get(found[2], "")
            one, mark = known.get(name), ""
            if one is None:
                owner, _, mark = name.rpartition(".")
                one = known.get(owner)
                if one is None or mark not in public.members(one):
                    continue
            page = posixpath.join("reference/api", one.page)
            place = f"{one.full}.{mark}" if mark else one.full
            if page != self.env.docname:
                new = make_refnode(
                    self.app.builder, self.env.docname, page, place, [literal.deepcopy()], one.first_line
                )
                literal.replace_self(new)
