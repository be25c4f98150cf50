"""The measured numbers of all pages, from the results that are kept: `python -m benchmarks.page [--check]`.

Between `<!-- results: NAME -->` and `<!-- end -->`, each on a line of its own, a page shows what a script makes of
`benchmarks/results/NAME.json`: NAME is a key of PARTS, what is before its dot the file. What is there is replaced. At
the end of a section, or where another machine or commit begins, it says where that was measured. A result that is not
there yet leaves its place empty. With `--check` nothing is written; what differs is printed, and the exit code is 1.
"""

import argparse
import difflib
import re
import sys
from collections.abc import Callable
from pathlib import Path

from benchmarks import (
    accuracy_tables,
    audit,
    audit_tables,
    bandits,
    before,
    bridge,
    densities,
    files,
    glm_reference,
    glm_speed,
    headlines,
    hostile_files,
    mixtures,
    mutations,
    networks,
    nist,
    report,
    scale,
    separation,
    speed_tables,
    temper,
    text_accuracy,
    text_kernels,
    text_leave_one_out,
    text_options,
    text_speed,
    tune_tables,
)
from benchmarks.report import Result

ROOT = Path(__file__).resolve().parents[1]
BEGIN = "<!-- results: "
PART = re.compile(rf"^{BEGIN}(\S+) -->\n(.*?)^<!-- end -->$", re.MULTILINE | re.DOTALL)
SECTION = re.compile(r"^## ", re.MULTILINE)
HEADLINES = "headlines"  # the one part of many results, whose lines link to their sections
PARTS: dict[str, Callable[[Result], str]] = {
    "accuracy_tables": accuracy_tables.shown,
    "audit": audit.shown,
    "audit_finest": audit.shown,
    "audit_tables.adult": audit_tables.shown_adult,
    "audit_tables.compas": audit_tables.shown_compas,
    **{f"bandits_{part}": shown for part, (_, shown) in bandits.PARTS.items()},
    "before": before.shown,
    "bridge": bridge.shown,
    "bridge_folds": bridge.shown_folds,
    "bridge_speed": bridge.shown_speed,
    "densities": densities.shown,
    "densities_tables": densities.shown_tables,
    "files": files.shown,
    "glm_parquet": glm_speed.shown_parquet,
    "glm_reference": glm_reference.shown,
    "glm_reference.worst": glm_reference.worst,
    "glm_speed": glm_speed.shown,
    HEADLINES: headlines.shown,
    "hostile_files": hostile_files.shown,
    "mixtures": mixtures.shown,
    "mutations": mutations.shown,
    "networks_answers": networks.shown_answers,
    "networks_networks": networks.shown_networks,
    "networks_speed": networks.shown_speed,
    "nist": nist.shown,
    "scale_mllib": scale.shown_mllib,
    "scale_rows": scale.shown,
    "scale_text": scale.shown,
    "separation": separation.shown,
    "speed_tables": speed_tables.shown,
    "temper": temper.shown,
    "temper.honest": temper.honest_texts,
    "temper_tables": temper.shown_tables,
    "temper_tables.honest": temper.honest_tables,
    "text_accuracy": text_accuracy.shown,
    "text_kernels": text_kernels.shown,
    "text_leave_one_out": text_leave_one_out.shown,
    "text_leave_one_out.passes": text_leave_one_out.passes,
    "text_options": text_options.shown,
    "text_options.class_prior": text_options.class_prior,
    "text_options.length_column": text_options.length_column,
    "text_options.lengths": text_options.lengths,
    "text_options.neighbours": text_options.neighbours,
    **{f"text_speed_{job}": shown for job, shown in text_speed.SHOWN.items()},
    "tune_repeated": tune_tables.shown_repeated,
    "tune_tables": tune_tables.shown,
}


def pages() -> dict[Path, str]:
    """The pages that show results, and what they say."""
    every = [ROOT / "README.md", ROOT / "benchmarks" / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
    texts = {page: page.read_text(encoding="utf-8") for page in every}
    return {page: text for page, text in texts.items() if BEGIN in text}


def results() -> dict[str, Result]:
    """All that are kept, by name."""
    return {path.stem: report.load(path.stem) for path in sorted(report.RESULTS.glob("*.json"))}


def names(text: str) -> list[str]:
    """The parts of a page."""
    found = [part[1] for part in PART.finditer(text)]
    if len(found) != len(re.findall(f"^{BEGIN}", text, re.MULTILINE)):
        raise ValueError(f"a part does not end; there are {', '.join(found) or 'no others'}")
    if unknown := [name for name in found if name not in PARTS]:
        raise ValueError(f"no part {unknown[0]!r}; there are {', '.join(PARTS)}")
    return found


def file_of(name: str) -> str:
    """The result that a part shows."""
    return name.partition(".")[0]


def rewritten(text: str, found: dict[str, Result]) -> str:
    """A page with its parts as the results have them."""
    names(text)
    parts, wheres = list(PART.finditer(text)), list[str]()
    for part in parts:
        result = found.get(file_of(part[1]))
        wheres.append("" if result is None else report.measured(result["environment"]))
    out, at = list[str](), 0
    for i, part in enumerate(parts):
        said = ""
        if part[1] == HEADLINES:
            said = PARTS[HEADLINES](found)
        elif wheres[i]:
            rest = [j for j in range(i + 1, len(parts)) if wheres[j]]  # the next that is not empty
            last = not rest or SECTION.search(text, part.end(), parts[rest[0]].start()) is not None
            said = PARTS[part[1]](found[file_of(part[1])])
            said = report.blocks(said, f"*{wheres[i]}*" if last or wheres[rest[0]] != wheres[i] else "")
        out += [text[at : part.start(2)], f"{said}\n" if said else ""]
        at = part.end(2)
    return "".join([*out, text[at:]])


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true", help="write nothing; say what differs")
    check, found, differ = parser.parse_args().check, results(), False
    for page, text in pages().items():
        try:
            new = rewritten(text, found)
        except ValueError as error:
            raise SystemExit(f"{page.relative_to(ROOT)}: {error}") from None
        if new == text:
            continue
        differ = True
        if check:
            lines = difflib.unified_diff(
                text.splitlines(), new.splitlines(), str(page.relative_to(ROOT)), "results", "", "", 0
            )
            print(*lines, sep="\n")
        else:
            page.write_text(new, encoding="utf-8")
            print(f"wrote {page.relative_to(ROOT)}")
    return int(check and differ)


if __name__ == "__main__":
    sys.exit(main())
