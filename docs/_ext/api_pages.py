"""Write the reference of names: a page each, and an index page for each kind of task, into `reference/api`.

Docstrings are numpydoc; signatures are shown as they stand in the source.
"""

from __future__ import annotations

import functools
import inspect
import re
import sys
import textwrap
from collections.abc import Callable
from pathlib import Path
from typing import Any

from jinja2 import FileSystemLoader
from jinja2.sandbox import SandboxedEnvironment
from numpydoc import docscrape_sphinx
from numpydoc.docscrape_sphinx import get_doc_object
from public import GROUPS, SOURCE, Name, by_name, derivations, documentation, members, names, of_value

ROLE = re.compile(r":(meth|func|class|attr|mod|exc|obj):`~?([^`<>]+)`")
ALIAS = re.compile(r"((?:^ *#: .*\n)*)^ *(\w+): TypeAlias = (\w+\[\n(?:.*\n)*?\]|.*)", re.MULTILINE)
#: Lines of a rendered docstring that name types: of a parameter, of what is returned, of what is raised.
TYPED = re.compile(r"^( {4}\*\*[^*]+\*\* : )(.+)$|^( {4})((?!\*\*)\S.*)$", re.MULTILINE)


def write(folder: Path) -> None:
    """All pages. What has not changed is left alone, so that it is not built again."""
    folder.mkdir(parents=True, exist_ok=True)
    pages = {"index": _index()} | {f"group-{page}": _group(page, *rest) for page, *rest in GROUPS}
    pages |= {one.page: page_of(one) for one in names()} | {"types": _types()}
    for old in folder.glob("*.rst"):
        if old.stem not in pages:
            old.unlink()
    for name, text in pages.items():
        path = folder / f"{name}.rst"
        if not path.exists() or path.read_text(encoding="utf-8") != text:
            path.write_text(text, encoding="utf-8")


def _head(title: str, mark: str = "=") -> str:
    return f"{title}\n{mark * len(title)}\n"


def _index() -> str:
    parts = [_head("Public names"), "What ``import dpfda as dp`` offers, by task. Each name has a page of its own.\n"]
    parts += [".. toctree::\n   :hidden:\n", *(f"   group-{page}" for page, *_ in GROUPS), "   types", ""]
    for page, title, line, _ in GROUPS:
        parts += [_head(title, "-"), f"{line} :doc:`All of it <group-{page}>`.\n", _table(page)]
    return "\n".join(parts)


def _group(page: str, title: str, line: str, homes: list[str]) -> str:
    parts = [_head(title), line, "", _table(page), ".. toctree::\n   :hidden:\n"]
    return "\n".join(parts + [f"   {one.page}" for one in names() if one.group == page]) + "\n"


def _table(page: str) -> str:
    rows = [".. list-table::\n   :class: names\n   :widths: 30 70\n"]
    for one in names():
        if one.group == page:
            rows += [f"   * - :doc:`{one.name} <{one.page}>`", f"     - {_inline(one.first_line, one.value)}"]
    return "\n".join(rows) + "\n"


def _types() -> str:
    """What the names of types in signatures stand for."""
    parts = [_head("Types in signatures"), "Signatures give a name to what an argument may be. These are the names.\n"]
    for name, found in sorted(aliases().items()):
        parts += [f".. _type-{name}:\n", f"**{name}**\n"]
        for definition, comment in found:
            said = f" {_resolved(comment, names()[0].value)}" if comment else ""
            parts += [f"    ``{definition}``.{said}\n"]
    return "\n".join(parts)


@functools.cache
def aliases() -> dict[str, list[tuple[str, str]]]:
    """Named types that a public signature speaks of: each definition with the comment above it."""
    used: set[str] = set()
    for one in names():
        methods = [value for kind, value in members(one).values() if kind != "property"]
        used |= {word for value in (one.value, *methods) for word in re.findall(r"\w+", signature(value))}
    found: dict[str, dict[str, str]] = {}
    for path in sorted(SOURCE.rglob("*.py")):
        text = path.read_text(encoding="utf-8")
        for above, name, definition in ALIAS.findall(text):
            if name in used and not name.startswith("_") and f"dp.{name}" not in by_name():
                said = " ".join(line.strip().removeprefix("#: ") for line in above.strip().splitlines())
                shown = _type(" ".join(definition.partition("  #")[0].split()).strip('"'))
                held = found.setdefault(name, {})
                held[shown] = held.get(shown) or said
    public = {one.name.split(".")[-1] for one in names()}
    return {name: list(held.items()) for name, held in found.items() if name not in public}


def page_of(one: Name) -> str:
    """The page of a name."""
    parts = [_head(one.name), f".. py:currentmodule:: {one.full.rpartition('.')[0]}\n"]
    parts += [f".. py:{one.kind}:: {one.full.rpartition('.')[2]}{signature(one.value)}", ""]
    inside = []
    if one.kind == "data":
        inside += [_inline(documentation(one), one.value), "", f"``{_type(str(one.value))}``", ""]
    else:
        inside += [_docstring(one.value, "class" if inspect.isclass(one.value) else "function", one.value)]
    if one.kind == "exception":
        inside += [_kinds(one.value)]
    if one.others:
        inside += ["Also as " + ", ".join(f"``{name}``" for name in one.others) + ".\n"]
    if proofs := derivations(one):
        inside += ["**Derivations:** " + ", ".join(f"`{title} <{place}>`__" for title, place in proofs) + ".\n"]
    inside += _members(one)
    return "\n".join([*parts, textwrap.indent("\n".join(inside), "   ")]) + "\n"


def _kinds(value: type[BaseException]) -> str:
    """What else catches an exception: its bases, those of this package with their pages."""
    bases = [base for base in value.__mro__[1:] if base not in (Exception, BaseException, Warning, object)]
    spelt = [f":py:exc:`~{known.full}`" if (known := of_value(base)) else f"``{base.__name__}``" for base in bases]
    more = "Which code a command ends with is said under :doc:`errors </reference/errors>`.\n"
    return f"Also caught as {', '.join(spelt)}. {more}" if spelt else more


def _members(one: Name) -> list[str]:
    found = members(one)
    parts: list[str] = []
    for title, kinds in (("What it knows", ["property"]), ("What it does", ["method", "classmethod", "staticmethod"])):
        chosen = {name: value for name, (kind, value) in found.items() if kind in kinds}
        if not chosen:
            continue
        parts += [f".. rubric:: {title}\n", ".. list-table::\n   :class: names\n   :widths: 30 70\n"]
        for name, value in chosen.items():
            role = "attr" if kinds == ["property"] else "meth"
            first = (inspect.getdoc(value) or "").split("\n")[0]
            parts += [f"   * - :py:{role}:`{name} <{one.full}.{name}>`", f"     - {_inline(first, one.value)}"]
        parts.append("")
    for name, (kind, value) in found.items():
        if kind == "property":
            parts += [f".. py:property:: {name}"]
            kind_of = inspect.signature(value).return_annotation
            parts += [] if kind_of is inspect.Signature.empty else [f"   :type: {_type(kind_of)}"]
        else:
            parts += [f".. py:method:: {name}{signature(value, bound=kind != 'staticmethod')}"]
            parts += [f"   :{kind}:"] if kind != "method" else []
        parts += ["", textwrap.indent(_docstring(value, "function", one.value), "   "), ""]
    return parts


def signature(value: Any, bound: bool = False) -> str:
    """The signature as it stands in the source; an empty text where there is none to speak of."""
    if not callable(value) or type(value).__name__ in ("UnionType", "_UnionGenericAlias", "_LiteralGenericAlias"):
        return ""
    try:
        found = inspect.signature(value)
    except ValueError:
        return ""
    if getattr(value, "_is_protocol", False):
        return ""
    parts, seen_star, position_only = [], False, False
    chosen = list(found.parameters.values())[1 if bound else 0 :]
    for parameter in chosen:
        if position_only and parameter.kind is not parameter.POSITIONAL_ONLY:
            parts.append("/")
        position_only = parameter.kind is parameter.POSITIONAL_ONLY
        if parameter.kind is parameter.KEYWORD_ONLY and not seen_star:
            parts.append("*")
            seen_star = True
        star = {parameter.VAR_POSITIONAL: "*", parameter.VAR_KEYWORD: "**"}.get(parameter.kind, "")
        seen_star |= star == "*"
        text = star + parameter.name
        if parameter.annotation is not parameter.empty:
            text += f": {_type(parameter.annotation)}"
        if parameter.default is not parameter.empty:
            text += f" = {_default(parameter.default)}"
        parts.append(text)
    shown = f"({', '.join(parts)})"
    returned = found.return_annotation
    if not inspect.isclass(value) and returned is not found.empty:
        shown += f" -> {_type(returned)}"
    return shown


def _type(annotation: Any) -> str:
    text = annotation if isinstance(annotation, str) else inspect.formatannotation(annotation)
    return re.sub(r"\b(np|numpy|npt|os|typing|collections\.abc)\.(?=\w)", "", text).replace("\n", " ")


def _default(value: object) -> str:
    text = repr(value)
    if inspect.isfunction(value) or inspect.isclass(value):
        text = value.__name__
    return "..." if "<" in text or len(text) > 60 else text


def _docstring(value: Any, what: str, context: Any) -> str:
    """A docstring as reStructuredText, by numpydoc, whose references lead somewhere."""
    text = inspect.getdoc(value) or ""
    text = str(get_doc_object(value, what, doc=_resolved(text, context), config=_numpydoc()))
    head, mark, rest = text.partition(".. rubric::")
    text = TYPED.sub(lambda found: _typed(found, context), head) + mark + rest
    return re.sub(r"\n{3,}", "\n\n", text).strip("\n") + "\n"


@functools.cache
def _numpydoc() -> dict[str, Any]:
    """What numpydoc is told; its template is compiled once."""
    loader = FileSystemLoader(Path(docscrape_sphinx.__file__).parent / "templates")
    template = SandboxedEnvironment(loader=loader).get_template("numpydoc_docstring.rst")
    return {"show_class_members": False, "use_plots": False, "template": template}


def _typed(found: re.Match[str], context: Any) -> str:
    """Public names among the types of a parameter lead to their pages."""
    before, types = (found[1], found[2]) if found[1] else (found[3], found[4])
    if "`" in types:
        return found[0]

    def linked(word: re.Match[str]) -> str:
        reference = _reference("class", word[0], context)
        name = word[0].replace("dpfda.", "dp.")
        return word[0] if reference.startswith("``") else reference.replace(f"`{word[0]} <", f"`{name} <")

    return before + re.sub(r"(?<![\w.\"])(?:dpfda\.\w+\.)?[A-Z]\w+(?![\w.\"])", linked, types)


def _inline(text: str, context: Any) -> str:
    return _resolved(text, context) or "\\"


def _resolved(text: str, context: Any) -> str:
    """Roles of a docstring lead to the page of a public name; the rest is code. Citations have a line of their own."""
    text = re.sub(r"\s*\(derivations: [^)]+\)", "", text)
    return ROLE.sub(lambda found: _reference(found[1], found[2].strip(), context), text)


def _reference(role: str, target: str, context: Any) -> str:
    parts = target.removesuffix("()").split(".")
    for owner, member in _candidates(parts, context):
        one = of_value(owner)
        if one is None:
            continue
        if not member:
            return f":py:obj:`{target} <{one.full}>`"
        if member in members(one):
            return f":py:obj:`{target} <{one.full}.{member}>`"
    return f"``{target}``"


def _candidates(parts: list[str], context: Any) -> list[tuple[Any, str]]:
    """What a target may mean: a member of this class, something in its module, a public name."""
    found: list[tuple[Any, str]] = []
    if len(parts) == 1 and inspect.isclass(context):
        found.append((context, parts[0]))
    spaces: list[Callable[[str], Any]] = [
        lambda name: vars(sys.modules[getattr(context, "__module__", "dpfda")]).get(name),
        lambda name: next((one.value for one in names() if one.name.split(".")[-1] == name), None),
    ]
    names_of = parts[1:] if parts[0] == "dpfda" else parts
    for count in (len(names_of), len(names_of) - 1):
        spelt, member = names_of[:count], ".".join(names_of[count:])
        if spelt and (one := by_name().get("dp." + ".".join(spelt))):
            found.append((one.value, member))
        if len(spelt) == 1:
            found += [(value, member) for space in spaces if (value := space(spelt[0])) is not None]
    return found
