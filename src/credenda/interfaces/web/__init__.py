"""The web interface: pages for a person, made on the server from the operations that every other door calls.

A page is a `Page` in one of the modules of `pages/` and a template in `templates/`; its German texts are in one file of
`messages/de/`. To add one:

1. Write a function `load(view)`, which calls operations by `view.call("search", query=…)` and returns a mapping: the
   template sees its entries by name, and `NAME.json` shows the same mapping. Describe the page by
   `NAME_PAGE = Page(name="NAME", path="/NAME", title="Title", operation="search", load=load)`, whose `operation` is the
   one without whose scope a caller may not see it. The path may have parameters: `/memory/{id}`.
2. Write `templates/NAME.html`: `{% extends "layout.html" %}`, with the block `content` and the macros of `parts.html`.
3. List the page in `PAGES` of `routes.py`; the menu, the route and the `.json` twin follow.
4. Write each text as `{{ t("English text") }}` (or `view.t(…)`), with its German in `messages/de/NAME.toml`; a test
   lists those that lack one.

A change is an action of a page: `actions={"forget": forget}` gives `POST /NAME/forget`, whose function calls operations
and returns `Done(to, …)`: the browser then loads `to`, with a line that says what happened and, where it can be undone,
a button for that. A form calls the macro `form`, which adds the token against forged requests. An error that an
operation raises becomes a page that says what, why and how to fix it, and so needs no code.

Text of memories and messages is hostile: write it by the macro `words`, which isolates its direction and cuts it, never
with `|safe`; a link never leads to an address from such a text. There is no inline script or style, which the Content
Security Policy forbids: `static/style.css` and `static/app.js` are all there is, beside htmx, which may replace a part
of the page (`hx-get`, `hx-select`) and is never needed to read it.
"""
