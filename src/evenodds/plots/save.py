"""A picture into a file: JSON as it is; SVG, PNG and HTML by vl-convert, all of them without the internet."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable, Mapping
from typing import Any

from evenodds.errors import DataError
from evenodds.replacing import replacing
from evenodds.show import escaped_lines

KINDS = (".json", ".svg", ".png", ".html")


def save(picture: Mapping[str, Any], path: str | os.PathLike[str]) -> None:
    """Write a picture; the end of the name says as what."""
    kind = check_kind(path)
    with replacing(path) as file:
        file.write(_bytes(dict(picture), kind))


def save_drawn(svg: str, path: str | os.PathLike[str]) -> None:
    """Write a picture that is drawn already: SVG as it is, or as PNG."""
    kind = os.path.splitext(os.fspath(path))[1].lower()
    drawn = bytes(_vl_convert(kind).svg_to_png(svg, scale=2)) if kind == ".png" else svg.encode()
    with replacing(path) as file:
        file.write(drawn)


def check_kind(path: str | os.PathLike[str]) -> str:
    """The end of the name, if it is a kind that can be written."""
    kind = os.path.splitext(os.fspath(path))[1].lower()
    if kind not in KINDS:
        raise DataError(f"{os.fspath(path)}: expected a name that ends with {', '.join(KINDS)}")
    return kind


def _bytes(picture: dict[str, Any], kind: str) -> bytes:
    if kind == ".json":
        return json.dumps(picture, ensure_ascii=False, indent=1).encode()
    picture, convert = _drawable(picture), _vl_convert(kind)
    if kind == ".png":
        return bytes(convert.vegalite_to_png(picture, scale=2))
    text = convert.vegalite_to_svg(picture) if kind == ".svg" else _page(picture, convert)
    return str(text).encode()


def _vl_convert(kind: str) -> Any:
    try:
        import vl_convert
    except ImportError:
        raise DataError(f"to write {kind[1:]} install vl-convert-python: pip install 'evenodds[plots]'") from None
    return vl_convert


def _drawable(part: Any) -> Any:
    """A picture whose texts say their control characters: SVG has no place for them, drawing one ends the process."""
    return _with_texts(part, escaped_lines)


def _with_texts(part: Any, change: Callable[[str], str]) -> Any:
    if isinstance(part, str):
        return change(part)
    if isinstance(part, dict):
        return {change(key): _with_texts(value, change) for key, value in part.items()}
    return [_with_texts(value, change) for value in part] if isinstance(part, (list, tuple)) else part


def _page(picture: dict[str, Any], vl_convert: Any) -> str:
    """A page whose script holds the picture; a name such as </script> must not end the script, so that < is spelt."""
    less = f"less-{os.urandom(16).hex()}"
    whole: str = vl_convert.vegalite_to_html(_with_texts(picture, lambda text: text.replace("<", less)), bundle=True)
    return whole.replace(less, "\\u003c")


def svg(picture: Mapping[str, Any], name: str) -> str | None:
    """A picture as SVG to be put into a page, its identifiers under a name of their own; None without vl-convert."""
    try:
        drawn = _bytes(dict(picture), ".svg").decode()
    except DataError:
        return None
    drawn = drawn[drawn.index("<svg") :]
    return re.sub(r'(id="|url\(#|href="#)', rf"\1{name}-", drawn)
