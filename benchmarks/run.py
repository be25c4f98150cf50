"""Run every benchmark and keep the results: `python -m benchmarks.run`.

Each runs in a process of its own, so that none is measured in memory another has filled.
"""

import subprocess
import sys

SCRIPTS = (
    "accuracy_tables",
    "speed_tables",
    "files",
    "hostile_files",
    "text_accuracy",
    "text_options",
    "text_speed",
    "text_leave_one_out",
    "temper",
    "tune_tables",
    "bridge",
    "densities",
    "glm_reference",
    "glm_speed",
    "mixtures",
    "nist",
    "separation",
    "bandits",
    "networks",
    "audit",
    "audit_tables",
    "scale",
)


def main() -> None:
    for script in SCRIPTS:
        print(f"\n# {script}\n", flush=True)
        subprocess.run([sys.executable, "-m", f"benchmarks.{script}", "--save", *sys.argv[1:]], check=True)


if __name__ == "__main__":
    main()
