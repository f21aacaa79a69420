"""The package for Python beside torch and safetensors: pytest of python/tests/torch, and of all others once more."""

import os
import subprocess
import sys

tests = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "..", "python", "tests")
environment = {**os.environ, "PYTHONPATH": os.path.join(os.environ["SHERD_BUILD"], "python")}
if not os.path.exists(os.path.join(environment["PYTHONPATH"], "sherd", "_core.abi3.so")):
    sys.exit("the build has no package for Python")
for part in ("torch", ""):
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-W", "ignore::DeprecationWarning"]
    ignored = [] if part else [f"--ignore={os.path.join(tests, 'torch')}", f"--ignore={os.path.join(tests, 'others')}"]
    status = subprocess.run([*command, *ignored, os.path.join(tests, part)], env=environment).returncode
    if status:
        sys.exit(status)
