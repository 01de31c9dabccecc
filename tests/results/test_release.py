import json
import logging

import matplotlib.figure
import numpy as np
import pytest
from conftest import GRID, plan_of

import dpfda as dp
from dpfda.results.postprocess import shrunk as shrunk_by

HIGH = {"epsilon": 5000, "n": 4000}  # so much budget that a release is the mean itself


@pytest.fixture(scope="module")
def curves():
    t = GRID.points
    return (0.5 * np.sin(4 * t) + 0.2 * t) * np.linspace(0.5, 1, 4000)[:, None]


@pytest.mark.parametrize("method", ["QR-fixed", "KNorm", "Minimax", "AR"])
@pytest.mark.parametrize("bound", ["L2", "L2-centred"])
@pytest.mark.parametrize("neighbors", ["replace", "add-remove"])
def test_with_a_huge_budget_the_release_is_the_filtered_mean(method, bound, neighbors, curves):
    plan = plan_of(method, bound, neighbors=neighbors, **HIGH)
    release = plan.release(curves)
    statistic = plan.statistic(plan.summarize(curves))
    expected = plan.problem.finish(statistic, plan.stage.parts)
    assert release.coefficients == pytest.approx(expected, abs=2e-4)
    if method == "Minimax":
        assert release.values == pytest.approx(curves.mean(axis=0), abs=2e-3)


def test_a_centre_outside_the_basis_is_kept():
    grid = dp.Grid.uniform(0, 1, 40)
    centre = np.sign(np.sin(20 * grid.points))
    release = dp.mean(
        np.tile(centre, (100, 1)),
        epsilon=1000,
        bound=dp.L2Ball(0.1, centre),
        grid=grid,
        kernel=dp.kernels.Gaussian(0.3),
    )
    assert release.values == pytest.approx(centre, abs=0.01)


def test_a_release_can_be_called_anywhere(curves):
    release = plan_of("QR", **HIGH).release(curves)
    assert release(GRID.points.copy()) == pytest.approx(release.values, abs=1e-8)
    assert release(0.33).shape == ()
    assert release(0.33) == release([0.33])[0]
    slope = release.derivative()
    h = 1e-4
    assert slope([0.4]) == pytest.approx((release([0.4 + h]) - release([0.4 - h])) / (2 * h), rel=1e-3)
    assert slope.noise_band(0.9).half_width.shape == (GRID.size,)
    assert slope.plot().get_legend_handles_labels()[1][0] == "slope"
    with pytest.raises(dp.errors.ParameterError, match="first derivative"):
        slope.derivative()
    with pytest.raises(dp.errors.ParameterError, match="domain"):
        release([2.0])


@pytest.mark.parametrize("neighbors", ["replace", "add-remove"])
def test_noise_bands_cover_the_filtered_mean(neighbors, rng):
    """300 releases at level 0.9 or a little more: outside 0.79..0.985 with probability below 1e-7."""
    plan = plan_of("Minimax", neighbors=neighbors, n=200)
    data = 0.3 * rng.normal(size=(200, 1)) + 0.5 * np.sin(5 * GRID.points)
    summary = plan.summarize(data)
    truth = plan.problem.finish(plan.statistic(summary), plan.stage.parts) @ plan.basis.functions.T
    covered = 0
    width = plan.release(summary).noise_band(0.9).half_width
    for _ in range(300):
        middle = plan.release(summary).values
        covered += bool((np.abs(middle - truth) <= width).all())
    assert 0.79 <= covered / 300 <= 0.985


def test_save_and_load(curves, tmp_path):
    release = plan_of("KNorm").release(curves[:40]).shrink("james-stein")
    release.save(tmp_path / "mean.json")
    again = dp.load(tmp_path / "mean.json")
    assert np.array_equal(again.coefficients, release.coefficients)
    assert np.array_equal(again.raw, release.raw)
    assert again.plan == release.plan
    assert again.statement == release.statement
    assert again.steps == ("shrinkage by james-stein",)
    assert json.loads((tmp_path / "mean.json").read_text())["version"] == 1
    assert sorted(p.name for p in tmp_path.iterdir()) == ["mean.json"]


def test_a_basis_from_another_machine_is_recognised(curves, tmp_path):
    """Flipped eigenvectors: the saved values decide."""
    release = plan_of("QR").release(curves[:40])
    body = json.loads(release.to_json())
    body["coefficients"][3] *= -1
    from dpfda.core import codec

    content = {k: v for k, v in body.items() if k not in ("dpfda", "version", "sha256")}
    body["sha256"] = codec.digest(content)
    (tmp_path / "mean.json").write_text(json.dumps(body))
    assert dp.load(tmp_path / "mean.json").values == pytest.approx(release.values)


@pytest.mark.parametrize(
    ("change", "match"),
    [
        (lambda text: text.replace('"query": "mean"', '"query": "men"'), "checksum"),
        (lambda text: text[:-9], "not JSON"),
        (lambda text: text.replace('"version": 1', '"version": 7'), "format version 7"),
        (lambda text: "[]", "not a dpfda release"),
        (lambda text: "[" * 100_000, "not JSON"),
    ],
)
def test_damaged_files_are_refused(change, match, curves, tmp_path):
    text = plan_of("QR").release(curves[:40]).to_json()
    (tmp_path / "mean.json").write_text(change(text))
    with pytest.raises(dp.errors.FileError, match=match):
        dp.load(tmp_path / "mean.json")
    with pytest.raises(dp.errors.FileError, match="cannot be read"):
        dp.load(tmp_path / "none.json")


def test_unknown_types_in_files_are_refused(curves, tmp_path):
    from dpfda.core import codec

    with pytest.raises(dp.errors.FileError, match="unknown type"):
        codec.from_plain({"type": "os.system", "x": 1})
    with pytest.raises(dp.errors.FileError, match="no field"):
        codec.from_plain({"type": "Matern", "nu": 1.5, "evil": 1})
    with pytest.raises(dp.errors.FileError, match="whole"):
        codec.from_plain({"type": "L2Ball"})
    with pytest.raises(dp.errors.FileError, match="fraction"):
        codec.from_plain({"type": "Fraction", "value": "1/0"})


def test_exports(curves, tmp_path):
    release = plan_of("QR").release(curves[:40])
    text = release.to_csv(tmp_path / "mean.csv")
    assert (tmp_path / "mean.csv").read_text() == text
    header, *rows = text.splitlines()
    assert header == "t,value,lower,upper"
    numbers = np.array([[float(x) for x in row.split(",")] for row in rows])
    assert np.array_equal(numbers[:, 1], release.values)
    assert np.array_equal(numbers[:, 2:], np.transpose([*release.shown_band()]))
    assert (numbers[:, 2] <= numbers[:, 1]).all()  # a band is widened to hold the curve, which may be its border
    assert (numbers[:, 1] <= numbers[:, 3]).all()
    assert (numbers[:, 2] < numbers[:, 3]).all()
    frame = release.to_dataframe()
    assert np.array_equal(frame["value"], release.values)
    named = dp.MeanPlan(n=40, epsilon=1, bound=dp.L2Ball(1.0), grid=dp.Grid.uniform(0, 1, 21, name="=SUM(A1)"))
    assert named.release(curves[:40]).to_csv().startswith("'=SUM(A1),")


def test_unwritable_outputs_are_refused_and_leave_nothing(curves, tmp_path):
    release = plan_of("QR").release(curves[:40])
    with pytest.raises(dp.errors.FileError, match="does not exist"):
        release.save(tmp_path / "no" / "mean.json")
    with pytest.raises(dp.errors.FileError, match="is a folder"):
        release.save(tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_pictures(curves):
    release = plan_of("QR").release(curves[:40])
    ax = release.plot()
    assert isinstance(ax.figure, matplotlib.figure.Figure)
    assert ax.get_title(loc="left").startswith("Mean curve, epsilon 1")
    assert "data:image/png" in release._repr_html_()
    figure = matplotlib.figure.Figure()
    mine = figure.add_subplot()
    assert release.plot(ax=mine) is mine


def test_shrinkage_is_recorded_and_keeps_the_raw_release(curves):
    release = plan_of("KNorm", postprocess=False).release(curves[:40])
    shrunk = release.shrink()
    assert np.array_equal(shrunk.raw, release.raw)
    assert not np.array_equal(shrunk.coefficients, release.coefficients)
    assert "shrinkage by bayes" in shrunk.statement
    assert "shrinkage" not in release.statement
    with pytest.raises(dp.errors.ParameterError, match="shrinkage must be one of"):
        release.shrink("lasso")


@pytest.mark.parametrize("how", ["bayes", "james-stein"])
@pytest.mark.parametrize("method", ["KNorm", "FRL", "QR", "Minimax"])
def test_shrinkage_lowers_the_error_of_smooth_means(how, method, rng):
    """Simulated releases of smooth means: on average shrinkage helps, by more than four standard errors (seeded)."""
    plan = plan_of(method, n=60)
    gains = []
    for _ in range(600):
        c = rng.normal(size=plan.basis.size) * np.sqrt(0.3 * plan.problem.prior_energy)
        raw = dp.noise.simulate(plan, plan.filter * c, 1, rng)[0]
        shrunk = shrunk_by(raw, plan.stage, how)
        gains.append(((raw - c) ** 2).sum() - ((shrunk - c) ** 2).sum())
    gains = np.array(gains)
    if method in ("KNorm", "FRL"):  # the others are filtered already: there it must not hurt
        assert gains.mean() > 4 * gains.std() / np.sqrt(gains.size)
    else:
        assert gains.mean() > -5 * gains.std() / np.sqrt(gains.size)


def test_nothing_private_in_reprs_and_logs(curves, caplog):
    caplog.set_level(logging.DEBUG, logger="dpfda")
    data = curves[:37].copy()
    data[5] = 0.123456789
    plan = plan_of("QR", neighbors="add-remove", n=50)
    release = plan.release(data)
    text = caplog.text + repr(release) + repr(plan) + release.statement + release.to_json() + repr(plan.summarize(data))
    assert "0.123456789" not in text
    assert "37" not in caplog.text
    assert "released mean" in caplog.text


def test_add_remove_never_checks_n(curves):
    plan = plan_of("QR", neighbors="add-remove", n=50)
    for size in (0, 1, 37, 400):
        assert np.isfinite(plan.release(curves[:size]).values).all()


def test_a_sealed_release_cannot_be_changed(curves):
    release = plan_of("QR").release(curves[:40])
    with pytest.raises(ValueError, match="read-only"):
        release.coefficients[0] = 1.0
    with pytest.raises(ValueError, match="read-only"):
        release.raw[0] = 1.0


def test_selection_is_pinned_in_the_file(curves, tmp_path, monkeypatch):
    """Another version that would choose other components still reads the noise that was drawn."""
    release = plan_of("KNorm").release(curves[:40])
    release.save(tmp_path / "mean.json")
    assert f"components={release.plan.chosen.components}" in release.statement
    monkeypatch.setattr("dpfda.methods.knorm.best_count", lambda risk, most: 3)
    assert plan_of("KNorm").chosen.components == 3
    again = dp.load(tmp_path / "mean.json")
    assert np.array_equal(again.plan.scales, release.plan.scales)
    assert again.noise_band(0.9).half_width == pytest.approx(release.noise_band(0.9).half_width)


@pytest.mark.parametrize(
    "change",
    [
        lambda body: body.pop("raw"),
        lambda body: body.update(plan={"type": "Matern", "nu": 1.5, "length_scale": 0.1}),
        lambda body: body.update(coefficients=[1.0]),
        lambda body: body.update(values="x"),
        lambda body: body.update(steps=3),
        lambda body: body.update(order=7),
        lambda body: body.update(plan=None),
        lambda body: body.update(scales=None),
        lambda body: body.update(raw=[10**400] * 21),
        lambda body: body.update(values=[None] * 21),
        lambda body: body.update(study="s", entry=None),
        lambda body: body.update(query="\x1b[2J"),
        lambda body: body["plan"].update(epsilon="1e9999999"),
        lambda body: body["plan"].update(grid=10**9),
        lambda body: body["plan"].update(bound={"type": "L2Ball", "radius": 10**4000, "center": None}),
        lambda body: body["plan"].update(kernel={"type": "Sum", "left": 1, "right": 2}),
        lambda body: body["plan"].update(kernel={"type": "Kernel"}),
    ],
)
def test_hostile_content_with_a_right_checksum_is_refused(change, curves, tmp_path):
    from dpfda.core import codec

    body = json.loads(plan_of("QR").release(curves[:40]).to_json())
    content = {k: v for k, v in body.items() if k not in ("dpfda", "version", "sha256")}
    change(content)
    (tmp_path / "mean.json").write_text(codec.seal("release", 1, content))
    with pytest.raises(dp.DpfdaError):
        dp.load(tmp_path / "mean.json")


def test_numbers_that_json_cannot_spell_are_refused(curves, tmp_path):
    text = plan_of("QR").release(curves[:40]).to_json()
    for bad in ("NaN", "Infinity", "1e999"):
        (tmp_path / "mean.json").write_text(text.replace('"order": 0', f'"order": {bad}'))
        with pytest.raises(dp.errors.FileError):
            dp.load(tmp_path / "mean.json")
    with pytest.raises(dp.errors.FileError):
        dp.MeanPlan.from_json(plan_of().to_json().replace('"n": 40', '"n": NaN'))
    nested = '{"dpfda": "plan", "version": 1, "plan": ' + '{"a": ' * 5000 + "1" + "}" * 5001
    with pytest.raises(dp.errors.FileError):
        dp.MeanPlan.from_json(nested)


def test_a_missing_checksum_is_no_checksum(curves, tmp_path):
    body = json.loads(plan_of("QR").to_json())
    body.pop("sha256")
    for extra in ("1", "1e999"):
        text = json.dumps(body)[:-1] + f', "x": {extra}}}'
        with pytest.raises(dp.errors.FileError):
            dp.MeanPlan.from_json(text)
