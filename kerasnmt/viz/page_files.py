"""Files of the page of `kerasnmt serve` in a site of static files."""

from importlib.resources import files
from urllib.parse import urlsplit

# Files that every page of a model has; `backend.js` answers its questions.
SHARED = ("page.css", "drawing.js", "live.js")


def site_page(runtime: str) -> dict[str, str]:
    """Return the files of a page whose model runs in the browser, by their paths in its site.

    The site also has `page/backend.js`, with the answers, and `page/model.json`, with the `name`,
    the `description` and the `examples` of the model.

    Args:
        runtime: Address of the folder of onnxruntime-web, absolute or relative to the site.
    """
    server = urlsplit(runtime)
    sources = f"'self' {server.scheme}://{server.netloc}" if server.netloc else "'self'"
    # Scripts of the runtime come from a blob, after a check of their hash.
    policy = (
        "default-src 'none'; script-src 'self' 'wasm-unsafe-eval' blob:; style-src 'self'; "
        f"connect-src {sources}; img-src 'self' data: blob:; base-uri 'none'; form-action 'none'"
    )
    charset = '<meta charset="utf-8">'
    meta = f'<meta http-equiv="Content-Security-Policy" content="{policy}">'
    html = page_file("page.html").replace(charset, f"{charset}\n{meta}")
    return {"index.html": html, **{f"page/{name}": page_file(name) for name in SHARED}}


def page_file(name: str) -> str:
    """Return the text of a file of the page."""
    return files("kerasnmt.viz").joinpath("page", name).read_text(encoding="utf-8")
