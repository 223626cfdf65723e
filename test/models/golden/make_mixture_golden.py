"""Golden values for the mixture learners, k-means and the adjusted Rand index, by scikit-learn.

Run with a Python that has scikit-learn (Debian: python3-sklearn):
    python3 test/models/golden/make_mixture_golden.py
It writes mixture.json beside itself. Points are rounded so that both sides read the same numbers.
"""
import json
import pathlib
import warnings

import numpy as np
from scipy.special import digamma, gammaln
from sklearn.cluster import KMeans
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import adjusted_rand_score
from sklearn.mixture import BayesianGaussianMixture, GaussianMixture

warnings.simplefilter("ignore", ConvergenceWarning)
warnings.simplefilter("ignore", FutureWarning)


def blobs(seed, count, dimension, clusters, spread, scale):
    rng = np.random.default_rng(seed)
    centres = rng.normal(size=(clusters, dimension)) * scale
    labels = rng.choice(clusters, size=count, p=rng.dirichlet(np.full(clusters, 3.0)))
    mix = rng.normal(size=(clusters, dimension, dimension)) * spread
    points = centres[labels] + np.einsum("nij,nj->ni", mix[labels], rng.normal(size=(count, dimension)))
    return np.round(points, 6)


def started(kind, labels, **options):
    class Started(kind):
        def _initialize_parameters(self, X, random_state):
            resp = np.zeros((X.shape[0], self.n_components))
            resp[np.arange(X.shape[0]), labels] = 1
            self._initialize(X, resp)

    return Started(**options)


def fitted(model, points):
    model.fit(points)
    return {
        "weights": model.weights_.tolist(),
        "means": model.means_.ravel().tolist(),
        "covariances": model.covariances_.ravel().tolist(),
        "objective": float(model.lower_bound_),
        "iterations": int(model.n_iter_),
        "converged": bool(model.converged_),
        "responsibilities": model.predict_proba(points)[:5].ravel().tolist(),
    }


SETS = [
    ("four clusters in the plane", blobs(1, 256, 2, 4, 0.1, 1.0), 4, 1e-3, 100),
    ("overlapping clusters", blobs(2, 200, 2, 4, 0.8, 1.0), 4, 1e-3, 100),
    ("fewer clusters than components", blobs(3, 160, 2, 2, 0.05, 0.5), 4, 1e-1, 100),
    ("rules of a small spread", blobs(4, 200, 2, 3, 0.02, 0.1), 4, 1e-3, 100),
    ("a line", blobs(5, 80, 1, 3, 0.2, 2.0), 3, 1e-4, 100),
    ("three dimensions, stopped early", blobs(6, 120, 3, 3, 0.3, 1.0), 3, 1e-9, 7),
]


def mixture_case(name, points, components, tol, max_iter):
    rng = np.random.default_rng(len(points))
    start = points[rng.choice(len(points), components, replace=False)]
    means = KMeans(n_clusters=components, init=start, n_init=1, algorithm="lloyd").fit(points)
    labels = means.labels_
    common = dict(n_components=components, tol=tol, max_iter=max_iter, covariance_type="full")
    case = {
        "name": name,
        "dimension": points.shape[1],
        "components": components,
        "tolerance": tol,
        "maxIterations": max_iter,
        "points": points.ravel().tolist(),
        "kMeans": {
            "start": start.ravel().tolist(),
            "centres": means.cluster_centers_.ravel().tolist(),
            "labels": labels.tolist(),
            "inertia": float(means.inertia_),
        },
        "em": fitted(started(GaussianMixture, labels, **common), points),
    }
    for key, prior in (("dirichletProcess", "dirichlet_process"), ("dirichlet", "dirichlet_distribution")):
        model = started(BayesianGaussianMixture, labels, weight_concentration_prior_type=prior, **common)
        case[key] = fitted(model, points)
    return case


def rand_cases():
    rng = np.random.default_rng(7)
    cases = [([0, 0, 1, 1], [5, 5, 3, 3]), ([0, 0, 0, 0], [0, 1, 2, 3]), ([1], [1])]
    for count, left, right in ((30, 3, 4), (200, 4, 4), (50, 1, 3), (50, 50, 2)):
        cases.append((rng.integers(left, size=count).tolist(), rng.integers(right, size=count).tolist()))
    noisy = rng.integers(4, size=100)
    cases.append((noisy.tolist(), np.where(rng.random(100) < 0.2, 0, 3 - noisy).tolist()))
    return [{"first": a, "second": b, "index": adjusted_rand_score(a, b)} for a, b in cases]


def special_cases():
    xs = [1e-3, 0.25, 0.5, 1.0, 1.4616, 2.0, 3.75, 9.999, 10.0, 57.3, 512.25, 1e5]
    return [{"x": x, "digamma": float(digamma(x)), "logGamma": float(gammaln(x))} for x in xs]


golden = {
    "mixtures": [mixture_case(*entry) for entry in SETS],
    "rand": rand_cases(),
    "special": special_cases(),
}
path = pathlib.Path(__file__).with_name("mixture.json")
path.write_text(json.dumps(golden, separators=(",", ":")) + "\n")
