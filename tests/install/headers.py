#!/usr/bin/env python3
"""Every installed header compiles alone, with the public dependencies only:   headers.py COMPILER INCLUDE_DIR

A header that includes anything of a dependency that users of the library need not have (PRIVATE) fails, also where that
dependency happens to be on this machine.
"""
import concurrent.futures
import os
import pathlib
import re
import subprocess
import sys
import tempfile

# As in an include: relative to a directory of the search path, wherever that is.
PRIVATE = re.compile(r"(nlohmann|oneapi|dnnl[^/]*|toml\+\+|eigen3|Spectra|hwy|openssl|CLI|openmpi|cuda[^/]*|httplib\.h|"
                     r"asio|png[^/]*\.h|jpeglib\.h|zlib\.h)")


def search_path(compiler):
    """The directories in which the compiler looks for <headers>."""
    said = subprocess.run([compiler, "-E", "-v", "-x", "c++", os.devnull], text=True, capture_output=True, check=True).stderr
    listed = said.split("#include <...> search starts here:\n")[1].split("End of search list.")[0]
    return [os.path.realpath(line.strip()) for line in listed.splitlines()]


def include_name(path, directories):
    """What an #include of this file says."""
    path = os.path.realpath(path)
    inside = [directory for directory in directories if path.startswith(directory + "/")]
    return os.path.relpath(path, max(inside, key=len)) if inside else path


def problem_of(compiler, root, directories, header, scratch):
    name = header.relative_to(root).as_posix()
    dependencies = pathlib.Path(scratch) / (name.replace("/", "_") + ".d")
    # Included twice: a header guards itself.
    source = f'#include "{name}"\n#include "{name}"\n'
    done = subprocess.run([compiler, "-std=c++20", "-fsyntax-only", "-Wall", "-Wextra", "-Werror", "-I", str(root), "-MD", "-MF",
                           str(dependencies), "-x", "c++", "-"], input=source, text=True, capture_output=True)
    if done.returncode != 0:
        return f"{name} does not compile alone:\n{done.stderr}"
    needed = {include_name(path, directories) for path in dependencies.read_text().split()}
    foreign = sorted(name for name in needed if PRIVATE.match(name))
    return f"{name} needs {foreign[0]}, which users of the library need not have" if foreign else None


def main(compiler, root):
    headers = sorted(root.glob("hearsay/**/*.h"))
    directories = search_path(compiler) + [os.path.realpath(root)]
    with tempfile.TemporaryDirectory() as scratch, concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        found = list(pool.map(lambda header: problem_of(compiler, root, directories, header, scratch), headers))
    problems = [problem for problem in found if problem]
    for problem in problems:
        print(problem)
    print(f"{len(headers)} headers, {len(problems)} problems")
    return 1 if problems or not headers else 0


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    sys.exit(main(sys.argv[1], pathlib.Path(sys.argv[2])))
