# S-12: something that is no claim has the name of one.
model m.safetensors
sherd checkpoint save -q m.safetensors a --shards 2
mkfifo a.saving
for round in fifo link; do
	timeout 20 sherd verify a
	timeout 20 sherd info a | head -1
	timeout 20 sherd checkpoint list . | tail -1 | cut -c1-12
	timeout 20 sherd checkpoint prune . --keep 1
	timeout 20 sherd checkpoint save m.safetensors a --replace
	echo $?
	rm a.saving
	ln -s /etc/passwd a.saving
done
rm a.saving
mkfifo none.saving
sherd info none
echo $?
