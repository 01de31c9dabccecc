"""The pages of names: each public object has one, with its signature, parameters, example, source and proofs."""

from __future__ import annotations

import inspect
import re
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path

import pytest

import dpfda as dp

ROOT = Path(__file__).parents[2]
pytestmark = pytest.mark.skipif(find_spec("numpydoc") is None, reason="the docs extra is not installed")


@pytest.fixture(scope="module")
def public():
    return import_module("public")


@pytest.fixture(scope="module")
def pages(tmp_path_factory):
    folder = tmp_path_factory.mktemp("api")
    import_module("api_pages").write(folder)
    return {path.stem: path.read_text() for path in folder.glob("*.rst")}


def every_name() -> list[tuple[str, object]]:
    """All that can be reached by a public name, under each of its names."""
    found = []
    for name in dp.__all__:
        value = getattr(dp, name)
        if inspect.ismodule(value):
            found += [(f"dp.{name}.{member}", getattr(value, member)) for member in value.__all__]
        else:
            found.append((f"dp.{name}", value))
    return found


def test_every_public_object_has_one_page(public, pages):
    names = public.by_name()
    assert len(every_name()) > 120
    for name, value in every_name():
        assert names[name].value is value, name
        assert f"\n{'=' * len(names[name].name)}\n" in pages[names[name].page]
    made = [page for page in pages if page.startswith("dpfda.")]
    assert len(made) == len({id(value) for _, value in every_name()}) == len(public.names())
    assert len({page.lower() for page in pages}) == len(pages)  # on disks where letters are letters


def test_every_name_stands_in_the_index_and_in_a_group(public, pages):
    for one in public.names():
        link = f":doc:`{one.name} <{one.page}>`"
        assert link in pages["index"], one.name
        assert link in pages[f"group-{one.group}"], one.name


def test_pages_show_parameters_and_examples(public, pages):
    for one in public.names():
        text = inspect.getdoc(one.value) or ""
        if one.kind == "data":
            continue
        page = pages[one.page]
        if "Parameters\n---" in text:
            assert ":Parameters:" in page, one.name
            assert inspect.signature(one.value).parameters.keys() & set(
                re.findall(r"\w+", page.split(":Parameters:")[0])
            )
        if ">>>" in text:
            assert ".. rubric:: Examples" in page, one.name
        for name, (_, value) in public.members(one).items():
            first = inspect.getdoc(value).splitlines()[0]
            assert f"`{name} <{one.full}.{name}>`" in page, (one.name, name)
            assert ":" in first or "`" in first or first.split("(")[0].strip() in page, (one.name, name)


def test_proofs_are_linked_where_the_code_cites_them(public, pages):
    found = {one.name: [title for title, _ in public.derivations(one)] for one in public.names()}
    assert "Bounded records" in found["dp.L2Ball"]
    assert "Ball noise" in found["dp.methods.KNorm"]
    assert "Bounded records" in found["dp.MeanPlan"]
    assert set(found["dp.MeanPlan"]) <= set(found["dp.mean"])
    assert sum(map(bool, found.values())) > 40
    for one in public.names():
        for title, place in public.derivations(one):
            assert f"`{title} <{place}>`__" in pages[one.page]
            path, _, mark = place.removeprefix("../../").partition("#")
            text = (ROOT / "docs" / path.replace(".html", ".md")).read_text()
            heads = [
                re.sub(r"[^\w\- ]", "", head.lower()).replace(" ", "-") for head in re.findall("^## (.+)$", text, re.M)
            ]
            assert mark in heads


def test_sources_are_where_things_are_defined(public):
    for one in public.names():
        if one.kind != "data":
            module, name = public.place(one.value)
            value = import_module(module)
            for part in name.split("."):
                value = inspect.getattr_static(value, part)
            assert value is inspect.unwrap(one.value) or inspect.unwrap(value) is inspect.unwrap(one.value), one.name


def test_references_of_docstrings_lead_somewhere(public, pages):
    """No role is left that names nothing: what is no public name is shown as code."""
    known = {one.full for one in public.names()}
    known |= {f"{one.full}.{member}" for one in public.names() for member in public.members(one)}
    for page, text in pages.items():
        for target in re.findall(r":py:\w+:`[^`<]*<([^>]+)>`", text):
            assert target in known, (page, target)
        assert not re.search(r"(?<!:py):(?:meth|func|class|attr|mod):`", text), page


def test_types_of_signatures_are_explained(pages):
    for name in ("Epsilon", "Neighbors", "GridLike"):
        assert f".. _type-{name}:" in pages["types"]


def test_what_has_not_changed_is_not_written_again(tmp_path, pages):
    write = import_module("api_pages").write
    write(tmp_path)
    before = {path: path.stat().st_mtime_ns for path in tmp_path.iterdir()}
    (tmp_path / "dpfda.gone.rst").write_text("")
    write(tmp_path)
    assert {path: path.stat().st_mtime_ns for path in tmp_path.iterdir()} == before


def test_every_constant_has_a_row():
    constants = import_module("constants_page").constants()
    names = {(one.module, name) for one in constants for name in one.names}
    assert {("noise/common.py", "GUARD"), ("bounds/lattice.py", "RADIUS_BITS"), ("methods/staged.py", "RULE")} <= names
    assert sum(bool(one.comment) for one in constants) > 0.95 * len(constants)


def test_the_page_of_files_names_every_key_of_a_study():
    from dpfda.cli.study_files import TABLES

    text = (ROOT / "docs" / "reference" / "file-formats.md").read_text()
    section = text.split("## Study file")[1].split("\n## ")[0]
    for table, keys in TABLES.items():
        (row,) = re.findall(rf"^\| `\[{table}\]` \| (.*) \|$", section, re.MULTILINE)
        assert re.findall(r"`(\w+)`", row) == list(keys)
