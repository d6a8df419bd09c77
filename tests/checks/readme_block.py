"""Prints the code blocks of a Markdown file that follow the comment <!-- test: NAME -->.

usage: readme_block.py FILE.md NAME
"""

import re
import sys


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    with open(sys.argv[1], encoding="utf-8") as file:
        text = file.read()
    pattern = rf"^<!-- test: {re.escape(sys.argv[2])} -->\n```\w*\n(.*?)^```"
    blocks = re.findall(pattern, text, re.MULTILINE | re.DOTALL)
    if not blocks:
        sys.exit(f"{sys.argv[1]} has no code block marked \"test: {sys.argv[2]}\"")
    print("".join(blocks), end="")


if __name__ == "__main__":
    main()
