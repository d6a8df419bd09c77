"""Compares the runtime section of deploy/packages.txt with the libraries that the program is linked with.

- every library that the program names itself (NEEDED) is of a package of the section, and every package of it has one;
- every other library that the loader finds comes with those packages: they depend on the package that has it.
Skipped on systems other than Debian 12, whose packages have other names.

usage: runtime_packages.py PROGRAM PACKAGES.txt
       runtime_packages.py PROGRAM PACKAGES.txt --self_test    takes away each package in turn, and adds one, and must complain
"""

import functools
import pathlib
import re
import subprocess
import sys

ADDED = "libbz2-1.0"


def output(*command):
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def listed(text):
    section = re.search(r"^\[runtime\]\n(.*?)(?=^\[|\Z)", text, re.MULTILINE | re.DOTALL)
    return set(section[1].split()) if section else set()


def owners(paths):
    """The package of each library; the loader may name it by the old place of a merged /usr."""
    names = {name: path for path in paths for name in (path, "/usr" + path, path.removeprefix("/usr"))}
    found = subprocess.run(["dpkg-query", "-S", *names], capture_output=True, text=True, check=False).stdout
    owner = {names[name]: re.split(r"[:,]", line)[0] for line, name in re.findall(r"^(.+): (/.+)$", found, re.MULTILINE)}
    return {path: owner.get(path, f"(no package has {path})") for path in paths}


def libraries(program):
    """The packages of the libraries that the program names, and of all that are loaded with it."""
    needed = re.findall(r"\(NEEDED\).*\[(.+)\]", output("readelf", "-d", program))
    loaded = dict(re.findall(r"^\s+(\S+) => (/\S+) \(", output("ldd", program), re.MULTILINE))
    packages = owners(set(loaded.values()))
    return {packages[loaded[name]] for name in needed if name in loaded}, set(packages.values())


@functools.cache
def dependencies():
    """What each installed package depends on."""
    lines = output("dpkg-query", "-W", "-f", "${Package}|${Pre-Depends}, ${Depends}\n").splitlines()
    return {name: {re.split(r"[ :(]", word.strip())[0] for word in re.split(r"[,|]", words)} - {""}
            for name, words in (line.split("|", 1) for line in lines)}


def closure(packages):
    reached, left = set(), list(packages)
    while left:
        package = left.pop()
        if package not in reached:
            reached.add(package)
            left.extend(dependencies().get(package, ()))
    return reached


def problems(named, loaded, packages):
    for package in sorted(named - packages):
        yield f"the program needs {package}, which the section [runtime] lacks"
    for package in sorted(packages - named):
        yield f"the section [runtime] has {package}, which the program does not need"
    for package in sorted(loaded - closure(packages)):
        yield f"a library of {package} is loaded, which comes with no package of [runtime]"


def main():
    if len(sys.argv) not in (3, 4):
        sys.exit(__doc__)
    if 'VERSION_ID="12"' not in pathlib.Path("/etc/os-release").read_text(encoding="utf-8"):
        print("not Debian 12: skipped")
        return
    named, loaded = libraries(sys.argv[1])
    packages = listed(pathlib.Path(sys.argv[2]).read_text(encoding="utf-8"))
    found = list(problems(named, loaded, packages))
    if len(sys.argv) == 4:
        mutants = [packages - {package} for package in packages] + [packages | {ADDED}, set()]
        found = [f"accepted: {sorted(one)}" for one in mutants if not list(problems(named, loaded, one))]
        # Without a package that others do not bring, something that is loaded must be missing.
        if all(loaded <= closure(one) for one in mutants):
            found.append("no mutant lacks a library that is loaded")
        print(f"{len(mutants)} mistakes planted, {len(found)} accepted")
    else:
        print(f"{len(packages)} packages, {len(loaded)} of all libraries, {len(found)} problems")
    for problem in found:
        print(problem)
    sys.exit(1 if found else 0)


if __name__ == "__main__":
    main()
