"""A page in a real browser: Chromium under Selenium, both as Debian packages them. Importing this makes
the modules of the folder above known, after the library's own: some are called as those are."""

import os
import shutil
import sys
import time

sys.path.append(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
SYSTEM_PYTHON = "/usr/bin/python3"  # has Debian's python3-selenium
COLLECT = """return [...document.querySelectorAll("[data-name]")].map((e) =>
  [e.dataset.name, e.dataset.index, JSON.parse(e.dataset.value), e.dataset.token ?? null,
   e.children.length ? "" : e.textContent]);"""


def skip(why, code):
    print(f"skipped: {why}")
    sys.exit(code)


def require(code=0):
    """Goes on under the Python that has Selenium; ends the program as skipped, with this code, where there
    is none."""
    if not (shutil.which("chromium") and shutil.which("chromedriver")):
        skip("chromium or chromium-driver is not installed: ./bootstrap test tries to", code)
    try:
        import selenium  # noqa: F401
    except ImportError:
        if sys.executable != SYSTEM_PYTHON and os.path.exists(SYSTEM_PYTHON) and "SECOND" not in os.environ:
            os.execve(SYSTEM_PYTHON, [SYSTEM_PYTHON, *sys.argv], {**os.environ, "SECOND": "1"})
        skip("python3-selenium is not installed: ./bootstrap test tries to", code)


class Browser:
    """One window of 1280 x 800."""

    def __init__(self, shots):
        from selenium import webdriver
        options = webdriver.ChromeOptions()
        options.binary_location = shutil.which("chromium")
        for argument in ("--headless=new", "--no-sandbox", "--disable-dev-shm-usage", "--window-size=1280,939"):
            options.add_argument(argument)
        options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
        try:
            service = webdriver.ChromeService(shutil.which("chromedriver"))
        except AttributeError:  # Selenium of Debian 12
            from selenium.webdriver.chrome.service import Service
            service = Service(shutil.which("chromedriver"))
        self.driver = webdriver.Chrome(service=service, options=options)
        self.shots = shots
        os.makedirs(shots, exist_ok=True)

    def run(self, script, *arguments):
        return self.driver.execute_script(script, *arguments)

    def wait(self, script, what, timeout_s=30):
        end = time.monotonic() + timeout_s
        while time.monotonic() < end:
            if found := self.run("return " + script):
                return found
            time.sleep(0.02)
        sys.exit(f"the page has no {what} after {timeout_s} s; it shows {self.run('return document.body.innerText')[:500]!r}")

    def settle(self):
        self.wait("document.body.dataset.drawn && !document.querySelector('.waiting')", "end of drawing")

    def open(self, url):
        self.driver.get("about:blank")
        self.driver.get(url)
        self.wait("document.querySelector('[role=alert]') || document.body.dataset.drawn", "drawing")

    def go(self, **place):
        """To a place of the page: what one would type after "#"."""
        words = "&".join(f"{key}={value}" for key, value in place.items())
        self.run("document.body.dataset.drawn = ''; location.hash = arguments[0]", words)
        self.settle()

    def press(self, *keys):
        from selenium.webdriver.common.action_chains import ActionChains
        for key in keys:
            self.run("document.body.dataset.drawn = ''; document.activeElement?.blur()")
            ActionChains(self.driver).send_keys(key).perform()

    def click(self, selector):
        from selenium.webdriver.common.by import By
        self.run("document.body.dataset.drawn = ''")
        self.driver.find_element(By.CSS_SELECTOR, selector).click()

    def place(self, key):
        return self.run("return new URLSearchParams(location.hash.slice(1)).get(arguments[0])", key)

    def text(self, selector="#view"):
        return self.run("return document.querySelector(arguments[0])?.innerText ?? ''", selector)

    def data(self):
        """[name, index, value, token, text] of each element that stands for something."""
        return self.run(COLLECT)

    def shot(self, name):
        self.driver.save_screenshot(f"{self.shots}/{name}.png")

    def scheme(self, name):
        """"dark" or "light"."""
        self.driver.execute_cdp_cmd("Emulation.setEmulatedMedia",
                                    {"features": [{"name": "prefers-color-scheme", "value": name}]})

    def complaints(self):
        """What the page reported as errors since the last call."""
        return [entry["message"] for entry in self.driver.get_log("browser") if entry["level"] == "SEVERE"]

    def close(self):
        self.driver.quit()
