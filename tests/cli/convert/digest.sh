# Containers and checkpoints by a digest that all workers make.
sherd convert "$SHERD_SOURCE"/tests/corpus/container/y_sample.sdc m.sdc --digest blake3
sherd info m.sdc | head -2
sherd verify m.sdc
# It stays, with another number of files too, until something else is asked for.
sherd model split m.sdc s --shards 2
sherd info s | sed -n 2p | cut -c1-14
sherd verify s
sherd convert s plain.sdc --digest sha256
sherd info plain.sdc | grep -c digest
# Nothing of an array that was exchanged is handed out; the others are.
cp "$SHERD_SOURCE"/tests/corpus/container/n_digests_chunk.sdc forged.sdc
sherd cat forged.sdc n
sherd cat forged.sdc w | head -1
sherd convert m.sdc c.metadata.json --drop-graph --digest blake3
sherd info c | grep -c blake3:
sherd convert m.sdc m.npz --drop-graph --digest blake3
exit 0
