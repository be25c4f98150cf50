"""Invented rows of two cases that were real: grades pulled to a school's history, and scans that a hospital marks."""

from __future__ import annotations

from typing import Any

import numpy as np


def school_grades() -> dict[str, Any]:
    """Invented pupils whose grades an algorithm pulls to their school's history, the more the larger the cohort.

    Whether a pupil is able does not depend on the school; the algorithm mixes the teacher's estimate with the share
    that passed there in the past. Most cohorts of state schools are large, most of private ones small.
    """
    random, pupils = np.random.default_rng(0), 4000
    state = random.random(pupils) < 0.5
    large = random.random(pupils) < np.where(state, 0.8, 0.2)
    past = np.where(state, 0.45, 0.85)
    able = random.random(pupils) < 0.7
    teacher = np.where(able, 0.8, 0.3) + random.normal(0, 0.08, pupils)
    weight = np.where(large, 0.6, 0.1)  # of few pupils the teacher is believed, of many the history
    return {
        "school": np.where(state, "state", "private").tolist(),
        "cohort": np.where(large, "large", "small").tolist(),
        "able": able.astype(int),
        "grade": ((1 - weight) * teacher + weight * past > 0.55).astype(int),
    }


def marked_scans(scans: int = 6000) -> dict[str, Any]:
    """Invented scans of three hospitals; one marks its scans, and has most of the sick; the mark is no disease."""
    random = np.random.default_rng(0)
    hospital = random.integers(0, 3, scans)
    sick = random.random(scans) < np.array([0.8, 0.1, 0.15])[hospital]
    mark = np.where(hospital == 0, random.random(scans) < 0.95, random.random(scans) < 0.02)
    return {
        "hospital": np.array(["A", "B", "C"])[hospital].tolist(),
        "mark": mark.astype(int),
        "opacity": random.normal(sick * 1.0, 1.0),
        "sick": sick.astype(int),
    }
