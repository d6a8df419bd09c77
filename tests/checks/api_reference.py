"""Writes docs/api.md from the comments of the .proto files, or compares it with what would be written.

usage: api_reference.py BUF REFERENCE.md             fails unless the reference is what the .proto files say
       api_reference.py BUF REFERENCE.md --write     writes it
       api_reference.py BUF REFERENCE.md --self_test fails unless changes of the reference and of a comment are noticed
(run from the project's root)
"""

import copy
import json
import pathlib
import subprocess
import sys

PACKAGE = "proofmill/v1/"
# The order in which a reader wants them; others follow by name.
FIRST = ("prover", "uploads", "jobs", "circuits", "circuit_admin", "status", "common")
HEAD = """# API reference

Written from the comments in [proto/proofmill/v1](../proto/proofmill/v1/prover.proto) by `tests/checks/api_reference.py`; a test
compares the two. Errors are explained in [errors.md](errors.md). The examples of the README show calls.
"""
# Numbers of fields in descriptor.proto, which paths of comments are made of.
MESSAGE, ENUM, SERVICE = 4, 5, 6
NESTED, NESTED_ENUM, FIELD, METHOD, VALUE = 3, 4, 2, 2, 2


class Comments:
    """Leading comments by path."""

    def __init__(self, file):
        locations = file["sourceCodeInfo"]["location"]
        self.by_path = {tuple(one.get("path", ())): one["leadingComments"] for one in locations if "leadingComments" in one}
        # That of the file stands before its first line, `syntax`.
        self.file = self.paragraphs(self.by_path.get((12,), ""))

    @staticmethod
    def paragraphs(text):
        return "\n".join(line.strip() for line in text.strip().splitlines())

    def at(self, *path):
        return self.paragraphs(self.by_path.get(path, ""))

    def in_cell(self, *path):
        return self.at(*path).replace("\n\n", "<br>").replace("\n", " ").replace("|", "\\|")


def short(name):
    return name.removeprefix(".proofmill.v1.").removeprefix(".")


def type_of(field):
    name = short(field["typeName"]) if "typeName" in field else field["type"].removeprefix("TYPE_").lower()
    return f"repeated {name}" if field["label"] == "LABEL_REPEATED" else name


def render_service(service, comments, path):
    yield f"\n### {service['name']}\n\n{comments.at(*path)}\n"
    yield "\n| call | request | response | |\n|---|---|---|---|\n"
    for i, method in enumerate(service["method"]):
        request = ("stream " if method.get("clientStreaming") else "") + short(method["inputType"])
        response = ("stream " if method.get("serverStreaming") else "") + short(method["outputType"])
        yield f"| `{method['name']}` | {request} | {response} | {comments.in_cell(*path, METHOD, i)} |\n"


def render_message(message, prefix, comments, path):
    name = prefix + message["name"]
    yield f"\n### {name}\n\n{comments.at(*path)}\n"
    groups = [group["name"] for group in message.get("oneofDecl", [])]
    if message.get("field"):
        yield "\n| field | type | |\n|---|---|---|\n"
    for i, field in enumerate(message.get("field", [])):
        one_of = "" if field.get("proto3Optional") or "oneofIndex" not in field else f" (one of `{groups[field['oneofIndex']]}`)"
        optional = "optional " if field.get("proto3Optional") else ""
        text = comments.in_cell(*path, FIELD, i)
        yield f"| `{field['name']}` = {field['number']} | {optional}{type_of(field)}{one_of} | {text} |\n"
    for i, enum in enumerate(message.get("enumType", [])):
        yield from render_enum(enum, name + ".", comments, (*path, NESTED_ENUM, i))
    for i, nested in enumerate(message.get("nestedType", [])):
        yield from render_message(nested, name + ".", comments, (*path, NESTED, i))


def render_enum(enum, prefix, comments, path):
    yield f"\n### {prefix}{enum['name']}\n\n{comments.at(*path)}\n\n| value | |\n|---|---|\n"
    for i, value in enumerate(enum["value"]):
        yield f"| `{value['name']}` = {value.get('number', 0)} | {comments.in_cell(*path, VALUE, i)} |\n"


def render(image):
    files = [file for file in image["file"] if file["name"].startswith(PACKAGE)]
    stem = lambda file: pathlib.Path(file["name"]).stem
    files.sort(key=lambda file: (FIRST.index(stem(file)) if stem(file) in FIRST else len(FIRST), stem(file)))
    yield HEAD
    for file in files:
        comments = Comments(file)
        yield f"\n## {stem(file)}.proto\n\n{comments.file}\n"
        for i, service in enumerate(file.get("service", [])):
            yield from render_service(service, comments, (SERVICE, i))
        for i, message in enumerate(file.get("messageType", [])):
            yield from render_message(message, "", comments, (MESSAGE, i))
        for i, enum in enumerate(file.get("enumType", [])):
            yield from render_enum(enum, "", comments, (ENUM, i))


def self_test(image, page):
    changed = copy.deepcopy(image)
    planted = next(one for file in changed["file"] if file["name"] == PACKAGE + "jobs.proto"
                   for one in file["sourceCodeInfo"]["location"] if one.get("path", [])[:1] == [MESSAGE] and "leadingComments" in one)
    planted["leadingComments"] += " Planted.\n"
    accepted = [name for name, ok in (("a changed comment", "".join(render(changed)) == page),
                                      ("a changed reference", "".join(render(image)) == page.replace("| `", "| ` ", 1)))
                if ok]
    for name in accepted:
        print(f"accepted: {name}")
    return 1 if accepted else 0


def main():
    if len(sys.argv) not in (3, 4):
        sys.exit(__doc__)
    output = subprocess.run([sys.argv[1], "build", "-o", "-#format=json"], check=True, capture_output=True, text=True).stdout
    image, path = json.loads(output), pathlib.Path(sys.argv[2])
    page = "".join(render(image))
    if sys.argv[3:] == ["--write"]:
        path.write_text(page, encoding="utf-8")
    elif sys.argv[3:] == ["--self_test"]:
        sys.exit(self_test(image, page))
    elif path.read_text(encoding="utf-8") != page:
        sys.exit(f"{path} is not what the .proto files say: run {' '.join(sys.argv)} --write")


if __name__ == "__main__":
    main()
