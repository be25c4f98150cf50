"""Run every benchmark, keep the results, and write them into the pages: `python -m benchmarks.run`.

    python -m benchmarks.run [--only nist,files] [--peers /tmp/a/bin/python]

Each runs in a process of its own, so that none is measured in memory another has filled; one that fails is named in the
end, and the others go on. `--peers` names interpreters that have SMPyBandits or fairlearn, for the scripts that run
beside them.
"""

import argparse
import subprocess
import sys

from benchmarks import report

PEERS = "--peers"  # where the interpreters of others are named, if there are any
RUNS = (
    ("accuracy_tables",),
    ("speed_tables",),
    ("tune_tables",),
    ("tune_tables", "--repeated"),
    ("temper",),
    ("temper", "--tables"),
    ("bridge",),
    ("bridge", "--folds", "mr,subj"),
    ("bridge", "--speed", "--only", "NaiveLogistic,liblinear"),
    ("densities", "--part", "10"),
    ("densities", "--tables"),
    ("text_accuracy",),
    ("text_options",),
    ("text_speed",),
    ("text_kernels",),
    ("text_leave_one_out",),
    ("files",),
    ("hostile_files",),
    ("scale",),
    ("glm_speed", "--libraries", "evenodds,glum,scikit-learn,scaled"),  # statsmodels takes 10 times the memory
    ("glm_reference",),
    ("nist",),
    ("mixtures",),
    ("separation",),
    ("networks",),
    ("bandits", PEERS),
    ("audit",),
    ("audit", "--finest", "--rows", "1000000", PEERS),
    ("audit_tables",),
    ("before",),
    ("mutations",),
)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", type=report.names, help="scripts, with commas between")
    parser.add_argument("--peers", action="append", default=[], help="an interpreter that has other packages")
    given = parser.parse_args()
    failed = []
    for script, *told in RUNS:
        if given.only and script not in given.only:
            continue
        if PEERS in told:
            told = [*(word for word in told if word != PEERS), *(w for python in given.peers for w in (PEERS, python))]
        print(f"\n# {' '.join([script, *told])}\n", flush=True)
        if subprocess.run([sys.executable, "-m", f"benchmarks.{script}", "--save", *told], check=False).returncode:
            failed.append(" ".join([script, *told]))
    subprocess.run([sys.executable, "-m", "benchmarks.page"], check=True)
    if failed:
        print(f"failed: {'; '.join(failed)}", file=sys.stderr)
    return int(bool(failed))


if __name__ == "__main__":
    sys.exit(main())
