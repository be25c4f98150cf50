"""A file's first bytes say how it is written."""

import dataclasses

import pytest

from evenodds.data import dialect as module
from evenodds.data.dialect import SAMPLE, Dialect, detect, has_header, number_marks
from evenodds.errors import DataError
from evenodds.texts import Marks

PLAIN = Dialect()


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a,b\n1,2\n3,4\n", {}),
        ("a;b\n1;2\n3;4\n", {"separator": ";"}),
        ("a\tb\n1\t2\n", {"separator": "\t"}),
        ("a|b\n1|2\n", {"separator": "|"}),
        ("a,b", {}),
        ("", {}),
        ("a,b\r\n1,2\r\n", {}),
        ("a,b\r1,2\r", {}),
        # one column
        ("age\n1\n2\n", {}),
        ("text\nHello, world\nHi, there; you\n", {"separator": ""}),
        ("what, if any\nsun\nrain\nfog, wind\nhail\n", {"separator": ""}),  # a comma cuts the first row, and few others
        # separators inside cells
        ('name;n\n"a;b";1\n"c;d;e";2\n', {"separator": ";"}),
        ('name,n\n"a;b",1\n"c;d",2\n', {}),
        ("name;n\nSmith, J.;1\nMiller, K.;2\n", {"separator": ";"}),
        ("when,what\n2024-01-01 10:00,a|b\n2024-01-02 11:00,c|d\n", {}),
        ("1,5;2,5\n3,5;4,5\n", {"separator": ";", "decimal": ",", "header": False}),
        ("a\tb\n1,5\t2,5\n", {"separator": "\t", "decimal": ","}),
        # a few rows of another length
        ("a,b,c\n" + "1,2,3\n" * 20 + "4,5\n", {}),
        # names for all columns but the first, as R writes them
        ("a,b\n" + "r,1,2\n" * 5, {}),
        # blanks
        ("a, b\n1, 2\n3, 4\n", {"strip": True}),
        ('x, "a, b"\ny, "c, d"\n', {"strip": True}),
        ('x,"a, b"\ny,"c, d"\n', {}),
        ("age, work\n39, State-gov\n50, \n", {"strip": True}),
        ("name,city\nAnna, Rome\nBob,Paris\nCy,Oslo\n", {}),
    ],
    ids=repr,
)
def test_separator_and_blanks(text, expected):
    found = detect(text.encode())
    if "header" not in expected:  # that is another table's matter
        found = dataclasses.replace(found, header=True)
    assert found == dataclasses.replace(PLAIN, **expected)


@pytest.mark.parametrize(
    ("data", "encoding"),
    [
        (b"a,b\n1,2\n", "utf-8"),
        ("größe,b\n1,2\n".encode(), "utf-8"),
        (b"\xef\xbb\xbfa,b\n1,2\n", "utf-8"),
        ("größe,b\n1,2\n".encode()[:-8] + "ö".encode()[:1], "utf-8"),  # the sample ends inside a letter
        ("größe,€\n".encode("cp1252"), "cp1252"),
        ("größe,\x81\n".encode("latin-1"), "latin-1"),
        ("a,ö\n1,2\n".encode("utf-16"), "utf-16"),
        ("a,ö\n1,2\n".encode("utf-16-le"), "utf-16-le"),
        ("a,ö\n1,2\n".encode("utf-16-be"), "utf-16-be"),
        ("имя,возраст\nАнна,7\n".encode("utf-16-le"), "utf-16-le"),
        ("a,b\n1,2\n".encode("utf-16-le")[:-1], "utf-16-le"),
        ("a,b\n1,2\n".encode("utf-32"), "utf-32"),
        (b"\x00\x00\xfe\xff" + "a,b\n".encode("utf-32-be"), "utf-32"),
    ],
    ids=repr,
)
def test_encoding(data, encoding):
    found = detect(data)
    assert (found.encoding, found.separator) == (encoding, ",")


@pytest.mark.parametrize("data", [b"a,b\0\n1,2\n", b"\0\1\0\2", b"PK\3\4\0\0\0\0", bytes(100)], ids=repr)
def test_what_is_no_text_is_refused(data):
    with pytest.raises(DataError, match=r"^line 1 holds NUL bytes, so this is no text: unpack it, save a spreadsheet"):
        detect(data)


def test_the_line_that_is_no_text_is_named():
    with pytest.raises(DataError, match=r"^line 3 holds NUL bytes"):
        detect(b"name,size\nsome words,2\nmore of them,3\0\n")


@pytest.mark.parametrize(
    ("cells", "separator", "decimal", "thousands"),
    [
        ([], ",", ".", ""),
        (["1.5", "2.25"], ",", ".", ""),
        (["1,5", "2,25"], ";", ",", ""),
        (["1.234", "5.678"], ";", ".", ""),  # a point alone is a decimal point
        (["1,234", "5,678"], ";", ",", ""),
        (["1,234", "5,678"], ",", ".", ","),  # in quotes
        (["x", "1,234", "56", "789"], ";", ".", ","),
        (["x", "1,234", "56", "7890"], ";", ",", ""),
        (["0,123", "1,234", "56"], ";", ",", ""),
        (["1,234", "1.5"], ";", ".", ","),
        (["1.234", "1,5"], ";", ",", "."),
        (["1.234.567", "1.234"], ";", ",", "."),
        (["1,234,567", "12"], ";", ".", ","),
        (["1,234.5"], ",", ".", ","),
        (["1.234,5"], ";", ",", "."),
        (["1'234.50"], ",", ".", "'"),
        (["1’234.50"], ",", ".", "’"),
        (["1 234,50"], ";", ",", " "),
        (["1\u00a0234,50"], ";", ",", "\u00a0"),
        (["1\u202f234,50"], ";", ",", "\u202f"),
        (["1_000", "2.5"], ",", ".", "_"),
        (["1,5e3", "-2,5E-7"], ";", ",", ""),
        (["01.02.2024", "1,5"], ";", ",", ""),  # a date is no number
        (["192.168.1.1", "0.5", "1.25"], ",", ".", ""),
        (["0.125", "0.250", "192.168.100.200"], ",", ".", ""),
        (["a,b", "c.d", "1.2.3"], ";", ".", ""),
    ],
    ids=repr,
)
def test_how_numbers_are_written(cells, separator, decimal, thousands):
    assert number_marks([[cell] for cell in cells], separator) == Marks(decimal, thousands)


def test_what_is_told_about_numbers_is_not_looked_for():
    rows = [["1,234"], ["5,678"]]
    assert number_marks(rows, ";", decimal=".") == Marks(".", ",")
    assert number_marks(rows, ";", thousands=",") == Marks(".", ",")
    assert number_marks(rows, ",", decimal=",") == Marks(",", "")
    assert number_marks(rows, ",", thousands="") == Marks(",", "")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("name,age\nAnna,7\nBob,8\n", True),
        ("5.1,3.5,setosa\n4.9,3.0,setosa\n", False),
        ("1,2\n", False),
        ("a,b\n", True),
        ("a,1.5\n", False),
        ("sepal,species\n?,setosa\n4.9,setosa\n", True),
        ("?,3.5\n4.9,3.0\n", False),
        # only texts
        ("p,x,s\ne,x,s\np,y,s\n", False),
        ("class,cap,stalk\ne,x,s\np,y,s\ne,x,s\np,y,s\n", True),
        ("text\nhow are you\nfine thanks\n", True),
        ("2024-01-01,open\n2024-01-02,shut\n2024-01-03,open\n", False),
        ("day,state\n2024-01-02,shut\n2024-01-03,open\n", True),
        # numbers that are names
        ("country,1990,1991\nFrance,1.5,2.5\nSpain,3.5,4.5\n", True),
        ("country,2020\nFrance,67\nSpain,47\n", True),
        ("country,1990,2000,2010\n", True),
        ("country,1800,2100\nFrance,1.5,2.5\nSpain,3.5,4.5\n", True),
        ("label,0,1,2,3\n7,0,255,13,0\n1,9,0,0,11\n", True),
        (",0,1,2\n0,5.1,3.5,1.4\n1,4.9,3.0,1.4\n", True),
        # numbers that are not
        ("Anna,1990,2015\nBob,1985,2010\nCy,1970,1999\n", False),
        ("x,1,2\ny,5,9\nz,7,3\n", False),
        ("a,1,2,3\nb,2,3,4\nc,3,4,5\n", False),
        ("1990,1991,1992\n1.5,2.5,3.5\n", False),  # no name before them
        ("a,5,3,1\nb,9,2,2\nc,8,1,7\n", False),
        ("a,1.5,2.5,3.5\nb,9,2,2\nc,8,1,7\n", False),
        ("n," + "9" * 5000 + "\nm,1\n", False),  # no year
        ("France,1799,2100\nSpain,1.5,2.5\nItaly,3.5,4.5\n", False),
        ("France,1800,2101\nSpain,1.5,2.5\nItaly,3.5,4.5\n", False),
        # nine of ten cells below are numbers; eight are not enough
        ("7\n" + "10\n" * 9 + "a\n", False),
        ("7\n" + "10\n" * 8 + "a\na\n", True),
    ],
    ids=lambda x: repr(x)[:60],
)
def test_header(text, expected):
    assert detect(text.encode()).header is expected


def test_a_header_is_seen_through_the_marks_of_numbers():
    assert has_header([["1,5", "a"], ["2,5", "b"]], Marks(",")) is False
    assert detect(b"1,5;a\n2,5;b\n").header is False
    assert has_header([], Marks()) is True


def test_a_file_that_all_is_told_of_is_not_looked_at():
    known = Dialect(";", ",", ".", "cp1252", False, True)
    assert detect(b"PK\3\4\0\0", **dataclasses.asdict(known)) == known
    with pytest.raises(DataError, match="NUL"):
        detect(b"PK\3\4\0\0", **dataclasses.asdict(known) | {"strip": None})


def test_what_is_told_is_not_looked_for():
    data = b"a;b\n1;2\n"
    assert detect(data, separator=",", header=False) == Dialect(",", header=False)
    assert detect(data, separator=None, header=None).separator == ";"
    assert detect(data, separator="").separator == ""
    assert detect(b"a, b\n1, 2\n", strip=False).strip is False
    assert detect(data, encoding="latin-1").encoding == "latin-1"
    assert detect(b"x;y\n1.234;2\n", decimal=",", thousands=".").marks == Marks(",", ".")
    assert detect(data, separator="\t").separator == "\t"


@pytest.mark.parametrize(
    ("told", "message"),
    [
        ({"separator": ";;"}, "separator=';;': expected one ASCII character, as ';' or '\\\\t', or '' for one column"),
        ({"separator": "§"}, "separator='§': expected one ASCII character"),
        ({"separator": '"'}, "expected one ASCII character"),
        ({"decimal": "comma"}, "decimal='comma': expected one mark, as '.' or ','"),
        ({"thousands": "."}, "thousands='.': expected one mark other than the decimal's, or '' for none"),
        ({"encoding": "klingon"}, "encoding='klingon' is not known; expected one such as 'cp1252'"),
        ({"encoding": "hex"}, "encoding='hex' is not known"),
        ({"encoding": "idna"}, "encoding='idna' is not known"),
    ],
    ids=str,
)
def test_what_cannot_be_told_is_refused(told, message):
    with pytest.raises(DataError, match=message.replace("(", r"\(")):
        detect(b"a,b\n", **told)


@pytest.mark.parametrize(
    ("dialect", "said"),
    [
        (PLAIN, "separated by ,"),
        (Dialect(";", ",", encoding="cp1252", header=False), "separated by ;, decimal comma, cp1252, no header"),
        (Dialect("", header=False), "one column, no header"),
        (Dialect("\t", strip=True), "separated by tabs, blanks before cells dropped"),
        (Dialect(";", ",", "."), "separated by ;, decimal comma, thousands marked by ."),
        (Dialect(";", ",", "\u202f"), "separated by ;, decimal comma, thousands marked by narrow no-break spaces"),
    ],
    ids=str,
)
def test_a_dialect_is_said_in_one_line(dialect, said):
    assert str(dialect) == said


def test_a_row_cut_in_two_by_the_end_of_the_sample_says_nothing(monkeypatch):
    monkeypatch.setattr(module, "SAMPLE", 12)
    assert detect(b"a;b\n1;2\n3;4,").separator == ";"
    whole = b"a,b\n1,2\n3,x"  # shorter than a sample: the last row counts
    assert detect(whole).header is True
    assert detect(b"5,x\n1,2\n3,x", header=None).header is False


def test_a_cell_longer_than_a_sample_is_no_trouble():
    assert detect(b"a;b\n" + b"x" * SAMPLE + b";1\n").separator == ";"
    assert detect(b"x" * SAMPLE).separator == ","
