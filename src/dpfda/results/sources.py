"""Whom a methods paragraph cites: the works that mechanisms come from, by how a text names them."""

from __future__ import annotations

#: Authors and year, as texts name them, and the whole reference, in the order of a list of references.
SOURCES = {
    ("Aldà and Rubinstein", 2017): (
        "Aldà, F. and Rubinstein, B. I. P. (2017). The Bernstein Mechanism: Function Release under Differential "
        "Privacy. Proceedings of the 31st AAAI Conference on Artificial Intelligence, 1705-1711."
    ),
    ("Hall, Rinaldo and Wasserman", 2013): (
        "Hall, R., Rinaldo, A. and Wasserman, L. (2013). Differential Privacy for Functions and Functional Data. "
        "Journal of Machine Learning Research 14, 703-727."
    ),
    ("Hardt and Talwar", 2010): (
        "Hardt, M. and Talwar, K. (2010). On the Geometry of Differential Privacy. Proceedings of the 42nd ACM "
        "Symposium on Theory of Computing, 705-714."
    ),
    ("Lin and Reimherr", 2024): (
        "Lin, H. and Reimherr, M. (2024). Pure Differential Privacy for Functional Summaries with a Laplace-like "
        "Process. Journal of Machine Learning Research 25."
    ),
    ("McKenna and Sheldon", 2020): (
        "McKenna, R. and Sheldon, D. R. (2020). Permute-and-Flip: A new mechanism for differentially private "
        "selection. Advances in Neural Information Processing Systems 33."
    ),
    ("Mirshani, Reimherr and Slavkovic", 2019): (
        "Mirshani, A., Reimherr, M. and Slavkovic, A. (2019). Formal Privacy for Functional Data with Gaussian "
        "Perturbations. Proceedings of the 36th International Conference on Machine Learning, 4595-4604."
    ),
}


def references(text: str) -> list[str]:
    """The references of all works that a text names, in order.

    >>> references("By permute and flip (McKenna and Sheldon, 2020).")[0][:40]
    'McKenna, R. and Sheldon, D. R. (2020). P'
    """
    named = {key: any(f"{key[0]}{mark}{key[1]}" in text for mark in (", ", " (")) for key in SOURCES}
    return [reference for key, reference in SOURCES.items() if named[key]]
