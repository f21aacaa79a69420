"""How long `import sherd` takes, in a process of its own, without numpy; beside an empty one."""

import json
import statistics
import subprocess
import sys

SCRIPT = "import time; began = time.perf_counter(); import sherd; print(time.perf_counter() - began)"
times = sorted(float(subprocess.run([sys.executable, "-c", SCRIPT], capture_output=True, text=True, check=True).stdout)
               for _ in range(15))
median = statistics.median(times)
print(f"import sherd {median * 1e3:.1f} ms ({times[0] * 1e3:.1f} to {times[-1] * 1e3:.1f})  target <= 30:"
      f" {'met' if median <= 0.03 else 'MISSED'}")
print(json.dumps({"what": "import sherd", "seconds": median, "target": 0.03, "met": median <= 0.03}), file=sys.stderr)
