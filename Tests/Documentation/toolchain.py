"""Compiles programs as a user's module."""

import subprocess
import sys
from pathlib import Path

# What SwiftPM generates to run the tests of a package.
RUNNER = """\
import Testing

@main nonisolated struct Runner {
  static func main() async { await Testing.__swiftPMEntryPoint() as Never }
}
"""

# The imports that need a package of this folder, which fetches libraries of others.
FETCHED = {
    "Libraries": {"AsyncAlgorithms", "OpenCombine", "OpenCombineDispatch"},
    "ReactiveLibraries": {"RxSwift", "ReactiveSwift"},
}


class Toolchain:
    """The compiler, and the libraries that programs may import."""

    def __init__(self, root, folder, imports, is_release=False):
        self.root = root
        self.configuration = "release" if is_release else "debug"
        targets = ["MulticastMacros", "ConcurrencyStressTesting"]
        products = self.build(root, root / ".build", targets, self.configuration)
        modules = ["CMulticast", "Multicast", "MulticastMacros", "ConcurrencyStress",
                   "ConcurrencyStressTesting"]
        self.link(folder, "Documented", [f for m in modules for f in self.objects(products, m)])
        self.flags = [
            "-swift-version", "6", "-warnings-as-errors", *(["-O", "-wmo"] if is_release else []),
            "-enable-upcoming-feature", "MemberImportVisibility",
            "-I", products / "Modules",
            "-Xcc", f"-fmodule-map-file={products}/CMulticast.build/module.modulemap",
            "-load-plugin-executable", f"{products}/MulticastPlugin-tool#MulticastPlugin",
            "-L", folder, "-lDocumented", "-Xlinker", "-rpath", "-Xlinker", folder]
        self.fetched_flags = {}
        for package, modules in FETCHED.items():
            if imports & modules:
                self.fetched_flags[package] = self.fetch(root, folder, package)

    def fetch(self, root, folder, package):
        """Builds the libraries of a package of this folder, without optimisation because they are not what is
        checked, and returns the flags to use them."""
        scratch = root / f".build-docs-{package.lower()}"
        products = self.build(Path(__file__).parent / package, scratch, [package], "debug")
        self.link(folder, package, list(products.glob("*.build/**/*.o")))
        flags = ["-I", products / "Modules", f"-l{package}"]
        for map in products.glob("*.build/module.modulemap"):
            flags += ["-Xcc", f"-fmodule-map-file={map}"]
        return flags

    def build(self, package, scratch, targets, configuration):
        """Builds targets, and returns the folder of their modules and objects."""
        command = ["swift", "build", "-c", configuration, "--package-path", package,
                   "--scratch-path", scratch]
        for target in targets:
            result = subprocess.run([*command, "--target", target], capture_output=True, text=True)
            if result.returncode != 0:
                sys.exit(f"{result.stdout}{result.stderr}{target} does not build")
        path = subprocess.run([*command, "--show-bin-path"], check=True, capture_output=True,
                              text=True).stdout
        return Path(path.strip())

    def objects(self, products, module):
        """The objects of a module of this package, without those of sources that were removed."""
        sources = {file.name for file in (self.root / "Sources" / module).rglob("*")}
        objects = (products / f"{module}.build").rglob("*.o")
        return [file for file in objects if file.name.removesuffix(".o") in sources]

    def link(self, folder, name, objects):
        """Links objects to one library, so that each program links in a fraction of a second."""
        result = subprocess.run(["swiftc", "-emit-library", "-o", folder / f"lib{name}.so",
                                 *objects, "-lTesting", "-lstdc++"],
                                capture_output=True, text=True)
        if result.returncode != 0:
            sys.exit(f"{result.stdout}{result.stderr}the library {name} does not link")

    def compile(self, folder, program, flags):
        """Compiles a program to `folder/main`. Returns what the compiler says if it refuses it."""
        sources = [folder / "main.swift"]
        sources[0].write_text(program.source)
        flags = [*self.flags, *flags]
        for package, modules in FETCHED.items():
            if program.imports & modules:
                flags += self.fetched_flags[package]
        if program.kind == "tests":
            sources.append(folder / "Runner.swift")
            sources[1].write_text(RUNNER)
            sources[0] = sources[0].rename(folder / "Tests.swift")
        if program.kind != "program":
            flags.append("-parse-as-library")
        result = subprocess.run(["swiftc", *sources, "-o", folder / "main", *flags],
                                cwd=folder, capture_output=True, text=True)
        return None if result.returncode == 0 else result.stdout + result.stderr

    def type_check(self, folder, source, mode):
        """Checks a source without warnings being errors. Returns the errors, if there are any."""
        file = folder / "Examples.swift"
        file.write_text(source)
        flags = [flag for flag in self.flags if flag != "-warnings-as-errors"]
        result = subprocess.run(
            ["swiftc", "-typecheck", "-parse-as-library", "-suppress-warnings", file, *flags, *mode],
            cwd=self.root, capture_output=True, text=True)
        return None if result.returncode == 0 else result.stdout + result.stderr

    def load_manifest(self, folder, source):
        """Resolves a manifest beside this package. Returns what SwiftPM says if it refuses it."""
        package = folder / "package"
        package.mkdir()
        (folder / "swift-multicast").symlink_to(self.root)
        (package / "Package.swift").write_text(source)
        for name in ("Sources/App", "Tests/AppTests"):
            (package / name).mkdir(parents=True)
            (package / name / "main.swift").write_text("")
        result = subprocess.run(["swift", "package", "--package-path", package,
                                 "show-dependencies"], capture_output=True, text=True)
        return None if result.returncode == 0 else result.stdout + result.stderr
