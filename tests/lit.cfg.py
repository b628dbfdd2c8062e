"""lit's configuration: text tests of tests/{ir,passes,lowering,frontends,viz,e2e}.

`lit` gets --param vetro=PROGRAM --param tools=FOLDER (LLVM's) --param out=FOLDER from ctest.
Substitutions: %vetro, %models, %smollm2, %gemma3, %data; FileCheck, not, diff and split-file are
LLVM's or the system's.
"""

import os

import lit.formats

root = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))

config.name = "vetro"
config.test_format = lit.formats.ShTest()
config.suffixes = [".mlir", ".test"]
config.excludes = ["unit", "kernels", "configs", "golden", "tools", "lit"]
config.test_source_root = os.path.join(root, "tests")
config.test_exec_root = lit_config.params["out"]
config.environment["PATH"] = os.pathsep.join(
    [lit_config.params["tools"], config.environment.get("PATH", "")])
# A run's object cache stays inside the build folder.
config.environment["XDG_CACHE_HOME"] = os.path.join(lit_config.params["out"], "cache")
config.environment["FILECHECK_OPTS"] = "--enable-var-scope"

models = os.path.join(root, "models")
data = os.environ.get("VETRO_TEST_DATA", lit_config.params["data"])
config.substitutions += [
    ("%vetro", lit_config.params["vetro"]),
    ("%models", models),
    ("%data", data),
]
# REQUIRES: models, smollm2, gemma3 or data skips a test where `./bootstrap models` or the data is
# missing.
if os.path.isdir(models) and any(name.endswith(".gguf") for name in os.listdir(models)):
    config.available_features.add("models")
for feature, name in (("smollm2", "SmolLM2-135M-Instruct.Q4_1.gguf"),
                      ("gemma3", "gemma-3-270m.Q4_K_M.gguf")):
    path = os.path.join(models, name)
    config.substitutions.append((f"%{feature}", path))
    if os.path.isfile(path):
        config.available_features.add(feature)
    else:
        lit_config.note(f"{path} is missing: `./bootstrap models` enables the tests of {feature}")
if os.path.isdir(data):
    config.available_features.add("data")
package = os.path.join(os.path.dirname(lit_config.params["vetro"]), "..", "python", "vetro")
if not os.path.isdir(package):
    lit_config.note("the Python package is not built: the commands of docs/python.md are not run")
