#!/usr/bin/env python3
"""Every command of README and docs works:   commands.py HEARSAY ROOT

Finds each `hearsay SUBCOMMAND ...` in the fenced blocks, and between backticks, of the pages below. Its options must
exist. If it has no placeholder (DIR, CONFIG.toml, "...") it is run, in a scratch directory, shortened: runs are of two
rounds, sweeps are listed and not trained, files that a reader would have are small ones that this script writes, and
what needs a GPU runs without. What talks to others until it is stopped (peer, watch, mpirun, --live) is not run; fleets
and live pages have tests of their own. The blocks of docs/tutorial.md are run as they are, in their order.
"""
import argparse
import pathlib
import re
import shlex
import struct
import subprocess
import sys
import tempfile
import zipfile

PAGES = ["README.md", "CONTRIBUTING.md", "SECURITY.md", "docs/*.md", "experiments/*/README.md"]
WHOLE = ["docs/tutorial.md"]
ELSEWHERE = ["docs/models.md"]  # run by tests/pytorch/models_page_test.py
PLACEHOLDER = re.compile(r"\b[A-Z][A-Z-]+\b(?!=)|\.\.\.|[\[\]<>…]|\$")
ENDLESS = ("peer", "watch")
SECONDS = 300


def commands_of(text):
    """(line, words) of each command `hearsay ...`, with loops and launchers removed."""
    pieces = []
    for block in re.finditer(r"^```(\w*)[^\n]*\n(.*?)^```", text, re.S | re.M):
        first = text.count("\n", 0, block.start(2)) + 1
        if block.group(1) in ("toml", "cpp", "cmake", "python", "yaml"):
            continue
        body = block.group(2).replace("\\\n", "  ")  # so that later lines have lower numbers; it is for people
        pieces += [(first + k, line) for k, line in enumerate(body.split("\n"))]
    without = re.sub(r"^```.*?^```", lambda block: "\n" * block.group(0).count("\n"), text, flags=re.S | re.M)
    for code in re.finditer(r"`([^`]+)`", without):
        pieces.append((without.count("\n", 0, code.start()) + 1, code.group(1).replace("\n", " ")))
    for line, piece in pieces:
        loop = {m.group(1): m.group(2).split()[0] for m in re.finditer(r"for (\w+) in ([^;]+);", piece)}
        for part in re.split(r";|&&|\||(?<!\S)do ", piece):
            found = re.match(r"(?:.*?[$#] |.*\bmpirun .*? |\S*/|\s*)?(?:hearsay|\./run\.sh)(?=\s)(.*)", part)
            if not found or ":" in part[:found.start(1)].replace("./run.sh", ""):
                continue
            rest = re.split(r"\s{3,}|\s#\s", found.group(1).strip())[0]
            for name, value in loop.items():
                rest = re.sub(rf"\${name}\b", value, rest)
            rest = re.sub(r"(\S*)\{([^{},]+)(?:,[^{}]*)?\}", r"\1\2", rest)
            try:
                words = shlex.split(rest)
            except ValueError:
                continue
            if "./run.sh" in part[:found.start(1)]:
                words = ["train"] + words
            if words:
                yield line, words, "mpirun" in part[:found.start(1)]


def options_of(hearsay, subcommand):
    said = subprocess.run([hearsay, subcommand, "--help"], text=True, capture_output=True)
    return set(re.findall(r"(?<![\w-])(--?[a-z][\w-]*)", said.stdout)) if said.returncode == 0 else None


class Examples:
    """What a reader would have: data, a run, a model, a graph."""

    def __init__(self, hearsay, root, scratch):
        self.hearsay, self.root, self.scratch, self.runs = hearsay, root, scratch, 0
        homes = [f"{k % 7},{k * 37 % 11},{50 + k % 7 * 3 + k * 37 % 11}" for k in range(200)]
        (scratch / "homes.csv").write_text("rooms,age,price\n" + "\n".join(homes) + "\n")
        for name in ("one.toml", "another.toml", "third.toml"):
            (scratch / name).write_text("algorithm = 'sgp'\n")
        (scratch / "methods.toml").write_text((root / "experiments/networks/methods.toml").read_text())
        values = struct.pack("<1600f", *[(k * 31 % 17) / 17 for k in range(1600)])
        targets = struct.pack("<100f", *[k % 9 for k in range(100)])
        with zipfile.ZipFile(scratch / "measured.npz", "w") as archive:
            archive.writestr("x.npy", self.npy("(100, 4, 4)", values))
            archive.writestr("y.npy", self.npy("(100,)", targets))
        self.must(["train", "--rounds", "2", "--algorithm", "sgp", "--quiet", "--compare", "no", "--out", "runs/001"])
        self.model = "runs/001/models/peer-0.safetensors"

    @staticmethod
    def npy(shape, data):
        header = f"{{'descr': '<f4', 'fortran_order': False, 'shape': {shape}, }}".ljust(117) + "\n"
        return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode() + data

    def run(self, words):
        return subprocess.run([self.hearsay] + words, text=True, capture_output=True, cwd=self.scratch, timeout=SECONDS,
                              stdin=subprocess.DEVNULL)

    def must(self, words):
        done = self.run(words)
        if done.returncode != 0:
            sys.exit(f"commands.py: {shlex.join(words)} failed:\n{done.stderr}")

    def file(self, word):
        """A file of this repository, wherever the command runs."""
        return str(self.root / word) if (self.root / word).exists() else word

    def shorten(self, words):
        subcommand, rest = words[0], [self.file(word) for word in words[1:]]
        text = [re.sub(r"^cifar100?:\S+|^mnist:\S+", "synthetic:shape=3x32x32", word) for word in rest]
        text = [word + ",samples=200" if word.startswith("synthetic:") and "samples=" not in word else word for word in text]
        text = ["scsp:final=1" if word.startswith("scsp") else word for word in text]

        def drop(option, takes_value=True):
            while option in text:
                at = text.index(option)
                del text[at:at + 1 + takes_value]

        for option in ("--device", "--out", "--jobs", "--html", "--svg"):
            drop(option)
        self.runs += 1
        if subcommand == "train":
            for option in ("--rounds", "--epochs", "--evaluate", "--checkpoint", "--init", "--compare"):
                drop(option)
            drop("--quiet", False)
            return [subcommand] + text + ["--rounds", "2", "--evaluate", "2", "--compare", "no", "--quiet", "--out", f"runs/made-{self.runs}"]
        if subcommand == "sweep":
            drop("--quiet", False)
            text = [word.replace("=PATH", f"={self.scratch}") for word in text]
            return [subcommand] + text + ["--dry-run", "--out", f"sweeps/{self.runs}"]
        if subcommand == "report":
            return [subcommand, "runs/001", "--html", f"page-{self.runs}.html"]
        if subcommand == "eval":
            return [subcommand, self.model]
        if subcommand == "identity" and text[:1] == ["new"]:
            return [subcommand, "new", f"key-{self.runs}.pem"]
        return [subcommand] + text


def run_whole(hearsay, root, page, scratch):
    """What a page's blocks of `sh` do one after the other; its problem, if there is one."""
    bin_ = scratch / "bin"
    bin_.mkdir()
    (bin_ / "hearsay").symlink_to(hearsay)
    text = (root / page).read_text()
    script = "\n".join(re.findall(r"^```sh\n(.*?)^```", text, re.S | re.M))
    done = subprocess.run(["bash", "-euo", "pipefail", "-c", f'PATH="{bin_}:$PATH"\n{script}'], text=True, cwd=scratch,
                          capture_output=True, timeout=SECONDS, stdin=subprocess.DEVNULL)
    missing = [name for name in re.findall(r"<!-- makes (\S+) -->", text) if not (scratch / name).exists()]
    if done.returncode == 0 and not missing:
        return None
    return f"{page}: status {done.returncode}; {', '.join(missing) or 'nothing'} is missing\n{done.stdout}{done.stderr}"


def main():
    arguments = argparse.ArgumentParser()
    arguments.add_argument("hearsay")
    arguments.add_argument("root", type=pathlib.Path)
    given = arguments.parse_args()
    hearsay, root = str(pathlib.Path(given.hearsay).resolve()), given.root.resolve()
    pages = sorted({page for pattern in PAGES for page in root.glob(pattern)})
    known, problems, counts, seen = {}, [], {"run": 0, "read": 0}, set()
    with tempfile.TemporaryDirectory(prefix="hearsay-docs-") as folder:
        examples = Examples(hearsay, root, pathlib.Path(folder))
        for page in pages:
            name = page.relative_to(root).as_posix()
            if name in ELSEWHERE:
                continue
            if name in WHOLE:
                with tempfile.TemporaryDirectory(prefix="hearsay-docs-") as own:
                    problem = run_whole(hearsay, root, name, pathlib.Path(own))
                problems += [problem] if problem else []
                continue
            for line, words, launched in commands_of(page.read_text()):
                where = f"{name}:{line}: hearsay {shlex.join(words)}"
                subcommand = words[0]
                if not re.fullmatch(r"[a-z]+", subcommand):
                    continue
                if subcommand not in known:
                    known[subcommand] = options_of(hearsay, subcommand)
                if known[subcommand] is None:
                    problems.append(f"{where}\n  there is no subcommand '{subcommand}'")
                    continue
                options = [word.split("=")[0] for word in words if re.match(r"--?[a-zA-Z]", word)]
                unknown = [option for option in options if option.strip("[].…") not in known[subcommand]]
                if unknown:
                    problems.append(f"{where}\n  there is no {' or '.join(unknown)}")
                    continue
                counts["read"] += 1
                named_only = {"train": False, "list": False, "sweep": not any(word.endswith(".toml") for word in words)
                              }.get(subcommand, len(words) == 1)
                waits = launched or subcommand in ENDLESS or any(
                    option in words for option in ("--live", "--resume", "--transport"))
                unclear = [re.sub(r"(cifar100?|mnist)[:=]PATH", "", word) for word in words[1:]]
                if named_only or waits or any(PLACEHOLDER.search(word) for word in unclear):
                    continue
                shortened = examples.shorten(words)
                key = tuple(word for word in shortened if not re.fullmatch(r"(runs|sweeps)/(made-)?\d+", word))
                if key in seen:
                    continue
                seen.add(key)
                counts["run"] += 1
                done = examples.run(shortened)
                if done.returncode != 0:
                    problems.append(f"{where}\n  as {shlex.join(shortened)}: status {done.returncode}\n  {done.stderr.strip()}")
    print(f"{counts['read']} commands on {len(pages)} pages, of which {counts['run']} were run")
    if counts["run"] < 40:
        problems.append("that is too few: the pages are no longer read as they are written")
    for problem in problems:
        print(problem)
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
