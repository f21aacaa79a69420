# Colours on a terminal that has them, and nowhere else; never of what a file says.
tensors m.safetensors $'\e[31mx:F32:2'
on_terminal() { env -u NO_COLOR TERM=xterm "$@" python3 -c '
import os, pty, sys
pty.spawn(["sherd", "info", "m.safetensors"], lambda fd: os.read(fd, 4096))' | tr -d '\r' | sed 's/\x1b/<ESC>/g'; }
on_terminal
on_terminal NO_COLOR=1
on_terminal TERM=dumb
sherd info m.safetensors
