"""The pages that people mail, in a browser: nothing is fetched, nothing fails, and everybody can read them."""

import os
import shutil

import numpy as np
import pandas as pd
import pytest

import evenodds as eo
from command import invoke as run

sync_api = pytest.importorskip("playwright.sync_api", reason="playwright is not installed: pip install '.[dev]'")
axe = pytest.importorskip("axe_playwright_python.sync_playwright", reason="axe-playwright-python is not installed")
CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="there is no Chromium: apt-get install chromium")
PHONE, DESK = 360, 1000
PAGES = ["report", "audit", "scored", "texts", "classes"]


@pytest.fixture(scope="module")
def browser():
    with sync_api.sync_playwright() as playwright:
        root = ["--no-sandbox"] if os.geteuid() == 0 else []
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=[*root, "--disable-dev-shm-usage"])
        yield browser
        browser.close()


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """Pages with everything that a page can have, and names that are long, wide or no text."""
    folder = tmp_path_factory.mktemp("pages")
    rng = np.random.default_rng(0)
    n = 600
    sex = rng.choice(["f", "m"], n)
    y = np.where(rng.random(n) < np.where(sex == "m", 0.6, 0.4), "repaid", "lost")
    job = np.where(rng.random(n) < np.where(sex == "m", 0.8, 0.2), "engineer <of> steam & diesel", "nurse")
    race = rng.choice(["a", "b", "only a few"], n, p=[0.6, 0.38, 0.02])
    income = rng.normal(30 + 5 * (y == "repaid"), 6).round(1)
    long = "a column whose name is as long as some are, without_any_place_to_break_it_at_all"
    rows = pd.DataFrame({"sex": sex, "race": race, "job": job, "income": income, long: rng.integers(0, 3, n), "y": y})
    rows.loc[:20, "income"] = np.nan
    rows["balance"] = np.where(y == "repaid", rng.integers(0, 6, n), rng.integers(0, 4, n)) // 2
    rows["balance"] = np.array(["<0", "0<=X<200", ">=200"])[rows["balance"]]
    rows["p"] = np.clip(rng.normal(np.where(y == "repaid", 0.6, 0.4), 0.2), 0.01, 0.99)
    rows.to_csv(folder / "rows.csv", index=False)
    eo.NaiveBayes().fit(rows.drop(columns="p")[:300], "y").save(folder / "model.eo")
    said = np.where(y == "repaid", "thanks for the loan", "no answer yet")
    texts = pd.DataFrame({"text": [f"{a} {b}" for a, b in zip(said, job)], "sex": sex, "y": y})
    texts.to_csv(folder / "texts.csv", index=False)
    eo.NaiveBayes(columns={"text": eo.Words()}).fit(texts[["text", "y"]], "y").save(folder / "texts.eo")
    names = np.array(["alternaria leaf spot", "bacterial pustules", "diaporthe stem canker"])
    kinds = pd.DataFrame({"x": rng.normal(np.arange(n) % 3), "sex": sex, "kind": names[np.arange(n) % 3]})
    kinds.to_csv(folder / "kinds.csv", index=False)
    eo.NaiveBayes().fit(kinds[["x", "kind"]], "kind").save(folder / "kinds.eo")
    graph = ["--graph", "sex -> job; job, income -> y; race"]
    for name, words in {
        "report": ["report", "model.eo", "rows.csv", "--by", "sex,race", *graph],
        "audit": ["audit", "model.eo", "rows.csv", "--by", "sex", *graph],
        "scored": ["audit", "rows.csv", "--by", "sex,race", "--target", "y", "--score", "p"],
        "texts": ["report", "texts.eo", "texts.csv", "--by", "sex"],
        "classes": ["report", "kinds.eo", "kinds.csv", "--by", "sex"],
    }.items():
        named = [folder / word if word.endswith((".eo", ".csv")) else word for word in words]
        run(*named, "-o", folder / f"{name}.html", "-q")
    return folder


class Visit:
    """A page in the browser, and all it asked for and complained of."""

    def __init__(self, browser, path, width, **how):
        self.page = browser.new_context(viewport={"width": width, "height": 800}, **how).new_page()
        self.asked, self.said = [], []
        self.page.on("request", lambda request: self.asked.append(request.url))
        self.page.on("console", lambda message: self.said.append(message.text))
        self.page.on("pageerror", lambda error: self.said.append(str(error)))
        self.page.goto(path.as_uri())

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.page.context.close()

    def open_all(self):
        self.page.evaluate("document.querySelectorAll('details').forEach(one => one.open = true)")


@pytest.mark.parametrize("name", PAGES)
def test_nothing_is_fetched_and_nothing_fails(browser, made, name):
    path = made / f"{name}.html"
    with Visit(browser, path, DESK) as visit:
        visit.open_all()
        visit.page.evaluate("window.scrollTo(0, document.body.scrollHeight)")
        assert visit.asked == [path.as_uri()]
        assert visit.said == []


@pytest.mark.parametrize("width", [PHONE, DESK])
@pytest.mark.parametrize("name", PAGES)
def test_axe_finds_no_violation(browser, made, name, width):
    with Visit(browser, made / f"{name}.html", width) as visit:
        visit.open_all()
        found = axe.Axe().run(visit.page)
        assert found.violations_count == 0, found.generate_report()


@pytest.mark.parametrize("name", PAGES)
def test_a_phone_shows_it_without_scrolling_sideways(browser, made, name):
    with Visit(browser, made / f"{name}.html", PHONE) as visit:
        visit.open_all()
        assert visit.page.evaluate("document.documentElement.scrollWidth") <= PHONE
        # what is wider than the page scrolls in a box of its own, which the keyboard reaches
        beyond = """[...document.querySelectorAll('main *')].filter(one => !one.closest('.wide') && !one.closest('svg')
            && one.getBoundingClientRect().right > innerWidth).map(one => one.outerHTML.slice(0, 80))"""
        assert visit.page.evaluate(beyond) == []
        assert visit.page.evaluate("[...document.querySelectorAll('.wide')].every(one => one.tabIndex === 0)")
        sizes = visit.page.evaluate("""[...document.querySelectorAll('main *')].filter(one => !one.closest('svg') &&
            one.innerText).map(one => parseFloat(getComputedStyle(one).fontSize))""")
        assert min(sizes) >= 14
        drawn = visit.page.evaluate("""[...document.querySelectorAll('svg text')].filter(one => one.textContent.trim())
            .map(one => [parseFloat(getComputedStyle(one).fontSize), one.getScreenCTM()])
            .map(([size, {a, b}]) => size * Math.hypot(a, b))""")
        assert min(drawn) >= 8


@pytest.mark.parametrize("name", PAGES)
def test_no_two_labels_of_a_picture_lie_on_each_other(browser, made, name):
    with Visit(browser, made / f"{name}.html", DESK) as visit:
        found = visit.page.evaluate("""[...document.querySelectorAll('main svg')].flatMap(svg => {
            const all = [...svg.querySelectorAll('text')].filter(one => one.textContent.trim() &&
                one.closest('[opacity="0"]') === null && getComputedStyle(one).opacity !== '0')
                .map(one => [one.textContent, one.getBoundingClientRect()])
            return all.flatMap(([a, one], i) => all.slice(i + 1).filter(([b, other]) =>
                Math.min(one.right, other.right) - Math.max(one.left, other.left) > 1 &&
                Math.min(one.bottom, other.bottom) - Math.max(one.top, other.top) > 4).map(([b]) => [a, b]))
        })""")
        assert found == []


@pytest.mark.parametrize("name", PAGES)
def test_on_paper_tables_are_open_and_whole(browser, made, name):
    with Visit(browser, made / f"{name}.html", 720) as visit:  # a sheet of A4
        visit.page.emulate_media(media="print")
        seen = "[...document.querySelectorAll('table')].map(one => one.checkVisibility({contentVisibilityAuto: true}))"
        assert all(visit.page.evaluate(seen))
        assert (
            visit.page.evaluate("""[...document.querySelectorAll('.wide')].filter(one => !one.querySelector('svg')
            && getComputedStyle(one).overflowX !== 'visible').length""")
            == 0
        )


@pytest.mark.parametrize("name", PAGES)
def test_it_is_read_without_scripts(browser, made, name):
    path = made / f"{name}.html"
    with Visit(browser, path, DESK) as visit, Visit(browser, path, DESK, java_script_enabled=False) as plain:
        assert plain.page.locator("main").inner_text() == visit.page.locator("main").inner_text()
        table = plain.page.locator("details table").first
        assert not table.is_visible()
        plain.page.locator("summary").first.click()
        assert table.is_visible()  # a table below a picture opens without one


def test_what_a_name_says_is_shown_as_it_is(browser, made):
    with Visit(browser, made / "report.html", DESK) as visit:
        assert visit.page.locator("h1").inner_text().startswith("Report on 'y'")
        assert visit.page.get_by_text("engineer <of> steam & diesel").count() > 0
