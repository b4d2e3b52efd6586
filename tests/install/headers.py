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

PRIVATE = re.compile(r"/(nlohmann|oneapi|dnnl[^/]*|toml\+\+|eigen3|Spectra|hwy|openssl|CLI|openmpi|cuda[^/]*|httplib\.h|"
                     r"png[^/]*\.h|jpeglib\.h|zlib\.h)")


def problem_of(compiler, root, header, scratch):
    name = header.relative_to(root).as_posix()
    dependencies = pathlib.Path(scratch) / (name.replace("/", "_") + ".d")
    # Included twice: a header guards itself.
    source = f'#include "{name}"\n#include "{name}"\n'
    done = subprocess.run([compiler, "-std=c++20", "-fsyntax-only", "-Wall", "-Wextra", "-Werror", "-I", str(root), "-MD", "-MF",
                           str(dependencies), "-x", "c++", "-"], input=source, text=True, capture_output=True)
    if done.returncode != 0:
        return f"{name} does not compile alone:\n{done.stderr}"
    foreign = sorted({path for path in dependencies.read_text().split() if PRIVATE.search(path)})
    return f"{name} needs {foreign[0]}, which users of the library need not have" if foreign else None


def main(compiler, root):
    headers = sorted(root.glob("hearsay/**/*.h"))
    with tempfile.TemporaryDirectory() as scratch, concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        found = list(pool.map(lambda header: problem_of(compiler, root, header, scratch), headers))
    problems = [problem for problem in found if problem]
    for problem in problems:
        print(problem)
    print(f"{len(headers)} headers, {len(problems)} problems")
    return 1 if problems or not headers else 0


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    sys.exit(main(sys.argv[1], pathlib.Path(sys.argv[2])))
