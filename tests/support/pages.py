"""Reading pages that views wrote, the strict way."""

from html.parser import HTMLParser

VOID = {"meta", "br", "wbr", "img", "input"}


class Page(HTMLParser):
    """The elements, texts and attributes of a page; an element left open is an error."""

    def __init__(self, text):
        super().__init__(convert_charrefs=True)
        self.open, self.tags, self.attributes, self.texts = [], [], [], []
        self.scripts = []
        self.feed(text)
        self.close()
        assert not self.open, f"left open: {self.open}"

    def handle_starttag(self, tag, attributes):
        self.tags.append(tag)
        self.attributes += [(tag, name, value) for name, value in attributes]
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attributes):
        self.handle_starttag(tag, attributes)
        if tag not in VOID:
            self.open.pop()

    def handle_endtag(self, tag):
        assert self.open and self.open[-1] == tag, f"</{tag}> inside {self.open[-3:]}"
        self.open.pop()

    def handle_data(self, data):
        inside = self.open[-1] if self.open else ""
        (self.scripts if inside == "script" else self.texts).append(data)

    @property
    def text(self):
        return "".join(self.texts)
