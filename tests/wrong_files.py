"""Small invented files for the tables of wrong inputs, with planted private values that no message may show."""

from __future__ import annotations

import gzip
import json
import sqlite3
from contextlib import closing
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

import dpfda as dp
from dpfda.core import codec

#: A number, a person and the start of a line that stand in the data and nowhere else.
NUMBER, PERSON = "987654.321", "Zebulon-Private"
#: In any of these spellings they would give something away.
PRIVATE = (NUMBER, "987654", "987,654", "9.87", PERSON, "Zebulon", "zebulon")
NAMES = [f"h{i}" for i in range(6)]


def make(folder: Path) -> None:
    """All files, in one folder."""
    rng = np.random.default_rng(3)
    curves = rng.uniform(0, 1, (30, 6)).round(3)
    _texts(folder, curves)
    _tables(folder, curves)
    _saved(folder, curves)


def _lines(rows: object, *head: str) -> str:
    return "\n".join([*head, *(",".join(str(cell) for cell in row) for row in rows)]) + "\n"


def _texts(folder: Path, curves: np.ndarray) -> None:
    head = ",".join(NAMES)
    rows = curves.tolist()

    def write(name: str, text: str | bytes) -> None:
        (folder / name).write_bytes(text if isinstance(text, bytes) else text.encode())

    def with_cells(cells: dict[tuple[int, int], str]) -> str:
        changed = [[cells.get((i, j), x) for j, x in enumerate(row)] for i, row in enumerate(rows)]
        return _lines(changed, head)

    write("curves.csv", with_cells({}))
    write("text.csv", with_cells({(4, 2): PERSON}))
    write("infinite.csv", with_cells({(4, 2): "inf", (5, 2): NUMBER}))
    write("gap.csv", with_cells({(4, 2): "", (7, 1): NUMBER}))
    write("gaps.csv", with_cells({(4, j): "" for j in range(1, 5)} | {(7, 1): NUMBER}))
    write("lost.csv", with_cells({(4, j): "" for j in range(6)}))
    write("ragged.csv", with_cells({}) + f"1,2,{NUMBER}\n")
    write("wide.csv", with_cells({}) + f"1,2,3,4,5,6,{NUMBER}\n")
    write("quoted.csv", with_cells({(3, 0): '"1,5"'}))
    write("bare.csv", _lines(rows))
    write("doubtful.csv", _lines(rows, "1,2,3,4,5,6"))
    write("mixed.csv", _lines(rows, f"{PERSON},2,3,4,5,6"))
    write(
        "record-first.csv",
        _lines([[PERSON, *row] for row in rows[1:]], ",".join([PERSON, "a", "b", "c", "d", "e", "f"])),
    )
    write("repeated.csv", _lines(rows, "a,a,b,c,d,e"))
    write("semicolons.csv", "\n".join(";".join(str(x).replace(".", ",") for x in r) for r in [NAMES, *rows]) + "\n")
    write("open-quote.csv", with_cells({(4, 2): f'"{PERSON}'}))
    write("ages.csv", _lines(rows, "0,1,2,4,8,16"))
    write("cut.csv.gz", gzip.compress(with_cells({(4, 2): NUMBER}).encode())[:-20])
    write("not.csv.zst", PERSON)
    (folder / "pictures").mkdir()
    for place in ("lake/region=north", "mixed-lake/region=north", "mixed-lake/month=3"):
        (folder / place).mkdir(parents=True)
        (folder / place / "part.csv").write_text(with_cells({(4, 2): NUMBER}))
    with closing(sqlite3.connect(folder / "study.db")) as study:
        study.execute("create table days (h0, h1)")
        study.execute("insert into days values (?, ?)", (NUMBER, PERSON))
        study.commit()
    write("empty.csv", "")
    write("blank.csv", "\n\n")
    write("head.csv", head + "\n")
    write("one.csv", _lines(rows[:1], head))
    write("latin.csv", "höhe,b\n1,2\n".encode("latin-1"))
    write("wide-text.csv", (head + "\n").encode("utf-16"))
    write("notes.txt", f"{PERSON} said hello\n")
    write("table.xlsx", b"PK\x03\x04 not read")
    write("curves", "no ending")
    people = [[f"{PERSON}-{i // 3:02d}", "north" if i < 15 else "south", *row] for i, row in enumerate(rows)]
    named = "id,ward," + head
    write("people.csv", _lines(people, named))
    write(
        "no-owner.csv", _lines([[*people[0][:1], *p[1:]] if i else ["", *p[1:]] for i, p in enumerate(people)], named)
    )
    write("two-wards.csv", _lines([[p[0], "south" if i == 1 else p[1], *p[2:]] for i, p in enumerate(people)], named))
    write("lonely.csv", _lines([*people[1:], [PERSON, f"{PERSON}-ward", *people[0][2:]]], named))
    write("no-ward.csv", _lines([[p[0], "" if i == 4 else p[1], *p[2:]] for i, p in enumerate(people)], named))
    long = [[f"{PERSON}-{i:02d}", j / 5, x] for i, row in enumerate(rows) for j, x in enumerate(row)]
    write("long.csv", _lines(long, "id,time,value"))
    write("long-names.csv", _lines(long, "meter,hour,kwh"))
    write("long-outside.csv", _lines([[i, t + 5, x] for i, t, x in long], "id,time,value"))
    write("long-sparse.csv", _lines(long[:2] + long[6:], "id,time,value"))
    write("long-few.csv", _lines(long[:3] + long[6:], "id,time,value"))
    write("long-stamps.csv", _lines([[i, PERSON, x] for i, _, x in long], "id,time,value"))
    points = [[40 + i, 20 + i / 10, i % 2, "no" if i % 2 else "yes"] for i in range(40)]
    write("points.csv", _lines(points, "age,weight,sick,class"))
    write("outside.csv", _lines([*points, [NUMBER, 20, 1, "no"]], "age,weight,sick,class"))
    write("unlabelled.csv", _lines([*points, [50, 20, 1, ""]], "age,weight,sick,class"))
    write("one-class.csv", _lines([[*p[:3], PERSON] for p in points], "age,weight,sick,class"))
    write("visits.csv", _lines([[40 + i, i / 10, *row] for i, row in enumerate(rows)], "age,dose," + head))
    write("counts.csv", "bin,count\na,3\nb,4\nc,5\nd,6\n")
    write("bad-counts.csv", f"bin,count\na,3\nb,-{NUMBER}\nc,5\nd,6\n")
    (folder / "nothing").mkdir()
    (folder / "part-a.csv").write_text(_lines(rows[:15], head))
    (folder / "part-b.csv").write_text(_lines([r[:5] for r in rows[15:]], ",".join(NAMES[:5])))


def _tables(folder: Path, curves: np.ndarray) -> None:
    table = pa.table({name: curves[:, i] for i, name in enumerate(NAMES)})
    pq.write_table(table, folder / "curves.parquet")
    pq.write_table(table.append_column("name", pa.array([PERSON] * 30)), folder / "text.parquet")
    ragged = pa.array([row[: 5 if i == 3 else 6] for i, row in enumerate(curves.tolist())])
    pq.write_table(pa.table({"curve": ragged}), folder / "lists.parquet")
    words = pa.array([[PERSON]] * 30)
    pq.write_table(pa.table({"curve": words}), folder / "words.parquet")
    (folder / "broken.parquet").write_text(PERSON)


def _saved(folder: Path, curves: np.ndarray) -> None:
    bound, method = dp.L2Ball(1.0), dp.methods.KNorm(components=2)
    facts = {"epsilon": 1, "bound": bound, "method": method}
    plan = dp.MeanPlan(n=30, grid=6, **facts)
    (folder / "plan.json").write_text(plan.to_json())
    (folder / "staged.json").write_text(dp.MeanPlan(n=30, epsilon=1, grid=6, bound=bound).to_json())
    (folder / "covariance-plan.json").write_text(dp.CovariancePlan(n=30, epsilon=1, grid=6, bound=bound).to_json())
    (folder / "density-plan.json").write_text(
        dp.DensityPlan(n=40, epsilon=1, domain=[(0, 110)], cells=8, method=dp.methods.KNorm(components=2)).to_json()
    )
    groups = dp.plans.GroupPlan(("north", "south"), (dp.MeanPlan(n=15, grid=6, **facts),) * 2)
    (folder / "groups-plan.json").write_text(groups.to_json())
    release = dp.mean(curves, n=30, **facts)
    release.save(folder / "mean.json")
    text = (folder / "mean.json").read_text()
    (folder / "edited.json").write_text(text.replace('"epsilon"', '"Epsilon"', 1))
    (folder / "cut.json").write_text(text[: len(text) // 2])
    (folder / "newer.json").write_text(text.replace('"version": ', '"version": 9', 1))
    together = groups.release(curves, by=["north", "south"] * 15)
    together.save(folder / "groups.json")
    difference = together.difference("north", "south").to_json()
    (folder / "edited-difference.json").write_text(difference.replace('"north"', '"South"', 1))
    body = {name: value for name, value in json.loads(difference).items() if name not in ("dpfda", "version", "sha256")}
    swapped = codec.seal("difference", 1, body | {"left": body["right"]})
    (folder / "other-difference.json").write_text(swapped)
    (folder / "stranger.json").write_text(codec.seal("model", 1, {}))
    (folder / "picture.png").write_bytes(b"\x89PNG\r\n\x1a\n")
    (folder / "study.toml").write_text("version = 1\n")
    (folder / "notes.json").write_text(json.dumps({"who": PERSON, "how much": 987654.321}))
    (folder / "list.json").write_text(f'["{PERSON}"]')
    dp.density(np.arange(40.0), epsilon=1, domain=[(0, 110)], cells=8, method=method).save(folder / "density.json")
    plan.summarize(dp.read(folder / "curves.csv"), checkpoint=folder / "part.summary")
    other = dp.MeanPlan(n=30, epsilon=1, grid=6, bound=dp.L2Ball(2.0), method=method)
    other.summarize(dp.read(folder / "curves.csv"), checkpoint=folder / "other.summary")
    x = np.column_stack([np.arange(40.0), np.arange(40.0) % 7])
    model = dp.KernelRegressor(epsilon=1, domain=[(0, 40), (0, 7)], bound=(0, 1)).fit(x, np.arange(40) % 2)
    model.release_.save(folder / "model.json")
    dp.Ledger.create(folder / "study.ledger", epsilon=100, study="load")
    spent = dp.Ledger.create(folder / "spent.ledger", epsilon=1, study="load")
    spent.charge(1, plan="p", query="mean")
    (folder / "copy.ledger").write_bytes((folder / "study.ledger").read_bytes())
    (folder / "broken.ledger").write_bytes(PERSON.encode() * 300)
    (folder / "empty.ledger").write_bytes(b"")
    (folder / "cut.ledger").write_bytes((folder / "study.ledger").read_bytes()[:9000])
    with closing(sqlite3.connect(folder / "other.ledger")) as db, db:
        db.execute("CREATE TABLE t (x)")


def state(folder: Path) -> dict[str, tuple[int, int]]:
    """What is in the folder, so that a file that was written or changed is seen."""
    return {p.name: (p.stat().st_size, p.stat().st_mtime_ns) for p in folder.iterdir()}
