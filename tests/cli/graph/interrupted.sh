# Cut off while lines still come, an import leaves the database as it was; so does one that is killed.
sherd graph create -q db
sherd graph import -q db --nodes <(echo '{"id":"a","file":"f"}')
find db | sort >before
python3 - <<'P'
import signal, subprocess, time
for number in (signal.SIGINT, signal.SIGTERM, signal.SIGKILL):
    work = subprocess.Popen(["sherd", "graph", "import", "db", "--nodes", "-"], stdin=subprocess.PIPE,
                            stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                            preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL))
    for i in range(20000):
        work.stdin.write(b'{"id":"n%d","file":"src/f%d.js"}\n' % (i, i % 50))
    work.stdin.flush()
    time.sleep(0.3)
    work.send_signal(number)
    work.stdin, kept = None, work.stdin
    said, _ = work.communicate()
    kept.close()
    print(number.name, work.returncode, said.decode().strip())
P
find db | sort | diff before - && echo nothing is left
sherd graph find db
sherd graph import db --nodes <(echo '{"id":"b","file":"f"}')
sherd verify -q db && echo fine
