# C-14: names that differ in bytes which are no UTF-8 stay different in JSON, and can be had back.
model m.safetensors
for name in $'x\xff' $'x\xfe' $'x\xef\xbf\xbd' $'x\xee\xbf\xbf'; do
	sherd --json verify "$name"
	sherd checkpoint save --json m.safetensors "$name" >>lines
done | sort -u | wc -l
python3 - <<'EOF'
import json
for line in open("lines", encoding="utf-8"):
    name = json.loads(line)["prefix"]
    print(b"".join(bytes([ord(c) & 255]) if 0xEF80 <= ord(c) <= 0xEFFF else c.encode() for c in name))
EOF
