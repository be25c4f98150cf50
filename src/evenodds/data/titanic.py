"""The people of the Titanic: class, sex, age and fate of the 2,201 aboard, in 32 counts.

The British Board of Trade counted them in 1912; R. J. MacG. Dawson published the table as data for teaching ("The
'unusual episode' data revisited", Journal of Statistics Education 3(3), 1995), and R has it as `datasets::Titanic`.

>>> people = counts()
>>> len(people), sum(row["people"] for row in people)
(32, 2201)
>>> def margin(column):
...     total = {}
...     for row in people:
...         total[row[column]] = total.get(row[column], 0) + row["people"]
...     return total
>>> margin("class")
{'1st': 325, '2nd': 285, '3rd': 706, 'crew': 885}
>>> margin("sex"), margin("age"), margin("survived")
({'male': 1731, 'female': 470}, {'child': 109, 'adult': 2092}, {'no': 1490, 'yes': 711})
"""

from __future__ import annotations

from typing import Any

_TABLE = """
class  sex     age    died  survived
1st    male    child     0         5
1st    male    adult   118        57
1st    female  child     0         1
1st    female  adult     4       140
2nd    male    child     0        11
2nd    male    adult   154        14
2nd    female  child     0        13
2nd    female  adult    13        80
3rd    male    child    35        13
3rd    male    adult   387        75
3rd    female  child    17        14
3rd    female  adult    89        76
crew   male    child     0         0
crew   male    adult   670       192
crew   female  child     0         0
crew   female  adult     3        20
"""

COLUMNS = ("class", "sex", "age", "survived")


def counts() -> list[dict[str, Any]]:
    """The 32 cells: class, sex, age, survived, and how many people were all of these.

    A cell's count is a weight, so these rows and the 2,201 of `titanic()` are the same evidence.

    >>> counts()[2]
    {'class': '1st', 'sex': 'male', 'age': 'adult', 'survived': 'no', 'people': 118}
    """
    cells = []
    for line in _TABLE.strip().splitlines()[1:]:
        class_, sex, age, *people = line.split()
        for survived, n in zip(("no", "yes"), people):
            cells.append({"class": class_, "sex": sex, "age": age, "survived": survived, "people": int(n)})
    return cells


def titanic() -> Any:
    """A pyarrow Table with a row for each of the 2,201: class, sex, age, survived.

    >>> titanic().shape, titanic().column_names
    ((2201, 4), ['class', 'sex', 'age', 'survived'])
    """
    import pyarrow as pa

    cells = counts()
    return pa.table({name: [cell[name] for cell in cells for _ in range(cell["people"])] for name in COLUMNS})
