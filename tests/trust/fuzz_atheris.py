"""The same targets, driven by coverage: atheris looks for bytes that reach new lines of the package.

Needs the extra `fuzz`. Example, a hundred thousand runs over saved plans::

    python tests/trust/fuzz_atheris.py plan -runs=100000

Any further words are options of libFuzzer. Half of the mutations know the structure of the file, half are libFuzzer's
own; it starts from the valid examples. A defect ends the run with a traceback and a file that repeats it.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path
from random import Random

import atheris

with atheris.instrument_imports(include=["dpfda"], enable_loader_override=False):
    import fuzzing
    from fuzz_mutators import mutated

    from dpfda.core.errors import DpfdaError


def main() -> None:
    if len(sys.argv) < 2 or sys.argv[1] not in fuzzing.TARGETS:
        sys.exit(f"Usage: fuzz_atheris.py TARGET [-runs=N]; targets are {', '.join(fuzzing.TARGETS)}.")
    name = sys.argv.pop(1)
    seeds = fuzzing.SEEDS[name]

    def mutate(data: bytes, most: int, seed: int) -> bytes:
        if seed % 2:
            return atheris.Mutate(data, most)
        try:
            return mutated(name, Random(seed), [data])[:most]
        except Exception:  # of bytes that have lost all structure
            return mutated(name, Random(seed), seeds)[:most]

    def run(data: bytes) -> None:
        try:
            fuzzing.outcome(name, data)
        except DpfdaError:  # an error on purpose
            return

    with tempfile.TemporaryDirectory() as corpus, fuzzing.strict():
        for number, seed in enumerate(seeds):
            (Path(corpus) / f"{number}").write_bytes(seed)
        largest = max(4096, 2 * max(map(len, seeds)))
        options = [f"-max_len={largest}", f"-timeout={int(fuzzing.SECONDS)}", "-rss_limit_mb=4096", "-verbosity=1"]
        atheris.Setup([sys.argv[0], *options, *sys.argv[1:], corpus], run, custom_mutator=mutate)
        atheris.Fuzz()


if __name__ == "__main__":
    main()
