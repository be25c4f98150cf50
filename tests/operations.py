"""The table of operations × learners: what each can do, and how exactly. Run it to print the table.

yes        exact: the tally is made of counts
to 1e-12   of the largest term ever added: the tally holds sums as well
"""

from laws import LEARNERS

OPERATIONS = ("add", "subtract", "fade", "leave one out", "one pass")


def operations() -> dict[str, dict[str, str]]:
    """By learner: yes / to 1e-12 / no for each operation. Fading multiplies, so it rounds even counts."""
    table = {}
    for learner in LEARNERS:
        exactness = "yes" if learner.exact else "to 1e-12"
        table[learner.name] = dict.fromkeys(OPERATIONS, exactness) | {"fade": "to 1e-12", "one pass": "yes"}
    every = {row["add"] for row in table.values()}
    both = "yes" if every == {"yes"} else "yes for counts, sums to 1e-12"
    table["NaiveBayes"] = dict.fromkeys(OPERATIONS, both) | {"fade": "to 1e-12", "one pass": "yes"}
    return table


def markdown() -> str:
    """The table as the docs show it."""
    lines = [f"| learner | {' | '.join(OPERATIONS)} |", "|---" * (len(OPERATIONS) + 1) + "|"]
    lines += [f"| {name} | {' | '.join(row[op] for op in OPERATIONS)} |" for name, row in operations().items()]
    return "\n".join(lines)


if __name__ == "__main__":
    print(markdown())
