"""Checks the documentation against the tree and the program.

- every relative link in a Markdown file leads to a file that exists;
- every command line that starts with `proofmill` uses a subcommand and flags that the program has;
- every flag named alone in backquotes, outside tests/, is a flag of some subcommand or of a script of ours;
- every flag of `proofmill serve` is a key of deploy/proofmill.example.yaml or described in the README or docs/operating.md.
- every package of a line with `apt-get install` is in deploy/packages.txt;
- a code block after <!-- file: PATH --> is that file;
- docs/errors.md has exactly the reasons of engine/base/error_reason.cc.

usage: docs.py PROGRAM    (run from the project's root)
"""

import itertools
import pathlib
import re
import shlex
import subprocess
import sys

LINK = re.compile(r"\[[^\]]*\]\(([^)#\s]+)(?:#[^)]*)?\)")
FENCE = re.compile(r"^```(\w*)\n(.*?)^```", re.MULTILINE | re.DOTALL)
INLINE = re.compile(r"`([^`\n]+)`")
FILE_BLOCK = re.compile(r"^<!-- file: (\S+) -->\n```\w*\n(.*?)^```", re.MULTILINE | re.DOTALL)
FLAG = re.compile(r"^--(?:no)?([a-z][a-z0-9_]*)")
HELP_FLAG = re.compile(r"^\s+--(?:\[no\])?([a-z][a-z0-9_]*)", re.MULTILINE)
HELP_COMMAND = re.compile(r"^  (?:proofmill )?([a-z][a-z-]*(?: [a-z][a-z-]*){0,2})(?:  +|$)", re.MULTILINE)
COMMAND_WORD = re.compile(r"^[a-z][a-z-]*$")
# Flags of scripts in this tree, which the program does not know.
SCRIPT_FLAGS = {"keep", "no_cuda", "only", "list", "as_user", "help"}


def run_help(program, *words):
    result = subprocess.run([program, *words, "--help"], capture_output=True, text=True, timeout=60, check=False)
    return result.stdout if result.returncode == 0 else None


class Program:
    """What --help says: the subcommands and the flags of each."""

    def __init__(self, path):
        self.path = path
        self.flags = {}

    def flags_of(self, words):
        """The flags of the subcommand at the start of `words` and its name; (None, name) if there is no such subcommand."""
        leading = list(itertools.takewhile(COMMAND_WORD.match, words[:3]))
        for name in (" ".join(leading[:n]) for n in (3, 2, 1) if n <= len(leading)):
            if name not in self.flags:
                text = run_help(self.path, *name.split())
                self.flags[name] = None if text is None else set(HELP_FLAG.findall(text)) | {"help"}
            if self.flags[name] is not None:
                return self.flags[name], name
        return None, " ".join(words[:2])

    def every_flag(self):
        for name in HELP_COMMAND.findall(run_help(self.path) or ""):
            self.flags_of(name.split())
        return set().union(*(flags for flags in self.flags.values() if flags)) | SCRIPT_FLAGS


def shell_lines(block):
    """The commands of a code block, with continued lines joined and prompts taken off."""
    for line in re.sub(r"\\\n\s*", " ", block).splitlines():
        yield re.sub(r"^\$ ", "", line.strip())


def command_words(line):
    """The words after the program's name if the line runs proofmill, else None."""
    try:
        words = shlex.split(line, comments=True)
    except ValueError:
        return None
    if words and (words[0] == "proofmill" or words[0].endswith("/proofmill")) and len(words) > 1:
        return words[1:]
    return None


def unlisted_packages(line):
    """The packages of an `apt-get install` that deploy/packages.txt does not have."""
    words = line.removeprefix("sudo ").split()
    if words[:2] != ["apt-get", "install"]:
        return
    listed = pathlib.Path("deploy/packages.txt").read_text(encoding="utf-8").splitlines()
    for word in words[2:]:
        if not word.startswith("-") and word not in {name.split()[0] for name in listed if name}:
            yield f"deploy/packages.txt has no package {word}"


def check_command(program, words):
    if words[0].startswith("--") or words[0].isupper():  # a flag of the program itself, or a placeholder
        return
    flags, name = program.flags_of(words)
    if flags is None:
        yield f"the program has no subcommand \"{name}\""
        return
    for word in words:
        match = FLAG.match(word)
        if match and match[1] not in flags and word[2:].split("=")[0] not in flags:
            yield f"proofmill {name} has no flag --{match[1]}"


def check_file(path, program, known_flags):
    text = path.read_text(encoding="utf-8")
    prose = FENCE.sub("", text)
    for target in LINK.findall(prose):
        if "://" not in target and not (path.parent / target).exists():
            yield f"the link to {target} leads nowhere"
    for name, block in FILE_BLOCK.findall(text):
        if not pathlib.Path(name).exists() or pathlib.Path(name).read_text(encoding="utf-8") != block:
            yield f"the code block of {name} is not that file"
    spans = INLINE.findall(prose)
    lines = [line for _, block in FENCE.findall(text) for line in shell_lines(block)] + spans
    for line in lines:
        yield from unlisted_packages(line)
        words = command_words(line)
        if words:
            yield from check_command(program, words)
    for span in spans if not path.is_relative_to("tests") else []:
        match = FLAG.match(span)
        if match and match[1] not in known_flags and span[2:].split()[0].split("=")[0] not in known_flags:
            yield f"no subcommand has the flag {span}"


def undocumented_serve_flags(program):
    flags, _ = program.flags_of(["serve"])
    paths = [pathlib.Path(name) for name in ("README.md", "docs/operating.md", "deploy/proofmill.example.yaml")]
    prose, operating, example = (path.read_text(encoding="utf-8") if path.exists() else "" for path in paths)
    for flag in sorted((flags or {"(serve --help failed)"}) - {"help"}):
        if f"--{flag}" not in prose + operating and not re.search(rf"^(# *)?{re.escape(flag)}:", example, re.MULTILINE):
            yield f"proofmill serve --{flag} is described nowhere"


def wrong_reasons():
    """Reasons that only one of the code and the documentation has."""
    code = set(re.findall(r'"([A-Z][A-Z_]+)"', pathlib.Path("engine/base/error_reason.cc").read_text(encoding="utf-8")))
    page = set(re.findall(r"^\| `([A-Z_]+)` \|", pathlib.Path("docs/errors.md").read_text(encoding="utf-8"), re.MULTILINE))
    for reason in sorted(code ^ page):
        yield f"the reason {reason} is only in {'error_reason.cc' if reason in code else 'docs/errors.md'}"


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    program = Program(sys.argv[1])
    known_flags = program.every_flag()
    names = subprocess.run(["git", "ls-files", "--", "*.md"], check=True, capture_output=True, text=True).stdout.split()
    problems = [f"{name}: {problem}" for name in names for problem in check_file(pathlib.Path(name), program, known_flags)]
    problems.extend(undocumented_serve_flags(program))
    problems.extend(wrong_reasons())
    for problem in problems:
        print(problem)
    print(f"{len(names)} Markdown files, {len(problems)} problems")
    sys.exit(1 if problems else 0)


if __name__ == "__main__":
    main()
