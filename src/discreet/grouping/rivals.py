"""The groupings that are used in practice without a search: all together, each alone, by correlation.

Correlated attributes together lose little and protect little; correlated attributes apart protect more, because
records that are alike in one group are alike in the others, and lose more.

References
----------
The paper of 2013 on GOMM, the genetic optimizer for multivariate microaggregation, section 5, after J. Nin,
J. Herranz, V. Torra, How to group attributes in multivariate microaggregation, International Journal of Uncertainty,
Fuzziness and Knowledge-Based Systems 16 (2008) 121-138.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.cluster.hierarchy import cut_tree, leaves_list, linkage
from scipy.spatial.distance import squareform

from discreet.grouping.candidates import Labels, canonical, clone_key
from discreet.grouping.space import Space


def rivals(space: Space) -> dict[str, Labels]:
    """The ad-hoc groupings of a data set by name; each grouping once.

    Parameters
    ----------
    space : Space
        The data.
    """
    d = len(space.attributes)
    found = {"all together": canonical(np.zeros(d)), "each alone": canonical(np.arange(d))}
    counts = sorted({count for count in (2, 3, 4, 5, d // 4, d // 3, d // 2) if 1 < count < d})
    if counts:
        tree = _tree(correlations(space))
        for count in counts:
            found[f"correlated together, {count} groups"] = _together(tree, count)
        for count in counts:
            found[f"correlated apart, {count} groups"] = _apart(tree, count)
    first: dict[bytes, str] = {}
    for name, labels in found.items():
        first.setdefault(clone_key(labels), name)
    return {name: found[name] for name in first.values()}


def correlations(space: Space) -> NDArray[np.float64]:
    """How closely each two attributes are related, from 0 to 1: |r| for numbers, and what corresponds to it.

    For attributes with several coordinates (categories) it is the root of the RV coefficient (P. Robert, Y. Escoufier,
    Applied Statistics 25 (1976) 257-265), which is |r| where both have one. A constant attribute is related to none.

    Parameters
    ----------
    space : Space
        The data.
    """
    products = space.points.T @ space.points
    d = len(space.attributes)
    norms = np.array([[float(np.sum(products[a, b] ** 2)) for b in space.spans] for a in space.spans])
    own = np.sqrt(np.outer(np.diag(norms), np.diag(norms)))
    related = np.sqrt(np.divide(norms, own, out=np.zeros((d, d)), where=own > 0))
    np.fill_diagonal(related, 1.0)
    return np.asarray(np.clip(related, 0.0, 1.0), np.float64)


def _tree(related: NDArray[np.float64]) -> NDArray[np.float64]:
    """The hierarchical clustering of attributes by how far from related they are (average linkage)."""
    tree: NDArray[np.float64] = linkage(squareform(1.0 - related, checks=False), "average")
    return tree


def _together(tree: NDArray[np.float64], count: int) -> Labels:
    """The tree cut into so many groups."""
    return canonical(cut_tree(tree, n_clusters=count)[:, 0])


def _apart(tree: NDArray[np.float64], count: int) -> Labels:
    """So many groups, to which the attributes are dealt out in the order of the tree: neighbours there come apart."""
    labels = np.empty(len(tree) + 1, np.int64)
    labels[leaves_list(tree)] = np.arange(len(labels)) % count
    return canonical(labels)
